//! Screenshots of real phones, and the driver on a scripted phone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use thumbwire_adb::daemon::{self, Handler, ServiceRefused, Services, handler};
use thumbwire_adb::{Banner, DirectTransport, Features};
use thumbwire_device::android::Android;
use thumbwire_device::image::{Blackness, Pixels, blackness};
use thumbwire_device::{BlackReason, Device as _, Format, Image, Screenshot};
use thumbwire_test_support::{Capture, CaptureSet, capture, capture_sets};
use tokio::io::AsyncWriteExt as _;

#[test]
fn black_screenshots_of_real_phones_are_detected() {
    for set in capture_sets() {
        let files = ["png", "android-4.4.4"].map(|folder| set.files(folder)).concat();
        let pictures: Vec<&Capture> =
            files.iter().filter(|file| file.name().ends_with(".png")).collect();
        for file in &pictures {
            let name = file.name();
            let image = Image { format: Format::Png, bytes: file.bytes().into() };
            let pixels = Pixels::read(&image).unwrap_or_else(|why| panic!("{name}: {why}"));
            let expected = match name.as_str() {
                // Its navigation bar is visible.
                name if name.starts_with("secure-black") => Blackness::Nearly,
                name if name.contains("-black_") || name == "screen-off.png" => Blackness::Whole,
                _ => Blackness::No,
            };
            assert_eq!(blackness(&image, pixels.size()), expected, "{name}");
            assert_eq!(
                pixels.blackness(),
                expected,
                "{name}: not mistaken because of its small file"
            );
        }
        let least = if set == CaptureSet::Committed { 12 } else { 7 };
        assert!(pictures.len() >= least, "{} pictures {}", pictures.len(), set.name());
    }
}

/// A phone that answers each command with a given output and records the commands.
#[derive(Clone, Default)]
struct Parrot {
    answers: BTreeMap<&'static str, Vec<u8>>,
    asked: Arc<Mutex<Vec<String>>>,
}

const QUESTION: &str = "dumpsys power; dumpsys window windows";

impl Parrot {
    fn saying(answers: impl IntoIterator<Item = (&'static str, Vec<u8>)>) -> Self {
        Self { answers: answers.into_iter().collect(), asked: Arc::default() }
    }

    async fn attach(&self) -> Android {
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(daemon::serve(far, Arc::new(self.clone())));
        Android::attach("parrot", Arc::new(DirectTransport::from_io(near))).await.unwrap()
    }

    /// The commands it received since the last call.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Services for Parrot {
    fn banner(&self) -> Banner {
        Banner::phone("cm", "Parrot", "parrot", Features::default())
    }

    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let (_, command) = service.trim_end_matches('\0').split_once(':').ok_or(ServiceRefused)?;
        self.asked.lock().unwrap().push(command.to_owned());
        let output = self.answers.get(command).cloned().unwrap_or_default();
        Ok(handler(async move |stream| {
            let mut stream = stream;
            let _ = stream.write_all(&output).await;
        }))
    }
}

fn plain(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    let pixels = Pixels::new(width, height, colour.repeat((width * height) as usize)).unwrap();
    pixels.write(Format::Png).unwrap().bytes.to_vec()
}

async fn taken(phone: &Parrot) -> Screenshot {
    phone.attach().await.screenshot().await.unwrap()
}

#[tokio::test]
async fn normal_screenshot_takes_one_command() {
    let phone = Parrot::saying([("screencap -p", plain(400, 800, [250, 0, 0]))]);
    assert_eq!(taken(&phone).await.blank, None);
    assert_eq!(phone.asked(), ["screencap -p"]);
}

#[tokio::test]
async fn black_screenshot_takes_one_more_and_tells_why() {
    let black = ("screencap -p", plain(400, 800, [0, 0, 0]));
    let secure = "  mWakefulness=Awake\n  Window #3 Window{2b u0 com.bank/.Login}:\n    mAttrs={(0,0)(fillxfill)\n      fl=SECURE\n      pfl=USE_BLAST}\n";
    let answers = [
        (secure, Some(BlackReason::Secure { window: "com.bank/.Login".into() })),
        ("  mWakefulness=Asleep\n", Some(BlackReason::ScreenOff)),
        ("Can't find service: power\n", Some(BlackReason::Unexplained)),
    ];
    for (words, blank) in answers {
        let phone = Parrot::saying([black.clone(), (QUESTION, words.into())]);
        assert_eq!(taken(&phone).await.blank, blank);
        assert_eq!(phone.asked(), ["screencap -p", QUESTION]);
    }
}

