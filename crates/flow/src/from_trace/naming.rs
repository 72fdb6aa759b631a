//! Names the elements that a run touched, so that a flow finds them again.
//!
//! Start with [`Naming::name`]. A name counts only if the flow's own matching finds exactly one
//! element for it on the recorded screen, and a tap on that one goes where the run's went.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use thumbwire_core::snapshot::RefVisibility;
use thumbwire_device::find::{is_slider, nearest};
use thumbwire_device::text_field::{is_showing_hint, is_text_field};
use thumbwire_device::{Node, Point};

use super::recorded::{Screen, share, size};
use super::wording::{Parameters, escape};
use crate::parse::element_of_json;

/// What a flow says of an element.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Name {
    /// As the screen shows it.
    pub(super) text: Option<String>,
    /// Whether the text is only a part of what the screen shows.
    is_part: bool,
    id: Option<String>,
    class: Option<String>,
    checked: Option<bool>,
    index: Option<i32>,
    /// The key of another element, and that element.
    near: Option<(&'static str, Box<Name>)>,
}

/// What a touch was for.
pub(super) struct Touched {
    /// The nodes on which a tap has the same effect.
    nodes: Vec<usize>,
    /// Where in it, in percent, if that matters.
    pub(super) inside: Option<String>,
}

/// How elements are named in one flow.
pub(super) struct Naming<'a> {
    pub(super) parameters: &'a Parameters,
    /// Whether only Maestro's keys are used.
    pub(super) maestro: bool,
}

impl Name {
    pub(super) fn of_text(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    /// An element whose text contains this.
    pub(super) fn of_part(text: &str) -> Self {
        Self { is_part: true, ..Self::of_text(text) }
    }

    fn of_id(node: &Node) -> Self {
        let short = node.id.rsplit('/').next().unwrap_or_default();
        Self { id: Some(short.to_owned()), ..Self::default() }
    }

    pub(super) fn checked(self, is: bool) -> Self {
        Self { checked: Some(is), ..self }
    }

    pub(super) fn has_index(&self) -> bool {
        self.index.is_some()
    }

    fn near(self, key: &'static str, other: Self) -> Self {
        // These hold for all that is farther, too.
        let index = ["below", "rightOf"].contains(&key).then_some(0);
        Self { near: Some((key, Box::new(other))), index, ..self }
    }

    /// As a flow has it.
    pub(super) fn written(&self, parameters: &Parameters) -> Value {
        match &self.text {
            Some(text) if self.is_part => parameters.part(text).into(),
            Some(text) if *self == Self::of_text(text) => parameters.pattern(text).into(),
            _ => self.keys(parameters).into(),
        }
    }

    /// The keys of its map.
    pub(super) fn keys(&self, parameters: &Parameters) -> Map<String, Value> {
        let mut keys = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            keys.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("text", self.text.as_ref().map(|text| parameters.pattern(text).into()));
        put("id", self.id.as_ref().map(|id| escape(id).into()));
        put("class", self.class.as_ref().map(|class| escape(class).into()));
        put("checked", self.checked.map(Value::Bool));
        if let Some((key, other)) = &self.near {
            let other = other.written(parameters);
            let is_list = *key == "containsDescendants";
            put(key, Some(if is_list { json!([other]) } else { other }));
        }
        put("index", self.index.map(Value::from));
        keys
    }

    /// The elements of a screen that it means, the one that a flow would take first.
    pub(super) fn find(&self, screen: &Screen) -> Vec<usize> {
        let snapshot = &screen.snapshot;
        let is_shown = |at: usize| !snapshot.shown(at).is_empty();
        let pattern = element_of_json(&self.written(&Parameters::default()));
        pattern.map(|it| it.find(&snapshot.tree, &is_shown)).unwrap_or_default()
    }
}

impl Touched {
    /// A single element.
    pub(super) fn node(at: usize) -> Self {
        Self { nodes: vec![at], inside: None }
    }

