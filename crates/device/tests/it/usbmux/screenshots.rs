//! iPhones without a WebDriverAgent, of which iOS itself takes screenshots.

use thumbwire_device::image::PixelLimits;
use thumbwire_device::ios::IphoneScreen;
use thumbwire_device::{Gesture, Key, Orientation, Point, ScaledDevice, Size, TreeDetail};
use tokio::sync::Notify;

use super::daemon::{PICTURE, Screenshots};
use super::*;

/// The size of [`PICTURE`].
const SIZE: Size = Size { width: 621, height: 1344 };

const TAP: Gesture = Gesture::Tap { at: Point { x: 1, y: 1 } };

fn phone(screenshots: Screenshots) -> Phone {
    Phone { screenshots, ..Phone::new(UDID) }
}

async fn attach(daemon: &Daemon) -> IphoneScreen {
    IphoneScreen::attach(UDID, &daemon.client(), UDID).await.unwrap()
}

/// Why a request is refused of which nothing was done.
fn reason<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::NotConnected { reason, acted: SideEffect::None }) => reason,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("not refused"),
    }
}

#[tokio::test]
async fn phone_without_a_web_driver_agent_can_be_looked_at() {
    let daemon = Daemon::start([phone(Screenshots::Png)]).await;
    let screen = attach(&daemon).await;
    assert_eq!(screen.identity().id, UDID);
    assert_eq!(screen.identity().model, "Ana’s iPhone (iPhone12,8)");
    screen.probe().await.unwrap();
    let screenshot = screen.screenshot().await.unwrap();
    assert_eq!((screenshot.size, &screenshot.image.bytes[..]), (SIZE, PICTURE));
    assert_eq!(screen.screen_size().await.unwrap(), SIZE);
    let list = screen.apps().await.unwrap();
    assert!(list.is_complete);
    assert!(list.apps.iter().any(|app| app.id.0 == "com.example.bank"));
    let info = screen.info().await.unwrap();
    assert_eq!((&*info.model, &*info.os_version, info.screen), ("iPhone12,8", "16.7.10", SIZE));
    assert_eq!(info.orientation, Orientation::Portrait);
    // It is not ready to be controlled.
    assert_eq!(examine(&daemon.client()).await.missing, Some(Missing::WebDriverAgent));
}

#[tokio::test]
async fn all_else_is_refused_with_the_step() {
    let daemon = Daemon::start([phone(Screenshots::Png)]).await;
    let screen = attach(&daemon).await;
    let app = AppId("com.example.bank".into());
    for reason in [
        reason(screen.touch(TAP).await),
        reason(screen.type_text("a").await),
        reason(screen.press(Key::Home).await),
        reason(screen.tree(TreeDetail::Full).await),
        reason(screen.launch(&app).await),
        reason(screen.stop(&app).await),
        reason(screen.foreground().await),
    ] {
        assert!(reason.starts_with("it can only be looked at: no WebDriverAgent"), "{reason}");
        assert!(reason.ends_with(Missing::WebDriverAgent.next_move()), "{reason}");
    }
}

/// Whether the error of a facet that the phone lacks has the step.
fn has_step<T>(facet: Result<T, Error>) -> bool {
    match facet {
        Err(error @ Error::NotConnected { .. }) => {
            error.to_string().contains(Missing::WebDriverAgent.next_move())
        }
        Err(Error::Unsupported { .. }) => false,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it has the facet"),
    }
}

#[tokio::test]
async fn facets_that_a_web_driver_agent_would_provide_are_refused_with_the_step() {
    let served = Served::new().await;
    let daemon = Daemon::start([Phone { screenshots: Screenshots::Png, ..served.phone() }]).await;
    let ios = Ios::attach_usbmux(UDID, &daemon.client(), UDID).await.unwrap();
    let screen: Arc<dyn thumbwire_device::Device> = Arc::new(attach(&daemon).await);
    let limits = PixelLimits::VISION_MODELS;
    let scaled: Arc<dyn thumbwire_device::Device> =
        Arc::new(ScaledDevice::new(Arc::clone(&screen), limits));
    for screen in [screen, scaled] {
        let with_step = [
            ("text_editing", has_step(screen.text_editing())),
            ("orientation_control", has_step(screen.orientation_control())),
            ("screen_lock", has_step(screen.screen_lock())),
            ("links", has_step(screen.links())),
            ("clipboard", has_step(screen.clipboard())),
            ("simulated_location", has_step(screen.simulated_location())),
            ("health_checks", has_step(screen.health_checks())),
            ("screen_streaming", has_step(screen.screen_streaming())),
        ];
        assert_eq!(with_step.map(|(name, _)| name)[..], ios.facets().names().collect::<Vec<_>>());
        assert_eq!(with_step.map(|(_, has_step)| has_step), [true; 8]);
        // iOS has none of these.
        assert!(!has_step(screen.logs()));
        assert!(!has_step(screen.app_installation()));
    }
}

