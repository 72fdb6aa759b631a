//! A device whose screenshots are smaller than its phone's screen.
//!
//! [`ScaledDevice`] is a [`Device`] around another one. Everything it takes and returns in pixels
//! is in pixels of the scaled screenshot: callers see one coordinate space. Vision models read
//! large images less well and charge by the pixel.
//!
//! One screenshot pixel covers a block of screen pixels. A touch goes to the center of its block,
//! and a rectangle contains exactly the blocks whose center it contains: so a touch on any pixel of
//! an element's rectangle hits that element. An element thinner than a block may contain no center;
//! it keeps one pixel, and a touch there may miss it by half a block.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use thumbwire_base::lock;

use crate::image::{Error as PictureError, PixelLimits, Pixels};
use crate::{
    AppId, AppList, Device, DeviceInfo, DisplayControl, Error, Facets, Foreground, ForegroundApp,
    Format, FormatPreference, Gesture, Identity, Key, LaunchArgument, Orientation, Point, Rect,
    RotationOwner, Screenshot, Size, Tree, TreeDetail, TypingMethod,
};

/// A device whose screenshots have at most a given number of pixels.
pub struct ScaledDevice<D: ?Sized> {
    inner: Arc<D>,
    limits: PixelLimits,
    known: Mutex<ScreenGeometry>,
    /// The phone's own scaled pictures once had another size than ours.
    scales_otherwise: AtomicBool,
}

/// What is known about the phone's screen.
#[derive(Debug, Clone, Copy, Default)]
struct ScreenGeometry {
    /// Size in screen pixels.
    size: Option<Size>,
    /// Rotation at the time the size was read; `None` if unknown.
    rotation: Option<u8>,
}

impl<D: Device + ?Sized> ScaledDevice<D> {
    /// A device with screenshots within these limits. A screen that is within them is not scaled.
    pub fn new(inner: Arc<D>, limits: PixelLimits) -> Self {
        Self { inner, limits, known: Mutex::default(), scales_otherwise: AtomicBool::new(false) }
    }

    fn scale(&self, screen: Size) -> Scale {
        Scale::of(screen, self.limits)
    }

    fn known(&self) -> ScreenGeometry {
        *lock(&self.known)
    }

    fn forget(&self) {
        *lock(&self.known) = ScreenGeometry::default();
    }

    fn learn(&self, size: Size, rotation: Option<u8>) {
        let mut known = lock(&self.known);
        let same = known.size == Some(size);
        *known = ScreenGeometry {
            size: Some(size),
            rotation: rotation.or(if same { known.rotation } else { None }),
        };
    }

    /// The last known screen size; asks the phone if there is none.
    async fn screen(&self) -> Result<Size, Error> {
        match self.known().size {
            Some(size) => Ok(size),
            None => self.ask_screen(None).await,
        }
    }

    /// A JPEG that the phone scaled itself, if it can and the screen's size is known.
    async fn scaled_by_phone(&self) -> Result<Option<Screenshot>, Error> {
        let Some(screen) = self.known().size else { return Ok(None) };
        let Scale { picture, .. } = self.scale(screen);
        if picture == screen || self.scales_otherwise.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let taken = self.inner.scaled_jpeg(picture.width.max(picture.height)).await?;
        let turned = |size: Size| Size { width: size.height, height: size.width };
        Ok(taken.filter(|taken| {
            if taken.size == turned(picture) && picture != turned(picture) {
                self.learn(turned(screen), None);
            }
            let fits = [picture, turned(picture)].contains(&taken.size);
            self.scales_otherwise.fetch_or(!fits, Ordering::Relaxed);
            fits
        }))
    }

    async fn ask_screen(&self, rotation: Option<u8>) -> Result<Size, Error> {
        let size = self.inner.screen_size().await?;
        self.learn(size, rotation);
        Ok(size)
    }
}

/// Maps between a screen and its scaled screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scale {
    screen: Size,
    picture: Size,
}

