//! What the screen shows: sources, pictures, sizes, orientation, alerts.

use super::route::commands;
use crate::locator::TypedText;
use crate::values::{NameList, Orientation, SourceFormat};

commands! {
    /// Commands about the screen. Sources: W3C WebDriver, sections 13, 16 and 17;
    /// FBDebugCommands.m, FBScreenshotCommands.m, FBOrientationCommands.m, FBAlertViewCommands.m.
    ScreenCommand as Screen {
        /// Asks for the elements as text. W3C WebDriver and Appium know no query and have XML.
        Source {
            /// The form, which is XML unless given.
            format: Option<SourceFormat> = query("format"),
            /// Attributes to leave out, which is faster: `visible`, `accessible`.
            excluded_attributes: Option<NameList> = query("excluded_attributes"),
            /// An element to put around the XML: Appium asks for `AppiumAUT`.
            scope: Option<String> = query("scope"),
        } => Get Optional "/source";
        /// Asks for the accessible elements as JSON. WebDriverAgent only.
        AccessibleSource => Get Optional "/wda/accessibleSource";
        /// Takes a picture: a PNG in Base64, in pixels; WebDriverAgent's may be a JPEG.
        Screenshot => Get Optional "/screenshot";
        /// Asks for the window's [`Rect`](crate::Rect).
        WindowRect => Get Required "/window/rect";
        /// Asks for the window's [`Size`](crate::Size).
        WindowSize => Get Optional "/window/size" | "/window/current/size";
        /// Asks how large the screen is, and how many pixels a point has:
        /// [`ScreenInfo`](crate::ScreenInfo).
        Screen => Get Optional "/wda/screen";
        /// Asks for the [`Orientation`] of what is shown.
        GetOrientation => Get Optional "/orientation" | "/appium/device/orientation";
        /// Turns the phone.
        SetOrientation {
            /// Which way.
            orientation: Orientation = field("orientation"),
        } => Post Optional "/orientation" | "/appium/device/orientation";
        /// Asks for the rotation: an object with `x`, `y` and `z` in degrees.
        GetRotation => Get Optional "/rotation" | "/appium/device/rotation";
        /// Turns the phone. WebDriverAgent takes `z` of 0, 90, 180 and 270 only.
        SetRotation {
            /// Degrees.
            x: f64 = field("x"),
            /// Degrees.
            y: f64 = field("y"),
            /// Degrees.
            z: f64 = field("z"),
        } => Post Optional "/rotation" | "/appium/device/rotation";
        /// Asks how the phone is held: such as `UIDeviceOrientationFaceUp`. WebDriverAgent only.
        DeviceOrientation => Get Optional "/wda/deviceOrientation";
        /// Asks for an alert's text, or fails with `no such alert`.
        AlertText => Get Optional "/alert/text";
        /// Types into an alert's field.
        SetAlertText {
            /// What to type.
            text: TypedText = body,
        } => Post Required "/alert/text";
        /// Accepts an alert.
        AcceptAlert {
            /// The label of the button to press; WebDriverAgent chooses one unless given.
            button: Option<String> = field("name"),
        } => Post Optional "/alert/accept";
        /// Dismisses an alert.
        DismissAlert {
            /// The label of the button to press; WebDriverAgent chooses one unless given.
            button: Option<String> = field("name"),
        } => Post Optional "/alert/dismiss";
        /// Asks for the labels of an alert's buttons. WebDriverAgent only.
        AlertButtons => Get Required "/wda/alert/buttons";
    }
}
