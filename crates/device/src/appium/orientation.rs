//! Turning the screen (`POST /orientation`).
//!
//! How the screen was before is remembered here, not on the phone: UiAutomator2 freezes the rotation and XCUITest pretends that
//! the phone was turned, and both forget it with their session.

use async_trait::async_trait;
use thumbwire_base::lock;
use thumbwire_webdriver::{Orientation as Turn, ScreenCommand};

use super::Appium;
use crate::webdriver::Operation;
use crate::{Error, Orientation, OrientationControl, RotationOwner};

const SET: Operation = Operation::new("set the orientation", "setting the orientation");

/// Who turned the screen, and how it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rotation {
    owner: String,
    before: Orientation,
}

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