impl Scale {
    /// A screen without pixels counts as one pixel: a driver may round the size of a tiny picture
    /// down.
    fn of(Size { width, height }: Size, limits: PixelLimits) -> Self {
        let screen = Size { width: width.max(1), height: height.max(1) };
        Self { screen, picture: limits.target(screen) }
    }

    /// The center of the block that a screenshot pixel covers.
    fn to_screen(self, at: Point) -> Point {
        let middle = |at: i32, screen: i32, picture: i32| {
            let (at, screen, picture) = (i64::from(at), i64::from(screen), i64::from(picture));
            saturated(((2 * at + 1) * screen).div_euclid(2 * picture))
        };
        Point {
            x: middle(at.x, self.screen.width, self.picture.width),
            y: middle(at.y, self.screen.height, self.picture.height),
        }
    }

    /// The blocks whose center the rectangle contains.
    fn to_picture(self, rect: Rect) -> Rect {
        let side = |from: i32, to: i32, screen: i32, picture: i32| {
            let (screen, picture) = (i64::from(screen), i64::from(picture));
            // The first block whose center is not before the edge: ceil((2·picture·edge − screen) /
            // (2·screen)).
            let edge = |edge: i32| -(screen - 2 * picture * i64::from(edge)).div_euclid(2 * screen);
            let (first, last) = (edge(from), edge(to));
            if to > from && first == last {
                let middle = (i64::from(from) + i64::from(to)).div_euclid(2);
                let at = (middle * picture).div_euclid(screen);
                return (saturated(at), saturated(at + 1));
            }
            (saturated(first), saturated(last))
        };
        let (left, right) = side(rect.left, rect.right, self.screen.width, self.picture.width);
        let (top, bottom) = side(rect.top, rect.bottom, self.screen.height, self.picture.height);
        Rect { left, top, right, bottom }
    }

    /// How many screen pixels a distance in the screenshot is.
    fn length_to_screen(self, pixels: i32) -> i32 {
        let longer = |size: Size| i64::from(size.width.max(size.height).max(1));
        saturated(i64::from(pixels) * longer(self.screen) / longer(self.picture))
    }

    fn gesture(self, gesture: Gesture) -> Gesture {
        let to = |at| self.to_screen(at);
        match gesture {
            Gesture::Tap { at } => Gesture::Tap { at: to(at) },
            Gesture::DoubleTap { at } => Gesture::DoubleTap { at: to(at) },
            Gesture::LongPress { at, held } => Gesture::LongPress { at: to(at), held },
            Gesture::Swipe { from, to: end, duration } => {
                Gesture::Swipe { from: to(from), to: to(end), duration }
            }
            Gesture::Drag { from, to: end, duration } => {
                Gesture::Drag { from: to(from), to: to(end), duration }
            }
            Gesture::Pinch { middle, from, to: end, duration } => {
                let distance = |pixels| self.length_to_screen(pixels);
                Gesture::Pinch {
                    middle: to(middle),
                    from: distance(from),
                    to: distance(end),
                    duration,
                }
            }
        }
    }
}

