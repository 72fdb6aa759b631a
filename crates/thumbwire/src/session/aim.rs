//! From what a caller names to the place that is tapped.
//!
//! Begin with [`Attached::aim`]. Nothing is tapped blind: what is named is sought on the screen as it is now, a number
//! from an old listing is looked for again, and what is gone, covered, or could be several is refused. What numbers of
//! controls by seed 000's rules mean is in `controls`.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::Gesture;
use thumbwire_device::find::{
    Found, Hidden, Query, Sought, Wanted, find, find_hidden, search, search_hidden,
};

use super::attached::Attached;
use crate::action::{Cause, Criteria, Failure, Hit, Outcome, Target};
use crate::look::{Control, Look, Numbers};

/// How long a listing may be taken for the screen without looking again (seed 000's control cache).
pub(super) const LISTING_FRESH: Duration = Duration::from_secs(5);

impl Attached {
    /// What of the screen as it is now answers to the criteria: places in the look's tree, in document order. What does not
    /// show answers to nothing.
    pub(super) async fn find(&self, criteria: &Criteria) -> Result<Outcome, Failure> {
        let look = self.look_now().await?;
        let found = search(&look.tree, &query(criteria));
        Ok(Outcome::Found(look, found))
    }

    pub(super) async fn tap_element(&self, target: &Target) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        Ok(Outcome::Tapped(self.tap_on(target).await?))
    }

    /// Aims and taps, within the turn that the caller has.
    pub(super) async fn tap_on(&self, target: &Target) -> Result<Hit, Failure> {
        let hit = self.aim(target).await?;
        let tap = Gesture::Tap { at: hit.at };
        if let Some(why) = self.outside(tap).await? {
            return Err(missed(target, format!("its middle {why}; scroll it into view")));
        }
        self.act(self.device.touch(tap)).await?;
        Ok(hit)
    }

    /// Where a tap on the target goes.
    async fn aim(&self, target: &Target) -> Result<Hit, Failure> {
        let aimed = match target {
            Target::Named { id, text } => match id.as_deref().and_then(Control::read_number) {
                Some(number) => self.aim_at_number(number).await,
                None => self.aim_at_name(id.as_deref(), text.as_deref()).await,
            },
            Target::Control(number) => self.aim_at_control(number).await,
            Target::Match(criteria, index) => self.aim_at_match(criteria, *index).await,
        };
        aimed.map_err(|miss| match miss {
            Miss::Unknown => not_found(target, None),
            Miss::Why(why) => missed(target, why),
            Miss::Failed(failure) => failure,
        })
    }

    async fn aim_at_name(&self, id: Option<&str>, text: Option<&str>) -> Result<Hit, Miss> {
        let look = self.look_now().await?;
        let words = [id.map(Sought::Id), text.map(Sought::Text)];
        for sought in words.into_iter().flatten() {
            match find(&look.tree, sought) {
                Found::One(node) => return hit(&look, node, Numbers::Known),
                Found::Several(nodes) => {
                    return Err(Miss::Why(look.describe_several(&nodes, Numbers::Known)));
                }
                Found::None => {}
            }
        }
        let hidden = words.into_iter().flatten().find_map(|it| find_hidden(&look.tree, it));
        Err(unseen(hidden))
    }

    async fn aim_at_match(&self, criteria: &Criteria, index: usize) -> Result<Hit, Miss> {
        let look = self.look_now().await?;
        let query = query(criteria);
        let found = search(&look.tree, &query);
        let of = found.len();
        match found.get(index) {
            Some(&node) => Ok(Hit { of, ..hit(&look, node, Numbers::Unknown)? }),
            None if found.is_empty() => Err(unseen(search_hidden(&look.tree, &query))),
            None => Err(Miss::Failed(Cause::NoSuchIndex { index, found: of }.into())),
        }
    }

    async fn aim_at_number(&self, number: u32) -> Result<Hit, Miss> {
        let Some(last) = self.screen.memory.listing.last() else {
            return Err(Miss::Why("nothing has been listed yet".into()));
        };
        let Some(node) = last.value.node_of(number) else {
            return Err(Miss::Why("it is not in the last listing".into()));
        };
        if !last.is_of(&self.screen.generation) {
            return Err(Miss::Why(BEFORE_AN_ACT.into()));
        }
        if last.age() <= LISTING_FRESH {
            return hit(&last.value, node, Numbers::Known);
        }
        let now = self.look_now().await?;
        match now.same_as(&last.value, node) {
            Found::One(node) => hit(&now, node, Numbers::Known),
            Found::None => Err(Miss::Why(GONE.into())),
            Found::Several(nodes) => Err(Miss::Why(now.describe_several(&nodes, Numbers::Known))),
        }
    }
}

/// Why a number of a listing means nothing any more.
pub(super) const BEFORE_AN_ACT: &str = "it was listed before the last action";

/// Why a number of an old listing means nothing any more.
pub(super) const GONE: &str = "it is no longer on the screen, or says something else by now";

/// Why a target was not hit.
pub(super) enum Miss {
    /// Nothing answers to it.
    Unknown,
    /// In words.
    Why(String),
    Failed(Failure),
}

impl From<Failure> for Miss {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Nothing that shows answers; perhaps something that does not.
fn unseen(hidden: Option<(usize, Hidden)>) -> Miss {
    hidden.map_or(Miss::Unknown, |(_, why)| {
        let why = why.why();
        Miss::Why(format!("it is there, but nothing of it shows: {why}; scroll it into view"))
    })
}

/// A tap on a node of a look.
///
/// # Errors
/// Why it would not reach it.
pub(super) fn hit(look: &Arc<Look>, node: usize, numbers: Numbers) -> Result<Hit, Miss> {
    let at = look.aim(node, numbers).map_err(Miss::Why)?;
    Ok(Hit { at, look: Arc::clone(look), node, of: 1 })
}

fn query(criteria: &Criteria) -> Query<'_> {
    let Criteria { text, id, description, class, clickable, enabled, exact } = criteria;
    let flags = Wanted {
        clickable: clickable.then_some(true),
        enabled: enabled.then_some(true),
        ..Wanted::default()
    };
    Query {
        text: text.as_deref(),
        id: id.as_deref(),
        description: description.as_deref(),
        class: class.as_deref(),
        package: None,
        flags,
        exact: *exact,
    }
}

fn missed(target: &Target, why: String) -> Failure {
    not_found(target, Some(why))
}

fn not_found(target: &Target, why: Option<String>) -> Failure {
    Cause::ElementNotFound { sought: target.to_string(), why }.into()
}
