//! The elements of a screen, and every way to name one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use thumbwire_base::lock;
use thumbwire_core::action::{
    Action, Controls, Failure, ScreenshotAndControls, ScreenshotOptions, TypedPerform as _, request,
};
use thumbwire_core::annotate;
use thumbwire_core::snapshot::{Difference, OutlineDetail, Snapshot, difference, outline};
use thumbwire_core::toolset::mobile::platform_xml;
use thumbwire_device::Size;
use thumbwire_flow::{matching_nodes, selector_of};

use super::Parts;

/// The last look at each phone.
#[derive(Default)]
pub(super) struct Looks(Mutex<BTreeMap<String, Arc<Snapshot>>>);

impl Looks {
    fn last(&self, device: &str) -> Result<Arc<Snapshot>, String> {
        let last = lock(&self.0).get(device).cloned();
        last.ok_or_else(|| "nobody has looked at this phone yet: look first".to_owned())
    }
}

impl Parts {
    /// The last look at a phone.
    ///
    /// # Errors
    /// If there was none.
    pub(super) fn last_look(&self, device: &str) -> Result<Arc<Snapshot>, String> {
        self.looks.last(device)
    }

    /// Reads the screen, and tells what is on it.
    pub(super) async fn look(&self, device: &str) -> Result<Value, Failure> {
        let outcome = self.perform.perform(&self.call(device), Action::LOOK).await?;
        let snapshot: Arc<Snapshot> = outcome.try_into()?;
        let before = lock(&self.looks.0).insert(device.to_owned(), Arc::clone(&snapshot));
        let changed = before.map(|before| match difference(&before, &snapshot) {
            Difference::Nothing => "Nothing that the list shows has changed.".to_owned(),
            Difference::Lines(lines) => lines,
            Difference::Whole(_) => "Another screen.".to_owned(),
        });
        let size = match self.session.shown_phone(device).await {
            Ok(phone) => phone.screen_size().await?,
            // A phone of another computer.
            Err(_) => Size {
                width: snapshot.tree.nodes.iter().map(|node| node.bounds.right).max().unwrap_or(0),
                height: snapshot
                    .tree
                    .nodes
                    .iter()
                    .map(|node| node.bounds.bottom)
                    .max()
                    .unwrap_or(0),
            },
        };
        Ok(json!({
            "width": size.width,
            "height": size.height,
            "app": snapshot.tree.front.to_string(),
            "outline": outline(&snapshot, OutlineDetail::Compact),
            "changed": changed,
            "elements": elements(&snapshot),
        }))
    }

    /// The ways to name an element of the last look, the most lasting first.
    ///
    /// # Errors
    /// If there was no look, or it has no such element.
    pub(super) fn addresses(&self, device: &str, node: usize) -> Result<Value, String> {
        let snapshot = self.looks.last(device)?;
        if node >= snapshot.tree.nodes.len() {
            return Err("this element is not on the screen any more: look again".into());
        }
        Ok(json!({ "addresses": addresses(&snapshot, node) }))
    }

    /// The elements of the last look that a selector means.
    ///
    /// # Errors
    /// If there was no look.
    pub(super) fn matches(&self, device: &str, selector: &str) -> Result<Value, String> {
        let snapshot = self.looks.last(device)?;
        Ok(match matching_nodes(selector, &snapshot) {
            Ok(nodes) => json!({ "matches": nodes }),
            Err(error) => json!({ "matches": [], "error": error }),
        })
    }

    /// The platform's tree of the last look.
    ///
    /// # Errors
    /// If there was no look.
    pub(super) fn xml(&self, device: &str) -> Result<String, String> {
        self.looks.last(device).map(|snapshot| platform_xml(&snapshot))
    }

    /// A picture with UFO's numbers on the controls, as PNG.
    pub(super) async fn marked(&self, device: &str) -> Result<Vec<u8>, Failure> {
        let asked = request::ScreenshotAndControls(ScreenshotOptions::default());
        let ScreenshotAndControls { screenshot, controls } =
            self.perform.request(&self.call(device), asked).await?;
        let drawing = tokio::task::spawn_blocking(move || {
            annotate::draw(&screenshot.image, &annotate::marks(&controls))
        });
        let drawn = drawing.await.map_err(|error| error.to_string());
        let drawn = drawn.and_then(|drawn| drawn.map_err(|error| error.to_string()));
        match drawn {
            Ok(image) => Ok(image.bytes.to_vec()),
            Err(text) => Err(thumbwire_core::action::Cause::DeviceError { text }.into()),
        }
    }
}

