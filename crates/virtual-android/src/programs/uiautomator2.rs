//! The UiAutomator2 servers of the field as this phone implements them: the HTTP server that Appium
//! instruments, and the one that Python's `uiautomator2` starts from `u2.jar`.
//!
//! Start with [`appium::run`], which `am instrument` calls, and [`python::run`], which
//! `app_process` calls. Both answer HTTP (`http`) on a port inside the phone, look at the screen
//! through a [`tree::Tree`], find nodes with `selector` or by XPath, and touch it with `gestures`.
//! Their wires come from the clients' packages on npm and PyPI and from AOSP's UiAutomator; no code
//! of the servers runs or is copied here. A request that is not implemented gets an error that says
//! so.
//!
//! ```text
//!  adb forward ─ tcp:6790 ─ http ─ appium ─┐              ┌─ selector ◄─ java (new UiSelector()…)
//!                                          ├─► tree ◄─────┤
//!  adb forward ─ tcp:9008 ─ http ─ python ─┘              └─ find_by_xpath
//!                                          └─► gestures ──► World::finger
//! ```

pub(super) mod appium;
mod gestures;
mod http;
mod java;
pub(super) mod python;
mod selector;
mod source;
mod text;
mod tree;
