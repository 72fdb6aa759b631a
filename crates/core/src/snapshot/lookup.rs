//! Finds the element that a client names by its id in a list, on a later snapshot of the screen.
//!
//! Start with [`lookup`]. Two kinds of lists have ids, and both follow the same rules
//! ([`Listing`]): a [`Snapshot`] with refs, and [`Controls`] with numbers. When a list may stand
//! for the screen without a later snapshot is the session's decision.

use std::borrow::Cow;
use std::sync::Arc;

use thumbwire_device::find::FindResult;

use super::{ControlNumber, Controls, ElementId, ElementRef, RefVisibility, Snapshot, matching};

/// A list of elements with ids, as a client received it.
pub trait Listing: Sized {
    /// The ids of its elements.
    type Id: Copy + Into<ElementId>;

    /// Whether an id still names its element after an action, if the element is found again. The
    /// numbers of UFO's lists do not: its clients expect a refusal, and list again.
    const OUTLIVES_ACTIONS: bool;

    /// Whether the client sees refs in this kind of list.
    const REFS: RefVisibility;

    /// The list of this kind for a snapshot.
    fn of(snapshot: Arc<Snapshot>) -> Self;

    /// The snapshot that contains the elements.
    fn snapshot(&self) -> &Arc<Snapshot>;

    /// The nodes of the elements, in document order.
    fn nodes(&self) -> Cow<'_, [usize]>;

    /// The node of the element with this id.
    fn node_of(&self, id: Self::Id) -> Option<usize>;
}

impl Listing for Arc<Snapshot> {
    type Id = ElementRef;

    const OUTLIVES_ACTIONS: bool = true;

    const REFS: RefVisibility = RefVisibility::Known;

    fn of(snapshot: Arc<Snapshot>) -> Self {
        snapshot
    }

    fn snapshot(&self) -> &Arc<Snapshot> {
        self
    }

    fn nodes(&self) -> Cow<'_, [usize]> {
        self.refs.iter().map(|element| element.node).collect()
    }

    fn node_of(&self, id: ElementRef) -> Option<usize> {
        self.refs.iter().find(|element| element.id == id).map(|element| element.node)
    }
}

impl Listing for Arc<Controls> {
    type Id = ControlNumber;

    const OUTLIVES_ACTIONS: bool = false;

    const REFS: RefVisibility = RefVisibility::Unknown;

    fn of(snapshot: Arc<Snapshot>) -> Self {
        Arc::new(Controls::of(snapshot))
    }

    fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    fn nodes(&self) -> Cow<'_, [usize]> {
        self.nodes.as_slice().into()
    }

    fn node_of(&self, id: ControlNumber) -> Option<usize> {
        Controls::node_of(self, id)
    }
}

/// Why an id names no element that can be acted on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// There is no list.
    #[error("no snapshot has been taken yet")]
    NoList,
    /// The id is not in the last list.
    #[error("it is not in the last snapshot")]
    NotListed,
    /// An action came after the list.
    #[error("stale reference: the screen changed since it was listed")]
    ScreenChanged,
    /// An action came after the list, and the app, its activity or most of what it showed is
    /// another now.
    #[error("stale reference: another screen is in front than the one it was listed on")]
    OtherScreen,
    /// No element of the later snapshot is the same.
    #[error("it is no longer on the screen, or its text changed")]
    Gone,
    /// Several elements of the later snapshot may be the same: a sentence that names them.
    #[error("{0}")]
    Ambiguous(String),
}

/// Finds, in the list `now`, the node of the element that has this id in the list `listed`.
///
/// # Errors
/// [`LookupError::NotListed`], [`LookupError::Gone`] or [`LookupError::Ambiguous`].
pub fn lookup<L: Listing>(id: L::Id, listed: &L, now: &L) -> Result<usize, LookupError> {
    let node = listed.node_of(id).ok_or(LookupError::NotListed)?;
    let found = find_again(listed, node, now);
    // A ref names one element for good: a field without a name may have moved.
    let kept = now.node_of(id).filter(|_| L::OUTLIVES_ACTIONS);
    match (found, kept) {
        (FindResult::One(node), _) => Ok(node),
        (FindResult::None, Some(node)) => Ok(node),
        (FindResult::None, None) => Err(LookupError::Gone),
        (FindResult::Ambiguous(nodes), Some(node)) if nodes.contains(&node) => Ok(node),
        (FindResult::Ambiguous(nodes), _) => {
            Err(LookupError::Ambiguous(now.snapshot().describe_several(&nodes, L::REFS)))
        }
    }
}

/// Finds, in the list `now`, the element that is `node` in the list `listed`: by app, id, class and
/// name, or by the text inside it if it has no name, such as a list row. If several look the same,
/// the text of the surrounding row decides; if that does not, the place and the neighbours do. An
/// element without id and text is found by place and neighbours only.
pub fn find_again<L: Listing>(listed: &L, node: usize, now: &L) -> FindResult {
    matching::same((now.snapshot(), &now.nodes()), (listed.snapshot(), &listed.nodes()), node)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::{Node, Rect, Tree};

    use super::*;

    /// A screen with these texts, one below the other.
    fn screen(texts: &[&str]) -> Arc<Snapshot> {
        let node = |(text, top): (&&str, i32)| Node {
            text: (*text).into(),
            bounds: Rect { left: 0, top, right: 50, bottom: top + 20 },
            ..Node::default()
        };
        let nodes = texts.iter().zip((0..).step_by(20)).map(node).collect();
        Arc::new(Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1)))
    }

    #[test]
    fn refs_and_numbers_are_looked_up_by_the_same_rules() {
        let listed = screen(&["Open", "Save"]);
        let several = "2 elements match: e1 \"Save\" at [0,0][50,20], e3 \"Save\" at [0,40][50,60]";
        for (now, found) in [
            (["News", "Open", "Save"].as_slice(), Ok(2)),
            (&["Open"], Err(LookupError::Gone)),
            (&["Save", "Other", "Save"], Err(LookupError::Ambiguous(several.into()))),
        ] {
            let now = screen(now);
            assert_eq!(lookup(ElementRef(2), &listed, &now), found);
            // Readers of control lists have not seen refs.
            let without_refs = found.map_err(|error| match error {
                LookupError::Ambiguous(text) => {
                    LookupError::Ambiguous(text.replace("e1 ", "").replace("e3 ", ""))
                }
                error => error,
            });
            let controls = <Arc<Controls> as Listing>::of;
            let (listed, now) = (controls(Arc::clone(&listed)), controls(now));
            assert_eq!(lookup(ControlNumber::at(1), &listed, &now), without_refs);
        }
        assert_eq!(lookup(ElementRef(3), &listed, &listed), Err(LookupError::NotListed));
    }
}
