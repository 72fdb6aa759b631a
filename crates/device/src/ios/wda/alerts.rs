//! Alerts: dialogs of the app or the system (FBAlertViewCommands.m). They are in the tree too, where their buttons can be
//! tapped; these commands also answer alerts that belong to no app.

use thumbwire_webdriver::ScreenCommand;

use super::Ios;
use crate::Error;
use crate::webdriver::{Operation, unreadable};

const READ: Operation = Operation::new("read the alert", "reading the alert");
const ANSWER: Operation = Operation::new("answer the alert", "answering the alert");

impl Ios {
    /// The alert's text; `None` if no alert is open.
    ///
    /// # Errors
    /// The phone is not reached, or its response cannot be read.
    pub async fn alert_text(&self) -> Result<Option<String>, Error> {
        match self.wda.read(READ, ScreenCommand::AlertText).await {
            Ok(response) => {
                let text = response.text();
                text.map(Some).map_err(|error| unreadable(&ScreenCommand::AlertText.into(), &error))
            }
            Err(Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The labels of the alert's buttons, in its order; empty if no alert is open.
    ///
    /// # Errors
    /// As above.
    pub async fn alert_buttons(&self) -> Result<Vec<String>, Error> {
        match self.wda.read(READ, ScreenCommand::AlertButtons).await {
            Ok(response) => response
                .texts()
                .map_err(|error| unreadable(&ScreenCommand::AlertButtons.into(), &error)),
            Err(Error::Refused { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Taps the button with this label; without one, the button that accepts.
    ///
    /// # Errors
    /// [`Error::Refused`] if no alert is open.
    pub async fn accept_alert(&self, button: Option<&str>) -> Result<(), Error> {
        let button = button.map(str::to_owned);
        self.wda.act(ANSWER, ScreenCommand::AcceptAlert { button }).await.map(drop)
    }

    /// Taps the button that cancels.
    ///
    /// # Errors
    /// [`Error::Refused`] if no alert is open.
    pub async fn dismiss_alert(&self) -> Result<(), Error> {
        self.wda.act(ANSWER, ScreenCommand::DismissAlert { button: None }).await.map(drop)
    }
}
