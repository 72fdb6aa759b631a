//! The messages of W3C WebDriver, WebDriverAgent and Appium from both ends: a client that drives a phone, and a server that
//! plays a WebDriverAgent.
//!
//! | a client | a server |
//! |---|---|
//! | writes [`Command`]s as [`Request`]s | reads them: [`Command::parse`] |
//! | reads responses: [`parse_response`], [`Response`] | writes them: [`ResponseFormat`] |
//! | asks for [`Capabilities`]: [`NewSession`] | selects them: [`NewSession::select`] |
//! | reads sources: [`parse_xml_source`], [`parse_android_source`] | writes them: [`write_xml_source`], [`write_json_source`] |
//! | | finds elements in sources: [`find_by_xpath`] |
//! | | both: [`ErrorCode`], [`WebDriverError`], [`ElementId`], [`SessionId`] |
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
//! No I/O, clocks or async: the caller sends requests, and keeps the limits on their size and time. What a session, an
//! element or an app is to the product is the driver's business. Names such as FBElementCommands.m are files of
//! WebDriverAgent's source.

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
mod source;
mod timeouts;
mod values;
mod xpath;

pub use actions::{InputItems, InputSource, KeyItem, Origin, PointerItem, PointerType, finger_tap};
pub use capabilities::{Capabilities, CapabilityRules, NewSession, RequestedCapabilities};
pub use command::{
    AppCommand, AppName, Appearance, Command, DeviceCommand, ElementCommand, GestureCommand,
    IncomingCommand, KeyPress, Method, PickerOrder, Request, Route, ScreenCommand, Scroll,
    SessionCommand, SessionScope,
};
pub use error::{ErrorCode, WebDriverError};
pub use id::{ELEMENT_KEY, ElementId, OLD_ELEMENT_KEY, SessionId};
pub use locator::{Locator, Strategy, TypedText};
pub use mobile::{AppOperation, AppiumDriver, MobileCommand, Script};
pub use response::{
    ActiveApp, AppState, BatteryInfo, DeviceInfo, NewSessionResponse, Response, ResponseError,
    ResponseFormat, ScreenInfo, ServerStatus, parse_response,
};
pub use source::{
    AndroidNode, AndroidSource, MAX_DEPTH, MAX_NODES, SourceError, SourceNode, SourceOptions,
    parse_android_source, parse_xml_source, write_json_source, write_xml_source,
};
pub use timeouts::{TimeLimit, Timeouts};
pub use values::{Base64, Direction, NameList, Orientation, Point, Rect, Size, SourceFormat};
pub use xpath::{XPathDocument, find_by_xpath};
