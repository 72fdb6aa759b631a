//! What the screen shows: pictures, sizes and trees, in pixels of the screenshot.
//!
//! UiAutomator2 counts in pixels. WebDriverAgent counts in points: pixels per point are measured
//! once, by a screenshot and the size of the screen in points, because the screen's scale is wrong
//! on phones that draw at another one (the Plus models, Display Zoom).

use std::time::Duration;

use bytestring::ByteString;
use thumbwire_webdriver::{
    ElementCommand, ElementId, MobileCommand, Rect, Response, ScreenCommand, ScreenInfo,
};
use tokio::time::sleep;

use super::client::{Operation, RequestError, USUAL, if_available};
use super::dialect::{Dialect, SAFE_IOS_DEPTH, set_settings};
use super::picture::read_picture;
use super::{WebDriverPhone, apps, unreadable};
use crate::ios::{points, source};
use crate::{AppId, Error, Foreground, Orientation, Platform, Screenshot, Size, Tree};

const SCREENSHOT: Operation = Operation::new("take a screenshot", "taking a screenshot");
const SIZE: Operation = Operation::new("tell the screen's size", "reading the screen's size");
const SOURCE: Operation = Operation::new("dump the screen", "dumping the screen");
const FOCUS: Operation = Operation::new("tell the focus", "reading the focus");
const SETTINGS: Operation = Operation::new("change its settings", "changing settings");

/// Time limit of a picture or a source: above WebDriverAgent's own (`customSnapshotTimeout`).
const LOOK_LIMIT: Duration = Duration::from_secs(30);

/// The window as it is turned, in the server's unit.
#[derive(Debug, Clone, Copy)]
struct Window {
    width: f64,
    height: f64,
    /// Pixels of a unit, if the server reports them.
    scale: Option<f64>,
}

impl WebDriverPhone {
    /// Screen size in pixels, as the screen is turned.
    pub(super) async fn read_size(&self) -> Result<Size, Error> {
        match self.identity.platform {
            // The window does not have the bars of the system.
            Platform::Android => {
                let window = self.read_window().await?;
                let screen = self.read_display().await?;
                let is_turned = (screen.width > screen.height) != (window.width > window.height);
                Ok(match is_turned {
                    true => Size { width: screen.height, height: screen.width },
                    false => screen,
                })
            }
            Platform::Ios => {
                let scale = self.scale().await?;
                let window = self.read_window().await?;
                let [width, height] =
                    [window.width, window.height].map(|side| points::pixel(side, scale));
                Ok(Size { width, height })
            }
        }
    }

    /// The orientation of what is shown, as the window has it.
    pub(super) async fn read_orientation(&self) -> Result<Orientation, Error> {
        let window = self.read_window().await?;
        Ok(match window.width > window.height {
            true => Orientation::Landscape,
            false => Orientation::Portrait,
        })
    }

    async fn read_window(&self) -> Result<Window, Error> {
        let window = match self.dialect {
            Dialect::WebDriverAgent => self.read_screen_info().await?,
            Dialect::UiAutomator2 | Dialect::XcuiTest => {
                let command = ScreenCommand::WindowRect;
                let Rect { width, height, .. } =
                    self.client.read_as(SIZE, command, USUAL, Response::rect).await?;
                Window { width, height, scale: None }
            }
        };
        let is_side = |side: f64| (1.0..=100_000.0).contains(&side);
        match is_side(window.width) && is_side(window.height) {
            true => Ok(window),
            false => {
                let text = format!("a window of {} by {}", window.width, window.height);
                Err(unreadable("the screen's size", text))
            }
        }
    }

    /// WebDriverAgent's screen, with its scale since 2022.
    async fn read_screen_info(&self) -> Result<Window, Error> {
        let info =
            self.client.read_as(SIZE, ScreenCommand::Screen, USUAL, ScreenInfo::from_response);
        let info = match info.await.map_err(Error::from) {
            Ok(info) => Some(info),
            Err(Error::Unsupported { .. }) => None,
            Err(error) => return Err(error),
        };
        let scale = info.map(|info| info.scale).filter(|scale| *scale >= 0.5 && *scale <= 10.0);
        let size = match info.and_then(|info| info.screen) {
            Some(size) => size,
            None => {
                let command = ScreenCommand::WindowSize;
                self.client.read_as(SIZE, command, USUAL, Response::size).await?
            }
        };
        Ok(Window { width: size.width, height: size.height, scale })
    }