    /// What was under a finger.
    pub(super) fn at(screen: &Screen, point: Point) -> Option<Self> {
        let snapshot = &screen.snapshot;
        let area = |at: &usize| size(snapshot.shown(*at));
        let under = screen.visible().filter(|&at| snapshot.shown(at).contains(point));
        // Of equal ones, the innermost.
        let hit = under.collect::<Vec<_>>().into_iter().rev().min_by_key(area)?;
        let tree = &snapshot.tree;
        let receives = |at: usize| {
            nearest(tree, at, |flags| flags.clickable || flags.long_clickable || flags.checkable)
        };
        let Some(receiver) = receives(hit) else {
            let is_off = !is_near_center(screen, hit, point);
            let inside = is_off.then(|| share(screen.node(hit).bounds, point));
            return Some(Self { nodes: vec![hit], inside });
        };
        let reaches = |&at: &usize| {
            let is_in = at == receiver || snapshot.is_inside(at, receiver);
            let reached = || snapshot.tap_point(at, RefVisibility::Unknown).is_ok();
            is_in && receives(at) == Some(receiver) && reached()
        };
        let nodes: Vec<usize> = (receiver..tree.nodes.len())
            .take_while(|&at| at == receiver || tree.nodes[at].depth > tree.nodes[receiver].depth)
            .filter(reaches)
            .collect();
        let is_blank = nodes.iter().all(|&at| texts(&tree.nodes[at]).next().is_none());
        let is_wide = is_blank && size(snapshot.shown(receiver)) * 5 > size(screen.bounds);
        let place_matters = is_slider(&tree.nodes[receiver]) || is_wide;
        let inside = place_matters && !is_near_center(screen, receiver, point);
        let inside = inside.then(|| share(screen.node(receiver).bounds, point));
        let nodes = if inside.is_some() { vec![receiver] } else { nodes };
        Some(Self { nodes, inside })
    }
}

impl Naming<'_> {
    /// The first name that means one of these elements alone, the most lasting first.
    pub(super) fn name(&self, screen: &Screen, touched: &Touched) -> Option<Name> {
        let targets: HashSet<usize> = touched.nodes.iter().copied().collect();
        let means_it = |name: &Name| {
            let found = name.find(screen);
            found.len() == 1
                && targets.contains(&found[0])
                && screen.snapshot.covered_by(found[0]).is_none()
        };
        let nodes = || touched.nodes.iter().copied();
        let lasting = |at: usize| {
            let texts = texts(screen.node(at)).filter(|text| self.parameters.lasts(text));
            texts.map(Name::of_text).collect::<Vec<_>>()
        };
        let id = |at: usize| {
            let node = screen.node(at);
            (!node.id.is_empty()).then(|| Name::of_id(node))
        };
        let class = |at: usize| {
            let class = screen.node(at).class.rsplit('.').next().unwrap_or_default();
            let name = Name { class: Some(class.to_owned()), ..Name::default() };
            (!self.maestro && !class.is_empty()).then_some(name)
        };
        let changing = |at: usize| texts(screen.node(at)).map(Name::of_text).collect::<Vec<_>>();
        let own = |at: usize| lasting(at).into_iter().chain(id(at)).chain(class(at));
        let mut found = nodes().flat_map(lasting).find(means_it);
        let both = |at: usize| {
            let id = id(at).and_then(|id| id.id);
            let texts = lasting(at).into_iter().filter(|_| id.is_some());
            texts.map(|text| Name { id: id.clone(), ..text }).collect::<Vec<_>>()
        };
        let is_value = |name: &Name| {
            name.text.as_ref().is_some_and(|text| self.parameters.value_in(text).is_some())
        };
        let of_value = |at: usize| both(at).into_iter().filter(is_value);
        found = found.or_else(|| nodes().flat_map(of_value).find(means_it));
        found = found.or_else(|| nodes().filter_map(id).find(means_it));
        found = found.or_else(|| nodes().flat_map(both).find(means_it));
        let near = |relation: fn(&Self, &Screen, usize, &Name) -> Vec<Name>| {
            let each = |at: usize| own(at).map(move |name| (at, name)).collect::<Vec<_>>();
            let names = nodes().flat_map(each);
            names.flat_map(|(at, name)| relation(self, screen, at, &name)).find(means_it)
        };
        found = found.or_else(|| near(Self::in_its_row));
        found = found.or_else(|| nodes().flat_map(changing).find(means_it));
        found = found.or_else(|| near(Self::beside));
        for at in nodes() {
            let names = || own(at).chain(changing(at)).collect::<Vec<_>>().into_iter();
            found = found.or_else(|| names().find_map(|name| self.numbered(screen, at, name)));
        }
        found.filter(means_it)
    }

    /// A name with the element's number among those that it means.
    fn numbered(&self, screen: &Screen, at: usize, name: Name) -> Option<Name> {
        const MAX_INDEX: i32 = 30;
        (0..MAX_INDEX)
            .map(|index| Name { index: Some(index), ..name.clone() })
            .find(|name| name.find(screen) == [at])
    }

