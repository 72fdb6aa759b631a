//! One coordinate space: what is read in the picture's pixels is touched in the screen's.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::{Node, Panel, Platform};

/// A phone with one row, which remembers where it was touched and how often it was asked for its size.
struct Phone {
    identity: Identity,
    screen: Mutex<(Size, u8)>,
    sizes: Mutex<usize>,
    touched: Mutex<Vec<Gesture>>,
}

const ROW: Rect = Rect { left: 40, top: 400, right: 1040, bottom: 560 };

impl Phone {
    fn new(width: i32, height: i32) -> Self {
        let identity =
            Identity { id: "p".into(), platform: Platform::Android, model: String::new() };
        let screen = Mutex::new((Size { width, height }, 0));
        Self { identity, screen, sizes: Mutex::default(), touched: Mutex::default() }
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

fn scaled(width: i32, height: i32, most: u32) -> Scaled<Phone> {
    Scaled::new(Arc::new(Phone::new(width, height)), most)
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
    async fn tree(&self, _detail: Detail) -> Result<Tree, Error> {
        let node = Node { text: "Pay".into(), bounds: ROW, ..Node::default() };
        let rotation = self.screen.lock().unwrap().1;
        Ok(Tree { nodes: vec![node], rotation, ..Tree::default() })
    }
    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        self.touched.lock().unwrap().push(gesture);
        Ok(())
    }
    async fn type_text(&self, _: &str) -> Result<TypedBy, Error> {
        Ok(TypedBy::Keys)
    }
    async fn press(&self, _: Key) -> Result<(), Error> {
        Ok(())
    }
    async fn apps(&self) -> Result<Vec<App>, Error> {
        Ok(Vec::new())
    }
    async fn launch(&self, _: &AppId) -> Result<String, Error> {
        Ok(String::new())
    }
    async fn stop(&self, _: &AppId) -> Result<(), Error> {
        Ok(())
    }
    async fn foreground(&self) -> Result<Option<Foreground>, Error> {
        Ok(None)
    }
    async fn info(&self) -> Result<Info, Error> {
        Ok(Info {
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
    async fn properties(&self) -> Result<Vec<(String, String)>, Error> {
        Ok(Vec::new())
    }
    async fn set_orientation(&self, _: Orientation, owner: &str) -> Result<(), Error> {
        assert_eq!(owner, "me");
        self.turn();
        Ok(())
    }
    async fn restore_orientation(&self, turned: TurnedBy<'_>) -> Result<bool, Error> {
        assert_eq!(turned, TurnedBy::This("me"));
        self.turn();
        Ok(true)
    }
}

#[tokio::test]
async fn a_screen_is_turned_and_turned_back_through_it_and_measured_anew() {
    let phone = Scaled::new(Arc::new(Phone::new(1080, 2400)), 600);
    let (upright, lying) = (Size { width: 270, height: 600 }, Size { width: 600, height: 270 });
    assert_eq!(phone.screen_size().await.unwrap(), upright);
    phone.set_orientation(Orientation::Landscape, "me").await.unwrap();
    assert_eq!(phone.screen_size().await.unwrap(), lying);
    assert!(phone.restore_orientation(TurnedBy::This("me")).await.unwrap());
    assert_eq!(phone.screen_size().await.unwrap(), upright);
}

#[tokio::test]
async fn picture_tree_size_and_info_speak_of_the_same_pixels() {
    let phone = scaled(1080, 2400, 600);
    let served = Size { width: 270, height: 600 };
    let picture = phone.screenshot().await.unwrap();
    assert_eq!(picture.size, served);
    assert_eq!(Pixels::read(&picture.image).unwrap().size(), served);
    assert_eq!(phone.screen_size().await.unwrap(), served);
    let info = phone.info().await.unwrap();
    assert_eq!((info.screen, info.density), (served, Some(105)));
    let tree = phone.tree(Detail::Full).await.unwrap();
    assert_eq!(tree.nodes[0].bounds, Rect { left: 10, top: 100, right: 260, bottom: 140 });
    phone.touch(Gesture::Tap { at: tree.nodes[0].bounds.center() }).await.unwrap();
    let Gesture::Tap { at } = phone.inner.touched() else { panic!("no tap") };
    assert_eq!(at, Point { x: 542, y: 482 });
    let (from, to) = (Point { x: 0, y: 0 }, Point { x: 269, y: 599 });
    phone.touch(Gesture::Swipe { from, to, lasting: Duration::from_secs(1) }).await.unwrap();
    let [from, to] = phone.inner.touched().ends();
    assert_eq!((from, to), (Point { x: 2, y: 2 }, Point { x: 1078, y: 2398 }));
}

#[tokio::test]
async fn a_screen_that_is_small_enough_is_served_as_it_is() {
    let phone = scaled(320, 480, 1024);
    let picture = phone.screenshot().await.unwrap();
    assert_eq!(picture, phone.inner.screenshot().await.unwrap());
    assert_eq!(
        phone.tree(Detail::Full).await.unwrap(),
        phone.inner.tree(Detail::Full).await.unwrap()
    );
}

#[tokio::test]
async fn the_size_is_asked_for_once_and_again_when_the_screen_was_turned() {
    let phone = scaled(1080, 2400, 600);
    for _ in 0..3 {
        phone.tree(Detail::Full).await.unwrap();
        phone.touch(Gesture::Tap { at: Point { x: 1, y: 1 } }).await.unwrap();
    }
    assert_eq!(phone.inner.sizes(), 1);
    phone.inner.turn();
    phone.tree(Detail::Full).await.unwrap();
    phone.tree(Detail::Full).await.unwrap();
    assert_eq!(phone.inner.sizes(), 2);
    // In a screen 2400 wide, a pixel of the picture is 4 wide again.
    phone.touch(Gesture::Tap { at: Point { x: 599, y: 269 } }).await.unwrap();
    assert_eq!(phone.inner.touched().ends()[0], Point { x: 2398, y: 1078 });
    // A picture tells the new size by itself, and the tree that follows asks whether it agrees.
    phone.inner.turn();
    phone.screenshot().await.unwrap();
    phone.touch(Gesture::Tap { at: Point { x: 269, y: 599 } }).await.unwrap();
    assert_eq!(phone.inner.touched().ends()[0], Point { x: 1078, y: 2398 });
    assert_eq!(phone.inner.sizes(), 2);
}

/// A method of the trait that has a body of its own is not missed by the compiler when it is missing here.
#[test]
fn every_method_of_a_device_is_passed_on() {
    let of = |text: &str, from: &str| -> Vec<String> {
        let (_, body) = text.split_once(from).unwrap();
        let body = body.split("\n}\n").next().unwrap();
        let lines = body.lines().map(|line| line.trim_start().trim_start_matches("async "));
        let names = lines.filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
        names.map(str::to_owned).collect()
    };
    let asked = of(include_str!("../lib.rs"), "pub trait Device");
    let passed = of(include_str!("../scaled.rs"), "Device for Scaled<D>");
    assert!(asked.len() >= 15, "{asked:?}");
    for method in asked.iter().filter(|method| *method != "unsupported") {
        assert!(passed.contains(method), "Scaled does not pass on `{method}`");
    }
}

proptest! {
    /// The middle of any element that is at least as large as a block, and every other pixel of its rectangle too.
    #[test]
    fn a_touch_on_an_element_lands_in_it(
        (width, height) in (1..4000_i32, 1..4000_i32), most in 1..3000_u32,
        at in (0.0..1.0, 0.0..1.0), part in (0.0..1.0, 0.0..1.0),
    ) {
        let scale = Scale::of(Size { width, height }, most);
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

    /// Also of one that is thinner than a block: half a block beside it at most.
    #[test]
    fn a_touch_on_a_thin_element_lands_beside_it_by_half_a_block_at_most(
        (width, height) in (100..4000_i32, 100..4000_i32), most in 50..3000_u32, left in 0..99_i32, top in 0..99_i32,
    ) {
        let scale = Scale::of(Size { width, height }, most);
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
        let scale = Scale::of(Size { width: side.0.max(1), height: side.1.max(1) }, most.max(1));
        let [left, top, right, bottom] = edges;
        let _ = scale.to_picture(Rect { left, top, right, bottom });
        let _ = scale.to_screen(Point { x: left, y: top });
    }

    /// Rectangles that share an edge still do, and one inside another still is.
    #[test]
    fn neighbours_stay_neighbours(most in 100..2000_u32, edges in prop::array::uniform4(0..1080_i32)) {
        let scale = Scale::of(Size { width: 1080, height: 2400 }, most);
        let mut edges = edges;
        edges.sort_unstable();
        let row = |left, right| scale.to_picture(Rect { left, top: 0, right, bottom: 100 });
        let [a, b, c, d] = edges;
        prop_assume!(b - a > 20 && c - b > 20 && d - c > 20);
        prop_assert_eq!(row(a, b).right, row(b, c).left);
        prop_assert!(row(a, d).left <= row(b, c).left && row(b, c).right <= row(a, d).right);
    }
}
