//! Page sources: the text in which WebDriverAgent describes the screen, written from a tree of
//! nodes.
//!
//! [`write_xml_source`] is XCUITest's XML, [`write_json_source`] WebDriverAgent's JSON.

mod json_writer;
mod xml_writer;

pub use json_writer::write_json_source;
pub use xml_writer::write_xml_source;

use thumbwire_webdriver::Rect;

/// Limit on the nesting of elements. Elements below it are left out; XCTest's own limit is below
/// 70.
pub const MAX_DEPTH: usize = 256;

/// An element of iOS, as XCUITest describes it. What the source leaves out is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceNode {
    /// Such as `Button`: XCTest's type without `XCUIElementType`.
    pub element_type: String,
    /// The identifier, or the label if there is none.
    pub name: Option<String>,
    /// The accessibility identifier alone; only JSON has it.
    pub identifier: Option<String>,
    /// What VoiceOver says.
    pub label: Option<String>,
    /// What a field contains; `1` or `0` for a switch; for other types often the label.
    pub value: Option<String>,
    /// The text that an empty field shows.
    pub placeholder: Option<String>,
    /// Such as `Button` or `Selected`: UIKit's accessibility traits.
    pub traits: Vec<String>,
    /// Whether it reacts.
    pub enabled: Option<bool>,
    /// Whether XCTest believes that it can be seen.
    pub visible: Option<bool>,
    /// Whether assistive technologies see it as one thing.
    pub accessible: Option<bool>,
    /// Whether it has the focus (tvOS) or the keyboard.
    pub focused: Option<bool>,
    /// Whether a touch would reach it; only on request.
    pub hittable: Option<bool>,
    /// In points; what is scrolled away is outside the screen.
    pub rect: Option<Rect>,
    /// Of the app, at its root.
    pub bundle_id: Option<String>,
    /// Of the app, at its root.
    pub process_id: Option<u64>,
    /// Other attributes by name, such as `minValue` and `customActions`.
    pub other: Vec<(String, String)>,
    /// The elements inside it, in XCTest's order.
    pub children: Vec<Self>,
}

/// What a source is to contain: the query of `GET /source`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceOptions {
    /// Attributes to leave out, in any case.
    pub excluded_attributes: Vec<String>,
    /// The name of an element to put around XML. Appium's is `AppiumAUT`.
    pub scope: Option<String>,
}

impl SourceOptions {
    fn includes(&self, attribute: &str) -> bool {
        !self.excluded_attributes.iter().any(|name| name.eq_ignore_ascii_case(attribute))
    }
}

const TYPE_PREFIX: &str = "XCUIElementType";

/// Whether XCTest gives elements of the type a placeholder (FBElementHelpers.m).
fn has_placeholder(element_type: &str) -> bool {
    matches!(element_type, "TextField" | "SecureTextField" | "SearchField" | "TextView")
}
