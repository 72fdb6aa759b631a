//! Resolves what a caller names to the point to tap.
//!
//! Start with [`AttachedDevice::aim`]. Nothing is tapped blind: the target is looked up on the
//! current screen, an id from an old list is found again ([`AttachedDevice::lookup`]), and a target
//! that is gone, covered or ambiguous is refused.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::find::{
    FindResult, FlagFilter, HiddenReason, Locator, Query, Visibility, field_of, find, find_field,
    find_hidden, search, search_hidden, visible_fields,
};
use thumbwire_device::{Gesture, Key, TreeMethod};

use super::attached_device::AttachedDevice;
use super::cache::CacheEntry;
use crate::action::{
    Cause, ElementId, ElementSelector, Failure, FoundElements, NumberedList, Outcome,
    SnapshotOptions, TapResult, Target,
};
use crate::snapshot::{Listing, LookupError, RefVisibility, Snapshot, lookup, named_element};

/// How long a list may stand for the current screen (UFO MobileAgent servers: control cache).
const LISTING_FRESH: Duration = Duration::from_secs(5);

/// The same on a phone whose helper reads the screen in milliseconds.
const LISTING_FRESH_WITH_HELPER: Duration = Duration::from_secs(1);

/// How recent a snapshot is that a name is looked up in without a new one: a step of several waits
/// for its element first.
const JUST_SEEN: Duration = Duration::from_millis(500);

impl AttachedDevice {
    /// The visible elements that match the selector, as indices into the snapshot's tree, in
    /// document order.
    pub(super) async fn find(&self, criteria: &ElementSelector) -> Result<Outcome, Failure> {
        let snapshot = self.take_snapshot().await?;
        let found = search(&snapshot.tree, &query(criteria));
        Ok(Outcome::Elements(FoundElements { snapshot, nodes: found }))
    }

