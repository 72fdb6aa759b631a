//! What the screen shows: pictures, sizes and trees, in pixels of the screenshot.
//!
//! WebDriverAgent counts in points. Pixels per point are measured once, by a screenshot and the size of the screen in
//! points, because the screen's scale is wrong on phones that draw at another one (the Plus models, Display Zoom).

use std::time::Duration;

use thumbwire_webdriver::{Command, ElementCommand, ElementId, ScreenCommand, ScreenInfo};

use super::super::points::{self, pixel};
use super::super::source;
use super::client::limit_depth;
use super::{Ios, apps};
use crate::webdriver::{Operation, read_picture, unreadable};
use crate::{AppId, Error, Front, Screenshot, Size, Tree};

const SCREENSHOT: Operation = Operation::new("take a screenshot", "taking a screenshot");
const SIZE: Operation = Operation::new("tell the screen's size", "reading the screen's size");
const SOURCE: Operation = Operation::new("dump the screen", "dumping the screen");
const FOCUS: Operation = Operation::new("tell the focus", "reading the focus");

/// Time limit of a source: above WebDriverAgent's own (`customSnapshotTimeout`).
const SOURCE_LIMIT: Duration = Duration::from_secs(30);

/// The screen in points, as it is turned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Points {
    width: f64,
    height: f64,
}

impl Ios {
    /// Screen size in pixels, as the screen is turned.
    pub(super) async fn read_size(&self) -> Result<Size, Error> {
        let scale = self.scale().await?;
        let (points, _) = self.read_points().await?;
        Ok(Size { width: pixel(points.width, scale), height: pixel(points.height, scale) })
    }

    /// Pixels per point.
    pub(super) async fn scale(&self) -> Result<f64, Error> {
        self.scale.get_or_try_init(|| self.measure_scale()).await.copied()
    }

    async fn measure_scale(&self) -> Result<f64, Error> {
        let (points, scale) = self.read_points().await?;
        let picture = match self.take_screenshot().await {
            Ok(picture) => picture,
            Err(error @ Error::NotConnected { .. }) => return Err(error),
            Err(error) => {
                tracing::debug!("the screen's scale is not measured: {error}");
                return scale.ok_or(error);
            }
        };
        let longer = f64::from(picture.size.width.max(picture.size.height));
        let measured = longer / points.width.max(points.height);
        if let Some(scale) = scale.filter(|scale| (scale - measured).abs() > 0.01) {
            tracing::info!(
                "the screen's scale is {scale}, but screenshots have {measured} pixels per point"
            );
        }
        Ok(measured)
    }

    /// The screen's size, and its scale if the server tells it.
    async fn read_points(&self) -> Result<(Points, Option<f64>), Error> {
        let command = ScreenCommand::Screen.into();
        let info = match self.wda.read(SIZE, ScreenCommand::Screen).await {
            Ok(response) => Some(
                ScreenInfo::from_response(&response)
                    .map_err(|error| unreadable(&command, &error))?,
            ),
            Err(Error::Unsupported { .. }) => None,
            Err(error) => return Err(error),
        };
        let scale = info.map(|info| info.scale).filter(|scale| *scale >= 0.5 && *scale <= 10.0);
        let size = match info.and_then(|info| info.screen) {
            Some(size) => size,
            None => {
                let command = ScreenCommand::WindowSize.into();
                let response = self.wda.read(SIZE, ScreenCommand::WindowSize).await?;
                response.size().map_err(|error| unreadable(&command, &error))?
            }
        };
        let is_side = |side: f64| (1.0..=100_000.0).contains(&side);
        if !is_side(size.width) || !is_side(size.height) {
            let text = format!("a screen of {} by {} points", size.width, size.height);
            return Err(Error::Unreadable { command: command.route().name.into(), text });
        }
        Ok((Points { width: size.width, height: size.height }, scale))
    }

    pub(super) async fn take_screenshot(&self) -> Result<Screenshot, Error> {
        let command = ScreenCommand::Screenshot.into();
        let response = self.wda.read(SCREENSHOT, ScreenCommand::Screenshot).await?;
        let bytes = response.bytes().map_err(|error| unreadable(&command, &error))?;
        read_picture(bytes.into())
    }

    /// The tree, with what is in front and the focus.
    pub(super) async fn read_tree(&self) -> Result<Tree, Error> {
        let scale = self.scale().await?;
        let is_locked = self.is_locked().await?;
        let mut tree = self.read_source().await?;
        points::finish_tree(&mut tree, scale);
        let root = tree.nodes.first();
        let package = root.map(|root| root.package.clone()).filter(|package| !package.is_empty());
        let package = match package {
            Some(package) => Some(package),
            // Sources name the app since 2024.
            None => self.active_app().await?.map(|app| app.0.into()),
        };
        if let Some(package) = &package {
            points::name_app(&mut tree, package);
        }
        tree.front = match package {
            _ if is_locked => Front::Keyguard,
            Some(package) => apps::front(AppId(package.to_string())),
            None => Front::Unknown,
        };
        self.mark_focus(&mut tree, scale).await?;
        Ok(tree)
    }

    /// Sources of iOS do not say which field has the focus (`focused` is tvOS's); the server does.
    async fn mark_focus(&self, tree: &mut Tree, scale: f64) -> Result<(), Error> {
        if !points::may_have_focus(tree) {
            return Ok(());
        }
        let Some(element) = self.active_element().await? else { return Ok(()) };
        let command = ElementCommand::Rect { element };
        let rect = match self.wda.read(FOCUS, command.clone()).await {
            Ok(response) => response.rect().map_err(|error| unreadable(&command.into(), &error))?,
            // It has gone meanwhile.
            Err(Error::Refused { .. } | Error::NotReady { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        points::mark_focus(tree, rect, scale);
        Ok(())
    }

    /// The element that has the keyboard.
    pub(super) async fn active_element(&self) -> Result<Option<ElementId>, Error> {
        match self.wda.read(FOCUS, ElementCommand::Active).await {
            Ok(response) => {
                let element = response.element();
                element
                    .map(Some)
                    .map_err(|error| unreadable(&ElementCommand::Active.into(), &error))
            }
            // `no such element`, and `unknown error` of old servers.
            Err(Error::Refused { .. } | Error::NotReady { .. } | Error::Unsupported { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn read_source(&self) -> Result<Tree, Error> {
        match self.read_source_once().await {
            // XCTest's error for snapshots that are too deep for the app in front.
            Err(Error::NotReady { text, .. })
                if text.contains("kAXErrorIllegalArgument")
                    || text.contains("kAXErrorServerNotFound") =>
            {
                tracing::info!("the page source is too deep, so it is cut off: {text}");
                limit_depth(&self.wda).await?;
                self.read_source_once().await
            }
            read => read,
        }
    }

    async fn read_source_once(&self) -> Result<Tree, Error> {
        let source = ScreenCommand::Source { format: None, excluded_attributes: None, scope: None };
        let command = Command::from(source);
        let response = self.wda.read_within(SOURCE, command.clone(), SOURCE_LIMIT).await?;
        let xml = response.text().map_err(|error| unreadable(&command, &error))?;
        source::read_live(xml)
            .map_err(|text| Error::Unreadable { command: command.route().name.into(), text })
    }
}
