//! Phones whose sessions are on other computers.
//!
//! A phone's refs, caches and leases are kept where the phone is. An action for such a phone passes
//! through this session to that one, with its call; the outcome comes back as it is. Which phone a
//! client has selected is known here.

use async_trait::async_trait;
use thumbwire_device::Identity;

use super::{Session, SessionCall};
use crate::action::{Action, Call, Cause, ClientId, Failure, ListedDevice, Outcome, Scope};
use crate::artifacts::{Folder, PendingFile};
use crate::input_files::InputFile;

/// The phones of other computers.
#[async_trait]
pub trait RemotePhones: Send + Sync {
    /// Those that are there now, in any state, by the ids that [`RemotePhones::owns`] knows.
    async fn list(&self) -> Vec<ListedDevice>;

    /// Whether the phone with this id is one of them, or was.
    fn owns(&self, id: &str) -> bool;

    /// Performs an action on the phone with this id, as
    /// [`Perform::perform`](crate::action::Perform::perform) does, with these files of this
    /// computer.
    async fn perform(
        &self,
        device: &str,
        call: &Call,
        action: Action,
        files: &FilesHere<'_>,
    ) -> Result<Outcome, Failure>;

    /// A client has left: what it has started there ends.
    async fn client_left(&self, client: &ClientId);
}

/// The files of this computer that an action for such a phone reads, and those that it leaves.
pub struct FilesHere<'a>(&'a Session);

impl FilesHere<'_> {
    /// Opens a file that may be sent.
    ///
    /// # Errors
    /// If there is none of this name, or no folder for such files.
    pub async fn open(&self, path: &str) -> Result<InputFile, Failure> {
        self.0.input_file(path).await
    }

    /// Begins a file that is kept here.
    ///
    /// # Errors
    /// If this session keeps no files, or the system refuses.
    pub fn begin(&self, folder: Folder, name: &str) -> Result<PendingFile, Failure> {
        let begun = self.0.files.files()?.begin(folder, name);
        begun.map_err(|error| Cause::Refused { reason: format!("failed to {error}") }.into())
    }
}

impl Session {
    /// All phones that providers list, of this computer first.
    pub(super) async fn listed_everywhere(&self) -> Vec<ListedDevice> {
        let phones = &self.connections.phones;
        let Some(remote) = &self.remote else { return phones.list().await };
        let (mut listed, others) = tokio::join!(phones.list(), remote.list());
        listed.extend(others.into_iter().filter(|phone| phones.is_allowed(&phone.id)));
        listed
    }

    /// Whether the phone with this id is another computer's.
    pub(super) fn is_remote(&self, id: &str) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.owns(id))
    }
}

impl SessionCall<'_> {
    /// The outcome of an action for a phone of another computer; `None` if it is for one of this
    /// computer, or for none.
    pub(super) async fn on_another_computer(
        &self,
        action: &Action,
    ) -> Option<Result<Outcome, Failure>> {
        let remote = self.session.remote.as_ref()?;
        let device = match action {
            Action::SelectDevice { device, .. } => Some(device.clone()),
            Action::ListDevices { .. } | Action::SelectDefaultDevice => None,
            action if self.device_of_call().is_some() || !action.is_for_a_phone() => {
                self.device_of_call()
            }
            // The only phone there is may be one of them.
            _ => match self.chosen_id().await {
                Ok(id) => Some(id),
                Err(failure) => return Some(Err(failure)),
            },
        };
        let device = device.filter(|id| remote.owns(id))?;
        if !self.session.connections.phones.is_allowed(&device) {
            return Some(Err(Cause::DeviceNotAllowed { device }.into()));
        }
        if matches!(action, Action::StartMonitor { file: Some(_), .. }) {
            let reason =
                "a log that grows stays on the computer that has the phone: leave the file out";
            return Some(Err(Cause::Refused { reason: reason.into() }.into()));
        }
        self.call.state.found(&device);
        if action.scope() == Scope::Act {
            let _ = self.sent.set(());
        }
        let files = FilesHere(self.session);
        let outcome = remote.perform(&device, self.call, action.clone(), &files).await;
        if outcome.is_ok() && matches!(action, Action::SelectDevice { .. }) {
            self.set_selected_device(&device);
        }
        Some(outcome)
    }

    /// Selects the phone with this id, which answers, here or on another computer.
    pub(super) async fn select(&self, id: &str) -> Result<Identity, Failure> {
        let action = Action::SelectDevice { device: id.to_owned(), platform: None };
        let outcome = match self.on_another_computer(&action).await {
            Some(outcome) => outcome?,
            None => self.choose(id, None).await?,
        };
        Ok(outcome.try_into()?)
    }
}
