//! Akhbar ("News"): an Arabic app with a right-to-left layout, a list, story pages, a search, and
//! saved stories.
//!
//! All its texts are Arabic; the resource ids say what is what. Preferences: `saved/N` (a saved
//! story, by number).

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::packages::AppIcon;
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, Tag, View, class, column, icon, row, text};
use crate::widgets::{
    badge, divider, empty_state, field, icon_button, list, page, search_toolbar, tabs,
};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Akhbar.
#[derive(Default)]
pub(crate) struct Akhbar {
    /// Whether only saved stories are listed.
    saved: bool,
    /// The text of the search field, if it is open.
    query: Option<String>,
    /// The open story.
    story: Option<usize>,
}

/// A story: its topic, its title and its text.
struct Story {
    subject: &'static str,
    symbol: Icon,
    colour: u32,
    title: &'static str,
    text: [&'static str; 2],
}

const STORIES: [Story; 6] = [
    Story {
        subject: "المدينة",
        symbol: Icon::Train,
        colour: 0x1A73E8,
        title: "افتتاح خط القطار الجديد بين الميناء والمدينة القديمة",
        text: [
            "بدأ اليوم تشغيل خط القطار الجديد الذي يصل الميناء بالمدينة القديمة في 12 دقيقة فقط.",
            "ينطلق القطار كل 10 دقائق من الساعة 5:30 صباحا حتى منتصف الليل.",
        ],
    },
    Story {
        subject: "الطقس",
        symbol: Icon::WbSunny,
        colour: 0xB06000,
        title: "طقس مشمس حتى نهاية الأسبوع",
        text: [
            "تتوقع الأرصاد طقسا مشمسا ودرجات حرارة تصل إلى 18 درجة خلال الأيام القادمة.",
            "ومن المنتظر أن تعود الأمطار يوم الأحد.",
        ],
    },
    Story {
        subject: "ثقافة",
        symbol: Icon::Museum,
        colour: 0xA142F4,
        title: "المتحف البحري يعرض خرائط لم تنشر من قبل",
        text: [
            "يعرض المتحف البحري أكثر من 200 خريطة رسمها بحارة قبل 3 قرون.",
            "الدخول مجاني يوم الجمعة.",
        ],
    },
    Story {
        subject: "رياضة",
        symbol: Icon::DirectionsBike,
        colour: 0x188038,
        title: "سباق الدراجات يغلق شوارع الوسط يوم السبت",
        text: [
            "يشارك في السباق نحو 1500 دراج من 20 بلدا.",
            "تفتح الشوارع من جديد عند الساعة 16:00.",
        ],
    },
    Story {
        subject: "علوم",
        symbol: Icon::School,
        colour: 0x007B83,
        title: "طلاب يبنون محطة صغيرة لقياس جودة الهواء",
        text: [
            "صمم طلاب المدرسة محطة لا يزيد ثمنها على 40 دولارا.",
            "تظهر القياسات على شاشة كبيرة أمام المدرسة.",
        ],
    },
    Story {
        subject: "مطبخ",
        symbol: Icon::Restaurant,
        colour: 0xC5221F,
        title: "خبز الزعتر في عشرين دقيقة",
        text: [
            "نحتاج إلى 3 أكواب من الطحين وكوب من الماء الدافئ وملعقة خميرة.",
            "يخبز على حرارة 220 درجة حتى يصبح ذهبيا.",
        ],
    },
];

const SEARCH: &str = "search_src_text";
const LIST: &str = "news_list";
const ALL: &str = "الأخبار";
const SAVED: &str = "المحفوظات";

impl BuiltInApp for Akhbar {
    const DESCRIPTION: AppDescription = AppDescription {
        name: ALL,
        version: "2.6",
        icon: AppIcon { symbol: Icon::Description, fill: theme::GREEN, ink: theme::WHITE },
        system: false,
        android: AndroidIdentity {
            package: "com.example.akhbar",
            version_code: 26,
            activities: &["com.example.akhbar.MainActivity"],
            has_icon: true,
            permissions: &["INTERNET"],
        },
        ios: IosIdentity { bundle_id: "com.example.akhbar" },
    };

    fn new(_seed: u64) -> Self {
        Self::default()
    }
}

impl App for Akhbar {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let view = match self.story.and_then(|at| Some((at, STORIES.get(at)?))) {
            Some((at, story)) => open(env, at, story),
            None => self.listing(env),
        };
        view.mirrored()
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { text, .. } => {
                self.query = Some(text);
                context.scroll_to_top(LIST);
            }
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            _ => {}
        }
    }
}

