//! The conversation with a server of the WebDriver protocol, for every driver that has one: `ios::Ios` (WebDriverAgent) and
//! `appium::Appium`.
//!
//! `client` keeps the session, maps errors and repeats what only reads; `http` sends requests; `gesture` writes gestures as W3C
//! actions, `typing` splits long texts, `picture` reads screenshots, `rotation` remembers who turned the screen, `secrets` keeps access keys
//! out of errors, `health` has the health
//! checks. What a server is called and which session it gets is in a
//! [`ServerProfile`] that the driver brings. The commands themselves are the drivers' business.

mod client;
mod gesture;
mod health;
mod http;
mod picture;
mod rotation;
mod secrets;
mod typing;

pub(crate) use client::{
    Effect, Operation, STATUS_LIMIT, SessionPlan, USUAL, WebDriverClient, unreadable,
};
pub(crate) use gesture::touch_sources;
pub(crate) use health::health;
pub(crate) use http::{Connect, HttpClient, LONGEST, ServerProfile};
pub(crate) use picture::read_picture;
pub(crate) use rotation::RotationMemory;
pub(crate) use typing::{PIECE, Pace, SLOWEST, after_typing, check_text, type_in_pieces};
