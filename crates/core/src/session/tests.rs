//! The session over a fake device that a test controls step by step.

mod apps;
mod choosing;
mod clients;
mod controls;
mod finding;
mod leasing;
mod looks;
mod monitors;
mod recordings;
mod saving;
mod studio;
mod turning;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use thumbwire_adb::AdbServer;
use thumbwire_base::lock;
use thumbwire_device::image::Pixels;
use thumbwire_device::{
    App, AppId, AppList, Check, DeviceInfo, DisplayControl, Error, Facets, Flags, Foreground,
    Format, Gesture, Health, HealthChecks, Identity, Image, Key, LaunchArgument, Node, Orientation,
    Panel, Platform, Point, Rect, RotationOwner, Screenshot, Size, Tree, TreeDetail, TypingMethod,
};
use tokio::sync::Semaphore;

use super::*;
use crate::action::{ElementRef, ScreenshotAndSnapshot, ScreenshotOptions, TapResult, Target};
use crate::event::EventSink;

/// A phone that shows `tree`, has `size`, and performs a key press once `keys` permits it.
struct Fake {
    identity: Identity,
    tree: Mutex<Tree>,
    size: Mutex<Size>,
    keys: Semaphore,
    /// How often its size was read.
    measured: AtomicUsize,
    looking: AtomicUsize,
    most_looking: AtomicUsize,
    looked: Mutex<Vec<TreeDetail>>,
    touched: Mutex<Vec<Gesture>>,
    turning: Mutex<turning::Turning>,
    apps: Mutex<Vec<App>>,
    cannot_start: Mutex<Vec<String>>,
    /// Includes apps that could not be started.
    launched: Mutex<Vec<String>>,
    /// Its screen never rests.
    keeps_moving: AtomicBool,
    /// What is in front, one after the other; the last one stays. Nothing is known if empty.
    fronts: Mutex<Vec<Foreground>>,
    /// How often it listed its apps.
    listed: AtomicUsize,
    /// How often its info was read.
    infos: AtomicUsize,
    /// The next screenshots; if empty, screenshots are unsupported.
    pictures: Mutex<Vec<Screenshot>>,
    /// One permit per screenshot that may finish.
    shutter: Semaphore,
    /// It answers nothing any more.
    is_silent: AtomicBool,
}

impl Fake {
    fn new(nodes: Vec<Node>) -> Arc<Self> {
        let identity =
            Identity { id: "fake".into(), platform: Platform::Android, model: String::new() };
        Arc::new(Self {
            identity,
            tree: Mutex::new(Tree { nodes, ..Tree::default() }),
            size: Mutex::new(Size { width: 100, height: 200 }),
            keys: Semaphore::new(0),
            measured: AtomicUsize::new(0),
            looking: AtomicUsize::new(0),
            most_looking: AtomicUsize::new(0),
            looked: Mutex::default(),
            touched: Mutex::default(),
            turning: Mutex::default(),
            apps: Mutex::default(),
            cannot_start: Mutex::default(),
            launched: Mutex::default(),
            keeps_moving: AtomicBool::new(false),
            fronts: Mutex::default(),
            listed: AtomicUsize::new(0),
            infos: AtomicUsize::new(0),
            pictures: Mutex::default(),
            shutter: Semaphore::new(0),
            is_silent: AtomicBool::new(false),
        })
    }
}

