//! Akhbar ("News"): an app in Arabic, laid out from right to left, with a list, a page for each story, a search, and what was kept.
//!
//! All it says is in Arabic; the resource ids tell what is what. Kept, and to be seeded: `saved/N` (a story that was kept, by its number).

use crate::world::app::{App, AppIcon, Env, Event, Manifest, Reach, Store, asks};
use crate::world::icons::Icon;
use crate::world::theme::{self, Colour};
use crate::world::view::{FieldTraits, ImeAction, Tag, View, class, column, icon, row, text};
use crate::world::widgets::{
    badge, divider, field, icon_button, list, nothing, page, search_toolbar, tabs,
};

/// The state of Akhbar.
#[derive(Default)]
pub(crate) struct Akhbar {
    /// Whether the stories that were kept are listed, and not all.
    saved: bool,
    /// What stands in the search field, while there is one.
    query: Option<String>,
    /// The story that is open.
    story: Option<usize>,
}

/// A story: its subject, its title, and what it says.
struct Story {
    subject: &'static str,
    symbol: Icon,
    colour: u32,
    title: &'static str,
    says: [&'static str; 2],
}

const STORIES: [Story; 6] = [
    Story {
        subject: "المدينة",
        symbol: Icon::Train,
        colour: 0x1A73E8,
        title: "افتتاح خط القطار الجديد بين الميناء والمدينة القديمة",
        says: [
            "بدأ اليوم تشغيل خط القطار الجديد الذي يصل الميناء بالمدينة القديمة في 12 دقيقة فقط.",
            "ينطلق القطار كل 10 دقائق من الساعة 5:30 صباحا حتى منتصف الليل.",
        ],
    },
    Story {
        subject: "الطقس",
        symbol: Icon::WbSunny,
        colour: 0xB06000,
        title: "طقس مشمس حتى نهاية الأسبوع",
        says: [
            "تتوقع الأرصاد طقسا مشمسا ودرجات حرارة تصل إلى 18 درجة خلال الأيام القادمة.",
            "ومن المنتظر أن تعود الأمطار يوم الأحد.",
        ],
    },
    Story {
        subject: "ثقافة",
        symbol: Icon::Museum,
        colour: 0xA142F4,
        title: "المتحف البحري يعرض خرائط لم تنشر من قبل",
        says: [
            "يعرض المتحف البحري أكثر من 200 خريطة رسمها بحارة قبل 3 قرون.",
            "الدخول مجاني يوم الجمعة.",
        ],
    },
    Story {
        subject: "رياضة",
        symbol: Icon::DirectionsBike,
        colour: 0x188038,
        title: "سباق الدراجات يغلق شوارع الوسط يوم السبت",
        says: [
            "يشارك في السباق نحو 1500 دراج من 20 بلدا.",
            "تفتح الشوارع من جديد عند الساعة 16:00.",
        ],
    },
    Story {
        subject: "علوم",
        symbol: Icon::School,
        colour: 0x007B83,
        title: "طلاب يبنون محطة صغيرة لقياس جودة الهواء",
        says: [
            "صمم طلاب المدرسة محطة لا يزيد ثمنها على 40 دولارا.",
            "تظهر القياسات على شاشة كبيرة أمام المدرسة.",
        ],
    },
    Story {
        subject: "مطبخ",
        symbol: Icon::Restaurant,
        colour: 0xC5221F,
        title: "خبز الزعتر في عشرين دقيقة",
        says: [
            "نحتاج إلى 3 أكواب من الطحين وكوب من الماء الدافئ وملعقة خميرة.",
            "يخبز على حرارة 220 درجة حتى يصبح ذهبيا.",
        ],
    },
];

const SEARCH: &str = "search_src_text";
const LIST: &str = "news_list";
const ALL: &str = "الأخبار";
const SAVED: &str = "المحفوظات";

impl App for Akhbar {
    fn manifest() -> Manifest {
        Manifest {
            package: "com.example.akhbar".into(),
            label: ALL.into(),
            version_name: "2.6".into(),
            version_code: 26,
            activities: vec!["com.example.akhbar.MainActivity".into()],
            launcher: Some("com.example.akhbar.MainActivity".into()),
            system: false,
            uid: 0,
            permissions: asks(&["INTERNET"]),
            installation: None,
            icon: AppIcon { symbol: Icon::Description, fill: theme::GREEN, ink: theme::WHITE },
        }
    }

    fn new(_seed: u64) -> Self {
        Self::default()
    }

    fn view(&self, env: &Env<'_>) -> View {
        let view = match self.story.and_then(|at| Some((at, STORIES.get(at)?))) {
            Some((at, story)) => open(env, at, story),
            None => self.listing(env),
        };
        view.mirrored()
    }

    fn on(&mut self, event: Event, reach: &mut Reach<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, reach),
            Event::Text { text, .. } => {
                self.query = Some(text);
                reach.scroll_to_top(LIST);
            }
            Event::Action { .. } => reach.unfocus(),
            Event::Back => self.back(reach),
            _ => {}
        }
    }
}

