//! A device whose pictures are smaller than its phone's screen.
//!
//! [`Scaled`] is a [`Device`] around another. Whatever it gives or takes in pixels is in pixels of the picture that it
//! serves: there is one coordinate space, and nobody above knows of another. Models see less well in large pictures and
//! pay by the pixel; that is what it is for.
//!
//! One picture pixel stands for a block of the screen's. A touch goes to the middle of its block, and a rectangle holds
//! exactly the blocks whose middle lies in it: so a touch on any pixel of an element's rectangle lands in that element.
//! An element that holds no middle, being thinner than a block, keeps one pixel; a touch there may land half a block
//! beside it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;

use crate::picture::{Error as PictureError, Pixels};
use crate::{
    Abilities, App, AppId, Component, Delivery, Detail, Device, Error, Foreground, Format, Gesture,
    Health, Identity, Info, Key, Letter, LogEntry, LogFilter, LogStream, Orientation, Package,
    Point, Recording, RecordingWish, Rect, Screenshot, Size, Tree, TurnedBy, TypedBy,
};

/// A device that serves pictures of at most so many pixels on the longer side.
pub struct Scaled<D: ?Sized> {
    inner: Arc<D>,
    most: u32,
    known: Mutex<Known>,
}

/// What is known of the phone's screen.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Its size, in its own pixels.
    size: Option<Size>,
    /// How it was turned when it had that size; `None` where that is not known.
    rotation: Option<u8>,
}

impl<D: Device + ?Sized> Scaled<D> {
    /// The device, with pictures of at most `most` pixels on the longer side. A smaller screen is served as it is.
    pub fn new(inner: Arc<D>, most: u32) -> Self {
        Self { inner, most: most.max(1), known: Mutex::default() }
    }

    fn scale(&self, screen: Size) -> Scale {
        Scale::of(screen, self.most)
    }

    fn known(&self) -> Known {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }

    fn learn(&self, size: Size, rotation: Option<u8>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.size == Some(size);
        *known = Known {
            size: Some(size),
            rotation: rotation.or(if same { known.rotation } else { None }),
        };
    }

    /// The screen's size as it was learnt last, asked for where it never was.
    async fn screen(&self) -> Result<Size, Error> {
        match self.known().size {
            Some(size) => Ok(size),
            None => self.ask_screen(None).await,
        }
    }

    async fn ask_screen(&self, rotation: Option<u8>) -> Result<Size, Error> {
        let size = self.inner.screen_size().await?;
        self.learn(size, rotation);
        Ok(size)
    }
}

/// Between a screen and the picture of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scale {
    screen: Size,
    picture: Size,
}

impl Scale {
    fn of(screen: Size, most: u32) -> Self {
        let longer = i64::from(screen.width.max(screen.height).max(1));
        let most = i64::from(most).min(longer);
        // To the nearest, and never none.
        let side = |side: i32| ((2 * i64::from(side) * most + longer) / (2 * longer)).max(1) as i32;
        let picture = Size { width: side(screen.width), height: side(screen.height) };
        Self { screen, picture }
    }

    /// The middle of the block for which a pixel of the picture stands.
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

