//! Which nodes get a line of the outline, and which texts each line takes over.

use thumbwire_base::visible::without_hidden;
use thumbwire_device::find::is_slider;
use thumbwire_device::{Flags, Node, text_field};

use super::more::more_states;
use super::role::{has_value, role};
use crate::snapshot::Snapshot;

/// A tap target with more texts than this is a panel: its texts get lines of their own.
const MAX_TEXTS: usize = 12;

/// A control takes over at most this many texts beside it as its name.
const MAX_LABELS: usize = 3;

/// One line.
pub(super) struct Line<'a> {
    pub(super) node: usize,
    /// How many lines it is nested in.
    pub(super) depth: usize,
    pub(super) role: &'static str,
    /// Its name, then further texts.
    pub(super) texts: Vec<&'a str>,
    /// What was typed or set.
    pub(super) value: Option<&'a str>,
    /// What an empty field shows.
    pub(super) placeholder: Option<&'a str>,
    pub(super) states: Vec<&'static str>,
    /// Whether it can be acted on, and so has a ref.
    pub(super) is_target: bool,
    /// Whether it needs a name to be recognized.
    pub(super) needs_name: bool,
}

/// The lines of a snapshot, in document order.
pub(super) fn lines(snapshot: &Snapshot) -> Vec<Line<'_>> {
    Plan::complete(snapshot).lines()
}

/// The switch, check box or slider that a text beside it names, if the text of this node is such a
/// name.
pub(super) fn labelled_by(snapshot: &Snapshot, text: usize) -> Option<usize> {
    let plan = Plan::complete(snapshot);
    let takes = |&at: &usize| plan.target[at] && plan.taken[at].contains(&text);
    (0..plan.nodes.len()).find(takes).filter(|&control| !snapshot.is_inside(text, control))
}

/// What is known about each node while lines are decided. All lists have the tree's indices.
struct Plan<'a> {
    snapshot: &'a Snapshot,
    nodes: &'a [Node],
    roles: Vec<&'static str>,
    shown: Vec<bool>,
    /// Whether it takes taps, checks, scrolling or text.
    target: Vec<bool>,
    /// How many targets its subtree contains, itself included.
    targets_inside: Vec<usize>,
    /// The checkable node whose role and state a row shows.
    shows: Vec<Option<usize>>,
    /// Texts that its line takes over, as nodes.
    taken: Vec<Vec<usize>>,
    /// Whether its own texts are on another line.
    is_elsewhere: Vec<bool>,
}

impl<'a> Plan<'a> {
    fn complete(snapshot: &'a Snapshot) -> Self {
        let mut plan = Self::of(snapshot);
        plan.merge_targets();
        plan.assign_texts();
        plan.label_controls();
        plan
    }

    fn of(snapshot: &'a Snapshot) -> Self {
        let nodes = &snapshot.tree.nodes;
        let roles: Vec<_> = nodes.iter().map(role).collect();
        let shown: Vec<_> = (0..nodes.len()).map(|at| !snapshot.shown(at).is_empty()).collect();
        let target: Vec<_> =
            (0..nodes.len()).map(|at| shown[at] && is_target(&nodes[at], roles[at])).collect();
        let mut plan = Self {
            snapshot,
            nodes,
            roles,
            shown,
            target,
            targets_inside: Vec::new(),
            shows: vec![None; nodes.len()],
            taken: vec![Vec::new(); nodes.len()],
            is_elsewhere: vec![false; nodes.len()],
        };
        plan.targets_inside = plan.count_inside(|plan, at| plan.target[at]);
        plan
    }

    /// For each node, how many nodes of its subtree, itself included, have a property.
    fn count_inside(&self, is: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        let mut inside = vec![0; self.nodes.len()];
        for at in (0..self.nodes.len()).rev() {
            inside[at] += usize::from(is(self, at));
            if let Some(parent) = self.nodes[at].parent {
                inside[parent] += inside[at];
            }
        }
        inside
    }

