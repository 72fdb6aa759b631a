//! What keeps a run on its way: it verifies effects, repairs, aims calls again and notices loops.
//!
//! [`verify`] compares an action's effect with its purpose, [`follow_up`] reads the screen for it
//! and repairs; [`retarget`] and [`control_name`] see that a call reaches the control that it
//! means; [`loop_detector`] sees steps in a circle. All of them compare screens as [`screen_state`]
//! has them.

pub(crate) mod control_name;
pub(crate) mod effect;
pub(crate) mod follow_up;
pub(crate) mod loop_detector;
pub(crate) mod retarget;
pub(crate) mod screen_state;
pub(crate) mod screenshot_need;
pub(crate) mod verify;
