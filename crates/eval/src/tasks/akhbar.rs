//! Tasks in Akhbar, which is in Arabic and laid out from right to left.

use super::super::script::{ARABIC_UP, ScriptStep, ScriptSwipe, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{AKHBAR, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("akhbar-save", &["Akhbar"], Easy, &[ScreenReading], save),
    Task::new("akhbar-forget", &["Akhbar"], Easy, &[DataEdit, ScreenReading], forget),
    Task::new("akhbar-find", &["Akhbar"], Easy, &[InformationRetrieval, ScreenReading], find),
    Task::new(
        "akhbar-save-two",
        &["Akhbar"],
        Medium,
        &[Composite, Repetition, ScreenReading],
        save_two,
    ),
    Task::new("akhbar-detail", &["Akhbar"], Easy, &[InformationRetrieval, ScreenReading], detail),
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
    let (question, story, pattern, fact) = draw.pick(&FACTS);
    let mut script = open(story);
    script.extend([ScriptStep::Read(like(pattern)), ScriptStep::Answer("{0}".into())]);
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

/// Facts in the second paragraphs of the stories, as in [`FACTS`].
const DETAILS: [(&str, usize, &str, &str); 6] = [
    ("Every how many minutes does the new train run?", 0, r"كل (\d+) دقائق", "10"),
    ("How many centuries old are the maps in the museum?", 2, r"قبل (\d+) قرون", "3"),
    ("From how many countries do the cyclists come?", 3, r"من (\d+) بلدا", "20"),
    ("At what time are the streets open again after the race?", 3, r"الساعة (\d+:\d+)\.$", "16:00"),
    ("How many dollars does the students' station cost at most?", 4, r"على (\d+) دولارا", "40"),
    ("How many cups of flour does the thyme bread need?", 5, r"إلى (\d+) أكواب", "3"),
];

fn detail(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (question, story, pattern, fact) = draw.pick(&DETAILS);
    let mut script = open(story);
    script.push(ScriptStep::ScrollTo(like(pattern), ScriptSwipe::Up));
    script.extend([ScriptStep::Read(like(pattern)), ScriptStep::Answer("{0}".into())]);
    TaskInstance {
        goal: format!(
            "I read something about {} in the Arabic news app (com.example.akhbar). {question}",
            STORIES[story].0
        ),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::Answer(fact.into())],
    }
}

fn save_two(draw: &mut ParamSource<'_>) -> TaskInstance {
    let two = draw.some(&[0, 1, 2, 3, 4, 5], 2);
    let each = |story: usize| {
        let mut script = open(story);
        script.extend([
            ScriptStep::Tap(with_text(SAVE)),
            ScriptStep::Read(with_text(UNSAVE)),
            ScriptStep::Tap(with_text(ARABIC_UP)),
        ]);
        script
    };
    TaskInstance {
        goal: format!(
            "I want to read two stories of the Arabic news app (com.example.akhbar) later: the one about {} and the one about {}. Save both.",
            STORIES[two[0]].0, STORIES[two[1]].0
        ),
        given: Vec::new(),
        script: two.iter().flat_map(|story| each(*story)).collect(),
        wants: two
            .iter()
            .map(|story| stored(AKHBAR, [(&format!("saved/{story}"), "yes")]))
            .collect(),
    }
}