    fn subtree(&self, node: usize) -> impl Iterator<Item = usize> + use<'a> {
        let (nodes, depth) = (self.nodes, self.nodes[node].depth);
        (node + 1..nodes.len()).take_while(move |&at| nodes[at].depth > depth)
    }

    /// A row with one check box is a check box; a frame around one target of the same size is
    /// nothing of its own.
    fn merge_targets(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            let flags = self.nodes[at].flags;
            if !self.target[at] || flags.scrollable || flags.checkable || !self.roles[at].is_empty()
            {
                continue;
            }
            let Some(inner) = self.subtree(at).find(|&inner| self.target[inner]) else { continue };
            if self.targets_inside[inner] + 1 != self.targets_inside[at] {
                continue;
            }
            let within = self.nodes[inner].flags;
            let is_alone = self.targets_inside[inner] == 1;
            let taps = |flags: Flags| flags.clickable || flags.long_clickable;
            if flags.clickable && is_alone && within.checkable && !taps(within) {
                self.shows[at] = Some(inner);
                self.target[inner] = false;
            } else if !has_text(&self.nodes[at])
                && self.snapshot.shown(at) == self.snapshot.shown(inner)
                && (!flags.clickable || within.clickable)
                && (!flags.long_clickable || within.long_clickable)
            {
                self.target[at] = false;
            }
        }
        self.targets_inside = self.count_inside(|plan, at| plan.target[at]);
    }

    /// Gives each text to the row, button or tab that contains it.
    fn assign_texts(&mut self) {
        let areas = self.count_inside(|plan, at| {
            plan.target[at] && (plan.nodes[at].flags.scrollable || plan.roles[at] == "field")
        });
        let free: Vec<bool> = (0..self.nodes.len())
            .map(|at| self.shown[at] && !self.target[at] && has_text(&self.nodes[at]))
            .collect();
        let takes = |at: usize| {
            let is_tab = self.is_outermost_selected(at) && self.targets_inside[at] == 0;
            self.shown[at] && (self.target[at] || is_tab)
        };
        // The nearest node above that takes texts.
        let mut above: Vec<Option<usize>> = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            let parent = node.parent;
            above.push(
                parent.and_then(|parent| if takes(parent) { Some(parent) } else { above[parent] }),
            );
        }
        let mut taken = vec![Vec::new(); self.nodes.len()];
        for at in (0..self.nodes.len()).filter(|&at| free[at]) {
            if let Some(owner) = above[at] {
                taken[owner].push(at);
            }
        }
        for (owner, texts) in taken.into_iter().enumerate() {
            if areas[owner] == 0 && texts.len() <= MAX_TEXTS {
                texts.iter().for_each(|&at| self.is_elsewhere[at] = true);
                self.taken[owner] = texts;
            }
        }
    }

    /// A switch, check box or slider without a name takes the texts beside it, up to the next
    /// target. One with a name takes them if they repeat that name.
    fn label_controls(&mut self) {
        let free = self.count_inside(|plan, at| plan.is_free_text(at));
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at];
            let is_control = matches!(self.roles[at], "switch" | "checkbox" | "radio" | "progress")
                || is_slider(node);
            let can_take = self.target[at] || self.roles[at] == "progress";
            if !is_control || !can_take || !self.shown[at] || !self.taken[at].is_empty() {
                continue;
            }
            let text = if has_value(self.roles[at]) { "" } else { &*node.text };
            let name = [&*node.description, text].into_iter().find(|name| !name.is_empty());
            let mut outer = node.parent;
            while let Some(here) = outer.filter(|&here| {
                self.targets_inside[here] == self.targets_inside[at] && free[here] <= MAX_LABELS
            }) {
                outer = self.nodes[here].parent;
                if free[here] == 0 {
                    continue;
                }
                let is_label = |&label: &usize| label != at && self.is_free_text(label);
                let labels: Vec<usize> = self.subtree(here).filter(is_label).collect();
                if labels.is_empty() {
                    continue;
                }
                let shows_text = |name, &label: &usize| {
                    own_texts(&self.nodes[label]).any(|text| is_same_text(text, name))
                };
                if name.is_none_or(|name| labels.iter().any(|label| shows_text(name, label))) {
                    labels.iter().for_each(|&label| self.is_elsewhere[label] = true);
                    self.taken[at] = labels;
                }
                break;
            }
        }
    }

    /// Whether it is selected, and not only inside something selected.
    fn is_outermost_selected(&self, at: usize) -> bool {
        let is = |at: usize| self.nodes[at].flags.selected;
        is(at) && !self.nodes[at].parent.is_some_and(is)
    }

    /// Whether its text would be a line of its own.
    fn is_free_text(&self, at: usize) -> bool {
        self.shown[at]
            && !self.target[at]
            && !self.is_elsewhere[at]
            && has_text(&self.nodes[at])
            && self.roles[at] != "progress"
    }

    fn lines(&self) -> Vec<Line<'a>> {
        let mut list: Vec<Line<'a>> = Vec::new();
        // The innermost line around each node.
        let mut inside: Vec<Option<usize>> = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let outer = node.parent.and_then(|parent| inside[parent]);
            let repeats = || {
                let above = outer.map(|line: usize| &list[line]);
                let shows_text = |line: &Line, text| {
                    line.texts.iter().any(|is_elsewhere| is_same_text(is_elsewhere, text))
                };
                above.is_some_and(|line| own_texts(node).all(|text| shows_text(line, text)))
            };
            // On iOS the keys are in the tree: thirty lines that a screen with a field has anyway,
            // and text is typed without.
            let is_line = !types_a_character(node)
                && (self.target[at]
                    || !self.taken[at].is_empty()
                    || self.shown[at] && self.roles[at] == "progress"
                    || self.is_free_text(at) && !repeats());
            if !is_line {
                inside.push(outer);
                continue;
            }
            let depth = outer.map_or(0, |line| list[line].depth + 1);
            inside.push(Some(list.len()));
            list.push(self.line(at, depth));
        }
        list
    }

    fn line(&self, at: usize, depth: usize) -> Line<'a> {
        let node = &self.nodes[at];
        let state_of = self.shows[at].unwrap_or(at);
        let role = self.roles[state_of];
        let mut texts: Vec<&'a str> = Vec::new();
        let (mut value, mut placeholder) = (None, None);
        if role == "field" {
            let is_empty = node.text.is_empty() || text_field::is_showing_hint(node);
            let hint = Some(&*node.hint).filter(|hint| !hint.is_empty());
            if is_empty {
                placeholder = hint;
            } else {
                value = Some(&*node.text);
                texts.extend(hint);
            }
            let is_said = |name: &str| {
                [placeholder, value]
                    .into_iter()
                    .flatten()
                    .any(|is_elsewhere| is_same_text(is_elsewhere, name))
            };
            let name = Some(&*node.description).filter(|name| !name.is_empty() && !is_said(name));
            if let Some(name) = name {
                add(&mut texts, name, "");
            }
        } else if has_value(role) && !node.text.is_empty() {
            value = Some(&*node.text);
            if !is_same_text(&node.description, &node.text) {
                add(&mut texts, &node.description, "");
            }
        } else {
            own_texts(node).for_each(|text| add(&mut texts, text, ""));
        }
        // What the line's own description repeats is said once.
        let whole: &str = &node.description;
        for &label in &self.taken[at] {
            own_texts(&self.nodes[label]).for_each(|text| add(&mut texts, text, whole));
        }
        if let Some(shows) = self.shows[at] {
            own_texts(&self.nodes[shows]).for_each(|text| add(&mut texts, text, whole));
        }
        let mut states = Vec::new();
        let flags = self.nodes[state_of].flags;
        if flags.checkable {
            states.push(match (role, flags.checked) {
                ("switch", true) => "on",
                ("switch", false) => "off",
                (_, true) => "checked",
                (_, false) => "unchecked",
            });
        }
        let flags = node.flags;
        if self.is_outermost_selected(at) {
            states.push("selected");
        }
        if flags.focused && role == "field" {
            states.push("focused");
        }
        if flags.password {
            states.push("password");
        }
        if self.target[at] && !flags.enabled {
            states.push("disabled");
        }
        if flags.long_clickable && !flags.clickable && !flags.scrollable && role != "field" {
            states.push("long press");
        }
        if flags.scrollable {
            states.extend(more_states(self.snapshot, at));
        }
        Line {
            node: at,
            depth,
            role,
            texts,
            value,
            placeholder,
            states,
            is_target: self.target[at],
            needs_name: self.target[at] && !flags.scrollable,
        }
    }
}

