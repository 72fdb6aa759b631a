//! Turning the screen (FBOrientationCommands.m).
//!
//! WebDriverAgent does not turn the phone but pretends that it was turned.

use async_trait::async_trait;
use thumbwire_webdriver::{Orientation as Turn, ScreenCommand};

use super::Ios;
use crate::webdriver::{Operation, unreadable};
use crate::{Error, Orientation, OrientationControl, RotationOwner};

const READ: Operation = Operation::new("tell the orientation", "reading the orientation");
const SET: Operation = Operation::new("set the orientation", "setting the orientation");

impl Ios {
    pub(super) async fn read_orientation(&self) -> Result<Orientation, Error> {
        let response = self.wda.read(READ, ScreenCommand::GetOrientation).await?;
        if response.value.is_null() {
            // XCTest does not know it while the app starts.
            let size = self.read_size().await?;
            let is_wide = size.width > size.height;
            return Ok(if is_wide { Orientation::Landscape } else { Orientation::Portrait });
        }
        match response.orientation() {
            Ok(Turn::Portrait | Turn::PortraitUpsideDown) => Ok(Orientation::Portrait),
            Ok(Turn::Landscape | Turn::LandscapeRight) => Ok(Orientation::Landscape),
            Err(error) => Err(unreadable(&ScreenCommand::GetOrientation.into(), &error)),
        }
    }

    async fn turn(&self, orientation: Orientation) -> Result<(), Error> {
        let orientation = match orientation {
            Orientation::Portrait => Turn::Portrait,
            Orientation::Landscape => Turn::Landscape,
        };
        match self.wda.act(SET, ScreenCommand::SetOrientation { orientation }).await {
            // "Unable To Rotate Device": the interface has not followed.
            Err(Error::Failed { text, .. }) if text.contains("Unable To Rotate") => {
                Err(SET.refused(format!("the app in front may not have this orientation ({text})")))
            }
            done => done.map(drop),
        }
    }
}

#[async_trait]
impl OrientationControl for Ios {
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
}