#[async_trait]
impl Device for Fake {
    fn identity(&self) -> &Identity {
        &self.identity
    }
    async fn probe(&self) -> Result<(), Error> {
        Ok(())
    }
    async fn screen_size(&self) -> Result<Size, Error> {
        self.measured.fetch_add(1, Ordering::SeqCst);
        Ok(*lock(&self.size))
    }
    async fn screenshot(&self) -> Result<Screenshot, Error> {
        let next = lock(&self.pictures).pop();
        let _ = self.shutter.acquire().await.map(|permit| permit.forget());
        next.ok_or_else(|| self.unsupported("pictures"))
    }
    async fn tree(&self, detail: TreeDetail) -> Result<Tree, Error> {
        lock(&self.looked).push(detail);
        let at_once = self.looking.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_looking.fetch_max(at_once, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.looking.fetch_sub(1, Ordering::SeqCst);
        if self.keeps_moving.load(Ordering::SeqCst) {
            let text = thumbwire_device::KEEPS_MOVING.into();
            return Err(Error::NotReady { what: "dump the screen", text });
        }
        Ok(lock(&self.tree).clone())
    }
    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        lock(&self.touched).push(gesture);
        Ok(())
    }
    async fn type_text(&self, _text: &str) -> Result<TypingMethod, Error> {
        Ok(TypingMethod::Keys)
    }
    async fn press(&self, _key: Key) -> Result<(), Error> {
        let _ = self.keys.acquire().await;
        Ok(())
    }
    async fn apps(&self) -> Result<AppList, Error> {
        self.listed.fetch_add(1, Ordering::SeqCst);
        Ok(lock(&self.apps).clone().into())
    }
    async fn launch(&self, app: &AppId, _: &[LaunchArgument]) -> Result<String, Error> {
        lock(&self.launched).push(app.0.clone());
        match lock(&self.cannot_start).contains(&app.0) {
            true if app.0.ends_with("provider") => Err(Error::NotLaunchable { app: app.0.clone() }),
            true => Err(Error::NoSuchApp { app: app.0.clone() }),
            false => Ok(String::new()),
        }
    }
    async fn stop(&self, _app: &AppId) -> Result<(), Error> {
        Ok(())
    }
    async fn foreground(&self) -> Result<Foreground, Error> {
        let mut fronts = lock(&self.fronts);
        let next = if fronts.len() > 1 { Some(fronts.remove(0)) } else { fronts.first().cloned() };
        Ok(next.unwrap_or_default())
    }
    async fn info(&self) -> Result<DeviceInfo, Error> {
        let screen = *lock(&self.size);
        let panel = Panel { size: screen, size_set: None, density: None, density_set: None };
        Ok(DeviceInfo {
            manufacturer: String::new(),
            model: format!("Fake {}", self.infos.fetch_add(1, Ordering::SeqCst) + 1),
            os_version: "14".into(),
            api_level: None,
            screen,
            density: None,
            orientation: Orientation::Portrait,
            battery: None,
            serial: String::new(),
            panel,
        })
    }
    async fn restore_borrowed(&self) {
        self.disconnect().await;
    }
    async fn disconnect(&self) {
        if self.is_silent.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
    fn facets(&self) -> Facets<'_> {
        Facets { health: Some(self), display: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl HealthChecks for Fake {
    async fn check_health(&self) -> Result<Health, Error> {
        let details = String::new();
        Ok(Health { checks: vec![Check { name: "connectivity".into(), passed: true, details }] })
    }
}

#[async_trait]
impl DisplayControl for Fake {
    async fn orientation(&self) -> Result<Orientation, Error> {
        Ok(lock(&self.turning).see())
    }
    async fn set_orientation(&self, orientation: Orientation, _owner: &str) -> Result<(), Error> {
        lock(&self.turning).order(orientation);
        Ok(())
    }
    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error> {
        Ok(lock(&self.turning).restore(turned))
    }
    async fn unlock(&self) -> Result<Foreground, Error> {
        Err(self.unsupported("unlocking the screen"))
    }
}

fn label(text: &str, bounds: [i32; 4]) -> Node {
    let [left, top, right, bottom] = bounds;
    let bounds = Rect { left, top, right, bottom };
    Node { text: text.into(), bounds, ..Node::default() }
}

fn over(device: &Arc<Fake>) -> Session {
    over_with(device, SessionOptions::default())
}

fn over_with(device: &Arc<Fake>, options: SessionOptions) -> Session {
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"));
    let session = Session::new(phones, SessionOptions { devices: vec!["fake".into()], ..options });
    session.keep("fake", Arc::<Fake>::clone(device));
    session
}

async fn ask(session: &Session, action: Action) -> Result<Outcome, Failure> {
    session.perform(&Call::with_timeout(Duration::from_secs(60)), action).await
}

fn number(id: &str) -> Action {
    Action::TapElement(Target::listed(id.parse::<ElementRef>().unwrap()))
}

fn reason(done: Result<Outcome, Failure>) -> String {
    match done {
        Err(Failure {
            cause: Cause::ElementNotFound { reason, .. },
            side_effect: SideEffect::None,
        }) => reason.unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn action_on_a_dropped_connection_invalidates_the_next_ones_refs() {
    let first = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = Arc::new(over(&first));
    let pressing = tokio::spawn({
        let session = Arc::clone(&session);
        async move { ask(&session, Action::Press(Key::Back)).await }
    });
    tokio::task::yield_now().await;
    session.drop_connection(&session.keep("fake", Arc::<Fake>::clone(&first)), "gone");
    let second = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    session.keep("fake", Arc::<Fake>::clone(&second));
    ask(&session, Action::LOOK).await.unwrap();
    first.keys.add_permits(1);
    pressing.await.unwrap().unwrap();
    lock(&second.tree).nodes = vec![label("Other", [0, 0, 50, 50])];
    assert_eq!(
        reason(ask(&session, number("e1")).await),
        "stale reference: another screen is in front than the one it was listed on"
    );
    assert!(lock(&second.touched).is_empty());
}

#[tokio::test]
async fn ref_outlives_an_action_only_on_the_same_screen() {
    let app = |screen: &str| {
        Foreground::App(thumbwire_device::ForegroundApp {
            app: AppId("com.shop".into()),
            screen: screen.into(),
        })
    };
    let rows = |names: &[&str]| -> Vec<Node> {
        let tops = (0..).step_by(20);
        names.iter().zip(tops).map(|(name, top)| label(name, [0, top, 50, top + 20])).collect()
    };
    let gone = "it is no longer on the screen, or its text changed";
    let other = "stale reference: another screen is in front than the one it was listed on";
    let twice = "2 elements match: e7 \"Ben\" at [0,40][50,60], e8 \"Ben\" at [0,80][50,100]";
    for (screen, now, expected) in [
        // In place, moved, gone, twice, and on a page of the same activity that shows something
        // else.
        ("List", rows(&["Anna", "Ben", "Carl", "Dora", "Emil"]), Ok(30)),
        ("List", rows(&["New", "Anna", "Zoe", "Ben", "Carl"]), Ok(70)),
        ("List", rows(&["Anna", "Carl", "Dora", "Emil"]), Err(gone)),
        ("List", rows(&["New", "Anna", "Ben", "Carl", "Ben"]), Err(twice)),
        ("List", rows(&["Ben", "1", "2", "3", "4"]), Err(other)),
        ("Details", rows(&["Anna", "Ben", "Carl", "Dora", "Emil"]), Err(other)),
    ] {
        let phone = Fake::new(rows(&["Anna", "Ben", "Carl", "Dora", "Emil"]));
        lock(&phone.tree).front = app("List");
        let session = over(&phone);
        ask(&session, Action::LOOK).await.unwrap();
        phone.keys.add_permits(1);
        ask(&session, Action::Press(Key::Back)).await.unwrap();
        *lock(&phone.tree) = Tree { nodes: now, front: app(screen), ..Tree::default() };
        match (ask(&session, number("e2")).await, expected) {
            (Ok(Outcome::Tapped(tapped)), Ok(y)) => assert_eq!(tapped.at.y, y),
            (refusal, Err(expected)) => assert_eq!(reason(refusal), expected),
            (other, Ok(_)) => panic!("{other:?}"),
        }
        let taps = lock(&phone.touched).len();
        assert_eq!(taps, usize::from(expected.is_ok()), "{screen}");
    }
}

#[tokio::test]
async fn dropping_an_old_connection_keeps_the_newer_one() {
    let (first, second) = (Fake::new(Vec::new()), Fake::new(vec![label("Pay", [0, 0, 50, 50])]));
    let session = over(&first);
    let old = session.keep("fake", Arc::<Fake>::clone(&first));
    session.drop_connection(&old, "gone");
    session.keep("fake", Arc::<Fake>::clone(&second));
    ask(&session, Action::LOOK).await.unwrap();
    session.drop_connection(&old, "gone");
    ask(&session, number("e1")).await.unwrap();
    assert_eq!(lock(&second.touched).len(), 1);
}

#[tokio::test]
async fn phone_with_an_address_is_listed_without_adb_server() {
    let listed = async |session: &Session| match ask(
        session,
        Action::ListDevices { platform: None, connect: false },
    )
    .await
    {
        Ok(Outcome::Devices(devices)) => {
            devices.into_iter().map(|phone| format!("{} {}", phone.id, phone.state)).collect()
        }
        other => panic!("{other:?}"),
    };
    let address = "192.0.2.7:5555";
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"));
    let session = Session::new(phones, Some(address.into()));
    let devices: Vec<_> = listed(&session).await;
    assert_eq!(devices, [format!("{address} not connected; the next call connects")]);
    let mut phone = Fake::new(Vec::new());
    Arc::get_mut(&mut phone).unwrap().identity.id = address.into();
    session.keep(address, phone);
    let devices: Vec<_> = listed(&session).await;
    assert_eq!(devices, [format!("{address} device")]);
    let none: Vec<_> = listed(&over(&Fake::new(Vec::new()))).await;
    assert!(none.is_empty(), "only the adb server lists serials: {none:?}");
}

/// Records events as text.
#[derive(Default)]
struct EventLog(Mutex<Vec<String>>);

impl EventSink for EventLog {
    fn on_event(&self, event: &Event<'_>) {
        lock(&self.0).push(match event {
            Event::DeviceConnected { device, .. } => format!("+{device}"),
            Event::DeviceLost { device, reason } => format!("-{device} {reason}"),
            other => format!("{other:?}"),
        });
    }
}

#[tokio::test]
async fn losing_a_phone_with_an_address_is_reported_once() {
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"));
    let session = Session::new(phones, None);
    let out = Arc::new(EventLog::default());
    session.events().add(Arc::clone(&out) as Arc<dyn EventSink>);
    let ids = ["fake", "192.0.2.7:5555"];
    for id in ids {
        let mut phone = Fake::new(Vec::new());
        Arc::get_mut(&mut phone).unwrap().identity.id = id.into();
        let attached = session.keep(id, phone);
        session.drop_connection(&attached, "unplugged");
        session.drop_connection(&attached, "unplugged");
    }
    // A phone of an adb server is reported by the server's list.
    assert_eq!(*lock(&out.0), ["-192.0.2.7:5555 unplugged"]);
}

#[tokio::test]
async fn snapshots_of_one_phone_are_serialized() {
    let device = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&device);
    let pay = Action::TapElement(Target::text("Pay"));
    let (one, two, three) =
        tokio::join!(ask(&session, Action::LOOK), ask(&session, Action::LOOK), ask(&session, pay));
    assert!(one.is_ok() && two.is_ok() && three.is_ok(), "{three:?}");
    assert_eq!(device.most_looking.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn silent_phone_does_not_keep_a_session_from_ending() {
    let phone = Fake::new(Vec::new());
    let session = over(&phone);
    ask(&session, Action::LOOK).await.unwrap();
    phone.is_silent.store(true, Ordering::SeqCst);
    let began = Instant::now();
    session.end().await;
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test]
async fn looks_of_one_share_wait_within_a_limit() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = &over(&phone);
    let snapshot_of = async |share: &str, client: &str| {
        let client = ClientId::Session(client.into());
        let time = Duration::from_secs(9);
        let call = Call { share: Some(share.into()), client, ..Call::with_timeout(time) };
        session.perform(&call, Action::LOOK).await
    };
    // Each in a session of its own: they are one client nevertheless.
    let names: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let many = futures::future::join_all(names.iter().map(|name| snapshot_of("ci", name)));
    let (many, other) = tokio::join!(many, snapshot_of("ann", "a"));
    let refused = many.into_iter().filter_map(Result::err).map(|failure| {
        assert_eq!(failure.next_step(), "wait for them, then try again");
        failure.cause
    });
    assert_eq!(refused.collect::<Vec<_>>(), vec![Cause::TooManyLooks { max: 32 }; 7]);
    assert!(other.is_ok(), "{other:?}");
}

#[tokio::test]
async fn element_with_its_center_off_screen_is_not_tapped() {
    let device = Fake::new(vec![
        label("Far", [0, 0, i32::MAX, i32::MAX]),
        label("Gone", [-90, 10, -10, 20]),
    ]);
    let session = over(&device);
    for (text, words) in [
        ("Far", "is outside the screen, which is 100 wide"),
        ("Gone", "it exists but is not visible: off the screen"),
    ] {
        let target = Target::text(text);
        let reason = reason(ask(&session, Action::TapElement(target)).await);
        assert!(reason.contains(words), "{reason}");
    }
    assert!(lock(&device.touched).is_empty());
}

#[tokio::test]
async fn taps_avoid_the_covered_part_of_an_element() {
    let button = |text: &str, bounds, order| {
        let flags = Flags { clickable: true, ..Flags::default() };
        Node { parent: Some(0), depth: 1, flags, order, ..label(text, bounds) }
    };
    let device = Fake::new(vec![
        label("Page", [0, 0, 100, 200]),
        button("Save", [0, 0, 100, 50], 1),
        button("Row", [0, 60, 100, 110], 2),
        button("OK", [0, 0, 100, 90], 3),
    ]);
    let session = over(&device);
    let tap = |text: &str| Action::TapElement(Target::text(text));
    let covered = "it is covered by \"OK\" (e4); deal with that first";
    assert_eq!(reason(ask(&session, tap("save")).await), covered);
    ask(&session, Action::LOOK).await.unwrap();
    assert_eq!(reason(ask(&session, number("e2")).await), covered);
    assert!(lock(&device.touched).is_empty());
    let Outcome::Tapped(TapResult { at, .. }) = ask(&session, tap("Row")).await.unwrap() else {
        panic!()
    };
    assert!((90..110).contains(&at.y), "{at:?}");
}

#[tokio::test]
async fn tap_is_checked_against_the_current_orientation() {
    let device = Fake::new(Vec::new());
    let session = over(&device);
    let tap = || Action::Touch(Gesture::Tap { at: Point { x: 150, y: 50 } });
    let failure = ask(&session, tap()).await.unwrap_err();
    let Cause::InvalidArgument { reason } = failure.cause else { panic!("{failure:?}") };
    assert!(reason.contains("100 wide and 200 high"), "{reason}");
    *lock(&device.size) = Size { width: 200, height: 100 };
    ask(&session, tap()).await.unwrap();
    assert_eq!(lock(&device.touched).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn old_ref_is_refused_if_another_element_took_its_place() {
    let row = |text: &str| {
        let mut row = label("", [0, 0, 100, 50]);
        row.id = "p:id/row".into();
        row.flags = Flags { clickable: true, ..Flags::default() };
        let label = Node { parent: Some(0), depth: 1, ..label(text, [0, 0, 80, 20]) };
        vec![row, label]
    };
    let device = Fake::new(row("Alice"));
    let session = over(&device);
    ask(&session, Action::LOOK).await.unwrap();
    tokio::time::advance(Duration::from_secs(6)).await;
    ask(&session, number("e1")).await.unwrap();
    ask(&session, Action::LOOK).await.unwrap();
    lock(&device.tree).nodes = row("Bob");
    tokio::time::advance(Duration::from_secs(6)).await;
    assert!(reason(ask(&session, number("e1")).await).starts_with("it is no longer on the screen"));
    assert_eq!(lock(&device.touched).len(), 1);
}

#[tokio::test]
async fn snapshot_of_a_rotated_screen_invalidates_its_size() {
    let phone = Fake::new(Vec::new());
    let session = over(&phone);
    let tap = |x, y| Action::Touch(Gesture::Tap { at: Point { x, y } });
    let ask =
        async |action| session.perform(&Call::with_timeout(Duration::from_secs(5)), action).await;
    ask(Action::LOOK).await.unwrap();
    ask(tap(10, 190)).await.unwrap();
    *lock(&phone.size) = Size { width: 200, height: 100 };
    lock(&phone.tree).rotation = 1;
    ask(Action::LOOK).await.unwrap();
    let failure = ask(tap(10, 190)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::InvalidArgument { .. }), "{failure:?}");
    ask(tap(190, 10)).await.unwrap();
}

fn picture(bytes: &'static [u8]) -> Screenshot {
    let image = Image { format: Format::Png, bytes: bytes.into() };
    Screenshot { image, size: Size { width: 100, height: 200 }, blank: None }
}

#[tokio::test]
async fn snapshot_is_retaken_after_a_concurrent_action() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    *lock(&phone.pictures) = vec![picture(b"after"), picture(b"before")];
    let session = over(&phone);
    let act = async {
        tokio::task::yield_now().await;
        phone.keys.add_permits(1);
        ask(&session, Action::Press(Key::Back)).await.unwrap();
        lock(&phone.tree).nodes[0].text = "Paid".into();
        phone.shutter.add_permits(2);
    };
    let (taken, ()) = tokio::join!(
        ask(&session, Action::ScreenshotAndSnapshot(ScreenshotOptions::default())),
        act
    );
    let Ok(Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
        screenshot: picture,
        snapshot: look,
    })) = taken
    else {
        panic!("{taken:?}")
    };
    assert_eq!(&picture.image.bytes[..], b"after");
    assert_eq!(look.tree.nodes[0].text, "Paid");
    // Its screenshot is cached for the next caller.
    let again = ask(&session, Action::Screenshot(ScreenshotOptions::default())).await;
    assert!(matches!(again, Ok(Outcome::Screenshot(again)) if again == picture));
}

#[tokio::test]
async fn snapshot_fails_on_a_constantly_changing_screen() {
    let phone = Fake::new(Vec::new());
    *lock(&phone.pictures) = vec![picture(b"two"), picture(b"one")];
    let session = over(&phone);
    let acts = async {
        for _ in 0..2 {
            while lock(&phone.pictures).len() == 2 {
                tokio::task::yield_now().await;
            }
            phone.keys.add_permits(1);
            ask(&session, Action::Press(Key::Back)).await.unwrap();
            phone.shutter.add_permits(1);
            while !lock(&phone.pictures).is_empty() {
                tokio::task::yield_now().await;
            }
        }
    };
    let (taken, ()) = tokio::join!(
        ask(&session, Action::ScreenshotAndSnapshot(ScreenshotOptions::default())),
        acts
    );
    assert!(matches!(taken, Err(Failure { cause: Cause::NotReady { .. }, .. })), "{taken:?}");
}

#[tokio::test]
async fn screenshot_over_the_size_limit_is_refused_with_both_sizes() {
    let phone = Fake::new(Vec::new());
    let noise = (0..30_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let image = Pixels::new(100, 100, noise).unwrap().write(Format::Png).unwrap();
    let size = Size { width: 100, height: 100 };
    *lock(&phone.pictures) = vec![Screenshot { image, size, blank: None }];
    phone.shutter.add_permits(1);
    let options = ScreenshotOptions { max_bytes: Some(100), ..Default::default() };
    let failure = ask(&over(&phone), Action::Screenshot(options)).await.unwrap_err();
    let Cause::Refused { reason } = failure.cause else { panic!("{failure:?}") };
    assert!(reason.ends_with("the limit is 100"), "{reason}");
}
