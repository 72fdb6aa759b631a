//! The vocabulary of a session: actions, outcomes and failures.
//!
//! Every caller (an MCP client, the agent, the command line) uses [`Perform::perform`], and every
//! layer between a caller and the session (the trace, the agent's secrets) implements [`Perform`]
//! too. It takes a [`Call`] and an [`Action`] and returns an [`Outcome`] or a [`Failure`]. Tool
//! names and JSON belong to [`crate::toolset`].

mod app_tools;
mod call;
mod client;
mod device_path;
mod display;
mod failure;
mod file_names;
mod listed_device;
mod outcome;
mod package_refusal;
mod table;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use thumbwire_device::{AppId, FormatPreference, TreeDetail, millis};

pub use crate::snapshot::{ControlNumber, Controls, ElementId, ElementRef};
pub use app_tools::{
    AppTool, AppToolCall, AppToolFinding, AppToolPhase, AppToolProtocol, AppToolReply,
    AppToolResult, AppTools, Catalog, Parameter, TrustStatus,
};
pub use call::{
    AskBeside, AskUser, Call, CallState, NoProgress, NoUser, PageAct, PageActEnd, Progress,
    Question, SecretPage, SecretPages, UserAnswer, agrees,
};
pub use client::{ClientId, ClientName, Holder, HolderProcess, Scope};
pub use device_path::{DEVICE_FOLDERS, check_device_path};
pub(crate) use failure::what_they_lack;
pub use failure::{Cause, CauseClass, Failure, NumberedList, UserTurn};
pub use file_names::{FileNameError, MAX_NAME, check_name};
pub use listed_device::{DeviceKind, ListedDevice};
pub use outcome::{
    CrashList, DefaultDevice, FetchResult, FoundElements, HealthResult, InfoResult, InstalledApp,
    Label, LabelledApps, LaunchResult, LocalFile, LogMonitor, Observation, Outcome, PinchResult,
    PushResult, Readback, RecordingInfo, SavedScreenshot, ScreenshotAndControls,
    ScreenshotAndSnapshot, SelectionReason, SwipeResult, TapResult, TypeResult, UnexpectedOutcome,
};
pub use table::{Action, request};

/// Performs actions.
#[async_trait]
pub trait Perform: Send + Sync {
    /// Performs one action within the call's deadline. What may have happened on the
    /// phone is not sent again.
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure>;
}

/// An action with a result of its own type; [`request`] has one for each.
pub trait Request: Into<Action> + Send {
    /// The result.
    type Output: TryFrom<Outcome, Error = UnexpectedOutcome> + Send;
}

/// [`Perform`] for callers that ask for a certain action.
pub trait TypedPerform: Perform {
    /// Performs the action, as [`Perform::perform`] does, and returns its own result:
    /// `perform.request(&call, request::CurrentApp).await?` is a
    /// [`Foreground`](thumbwire_device::Foreground).
    fn request<R: Request>(
        &self,
        call: &Call,
        request: R,
    ) -> impl Future<Output = Result<R::Output, Failure>> + Send {
        async move { Ok(self.perform(call, request.into()).await?.try_into()?) }
    }
}

impl<P: Perform + ?Sized> TypedPerform for P {}

/// What a server with several clients asks of the session besides calls.
#[async_trait]
pub trait ClientWatch: Send + Sync {
    /// The number of connected phones.
    fn connected_phones(&self) -> usize;

    /// The number of phones that a client has for itself.
    fn leased_phones(&self) -> usize;

    /// A client has left: it ended its session, or its session ended because it was not used. Its
    /// calls that still run are being cancelled; what it has started ends.
    async fn client_left(&self, client: &ClientId);
}

#[async_trait]
impl<P: Perform + ?Sized> Perform for Arc<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        (**self).perform(call, action).await
    }
}

/// A moment of the phone's clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// This long ago.
    #[serde(rename = "ago_ms")]
    Ago(#[serde(with = "millis")] Duration),
    /// At this time of the phone, as [`thumbwire_device::phone_time`] parses it.
    Time(String),
}

/// How to take a snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotOptions {
    /// How much of the tree.
    pub detail: TreeDetail,
    /// The maximum age of a cached snapshot, if no action followed it; zero always asks the phone.
    #[serde(rename = "max_age_ms", with = "millis")]
    pub max_age: Duration,
}

/// A cache of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// The numbered controls.
    Controls,
    /// The list of apps.
    Apps,
    /// The UI tree.
    Tree,
    /// The phone's properties.
    DeviceInfo,
    /// All of them.
    All,
}