    /// The texts around an element, with their nodes.
    fn around(&self, screen: &Screen, at: usize) -> Vec<(usize, Name)> {
        let snapshot = &screen.snapshot;
        let is_apart = |&other: &usize| {
            let is_inside = snapshot.is_inside(other, at) || snapshot.is_inside(at, other);
            other != at && !is_inside
        };
        let text_of = |other: usize| {
            let text = texts(screen.node(other)).find(|text| self.parameters.lasts(text))?;
            Some((other, Name::of_text(text)))
        };
        screen.visible().filter(is_apart).filter_map(text_of).collect()
    }

    /// A name with a text of the same row, which has the element and the text inside it.
    fn in_its_row(&self, screen: &Screen, at: usize, name: &Name) -> Vec<Name> {
        /// How deep in a row a text is.
        const MAX_DEPTH: usize = 4;
        let snapshot = &screen.snapshot;
        let parent = |&at: &usize| snapshot.tree.nodes[at].parent;
        let around = self.around(screen, at);
        let mut rows = std::iter::successors(parent(&at), parent);
        let has_text = |row: usize| around.iter().any(|(other, _)| snapshot.is_inside(*other, row));
        let Some(row) = rows.find(|&row| has_text(row)) else { return Vec::new() };
        let (mut chains, mut of_rows) = (Vec::new(), Vec::new());
        for (other, anchor) in around.iter().filter(|(other, _)| snapshot.is_inside(*other, row)) {
            let mut way = std::iter::successors(parent(other), parent);
            let depth = way.position(|at| at == row).filter(|depth| *depth < MAX_DEPTH);
            let contains = |inner| Name::default().near("containsChild", inner);
            let chain = depth.map(|depth| (0..=depth).fold(anchor.clone(), |it, _| contains(it)));
            chains.extend(chain.map(|row| name.clone().near("childOf", row)));
            if !screen.node(row).id.is_empty() {
                let row = Name::of_id(screen.node(row));
                let row = row.near("containsDescendants", anchor.clone());
                of_rows.push(name.clone().near("childOf", row));
            }
        }
        chains.extend(of_rows);
        chains
    }

    /// A name with the nearest text above the element, or with one on its left.
    fn beside(&self, screen: &Screen, at: usize, name: &Name) -> Vec<Name> {
        let shown = |other: usize| screen.snapshot.shown(other);
        let is = shown(at);
        let around = self.around(screen, at);
        let above = around.iter().filter(|(other, _)| shown(*other).bottom <= is.top);
        let above = above.max_by_key(|(other, _)| shown(*other).bottom);
        let left = around.iter().filter(|(other, _)| {
            shown(*other).right <= is.left
                && shown(*other).contains(Point { y: is.center().y, ..shown(*other).center() })
        });
        let above = above.map(|(_, text)| name.clone().near("below", text.clone()));
        let left = left.map(|(_, text)| name.clone().near("rightOf", text.clone()));
        above.into_iter().chain(left).collect()
    }
}

/// A name for a field by the text in it, which a check is about.
pub(super) fn typed_text(screen: &Screen, at: usize) -> Option<Name> {
    let node = screen.node(at);
    let is_typed = is_text_field(node) && !is_showing_hint(node) && !node.flags.password;
    let name = Some(Name::of_text(&node.text)).filter(|_| is_typed && !node.text.is_empty());
    name.filter(|name| name.find(screen) == [at])
}

/// The texts by which a node is known: not what a person writes or sets.
pub(super) fn texts(node: &Node) -> impl Iterator<Item = &str> {
    let is_set = (is_text_field(node) && !is_showing_hint(node)) || is_slider(node);
    let own = if is_set { "" } else { &node.text };
    let all = [own, &node.description, &node.hint];
    all.into_iter().filter(|text| !text.trim().is_empty())
}

/// Whether a tap on the element goes about there.
fn is_near_center(screen: &Screen, at: usize, point: Point) -> bool {
    let rect = screen.snapshot.shown(at);
    let center = rect.center();
    let near = |a: i32, b: i32, low: i32, high: i32| {
        (i64::from(a) - i64::from(b)).abs() * 6 <= i64::from(high) - i64::from(low)
    };
    near(point.x, center.x, rect.left, rect.right) && near(point.y, center.y, rect.top, rect.bottom)
}
