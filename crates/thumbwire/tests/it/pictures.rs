//! Screenshots through MCP calls: the number of commands, the size, and the text beside black ones.

use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_adb::daemon::{self, Handler, ServiceRefused, Services, handler};
use thumbwire_adb::wire::banner::{Banner, Features};
use thumbwire_core::action::Call;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::mobile::{self, TreeForm};
use thumbwire_core::toolset::{Content, ObserveMode, Reply, Toolset};
use thumbwire_device::image::{PixelLimits, Pixels};
use thumbwire_device::{Format, FormatPreference, Image, Size};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::Display;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use crate::caller::provider;
use crate::wire::focused;

/// The mobile toolset over a session.
struct Caller {
    surface: Toolset,
    session: Session,
}

impl Caller {
    /// On a virtual phone that the test controls, without a helper.
    fn on_virtual(limits: Option<PixelLimits>) -> (Self, VirtualPhone) {
        let phone = VirtualPhone::new(Setup { helper: false, ..Setup::default() });
        (Self::on(&phone, limits), phone)
    }

    /// As `thumbwire serve` does it.
    fn served() -> (Self, VirtualPhone) {
        let (mut caller, phone) = Self::on_virtual(Some(PixelLimits::VISION_MODELS));
        caller.surface = mobile::toolset_sending(
            TreeForm::List,
            ObserveMode::Diff,
            &[],
            FormatPreference::Smallest,
        );
        (caller, phone)
    }