fn saturated(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

#[async_trait]
impl<D: Device + ?Sized> Device for ScaledDevice<D> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    /// Rotating the screen changes its known size; all other facets are passed on.
    fn facets(&self) -> Facets<'_> {
        let inner = self.inner.facets();
        Facets { display: inner.display.map(|_| self as &dyn DisplayControl), ..inner }
    }

    async fn probe(&self) -> Result<(), Error> {
        self.inner.probe().await
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        Ok(self.scale(self.ask_screen(None).await?).picture)
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        self.screenshot_as(FormatPreference::AsTaken).await
    }

    async fn screenshot_as(&self, format: FormatPreference) -> Result<Screenshot, Error> {
        if matches!(format, FormatPreference::Smallest | FormatPreference::Only(Format::Jpeg))
            && let Some(picture) = self.scaled_by_phone().await?
        {
            return Ok(picture);
        }
        let taken = self.inner.screenshot().await?;
        self.learn(taken.size, None);
        let Scale { screen, picture } = self.scale(taken.size);
        if picture == screen {
            return Ok(taken);
        }
        let Screenshot { image, blank, .. } = taken;
        let scaling = tokio::task::spawn_blocking(move || {
            let scaled = Pixels::read(&image)?.scaled(picture)?;
            match format {
                FormatPreference::AsTaken => scaled.write(Format::Png),
                FormatPreference::Only(format) => scaled.write(format),
                FormatPreference::Smallest => scaled.write_smallest(),
            }
        });
        let failed = |text: String| Error::Failed { what: "take a screenshot", text };
        let scaled = scaling.await.map_err(|error| failed(error.to_string()))?;
        let image = scaled.map_err(|error: PictureError| failed(format!("failed to {error}")))?;
        Ok(Screenshot { image, size: picture, blank })
    }

    async fn tree(&self, detail: TreeDetail) -> Result<Tree, Error> {
        let mut tree = self.inner.tree(detail).await?;
        let screen = match self.known() {
            ScreenGeometry { size: Some(size), rotation } if rotation == Some(tree.rotation) => {
                size
            }
            // A tree has no screen size, and a size read under another rotation does not apply.
            _ => self.ask_screen(Some(tree.rotation)).await?,
        };
        let scale = self.scale(screen);
        for node in &mut tree.nodes {
            node.bounds = scale.to_picture(node.bounds);
        }
        tree.keyboard = tree.keyboard.map(|keyboard| scale.to_picture(keyboard));
        Ok(tree)
    }

    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        let scale = self.scale(self.screen().await?);
        self.inner.touch(scale.gesture(gesture)).await
    }

    async fn type_text(&self, text: &str) -> Result<TypingMethod, Error> {
        self.inner.type_text(text).await
    }

    async fn press(&self, key: Key) -> Result<(), Error> {
        self.inner.press(key).await
    }

    async fn apps(&self) -> Result<AppList, Error> {
        self.inner.apps().await
    }

    async fn launch(&self, app: &AppId, arguments: &[LaunchArgument]) -> Result<String, Error> {
        self.inner.launch(app, arguments).await
    }

    async fn stop(&self, app: &AppId) -> Result<(), Error> {
        self.inner.stop(app).await
    }

    async fn foreground(&self) -> Result<Foreground, Error> {
        self.inner.foreground().await
    }

    async fn activity_in_front(&self) -> Result<Option<ForegroundApp>, Error> {
        self.inner.activity_in_front().await
    }

    /// Density is scaled too, so that computations in dp give the same results.
    async fn info(&self) -> Result<DeviceInfo, Error> {
        let info = self.inner.info().await?;
        self.learn(info.screen, None);
        let Scale { screen, picture } = self.scale(info.screen);
        let longer = |size: Size| f64::from(size.width.max(size.height).max(1));
        let part = longer(picture) / longer(screen);
        let density = info.density.map(|dots| (f64::from(dots) * part).round() as u32);
        Ok(DeviceInfo { screen: picture, density, ..info })
    }

    async fn restore_borrowed(&self) {
        self.inner.restore_borrowed().await;
    }

    async fn disconnect(&self) {
        self.inner.disconnect().await;
    }

    fn unsupported(&self, what: &'static str) -> Error {
        self.inner.unsupported(what)
    }
}

impl<D: Device + ?Sized> ScaledDevice<D> {
    /// The inner device's facet.
    fn display(&self) -> Result<&dyn DisplayControl, Error> {
        self.inner.facets().display.ok_or_else(|| self.unsupported("setting the orientation"))
    }
}

#[async_trait]
impl<D: Device + ?Sized> DisplayControl for ScaledDevice<D> {
    async fn orientation(&self) -> Result<Orientation, Error> {
        self.display()?.orientation().await
    }

    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error> {
        let turned = self.display()?.set_orientation(orientation, owner).await;
        self.forget();
        turned
    }

    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error> {
        let restored = self.display()?.restore_orientation(turned).await;
        self.forget();
        restored
    }

    async fn unlock(&self) -> Result<Foreground, Error> {
        self.display()?.unlock().await
    }
}

#[cfg(test)]
mod tests;
