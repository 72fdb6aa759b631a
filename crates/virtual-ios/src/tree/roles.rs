//! Which type XCUITest gives a view, and what it says of it.
//!
//! The world says so of some views by a role; the types of the others follow from their classes,
//! which are Android's.

use thumbwire_virtual_phone::{Node, Role as IosRole, WindowKind};

/// What is around a view.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The kind of its window.
    pub(super) window: WindowKind,
    /// Whether it is inside a table or collection, and not inside one of its cells.
    in_list: bool,
    in_web: bool,
    /// Whether it is inside a bar, list or cell, whose groups are not in XCUITest's tree.
    drops_groups: bool,
    /// The view around it.
    row: Option<&'a Node>,
}

impl<'a> Context<'a> {
    /// At the root of a window.
    pub(super) fn new(window: WindowKind) -> Self {
        Self { window, in_list: false, in_web: false, drops_groups: false, row: None }
    }

    /// Whether a view of this role is left out; its children are in its place.
    pub(super) fn drops(self, role: &Role) -> bool {
        self.drops_groups && role.kind == "Other" && role.label.is_none()
    }

    /// For the children of a view that is of this type.
    pub(super) fn inside(self, node: &'a Node, kind: &str) -> Self {
        let in_list = match kind {
            "Table" | "CollectionView" => true,
            "Cell" | "Button" => false,
            _ => self.in_list,
        };
        let in_web = self.in_web || kind == "WebView";
        let drops_groups = match kind {
            "NavigationBar" | "TabBar" | "Toolbar" | "Table" | "Cell" => true,
            "Other" => self.drops_groups,
            _ => false,
        };
        Self { in_list, in_web, drops_groups, row: Some(node), ..self }
    }
}

/// What a view is to XCUITest.
pub(super) struct Role {
    pub(super) kind: &'static str,
    pub(super) label: Option<String>,
    pub(super) identifier: Option<String>,
    pub(super) value: Option<String>,
    pub(super) placeholder: Option<String>,
}

/// The role of a view.
pub(super) fn role(node: &Node, context: Context<'_>) -> Role {
    let kind = kind(node, context);
    let own = own_label(node);
    let label = match kind {
        "Cell" => own.or_else(|| texts(node).into_iter().next()),
        "Button" | "Icon" | "Key" | "MenuItem" => own.or_else(|| texts_inside(node)),
        "Switch" | "Slider" => {
            own.or_else(|| context.row.and_then(|row| texts(row).into_iter().next()))
        }
        "TextField" | "SecureTextField" | "TextView" => {
            Some(node.description.clone()).filter(|text| !text.is_empty())
        }
        "SearchField" => {
            let hint = Some(node.hint.clone()).filter(|text| !text.is_empty());
            Some(node.description.clone()).filter(|text| !text.is_empty()).or(hint).or(own)
        }
        "NavigationBar" => None,
        _ => own,
    };
    // On iOS, the button that goes back is called so unless the page before it has a title.
    let label = label.map(|label| match label.as_str() {
        "Navigate up" => "Back".to_owned(),
        _ => label,
    });
    let identifier = match kind {
        "NavigationBar" => title_of(node).or_else(|| short_id(node)),
        _ if label.is_none() && !matches!(kind, "Other" | "Window") => short_id(node),
        _ => None,
    };
    let full = |text: &String| !text.is_empty();
    let value = match kind {
        "TextField" | "SecureTextField" | "SearchField" | "TextView" => {
            // XCTest gives an empty field's placeholder as its value.
            Some(&node.text)
                .filter(|text| full(text))
                .or(Some(&node.hint).filter(|text| full(text)))
                .cloned()
        }
        "Switch" => Some(if node.flags.checked { "1" } else { "0" }.to_owned()),
        "Slider" => Some(node.text.clone()).filter(full),
        "StaticText" => label.clone(),
        // As in Settings of iOS: the title names the cell, the text beside or below it is its
        // value.
        "Cell" if own_label(node).is_none() => {
            Some(texts(node).get(1..).unwrap_or_default().join(", ")).filter(full)
        }
        _ => None,
    };
    let placeholder = Some(node.hint.clone()).filter(full);
    Role { kind, label, identifier, value, placeholder }
}

