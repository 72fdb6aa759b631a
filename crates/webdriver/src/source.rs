//! Element sources: the text in which a server describes the screen, as a tree of typed nodes and back.
//!
//! | text | reader | writer |
//! |---|---|---|
//! | XCUITest's XML | [`parse_xml_source`] | [`write_xml_source`] |
//! | WebDriverAgent's JSON | | [`write_json_source`] |
//! | UiAutomator2's XML | [`parse_android_source`] | |
//!
//! Readers do not recurse, and stop at [`MAX_DEPTH`] and [`MAX_NODES`], so that no text can overflow the stack of those
//! who use the tree, or take more memory than a screen can need.

mod android;
mod json_writer;
mod xml;
mod xml_tree;
mod xml_writer;

pub use android::{AndroidNode, AndroidSource, parse_android_source};
pub use json_writer::write_json_source;
pub use xml::parse_xml_source;
pub use xml_writer::write_xml_source;

use crate::values::Rect;

/// Limit on the nesting of elements. XCTest's own is below 70.
pub const MAX_DEPTH: usize = 256;

/// Limit on the number of elements: some 20 MB of nodes.
pub const MAX_NODES: usize = 50_000;

/// Why a source cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the source at byte {offset}: {problem}")]
pub struct SourceError {
    /// Where the problem is.
    pub offset: usize,
    /// What it is.
    pub problem: String,
}

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

/// The type without `XCUIElementType`, or without `UIA` of UIAutomation, which WebDriverAgent had before 2017.
fn short_type(name: &str) -> &str {
    name.strip_prefix(TYPE_PREFIX).or_else(|| name.strip_prefix("UIA")).unwrap_or(name)
}

/// Reads `true`, `false`, `1` or `0`.
fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Splits what WebDriverAgent joins with `, `.
fn split_traits(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Removes what is only around the tree: elements and objects without a type of their own and with one child.
fn unwrap_root(mut root: SourceNode, is_wrapper: impl Fn(&SourceNode) -> bool) -> SourceNode {
    while is_wrapper(&root) && root.children.len() == 1 {
        root = root.children.swap_remove(0);
    }
    root
}

/// Whether XCTest gives elements of the type a placeholder (FBElementHelpers.m).
fn has_placeholder(element_type: &str) -> bool {
    matches!(element_type, "TextField" | "SecureTextField" | "SearchField" | "TextView")
}