#[tokio::test]
async fn refusal_says_that_a_web_driver_agent_answers_meanwhile() {
    let daemon = Daemon::start([phone(Screenshots::Png)]).await;
    let screen = attach(&daemon).await;
    let served = Served::new().await;
    daemon.change(1, |phone| phone.ports = served.ports.clone());
    let reason = reason(screen.press(Key::Home).await);
    assert!(reason.ends_with("does now; call again"), "{reason}");
}

#[tokio::test]
async fn phone_that_does_not_start_the_service_is_not_attached() {
    for (phone, expected) in [
        // No developer disk image is mounted.
        (phone(Screenshots::Missing), "InvalidService"),
        (Phone { version: "17.4.1", ..phone(Screenshots::Missing) }, "InvalidService"),
        (Phone { trust: Trust::Unpaired, ..phone(Screenshots::Png) }, "not paired"),
        (
            Phone { trust: Trust::Refuses("PasswordProtected"), ..phone(Screenshots::Png) },
            "locked with a passcode",
        ),
    ] {
        let daemon = Daemon::start([phone]).await;
        let attached = IphoneScreen::attach(UDID, &daemon.client(), UDID).await;
        let error = attached.err().expect("attached").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn service_that_is_gone_after_a_restart_is_named_with_the_step() {
    let daemon = Daemon::start([phone(Screenshots::Png)]).await;
    let screen = attach(&daemon).await;
    daemon.change(1, |phone| phone.screenshots = Screenshots::Missing);
    let reason = reason(screen.screenshot().await);
    assert!(reason.contains("com.apple.mobile.screenshotr: the iPhone refused: InvalidService"));
    assert!(reason.ends_with(Missing::WebDriverAgent.next_move()), "{reason}");
}

#[tokio::test]
async fn answers_that_are_no_picture_are_refused() {
    for (screenshots, expected) in [
        (Screenshots::Tiff, "taking a screenshot refused: this old iOS sends it as a TIFF"),
        (Screenshots::None, "a screenshot without a picture"),
        (Screenshots::Garbage, "not a property list"),
        (Screenshots::Huge, "4294967295 bytes; the limit is 67108864"),
    ] {
        let daemon = Daemon::start([phone(screenshots)]).await;
        let error = attach(&daemon).await.screenshot().await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn phone_that_is_unplugged_during_a_screenshot_is_lost() {
    let asked = Arc::new(Notify::new());
    let daemon = Daemon::start([phone(Screenshots::Silent(Arc::clone(&asked)))]).await;
    let screen = attach(&daemon).await;
    let (screenshot, ()) = tokio::join!(screen.screenshot(), async {
        asked.notified().await;
        daemon.unplug(1);
    });
    let lost = reason(screenshot);
    assert!(lost.contains("the connection to the iPhone was lost"), "{lost}");
    assert!(lost.ends_with(Missing::Answer.next_move()), "{lost}");
    let gone = reason(screen.screenshot().await);
    assert!(gone.contains("usbmuxd does not have this iPhone"), "{gone}");
    assert!(reason(screen.touch(TAP).await).contains("usbmuxd"));
}

/// So that screenshotr of these tests is judged by somebody else's program, too.
#[tokio::test]
async fn libimobiledevice_takes_the_screenshot_of_the_daemon_of_these_tests() {
    let daemon = Daemon::start([phone(Screenshots::Png)]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("screen.png");
    let arguments = ["-u", UDID, file.to_str().unwrap()];
    let Some(said) = run_tool(&daemon, "idevicescreenshot", &arguments).await else { return };
    assert!(said.starts_with("Screenshot saved to"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), PICTURE);
}
