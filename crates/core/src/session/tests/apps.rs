//! Which app a name means, and what is served from the cache.

use thumbwire_device::{ForegroundApp, SideEffect};

use super::*;
use crate::action::{AppFilter, AppSelector, CacheKind, InfoResult, LaunchResult, NumberedList};

const MINUTE: Duration = Duration::from_secs(60);
const FIVE_MINUTES: Duration = Duration::from_secs(300);

fn app(id: &str, system: bool) -> App {
    App { id: AppId(id.into()), system }
}

/// As Android 4.4.4 lists them, plus two user-installed apps.
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
    which: AppFilter,
    containing: &str,
    max_age: Duration,
) -> Vec<String> {
    let containing = containing.into();
    match ask(session, Action::ListApps { which, containing, max_age }).await {
        Ok(Outcome::Apps(apps)) => apps.into_iter().map(|app| app.id.0).collect(),
        other => panic!("{other:?}"),
    }
}

async fn launch(session: &Session, choice: AppSelector) -> Result<String, Failure> {
    match ask(session, Action::Launch(choice)).await? {
        Outcome::Launched(LaunchResult { app, .. }) => Ok(app.0),
        other => panic!("{other:?}"),
    }
}

fn named(word: &str) -> AppSelector {
    AppSelector::Named(word.into())
}

fn numbered(number: &str) -> AppSelector {
    AppSelector::ListIndex(number.into())
}