    fn on(phone: &VirtualPhone, limits: Option<PixelLimits>) -> Self {
        let mut phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9")).with(provider(phone));
        if let Some(limits) = limits {
            phones = phones.with_screenshot_limits(limits);
        }
        let session = Session::new(phones, Some(VIRTUAL.into()));
        Self { surface: mobile::toolset(), session }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Reply {
        let tool = self.surface.tool(tool).unwrap();
        let arguments = arguments.as_object().cloned().unwrap();
        let reply = self
            .surface
            .answer(tool, arguments, Call::with_timeout(tool.budget), &self.session)
            .await;
        assert!(!reply.is_error, "{reply:?}");
        reply
    }

    async fn words(&self, tool: &str, arguments: Value) -> String {
        let reply = self.call(tool, arguments).await;
        words(&reply).join("\n--\n")
    }
}

fn words(reply: &Reply) -> Vec<&str> {
    let words = reply.content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    words.collect()
}

fn picture(reply: &Reply) -> &Image {
    let mut pictures = reply.content.iter().filter_map(|part| match part {
        Content::Image(image) => Some(image),
        _ => None,
    });
    let picture = pictures.next().unwrap();
    assert!(pictures.next().is_none(), "one picture");
    picture
}

fn size(image: &Image) -> Size {
    Pixels::read(image).unwrap().size()
}

/// The programs that ran since the last call.
fn ran(phone: &VirtualPhone, since: &mut usize) -> Vec<String> {
    let all = phone.commands();
    // A tree comes with the state of the windows, in the same round trip.
    let along = ["echo", "echo == windows", "dumpsys power", "dumpsys window -a"];
    let new = all[*since..].iter().map(|command| command.argv.join(" "));
    let new = new.filter(|command| !along.contains(&command.as_str())).collect();
    *since = all.len();
    new
}

#[tokio::test]
async fn each_tool_runs_only_its_own_commands() {
    let (caller, phone) = Caller::on_virtual(None);
    // Connecting runs no command, and the first screenshot yields the size that a tap is checked
    // against.
    caller.call("mobile_take_screenshot", json!({})).await;
    let mut since = phone.commands().len();
    caller.call("mobile_tap", json!({ "x": 540, "y": 300 })).await;
    assert_eq!(ran(&phone, &mut since), ["input tap 540 300"]);
    caller.call("mobile_get_accessibility_tree", json!({})).await;
    assert_eq!(ran(&phone, &mut since), ["uiautomator dump /dev/tty"]);
    caller.call("mobile_take_screenshot", json!({})).await;
    assert_eq!(ran(&phone, &mut since), ["screencap -p"]);
    caller.call("mobile_snapshot", json!({})).await;
    let mut both = ran(&phone, &mut since);
    both.sort();
    assert_eq!(both, ["screencap -p", "uiautomator dump /dev/tty"]);
}

#[tokio::test]
async fn repeated_screenshot_is_cached() {
    let (caller, phone) = Caller::on_virtual(None);
    let first = caller.call("mobile_take_screenshot", json!({})).await;
    let mut since = phone.commands().len();
    let again = caller.call("mobile_take_screenshot", json!({})).await;
    assert_eq!(picture(&again), picture(&first));
    assert_eq!(ran(&phone, &mut since), [""; 0]);
    caller.call("mobile_press_key", json!({ "key": "home" })).await;
    caller.call("mobile_take_screenshot", json!({})).await;
    assert_eq!(ran(&phone, &mut since), ["input keyevent 3", "screencap -p"]);
}

#[tokio::test]
async fn snapshot_has_the_requested_format() {
    let display = Display { width: 360, height: 800, density: 160, rotation: 0 };
    let caller = Caller::on(&VirtualPhone::new(Setup { display, ..Setup::default() }), None);
    for (format, wanted) in [
        (json!({}), Format::Png),
        (json!({ "format": "png" }), Format::Png),
        (json!({ "format": "jpeg" }), Format::Jpeg),
        (json!({ "format": "webp" }), Format::Webp),
    ] {
        let reply = caller.call("mobile_snapshot", format).await;
        let [Content::Text(tree), Content::Image(image)] = reply.content.as_slice() else {
            panic!("{reply:?}")
        };
        assert!(tree.contains("\"Maps\""), "{tree}");
        assert_eq!((image.format, size(image)), (wanted, Size { width: 360, height: 800 }));
    }
}

#[tokio::test]
async fn a_black_picture_is_named_beside_it() {
    let (caller, phone) = Caller::on_virtual(None);
    let launcher = foreground(&phone);
    phone.world(|world| world.set_secure(&launcher, true));
    let mut out = caller.words("mobile_take_screenshot", json!({})).await;
    let snapshot = caller.call("mobile_snapshot", json!({})).await;
    assert!(words(&snapshot)[0].contains("\"Maps\""), "the tree can be read");
    out = format!("{out}\n--\n{}", words(&snapshot)[1]);
    phone.world(|world| world.set_secure(&launcher, false));
    caller.call("mobile_press_key", json!({ "key": "power" })).await;
    out = format!("{out}\n--\n{}", caller.words("mobile_take_screenshot", json!({})).await);
    insta::assert_snapshot!(out);
    caller.call("mobile_press_key", json!({ "key": "power" })).await;
    assert_eq!(caller.words("mobile_take_screenshot", json!({})).await, "");
}

#[tokio::test]
async fn coordinates_of_a_scaled_screenshot_hit_the_phone() {
    let (caller, phone) = Caller::on_virtual(Some(PixelLimits::longer_side(600)));
    let snapshot = caller.call("mobile_snapshot", json!({ "detail": "full" })).await;
    assert_eq!(size(picture(&snapshot)), Size { width: 270, height: 600 });
    let info = caller.call("mobile_get_device_info", json!({})).await.structured.unwrap();
    assert_eq!((&info["screen"]["width"], &info["screen"]["height"]), (&json!(270), &json!(600)));
    // The center of the icon, as a model reads it from the tree.
    let tree = words(&snapshot)[0];
    let line = tree.lines().find(|line| line.contains("\"Maps\"")).unwrap();
    let bounds = &line[line.find('[').unwrap()..line.rfind(']').unwrap()];
    let edges: Vec<i32> =
        bounds.split(|c: char| !c.is_ascii_digit()).filter_map(|edge| edge.parse().ok()).collect();
    let [left, top, right, bottom] = edges[..] else { panic!("{bounds}") };
    assert!(right <= 270 && bottom <= 600, "{bounds}");
    let middle = json!({ "x": (left + right) / 2, "y": (top + bottom) / 2 });
    caller.call("mobile_tap", middle).await;
    assert_eq!(foreground(&phone), "com.google.android.apps.maps");
    caller.call("mobile_press_key", json!({ "key": "home" })).await;
    caller.call("mobile_tap_element", json!({ "text": "Settings" })).await;
    assert_eq!(foreground(&phone), "com.android.settings");
    // Coordinates outside the screenshot are outside the screen.
    let tool = caller.surface.tool("mobile_tap").unwrap();
    let outside = json!({ "x": 271, "y": 10 }).as_object().cloned().unwrap();
    let call = Call::with_timeout(tool.budget);
    let refused = caller.surface.answer(tool, outside, call, &caller.session).await;
    assert!(words(&refused)[0].contains("270 wide and 600 high"), "{refused:?}");
}

/// The rectangle in a line of the list with `detail: "full"`.
fn bounds_of(list: &str, name: &str) -> [i32; 4] {
    let line = list.lines().find(|line| line.contains(name)).expect(name);
    let bounds = &line[line.rfind('[').unwrap()..];
    let bounds = match line.rfind("][") {
        Some(middle) => &line[line[..middle].rfind('[').unwrap()..],
        None => bounds,
    };
    let edges = bounds.split(|c: char| !c.is_ascii_digit() && c != '-');
    let edges: Vec<i32> = edges.filter_map(|edge| edge.parse().ok()).collect();
    edges[..4].try_into().unwrap()
}

/// How many pixels a scroll moves the shop's list, as the reply tells it.
async fn scrolled(caller: &Caller) -> i32 {
    caller.call("mobile_launch_app", json!({ "bundle_id": "com.example.shop" })).await;
    let way = json!({ "direction": "down", "distance": 0.3 });
    let reply = caller.words("mobile_scroll", way).await;
    let moved = reply.lines().find_map(|line| line.strip_prefix("Moved "));
    let moved = moved.unwrap_or_else(|| panic!("{reply}")).split(' ').next().unwrap();
    moved.parse().unwrap()
}

/// Every tool that takes or tells pixels, as `serve` offers it: all are those of the picture that
/// was sent.
#[tokio::test]
async fn served_pictures_are_small_and_all_coordinates_are_theirs() {
    let (caller, phone) = Caller::served();
    let sent = Size { width: 706, height: 1568 };
    let taken = caller.call("mobile_take_screenshot", json!({})).await;
    assert_eq!(size(picture(&taken)), sent);
    assert!([Format::Jpeg, Format::Webp].contains(&picture(&taken).format));
    let (_, full) = Caller::on_virtual(None);
    let full = Caller::on(&full, None).call("mobile_take_screenshot", json!({})).await;
    let (less, more) = (picture(&taken).bytes.len(), picture(&full).bytes.len());
    assert!(less * 2 < more, "{less} of {more} bytes");
    // On request, exact pixels in the same size.
    let exact = caller.call("mobile_snapshot", json!({ "format": "png", "detail": "full" })).await;
    assert_eq!((picture(&exact).format, size(picture(&exact))), (Format::Png, sent));
    let info = caller.call("mobile_get_device_info", json!({})).await.structured.unwrap();
    assert_eq!((&info["screen"]["width"], &info["screen"]["height"]), (&json!(706), &json!(1568)));
    // A tap by ref tells the point in the same pixels, inside the element's rectangle.
    let [left, top, right, bottom] = bounds_of(words(&exact)[0], "\"Settings\"");
    assert!(right <= 706 && bottom <= 1568);
    let tapped = caller.words("mobile_tap_element", json!({ "text": "Settings" })).await;
    let point = tapped.lines().next().unwrap().rsplit_once(" at (").unwrap().1;
    let point: Vec<i32> =
        point.trim_end_matches(')').split(", ").map(|at| at.parse().unwrap()).collect();
    assert!((left..right).contains(&point[0]) && (top..bottom).contains(&point[1]), "{tapped}");
    assert_eq!(foreground(&phone), "com.android.settings");
    // A scroll tells its distance in them.
    let (other, _) = Caller::served();
    let unscaled = Caller { surface: other.surface, ..Caller::on_virtual(None).0 };
    let (moved, whole) = (scrolled(&caller).await, scrolled(&unscaled).await);
    assert!((moved * 1080 / 706 - whole).abs() <= 8, "{moved} for {whole} screen pixels");
    caller.call("mobile_launch_app", json!({ "bundle_id": "com.android.settings" })).await;
    // After a turn the picture is wide, and so are the coordinates.
    caller.call("mobile_set_orientation", json!({ "orientation": "landscape" })).await;
    let turned = caller.call("mobile_snapshot", json!({ "detail": "full" })).await;
    assert_eq!(size(picture(&turned)), Size { width: 1568, height: 706 });
    let [left, top, right, bottom] = bounds_of(words(&turned)[0], "\"Search settings\"");
    for (x, y) in [(left, top), (right - 1, bottom - 1)] {
        let tap = json!({ "x": x, "y": y });
        caller.call("mobile_tap", tap).await;
        assert_eq!(focused(&phone).as_deref(), Some(""), "{x},{y} is in the field");
        // The first closes the keyboard.
        caller.call("mobile_press_key", json!({ "key": "back" })).await;
        caller.call("mobile_press_key", json!({ "key": "back" })).await;
        caller.call("mobile_launch_app", json!({ "bundle_id": "com.android.settings" })).await;
    }
}

#[tokio::test]
async fn lossless_picture_is_not_made_of_a_jpeg() {
    let (caller, phone) = Caller::served();
    caller.call("mobile_launch_app", json!({ "bundle_id": "com.google.android.apps.maps" })).await;
    let first = caller.call("mobile_take_screenshot", json!({})).await;
    assert_eq!(picture(&first).format, Format::Jpeg, "a map has many colours");
    let mut since = phone.commands().len();
    // The JPEG is still fresh for who takes any format, but not for who wants a PNG.
    let again = caller.call("mobile_take_screenshot", json!({})).await;
    assert_eq!(picture(&again), picture(&first));
    assert_eq!(ran(&phone, &mut since), [""; 0]);
    let exact = caller.call("mobile_snapshot", json!({ "format": "png" })).await;
    assert_eq!(picture(&exact).format, Format::Png);
    let mut both = ran(&phone, &mut since);
    both.sort();
    assert_eq!(both, ["screencap -p", "uiautomator dump /dev/tty"]);
}

#[tokio::test]
async fn small_phone_is_sent_as_it_is() {
    let display = Display { width: 480, height: 800, density: 240, rotation: 0 };
    let phone = VirtualPhone::new(Setup { display, ..Setup::default() });
    let caller = Caller::on(&phone, Some(PixelLimits::VISION_MODELS));
    let reply = caller.call("mobile_take_screenshot", json!({})).await;
    assert_eq!(size(picture(&reply)), Size { width: 480, height: 800 });
}

fn foreground(phone: &VirtualPhone) -> String {
    phone.world(|world| world.foreground().package)
}

/// A phone with a fixed screenshot.
struct Noisy(Vec<u8>);

impl Services for Noisy {
    fn banner(&self) -> Banner {
        Banner::phone("p", "Noisy", "d", Features::default())
    }

    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let output = if service.contains("screencap -p") { self.0.clone() } else { Vec::new() };
        Ok(handler(async move |stream| {
            let mut stream = stream;
            let _ = stream.write_all(&output).await;
        }))
    }
}

#[tokio::test]
async fn noisy_screenshot_fits_two_million_bytes_unscaled() {
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let pixels = Pixels::new(1080, 2400, noise.take(1080 * 2400 * 3).collect()).unwrap();
    let png = pixels.write(Format::Png).unwrap().bytes.to_vec();
    assert!(png.len() > 7_000_000);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let phone = Arc::new(Noisy(png));
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        daemon::serve(stream, phone).await
    });
    let session = Session::new(DeviceProviders::adb(AdbServer::new("127.0.0.1:9")), Some(address));
    let caller = Caller { surface: mobile::toolset(), session };
    let reply = caller.call("mobile_take_screenshot", json!({})).await;
    let image = picture(&reply);
    assert!(image.bytes.len() <= 2_000_000, "{}", image.bytes.len());
    assert_eq!((image.format, size(image)), (Format::Jpeg, pixels.size()));
    assert_eq!(reply.to_json()["content"][0]["mimeType"], "image/jpeg");
}
