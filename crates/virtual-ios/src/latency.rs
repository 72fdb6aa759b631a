//! How long things take on the phone: on a current one, and on one of 2016.
//!
//! The figures are estimates for a good current iPhone over USB, and for an iPhone 7; a real one
//! varies.

use thumbwire_virtual_phone::time::Work;

/// A command that asks the phone little.
pub(crate) const COMMAND: Work = Work::new(5, 20);

/// Creating a session.
pub(crate) const SESSION: Work = Work::new(200, 900);

/// A tree of the app: a source, or finding elements.
pub(crate) const TREE: Work = Work::new(250, 1_200);

/// A screenshot.
pub(crate) const SCREENSHOT: Work = Work::new(150, 500);

/// A touch, beyond the time that the fingers take.
pub(crate) const TOUCH: Work = Work::new(200, 600);

/// One typed character.
pub(crate) const KEY: Work = Work::new(20, 60);

/// Starting an app that does not run.
pub(crate) const LAUNCH: Work = Work::new(800, 3_000);

/// Bringing an app to the front.
pub(crate) const ACTIVATE: Work = Work::new(400, 1_200);