    /// The blocks whose middle lies in the rectangle.
    fn to_picture(self, rect: Rect) -> Rect {
        let side = |from: i32, to: i32, screen: i32, picture: i32| {
            let (screen, picture) = (i64::from(screen), i64::from(picture));
            // The first block whose middle does not lie before the edge: ceil((2·picture·edge − screen) / (2·screen)).
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

    fn gesture(self, gesture: Gesture) -> Gesture {
        let to = |at| self.to_screen(at);
        match gesture {
            Gesture::Tap { at } => Gesture::Tap { at: to(at) },
            Gesture::LongPress { at, held } => Gesture::LongPress { at: to(at), held },
            Gesture::Swipe { from, to: end, lasting } => {
                Gesture::Swipe { from: to(from), to: to(end), lasting }
            }
        }
    }
}

fn saturated(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

#[async_trait]
impl<D: Device + ?Sized> Device for Scaled<D> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    async fn probe(&self) -> Result<(), Error> {
        self.inner.probe().await
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        Ok(self.scale(self.ask_screen(None).await?).picture)
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        let taken = self.inner.screenshot().await?;
        self.learn(taken.size, None);
        let Scale { screen, picture } = self.scale(taken.size);
        if picture == screen {
            return Ok(taken);
        }
        let Screenshot { image, blank, .. } = taken;
        let scaling = tokio::task::spawn_blocking(move || {
            Pixels::read(&image)?.scaled(picture)?.write(Format::Png)
        });
        let failed = |said: String| Error::Failed { what: "take a picture", said };
        let scaled = scaling.await.map_err(|why| failed(why.to_string()))?;
        let image = scaled.map_err(|why: PictureError| failed(format!("failed to {why}")))?;
        Ok(Screenshot { image, size: picture, blank })
    }

    async fn tree(&self, detail: Detail) -> Result<Tree, Error> {
        let mut tree = self.inner.tree(detail).await?;
        let screen = match self.known() {
            Known { size: Some(size), rotation } if rotation == Some(tree.rotation) => size,
            // A tree tells no size: one that was learnt when the screen was turned otherwise is another.
            _ => self.ask_screen(Some(tree.rotation)).await?,
        };
        let scale = self.scale(screen);
        for node in &mut tree.nodes {
            node.bounds = scale.to_picture(node.bounds);
        }
        Ok(tree)
    }

    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        let scale = self.scale(self.screen().await?);
        self.inner.touch(scale.gesture(gesture)).await
    }

    async fn type_text(&self, text: &str) -> Result<TypedBy, Error> {
        self.inner.type_text(text).await
    }

    async fn check_text(&self, text: &str) -> Result<(), Error> {
        self.inner.check_text(text).await
    }

    async fn settle(&self) {
        self.inner.settle().await;
    }

    async fn erase(&self, characters: usize) -> Result<(), Error> {
        self.inner.erase(characters).await
    }

    async fn press(&self, key: Key) -> Result<(), Error> {
        self.inner.press(key).await
    }

    async fn apps(&self) -> Result<Vec<App>, Error> {
        self.inner.apps().await
    }

    async fn launch(&self, app: &AppId) -> Result<String, Error> {
        self.inner.launch(app).await
    }

    async fn stop(&self, app: &AppId) -> Result<(), Error> {
        self.inner.stop(app).await
    }

    async fn clear_data(&self, app: &AppId) -> Result<(), Error> {
        self.inner.clear_data(app).await
    }

    async fn permit(&self, app: &AppId, permission: &str, granted: bool) -> Result<(), Error> {
        self.inner.permit(app, permission, granted).await
    }

    async fn foreground(&self) -> Result<Option<Foreground>, Error> {
        self.inner.foreground().await
    }

    /// Dots per inch are those of the picture too, so that sums with them come out the same.
    async fn info(&self) -> Result<Info, Error> {
        let info = self.inner.info().await?;
        self.learn(info.screen, None);
        let Scale { screen, picture } = self.scale(info.screen);
        let longer = |size: Size| f64::from(size.width.max(size.height).max(1));
        let part = longer(picture) / longer(screen);
        let density = info.density.map(|dots| (f64::from(dots) * part).round() as u32);
        Ok(Info { screen: picture, density, ..info })
    }

    async fn properties(&self) -> Result<Vec<(String, String)>, Error> {
        self.inner.properties().await
    }

    async fn orientation(&self) -> Result<Orientation, Error> {
        self.inner.orientation().await
    }

    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error> {
        let turned = self.inner.set_orientation(orientation, owner).await;
        self.forget();
        turned
    }

    async fn restore_orientation(&self, turned: TurnedBy<'_>) -> Result<bool, Error> {
        let restored = self.inner.restore_orientation(turned).await;
        self.forget();
        restored
    }

    async fn logs(&self, filter: &LogFilter, most: usize) -> Result<Vec<LogEntry>, Error> {
        self.inner.logs(filter, most).await
    }

    async fn clear_logs(&self) -> Result<(), Error> {
        self.inner.clear_logs().await
    }

    async fn follow_logs(
        &self,
        filter: &LogFilter,
        last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        self.inner.follow_logs(filter, last).await
    }

    async fn record(&self, wish: &RecordingWish) -> Result<Box<dyn Recording>, Error> {
        self.inner.record(wish).await
    }

    /// The file holds the screen's own pixels.
    async fn screenshot_into(&self, path: &str) -> Result<(), Error> {
        self.inner.screenshot_into(path).await
    }

    async fn fetch_file(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        self.inner.fetch_file(path, into).await
    }

    async fn remove_file(&self, path: &str) -> Result<(), Error> {
        self.inner.remove_file(path).await
    }

    async fn read_file(&self, path: &str, from: u64, length: u64) -> Result<Bytes, Error> {
        self.inner.read_file(path, from, length).await
    }

    async fn file_length(&self, path: &str) -> Result<u64, Error> {
        self.inner.file_length(path).await
    }

    async fn services(&self, action: &str) -> Result<Vec<Component>, Error> {
        self.inner.services(action).await
    }

    async fn package(&self, app: &AppId) -> Result<Package, Error> {
        self.inner.package(app).await
    }

    async fn start_service(&self, letter: &Letter) -> Result<(), Error> {
        self.inner.start_service(letter).await
    }

    async fn courier(&self, letter: &Letter, limit: Duration) -> Result<Delivery, Error> {
        self.inner.courier(letter, limit).await
    }

    async fn app_functions(&self, app: Option<&AppId>) -> Result<String, Error> {
        self.inner.app_functions(app).await
    }

    async fn call_app_function(
        &self,
        app: &AppId,
        function: &str,
        parameters: &str,
    ) -> Result<String, Error> {
        self.inner.call_app_function(app, function, parameters).await
    }

    async fn health(&self) -> Result<Health, Error> {
        self.inner.health().await
    }
}

#[cfg(test)]
mod tests;
