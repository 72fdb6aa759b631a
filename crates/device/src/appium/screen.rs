//! What the screen shows: pictures, sizes and trees, in pixels of the screenshot.
//!
//! UiAutomator2 counts in pixels; XCUITest counts in points, whose size is measured once by a screenshot, as for a
//! WebDriverAgent (`ios/wda/screen.rs`).

use std::time::Duration;

use bytestring::ByteString;
use thumbwire_webdriver::{Command, ElementCommand, ElementId, MobileCommand, ScreenCommand};

use super::{Appium, apps, unreadable};
use crate::ios::{points, source};
use crate::webdriver::{Effect, Operation, read_picture, unreadable as unreadable_response};
use crate::{AppId, Error, Front, Orientation, Platform, Screenshot, Size, Tree};

const SCREENSHOT: Operation = Operation::new("take a screenshot", "taking a screenshot");
const SIZE: Operation = Operation::new("tell the screen's size", "reading the screen's size");
const SOURCE: Operation = Operation::new("dump the screen", "dumping the screen");
const FOCUS: Operation = Operation::new("tell the focus", "reading the focus");

/// Time limit of a source.
const SOURCE_LIMIT: Duration = Duration::from_secs(30);

impl Appium {
    /// Screen size in pixels, as the screen is turned.
    pub(super) async fn read_size(&self) -> Result<Size, Error> {
        let window = self.read_window().await?;
        match self.identity.platform {
            // The window does not have the bars of the system.
            Platform::Android => {
                let screen = self.read_display().await?;
                let is_turned = (screen.width > screen.height) != (window.width > window.height);
                Ok(match is_turned {
                    true => Size { width: screen.height, height: screen.width },
                    false => screen,
                })
            }
            Platform::Ios => {
                let scale = self.scale().await?;
                let [width, height] =
                    [window.width, window.height].map(|side| points::pixel(side, scale));
                Ok(Size { width, height })
            }
        }
    }

    /// The orientation, as the window has it.
    pub(super) async fn read_turn(&self) -> Result<Orientation, Error> {
        let window = self.read_window().await?;
        Ok(match window.width > window.height {
            true => Orientation::Landscape,
            false => Orientation::Portrait,
        })
    }

    /// The window in the server's unit.
    async fn read_window(&self) -> Result<thumbwire_webdriver::Rect, Error> {
        let command = Command::from(ScreenCommand::WindowRect);
        let response = self.server.read(SIZE, command.clone()).await?;
        let window = response.rect().map_err(|error| unreadable_response(&command, &error))?;
        let is_side = |side: f64| (1.0..=100_000.0).contains(&side);
        match is_side(window.width) && is_side(window.height) {
            true => Ok(window),
            false => {
                let text = format!("a window of {} by {}", window.width, window.height);
                Err(unreadable(command.route().name, text))
            }
        }
    }

    /// The whole display, as it is turned or upright: UiAutomator2 versions differ.
    async fn read_display(&self) -> Result<Size, Error> {
        let response = self.ask(SIZE, MobileCommand::new("deviceInfo")).await?;
        let reported = response.value.get("realDisplaySize").and_then(|size| size.as_str());
        reported
            .and_then(read_display_size)
            .ok_or_else(|| unreadable("mobile: deviceInfo", response.value.to_string()))
    }

    /// Pixels in the server's unit: 1 on Android, those of a point on iOS.
    pub(super) async fn scale(&self) -> Result<f64, Error> {
        match self.identity.platform {
            Platform::Android => Ok(1.0),
            Platform::Ios => self.scale.get_or_try_init(|| self.measure_scale()).await.copied(),
        }
    }

    async fn measure_scale(&self) -> Result<f64, Error> {
        let window = self.read_window().await?;
        let picture = self.take_screenshot().await?;
        let longer = f64::from(picture.size.width.max(picture.size.height));
        Ok(longer / window.width.max(window.height))
    }

