//! Tools that read the screen.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_base::visible::visible_xml;
use thumbwire_device::TreeDetail;

use super::elements::ElementJson;
use super::{NoArgs, Reply, json_reply, non_empty};
use crate::action::{ElementSelector, FoundElements, SnapshotOptions, request};
use crate::snapshot::Snapshot;

/// The arguments of `get_ui_layout`.
#[derive(Deserialize)]
pub(super) struct GetUiLayoutArgs {
    compressed: Option<bool>,
    include_invisible: Option<bool>,
}

/// The arguments of `find_elements`.
#[derive(Deserialize)]
pub(super) struct FindElementsArgs {
    text: Option<String>,
    resource_id: Option<String>,
    content_desc: Option<String>,
    class_name: Option<String>,
    clickable_only: Option<bool>,
    enabled_only: Option<bool>,
    exact_match: Option<bool>,
}

pub(super) fn parse_get_ui_layout(layout: &GetUiLayoutArgs) -> Result<request::Snapshot, String> {
    let compressed = layout.compressed.unwrap_or(true);
    Ok(now(if compressed { TreeDetail::Compressed } else { TreeDetail::Full }))
}

pub(super) fn render_get_ui_layout(layout: &GetUiLayoutArgs, look: Arc<Snapshot>) -> Reply {
    let elements = ElementJson::of(&look);
    let all = layout.include_invisible.unwrap_or(false);
    let shown = |&node: &usize| all || elements.displayed(node);
    let nodes: Vec<usize> = (0..look.tree.nodes.len()).filter(shown).collect();
    let clickable = nodes.iter().filter(|&&node| look.tree.nodes[node].flags.clickable).count();
    json_reply(json!({
        "success": true,
        "elements": nodes.iter().map(|&node| elements.value(node)).collect::<Vec<_>>(),
        "xml_dump": visible_xml(&look.tree.source),
        "stats": { "total_elements": nodes.len(), "clickable_elements": clickable },
        "element_count": nodes.len(),
    }))
}

pub(super) fn parse_list_screen_elements(_: &NoArgs) -> Result<request::Snapshot, String> {
    Ok(now(TreeDetail::Compressed))
}

/// The elements with text or input, as the newer tool of the original server lists them: flags only
/// if set.
pub(super) fn render_list_screen_elements(_: &NoArgs, look: Arc<Snapshot>) -> Reply {
    let elements = ElementJson::of(&look);
    let displayed = (0..look.tree.nodes.len()).filter(|&node| elements.displayed(node));
    let scanned: Vec<usize> = displayed.collect();
    let listed: Vec<Value> = scanned.iter().filter_map(|&node| short(&look, node)).collect();
    json_reply(json!({
        "success": true,
        "elements": listed,
        "count": listed.len(),
        "total_elements_scanned": scanned.len(),
    }))
}

pub(super) fn parse_find_elements(
    find: &FindElementsArgs,
) -> Result<request::FindElements, String> {
    let criteria = ElementSelector {
        text: non_empty(&find.text),
        id: non_empty(&find.resource_id),
        description: non_empty(&find.content_desc),
        class: non_empty(&find.class_name),
        clickable: find.clickable_only.unwrap_or(false),
        enabled: find.enabled_only.unwrap_or(true),
        exact: find.exact_match.unwrap_or(false),
    };
    let words = [&criteria.text, &criteria.id, &criteria.description, &criteria.class];
    if words.iter().all(|word| word.is_none()) {
        let which = "text, resource_id, content_desc, class_name";
        return Err(format!("At least one search criterion ({which}) must be provided"));
    }
    Ok(request::FindElements(criteria))
}

pub(super) fn render_find_elements(find: &FindElementsArgs, result: FoundElements) -> Reply {
    let FoundElements { snapshot: look, nodes } = result;
    let elements = ElementJson::of(&look);
    json_reply(json!({
        "success": true,
        "elements": nodes.iter().map(|&node| elements.value(node)).collect::<Vec<_>>(),
        "count": nodes.len(),
        "search_criteria": {
            "text": find.text,
            "resource_id": find.resource_id,
            "content_desc": find.content_desc,
            "class_name": find.class_name,
            "clickable_only": find.clickable_only.unwrap_or(false),
            "enabled_only": find.enabled_only.unwrap_or(true),
            "exact_match": find.exact_match.unwrap_or(false),
        },
    }))
}

fn now(detail: TreeDetail) -> request::Snapshot {
    request::Snapshot(SnapshotOptions { detail, max_age: Duration::ZERO })
}

/// `None` if the element is of no use: it has no size, or neither text nor input.
fn short(snapshot: &Snapshot, node: usize) -> Option<Value> {
    let node = &snapshot.tree.nodes[node];
    let flags = [
        ("clickable", node.flags.clickable),
        ("enabled", node.flags.enabled),
        ("focusable", node.flags.focusable),
        ("scrollable", node.flags.scrollable),
    ];
    let has_text =
        [&node.text, &node.description, &node.id].iter().any(|word| !word.trim().is_empty());
    let takes = flags.iter().any(|&(name, set)| set && name != "enabled");
    if node.bounds.is_empty() || !(has_text || takes) {
        return None;
    }
    let mut out = Map::new();
    out.insert("type".into(), (*node.class).into());
    out.insert("text".into(), (*node.text).into());
    out.insert("label".into(), (*node.description).into());
    out.insert("identifier".into(), (*node.id).into());
    let bounds = node.bounds;
    let place = json!({
        "x": bounds.left,
        "y": bounds.top,
        "width": bounds.right - bounds.left,
        "height": bounds.bottom - bounds.top,
    });
    out.insert("coordinates".into(), place);
    let set = flags.into_iter().filter(|&(_, set)| set);
    out.extend(set.map(|(name, _)| (name.to_owned(), Value::from(true))));
    Some(out.into())
}
