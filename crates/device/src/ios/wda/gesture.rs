//! Gestures, in points.

use thumbwire_webdriver::GestureCommand;

use super::Ios;
use crate::webdriver::{Operation, USUAL, touch_sources};
use crate::{Error, Gesture};

const TOUCH: Operation = Operation::new("touch the screen", "touching the screen");

impl Ios {
    pub(super) async fn perform(&self, gesture: Gesture) -> Result<(), Error> {
        let scale = self.scale().await?;
        let (sources, lasting) = touch_sources(gesture, scale);
        let command = GestureCommand::Perform { sources };
        self.wda.act_within(TOUCH, command, USUAL + lasting).await.map(drop)
    }
}
