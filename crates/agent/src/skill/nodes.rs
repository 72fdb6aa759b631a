//! Describes a node of a screen by what it is, and finds the one that a description means.
//!
//! Start with [`describe`] and [`find`]. A description is only used if it means exactly one visible
//! node, on the recorded screen as on the present one; it never says where the node is. Two nodes
//! that look the same are distinguished by texts around them, text fields also by their order.

use thumbwire_core::action::Controls;
use thumbwire_core::snapshot::RefVisibility;
use thumbwire_device::find::is_slider;
use thumbwire_device::text_field::is_text_field;
use thumbwire_device::{Node, Rect};

use super::format::NodeDescription;
use super::template::{Values, fill, has_place, to_template};

/// Longer texts do not describe a node.
pub(super) const MAX_TEXT: usize = 120;

/// The visible controls, as indices of nodes.
pub(super) fn visible(controls: &Controls) -> impl Iterator<Item = usize> {
    let reached = |&at: &usize| controls.snapshot.tap_point(at, RefVisibility::Unknown).is_ok();
    controls.nodes.iter().copied().filter(reached)
}

pub(super) fn node(controls: &Controls, at: usize) -> &Node {
    &controls.snapshot.tree.nodes[at]
}

/// The text by which a node is known; empty for what a person writes or sets.
fn fixed_text(node: &Node) -> &str {
    if is_text_field(node) || is_slider(node) { "" } else { &node.text }
}

/// What a node shows in words.
pub(super) fn shown_texts(node: &Node) -> impl Iterator<Item = &str> {
    [&*node.text, &*node.description].into_iter().filter(|text| !text.trim().is_empty())
}

/// Describes a node, with places for these values; `None` if no description means this node alone.
///
/// # Errors
/// A text of it cannot be a template.
pub(super) fn describe(
    controls: &Controls,
    at: usize,
    values: &Values,
) -> Result<Option<NodeDescription>, String> {
    let one = node(controls, at);
    let texts = [fixed_text(one), &one.description];
    if texts.iter().any(|text| text.chars().count() > MAX_TEXT) {
        return Ok(None);
    }
    let [text, label] = texts.map(|text| to_template(text, values));
    let inside = match texts == ["", ""] && !is_text_field(one) && !one.flags.scrollable {
        true => text_inside(controls, at, values)?,
        false => None,
    };
    let plain = NodeDescription {
        class: one.class.to_string(),
        app: one.package.to_string(),
        id: one.id.to_string(),
        text: text?,
        label: label?,
        inside,
        checked: one.flags.checkable.then_some(one.flags.checked),
        ..NodeDescription::default()
    };
    let is_known = texts != ["", ""] || !plain.id.is_empty() || plain.inside.is_some();
    let means_it = |description: &NodeDescription| find(description, controls, values) == Ok(at);
    if (is_known || is_text_field(one)) && means_it(&plain) {
        return Ok(Some(plain));
    }
    let (beside, under) = anchors(controls, at, values);
    let beside =
        beside.into_iter().map(|text| NodeDescription { beside: Some(text), ..plain.clone() });
    let under = under.map(|text| NodeDescription { under: Some(text), ..plain.clone() });
    if let Some(anchored) = beside.chain(under).find(means_it) {
        return Ok(Some(anchored));
    }
    // The order of text fields in a form says which is which; the order of anything else may be
    // that of a list.
    let alike = candidates(&plain, controls, values);
    let nth = alike.iter().position(|&other| other == at).filter(|_| is_text_field(one));
    Ok(nth.map(|nth| NodeDescription { nth: Some([nth + 1, alike.len()]), ..plain }))
}

/// A text inside a node: one with a place, else the first.
fn text_inside(controls: &Controls, at: usize, values: &Values) -> Result<Option<String>, String> {
    let mut texts = Vec::new();
    for text in texts_inside(controls, at).filter(|text| text.chars().count() <= MAX_TEXT) {
        texts.push(to_template(text, values)?);
    }
    let named = texts.iter().position(|text| has_place(text)).unwrap_or(0);
    Ok((named < texts.len()).then(|| texts.swap_remove(named)))
}

fn texts_inside(controls: &Controls, at: usize) -> impl Iterator<Item = &str> {
    let nodes = &controls.snapshot.tree.nodes;
    let depth = nodes[at].depth;
    let below = nodes[at + 1..].iter().take_while(move |below| below.depth > depth);
    below.flat_map(shown_texts)
}

