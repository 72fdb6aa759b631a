//! What XCUITest sees: the world's scene as a flat list of elements, an application at its root.
//!
//! [`Snapshot::take`] makes one; [`roles`] maps the classes of the world's views to XCUITest's
//! types. Rectangles are in pixels here and in points in a source.

mod roles;

use thumbwire_virtual_phone::{Node, Rect, Window, WindowKind, World};

use crate::source::SourceNode;

use roles::Role;

/// The elements on the screen at one moment, parents before their children.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) elements: Vec<Element>,
    /// Pixels of a point.
    pub(crate) scale: f64,
}

/// An element.
#[derive(Debug, Clone, Default)]
pub(crate) struct Element {
    pub(crate) parent: Option<usize>,
    pub(crate) children: Vec<usize>,
    /// Such as `Button`: XCTest's type without `XCUIElementType`.
    pub(crate) kind: &'static str,
    pub(crate) identifier: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) placeholder: Option<String>,
    pub(crate) enabled: bool,
    pub(crate) visible: bool,
    pub(crate) accessible: bool,
    pub(crate) focused: bool,
    pub(crate) selected: bool,
    /// The visible part, in pixels.
    pub(crate) bounds: Rect,
    /// The window it is in, and where its node is in that; empty for elements without a node.
    pub(crate) window: String,
    pub(crate) address: String,
    /// The id of its view without the package; not a part of the source.
    pub(crate) view_id: String,
    /// Of the application.
    pub(crate) bundle_id: Option<String>,
    pub(crate) process_id: Option<u64>,
}

/// What an element is known by after it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ElementKey {
    kind: &'static str,
    window: String,
    address: String,
    identifier: Option<String>,
}

/// The name under an app's icon.
pub(crate) fn app_name(world: &World, package: &str) -> String {
    let manifests = world.packages();
    let found = manifests.iter().find(|manifest| manifest.package == package);
    found.map_or_else(|| package.to_owned(), |manifest| manifest.label.clone())
}

impl Element {
    /// The identifier, or the label if there is none.
    pub(crate) fn name(&self) -> Option<&str> {
        self.identifier.as_deref().or(self.label.as_deref())
    }

    /// UIKit's names of what it is (`UIAccessibilityTraits`).
    pub(crate) fn traits(&self) -> Vec<String> {
        let mut traits = Vec::new();
        match self.kind {
            "Button" | "Key" | "Icon" | "Switch" => traits.push("Button"),
            "StaticText" => traits.push("StaticText"),
            "Image" => traits.push("Image"),
            "SearchField" => traits.push("SearchField"),
            "Slider" => traits.push("Adjustable"),
            _ => {}
        }
        if self.selected {
            traits.push("Selected");
        }
        if !self.enabled {
            traits.push("NotEnabled");
        }
        traits.into_iter().map(str::to_owned).collect()
    }

    /// Whether it takes text.
    pub(crate) fn is_field(&self) -> bool {
        matches!(self.kind, "TextField" | "SecureTextField" | "SearchField" | "TextView")
    }

    /// What it is known by.
    pub(crate) fn key(&self) -> ElementKey {
        ElementKey {
            kind: self.kind,
            window: self.window.clone(),
            address: self.address.clone(),
            identifier: self.identifier.clone(),
        }
    }
}

/// The home screen's bundle identifier.
pub(crate) const SPRINGBOARD: &str = "com.apple.springboard";

/// Pixels of a point.
pub(crate) fn scale(world: &World) -> f64 {
    f64::from(world.display().density) / 160.0
}

/// The bundle identifier of the app in front, which is SpringBoard on the home and lock screens.
pub(crate) fn front_bundle(world: &World) -> String {
    match world.keyguard_shown() || !world.screen_on() {
        true => SPRINGBOARD.to_owned(),
        false => world.bundle_id_of(&world.foreground().package).to_owned(),
    }
}