    /// Android's whole display, as it is turned or upright: UiAutomator2 versions differ.
    async fn read_display(&self) -> Result<Size, Error> {
        let response = self.ask_script(SIZE, MobileCommand::new("deviceInfo")).await?;
        let reported = response.value.get("realDisplaySize").and_then(|size| size.as_str());
        reported
            .and_then(read_display_size)
            .ok_or_else(|| unreadable("mobile: deviceInfo", response.value.to_string()))
    }

    /// Pixels of the server's unit: 1 on Android, those of a point on iOS.
    pub(super) async fn scale(&self) -> Result<f64, Error> {
        match self.identity.platform {
            Platform::Android => Ok(1.0),
            Platform::Ios => self.scale.get_or_try_init(|| self.measure_scale()).await.copied(),
        }
    }

    async fn measure_scale(&self) -> Result<f64, Error> {
        let window = self.read_window().await?;
        let picture = match self.take_screenshot().await {
            Ok(picture) => picture,
            Err(error @ Error::NotConnected { .. }) => return Err(error),
            Err(error) => {
                tracing::debug!("the screen's scale is not measured: {error}");
                return window.scale.ok_or(error);
            }
        };
        let longer = f64::from(picture.size.width.max(picture.size.height));
        let measured = longer / window.width.max(window.height);
        if let Some(scale) = window.scale.filter(|scale| (scale - measured).abs() > 0.01) {
            tracing::info!(
                "the screen's scale is {scale}, but screenshots have {measured} pixels per point"
            );
        }
        Ok(measured)
    }

    pub(super) async fn take_screenshot(&self) -> Result<Screenshot, Error> {
        let command = ScreenCommand::Screenshot;
        let bytes = self.client.read_as(SCREENSHOT, command, LOOK_LIMIT, Response::bytes).await?;
        read_picture(bytes.into())
    }

    /// The tree, with what is in front, and on iOS the focus.
    pub(super) async fn read_tree(&self) -> Result<Tree, Error> {
        let is_locked = self.is_locked().await?;
        let mut tree = match self.identity.platform {
            Platform::Android => self.read_android_tree().await?,
            Platform::Ios => self.read_ios_tree().await?,
        };
        if is_locked {
            tree.front = Foreground::Keyguard;
        }
        Ok(tree)
    }

    async fn read_android_tree(&self) -> Result<Tree, Error> {
        let xml = self.read_source().await?;
        let mut tree = android_tree(xml).map_err(|text| unreadable("GET /source", text))?;
        if let Foreground::App(front) = &mut tree.front {
            front.screen = self.read_activity(&front.app.0).await?;
        }
        Ok(tree)
    }

    async fn read_ios_tree(&self) -> Result<Tree, Error> {
        let scale = self.scale().await?;
        let xml = self.read_source().await?;
        let mut tree = source::read_live(xml).map_err(|text| unreadable("GET /source", text))?;
        points::finish_tree(&mut tree, scale);
        let root = tree.nodes.first().map(|root| root.package.clone());
        let app = match root.filter(|package| !package.is_empty()) {
            Some(package) => Some(AppId(package.to_string())),
            // Sources name the app since 2024.
            None => self.active_app().await?,
        };
        if let Some(app) = app {
            points::name_app(&mut tree, &app.0);
            tree.front = apps::front(app, String::new());
        }
        // Sources of iOS do not say which field has the focus (`focused` is tvOS's); the server
        // does.
        if points::may_have_focus(&tree)
            && let Some(element) = self.active_element().await?
            && let Some(rect) = self.read_rect(element).await?
        {
            points::mark_focus(&mut tree, rect, scale);
        }
        Ok(tree)
    }