/// Texts that could tell a node apart: those in the same row, with a place first, without those
/// that change; and the nearest above.
pub(super) fn anchors(
    controls: &Controls,
    at: usize,
    values: &Values,
) -> (Vec<String>, Option<String>) {
    const MAX_TEXTS: usize = 8;
    let (mut named, mut plain) = (Vec::new(), Vec::new());
    for other in visible(controls).filter(|&other| is_beside(controls, at, other)) {
        for text in [fixed_text(node(controls, other)), &node(controls, other).description] {
            if text.trim().is_empty() || text.chars().count() > MAX_TEXT {
                continue;
            }
            let Ok(template) = to_template(text, values) else { continue };
            match has_place(&template) {
                true => named.push(template),
                false if !text.contains(|it: char| it.is_numeric()) => plain.push(template),
                false => {}
            }
        }
    }
    named.extend(plain);
    named.truncate(MAX_TEXTS);
    let under = nearest_above(controls, at).and_then(|text| to_template(text, values).ok());
    let under = under.filter(|text| has_place(text) || !text.contains(|it: char| it.is_numeric()));
    (named, under)
}

/// Whether two nodes are in one row: neither contains the other, and half of the lower one's height
/// is beside the other.
fn is_beside(controls: &Controls, one: usize, other: usize) -> bool {
    let snapshot = &controls.snapshot;
    if one == other || snapshot.is_inside(one, other) || snapshot.is_inside(other, one) {
        return false;
    }
    let (a, b) = (snapshot.shown(one), snapshot.shown(other));
    let shared = a.bottom.min(b.bottom) - a.top.max(b.top);
    let apart = a.right <= b.left || b.right <= a.left;
    apart && shared * 2 >= (a.bottom - a.top).min(b.bottom - b.top)
}

/// The nearest text above a node that is over or under a part of its width.
fn nearest_above(controls: &Controls, at: usize) -> Option<&str> {
    let is = controls.snapshot.shown(at);
    let over =
        |other: Rect| other.bottom <= is.top && other.left < is.right && is.left < other.right;
    let text = |other: usize| {
        let node = node(controls, other);
        let text =
            if fixed_text(node).trim().is_empty() { &*node.description } else { fixed_text(node) };
        (!text.trim().is_empty() && text.chars().count() <= MAX_TEXT).then_some(text)
    };
    let above = visible(controls).filter(|&other| over(controls.snapshot.shown(other)));
    let above =
        above.filter_map(|other| Some((controls.snapshot.shown(other).bottom, text(other)?)));
    above.max_by_key(|(bottom, _)| *bottom).map(|(_, text)| text)
}

/// The only visible node that a description means.
///
/// # Errors
/// Why there is none, for a sentence that starts with "but": it is gone, there are several, it is
/// checked.
pub(super) fn find(
    description: &NodeDescription,
    controls: &Controls,
    values: &Values,
) -> Result<usize, String> {
    let alike = candidates(description, controls, values);
    let name = || name(description, values);
    let found = match (alike.as_slice(), description.nth) {
        (all, Some([nth, count])) if all.len() == count && (1..=count).contains(&nth) => {
            all[nth - 1]
        }
        (all, Some([_, count])) => {
            return Err(format!(
                "there were {count} like {}, but there are {} now",
                name(),
                all.len()
            ));
        }
        ([], None) => return Err(format!("there is no {} now", name())),
        (&[one], None) => one,
        (all, None) => return Err(format!("there are {} like {} now", all.len(), name())),
    };
    match description.checked {
        Some(checked) if checked != node(controls, found).flags.checked => {
            let is = if checked { "not checked" } else { "checked" };
            Err(format!("{} is {is} now", name()))
        }
        _ => Ok(found),
    }
}

/// The visible nodes that fit a description, without regard to order and checks.
fn candidates(description: &NodeDescription, controls: &Controls, values: &Values) -> Vec<usize> {
    let filled = |text: &str| fill(text, values).ok();
    let (Some(text), Some(label)) = (filled(&description.text), filled(&description.label)) else {
        return Vec::new();
    };
    let inside = match &description.inside {
        Some(text) => match filled(text) {
            None => return Vec::new(),
            text => text,
        },
        None => None,
    };
    let fits = |&at: &usize| {
        let one = node(controls, at);
        *one.class == description.class
            && *one.package == description.app
            && *one.id == description.id
            && fixed_text(one) == text
            && *one.description == label
            && inside.as_ref().is_none_or(|text| texts_inside(controls, at).any(|it| it == text))
            && is_near(description, controls, at, values)
    };
    visible(controls).filter(fits).collect()
}

/// Whether the texts around a node are those of a description.
pub(super) fn is_near(
    description: &NodeDescription,
    controls: &Controls,
    at: usize,
    values: &Values,
) -> bool {
    let beside = |text: &String| {
        let Ok(text) = fill(text, values) else { return false };
        let has_text = |other: &usize| shown_texts(node(controls, *other)).any(|it| it == text);
        visible(controls).filter(has_text).any(|other| is_beside(controls, at, other))
    };
    let under = |text: &String| {
        fill(text, values).is_ok_and(|text| nearest_above(controls, at) == Some(&*text))
    };
    description.beside.as_ref().is_none_or(beside) && description.under.as_ref().is_none_or(under)
}

