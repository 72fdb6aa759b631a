//! Finding elements, and what is asked of one or done to it.

use super::route::commands;
use crate::id::ElementId;
use crate::locator::{Locator, TypedText};

commands! {
    /// Commands about elements. Sources: W3C WebDriver, section 12; FBFindElementCommands.m,
    /// FBElementCommands.m.
    ElementCommand as Element {
        /// Finds the first element, or fails with `no such element`.
        Find {
            /// How to find it.
            locator: Locator = body,
        } => Post Required "/element";
        /// Finds all elements; an empty list if there are none.
        FindAll {
            /// How to find them.
            locator: Locator = body,
        } => Post Required "/elements";
        /// Finds the first element inside another.
        FindInside {
            /// The other.
            element: ElementId = path,
            /// How to find it.
            locator: Locator = body,
        } => Post Required "/element/:element/element";
        /// Finds all elements inside another.
        FindAllInside {
            /// The other.
            element: ElementId = path,
            /// How to find them.
            locator: Locator = body,
        } => Post Required "/element/:element/elements";
        /// Finds the cells inside an element that are visible. WebDriverAgent only.
        VisibleCells {
            /// A table or collection.
            element: ElementId = path,
        } => Get Required "/wda/element/:element/getVisibleCells";
        /// Asks for the element that has the keyboard.
        Active => Get Required "/element/active";
        /// Taps the element's middle.
        Click {
            /// The element.
            element: ElementId = path,
        } => Post Required "/element/:element/click";
        /// Empties a text field.
        Clear {
            /// The element.
            element: ElementId = path,
        } => Post Required "/element/:element/clear";
        /// Types into the element, after what it has. A picker wheel takes the option's text, a
        /// slider a number from 0 to 1.
        SetValue {
            /// The element.
            element: ElementId = path,
            /// What to type.
            text: TypedText = body,
            /// Keys per minute, where WebDriverAgent should not use its own; 0 for its own.
            frequency: Option<u64> = field("frequency"),
        } => Post Required "/element/:element/value" | "/appium/element/:element/value";
        /// Asks for the text: the value, or else the label.
        Text {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/text";
        /// Asks for one attribute: a text, a number, a boolean or `null`.
        Attribute {
            /// The element.
            element: ElementId = path,
            /// Such as `label`, `value`, `content-desc`.
            name: String = path,
        } => Get Required "/element/:element/attribute/:name";
        /// Asks for one property of an element in a web context.
        Property {
            /// The element.
            element: ElementId = path,
            /// Such as `value`.
            name: String = path,
        } => Get Required "/element/:element/property/:name";
        /// Asks for the type, such as `XCUIElementTypeButton`.
        Name {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/name";
        /// Asks whether it is visible.
        Displayed {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/displayed";
        /// Asks whether it is enabled.
        Enabled {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/enabled";
        /// Asks whether it is selected.
        Selected {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/selected";
        /// Asks for its [`Rect`](crate::Rect).
        Rect {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/rect";
        /// Asks for its [`Size`](crate::Size). JSON wire protocol.
        Size {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/size";
        /// Asks for its upper left [`Point`](crate::Point). JSON wire protocol.
        Location {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/location";
        /// Takes a picture of it: a PNG in Base64.
        Screenshot {
            /// The element.
            element: ElementId = path,
        } => Get Required "/element/:element/screenshot" | "/screenshot/:element";
        /// Asks whether assistive technologies see it as one thing. WebDriverAgent only.
        Accessible {
            /// The element.
            element: ElementId = path,
        } => Get Required "/wda/element/:element/accessible";
        /// Asks whether something inside it is accessible. WebDriverAgent only.
        AccessibilityContainer {
            /// The element.
            element: ElementId = path,
        } => Get Required "/wda/element/:element/accessibilityContainer";
    }
}
