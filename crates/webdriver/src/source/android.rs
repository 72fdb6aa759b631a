//! Reads Android's XML as Appium's UiAutomator2 driver has it: elements named by their class, in `<hierarchy>`.

use super::SourceError;
use super::xml_tree::{TreeNode, read_tree};
use crate::values::Rect;

/// A source of Android.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AndroidSource {
    /// Quarter turns to the left, from 0 to 3.
    pub rotation: Option<u64>,
    /// Of the screen, in pixels.
    pub width: Option<u64>,
    /// Of the screen, in pixels.
    pub height: Option<u64>,
    /// The windows' roots.
    pub nodes: Vec<AndroidNode>,
}

/// An element of Android. Texts that the source leaves out are empty, flags are false.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AndroidNode {
    /// Such as `android.widget.Button`.
    pub class: String,
    /// The app's package.
    pub package: String,
    /// What it shows.
    pub text: String,
    /// Such as `android:id/content`.
    pub resource_id: String,
    /// What TalkBack says.
    pub content_desc: String,
    /// What an empty field shows.
    pub hint: String,
    /// In pixels.
    pub bounds: Option<Rect>,
    /// Whether it can be checked.
    pub checkable: bool,
    /// Whether it is checked.
    pub checked: bool,
    /// Whether it reacts to a tap.
    pub clickable: bool,
    /// Whether it reacts at all.
    pub enabled: bool,
    /// Whether it can have the focus.
    pub focusable: bool,
    /// Whether it has the focus.
    pub focused: bool,
    /// Whether it reacts to a long tap.
    pub long_clickable: bool,
    /// Whether its text is hidden.
    pub password: bool,
    /// Whether it scrolls.
    pub scrollable: bool,
    /// Whether it is selected.
    pub selected: bool,
    /// Whether it is visible; `None` from older servers, which list only what is.
    pub displayed: Option<bool>,
    /// Other attributes by name.
    pub other: Vec<(String, String)>,
    /// The elements inside it.
    pub children: Vec<Self>,
}

/// Reads an Android source. An element named `node`, as in uiautomator's own dumps, has its class in an attribute.
///
/// # Errors
/// The text is not XML, has another root than `hierarchy`, or exceeds [`MAX_DEPTH`](super::MAX_DEPTH) or
/// [`MAX_NODES`](super::MAX_NODES).
pub fn parse_android_source(text: &str) -> Result<AndroidSource, SourceError> {
    let root: AndroidNode = read_tree(text)?;
    if root.class != "hierarchy" {
        let problem = "the root is not <hierarchy>".into();
        return Err(SourceError { offset: 0, problem });
    }
    let number = |name: &str| {
        let attribute = root.other.iter().find(|(other, _)| other == name);
        attribute.and_then(|(_, value)| value.parse().ok())
    };
    Ok(AndroidSource {
        rotation: number("rotation"),
        width: number("width"),
        height: number("height"),
        nodes: root.children,
    })
}

impl TreeNode for AndroidNode {
    fn open(name: &str) -> Self {
        Self { class: name.to_owned(), ..Self::default() }
    }

    fn attribute(&mut self, name: &str, value: String) {
        let flag = value == "true";
        match name {
            "class" => self.class = value,
            "package" => self.package = value,
            "text" => self.text = value,
            "resource-id" => self.resource_id = value,
            "content-desc" => self.content_desc = value,
            "hint" => self.hint = value,
            "bounds" => self.bounds = bounds(&value),
            "checkable" => self.checkable = flag,
            "checked" => self.checked = flag,
            "clickable" => self.clickable = flag,
            "enabled" => self.enabled = flag,
            "focusable" => self.focusable = flag,
            "focused" => self.focused = flag,
            "long-clickable" => self.long_clickable = flag,
            "password" => self.password = flag,
            "scrollable" => self.scrollable = flag,
            "selected" => self.selected = flag,
            "displayed" => self.displayed = Some(flag),
            // The order says it.
            "index" => {}
            _ => self.other.push((name.to_owned(), value)),
        }
    }

    fn push(&mut self, child: Self) {
        self.children.push(child);
    }
}

/// Reads `[left,top][right,bottom]`.
fn bounds(text: &str) -> Option<Rect> {
    let (first, second) = text.strip_prefix('[')?.strip_suffix(']')?.split_once("][")?;
    let point = |text: &str| {
        let (x, y) = text.split_once(',')?;
        Some((x.parse::<i32>().ok()?, y.parse::<i32>().ok()?))
    };
    let ((left, top), (right, bottom)) = (point(first)?, point(second)?);
    let [left, top, right, bottom] = [left, top, right, bottom].map(f64::from);
    Some(Rect { x: left, y: top, width: right - left, height: bottom - top })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_become_nodes() {
        let xml = r#"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
            <hierarchy index="0" class="hierarchy" rotation="1" width="1344" height="2992">
              <android.widget.FrameLayout class="android.widget.FrameLayout" package="a.b" enabled="true"
                  bounds="[0,-5][1344,2992]" displayed="true" a11y-important="true">
                <android.widget.TextView text="Hi&#10;" resource-id="a:id/b" content-desc="" bounds="wrong"/>
                <node class="android.view.View" clickable="true"/>
              </android.widget.FrameLayout>
            </hierarchy>"#;
        let text = AndroidNode {
            class: "android.widget.TextView".into(),
            text: "Hi\n".into(),
            resource_id: "a:id/b".into(),
            ..AndroidNode::default()
        };
        let view = AndroidNode {
            class: "android.view.View".into(),
            clickable: true,
            ..AndroidNode::default()
        };
        let frame = AndroidNode {
            class: "android.widget.FrameLayout".into(),
            package: "a.b".into(),
            enabled: true,
            bounds: Some(Rect { x: 0.0, y: -5.0, width: 1344.0, height: 2997.0 }),
            displayed: Some(true),
            other: vec![("a11y-important".into(), "true".into())],
            children: vec![text, view],
            ..AndroidNode::default()
        };
        let expected = AndroidSource {
            rotation: Some(1),
            width: Some(1344),
            height: Some(2992),
            nodes: vec![frame],
        };
        assert_eq!(parse_android_source(xml), Ok(expected));
    }

    #[test]
    fn other_roots_are_refused() {
        assert_eq!(
            parse_android_source("<a/>").unwrap_err().problem,
            "the root is not <hierarchy>"
        );
        assert_eq!(parse_android_source("<hierarchy/>"), Ok(AndroidSource::default()));
    }
}
