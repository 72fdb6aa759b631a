//! The messages of W3C WebDriver, WebDriverAgent and Appium from both ends: a client that drives a
//! phone, and, behind the feature `server`, a server that plays a WebDriverAgent.
//!
//! | a client | a server |
//! |---|---|
//! | writes [`Command`]s as [`Request`]s | reads them: [`Command::parse`] |
//! | reads responses: [`parse_response`], [`Response`] | writes them: [`ResponseFormat`] |
//! | asks for [`Capabilities`]: [`NewSession`] | reads the request |
//! | | both: [`ErrorCode`], [`WebDriverError`], [`ElementId`], [`SessionId`] |
//!
//! The page sources of iPhones are read by the product's driver and written by the virtual iPhone.
//!
//! ```
//! use thumbwire_webdriver::{Command, ElementCommand, Locator, ResponseFormat, SessionId, Strategy, parse_response};
//! use thumbwire_webdriver::ElementId;
//!
//! let session = SessionId::new("S").expect("it is an id");
//! let locator = Locator { using: Strategy::AccessibilityId, value: "Wi-Fi".into() };
//! let command = Command::from(ElementCommand::Find { locator });
//! let request = command.request(&session);
//! assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/session/S/element"));
//!
//! let body = request.body.expect("a POST has a body").to_string();
//! let incoming = Command::parse("POST", &request.path, body.as_bytes())?;
//! assert_eq!((incoming.command, incoming.session.as_ref()), (command, Some(&session)));
//!
//! let element = ElementId::new("E-1").expect("it is an id");
//! let body = ResponseFormat::WebDriverAgent.success(Some(&session), element.to_reference());
//! assert_eq!(parse_response(200, body.to_string().as_bytes())?.element()?, element);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No I/O, clocks or async: the caller sends requests, and limits their size and time. The driver
//! decides what sessions, elements and apps mean to the product. Names such as
//! `FBElementCommands.m` are source files of WebDriverAgent.

mod actions;
mod capabilities;
mod command;
mod error;
mod field;
mod id;
mod locator;
mod mobile;
mod path;
mod response;
#[cfg(feature = "server")]
mod server;
mod timeouts;
mod values;
#[cfg(feature = "server")]
pub mod xpath;

pub use actions::{InputItems, InputSource, KeyItem, Origin, PointerItem, PointerType, finger_tap};
pub use capabilities::{Capabilities, NewSession, RequestedCapabilities};
pub use command::{
    AppCommand, Appearance, Command, DeviceCommand, ElementCommand, GestureCommand, KeyPress,
    Method, Request, Route, ScreenCommand, Scroll, SessionCommand, SessionScope,
};
pub use error::{ErrorCode, WebDriverError};
pub use id::{ELEMENT_KEY, ElementId, OLD_ELEMENT_KEY, SessionId};
pub use locator::{Locator, Strategy, TypedText};
pub use mobile::{AppOperation, AppiumDriver, MobileCommand, Script};
pub use response::{
    ActiveApp, AppState, BatteryInfo, DeviceInfo, NewSessionResponse, Response, ResponseError,
    ScreenInfo, ServerStatus, parse_response,
};
#[cfg(feature = "server")]
pub use server::{IncomingCommand, ResponseFormat};
pub use timeouts::{TimeLimit, Timeouts};
pub use values::{Base64, Direction, NameList, Orientation, Point, Rect, Size, SourceFormat};
