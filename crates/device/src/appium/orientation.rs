//! Turning the screen (`POST /orientation`).
//!
//! UiAutomator2 freezes the rotation, and XCUITest pretends that the phone was turned.

use async_trait::async_trait;
use thumbwire_webdriver::{Orientation as Turn, ScreenCommand};

use super::Appium;
use crate::webdriver::Operation;
use crate::{Error, Orientation, OrientationControl, RotationOwner};

const SET: Operation = Operation::new("set the orientation", "setting the orientation");

impl Appium {
    async fn turn(&self, orientation: Orientation) -> Result<(), Error> {
        let orientation = match orientation {
            Orientation::Portrait => Turn::Portrait,
            Orientation::Landscape => Turn::Landscape,
        };
        match self.server.act(SET, ScreenCommand::SetOrientation { orientation }).await {
            // XCTest: the interface has not followed. UiAutomator2 waits for it too.
            Err(Error::Failed { text, .. })
                if ["Unable To Rotate", "cannot be rotated"].iter().any(|it| text.contains(it)) =>
            {
                Err(SET.refused(format!("the app in front may not have this orientation ({text})")))
            }
            done => done.map(drop),
        }
    }
}

#[async_trait]
impl OrientationControl for Appium {
    async fn orientation(&self) -> Result<Orientation, Error> {
        self.read_turn().await
    }

    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error> {
        let before = self.read_turn().await?;
        self.rotation.turn(owner, before, self.turn(orientation)).await
    }

    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error> {
        self.rotation.restore(turned, |before| self.turn(before)).await
    }
}
