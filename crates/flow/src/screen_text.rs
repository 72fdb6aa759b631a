//! The texts of a screen, for messages.

use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::Node;

/// An element's text, else its description.
pub(super) fn text_of(node: &Node) -> &str {
    if node.text.is_empty() { &node.description } else { &node.text }
}

/// The first texts on the screen.
pub(super) fn screen_summary(snapshot: &Snapshot) -> String {
    const MAX_TEXTS: usize = 8;
    let text = snapshot.refs.iter().map(|control| text_of(&snapshot.tree.nodes[control.node]));
    let text: Vec<&str> = text.filter(|text| !text.is_empty()).collect();
    let out: Vec<String> =
        text.iter().take(MAX_TEXTS).map(|text| format!("{:?}", short(text))).collect();
    match text.len() {
        0 => "nothing".into(),
        count if count > MAX_TEXTS => format!("{} and {} more", out.join(", "), count - MAX_TEXTS),
        _ => out.join(", "),
    }
}

/// Truncates long text.
pub(super) fn short(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut short: String = text.chars().take(MAX_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