impl Snapshot {
    /// What the phone shows now.
    pub(crate) fn take(world: &mut World) -> Self {
        let scale = scale(world);
        let bundle_id = front_bundle(world);
        let package = world.foreground().package;
        let process_id = world.pid_of(&package).map(u64::from);
        let name = match bundle_id.as_str() {
            // The home screen's application has a blank for a name.
            SPRINGBOARD => " ".to_owned(),
            _ => app_name(world, &package),
        };
        let keyguard = world.keyguard_shown();
        let is_on = world.screen_on();
        let scene = world.scene();
        let application = Element {
            kind: "Application",
            label: Some(name),
            enabled: true,
            visible: true,
            bounds: scene.display.bounds(),
            bundle_id: Some(bundle_id),
            process_id,
            ..Element::default()
        };
        let mut snapshot = Self { elements: vec![application], scale };
        let mut apps = 0;
        for window in scene.windows.iter().filter(|_| is_on) {
            let is_app = window.kind == WindowKind::Application;
            apps += usize::from(is_app);
            // On the lock screen, the app behind it is not in the tree.
            let hidden = keyguard
                && matches!(window.kind, WindowKind::Application | WindowKind::InputMethod);
            if !hidden && window.kind != WindowKind::NavigationBar {
                snapshot.add_window(window, is_app && apps > 1);
            }
        }
        snapshot
    }

    fn add_window(&mut self, window: &Window, is_dialog: bool) {
        let shell = Element {
            enabled: true,
            visible: true,
            bounds: window.bounds,
            window: window.title.clone(),
            ..Element::default()
        };
        let at = self.add(0, Element { kind: "Window", ..shell.clone() });
        let container = match window.kind {
            WindowKind::StatusBar => Some("StatusBar"),
            WindowKind::InputMethod => Some("Keyboard"),
            WindowKind::SystemAlert => Some("Alert"),
            WindowKind::Application if is_dialog => Some("Alert"),
            WindowKind::Panel => Some("Menu"),
            _ => None,
        };
        // On iOS the view itself may say what it is.
        let says = |kind| window.root.walk().any(|node| roles::named(node) == Some(kind));
        let at = match container {
            Some(kind) if !says(kind) => self.add(at, Element { kind, ..shell }),
            _ => at,
        };
        let context = roles::Context::new(window.kind);
        self.add_node(at, window, &window.root, context);
        self.label_alert();
    }

    /// Gives the alert in front its title: the first text, which a screen reader speaks for it.
    fn label_alert(&mut self) {
        let Some(alert) = self.alert().filter(|at| self.elements[*at].label.is_none()) else {
            return;
        };
        let inside = self.descendants(alert).into_iter().map(|at| &self.elements[at]);
        let title = inside
            .filter(|element| element.kind == "StaticText")
            .find_map(|text| text.label.clone());
        self.elements[alert].identifier = None;
        self.elements[alert].label = title;
    }

    fn add_node(
        &mut self,
        parent: usize,
        window: &Window,
        node: &Node,
        context: roles::Context<'_>,
    ) {
        let role = roles::role(node, context);
        if context.drops(&role) {
            let inside = context.inside(node, role.kind);
            for child in &node.children {
                self.add_node(parent, window, child, inside);
            }
            return;
        }
        let Role { kind, label, identifier, value, placeholder } = role;
        let flags = node.flags;
        let selected = flags.selected || (kind == "Button" && flags.checked);
        let is_control = !matches!(
            kind,
            "Other" | "Table" | "CollectionView" | "ScrollView" | "WebView" | "NavigationBar"
        );
        let accessible =
            is_control && (label.is_some() || value.is_some() || kind.ends_with("Field"));
        let element = Element {
            kind,
            value: value.or_else(|| (kind == "Button" && selected).then(|| "1".to_owned())),
            placeholder,
            enabled: flags.enabled,
            visible: true,
            accessible,
            focused: flags.focused,
            selected,
            bounds: node.bounds,
            window: window.title.clone(),
            address: node.address().to_owned(),
            view_id: roles::short_id(node).unwrap_or_default(),
            label,
            identifier,
            ..Element::default()
        };
        let at = self.add(parent, element);
        let inside = context.inside(node, kind);
        for child in &node.children {
            self.add_node(at, window, child, inside);
        }
    }

