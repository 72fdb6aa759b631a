//! Trees of a live phone in points, as pixels of the screenshot, with what XCTest leaves out: the
//! size of a turned app, the app's name, dialogs, the focus.

use crate::{Node, Rect, Tree, WindowKind, text_field};

/// Converts a tree from points to pixels, with the size of the screen as it is turned.
pub(crate) fn finish_tree(tree: &mut Tree, scale: f64) {
    turn_root(tree);
    for node in &mut tree.nodes {
        node.bounds = pixels(node.bounds, scale);
    }
    let turned = tree.nodes.first().is_some_and(|root| {
        root.bounds.right - root.bounds.left > root.bounds.bottom - root.bounds.top
    });
    tree.rotation = u8::from(turned);
    let is_dialog = |class: &str| {
        matches!(class, "XCUIElementTypeAlert" | "XCUIElementTypeSheet" | "XCUIElementTypeDialog")
    };
    if tree.nodes.iter().any(|node| is_dialog(&node.class) && node.displayed != Some(false)) {
        tree.window = WindowKind::Dialog;
    }
}

/// Names the app of all nodes that do not name one.
pub(crate) fn name_app(tree: &mut Tree, app: &str) {
    let app = bytestring::ByteString::from(app);
    for node in tree.nodes.iter_mut().filter(|node| node.package.is_empty()) {
        node.package = app.clone();
    }
}

/// Whether a text field could have the focus, and none says so: sources of iOS do not tell
/// (`focused` is tvOS's).
pub(crate) fn may_have_focus(tree: &Tree) -> bool {
    let is_known = tree.nodes.iter().any(|node| node.flags.focused);
    !is_known && tree.nodes.iter().any(text_field::is_text_field)
}

/// Gives the focus to the text field at this place, in points.
pub(crate) fn mark_focus(tree: &mut Tree, rect: thumbwire_webdriver::Rect, scale: f64) {
    let [left, top] = [rect.x, rect.y].map(f64::floor);
    let [right, bottom] = [rect.x + rect.width, rect.y + rect.height].map(f64::ceil);
    #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
    let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge as i32);
    let bounds = pixels(Rect { left, top, right, bottom }, scale);
    let field = tree
        .nodes
        .iter_mut()
        .rfind(|node| node.bounds == bounds && text_field::is_text_field(node));
    if let Some(field) = field {
        field.flags.focused = true;
    }
}

/// XCTest gives a turned app the size of the upright screen (see `FBAdjustDimensionsForApplication`
/// in FBMathUtils.m). The app's windows have the right one.
fn turn_root(tree: &mut Tree) {
    let Some(root) = tree.nodes.first() else { return };
    let Rect { left, top, right, bottom } = root.bounds;
    let turned = Rect { left, top, right: left + (bottom - top), bottom: top + (right - left) };
    let is_window =
        |node: &&Node| node.parent == Some(0) && *node.class == *"XCUIElementTypeWindow";
    let windows = || tree.nodes.iter().filter(is_window).map(|node| node.bounds);
    if windows().any(|bounds| bounds == turned) && windows().all(|bounds| bounds != root.bounds) {
        tree.nodes[0].bounds = turned;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it saturates")]
pub(crate) fn pixel(points: f64, scale: f64) -> i32 {
    (points * scale).round() as i32
}

fn pixels(points: Rect, scale: f64) -> Rect {
    let edge = |points: i32| pixel(f64::from(points), scale);
    Rect {
        left: edge(points.left),
        top: edge(points.top),
        right: edge(points.right),
        bottom: edge(points.bottom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_are_scaled_edge_by_edge() {
        let points = Rect { left: -5, top: 20, right: 95, bottom: 64 };
        let at_3 = Rect { left: -15, top: 60, right: 285, bottom: 192 };
        assert_eq!(pixels(points, 3.0), at_3);
        // A Plus model: 414 points are 1080 pixels.
        assert_eq!(pixels(points, 1080.0 / 414.0).right, 248);
    }
}
