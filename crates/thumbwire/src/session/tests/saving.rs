//! Pictures into files: their names, and what is told where they do not come.

use super::studio::{Studio, in_studios, kept};
use super::*;
use crate::action::{BadName, Saved};

async fn save(session: &Session, name: Option<&str>, fetch: bool) -> Result<Saved, Failure> {
    let name = name.map(str::to_owned);
    match ask(session, Action::SaveScreenshot { name, fetch }).await? {
        Outcome::Saved(saved) => Ok(saved),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_called_after_the_time_and_comes_here() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let saved = save(&session, None, true).await.unwrap();
    assert_eq!(saved.name, "screenshot_20240901_121314.png");
    assert_eq!(saved.on_phone, "/sdcard/screenshot_20240901_121314.png");
    let here = saved.here.unwrap().unwrap();
    assert_eq!(here.path, root.path().join("assets/screenshot_20240901_121314.png"));
    assert_eq!(std::fs::read(&here.path).unwrap(), b"picture");
    assert_eq!(here.bytes, 7);
    assert!(lock(&phone.files).is_empty(), "what was fetched fills no phone");
    let second = save(&session, None, true).await.unwrap();
    assert_eq!(second.name, "screenshot_20240901_121314_2.png");
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_is_not_wanted_here_stays_on_the_phone() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let saved = save(&session, Some("a'b;id"), false).await.unwrap();
    assert_eq!((&*saved.name, saved.here), ("a'b;id.png", None));
    assert!(lock(&phone.files).contains_key("/sdcard/a'b;id.png"));
    assert!(kept(&root, "assets").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_name_that_cannot_be_is_refused_before_the_phone_is_asked() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    for (name, reason) in [
        ("../x.png", BadName::Leaves),
        ("no/such/dir.png", BadName::Folder),
        ("a:b?.png", BadName::Characters(vec![':', '?'])),
        ("", BadName::Empty),
    ] {
        let failure = save(&session, Some(name), true).await.unwrap_err();
        let Cause::BadFileName { why, .. } = failure.cause else { panic!("{failure:?}") };
        assert_eq!(why, reason);
    }
    assert!(lock(&phone.files).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_does_not_come_is_told_beside() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    *lock(&phone.fetching) = Duration::from_secs(600);
    let asked = Instant::now();
    let saved = save(&session, Some("a"), true).await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
    let why = saved.here.unwrap().unwrap_err();
    assert_eq!(why, "it did not come in time; it stays on the phone: /sdcard/a.png");
    assert!(kept(&root, "assets").is_empty(), "half a file is none");
    assert!(lock(&phone.files).contains_key("/sdcard/a.png"));
    // A session without a place for files says so, and has taken the picture all the same.
    let bare = Session::new(Phones::new(AdbServer::new("127.0.0.1:9")), Some("fake".into()));
    studio::plug(&bare, &phone);
    let saved = save(&bare, None, true).await.unwrap();
    assert!(saved.here.unwrap().unwrap_err().starts_with("this session keeps no files"));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_leaves_no_half_file() {
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