    pub(super) async fn tap_element(&self, target: &Target) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        Ok(Outcome::Tapped(self.tap_on(target).await?))
    }

    /// Where a tap on the target would go.
    pub(super) async fn locate(&self, target: &Target, for_text: bool) -> Result<Outcome, Failure> {
        let aimed_for = if for_text { AimedFor::Text } else { AimedFor::Tap };
        let found = self.resolve(target, aimed_for).await;
        let found = found.and_then(|hit| aimed_for.element(target, hit));
        Ok(Outcome::Tapped(found.map_err(|miss| miss.failure(target))?))
    }

    /// Resolves the target and taps it. The caller holds the action lock.
    pub(super) async fn tap_on(&self, target: &Target) -> Result<TapResult, Failure> {
        let hit = self.aim(target, AimedFor::Tap).await?;
        self.tap_at(target, &hit).await?;
        Ok(hit)
    }

    /// Taps the target where it was found.
    pub(super) async fn tap_at(&self, target: &Target, hit: &TapResult) -> Result<(), Failure> {
        let tap = Gesture::Tap { at: hit.at };
        if let Some(reason) = self.outside(tap).await? {
            return Err(missed(target, format!("its center {reason}; scroll it into view")));
        }
        self.refuse_if_guarded().await?;
        self.refuse_if_locked(tap).await?;
        self.act(self.device.touch(tap)).await
    }

    /// Where a tap on the target goes. A keyboard that covers it is closed first.
    pub(super) async fn aim(
        &self,
        target: &Target,
        aimed_for: AimedFor,
    ) -> Result<TapResult, Failure> {
        let cache = &self.screen.cache;
        let lists = (cache.listing.last(), cache.controls.last());
        let mut aimed = self.resolve(target, aimed_for).await;
        if matches!(aimed, Err(TargetError::UnderKeyboard)) {
            self.act(self.device.press(Key::Back)).await?;
            aimed = match (target, lists) {
                (Target::Listed(ElementId::Ref(id)), (Some(last), _)) => {
                    self.find_now(*id, &last.value).await
                }
                (Target::Listed(ElementId::Number(number)), (_, Some(last))) => {
                    self.find_now(*number, &last.value).await
                }
                (target, _) => self.resolve(target, aimed_for).await,
            };
        }
        let aimed = aimed.and_then(|hit| aimed_for.element(target, hit));
        aimed.map_err(|miss| miss.failure(target))
    }

    async fn resolve(
        &self,
        target: &Target,
        aimed_for: AimedFor,
    ) -> Result<TapResult, TargetError> {
        match target {
            Target::Listed(id) => self.resolve_id(*id).await,
            Target::Named { id, text } => {
                self.resolve_name(id.as_deref(), text.as_deref(), aimed_for).await
            }
            Target::Selector { selector: criteria, index } => {
                self.resolve_selector(criteria, *index).await
            }
        }
    }

    async fn resolve_name(
        &self,
        id: Option<&str>,
        text: Option<&str>,
        aimed_for: AimedFor,
    ) -> Result<TapResult, TargetError> {
        let snapshot = self
            .snapshot(SnapshotOptions { max_age: JUST_SEEN, ..SnapshotOptions::default() })
            .await?;
        let words = [id.map(Locator::Id), text.map(Locator::Text)];
        let words = || words.into_iter().flatten();
        // For a text, an element that is not a field counts only if no field has the name.
        let fields = words().filter(|_| aimed_for == AimedFor::Text);
        let found = fields.map(|sought| find_field(&snapshot.tree, sought));
        for result in found.chain(words().map(|sought| find(&snapshot.tree, sought))) {
            match result {
                FindResult::One(node) => {
                    let node = named_element(&snapshot, node);
                    return hit(&snapshot, node, RefVisibility::Known);
                }
                FindResult::Ambiguous(nodes) => {
                    return Err(TargetError::Because(
                        snapshot.describe_several(&nodes, RefVisibility::Known),
                    ));
                }
                FindResult::None => {}
            }
        }
        let hidden = words().find_map(|it| find_hidden(&snapshot.tree, it));
        let alike =
            hidden.is_none().then(|| id.or(text)).flatten().map(|name| snapshot.named_like(name));
        match alike.filter(|alike| !alike.is_empty()) {
            Some(alike) => {
                let alike = snapshot.describe_each(&alike, RefVisibility::Known);
                Err(TargetError::Because(format!("similar on this screen: {alike}")))
            }
            None => Err(hidden_target(hidden)),
        }
    }

    async fn resolve_selector(
        &self,
        criteria: &ElementSelector,
        index: usize,
    ) -> Result<TapResult, TargetError> {
        let snapshot = self.take_snapshot().await?;
        let query = query(criteria);
        let found = search(&snapshot.tree, &query);
        let of = found.len();
        match found.get(index) {
            Some(&node) => Ok(TapResult { of, ..hit(&snapshot, node, RefVisibility::Unknown)? }),
            None if found.is_empty() => Err(hidden_target(search_hidden(&snapshot.tree, &query))),
            None => Err(TargetError::Failed(Cause::IndexOutOfRange { index, found: of }.into())),
        }
    }

    async fn resolve_id(&self, id: ElementId) -> Result<TapResult, TargetError> {
        let cache = &self.screen.cache;
        match id {
            ElementId::Ref(id) => self.lookup(id, cache.listing.last()).await,
            ElementId::Number(number) => self.lookup(number, cache.controls.last()).await,
        }
    }

    /// Where a tap on the element with this id of the last list goes. Models are slow: if the list
    /// is older than a few seconds, the element is found again on the current screen, and the list
    /// stays valid for the next id. The same after an action, for lists whose ids outlive it,
    /// unless another screen is in front.
    async fn lookup<L: Listing>(
        &self,
        id: L::Id,
        last: Option<CacheEntry<L>>,
    ) -> Result<TapResult, TargetError> {
        let refuse = |error| refused(id.into(), error);
        let last = last.ok_or_else(|| refuse(LookupError::NoList))?;
        let listed = &last.value;
        let node = listed.node_of(id).ok_or_else(|| refuse(LookupError::NotListed))?;
        let fresh = match listed.snapshot().tree.method {
            TreeMethod::Helper => LISTING_FRESH_WITH_HELPER,
            TreeMethod::Platform => LISTING_FRESH,
        };
        match (last.is_of(&self.screen.generation), L::OUTLIVES_ACTIONS) {
            (true, _) if last.age() <= fresh => hit(listed.snapshot(), node, L::REFS),
            (true, _) => self.find_now(id, listed).await,
            (false, false) => Err(refuse(LookupError::ScreenChanged)),
            (false, true) => {
                let now = L::of(self.take_snapshot().await?);
                if now.snapshot().is_another_screen(listed.snapshot()) {
                    return Err(refuse(LookupError::OtherScreen));
                }
                let node = lookup(id, listed, &now).map_err(refuse)?;
                hit(now.snapshot(), node, L::REFS)
            }
        }
    }

    /// Where a tap on an element of an old list goes on the current screen.
    async fn find_now<L: Listing>(&self, id: L::Id, listed: &L) -> Result<TapResult, TargetError> {
        let now = L::of(self.take_snapshot().await?);
        let node = lookup(id, listed, &now).map_err(|error| refused(id.into(), error))?;
        hit(now.snapshot(), node, L::REFS)
    }
}