/// A description in a message: `the Button "Save" beside "Ada"`.
pub(super) fn name(description: &NodeDescription, values: &Values) -> String {
    let NodeDescription { class, id, text, label, inside, beside, under, .. } = description;
    let shown = |text: &str| fill(text, values).unwrap_or_else(|_| text.to_owned());
    let kind = class.rsplit('.').next().unwrap_or_default();
    let texts = [Some(text), Some(label), inside.as_ref()];
    let own = texts.into_iter().flatten().find(|text| !text.is_empty());
    let own = own.map(|text| format!(" {:?}", shown(text)));
    let own = own.unwrap_or_else(|| match id.rsplit('/').next() {
        Some(id) if !id.is_empty() => format!(" {id}"),
        _ => String::new(),
    });
    let near = [("beside", beside), ("under", under)]
        .into_iter()
        .find_map(|(word, text)| Some(format!(" {word} {:?}", shown(text.as_ref()?))));
    format!("{kind}{own}{}", near.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safeguards::screen_state::made::{controls, node as made};

    fn values() -> Values {
        [("NAME".to_owned(), "Ada".to_owned())].into()
    }

    fn at(node: Node, left: i32, top: i32) -> Node {
        Node { bounds: Rect { left, top, right: left + 100, bottom: top + 40 }, ..node }
    }

    #[test]
    fn node_is_described_without_its_place_and_found_elsewhere() {
        let was = controls(vec![made("Button", "Call Ada", 0), made("Button", "Save", 1)]);
        let call = describe(&was, 0, &values()).unwrap().unwrap();
        assert_eq!((&*call.text, &*call.class), ("Call {NAME}", "android.widget.Button"));
        let other: Values = [("NAME".to_owned(), "Bob".to_owned())].into();
        let now = controls(vec![made("Button", "Save", 0), made("Button", "Call Bob", 7)]);
        assert_eq!(find(&call, &now, &other), Ok(1));
        assert_eq!(
            find(&call, &now, &values()).unwrap_err(),
            "there is no Button \"Call Ada\" now"
        );
        let twice = controls(vec![made("Button", "Call Ada", 0), made("Button", "Call Ada", 1)]);
        assert_eq!(
            find(&call, &twice, &values()).unwrap_err(),
            "there are 2 like Button \"Call Ada\" now"
        );
    }

    #[test]
    fn nodes_that_look_the_same_are_told_apart_by_their_row() {
        let row = |name: &str, top: i32| {
            [at(made("TextView", name, 0), 0, top), at(made("Button", "More", 0), 200, top)]
        };
        let was = controls([row("Ada", 0), row("Bob", 50), row("Cy", 100)].concat());
        let more = describe(&was, 1, &values()).unwrap().unwrap();
        assert_eq!(more.beside.as_deref(), Some("{NAME}"));
        let now = controls([row("Cy", 0), row("Dan", 50), row("Ada", 100)].concat());
        assert_eq!(find(&more, &now, &values()), Ok(5));
        assert!(find(&more, &controls(row("Cy", 0).into()), &values()).is_err());
    }

    #[test]
    fn text_fields_are_known_by_their_order_and_nothing_else_is() {
        let field = |top: i32| at(made("EditText", "typed", 0), 0, top);
        let was = controls(vec![field(0), field(50)]);
        let second = describe(&was, 1, &values()).unwrap().unwrap();
        assert_eq!((second.nth, &*second.text), (Some([2, 2]), ""));
        assert_eq!(find(&second, &controls(vec![field(0), field(90)]), &values()), Ok(1));
        assert!(find(&second, &controls(vec![field(0)]), &values()).is_err());
        let blank = |top: i32| at(made("ImageView", "", 0), 0, top);
        assert_eq!(describe(&controls(vec![blank(0), blank(50)]), 1, &values()), Ok(None));
    }

    #[test]
    fn switch_that_is_set_already_is_not_the_one() {
        let switch = |checked: bool| {
            let mut node = made("Switch", "Wi-Fi", 0);
            (node.flags.checkable, node.flags.checked) = (true, checked);
            controls(vec![node])
        };
        let was = describe(&switch(false), 0, &values()).unwrap().unwrap();
        assert_eq!(find(&was, &switch(false), &values()), Ok(0));
        assert_eq!(
            find(&was, &switch(true), &values()).unwrap_err(),
            "Switch \"Wi-Fi\" is checked now"
        );
    }
}