    /// Where an element is; `None` if it has gone meanwhile.
    async fn read_rect(&self, element: ElementId) -> Result<Option<Rect>, Error> {
        let command = ElementCommand::Rect { element };
        match self.client.read_as(FOCUS, command, USUAL, Response::rect).await.map_err(Error::from)
        {
            Ok(rect) => Ok(Some(rect)),
            Err(Error::Refused { .. } | Error::NotReady { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The element that has the keyboard.
    pub(super) async fn active_element(&self) -> Result<Option<ElementId>, Error> {
        let command = ElementCommand::Active;
        match if_available(self.client.read_as(FOCUS, command, USUAL, Response::element).await) {
            // `no such element`; old servers answer `unknown error`.
            Err(Error::Refused { .. }) => Ok(None),
            element => element,
        }
    }

    /// The page source. What cannot be read at the moment, because elements come and go or an
    /// app starts, is asked for again; what it cannot take at all may be too deep.
    async fn read_source(&self) -> Result<String, Error> {
        let mut pauses = SOURCE_PAUSES.into_iter();
        loop {
            let failure = match self.read_source_once().await {
                Ok(source) => return Ok(source),
                Err(failure) => failure,
            };
            if failure.mentions(&MAY_PASS)
                && let Some(pause) = pauses.next()
            {
                tracing::debug!("the page source is asked for again: {}", failure.excerpt());
                sleep(pause).await;
                continue;
            }
            if failure.mentions(&TOO_DEEP) {
                let text = failure.excerpt();
                tracing::info!("the page source is too deep, so it is cut off: {text}");
                self.set(&[("snapshotMaxDepth", SAFE_IOS_DEPTH)]).await?;
                return Ok(self.read_source_once().await?);
            }
            return Err(match failure.mentions(&MAY_PASS) {
                true => SOURCE.not_ready(
                    "the elements of the app in front cannot be listed: it is busy, starting, or has crashed",
                ),
                false => failure.into(),
            });
        }
    }

    async fn read_source_once(&self) -> Result<String, RequestError> {
        let source = ScreenCommand::Source { format: None, excluded_attributes: None, scope: None };
        self.client.read_as(SOURCE, source, LOOK_LIMIT, Response::text).await
    }

    /// Changes settings of the session.
    pub(super) async fn set(&self, settings: &[(&str, u64)]) -> Result<(), Error> {
        Ok(self.client.read(SETTINGS, set_settings(settings)).await.map(drop)?)
    }
}

/// XCTest's errors for snapshots that are too deep for the app in front.
const TOO_DEEP: [&str; 2] = ["kAXErrorIllegalArgument", "kAXErrorServerNotFound"];

/// What errors contain that come and go: an element that went while it was read, accessibility that
/// an app has not started yet or does not answer in time. Seen in reports about WebDriverAgent.
const MAY_PASS: [&str; 8] = [
    "kAXError",
    "Error -25",
    "getting snapshot for element",
    "stale element reference",
    "not present in the current view",
    "Timed out while evaluating UI query",
    "Cannot take a snapshot",
    "not running, possibly crashed",
];

/// How long to wait before each further attempt.
const SOURCE_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(600)];

/// Reads a size such as `1080x2400`.
pub(super) fn read_display_size(text: &str) -> Option<Size> {
    let (width, height) = text.split_once('x')?;
    let side = |text: &str| text.trim().parse().ok().filter(|side| (1..=100_000).contains(side));
    Some(Size { width: side(width)?, height: side(height)? })
}

/// Reads the source of UiAutomator2, which has the window with the focus, as `uiautomator dump`
/// does. The app in front is the root's.
///
/// # Errors
/// What is wrong with it.
fn android_tree(xml: String) -> Result<Tree, String> {
    let mut tree = crate::android::read_page_source(ByteString::from(xml))?;
    let package = tree.nodes.iter().map(|node| &node.package).find(|package| !package.is_empty());
    if let Some(package) = package {
        tree.front = apps::front(AppId(package.to_string()), String::new());
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_size_is_two_positive_numbers() {
        let size = Some(Size { width: 1080, height: 2400 });
        assert_eq!(read_display_size("1080x2400"), size);
        for invalid in ["", "1080", "0x1", "-1x5", "1080x99999999999", "axb"] {
            assert_eq!(read_display_size(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn page_source_becomes_nodes() {
        let xml = "<?xml version='1.0'?>\n<hierarchy index=\"0\" class=\"hierarchy\" rotation=\"1\">\
                   <android.widget.TextView class=\"android.widget.TextView\" package=\"a.b\" text=\"Hi\" \
                   resource-id=\"a.b:id/t\" content-desc=\"greeting\" bounds=\"[0,1][20,30]\" clickable=\"true\" \
                   enabled=\"true\"/></hierarchy>";
        let tree = android_tree(xml.into()).unwrap();
        let node = &tree.nodes[0];
        assert_eq!((&*node.class, &*node.text), ("android.widget.TextView", "Hi"));
        assert_eq!((&*node.id, &*node.description), ("a.b:id/t", "greeting"));
        assert!(node.flags.clickable && node.bounds.right == 20 && tree.rotation == 1);
        assert_eq!(tree.front.app().unwrap().app.0, "a.b");
        for invalid in ["", "<hierarchy><a.B ", "<html></html>"] {
            assert!(android_tree(invalid.into()).is_err(), "{invalid}");
        }
    }
}