#[tokio::test]
async fn failed_screenshot_quotes_the_phone() {
    let text = b"screencap: not found\n".to_vec();
    let phone = Parrot::saying([("screencap -p", text)]);
    let error = phone.attach().await.screenshot().await.unwrap_err();
    assert!(error.to_string().contains("failed to take a screenshot"), "{error}");
    assert!(error.to_string().contains("screencap: not found"), "{error}");
}

/// Captures of Android 4.4: a screenshot with the screen off, and the phone's state at that time.
#[tokio::test]
async fn sleeping_phone_is_reported_as_off() {
    let read = |name: &str| capture(&format!("android-4.4.4/{name}")).unwrap();
    let windows = read("064-dumpsys-window-windows-home.out");
    let black = read("screen-off.png");
    let output = [read("302-dumpsys-power-off.out"), windows.clone()].concat();
    let phone = Parrot::saying([("screencap -p", black.clone()), (QUESTION, output)]);
    assert_eq!(taken(&phone).await.blank, Some(BlackReason::ScreenOff));
    // Awake, and no window of that phone is secure.
    let phone = Parrot::saying([("screencap -p", black.clone()), (QUESTION, windows)]);
    assert_eq!(taken(&phone).await.blank, Some(BlackReason::Unexplained));
    // The same for these, of Android 11, 12 and 16.
    for name in ["aad_windows_android11", "aad_windows_android12", "emulator_android16_windows"] {
        let Some(windows) = capture(&format!("shell/window/{name}.txt")) else { continue };
        let phone = Parrot::saying([("screencap -p", black.clone()), (QUESTION, windows)]);
        assert_eq!(taken(&phone).await.blank, Some(BlackReason::Unexplained), "{name}");
    }
}

/// A real dump with one window made secure by adding the flag.
#[tokio::test]
async fn secure_window_is_found_in_a_real_dump() {
    let windows = capture("shell/window/aad_windows_android12.txt").unwrap();
    let windows = String::from_utf8(windows).unwrap();
    let black = plain(400, 800, [0, 0, 0]);
    let app = windows.find("ty=BASE_APPLICATION").unwrap();
    let flags = app + windows[app..].find("fl=").unwrap() + 3;
    let secure = format!("{}SECURE {}", &windows[..flags], &windows[flags..]);
    let phone = Parrot::saying([("screencap -p", black), (QUESTION, secure.into())]);
    let Some(BlackReason::Secure { window }) = taken(&phone).await.blank else {
        panic!("no secure window was found")
    };
    assert!(window.contains('/'), "{window}");
}

/// Some phones make no picture of a secure window at all.
#[tokio::test]
async fn refused_picture_of_a_secure_window_is_black_and_says_why() {
    let window = b"Power Manager State:\n  mWakefulness=Awake\n  Window #1 Window{2b u0 com.bank/com.bank.Login}:\n    mAttrs={ty=BASE_APPLICATION\n      fl=SECURE}\n    mHasSurface=true\n";
    let size = b"  Display: mDisplayId=0\n    init=48x80 160dpi cur=48x80 app=48x80\n";
    let refused = b"Failed to take screenshot. Status: -2147483648\n";
    let phone = Parrot::saying([
        ("screencap -p", refused.to_vec()),
        (QUESTION, window.to_vec()),
        ("dumpsys window displays", size.to_vec()),
    ]);
    let picture = phone.attach().await.screenshot().await.unwrap();
    let window = "com.bank/com.bank.Login".into();
    assert_eq!(picture.blank, Some(BlackReason::Secure { window }));
    assert_eq!(blackness(&picture.image, picture.size), Blackness::Whole);
    // Without the flag in the report, the window with the focus is meant if the phone says secure.
    let focus = b"  mCurrentFocus=Window{2b u0 com.bank/com.bank.Login}\n";
    let phone = Parrot::saying([
        ("screencap -p", b"Capturing of secure layers not allowed\n".to_vec()),
        ("dumpsys power; dumpsys window -a", focus.to_vec()),
        ("dumpsys window displays", size.to_vec()),
    ]);
    assert_eq!(phone.attach().await.screenshot().await.unwrap().blank, picture.blank);
    // Another reason is an error with the phone's words.
    let phone = Parrot::saying([("screencap -p", b"Capturing failed.\n".to_vec())]);
    let error = phone.attach().await.screenshot().await.unwrap_err().to_string();
    assert!(error.contains(r#"failed to take a screenshot: "Capturing failed.""#), "{error}");
}
