//! Turning the screen (`POST /orientation`).
//!
//! UiAutomator2 freezes the rotation; WebDriverAgent pretends that the phone was turned
//! (FBOrientationCommands.m).

use async_trait::async_trait;
use thumbwire_webdriver::{Orientation as ServerOrientation, ScreenCommand};

use super::WebDriverPhone;
use super::client::Operation;
use crate::{DisplayControl, Error, Foreground, Orientation, RotationOwner};

const SET: Operation = Operation::new("set the orientation", "setting the orientation");

impl WebDriverPhone {
    async fn turn(&self, orientation: Orientation) -> Result<(), Error> {
        let orientation = match orientation {
            Orientation::Portrait => ServerOrientation::Portrait,
            Orientation::Landscape => ServerOrientation::Landscape,
        };
        match self.client.act(SET, ScreenCommand::SetOrientation { orientation }).await {
            // XCTest: the interface has not followed. UiAutomator2 waits for it too.
            Err(failure) if failure.mentions(&["Unable To Rotate", "cannot be rotated"]) => {
                let text = failure.excerpt();
                Err(SET.refused(format!("the app in front may not have this orientation ({text})")))
            }
            done => Ok(done.map(drop)?),
        }
    }
}

#[async_trait]
impl DisplayControl for WebDriverPhone {
    async fn orientation(&self) -> Result<Orientation, Error> {
        self.read_orientation().await
    }

    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error> {
        let before = self.read_orientation().await?;
        self.rotation.turn(owner, before, self.turn(orientation)).await
    }

    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error> {
        self.rotation.restore(turned, |before| self.turn(before)).await
    }

    async fn unlock(&self) -> Result<Foreground, Error> {
        self.unlock_screen().await
    }
}
