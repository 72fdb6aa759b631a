//! What an app wants on the screen: a tree of views, rebuilt after every change.
//!
//! Start with the constructors [`column()`], [`row()`], [`frame()`], [`text()`] and the builder
//! methods of [`View`]; ready-made buttons, fields and rows are in `widgets`. Lengths are dp. A
//! view holds no state: the app keeps its own, the world keeps focus and scroll offsets.

mod sizing;

use std::borrow::Cow;
use std::sync::Arc;

use taffy::prelude::*;

use crate::platform::Role;
use crate::theme::{Colour, TextAppearance};
use thumbwire_virtual_screen::Axis;
use thumbwire_virtual_screen::icons::Icon;
use thumbwire_virtual_screen::picture::Picture;

/// A message to the app when something is touched: a name and a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

impl From<&'static str> for Tag {
    fn from(name: &'static str) -> Self {
        Self { name, value: String::new() }
    }
}

impl<T: ToString> From<(&'static str, T)> for Tag {
    fn from((name, value): (&'static str, T)) -> Self {
        Self { name, value: value.to_string() }
    }
}

/// A view and its children.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) class: &'static str,
    /// What it is, beyond its class.
    pub(crate) role: Option<Role>,
    /// Short resource name (the package is added), or a full one if it contains a colon.
    pub(crate) id: Option<Cow<'static, str>>,
    /// Whether dumps show `id` unchanged.
    pub(crate) bare_id: bool,
    pub(crate) text: String,
    pub(crate) description: String,
    pub(crate) style: Style,
    pub(crate) look: BoxStyle,
    pub(crate) content: Content,
    pub(crate) checked: Option<bool>,
    pub(crate) selected: bool,
    pub(crate) enabled: bool,
    /// Whether dumps list it; otherwise it is painted as part of its parent.
    pub(crate) listed: bool,
    /// What touching it does; layout adds what follows from its content.
    pub(crate) touch: Touch,
    pub(crate) scroll: Option<Axis>,
    /// Shows its end, not its start, until it is scrolled.
    pub(crate) from_end: bool,
    /// Draws behind the status and gesture bars; only for the root of an app's view.
    pub(crate) edge_to_edge: bool,
    /// Paints the system bars for a dark background; only for the root of an app's view.
    pub(crate) light_bars: bool,
    /// Right-to-left layout: the start is at the right, and "left" of paddings, margins and pins
    /// means the start side. Set on the root of an app's view for all of it. Not meant for
    /// containers that scroll sideways.
    pub(crate) mirrored: bool,
    /// A dialog over everything else, in its own window, which takes all touches and keys; only for
    /// the root of an app's view. Its events arrive as taps, a touch outside it as back.
    pub(crate) dialog: Option<Box<View>>,
    pub(crate) children: Vec<View>,
}

/// What touching a node does; returned to the owner of the window.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Touch {
    pub(crate) tap: Option<Tag>,
    pub(crate) hold: Option<Tag>,
    /// Sent on a double tap.
    pub(crate) double: Option<Tag>,
    /// Makes it draggable after a long press.
    pub(crate) lift: Option<Tag>,
    /// Makes it a drop target.
    pub(crate) landing: Option<Tag>,
    pub(crate) drag: Option<Tag>,
    /// Sent while two fingers move apart or together on it.
    pub(crate) pinch: Option<Tag>,
    /// Sent with the position along its width while a finger touches it.
    pub(crate) slide: Option<Tag>,
    pub(crate) swipe_up: Option<Tag>,
    pub(crate) swipe_down: Option<Tag>,
    pub(crate) swipe_left: Option<Tag>,
    pub(crate) swipe_right: Option<Tag>,
    pub(crate) field: Option<FieldTraits>,
    /// Axis and maximum offset in pixels; `None` if there is nothing to scroll.
    pub(crate) scroll: Option<(Axis, i32)>,
    /// The current offset, in pixels.
    pub(crate) scrolled: i32,
}

/// How a view's box is painted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct BoxStyle {
    pub(crate) fill: Option<Colour>,
    /// The lower colour of a gradient.
    pub(crate) fill_to: Option<Colour>,
    pub(crate) radius: f32,
    pub(crate) border: Option<(f32, Colour)>,
    /// Elevation above what is below, in dp; drawn as a shadow.
    pub(crate) depth: f32,
}

/// The content of a view's box.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Nothing,
    Text(TextAppearance),
    Icon(Icon, f32, Colour),
    Picture(Arc<Picture>),
    Field(Box<Field>),
}

