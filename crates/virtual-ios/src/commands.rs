//! What each command does. A file for each subject; this one checks the session and finds elements
//! that clients name.
//!
//! What is not handled here is `unknown command`, as from a WebDriverAgent without that route.

mod alert;
mod app;
mod capabilities;
mod device;
mod element;
mod gesture;
mod screen;
mod session;

use serde_json::Value;
use thumbwire_virtual_phone::Rect;
use thumbwire_webdriver::{
    Command, ElementId, ErrorCode, IncomingCommand, SessionCommand, WebDriverError,
};

use crate::latency;
use crate::phone::{State, VirtualIphone};
use crate::tree::{Element, Snapshot};

/// What a command responds with.
type Reply = Result<Value, WebDriverError>;

impl VirtualIphone {
    /// Performs a command.
    pub(crate) async fn perform(&self, incoming: IncomingCommand) -> Reply {
        let IncomingCommand { session, command } = incoming;
        let current = self.with(|phone| phone.session.as_ref().map(|session| session.id.clone()));
        if session.is_some() && session != current {
            return Err(refuse(ErrorCode::InvalidSessionId, "Session does not exist"));
        }
        if !matches!(command, Command::Session(SessionCommand::Status)) {
            self.run_work(latency::COMMAND).await;
        }
        match command {
            Command::Session(command) => self.session_command(command).await,
            Command::Element(command) => self.element_command(command).await,
            Command::Screen(command) => self.screen_command(command).await,
            Command::Gesture(command) => self.gesture_command(command).await,
            Command::App(command) => self.app_command(command).await,
            Command::Device(command) => self.device_command(command).await,
        }
    }

    /// A tree, which takes its time.
    async fn snapshot(&self) -> Snapshot {
        self.run_work(latency::TREE).await;
        self.world(Snapshot::take)
    }

    /// An element that the client found before, as it is now.
    fn element(&self, id: &ElementId) -> Result<Element, WebDriverError> {
        self.with(|phone| {
            let snapshot = Snapshot::take(&mut phone.world);
            let at = resolve(phone, &snapshot, id)?;
            Ok(snapshot.elements[at].clone())
        })
    }

    /// The bounds of an element in pixels, or of the app in front.
    fn bounds_of(&self, id: Option<&ElementId>) -> Result<Rect, WebDriverError> {
        match id {
            Some(id) => self.element(id).map(|element| element.bounds),
            None => Ok(self.with(|phone| phone.world.display().bounds())),
        }
    }
}

/// Where an element that the client found before is in a tree.
fn resolve(phone: &State, snapshot: &Snapshot, id: &ElementId) -> Result<usize, WebDriverError> {
    let session = phone.session.as_ref();
    let Some(known) = session.and_then(|session| session.locate(id, snapshot)) else {
        let message = format!(
            "The element identified by \"{id}\" is either not present or it has expired from the internal cache. Try to find it again"
        );
        return Err(refuse(ErrorCode::StaleElementReference, message));
    };
    known.ok_or_else(|| {
        let message = format!("The previously found element \"{id}\" is not present in the current view anymore. Make sure the application UI has the expected state");
        refuse(ErrorCode::StaleElementReference, message)
    })
}

fn refuse(code: ErrorCode, message: impl Into<String>) -> WebDriverError {
    WebDriverError::new(code, message)
}

/// The error for what this phone has no route for.
fn unknown(command: impl Into<Command>) -> WebDriverError {
    let route = command.into().route();
    let path = route.paths.first().copied().unwrap_or_default();
    let message = format!("Unhandled endpoint: {} {path}", route.method.as_str());
    refuse(ErrorCode::UnknownCommand, message)
}
