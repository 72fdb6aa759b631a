//! Turning the screen (FBOrientationCommands.m).
//!
//! WebDriverAgent does not turn the phone but pretends that it was turned. What was before is remembered here: iOS has no
//! place for it, and forgets the pretence when WebDriverAgent ends.

use async_trait::async_trait;
use thumbwire_base::lock;
use thumbwire_webdriver::{Orientation as Turn, ScreenCommand};

use super::Ios;
use crate::webdriver::{Operation, unreadable};
use crate::{Error, Orientation, OrientationControl, RotationOwner};

const READ: Operation = Operation::new("tell the orientation", "reading the orientation");
const SET: Operation = Operation::new("set the orientation", "setting the orientation");

/// Who turned the screen, and how it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rotation {
    owner: String,
    before: Orientation,
}

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
        let is_new = {
            let mut rotation = lock(&self.rotation);
            let is_new = rotation.is_none();
            rotation.get_or_insert_with(|| Rotation { owner: owner.to_owned(), before });
            is_new
        };
        let turned = self.turn(orientation).await;
        if is_new && matches!(turned, Err(Error::Refused { .. } | Error::Unsupported { .. })) {
            *lock(&self.rotation) = None;
        }
        turned
    }

    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error> {
        let rotation = lock(&self.rotation).clone();
        let Some(rotation) = rotation.filter(|rotation| turned.includes(&rotation.owner)) else {
            return Ok(false);
        };
        self.turn(rotation.before).await?;
        let mut kept = lock(&self.rotation);
        if *kept == Some(rotation) {
            *kept = None;
        }
        Ok(true)
    }
}