/// A text field.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) hint: String,
    pub(crate) style: TextAppearance,
    pub(crate) traits: FieldTraits,
}

/// How a field accepts text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FieldTraits {
    /// Enter starts a new line, and the field grows.
    pub(crate) multi_line: bool,
    /// Shown as dots.
    pub(crate) password: bool,
    /// The keyboard's enter key.
    pub(crate) action: ImeAction,
}

/// What the keyboard's enter key does in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ImeAction {
    #[default]
    Done,
    Search,
    /// Moves on to the next field; done in the last.
    Next,
}

pub(crate) mod class {
    //! Android's class names, as in dumps.
    pub(crate) const VIEW: &str = "android.view.View";
    pub(crate) const GROUP: &str = "android.view.ViewGroup";
    pub(crate) const LINEAR: &str = "android.widget.LinearLayout";
    pub(crate) const FRAME: &str = "android.widget.FrameLayout";
    pub(crate) const TEXT: &str = "android.widget.TextView";
    pub(crate) const IMAGE: &str = "android.widget.ImageView";
    pub(crate) const BUTTON: &str = "android.widget.Button";
    pub(crate) const IMAGE_BUTTON: &str = "android.widget.ImageButton";
    pub(crate) const EDIT: &str = "android.widget.EditText";
    pub(crate) const SCROLL: &str = "android.widget.ScrollView";
    pub(crate) const SCROLL_ACROSS: &str = "android.widget.HorizontalScrollView";
    pub(crate) const SWITCH: &str = "android.widget.Switch";
    pub(crate) const SEEK_BAR: &str = "android.widget.SeekBar";
    pub(crate) const RADIO: &str = "android.widget.RadioButton";
    pub(crate) const CHECK_BOX: &str = "android.widget.CheckBox";
    pub(crate) const GRID: &str = "android.widget.GridView";
    pub(crate) const WEB_VIEW: &str = "android.webkit.WebView";
    pub(crate) const WEB_IMAGE: &str = "android.widget.Image";
    pub(crate) const LIST_VIEW: &str = "android.widget.ListView";
    pub(crate) const LIST: &str = "androidx.recyclerview.widget.RecyclerView";
}

/// Children below each other.
pub(crate) fn column(children: impl IntoIterator<Item = View>) -> View {
    let mut view = View::new(class::LINEAR, children);
    view.style.flex_direction = FlexDirection::Column;
    view
}

/// Children side by side, vertically centred.
pub(crate) fn row(children: impl IntoIterator<Item = View>) -> View {
    let mut view = View::new(class::LINEAR, children);
    view.style.align_items = AlignItems::CENTER;
    view
}

/// Children on top of each other; position them with [`View::absolute`] or [`View::fill_parent`].
pub(crate) fn frame(children: impl IntoIterator<Item = View>) -> View {
    View::new(class::FRAME, children)
}

/// A label.
pub(crate) fn text(text: impl Into<String>, style: TextAppearance) -> View {
    let mut view = View::new(class::TEXT, []);
    view.text = text.into();
    view.content = Content::Text(style);
    view.style.flex_shrink = 1.0;
    view
}

/// An icon, `size` dp wide.
pub(crate) fn icon(icon: Icon, size: f32, colour: Colour) -> View {
    let mut view = View::new(class::IMAGE, []).size(size, size);
    view.content = Content::Icon(icon, size, colour);
    view
}

/// A drawing.
pub(crate) fn picture(picture: Picture) -> View {
    let mut view = View::new(class::IMAGE, []);
    view.content = Content::Picture(Arc::new(picture));
    view
}

/// An empty view that takes the free space between its siblings.
pub(crate) fn spacer() -> View {
    View::new(class::VIEW, []).grow().hide_from_accessibility()
}

impl View {
    pub(crate) fn new(class: &'static str, children: impl IntoIterator<Item = View>) -> Self {
        Self {
            class,
            role: None,
            id: None,
            bare_id: false,
            text: String::new(),
            description: String::new(),
            // Relative, so that absolute children are positioned in their own parent.
            style: Style { flex_shrink: 0.0, position: Position::Relative, ..Style::default() },
            look: BoxStyle::default(),
            content: Content::Nothing,
            checked: None,
            selected: false,
            enabled: true,
            listed: true,
            touch: Touch::default(),
            scroll: None,
            from_end: false,
            edge_to_edge: false,
            light_bars: false,
            mirrored: false,
            dialog: None,
            children: children.into_iter().collect(),
        }
    }

