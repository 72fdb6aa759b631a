//! A phone whose labels are others than those that a skill was learned with, seen through a
//! [`Perform`].
//!
//! The phone itself is unchanged: only what is listed of its screen. [`Relabel::all`] makes one
//! change for each step of a skill that names a text: the target has another text, or something
//! else has the same.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use thumbwire_agent::Skill;
use thumbwire_core::action::{Action, Call, Controls, Failure, Outcome, Perform};

/// A change of the labels on all screens.
#[derive(Debug, Clone)]
pub(super) enum Relabel {
    /// What has this text or description has another.
    Renamed(String),
    /// Another node of this class has this text, too.
    Doubled { class: String, text: String },
}

impl fmt::Display for Relabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Renamed(text) => write!(f, "renamed {text:?}"),
            Self::Doubled { text, .. } => write!(f, "doubled {text:?}"),
        }
    }
}

impl Relabel {
    /// All changes for the targets of a skill, whose texts have the values of its examples.
    pub(super) fn all(skill: &Skill) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut seen = Vec::new();
        for target in skill.steps.iter().filter_map(|step| step.target.as_ref()) {
            let texts = [&target.text, &target.label].into_iter().chain(&target.inside);
            for text in texts.filter(|text| !text.is_empty()) {
                let examples = skill.parameters.iter();
                let text = examples.fold(text.clone(), |text, (name, parameter)| {
                    let value = parameter.example.as_deref().unwrap_or_default();
                    text.replace(&format!("{{{name}}}"), value)
                });
                if !seen.contains(&text) {
                    seen.push(text.clone());
                    let class = target.class.clone();
                    all.extend([Self::Renamed(text.clone()), Self::Doubled { class, text }]);
                }
            }
        }
        all
    }

    fn apply(&self, controls: &Controls) -> Controls {
        let mut snapshot = (*controls.snapshot).clone();
        let nodes = &mut snapshot.tree.nodes;
        match self {
            Self::Renamed(from) => {
                for node in nodes {
                    if *node.text == **from {
                        node.text = "Renamed".into();
                    }
                    if *node.description == **from {
                        node.description = "Renamed".into();
                    }
                }
            }
            Self::Doubled { class, text } => {
                let has = |node: &thumbwire_device::Node| {
                    *node.text == **text || *node.description == **text
                };
                let Some(like) = nodes.iter().find(|node| has(node)).cloned() else {
                    return Controls { snapshot: snapshot.into(), nodes: controls.nodes.clone() };
                };
                let mut others = controls.nodes.iter().copied();
                let other = others.find(|&at| *nodes[at].class == **class && !has(&nodes[at]));
                if let Some(other) = other {
                    let node = &mut nodes[other];
                    (node.text, node.description) = (like.text, like.description);
                    node.id = like.id;
                }
            }
        }
        Controls { snapshot: snapshot.into(), nodes: controls.nodes.clone() }
    }
}

/// A phone with other labels.
pub(super) struct RelabelledPerform {
    inner: Arc<dyn Perform>,
    relabel: Relabel,
}

impl RelabelledPerform {
    pub(super) fn new(inner: Arc<dyn Perform>, relabel: Relabel) -> Self {
        Self { inner, relabel }
    }
}

#[async_trait]
impl Perform for RelabelledPerform {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        match self.inner.perform(call, action).await? {
            Outcome::Controls(controls) => {
                Ok(Outcome::Controls(Arc::new(self.relabel.apply(&controls))))
            }
            outcome => Ok(outcome),
        }
    }
}