fn kind(node: &Node, context: Context<'_>) -> &'static str {
    let taps = node.flags.clickable || node.flags.long_clickable;
    let class = node.class.rsplit('.').next().unwrap_or(node.class);
    let id = node.id.as_deref().map_or("", |id| id.rsplit_once('/').map_or(id, |(_, short)| short));
    if let Some(kind) = named(node) {
        return kind;
    }
    match class {
        _ if context.window == WindowKind::InputMethod => match taps {
            true if node.text.chars().count() == 1 || node.description.chars().count() == 1 => {
                "Key"
            }
            true => "Button",
            false => "Other",
        },
        "EditText" if node.flags.password => "SecureTextField",
        "EditText" if id.contains("search") => "SearchField",
        "EditText" if id.contains("body") || id.contains("content") => "TextView",
        "EditText" => "TextField",
        "Switch" | "CheckBox" | "ToggleButton" => "Switch",
        "SeekBar" => "Slider",
        "NumberPicker" => "PickerWheel",
        "WebView" => "WebView",
        "RecyclerView" | "ListView" => "Table",
        "GridView" => "CollectionView",
        "ScrollView" | "HorizontalScrollView" => "ScrollView",
        "LinearLayout" | "FrameLayout" | "ViewGroup" | "View" if node.flags.scrollable => {
            "ScrollView"
        }
        _ if matches!(id, "toolbar" | "action_bar" | "navigation_bar") && !taps => "NavigationBar",
        "Button" | "ImageButton" | "RadioButton" => "Button",
        _ if taps && context.in_web => "Link",
        _ if taps && context.in_list && !node.children.is_empty() => "Cell",
        _ if taps && node.package.ends_with("launcher") => "Icon",
        _ if taps => "Button",
        "TextView" => "StaticText",
        "ImageView" | "Image" => "Image",
        _ if !node.text.is_empty() => "StaticText",
        _ => "Other",
    }
}

/// The type that the view itself names.
pub(super) fn named(node: &Node) -> Option<&'static str> {
    Some(match node.role? {
        IosRole::NavigationBar => "NavigationBar",
        IosRole::BackButton => "Button",
        IosRole::TabBar => "TabBar",
        IosRole::Toolbar => "Toolbar",
        IosRole::Table => "Table",
        IosRole::Cell => "Cell",
        IosRole::Switch => "Switch",
        IosRole::SearchField => "SearchField",
        IosRole::Alert => "Alert",
        IosRole::Icon => "Icon",
        IosRole::PageIndicator => "PageIndicator",
        IosRole::Keyboard => "Keyboard",
        IosRole::Key => "Key",
    })
}

fn own_label(node: &Node) -> Option<String> {
    let own = if node.description.is_empty() { &node.text } else { &node.description };
    Some(own.clone()).filter(|text| !text.is_empty())
}

/// The texts below a view, without those of what is a control by itself.
fn texts(node: &Node) -> Vec<String> {
    let inside = node.children.iter().flat_map(Node::walk);
    inside.filter(|node| !node.flags.checkable).filter_map(own_label).collect()
}

/// The texts below a view as one, as VoiceOver speaks them.
fn texts_inside(node: &Node) -> Option<String> {
    Some(texts(node).join(", ")).filter(|text| !text.is_empty())
}

/// The title of a navigation bar.
fn title_of(bar: &Node) -> Option<String> {
    let titled = bar.walk().find(|node| !node.flags.clickable && !node.text.is_empty());
    titled.map(|node| node.text.clone())
}

pub(super) fn short_id(node: &Node) -> Option<String> {
    let id = node.id.as_deref()?;
    Some(id.rsplit_once('/').map_or(id, |(_, short)| short).to_owned())
}