    pub(crate) fn class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    pub(crate) fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    pub(crate) fn id(mut self, id: impl Into<Cow<'static, str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The text that a dump shows for a view whose text is painted by unlisted children.
    pub(crate) fn dump_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub(crate) fn content_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Hides the view and its children from dumps; it is painted as part of its parent.
    pub(crate) fn hide_from_accessibility(mut self) -> Self {
        self.listed = false;
        self
    }

    pub(crate) fn selected(mut self, selected: bool) -> Self {
        self.selected = selected;
        self
    }

    pub(crate) fn checked(mut self, checked: bool) -> Self {
        self.checked = Some(checked);
        self
    }

    pub(crate) fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    pub(crate) fn on_tap(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.tap = Some(tag.into());
        self
    }

    pub(crate) fn on_long_press(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.hold = Some(tag.into());
        self
    }

    pub(crate) fn on_double_tap(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.double = Some(tag.into());
        self
    }

    /// Draggable: a long press followed by a move carries it to a view with [`View::drop_target`].
    pub(crate) fn draggable(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.lift = Some(tag.into());
        self
    }

    pub(crate) fn drop_target(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.landing = Some(tag.into());
        self
    }

    /// Sends every movement of a finger here to the app, in dp.
    pub(crate) fn on_drag(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.drag = Some(tag.into());
        self
    }

    /// Sends to the app how two fingers here move apart or together.
    pub(crate) fn on_pinch(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.pinch = Some(tag.into());
        self
    }

    /// Sends a finger's position along the view's width to the app, from 0 to 1.
    pub(crate) fn on_slide(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.slide = Some(tag.into());
        self
    }

    pub(crate) fn on_swipe_up(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.swipe_up = Some(tag.into());
        self
    }

    pub(crate) fn on_swipe_down(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.swipe_down = Some(tag.into());
        self
    }

    /// Handles a swipe to the left.
    pub(crate) fn on_swipe_left(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.swipe_left = Some(tag.into());
        self
    }

    /// Handles a swipe to the right.
    pub(crate) fn on_swipe_right(mut self, tag: impl Into<Tag>) -> Self {
        self.touch.swipe_right = Some(tag.into());
        self
    }

    /// Scrolls vertically if the content is longer than the view.
    pub(crate) fn scrolls(mut self) -> Self {
        self.scroll = Some(Axis::Down);
        self.class = class::SCROLL;
        self.style.overflow.y = taffy::Overflow::Scroll;
        self
    }

    /// Shows the end of the content, like a conversation, until it is scrolled.
    pub(crate) fn at_end(mut self) -> Self {
        self.from_end = true;
        self
    }

    /// Scrolls horizontally if the content is wider than the view.
    pub(crate) fn scrolls_across(mut self) -> Self {
        self.scroll = Some(Axis::Across);
        self.class = class::SCROLL_ACROSS;
        self.style.overflow.x = taffy::Overflow::Scroll;
        self
    }

    pub(crate) fn edge_to_edge(mut self) -> Self {
        self.edge_to_edge = true;
        self
    }

    pub(crate) fn dialog(mut self, dialog: Option<View>) -> Self {
        self.dialog = dialog.map(Box::new);
        self
    }

    /// Right-to-left layout; see [`View::mirrored`].
    pub(crate) fn mirrored(mut self) -> Self {
        self.mirrored = true;
        self
    }

    /// A resource id without a package, as web elements have it (their HTML `id`).
    pub(crate) fn web_id(mut self, id: impl Into<Cow<'static, str>>) -> Self {
        self.id = Some(id.into());
        self.bare_id = true;
        self
    }

    pub(crate) fn light_bars(mut self) -> Self {
        self.light_bars = true;
        self
    }

    pub(crate) fn fill(mut self, colour: Colour) -> Self {
        self.look.fill = Some(colour);
        self
    }

    /// A vertical gradient, from the top colour to the bottom colour.
    pub(crate) fn gradient(mut self, from: Colour, to: Colour) -> Self {
        self.look.fill = Some(from);
        self.look.fill_to = Some(to);
        self
    }

    pub(crate) fn radius(mut self, radius: f32) -> Self {
        self.look.radius = radius;
        self
    }

    pub(crate) fn border(mut self, width: f32, colour: Colour) -> Self {
        self.look.border = Some((width, colour));
        self
    }

    /// Elevation of `depth` dp, drawn as a shadow.
    pub(crate) fn elevation(mut self, depth: f32) -> Self {
        self.look.depth = depth;
        self
    }
}