    pub(super) async fn take_screenshot(&self) -> Result<Screenshot, Error> {
        let command = Command::from(ScreenCommand::Screenshot);
        let (status, body) = self.server.read_raw(SCREENSHOT, &command, SOURCE_LIMIT).await?;
        let response = self.server.parse(SCREENSHOT, &command, Effect::Read, status, &body)?;
        let bytes = response.bytes().map_err(|error| unreadable_response(&command, &error))?;
        read_picture(bytes.into())
    }

    /// The tree, with what is in front, and on iOS the focus.
    pub(super) async fn read_tree(&self) -> Result<Tree, Error> {
        let is_locked = self.is_locked().await?;
        let mut tree = match self.identity.platform {
            Platform::Android => {
                let xml = self.read_source().await?;
                android_tree(xml).map_err(|text| unreadable("GET /source", text))?
            }
            Platform::Ios => self.read_ios_tree().await?,
        };
        match &mut tree.front {
            front if is_locked => *front = Front::Keyguard,
            Front::App(front) if self.is_android() => {
                front.screen = self.read_activity(&front.app.0).await?;
            }
            _ => {}
        }
        Ok(tree)
    }

    async fn read_ios_tree(&self) -> Result<Tree, Error> {
        let scale = self.scale().await?;
        let xml = self.read_source().await?;
        let mut tree = source::read_live(xml).map_err(|text| unreadable("GET /source", text))?;
        points::finish_tree(&mut tree, scale);
        let root = tree.nodes.first().map(|root| root.package.clone());
        let package = match root.filter(|package| !package.is_empty()) {
            Some(package) => Some(AppId(package.to_string())),
            None => self.active_app().await?,
        };
        if let Some(app) = package {
            points::name_app(&mut tree, &app.0);
            tree.front = apps::front(app, String::new());
        }
        if points::may_have_focus(&tree)
            && let Some(element) = self.active_element().await?
            && let Some(rect) = self.read_rect(element).await?
        {
            points::mark_focus(&mut tree, rect, scale);
        }
        Ok(tree)
    }

    /// Where an element is; `None` if it has gone meanwhile.
    async fn read_rect(
        &self,
        element: ElementId,
    ) -> Result<Option<thumbwire_webdriver::Rect>, Error> {
        let command = ElementCommand::Rect { element };
        match self.server.read(FOCUS, command.clone()).await {
            Ok(response) => response
                .rect()
                .map(Some)
                .map_err(|error| unreadable_response(&command.into(), &error)),
            Err(Error::Refused { .. } | Error::NotReady { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The element that has the keyboard.
    pub(super) async fn active_element(&self) -> Result<Option<ElementId>, Error> {
        match self.server.read(FOCUS, ElementCommand::Active).await {
            Ok(response) => response
                .element()
                .map(Some)
                .map_err(|error| unreadable_response(&ElementCommand::Active.into(), &error)),
            // `no such element`, or an error of XCTest while the screen changes.
            Err(Error::Refused { .. } | Error::NotReady { .. } | Error::Unsupported { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn read_source(&self) -> Result<String, Error> {
        let source = ScreenCommand::Source { format: None, excluded_attributes: None, scope: None };
        let command = Command::from(source);
        let (status, body) = self.server.read_raw(SOURCE, &command, SOURCE_LIMIT).await?;
        let response = self.server.parse(SOURCE, &command, Effect::Read, status, &body)?;
        response.text().map_err(|error| unreadable_response(&command, &error))
    }
}

/// Reads a size such as `1080x2400`.
pub(super) fn read_display_size(text: &str) -> Option<Size> {
    let (width, height) = text.split_once('x')?;
    let side = |text: &str| text.trim().parse().ok().filter(|side| (1..=100_000).contains(side));
    Some(Size { width: side(width)?, height: side(height)? })
}

/// Reads the source of UiAutomator2, which has the window with the focus, as `uiautomator dump` does. The app in front is the
/// root's.
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
        for odd in ["", "1080", "0x1", "-1x5", "1080x99999999999", "axb"] {
            assert_eq!(read_display_size(odd), None, "{odd}");
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
        for odd in ["", "<hierarchy><a.B ", "<html></html>"] {
            assert!(android_tree(odd.into()).is_err(), "{odd}");
        }
    }
}
