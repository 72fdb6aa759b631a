//! One coordinate space: input in screenshot pixels arrives in screen pixels.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::{Image, Node, Panel, Platform};

/// A phone with one row, which records touches and counts size requests.
struct Phone {
    identity: Identity,
    screen: Mutex<(Size, u8)>,
    sizes: Mutex<usize>,
    touched: Mutex<Vec<Gesture>>,
    /// It scales pictures itself, to this width and height.
    scales_to: Mutex<Option<Size>>,
}

const ROW: Rect = Rect { left: 40, top: 400, right: 1040, bottom: 560 };

impl Phone {
    fn new(width: i32, height: i32) -> Self {
        let identity =
            Identity { id: "p".into(), platform: Platform::Android, model: String::new() };
        let screen = Mutex::new((Size { width, height }, 0));
        Self {
            identity,
            screen,
            sizes: Mutex::default(),
            touched: Mutex::default(),
            scales_to: Mutex::default(),
        }
    }

    fn turn(&self) {
        let mut screen = self.screen.lock().unwrap();
        let (Size { width, height }, rotation) = *screen;
        *screen = (Size { width: height, height: width }, (rotation + 1) % 4);
    }

    fn size(&self) -> Size {
        self.screen.lock().unwrap().0
    }

    fn touched(&self) -> Gesture {
        self.touched.lock().unwrap().pop().unwrap()
    }

    fn sizes(&self) -> usize {
        *self.sizes.lock().unwrap()
    }
}

fn scaled(width: i32, height: i32, max: u32) -> ScaledDevice<Phone> {
    ScaledDevice::new(Arc::new(Phone::new(width, height)), PixelLimits::longer_side(max))
}

