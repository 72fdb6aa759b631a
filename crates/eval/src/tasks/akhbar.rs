//! Tasks in Akhbar, which is in Arabic and laid out from right to left.

use super::super::script::{ScriptStep, ScriptSwipe, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{AKHBAR, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "akhbar-save", apps: &["Akhbar"], needs: &[], make: save },
    Task { name: "akhbar-forget", apps: &["Akhbar"], needs: &[], make: forget },
    Task { name: "akhbar-find", apps: &["Akhbar"], needs: &[], make: find },
];

/// The stories by number: topics and titles.
const STORIES: [(&str, &str); 6] = [
    ("the new railway", "افتتاح خط القطار الجديد بين الميناء والمدينة القديمة"),
    ("the sunny weather", "طقس مشمس حتى نهاية الأسبوع"),
    ("the maritime museum", "المتحف البحري يعرض خرائط لم تنشر من قبل"),
    ("the bicycle race", "سباق الدراجات يغلق شوارع الوسط يوم السبت"),
    ("the air quality station", "طلاب يبنون محطة صغيرة لقياس جودة الهواء"),
    ("thyme bread", "خبز الزعتر في عشرين دقيقة"),
];
const SAVE: &str = "حفظ";
const UNSAVE: &str = "إزالة من المحفوظات";
const SAVED: &str = "المحفوظات";

/// Facts in the stories: the question, the story's number, the pattern of the answer, the answer.
pub(super) const FACTS: [(&str, usize, &str, &str); 5] = [
    ("How many minutes does the new train take?", 0, r"في (\d+) دقيقة", "12"),
    ("Up to how many degrees will it get?", 1, r"إلى (\d+) درجة", "18"),
    ("More than how many maps does the museum show?", 2, r"من (\d+) خريطة", "200"),
    ("About how many cyclists take part in the race?", 3, r"نحو (\d+) دراج", "1500"),
    ("At how many degrees is the thyme bread baked?", 5, r"حرارة (\d+) درجة", "220"),
];

/// Opens a story.
pub(super) fn open(story: usize) -> Vec<ScriptStep> {
    let title = STORIES[story].1;
    vec![
        ScriptStep::Launch(AKHBAR),
        ScriptStep::ScrollTo(with_text(title), ScriptSwipe::Up),
        ScriptStep::Tap(with_text(title)),
    ]
}

fn save(draw: &mut ParamSource<'_>) -> TaskInstance {
    let story = draw.number(0, 5) as usize;
    let mut script = open(story);
    script.push(ScriptStep::Tap(with_text(SAVE)));
    script.push(ScriptStep::Read(with_text(UNSAVE)));
    TaskInstance {
        goal: format!(
            "Save the story about {} in the Arabic news app (com.example.akhbar).",
            STORIES[story].0
        ),
        given: Vec::new(),
        script,
        wants: vec![stored(AKHBAR, [(&format!("saved/{story}"), "yes")])],
    }
}

fn forget(draw: &mut ParamSource<'_>) -> TaskInstance {
    let stories = draw.some(&[0, 1, 2, 3, 4, 5], 2);
    let (one, other) = (format!("saved/{}", stories[0]), format!("saved/{}", stories[1]));
    let (about, title) = STORIES[stories[0]];
    TaskInstance {
        goal: format!(
            "Remove the story about {about} from the saved stories in the Arabic news app (com.example.akhbar)."
        ),
        given: given(AKHBAR, [(&one, "yes"), (&other, "yes")]),
        script: vec![
            ScriptStep::Launch(AKHBAR),
            ScriptStep::Tap(with_text(SAVED)),
            ScriptStep::Tap(with_text(title)),
            ScriptStep::Tap(with_text(UNSAVE)),
            ScriptStep::Read(with_text(SAVE)),
        ],
        wants: vec![SuccessCondition::ValueAbsent(AKHBAR, one)],
    }
}

fn find(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (question, story, told, fact) = draw.pick(&FACTS);
    let mut script = open(story);
    script.extend([ScriptStep::Read(like(told)), ScriptStep::Answer("{0}".into())]);
    TaskInstance {
        goal: format!(
            "{question} The Arabic news app (com.example.akhbar) has a story about {}.",
            STORIES[story].0
        ),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::Answer(fact.into())],
    }
}