#[tokio::test(start_paused = true)]
async fn user_and_system_app_lists_are_cached_separately() {
    let phone = phone();
    let session = over(&phone);
    let users = ["org.example.notes", "com.example.Calc"];
    assert_eq!(list(&session, AppFilter::User, "", FIVE_MINUTES).await, users);
    assert_eq!(list(&session, AppFilter::System, "contacts", FIVE_MINUTES).await.len(), 2);
    assert_eq!(list(&session, AppFilter::All, "", FIVE_MINUTES).await.len(), 6);
    assert_eq!(
        list(&session, AppFilter::All, "calc", FIVE_MINUTES).await,
        ["com.android.calculator2"]
    );
    tokio::time::advance(FIVE_MINUTES).await;
    assert_eq!(list(&session, AppFilter::User, "", FIVE_MINUTES).await, users);
    assert_eq!(phone.listed.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    list(&session, AppFilter::User, "", FIVE_MINUTES).await;
    list(&session, AppFilter::User, "", Duration::ZERO).await;
    assert_eq!(phone.listed.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn app_number_refers_to_the_last_listing() {
    let phone = phone();
    let session = over(&phone);
    let unknown = |none| {
        Failure::from(Cause::StaleReference {
            list: NumberedList::Apps,
            number: "2".into(),
            reason: None,
            none,
        })
    };
    assert_eq!(launch(&session, numbered("2")).await, Err(unknown(true)));
    list(&session, AppFilter::All, "", Duration::ZERO).await;
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.example.Calc");
    list(&session, AppFilter::All, "contacts", FIVE_MINUTES).await;
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.android.contacts");
    list(&session, AppFilter::All, "clock", FIVE_MINUTES).await;
    assert_eq!(launch(&session, numbered("2")).await, Err(unknown(false)));
    ask(&session, Action::InvalidateCache(CacheKind::Apps)).await.unwrap();
    assert_eq!(launch(&session, numbered("2")).await, Err(unknown(true)));
}

#[tokio::test(start_paused = true)]
async fn old_app_number_starts_its_app_if_still_installed() {
    let phone = phone();
    let session = over(&phone);
    list(&session, AppFilter::User, "", Duration::ZERO).await;
    tokio::time::advance(FIVE_MINUTES).await;
    // Serving the list from the cache does not renew it.
    list(&session, AppFilter::User, "", FIVE_MINUTES).await;
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.example.Calc");
    assert_eq!(phone.listed.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    // The first app is gone; number 2 still means the second one.
    lock(&phone.apps).remove(0);
    assert_eq!(launch(&session, numbered("2")).await.unwrap(), "com.example.Calc");
    let failure = launch(&session, numbered("1")).await.unwrap_err();
    let Cause::StaleReference { reason: Some(reason), none: false, .. } = failure.cause else {
        panic!("{failure:?}")
    };
    assert_eq!(reason, "it is no longer installed");
    assert_eq!(phone.listed.load(Ordering::SeqCst), 2);
    assert_eq!(lock(&phone.launched).len(), 2);
}

#[tokio::test]
async fn app_name_prefers_id_segments_and_launchable_apps() {
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
async fn number_of_launch_attempts_is_bounded() {
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

/// An app without a launcher activity is skipped; if no other matches, it is named.
#[tokio::test]
async fn name_of_an_app_that_cannot_be_launched_is_not_called_missing() {
    let phone = Fake::new(Vec::new());
    for id in ["com.example.mail.provider", "com.example.mailer", "com.example.sync.provider"] {
        lock(&phone.apps).push(app(id, true));
    }
    lock(&phone.cannot_start)
        .extend(["com.example.mail.provider", "com.example.sync.provider"].map(str::to_owned));
    let session = over(&phone);
    assert_eq!(launch(&session, named("mail")).await.as_deref(), Ok("com.example.mailer"));
    let failure = launch(&session, named("sync")).await.unwrap_err();
    let expected = Cause::AppNotLaunchable { app: "com.example.sync.provider".into() };
    assert_eq!(failure, expected.into());
}

#[tokio::test(start_paused = true)]
async fn cached_device_info_is_marked_as_cached() {
    let phone = phone();
    let session = over(&phone);
    let ask = async |max_age| match ask(&session, Action::DeviceInfo { max_age }).await {
        Ok(Outcome::Info(InfoResult { info, earlier, .. })) => (info.model, earlier),
        other => panic!("{other:?}"),
    };
    assert_eq!(ask(MINUTE).await, ("Fake 1".into(), false));
    tokio::time::advance(MINUTE).await;
    assert_eq!(ask(MINUTE).await, ("Fake 1".into(), true));
    assert_eq!(ask(Duration::ZERO).await, ("Fake 2".into(), false));
    tokio::time::advance(MINUTE + Duration::from_millis(1)).await;
    assert_eq!(ask(MINUTE).await, ("Fake 3".into(), false));
    session
        .perform(&Call::with_timeout(MINUTE), Action::InvalidateCache(CacheKind::DeviceInfo))
        .await
        .unwrap();
    assert_eq!(ask(MINUTE).await, ("Fake 4".into(), false));
}

#[tokio::test(start_paused = true)]
async fn app_numbers_outlive_a_connection_but_caches_do_not() {
    let phone = phone();
    let session = over(&phone);
    list(&session, AppFilter::User, "", FIVE_MINUTES).await;
    session.drop_connection(&session.keep("fake", Arc::<Fake>::clone(&phone)), "gone");
    session.keep("fake", Arc::<Fake>::clone(&phone));
    assert_eq!(launch(&session, numbered("1")).await.unwrap(), "org.example.notes");
    list(&session, AppFilter::User, "", FIVE_MINUTES).await;
    assert_eq!(phone.listed.load(Ordering::SeqCst), 2);
}

/// Launched is what was seen in front, or what it handed over to.
#[tokio::test(start_paused = true)]
async fn launched_means_that_it_was_seen() {
    let shown =
        |id: &str| Foreground::App(ForegroundApp { app: AppId(id.into()), screen: String::new() });
    let crashed = Foreground::System { title: "Application Error: com.example.Calc".into() };
    let launcher = shown("com.vendor.app.launcher");
    let done = async |fronts: &[Foreground]| {
        let phone = phone();
        *lock(&phone.fronts) = fronts.to_vec();
        let app = AppSelector::Id(AppId("com.example.Calc".into()));
        ask(&over(&phone), Action::Launch(app)).await.map(|done| match done {
            Outcome::Launched(launched) => launched.but(),
            other => panic!("{other:?}"),
        })
    };
    let calculator = shown("com.example.Calc");
    for fronts in [
        vec![launcher.clone(), calculator.clone()],
        // It takes a while, and covers another app.
        vec![shown("org.other"), shown("org.other"), shown("org.other"), calculator.clone()],
        vec![calculator],
    ] {
        assert_eq!(done(&fronts).await.as_deref(), Ok(""), "{fronts:?}");
    }
    let dialog = shown("com.android.permissioncontroller");
    let but = ", but com.android.permissioncontroller is in front";
    assert_eq!(done(&[launcher.clone(), dialog]).await.as_deref(), Ok(but));
    for fronts in [
        vec![launcher.clone()],
        vec![shown("org.other")],
        vec![shown("org.other"), launcher.clone()],
        vec![launcher, crashed],
    ] {
        let failure = done(&fronts).await.unwrap_err();
        assert_eq!(failure.side_effect, SideEffect::Possible, "{fronts:?}");
        let text = failure.cause.to_string();
        assert!(text.contains("com.example.Calc was started, but "), "{text}");
    }
}