impl Akhbar {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "tab" => {
                self.saved = tag.value == SAVED;
                context.scroll_to_top(LIST);
            }
            "story" => {
                context.unfocus();
                self.story = tag.value.parse().ok();
                context.scroll_to_top("news_page");
            }
            "keep" => keep(&tag.value, context),
            "search" => {
                self.query = Some(String::new());
                context.focus(SEARCH);
            }
            "back" => self.back(context),
            _ => {}
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.story.take().is_none()
            && self.query.take().is_none()
            && !std::mem::take(&mut self.saved)
        {
            context.finish();
        }
    }

    fn listing(&self, env: &DrawContext<'_>) -> View {
        let wanted = self.query.as_deref().unwrap_or_default().trim();
        let found = STORIES.iter().enumerate().filter(|(at, story)| {
            (!self.saved || is_saved(env.store, *at))
                && (story.title.contains(wanted) || story.subject.contains(wanted))
        });
        let rows: Vec<View> = found.map(|(at, story)| story_row(at, story)).collect();
        let body = match (rows.is_empty(), self.saved && wanted.is_empty()) {
            (true, true) => {
                empty_state(Icon::BookmarkBorder, "لا توجد محفوظات", "ما تحفظه من الأخبار يظهر هنا")
            }
            (true, false) => empty_state(Icon::Search, "لا توجد نتائج", "جرب كلمات أخرى"),
            _ => list(LIST, rows, env).pad_each(0.0, 0.0, 0.0, 8.0),
        };
        let places = [
            (Icon::Description, ALL, "navigation_news"),
            (Icon::Bookmark, SAVED, "navigation_saved"),
        ];
        let chosen = if self.saved { SAVED } else { ALL };
        page([self.bar(chosen), body, tabs(&places, chosen, env)], env)
    }

    /// The page's title and the search button, or the search itself.
    fn bar(&self, title: &str) -> View {
        let Some(query) = &self.query else {
            let title = text(title, theme::HEADLINE.lines(1)).id("toolbar_title").grow();
            let search = icon_button(Icon::Search, "بحث", "search").id("action_search");
            return row([title, search]).pad_each(20.0, 8.0, 4.0, 8.0).fill_width().id("toolbar");
        };
        let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
        let input = field(SEARCH, query, "ابحث في الأخبار", theme::BODY_LARGE, traits);
        search_toolbar(vec![back(), input.grow()]).id("toolbar")
    }
}

/// The back button, which points to the right in a right-to-left layout.
fn back() -> View {
    icon_button(Icon::ArrowForward, "التنقل إلى أعلى", "back")
}

fn story_row(at: usize, story: &Story) -> View {
    let sign = badge(story.symbol, 56.0, Colour::hex(story.colour), theme::WHITE).radius(16.0);
    let words = column([
        text(story.subject, theme::LABEL.colour(theme::PRIMARY).lines(1)).id("news_subject"),
        text(story.title, theme::BODY_LARGE.lines(2)).id("news_title"),
    ]);
    row([sign.hide_from_accessibility(), words.gap(2.0).grow()])
        .class(class::GROUP)
        .gap(16.0)
        .pad_each(16.0, 10.0, 20.0, 10.0)
        .min_height(84.0)
        .fill_width()
        .id("news_item")
        .on_tap(("story", at))
}

fn open(env: &DrawContext<'_>, at: usize, story: &Story) -> View {
    let on = is_saved(env.store, at);
    let (symbol, words) = if on {
        (Icon::Bookmark, "إزالة من المحفوظات")
    } else {
        (Icon::BookmarkBorder, "حفظ")
    };
    let keep = icon_button(symbol, words, ("keep", at)).selected(on).id("action_save");
    let title = text(story.subject, theme::TITLE_LARGE.lines(1)).id("toolbar_title").grow();
    let bar = row([back(), title, keep]).gap(4.0).pad_xy(4.0, 4.0).height(64.0).fill_width();
    let picture = row([icon(story.symbol, 88.0, theme::WHITE).hide_from_accessibility()])
        .class(class::IMAGE)
        .height(160.0)
        .fill_width()
        .justify_center()
        .fill(Colour::hex(story.colour))
        .radius(24.0)
        .content_description(story.subject)
        .id("news_image");
    let says = story.text.map(|words| text(words, theme::BODY_LARGE).id("news_text"));
    let head = [picture, text(story.title, theme::HEADLINE).id("news_title"), divider()];
    let parts = column(head.into_iter().chain(says)).gap(16.0).pad_xy(20.0, 8.0).fill_width();
    page([bar.id("toolbar"), list("news_page", [parts], env)], env)
}

fn keep(story: &str, context: &mut AppContext<'_>) {
    let key = format!("saved/{story}");
    if context.store.get(&key).is_some() {
        context.store.remove(&key);
        context.toast("أزيل من المحفوظات");
    } else {
        context.store.set(&key, "yes");
        context.toast("تم الحفظ");
    }
}

fn is_saved(store: &Preferences, at: usize) -> bool {
    store.get(&format!("saved/{at}")).is_some()
}