#[async_trait]
impl Device for Phone {
    fn identity(&self) -> &Identity {
        &self.identity
    }
    async fn probe(&self) -> Result<(), Error> {
        Ok(())
    }
    async fn screen_size(&self) -> Result<Size, Error> {
        *self.sizes.lock().unwrap() += 1;
        Ok(self.size())
    }
    async fn screenshot(&self) -> Result<Screenshot, Error> {
        let Size { width, height } = self.size();
        let rgb = [200, 100, 50].repeat((width * height) as usize);
        let pixels = Pixels::new(width as u32, height as u32, rgb).unwrap();
        let image = pixels.write(Format::Png).unwrap();
        Ok(Screenshot { image, size: self.size(), blank: None })
    }
    async fn scaled_jpeg(&self, _max_side: i32) -> Result<Option<Screenshot>, Error> {
        let Some(size) = *self.scales_to.lock().unwrap() else { return Ok(None) };
        let image = Image { format: Format::Jpeg, bytes: vec![0xFF, 0xD8].into() };
        Ok(Some(Screenshot { image, size, blank: None }))
    }
    async fn tree(&self, _detail: TreeDetail) -> Result<Tree, Error> {
        let node = Node { text: "Pay".into(), bounds: ROW, ..Node::default() };
        let rotation = self.screen.lock().unwrap().1;
        Ok(Tree { nodes: vec![node], rotation, ..Tree::default() })
    }
    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        self.touched.lock().unwrap().push(gesture);
        Ok(())
    }
    async fn type_text(&self, _: &str) -> Result<TypingMethod, Error> {
        Ok(TypingMethod::Keys)
    }
    async fn press(&self, _: Key) -> Result<(), Error> {
        Ok(())
    }
    async fn apps(&self) -> Result<AppList, Error> {
        Ok(Vec::new().into())
    }
    async fn launch(&self, _: &AppId, _: &[LaunchArgument]) -> Result<String, Error> {
        Ok(String::new())
    }
    async fn stop(&self, _: &AppId) -> Result<(), Error> {
        Ok(())
    }
    async fn foreground(&self) -> Result<Foreground, Error> {
        Ok(Foreground::Unknown)
    }
    async fn info(&self) -> Result<DeviceInfo, Error> {
        Ok(DeviceInfo {
            manufacturer: String::new(),
            model: String::new(),
            os_version: String::new(),
            api_level: None,
            screen: self.size(),
            density: Some(420),
            orientation: Orientation::Portrait,
            battery: None,
            serial: String::new(),
            panel: Panel {
                size: self.size(),
                size_set: None,
                density: Some(420),
                density_set: None,
            },
        })
    }
    async fn restore_borrowed(&self) {}
    async fn disconnect(&self) {}
    fn facets(&self) -> Facets<'_> {
        Facets { display: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl DisplayControl for Phone {
    async fn orientation(&self) -> Result<Orientation, Error> {
        let Size { width, height } = self.size();
        Ok(if width > height { Orientation::Landscape } else { Orientation::Portrait })
    }
    async fn set_orientation(&self, _: Orientation, owner: &str) -> Result<(), Error> {
        assert_eq!(owner, "me");
        self.turn();
        Ok(())
    }
    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error> {
        assert_eq!(turned, RotationOwner::Session("me"));
        self.turn();
        Ok(true)
    }
    async fn unlock(&self) -> Result<Foreground, Error> {
        Err(self.unsupported("unlocking the screen"))
    }
}

#[tokio::test]
async fn rotation_passes_through_and_refreshes_the_size() {
    let phone = scaled(1080, 2400, 600);
    let (upright, lying) = (Size { width: 270, height: 600 }, Size { width: 600, height: 270 });
    assert_eq!(phone.screen_size().await.unwrap(), upright);
    let turning = phone.facets().display.unwrap();
    turning.set_orientation(Orientation::Landscape, "me").await.unwrap();
    assert_eq!(phone.screen_size().await.unwrap(), lying);
    assert!(turning.restore_orientation(RotationOwner::Session("me")).await.unwrap());
    assert_eq!(phone.screen_size().await.unwrap(), upright);
}

#[tokio::test]
async fn screenshot_tree_size_and_info_use_the_same_pixels() {
    let phone = scaled(1080, 2400, 600);
    let served = Size { width: 270, height: 600 };
    let picture = phone.screenshot().await.unwrap();
    assert_eq!(picture.size, served);
    assert_eq!(Pixels::read(&picture.image).unwrap().size(), served);
    assert_eq!(phone.screen_size().await.unwrap(), served);
    let info = phone.info().await.unwrap();
    assert_eq!((info.screen, info.density), (served, Some(105)));
    let tree = phone.tree(TreeDetail::Full).await.unwrap();
    assert_eq!(tree.nodes[0].bounds, Rect { left: 10, top: 100, right: 260, bottom: 140 });
    phone.touch(Gesture::Tap { at: tree.nodes[0].bounds.center() }).await.unwrap();
    let Gesture::Tap { at } = phone.inner.touched() else { panic!("no tap") };
    assert_eq!(at, Point { x: 542, y: 482 });
    let (from, to) = (Point { x: 0, y: 0 }, Point { x: 269, y: 599 });
    phone.touch(Gesture::Swipe { from, to, duration: Duration::from_secs(1) }).await.unwrap();
    let [from, to] = phone.inner.touched().ends();
    assert_eq!((from, to), (Point { x: 2, y: 2 }, Point { x: 1078, y: 2398 }));
    let (middle, duration) = (Point { x: 135, y: 300 }, Duration::from_secs(1));
    phone.touch(Gesture::Pinch { middle, from: 50, to: 100, duration }).await.unwrap();
    let Gesture::Pinch { middle, from, to, .. } = phone.inner.touched() else { panic!("no pinch") };
    assert_eq!((middle, from, to), (Point { x: 542, y: 1202 }, 200, 400));
}

#[tokio::test]
async fn scaled_screenshot_is_encoded_as_asked() {
    let phone = scaled(1080, 2400, 600);
    let taken = async |format| phone.screenshot_as(format).await.unwrap().image.format;
    assert_eq!(taken(FormatPreference::AsTaken).await, Format::Png);
    for format in Format::ALL {
        assert_eq!(taken(FormatPreference::Only(format)).await, format);
    }
    // One colour.
    assert_eq!(taken(FormatPreference::Smallest).await, Format::Webp);
}

/// By its own JPEG, once the screen's size is known; also after a turn.
#[tokio::test]
async fn phone_that_scales_itself_is_asked_to() {
    let phone = scaled(1080, 2400, 600);
    let scales_to = |size| *phone.inner.scales_to.lock().unwrap() = size;
    scales_to(Some(Size { width: 270, height: 600 }));
    let taken = async || phone.screenshot_as(FormatPreference::Smallest).await.unwrap();
    assert_eq!(taken().await.image.format, Format::Webp, "the size is not known yet");
    assert_eq!(taken().await.image.format, Format::Jpeg);
    phone.inner.turn();
    scales_to(Some(Size { width: 600, height: 270 }));
    assert_eq!(taken().await.size, Size { width: 600, height: 270 });
    phone.touch(Gesture::Tap { at: Point { x: 599, y: 269 } }).await.unwrap();
    assert_eq!(phone.inner.touched().ends()[0], Point { x: 2398, y: 1078 });
    let png = phone.screenshot_as(FormatPreference::Only(Format::Png)).await.unwrap();
    assert_eq!(png.image.format, Format::Png);
    // It rounds otherwise: its coordinates would be others.
    scales_to(Some(Size { width: 600, height: 269 }));
    assert_eq!(taken().await.size, Size { width: 600, height: 270 });
    scales_to(Some(Size { width: 600, height: 270 }));
    assert_eq!(taken().await.image.format, Format::Webp, "nor is it asked again");
}

/// The property that a touch on an element hits it, for the limits of vision models, upright and
/// turned.
#[tokio::test]
async fn every_pixel_of_a_row_hits_it_also_after_a_turn() {
    let phone = ScaledDevice::new(Arc::new(Phone::new(1080, 2400)), PixelLimits::VISION_MODELS);
    for _ in 0..2 {
        let row = phone.tree(TreeDetail::Full).await.unwrap().nodes[0].bounds;
        for x in row.left..row.right {
            for y in [row.top, row.bottom - 1] {
                phone.touch(Gesture::Tap { at: Point { x, y } }).await.unwrap();
                let [at, _] = phone.inner.touched().ends();
                assert!(ROW.contains(at), "{x},{y} of {row:?} touches {at:?}");
            }
        }
        phone.inner.turn();
    }
}

/// A driver may round the size of a tiny picture down.
#[tokio::test]
async fn screen_without_pixels_divides_nothing_by_zero() {
    let phone = ScaledDevice::new(Arc::new(Phone::new(0, 0)), PixelLimits::VISION_MODELS);
    let tree = phone.tree(TreeDetail::Full).await.unwrap();
    phone.touch(Gesture::Tap { at: tree.nodes[0].bounds.center() }).await.unwrap();
    assert_eq!(phone.screen_size().await.unwrap(), Size { width: 1, height: 1 });
}

#[tokio::test]
async fn small_screen_is_not_scaled() {
    let phone = scaled(320, 480, 1024);
    let picture = phone.screenshot().await.unwrap();
    assert_eq!(picture, phone.inner.screenshot().await.unwrap());
    assert_eq!(
        phone.tree(TreeDetail::Full).await.unwrap(),
        phone.inner.tree(TreeDetail::Full).await.unwrap()
    );
}

#[tokio::test]
async fn size_is_read_once_and_again_after_rotation() {
    let phone = scaled(1080, 2400, 600);
    for _ in 0..3 {
        phone.tree(TreeDetail::Full).await.unwrap();
        phone.touch(Gesture::Tap { at: Point { x: 1, y: 1 } }).await.unwrap();
    }
    assert_eq!(phone.inner.sizes(), 1);
    phone.inner.turn();
    phone.tree(TreeDetail::Full).await.unwrap();
    phone.tree(TreeDetail::Full).await.unwrap();
    assert_eq!(phone.inner.sizes(), 2);
    // On a screen 2400 wide, a screenshot pixel is 4 wide again.
    phone.touch(Gesture::Tap { at: Point { x: 599, y: 269 } }).await.unwrap();
    assert_eq!(phone.inner.touched().ends()[0], Point { x: 2398, y: 1078 });
    // A screenshot carries the new size, and the tree that follows checks whether it agrees.
    phone.inner.turn();
    phone.screenshot().await.unwrap();
    phone.touch(Gesture::Tap { at: Point { x: 269, y: 599 } }).await.unwrap();
    assert_eq!(phone.inner.touched().ends()[0], Point { x: 1078, y: 2398 });
    assert_eq!(phone.inner.sizes(), 2);
}

proptest! {
    /// Holds for the center of any element at least as large as a block, and for every other pixel
    /// of its rectangle.
    #[test]
    fn touch_on_an_element_hits_it(
        (width, height) in (1..4000_i32, 1..4000_i32), most in 1..3000_u32,
        at in (0.0..1.0, 0.0..1.0), part in (0.0..1.0, 0.0..1.0),
    ) {
        let scale = Scale::of(Size { width, height }, PixelLimits::longer_side(most));
        let span = |side: i32, block: i32, at: f64, part: f64| {
            let long = (f64::from(side) * part) as i32;
            let long = long.max(block).min(side);
            let from = (f64::from(side - long) * at) as i32;
            (from, from + long)
        };
        let block = |screen: i32, picture: i32| (screen + picture - 1) / picture + 1;
        let (left, right) = span(width, block(width, scale.picture.width), at.0, part.0);
        let (top, bottom) = span(height, block(height, scale.picture.height), at.1, part.1);
        let element = Rect { left, top, right, bottom };
        let served = scale.to_picture(element);
        prop_assert!(!served.is_empty());
        let corners = [
            served.center(),
            Point { x: served.left, y: served.top },
            Point { x: served.right - 1, y: served.bottom - 1 },
        ];
        for at in corners {
            let touched = scale.to_screen(at);
            prop_assert!(element.contains(touched), "{element:?} {served:?} {at:?} {touched:?}");
        }
    }

    /// Holds even for an element thinner than a block: the touch misses by half a block at most.
    #[test]
    fn touch_on_a_thin_element_misses_by_half_a_block_at_most(
        (width, height) in (100..4000_i32, 100..4000_i32), most in 50..3000_u32, left in 0..99_i32, top in 0..99_i32,
    ) {
        let scale = Scale::of(Size { width, height }, PixelLimits::longer_side(most));
        let element = Rect { left, top, right: left + 1, bottom: top + 1 };
        let served = scale.to_picture(element);
        prop_assert!(!served.is_empty());
        let touched = scale.to_screen(served.center());
        let block = f64::from(width.max(height)) / f64::from(scale.picture.width.max(scale.picture.height));
        let apart = (touched.x - left).abs().max((touched.y - top).abs());
        prop_assert!(f64::from(apart) <= block / 2.0 + 2.0, "{apart} of a block of {block}");
    }

    #[test]
    fn no_numbers_panic(side in any::<(i32, i32)>(), most in any::<u32>(), edges in any::<[i32; 4]>()) {
        let screen = Size { width: side.0.max(1), height: side.1.max(1) };
        let scale = Scale::of(screen, PixelLimits::longer_side(most));
        let [left, top, right, bottom] = edges;
        let _ = scale.to_picture(Rect { left, top, right, bottom });
        let _ = scale.to_screen(Point { x: left, y: top });
    }

    /// Rectangles that share an edge still do, and nested rectangles stay nested.
    #[test]
    fn neighbours_stay_neighbours(most in 100..2000_u32, edges in prop::array::uniform4(0..1080_i32)) {
        let screen = Size { width: 1080, height: 2400 };
        let scale = Scale::of(screen, PixelLimits::longer_side(most));
        let mut edges = edges;
        edges.sort_unstable();
        let row = |left, right| scale.to_picture(Rect { left, top: 0, right, bottom: 100 });
        let [a, b, c, d] = edges;
        prop_assume!(b - a > 20 && c - b > 20 && d - c > 20);
        prop_assert_eq!(row(a, b).right, row(b, c).left);
        prop_assert!(row(a, d).left <= row(b, c).left && row(b, c).right <= row(a, d).right);
    }
}