/// Adds a text that the line does not have yet, and that `whole` does not contain. Neither case nor
/// an invisible character makes another text: an app's `SAVE` is often described as `Save`.
fn add<'a>(texts: &mut Vec<&'a str>, text: &'a str, whole: &str) {
    if !text.is_empty()
        && !texts.iter().any(|given| is_same_text(given, text))
        && !contains_words(whole, text)
    {
        texts.push(text);
    }
}

fn is_same_text(one: &str, other: &str) -> bool {
    let (one, other) = (without_hidden(one), without_hidden(other));
    one.eq_ignore_ascii_case(&other)
        || !(one.is_ascii() && other.is_ascii()) && one.to_lowercase() == other.to_lowercase()
}

/// Whether a text contains another one between word boundaries.
fn contains_words(whole: &str, text: &str) -> bool {
    whole.match_indices(text).any(|(at, _)| {
        let before = whole[..at].chars().next_back();
        let after = whole[at + text.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

fn own_texts(node: &Node) -> impl Iterator<Item = &str> {
    let (text, description) = (&*node.text, &*node.description);
    [text, description].into_iter().filter(|text| !text.trim().is_empty())
}

fn has_text(node: &Node) -> bool {
    own_texts(node).next().is_some()
}

/// Whether it is a key of iOS's keyboard for a letter, digit or sign.
fn types_a_character(node: &Node) -> bool {
    &*node.class == "XCUIElementTypeKey" && node.text.chars().count() == 1
}

/// Whether a person can act on it.
fn is_target(node: &Node, role: &str) -> bool {
    let flags = node.flags;
    flags.clickable
        || flags.long_clickable
        || flags.checkable
        || flags.scrollable
        || role == "field"
        || is_slider(node)
}
