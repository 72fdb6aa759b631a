//! The same nodes in the form of Playwright's accessibility snapshots, for comparison.
//!
//! The rules are those of `ariaSnapshot.ts`: one line `- role "name" [states] [ref=e2]` for each
//! node, nested by two spaces; the text of a node without children follows a colon; a generic node
//! around a single other one is left out.

use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::Node;

/// The snapshot of these nodes.
pub(crate) fn playwright(snapshot: &Snapshot) -> String {
    let lines = Lines::of(snapshot);
    let mut out = String::new();
    let mut next = 1;
    for root in lines.below(None) {
        lines.write(&mut out, root, 0, &mut next);
    }
    out
}

struct Lines<'a> {
    snapshot: &'a Snapshot,
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
    /// Which nodes have a line: not those that are hidden, nor generic ones around less than two
    /// others.
    kept: Vec<bool>,
}

impl<'a> Lines<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let nodes = &snapshot.tree.nodes;
        let (mut children, mut roots) = (vec![Vec::new(); nodes.len()], Vec::new());
        for (at, node) in nodes.iter().enumerate() {
            node.parent.map_or(&mut roots, |parent| &mut children[parent]).push(at);
        }
        let mut kept = vec![false; nodes.len()];
        // How many lines are directly below each node.
        let mut below = vec![0; nodes.len()];
        for at in (0..nodes.len()).rev() {
            let node = &nodes[at];
            kept[at] = !snapshot.shown(at).is_empty()
                && (role(node) != "generic" || has_name(node) || below[at] > 1);
            if let Some(parent) = node.parent {
                below[parent] += if kept[at] { 1 } else { below[at] };
            }
        }
        Self { snapshot, children, roots, kept }
    }

    /// The nodes with a line directly below this one, or below none.
    fn below(&self, node: Option<usize>) -> Vec<usize> {
        let mut open: Vec<usize> =
            node.map_or(&self.roots, |node| &self.children[node]).iter().rev().copied().collect();
        let mut found = Vec::new();
        while let Some(at) = open.pop() {
            match self.kept[at] {
                true => found.push(at),
                false => open.extend(self.children[at].iter().rev()),
            }
        }
        found
    }

    fn write(&self, out: &mut String, at: usize, depth: usize, next: &mut u32) {
        let node = &self.snapshot.tree.nodes[at];
        let (role, inside) = (role(node), self.below(Some(at)));
        let name = if node.description.is_empty() { &*node.text } else { &*node.description };
        let is_text = role == "generic" || role == "textbox";
        out.push_str(&format!("{:indent$}- {role}", "", indent = depth * 2));
        if !is_text && !name.is_empty() {
            out.push_str(&format!(" {name:?}"));
        }
        for (is, state) in [
            (node.flags.checked, " [checked]"),
            (!node.flags.enabled, " [disabled]"),
            (node.flags.focused, " [active]"),
            (node.flags.selected, " [selected]"),
        ] {
            out.push_str(if is { state } else { "" });
        }
        out.push_str(&format!(" [ref=e{next}]"));
        *next += 1;
        if node.flags.clickable {
            out.push_str(" [cursor=pointer]");
        }
        if is_text && !name.is_empty() {
            out.push_str(&format!(": {name}"));
        } else if !inside.is_empty() {
            out.push(':');
        }
        out.push('\n');
        for child in inside {
            self.write(out, child, depth + 1, next);
        }
    }
}

fn has_name(node: &Node) -> bool {
    !node.text.is_empty() || !node.description.is_empty()
}

fn role(node: &Node) -> &'static str {
    let class = node.class.rsplit(['.', '$']).next().unwrap_or_default();
    let class = class.strip_prefix("XCUIElementType").unwrap_or(class);
    match class {
        _ if class.ends_with("EditText") || class.ends_with("TextField") => "textbox",
        _ if class.ends_with("CheckBox") => "checkbox",
        _ if class.ends_with("Switch") => "switch",
        _ if class.ends_with("RadioButton") => "radio",
        _ if class.ends_with("SeekBar") || class == "Slider" => "slider",
        _ if class.ends_with("ProgressBar") => "progressbar",
        _ if class.ends_with("Button") => "button",
        _ if class.ends_with("Spinner") => "combobox",
        "RecyclerView" | "ListView" | "GridView" | "Table" | "CollectionView" => "list",
        "ImageView" | "Image" if has_name(node) && !node.flags.clickable => "img",
        // A web page's element that takes clicks has a role; a row or an image would be a button.
        _ if node.flags.clickable => "button",
        _ => "generic",
    }
}