/// How a caller names an app to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppSelector {
    /// By its id.
    Id(AppId),
    /// By the name that the launcher shows, or a part of it, or a part of its id. Equal names win
    /// over parts of ids, whole segments between dots over parts of names. Of several apps with the
    /// name none is started.
    Named(String),
    /// By its number in the last [`Action::ListApps`], counted from 1.
    ListIndex(String),
}

/// Selects elements by their properties; all set fields must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementSelector {
    /// Its text contains this, ignoring case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its resource id contains this, case-sensitive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its description contains this, ignoring case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its class contains this, ignoring case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// It is clickable.
    pub clickable: bool,
    /// It is enabled.
    pub enabled: bool,
    /// The strings must be equal to the whole values, case-sensitive.
    pub exact: bool,
}

/// The format and size of a screenshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenshotOptions {
    /// The format.
    pub format: FormatPreference,
    /// The maximum file size in bytes; `None` is unlimited. A larger image is encoded again: first
    /// as asked, then as JPEG of less quality. Its size in pixels stays.
    pub max_bytes: Option<usize>,
    /// Whether to take a new one always. Otherwise one that is up to a second old may be served
    /// again, if no action followed it.
    pub fresh: bool,
}

/// Text to type, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextInput {
    /// The text; a line end is the Enter key.
    pub text: String,
    /// The field to tap first; `None` is the focused field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<Target>,
    /// Whether to clear the field first.
    pub clear: bool,
    /// Whether to press Enter afterwards.
    pub submit: bool,
    /// Whether to type even if no text field has the focus, as into a game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blind: bool,
    /// Whether to tap `into` although it has the focus already, as UFO's servers do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tap_focused: bool,
}

impl TextInput {
    /// This text for the focused field.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Apps by origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppFilter {
    /// Installed by the user.
    User,
    /// Shipped with the phone.
    System,
    /// All.
    All,
}

/// A direction on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are clear")]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    /// The name that the specifications' tools use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    /// The direction with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Up, Self::Down, Self::Left, Self::Right].into_iter().find(|one| one.name() == name)
    }
}

/// When to read the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observe {
    /// At once: the caller wants to see it.
    Now,
    /// As soon as it has settled after an action.
    Settled,
    /// When the condition holds, or this time has passed.
    Until {
        /// The condition.
        condition: WaitCondition,
        /// How long to wait for it.
        #[serde(rename = "timeout_ms", with = "millis")]
        timeout: Duration,
    },
}

/// What a caller waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitCondition {
    /// The element is visible. A ref is one of an earlier list.
    Shown(Target),
    /// The element is not visible.
    Gone(Target),
    /// The app is in front and shows something.
    App(AppId),
    /// Two looks in a row show the same.
    Idle,
}

/// How a caller names an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// By its id in the last list of its kind.
    Listed(ElementId),
    /// By name. With both, the text is used if nothing matches the id.
    Named {
        /// A resource id or a description.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The visible text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// By selector, and its index among the matches, counted from 0.
    Selector {
        /// What it is like.
        selector: ElementSelector,
        /// Its index among the matches.
        index: usize,
    },
}

impl Target {
    /// The element with this resource id or description.
    pub fn id(id: impl Into<String>) -> Self {
        Self::Named { id: Some(id.into()), text: None }
    }

    /// The element with this id in the last list of its kind.
    pub fn listed(id: impl Into<ElementId>) -> Self {
        Self::Listed(id.into())
    }

    /// The element with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Named { id: None, text: Some(text.into()) }
    }
}

impl Action {
    /// A full snapshot of the present screen.
    pub const LOOK: Self =
        Self::Snapshot(SnapshotOptions { detail: TreeDetail::Full, max_age: Duration::ZERO });

    /// The element of the last list that must appear: what a person says of one while recording.
    pub fn awaited_ref(&self) -> Option<ElementRef> {
        match self {
            Self::Observe(Observe::Until {
                condition: WaitCondition::Shown(Target::Listed(ElementId::Ref(id))),
                ..
            }) => Some(*id),
            _ => None,
        }
    }

    /// Whether a hand can do it, or it starts an app: what pages for people may ask for. Everything
    /// else has tools, and permissions of its own.
    pub fn is_by_hand(&self) -> bool {
        matches!(
            self,
            Self::Touch(_)
                | Self::Type(_)
                | Self::Press(_)
                | Self::SetOrientation(_)
                | Self::Unlock
                | Self::Launch(AppSelector::Id(_))
        )
    }
}

#[cfg(test)]
mod tests;
