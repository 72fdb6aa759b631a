//! Saved screenshots: their names, and what is reported if they cannot be fetched.

use super::studio::{Studio, in_studios, kept};
use super::*;
use crate::action::{FileNameError, SavedScreenshot};

async fn save(
    session: &Session,
    name: Option<&str>,
    fetch: bool,
) -> Result<SavedScreenshot, Failure> {
    let name = name.map(str::to_owned);
    match ask(session, Action::SaveScreenshot { name, fetch }).await? {
        Outcome::ScreenshotSaved(saved) => Ok(saved),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn screenshot_is_named_after_the_time_and_fetched() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let saved = save(&session, None, true).await.unwrap();
    assert_eq!(saved.name, "screenshot_20240901_121314.png");
    assert_eq!(saved.on_phone, "/sdcard/screenshot_20240901_121314.png");
    let here = saved.local_file.unwrap().unwrap();
    assert_eq!(here.path, root.path().join("assets/screenshot_20240901_121314.png"));
    assert_eq!(std::fs::read(&here.path).unwrap(), b"picture");
    assert_eq!(here.bytes, 7);
    assert!(lock(&phone.files).is_empty(), "a fetched file is deleted on the phone");
    let second = save(&session, None, true).await.unwrap();
    assert_eq!(second.name, "screenshot_20240901_121314_2.png");
}

#[tokio::test(start_paused = true)]
async fn unfetched_screenshot_stays_on_the_phone() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let saved = save(&session, Some("a'b;id"), false).await.unwrap();
    assert_eq!((&*saved.name, saved.local_file), ("a'b;id.png", None));
    assert!(lock(&phone.files).contains_key("/sdcard/a'b;id.png"));
    assert!(kept(&root, "assets").is_empty());
}

#[tokio::test(start_paused = true)]
async fn invalid_file_name_is_refused_without_asking_the_phone() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    for (name, expected) in [
        ("../x.png", FileNameError::EscapesRoot),
        ("no/such/dir.png", FileNameError::Folder),
        ("a:b?.png", FileNameError::Characters(vec![':', '?'])),
        ("-rf", FileNameError::LeadingDash),
        ("shot.", FileNameError::EndsInDot),
        ("", FileNameError::Empty),
    ] {
        let failure = save(&session, Some(name), true).await.unwrap_err();
        let Cause::InvalidFileName { reason, .. } = failure.cause else { panic!("{failure:?}") };
        assert_eq!(reason, expected);
    }
    assert!(lock(&phone.files).is_empty());
}

#[tokio::test(start_paused = true)]
async fn failed_screenshot_transfer_is_reported_in_the_result() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    *lock(&phone.fetching) = Duration::from_secs(600);
    let asked = Instant::now();
    let saved = save(&session, Some("a"), true).await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
    let reason = saved.local_file.unwrap().unwrap_err();
    assert_eq!(reason, "the transfer timed out; the file is still on the phone: /sdcard/a.png");
    assert!(kept(&root, "assets").is_empty(), "partial files are removed");
    assert!(lock(&phone.files).contains_key("/sdcard/a.png"));
    // Without a directory the screenshot is still taken, and the reply says why it was not fetched.
    let bare =
        Session::new(DeviceProviders::adb(AdbServer::new("127.0.0.1:9")), Some("fake".into()));
    studio::plug(&bare, &phone);
    let saved = save(&bare, None, true).await.unwrap();
    assert!(
        saved
            .local_file
            .unwrap()
            .unwrap_err()
            .starts_with("this session has no directory for files")
    );
}

#[tokio::test(start_paused = true)]
async fn ended_session_leaves_no_partial_file() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let session = Arc::new(session);
    *lock(&phone.fetching) = Duration::from_secs(50);
    let saving = tokio::spawn({
        let session = Arc::clone(&session);
        async move { save(&session, Some("half"), true).await }
    });
    tokio::time::advance(Duration::from_secs(1)).await;
    while kept(&root, "assets").is_empty() {
        tokio::task::yield_now().await;
    }
    session.end().await;
    assert!(kept(&root, "assets").is_empty());
    saving.abort();
}
