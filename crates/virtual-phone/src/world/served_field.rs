//! The text field that the keyboard types into, as its app reports it to the input method.

use crate::scene::{Node, WindowKind};
use crate::view::{ImeAction, class};
use crate::world::World;
use thumbwire_virtual_screen::Rect;

/// The field that the input method is connected to (`InputMethodManager.mServedView` and its
/// `EditorInfo`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedField {
    /// The package of its app.
    pub package: String,
    /// The class of the view: the field's, or the `WebView`'s that shows the page of the field.
    pub class: &'static str,
    /// Short resource id of that view, if it has one.
    pub id: Option<String>,
    /// Bounds of the view within its parent, in pixels.
    pub bounds: Rect,
    /// The hint, whether or not it shows.
    pub hint: String,
    /// `EditorInfo.inputType`.
    pub input_type: u32,
    /// `EditorInfo.imeOptions`.
    pub ime_options: u32,
    /// The caret's place, in UTF-16 units as Android counts; nothing is selected.
    pub caret: usize,
}

/// `android.text.InputType`
const TYPE_CLASS_TEXT: u32 = 1;
const TYPE_TEXT_VARIATION_PASSWORD: u32 = 0x80;
const TYPE_TEXT_VARIATION_WEB_EDIT_TEXT: u32 = 0xa0;
const TYPE_TEXT_FLAG_MULTI_LINE: u32 = 0x2_0000;

/// `EditorInfo`'s actions; a field of several lines keeps its enter key.
const IME_ACTION_SEARCH: u32 = 3;
const IME_ACTION_NEXT: u32 = 5;
const IME_ACTION_DONE: u32 = 6;
const IME_FLAG_NO_ENTER_ACTION: u32 = 0x4000_0000;

impl World {
    /// The field that has the focus of the app in front; `None` if no field has it.
    pub fn served_field(&mut self) -> Option<ServedField> {
        let focus = self.input.focused_field()?;
        let traits = focus.field?;
        let (address, caret) = (focus.address.clone(), focus.text.get(..focus.caret)?);
        let caret = caret.encode_utf16().count();
        let windows = &self.scene().windows;
        let apps = windows.iter().rev().filter(|window| window.kind == WindowKind::Application);
        let way = apps.filter_map(|window| way_to(&window.root, &address)).next()?;
        let field = *way.last()?;
        // Elements of a web page are not views: the `WebView` is served instead.
        let page = way.iter().rposition(|node| node.class == class::WEB_VIEW);
        let at = page.unwrap_or(way.len() - 1);
        let (view, parent) = (way[at], way[at.saturating_sub(1)]);
        let origin = parent.bounds;
        let bounds = Rect {
            left: view.bounds.left - origin.left,
            top: view.bounds.top - origin.top,
            right: view.bounds.right - origin.left,
            bottom: view.bounds.bottom - origin.top,
        };
        let kind = match (traits.password, page) {
            (true, _) => TYPE_TEXT_VARIATION_PASSWORD,
            (false, Some(_)) => TYPE_TEXT_VARIATION_WEB_EDIT_TEXT,
            (false, None) => 0,
        };
        let lines = if traits.multi_line { TYPE_TEXT_FLAG_MULTI_LINE } else { 0 };
        let ime_options = match (traits.multi_line, traits.action) {
            (true, _) => IME_FLAG_NO_ENTER_ACTION | IME_ACTION_DONE,
            (false, ImeAction::Done) => IME_ACTION_DONE,
            (false, ImeAction::Search) => IME_ACTION_SEARCH,
            (false, ImeAction::Next) => IME_ACTION_NEXT,
        };
        let id = view.id.as_deref().and_then(|id| id.rsplit_once('/'));
        Some(ServedField {
            package: field.package.clone(),
            class: view.class,
            id: id.map(|(_, id)| id.to_owned()),
            bounds,
            hint: field.hint.clone(),
            input_type: TYPE_CLASS_TEXT | kind | lines,
            ime_options,
            caret,
        })
    }
}

/// The nodes from the root to the one with this address.
fn way_to<'a>(root: &'a Node, address: &str) -> Option<Vec<&'a Node>> {
    if root.address == address {
        return Some(vec![root]);
    }
    root.children.iter().find_map(|child| {
        let mut way = way_to(child, address)?;
        way.insert(0, root);
        Some(way)
    })
}
