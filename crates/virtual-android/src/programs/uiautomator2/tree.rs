//! The screen as UiAutomator's clients see it: a list of elements, parents before children, under
//! one `hierarchy`.
//!
//! Texts are those of accessibility nodes: dots for a password, the hint of an empty field.

use super::super::dump::accessibility_text;
use crate::phone::State;
use std::borrow::Cow;
use thumbwire_virtual_phone::{Node, NodeAction, Rect, Window, WindowKind};
use thumbwire_webdriver::xpath::XPathDocument;

/// The place of an element in [`Tree::elements`].
pub(super) type Index = usize;

/// The elements of some windows. The first one is `hierarchy`, whose children are the windows'
/// roots.
pub(super) struct Tree {
    pub(super) elements: Vec<Element>,
    pub(super) rotation: u8,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// One element.
#[derive(Debug, Clone, Default)]
pub(super) struct Element {
    pub(super) parent: Option<Index>,
    pub(super) children: Vec<Index>,
    /// Its number among its siblings.
    pub(super) index: usize,
    pub(super) class: String,
    pub(super) package: String,
    pub(super) id: String,
    pub(super) text: String,
    pub(super) description: String,
    pub(super) hint: String,
    pub(super) flags: thumbwire_virtual_phone::Flags,
    pub(super) bounds: Rect,
    /// Its address in its window.
    pub(super) address: String,
    /// Its window's title.
    pub(super) window: String,
    /// Whether its window has the focus.
    pub(super) in_front: bool,
    /// Whether its text is its hint.
    pub(super) shows_hint: bool,
    /// Whether it scrolls forward and backward.
    pub(super) scrolls: [bool; 2],
    /// Whether it is a text field.
    pub(super) is_field: bool,
}

/// The class of the root.
pub(super) const HIERARCHY: &str = "hierarchy";

/// What a client may ask for by name, and the attributes of Appium's source that every node of this
/// phone can answer, in its order.
pub(super) const ATTRIBUTES: [&str; 20] = [
    "index",
    "package",
    "class",
    "text",
    "content-desc",
    "resource-id",
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "long-clickable",
    "password",
    "scrollable",
    "selected",
    "bounds",
    "displayed",
    "hint",
    "showing-hint",
];

impl Tree {
    /// The tree of the window with the focus, or of all windows but toasts, the front one first.
    pub(super) fn take(phone: &mut State, all_windows: bool) -> Self {
        let dots = phone.release().dots_in_dumps;
        let scene = phone.world.scene();
        let mut tree = Self {
            elements: vec![Element {
                class: HIERARCHY.to_owned(),
                bounds: scene.display.bounds(),
                ..Element::default()
            }],
            rotation: scene.display.rotation,
            width: scene.display.width,
            height: scene.display.height,
        };
        let wanted = |window: &&Window| match all_windows {
            true => window.kind != WindowKind::Toast,
            false => window.focused,
        };
        for window in scene.windows.iter().rev().filter(wanted) {
            tree.add(&window.root, window, 0, dots);
        }
        tree
    }

    fn add(&mut self, node: &Node, window: &Window, parent: Index, dots: bool) {
        let (at, index) = (self.elements.len(), self.elements[parent].children.len());
        self.elements[parent].children.push(at);
        let offers = |action: NodeAction| action.is_offered_by(node);
        self.elements.push(Element {
            parent: Some(parent),
            children: Vec::new(),
            index,
            class: node.class.to_owned(),
            package: node.package.clone(),
            id: node.id.clone().unwrap_or_default(),
            text: accessibility_text(node, dots),
            description: node.description.clone(),
            hint: node.hint.clone(),
            flags: node.flags,
            bounds: node.bounds,
            address: node.address().to_owned(),
            window: window.title.clone(),
            in_front: window.focused,
            shows_hint: node.text.is_empty() && !node.hint.is_empty(),
            scrolls: [offers(NodeAction::ScrollForward), offers(NodeAction::ScrollBackward)],
            is_field: offers(NodeAction::SetText(String::new())),
        });
        for child in &node.children {
            self.add(child, window, at, dots);
        }
    }

    /// The elements below one, in the order of the document.
    pub(super) fn descendants(&self, of: Index) -> Vec<Index> {
        let mut found = Vec::new();
        let mut open: Vec<Index> = self.elements[of].children.iter().rev().copied().collect();
        while let Some(at) = open.pop() {
            found.push(at);
            open.extend(self.elements[at].children.iter().rev());
        }
        found
    }

    /// All elements but the root.
    pub(super) fn all(&self) -> impl Iterator<Item = Index> + use<> {
        1..self.elements.len()
    }
}

impl XPathDocument for Tree {
    fn root(&self) -> Index {
        0
    }

    fn parent(&self, of: Index) -> Option<Index> {
        self.elements[of].parent
    }

    fn children(&self, of: Index) -> &[Index] {
        &self.elements[of].children
    }

    /// The class, as in a page source of Appium.
    fn name(&self, of: Index) -> Cow<'_, str> {
        Cow::Borrowed(&self.elements[of].class)
    }

    fn attribute_names(&self) -> &'static [&'static str] {
        &ATTRIBUTES
    }

    fn attribute(&self, of: Index, name: &str) -> Option<String> {
        self.elements[of].attribute(name)
    }
}

impl Element {
    /// An attribute as a page source has it; `None` if there is none of that name here.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let flags = &self.flags;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let flag = |value: bool| Some(value.to_string());
        if self.class == HIERARCHY {
            return match name {
                "index" => Some("0".to_owned()),
                "class" => Some(self.class.clone()),
                _ => None,
            };
        }
        match name {
            "index" => Some(self.index.to_string()),
            "package" => Some(self.package.clone()),
            "class" => Some(self.class.clone()),
            "text" => Some(self.text.clone()),
            "content-desc" => some(&self.description),
            "resource-id" => some(&self.id),
            "hint" => some(&self.hint),
            "checkable" => flag(flags.checkable),
            "checked" => flag(flags.checked),
            "clickable" => flag(flags.clickable),
            "enabled" => flag(flags.enabled),
            "focusable" => flag(flags.focusable),
            "focused" => flag(flags.focused),
            "long-clickable" => flag(flags.long_clickable),
            "password" => flag(flags.password),
            "scrollable" => flag(flags.scrollable),
            "selected" => flag(flags.selected),
            "bounds" => Some(bounds_text(&self.bounds)),
            // Only visible nodes are in a scene.
            "displayed" => flag(true),
            "showing-hint" => flag(self.shows_hint),
            _ => None,
        }
    }
}

/// `[left,top][right,bottom]`
pub(super) fn bounds_text(bounds: &Rect) -> String {
    format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom)
}
