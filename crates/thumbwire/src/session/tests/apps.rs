//! Which app is meant, and what may be served again.

use super::*;
use crate::action::{Apps, Cache, Choice};

const MINUTE: Duration = Duration::from_secs(60);
const FIVE_MINUTES: Duration = Duration::from_secs(300);

fn app(id: &str, system: bool) -> App {
    App { id: AppId(id.into()), system }
}

/// As Android 4.4.4 lists them, with two that a user installed.
fn phone() -> Arc<Fake> {
    let phone = Fake::new(Vec::new());
    *lock(&phone.apps) = vec![
        app("org.example.notes", false),
        app("com.example.Calc", false),
        app("com.android.providers.contacts", true),
        app("com.android.calculator2", true),
        app("com.android.contacts", true),
        app("com.android.deskclock", true),
    ];
    lock(&phone.cannot_start).push("com.android.providers.contacts".into());
    phone
}

async fn list(
    session: &Session,
    which: Apps,
    containing: &str,
    no_older_than: Duration,
) -> Vec<String> {
    let containing = containing.into();
    match ask(session, Action::ListApps { which, containing, no_older_than }).await {
        Ok(Outcome::Apps(apps)) => apps.into_iter().map(|app| app.id.0).collect(),
        other => panic!("{other:?}"),
    }
}

async fn launch(session: &Session, choice: Choice) -> Result<String, Failure> {
    match ask(session, Action::Launch(choice)).await? {
        Outcome::Launched { app, .. } => Ok(app.0),
        other => panic!("{other:?}"),
    }
}

fn named(word: &str) -> Choice {
    Choice::Named(word.into())
}

fn numbered(number: &str) -> Choice {
    Choice::Numbered(number.into())
}

#[tokio::test(start_paused = true)]
async fn lists_of_the_user_and_of_the_system_are_served_again_and_never_mixed() {
    let phone = phone();
    let session = over(&phone);
    let users = ["org.example.notes", "com.example.Calc"];
    assert_eq!(list(&session, Apps::User, "", FIVE_MINUTES).await, users);
    assert_eq!(list(&session, Apps::System, "contacts", FIVE_MINUTES).await.len(), 2);
    assert_eq!(list(&session, Apps::All, "", FIVE_MINUTES).await.len(), 6);
    assert_eq!(list(&session, Apps::All, "calc", FIVE_MINUTES).await, ["com.android.calculator2"]);
    tokio::time::advance(FIVE_MINUTES).await;
    assert_eq!(list(&session, Apps::User, "", FIVE_MINUTES).await, users);
    assert_eq!(phone.listed.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    list(&session, Apps::User, "", FIVE_MINUTES).await;
    list(&session, Apps::User, "", Duration::ZERO).await;
    assert_eq!(phone.listed.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_number_means_what_was_told_last() {
    let phone = phone();
    let session = over(&phone);
    let unknown = |none| {
        Failure::from(Cause::NotListed { list: "apps", number: "2".into(), why: None, none })
    };
    assert_eq!(launch(&session, numbered("2")).await, Err(unknown(true)));
    list(&session, Apps::All, "", Duration::ZERO).await;
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.example.Calc");
    list(&session, Apps::All, "contacts", FIVE_MINUTES).await;
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.android.contacts");
    list(&session, Apps::All, "clock", FIVE_MINUTES).await;
    assert_eq!(launch(&session, numbered("2")).await, Err(unknown(false)));
    ask(&session, Action::Forget(Cache::Apps)).await.unwrap();
    assert_eq!(launch(&session, numbered("2")).await, Err(unknown(true)));
}

#[tokio::test(start_paused = true)]
async fn an_old_number_starts_its_app_where_that_is_still_installed() {
    let phone = phone();
    let session = over(&phone);
    list(&session, Apps::User, "", Duration::ZERO).await;
    tokio::time::advance(FIVE_MINUTES).await;
    // Told again it is as old as it is.
    list(&session, Apps::User, "", FIVE_MINUTES).await;
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.example.Calc");
    assert_eq!(phone.listed.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    // The first one is gone; the second has its place now, and is still the second.
    lock(&phone.apps).remove(0);
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.example.Calc");
    let failure = launch(&session, numbered("1")).await.unwrap_err();
    let Cause::NotListed { why: Some(why), none: false, .. } = failure.cause else {
        panic!("{failure:?}")
    };
    assert_eq!(why, "it is no longer installed");
    assert_eq!(phone.listed.load(Ordering::SeqCst), 2);
    assert_eq!(lock(&phone.launched).len(), 2);
}

#[tokio::test]
async fn a_word_means_a_segment_before_a_part_and_what_can_be_started() {
    let phone = phone();
    let session = over(&phone);
    for (word, expected) in [
        ("Contacts", "com.android.contacts"),
        ("CALC", "com.example.Calc"),
        ("calculator", "com.android.calculator2"),
        ("Clock", "com.android.deskclock"),
        ("com.android.CONTACTS", "com.android.contacts"),
        (" notes ", "org.example.notes"),
    ] {
        assert_eq!(launch(&session, named(word)).await.as_deref(), Ok(expected), "{word}");
    }
    for word in ["nothere", "providers"] {
        let not_found = Cause::AppNotFound { app: word.into() };
        assert_eq!(launch(&session, named(word)).await, Err(not_found.into()));
    }
    let failure = launch(&session, named(" ")).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::InvalidArgument { .. }), "{failure:?}");
}

#[tokio::test]
async fn a_word_that_many_apps_contain_is_not_tried_for_ever() {
    let phone = Fake::new(Vec::new());
    for at in 0..100 {
        let id = format!("com.example.part{at}");
        lock(&phone.cannot_start).push(id.clone());
        lock(&phone.apps).push(app(&id, true));
    }
    let session = over(&phone);
    let failure = launch(&session, named("part")).await.unwrap_err();
    assert_eq!(failure, Cause::AppNotFound { app: "part".into() }.into());
    assert_eq!(lock(&phone.launched).len(), 5);
}

#[tokio::test(start_paused = true)]
async fn what_a_phone_says_of_itself_is_served_again_and_says_so() {
    let phone = phone();
    let session = over(&phone);
    let ask = async |no_older_than| match ask(&session, Action::DeviceInfo { no_older_than }).await
    {
        Ok(Outcome::Info { info, earlier, .. }) => (info.model, earlier),
        other => panic!("{other:?}"),
    };
    assert_eq!(ask(MINUTE).await, ("Fake 1".into(), false));
    tokio::time::advance(MINUTE).await;
    assert_eq!(ask(MINUTE).await, ("Fake 1".into(), true));
    assert_eq!(ask(Duration::ZERO).await, ("Fake 2".into(), false));
    tokio::time::advance(MINUTE + Duration::from_millis(1)).await;
    assert_eq!(ask(MINUTE).await, ("Fake 3".into(), false));
    session.perform(&Call::within(MINUTE), Action::Forget(Cache::DeviceInfo)).await.unwrap();
    assert_eq!(ask(MINUTE).await, ("Fake 4".into(), false));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ended_leaves_the_numbers_of_apps_and_nothing_that_the_phone_said() {
    let phone = phone();
    let session = over(&phone);
    list(&session, Apps::User, "", FIVE_MINUTES).await;
    session.let_go(&session.keep("fake", Arc::<Fake>::clone(&phone)));
    session.keep("fake", Arc::<Fake>::clone(&phone));
    assert_eq!(launch(&session, numbered("1")).await.unwrap(), "org.example.notes");
    list(&session, Apps::User, "", FIVE_MINUTES).await;
    assert_eq!(phone.listed.load(Ordering::SeqCst), 2);
}
