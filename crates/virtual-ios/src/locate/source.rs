//! A part of a snapshot as the page source that an XPath is about.

use std::borrow::Cow;

use thumbwire_webdriver::xpath::XPathDocument;

use super::attribute::attribute;
use crate::tree::Snapshot;

/// The attributes of elements in WebDriverAgent's XML (FBXPath.m).
const NAMES: [&str; 15] = [
    "type",
    "value",
    "name",
    "label",
    "enabled",
    "visible",
    "accessible",
    "focused",
    "x",
    "y",
    "width",
    "height",
    "index",
    "placeholderValue",
    "traits",
];

/// An element of a snapshot and all inside it.
pub(super) struct PageSource<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) root: usize,
}

impl XPathDocument for PageSource<'_> {
    fn root(&self) -> usize {
        self.root
    }

    fn parent(&self, of: usize) -> Option<usize> {
        self.snapshot.elements[of].parent.filter(|_| of != self.root)
    }

    fn children(&self, of: usize) -> &[usize] {
        &self.snapshot.elements[of].children
    }

    fn name(&self, of: usize) -> Cow<'_, str> {
        Cow::Owned(format!("XCUIElementType{}", self.snapshot.elements[of].kind))
    }

    fn attribute_names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn attribute(&self, of: usize, name: &str) -> Option<String> {
        attribute(self.snapshot, of, name).map(|value| value.to_text())
    }
}
