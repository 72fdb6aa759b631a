//! Lists that pop up over an app's window: its options menu, and suggestions for a misspelt word.
//!
//! They are windows of the app with the focus: keys that they do not know are lost, and back or a
//! touch outside closes them. Titles as in Android: an options menu is an attached dialog of its
//! activity (`Window.java`, `adjustLayoutParamsForSubWindow`), an action bar's menu and suggestions
//! are a `PopupWindow`. Trees: `popup_menu_item_layout.xml`, `list_menu_item_layout.xml`,
//! `text_edit_suggestion_item.xml` of Android 4.4.

use crate::app::Event;
use crate::overlays::{
    Overlay, OverlayContext, OverlayOutcome, OverlayReach, OverlayRequest, OverlaySize,
};
use crate::packages::Component;
use crate::scene::WindowKind;
use crate::theme;
use crate::view::{Tag, View, class, column, row, text};
use thumbwire_virtual_screen::{Display, Rect};

/// Width in dp, and the height of a row.
const WIDTH: f32 = 196.0;
const ROW: f32 = 48.0;

/// A list over an app's window.
pub(crate) struct Popup {
    package: String,
    title: String,
    purpose: Purpose,
    /// Where it begins, in dp: left and top.
    at: (f32, f32),
}

enum Purpose {
    /// What the rows of an options menu say and send to the app.
    Menu(Vec<(&'static str, Tag)>),
    /// What a word may be replaced by.
    Suggestions(Vec<&'static str>),
}

/// The last rows of a list of suggestions.
const ADD: &str = "Add to dictionary";
const DELETE: &str = "Delete";

/// Whether an overlay is such a list.
pub(crate) fn is_popup(overlay: &dyn Overlay) -> bool {
    overlay.place() == OverlaySize::Popup
}

impl Popup {
    /// The options menu of an activity, at the bottom on Android 4.4, else below the action bar.
    pub(crate) fn menu(
        of: &Component,
        rows: Vec<(&'static str, Tag)>,
        (android, display): (u32, &Display),
    ) -> Self {
        let (width, height) = size(display);
        let high = ROW * rows.len() as f32;
        let (title, at) = if android < 5 {
            let title = format!("AtchDlg:{}/{}", of.package, of.activity);
            (title, (0.0, height - crate::system_ui::NAVIGATION - high))
        } else {
            (popup_title(&of.package), (width - WIDTH - 8.0, crate::system_ui::STATUS + 8.0))
        };
        Self { package: of.package.clone(), title, purpose: Purpose::Menu(rows), at }
    }

    /// Suggestions for a word, below its line, which ends at `line`.
    pub(crate) fn suggestions(
        package: &str,
        words: Vec<&'static str>,
        line: &Rect,
        display: &Display,
    ) -> Self {
        let (width, height) = size(display);
        let (left, below) = (line.left as f32, line.bottom as f32);
        let (left, below) = (left / display.scale(), below / display.scale());
        let high = ROW * (words.len() + 2) as f32;
        let most = height - crate::system_ui::NAVIGATION - high;
        let at = (left.min(width - WIDTH).max(0.0), below.min(most).max(0.0));
        let title = popup_title("suggestions");
        Self { package: package.to_owned(), title, purpose: Purpose::Suggestions(words), at }
    }

    fn rows(&self) -> Vec<(&'static str, Tag)> {
        match &self.purpose {
            Purpose::Menu(rows) => rows.clone(),
            Purpose::Suggestions(words) => {
                let words = words.iter().chain([&ADD, &DELETE]);
                words.map(|word| (*word, Tag::from(("replace", *word)))).collect()
            }
        }
    }
}

fn size(display: &Display) -> (f32, f32) {
    (display.width as f32 / display.scale(), display.height as f32 / display.scale())
}

/// `PopupWindow` names its windows after its address.
fn popup_title(of: &str) -> String {
    let address = of.bytes().fold(0x2b1_c3e5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193) & 0x0fff_ffff
    });
    format!("PopupWindow:{address:x}")
}

impl Overlay for Popup {
    fn package(&self) -> &str {
        &self.package
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn kind(&self) -> WindowKind {
        WindowKind::Panel
    }

    fn place(&self) -> OverlaySize {
        OverlaySize::Popup
    }

    fn about(&self) -> Option<&str> {
        Some(&self.package)
    }

    fn view(&self, _: &OverlayContext<'_>) -> View {
        let plain = matches!(self.purpose, Purpose::Suggestions(_));
        let rows = self.rows().into_iter().map(|(label, tag)| {
            let words = text(label, theme::BODY_LARGE.lines(1));
            if plain {
                return row([words.hide_from_accessibility()])
                    .class(class::TEXT)
                    .dump_text(label)
                    .height(ROW)
                    .pad_xy(16.0, 0.0)
                    .fill_width()
                    .on_tap(tag);
            }
            let words = row([words.id("android:id/title")]).class("android.widget.RelativeLayout");
            row([words]).height(ROW).pad_xy(16.0, 0.0).fill_width().on_tap(tag)
        });
        let list = column(rows).class(class::LIST_VIEW).fill_width();
        let list = if plain { list } else { list.id("android:id/expanded_menu") };
        let (left, top) = self.at;
        let card = column([list]).class(class::FRAME).fill(theme::SURFACE_CONTAINER).elevation(4.0);
        let width = if self.title.starts_with("AtchDlg") { None } else { Some(WIDTH) };
        match width {
            Some(width) => card.width(width).absolute([Some(left), Some(top), None, None]),
            None => card.absolute([Some(left), Some(top), Some(0.0), None]),
        }
    }

    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome {
        match (event, &self.purpose) {
            (Event::Tap(tag), Purpose::Menu(_)) => {
                context.asked.push(OverlayRequest::Choose(tag));
                OverlayOutcome::Dismiss
            }
            (Event::Tap(Tag { value, .. }), Purpose::Suggestions(_)) => {
                match value.as_str() {
                    // The dictionary has no page on this phone.
                    ADD => {}
                    DELETE => context.asked.push(OverlayRequest::ReplaceWord(String::new())),
                    _ => context.asked.push(OverlayRequest::ReplaceWord(value)),
                }
                OverlayOutcome::Dismiss
            }
            (Event::Back, _) => OverlayOutcome::Dismiss,
            _ => OverlayOutcome::Keep,
        }
    }

    fn canceled_on_touch_outside(&self) -> bool {
        true
    }

    fn closes_on_home(&self) -> bool {
        true
    }
}