    fn add(&mut self, parent: usize, element: Element) -> usize {
        let at = self.elements.len();
        self.elements.push(Element { parent: Some(parent), ..element });
        self.elements[parent].children.push(at);
        at
    }

    /// The element that is known by this.
    pub(crate) fn find(&self, key: &ElementKey) -> Option<usize> {
        self.elements.iter().position(|element| {
            element.kind == key.kind
                && element.window == key.window
                && element.address == key.address
                && element.identifier == key.identifier
        })
    }

    /// The elements below this one, in the order of the source.
    pub(crate) fn descendants(&self, of: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open: Vec<usize> = self.elements[of].children.iter().rev().copied().collect();
        while let Some(at) = open.pop() {
            found.push(at);
            open.extend(self.elements[at].children.iter().rev());
        }
        found
    }

    /// The first element of this type.
    pub(crate) fn first(&self, kind: &str) -> Option<usize> {
        self.elements.iter().position(|element| element.kind == kind)
    }

    /// The alert in front.
    pub(crate) fn alert(&self) -> Option<usize> {
        self.elements.iter().rposition(|element| element.kind == "Alert")
    }

    /// The field that has the keyboard.
    pub(crate) fn focused_field(&self) -> Option<usize> {
        self.elements.iter().position(|element| element.focused && element.is_field())
    }

    /// A rectangle in points: whole ones that contain it, like `CGRectIntegral`.
    pub(crate) fn points(&self, of: usize) -> thumbwire_webdriver::Rect {
        let Rect { left, top, right, bottom } = self.elements[of].bounds;
        let down = |pixels: i32| (f64::from(pixels) / self.scale).floor();
        let up = |pixels: i32| (f64::from(pixels) / self.scale).ceil();
        let (x, y) = (down(left), down(top));
        thumbwire_webdriver::Rect { x, y, width: up(right) - x, height: up(bottom) - y }
    }

    /// An element and those below it as a source.
    pub(crate) fn source(&self, of: usize) -> SourceNode {
        let element = &self.elements[of];
        SourceNode {
            element_type: element.kind.to_owned(),
            name: element.name().map(str::to_owned),
            identifier: element.identifier.clone(),
            label: element.label.clone(),
            value: element.value.clone(),
            placeholder: element.placeholder.clone(),
            traits: element.traits(),
            enabled: Some(element.enabled),
            visible: Some(element.visible),
            accessible: Some(element.accessible),
            focused: element.is_field().then_some(element.focused).filter(|focused| *focused),
            hittable: None,
            rect: Some(self.points(of)),
            bundle_id: element.bundle_id.clone(),
            process_id: element.process_id,
            other: Vec::new(),
            children: element.children.iter().map(|child| self.source(*child)).collect(),
        }
    }

    /// The text of an element and those below it, one a line, indented.
    pub(crate) fn description(&self, of: usize) -> String {
        let mut text = String::new();
        let mut open = vec![(of, 0)];
        while let Some((at, depth)) = open.pop() {
            let element = &self.elements[at];
            let thumbwire_webdriver::Rect { x, y, width, height } = self.points(at);
            text.push_str(&"  ".repeat(depth));
            text.push_str(&format!(
                "{}, {{{{{x:.1}, {y:.1}}}, {{{width:.1}, {height:.1}}}}}",
                element.kind
            ));
            for (name, value) in [
                ("identifier", &element.identifier),
                ("label", &element.label),
                ("value", &element.value),
                ("placeholderValue", &element.placeholder),
            ] {
                if let Some(value) = value {
                    text.push_str(&format!(", {name}: '{value}'"));
                }
            }
            text.push('\n');
            open.extend(element.children.iter().rev().map(|child| (*child, depth + 1)));
        }
        text
    }
}