fn elements(snapshot: &Arc<Snapshot>) -> Value {
    let controls = Controls::of(Arc::clone(snapshot));
    let rows = snapshot.tree.nodes.iter().enumerate().map(|(at, node)| {
        let rect = snapshot.shown(at);
        let is_visible = !rect.is_empty() && snapshot.covered_by(at).is_none();
        let bounds = if rect.is_empty() { node.bounds } else { rect };
        let flags = node.flags.named().into_iter().filter(|(_, is_set)| *is_set);
        json!({
            "index": at,
            "parent": node.parent,
            "ref": snapshot.ref_of(at).map(|id| id.to_string()),
            "number": controls.number_of(at).map(|number| number.to_string()),
            "name": node.name(),
            "class": &*node.class,
            "package": &*node.package,
            "id": &*node.id,
            "text": &*node.text,
            "description": &*node.description,
            "hint": &*node.hint,
            "bounds": [bounds.left, bounds.top, bounds.right, bounds.bottom],
            "flags": flags.map(|(name, _)| name).collect::<Vec<_>>(),
            "visible": is_visible,
        })
    });
    rows.collect()
}

fn addresses(snapshot: &Arc<Snapshot>, at: usize) -> Vec<Value> {
    /// As long as the app has it.
    const LASTING: &str = "lasting";
    /// As long as nothing else on the screen is the same.
    const THIS_SCREEN: &str = "this screen";
    /// Until the next list.
    const THIS_LOOK: &str = "this look";
    let node = &snapshot.tree.nodes[at];
    let visible = |is: &dyn Fn(usize) -> bool| {
        let shown = (0..snapshot.tree.nodes.len()).filter(|&at| !snapshot.shown(at).is_empty());
        shown.filter(|&at| is(at)).count()
    };
    let row = |kind: &str, label: &str, value: &str, matches: usize, lasting: &str| json!({ "kind": kind, "label": label, "value": value, "matches": matches, "lasting": lasting });
    let mut rows = Vec::new();
    if let Some(selector) = selector_of(snapshot, at) {
        let mut row = row("flow", "Flow step", &selector.tap, 1, LASTING);
        row["check"] = selector.check.into();
        rows.push(row);
    }
    let nodes = &snapshot.tree.nodes;
    if !node.id.is_empty() {
        let matches = visible(&|other| nodes[other].id == node.id);
        rows.push(row("id", "Id", &node.id, matches, LASTING));
    }
    for (label, text) in [("Text", &node.text), ("Description", &node.description)] {
        if !text.is_empty() {
            let same =
                |other: usize| nodes[other].text == *text || nodes[other].description == *text;
            rows.push(row("text", label, text, visible(&same), THIS_SCREEN));
        }
    }
    if let Some(id) = snapshot.ref_of(at) {
        rows.push(row("ref", "Ref", &id.to_string(), 1, THIS_SCREEN));
    }
    if let Some(number) = Controls::of(Arc::clone(snapshot)).number_of(at) {
        rows.push(row("ufo", "UFO control", &number.to_string(), 1, THIS_LOOK));
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::{Flags, Node, Rect, Tree};

    use super::*;

    #[test]
    fn names_are_ranked_by_how_lasting_they_are() {
        let node = |at: i32, id: &str| Node {
            class: "android.widget.Button".into(),
            package: "com.example".into(),
            id: id.into(),
            text: "Save".into(),
            bounds: Rect { left: 0, top: at * 100, right: 400, bottom: at * 100 + 90 },
            flags: Flags { clickable: true, enabled: true, ..Flags::default() },
            ..Node::default()
        };
        let nodes = vec![node(0, "com.example:id/save"), node(1, "com.example:id/copy")];
        let tree = Tree { nodes, ..Tree::default() };
        let snapshot = Arc::new(Snapshot::number(tree, None, &AtomicU32::new(1)));
        let rows: Vec<String> = addresses(&snapshot, 0)
            .iter()
            .map(|row| {
                format!("{} {} {} {}", row["kind"], row["value"], row["matches"], row["lasting"])
            })
            .collect();
        assert_eq!(
            rows,
            [
                r#""flow" "- tapOn: { id: save }" 1 "lasting""#,
                r#""id" "com.example:id/save" 1 "lasting""#,
                r#""text" "Save" 2 "this screen""#,
                r#""ref" "e1" 1 "this screen""#,
                r#""ufo" "1" 1 "this look""#,
            ]
        );
    }
}