/// The failure for an id that names no element to act on. UFO's clients list again for a number;
/// other clients read why.
fn refused(id: ElementId, error: LookupError) -> TargetError {
    let ElementId::Number(number) = id else { return TargetError::Because(error.to_string()) };
    let reason = match &error {
        LookupError::NoList | LookupError::NotListed => None,
        error => Some(error.to_string()),
    };
    let none = error == LookupError::NoList;
    let number = number.to_string();
    TargetError::Failed(
        Cause::StaleReference { list: NumberedList::Controls, number, reason, none }.into(),
    )
}

/// What a target is tapped for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AimedFor {
    /// The tap itself.
    Tap,
    /// The focus, for a text: only fields are tapped.
    Text,
}

impl AimedFor {
    /// The element to tap where this was found.
    fn element(self, target: &Target, hit: TapResult) -> Result<TapResult, TargetError> {
        let numbers = match target {
            Target::Listed(ElementId::Number(_)) => RefVisibility::Unknown,
            _ => RefVisibility::Known,
        };
        match self {
            Self::Tap => Ok(hit),
            Self::Text => take_field(hit, numbers),
        }
    }
}

/// The field that the target of a text stands for. A screen without any field may have something
/// that opens one; only what speaks of searching is tapped for that, never a button that might send
/// or delete.
fn take_field(hit: TapResult, numbers: RefVisibility) -> Result<TapResult, TargetError> {
    let snapshot = Arc::clone(&hit.snapshot);
    let fields = visible_fields(&snapshot.tree);
    match field_of(&snapshot.tree, hit.node, &fields) {
        Some(node) if node == hit.node => Ok(hit),
        Some(node) => self::hit(&snapshot, node, numbers),
        None if fields.is_empty() && snapshot.speaks_of_searching(hit.node) => Ok(hit),
        None => {
            let fields = match &fields[..] {
                [] => "there is none on this screen; tap what opens one first".into(),
                fields => format!(
                    "text fields on this screen: {}",
                    snapshot.describe_each(fields, numbers)
                ),
            };
            Err(TargetError::Because(format!("it is not a text field; {fields}")))
        }
    }
}

/// Why a target cannot be tapped.
enum TargetError {
    /// Nothing matches it.
    Unknown,
    /// The reason, as text.
    Because(String),
    /// The keyboard covers it.
    UnderKeyboard,
    Failed(Failure),
}

impl TargetError {
    fn failure(self, target: &Target) -> Failure {
        match self {
            Self::Unknown => not_found(target, None),
            Self::Because(reason) => missed(target, reason),
            Self::UnderKeyboard => {
                let reason = HiddenReason::UnderKeyboard;
                missed(target, format!("it is {}; {}", reason.reason(), reason.next_step()))
            }
            Self::Failed(failure) => failure,
        }
    }
}

impl From<Failure> for TargetError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Nothing visible matches; a hidden element may.
fn hidden_target(hidden: Option<(usize, HiddenReason)>) -> TargetError {
    match hidden {
        None => TargetError::Unknown,
        Some((_, HiddenReason::UnderKeyboard)) => TargetError::UnderKeyboard,
        Some((_, reason)) => {
            let (reason, next) = (reason.reason(), reason.next_step());
            TargetError::Because(format!("it exists but is not visible: {reason}; {next}"))
        }
    }
}

/// A tap on a node of a snapshot.
///
/// # Errors
/// Why the tap would not reach the node.
fn hit(
    snapshot: &Arc<Snapshot>,
    node: usize,
    numbers: RefVisibility,
) -> Result<TapResult, TargetError> {
    if snapshot.showing[node] == Visibility::Hidden(HiddenReason::UnderKeyboard) {
        return Err(TargetError::UnderKeyboard);
    }
    let at = snapshot.tap_point(node, numbers).map_err(TargetError::Because)?;
    Ok(TapResult { at, snapshot: Arc::clone(snapshot), node, of: 1 })
}

pub(super) fn query(criteria: &ElementSelector) -> Query<'_> {
    let ElementSelector { text, id, description, class, clickable, enabled, exact } = criteria;
    let flags = FlagFilter {
        clickable: clickable.then_some(true),
        enabled: enabled.then_some(true),
        ..FlagFilter::default()
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

fn missed(target: &Target, reason: String) -> Failure {
    not_found(target, Some(reason))
}

fn not_found(target: &Target, reason: Option<String>) -> Failure {
    Cause::ElementNotFound { sought: target.to_string(), reason }.into()
}