impl Akhbar {
    fn tapped(&mut self, tag: &Tag, reach: &mut Reach<'_>) {
        match tag.name {
            "tab" => {
                self.saved = tag.value == SAVED;
                reach.scroll_to_top(LIST);
            }
            "story" => {
                reach.unfocus();
                self.story = tag.value.parse().ok();
                reach.scroll_to_top("news_page");
            }
            "keep" => keep(&tag.value, reach),
            "search" => {
                self.query = Some(String::new());
                reach.focus(SEARCH);
            }
            "back" => self.back(reach),
            _ => {}
        }
    }

    fn back(&mut self, reach: &mut Reach<'_>) {
        reach.unfocus();
        if self.story.take().is_none()
            && self.query.take().is_none()
            && !std::mem::take(&mut self.saved)
        {
            reach.finish();
        }
    }

    fn listing(&self, env: &Env<'_>) -> View {
        let wanted = self.query.as_deref().unwrap_or_default().trim();
        let found = STORIES.iter().enumerate().filter(|(at, story)| {
            (!self.saved || kept(env.store, *at))
                && (story.title.contains(wanted) || story.subject.contains(wanted))
        });
        let rows: Vec<View> = found.map(|(at, story)| story_row(at, story)).collect();
        let body = match (rows.is_empty(), self.saved && wanted.is_empty()) {
            (true, true) => {
                nothing(Icon::BookmarkBorder, "لا توجد محفوظات", "ما تحفظه من الأخبار يظهر هنا")
            }
            (true, false) => nothing(Icon::Search, "لا توجد نتائج", "جرب كلمات أخرى"),
            _ => list(LIST, rows, env).pad_each(0.0, 0.0, 0.0, 8.0),
        };
        let places = [
            (Icon::Description, ALL, "navigation_news"),
            (Icon::Bookmark, SAVED, "navigation_saved"),
        ];
        let chosen = if self.saved { SAVED } else { ALL };
        page([self.bar(chosen), body, tabs(&places, chosen, env)], env)
    }

    /// The name of the page and the way to search, or the search itself.
    fn bar(&self, title: &str) -> View {
        let Some(query) = &self.query else {
            let title = text(title, theme::HEADLINE.lines(1)).id("toolbar_title").grow();
            let search = icon_button(Icon::Search, "بحث", "search").id("action_search");
            return row([title, search]).pad_each(20.0, 8.0, 4.0, 8.0).wide().id("toolbar");
        };
        let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
        let input = field(SEARCH, query, "ابحث في الأخبار", theme::BODY_LARGE, traits);
        search_toolbar(vec![back(), input.grow()]).id("toolbar")
    }
}

/// The way back: where one reads from right to left it points to the right.
fn back() -> View {
    icon_button(Icon::ArrowForward, "التنقل إلى أعلى", "back")
}

fn story_row(at: usize, story: &Story) -> View {
    let sign = badge(story.symbol, 56.0, Colour::hex(story.colour), theme::WHITE).radius(16.0);
    let words = column([
        text(story.subject, theme::LABEL.colour(theme::PRIMARY).lines(1)).id("news_subject"),
        text(story.title, theme::BODY_LARGE.lines(2)).id("news_title"),
    ]);
    row([sign.unlisted(), words.gap(2.0).grow()])
        .class(class::GROUP)
        .gap(16.0)
        .pad_each(16.0, 10.0, 20.0, 10.0)
        .tall(84.0)
        .wide()
        .id("news_item")
        .on_tap(("story", at))
}

fn open(env: &Env<'_>, at: usize, story: &Story) -> View {
    let on = kept(env.store, at);
    let (symbol, words) = if on {
        (Icon::Bookmark, "إزالة من المحفوظات")
    } else {
        (Icon::BookmarkBorder, "حفظ")
    };
    let keep = icon_button(symbol, words, ("keep", at)).selected(on).id("action_save");
    let title = text(story.subject, theme::TITLE_LARGE.lines(1)).id("toolbar_title").grow();
    let bar = row([back(), title, keep]).gap(4.0).pad_xy(4.0, 4.0).height(64.0).wide();
    let picture = row([icon(story.symbol, 88.0, theme::WHITE).unlisted()])
        .class(class::IMAGE)
        .height(160.0)
        .wide()
        .pack_center()
        .fill(Colour::hex(story.colour))
        .radius(24.0)
        .describe(story.subject)
        .id("news_image");
    let says = story.says.map(|words| text(words, theme::BODY_LARGE).id("news_text"));
    let head = [picture, text(story.title, theme::HEADLINE).id("news_title"), divider()];
    let parts = column(head.into_iter().chain(says)).gap(16.0).pad_xy(20.0, 8.0).wide();
    page([bar.id("toolbar"), list("news_page", [parts], env)], env)
}

fn keep(story: &str, reach: &mut Reach<'_>) {
    let key = format!("saved/{story}");
    if reach.store.get(&key).is_some() {
        reach.store.remove(&key);
        reach.toast("أزيل من المحفوظات");
    } else {
        reach.store.set(&key, "yes");
        reach.toast("تم الحفظ");
    }
}

fn kept(store: &Store, at: usize) -> bool {
    store.get(&format!("saved/{at}")).is_some()
}
