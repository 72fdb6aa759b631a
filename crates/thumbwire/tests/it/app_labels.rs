//! Names of apps as the launcher shows them: in the list, and as the argument of
//! `mobile_launch_app`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_virtual_android::{ProgramStub, Setup, VirtualPhone};

use crate::caller::Caller;

const RELEASES: [&str; 4] = ["4.4", "9", "11", "14"];
const SETTINGS: &str = "com.android.settings";
const IMITATION: &str = "org.example.imitation";

/// A phone without a helper.
fn on(release: &str) -> Caller {
    let setup = Setup { helper: false, ..Setup::of_release(release).unwrap() };
    Caller::of(VirtualPhone::new(setup))
}

fn install(caller: &Caller, apk: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk").join(apk);
    caller.phone.install(&[&fs::read(path).unwrap()]).unwrap();
}

async fn listed(caller: &Caller) -> Value {
    let list = caller.said("mobile_list_apps", json!({ "app_type": "all" })).await;
    serde_json::from_str(&list).unwrap()
}

/// The labels in a list, by id.
fn labels(list: &Value) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let rows = list["apps"].as_array().unwrap().iter();
    rows.map(|row| (text(&row["bundle_id"]).unwrap(), text(&row["label"]))).collect()
}

fn label_of(list: &Value, app: &str) -> Option<String> {
    labels(list).into_iter().find(|(id, _)| id == app).unwrap().1
}

fn reads(caller: &Caller) -> usize {
    caller.phone.commands().iter().filter(|command| command.argv[0] == "dd").count()
}

async fn launched(caller: &Caller, name: &str) -> String {
    caller.said("mobile_launch_app", json!({ "bundle_id": name })).await
}

async fn refused(caller: &Caller, name: &str) -> String {
    caller.refused("mobile_launch_app", json!({ "bundle_id": name })).await
}

#[tokio::test(start_paused = true)]
async fn list_has_the_names_of_the_launcher_and_reads_each_package_once() {
    for release in RELEASES {
        let caller = on(release);
        let list = listed(&caller).await;
        let shown = caller.phone.world(|world| {
            let apps = world.packages();
            let apps = apps
                .iter()
                .map(|app| (app.package.clone(), app.launcher.clone().map(|_| app.label.clone())));
            apps.collect::<Vec<_>>()
        });
        for (app, label) in &shown {
            assert_eq!(label_of(&list, app), *label, "{release} {app}");
        }
        assert!(shown.iter().filter(|(_, label)| label.is_some()).count() > 10);
        assert_eq!(list["note"], Value::Null, "{release}");
        let before = reads(&caller);
        assert!(before > 0, "{release}");
        assert_eq!(listed(&caller).await, list);
        assert_eq!(reads(&caller), before, "{release}: packages were read again");
        install(&caller, "hello-1.apk");
        assert_eq!(label_of(&listed(&caller).await, "org.example.hello").as_deref(), Some("Hello"));
        assert!(reads(&caller) <= before + 4, "{release}: only the new one is read");
    }
}

#[tokio::test(start_paused = true)]
async fn app_is_launched_by_its_name() {
    for release in RELEASES {
        let caller = on(release);
        for (name, app) in [
            ("Settings", SETTINGS),
            ("settings", SETTINGS),
            (" CLOCK ", "com.google.android.deskclock"),
            ("Calcul", "com.android.calculator2"),
        ] {
            if caller.phone.world(|world| world.packages().iter().all(|it| it.package != app)) {
                continue;
            }
            assert_eq!(launched(&caller, name).await, format!("Launched {app}"), "{release}");
            assert_eq!(caller.phone.world(|world| world.foreground().package), app);
        }
        let steps = json!({ "steps": [{ "launch": "Settings" }] });
        assert!(caller.said("mobile_do", steps).await.contains(SETTINGS), "{release}");
        for name in ["no such app!", "; reboot", "-p com.android.settings", "\u{202e}", "../a/b"] {
            let text = refused(&caller, name).await;
            assert!(
                text.starts_with("App not found: ") || text.contains("name is empty"),
                "{text}"
            );
        }
    }
}

/// The app calls itself "Settings" with an invisible character, and in German "Uhr", a line break,
/// a mark that turns text, and "Maps".
#[tokio::test(start_paused = true)]
async fn app_that_calls_itself_like_another_is_not_started_for_it() {
    for release in RELEASES {
        let caller = on(release);
        assert_eq!(launched(&caller, "Settings").await, format!("Launched {SETTINGS}"));
        install(&caller, "imitation.apk");
        for name in ["Settings", "settings", "Set\u{200b}tings"] {
            let text = refused(&caller, name).await;
            assert!(
                text.starts_with("Refused: ")
                    && text.ends_with("use the id of the one that is meant"),
                "{text}"
            );
            for (app, label) in [(SETTINGS, "Settings"), (IMITATION, "Set\\u{200b}tings")] {
                assert!(text.contains(&format!("{app} (\"{label}\")")), "{release} {text}");
            }
        }
        assert_eq!(launched(&caller, SETTINGS).await, format!("Launched {SETTINGS}"));
        assert_eq!(launched(&caller, IMITATION).await, format!("Launched {IMITATION}"));
        assert_eq!(launched(&caller, "Clock").await, "Launched com.google.android.deskclock");
        // In another language all packages are read again.
        caller.phone.stub_program(
            "getprop",
            Some(ProgramStub::printing("[persist.sys.locale]: [de-DE]\n")),
        );
        let list = listed(&caller).await;
        assert_eq!(label_of(&list, IMITATION).as_deref(), Some("Uhr \\u{202e}Maps"), "{release}");
        assert_eq!(launched(&caller, "Settings").await, format!("Launched {SETTINGS}"));
    }
}

/// A phone that takes two seconds for each read. The list comes without what there was no time for;
/// the next one has more.
#[tokio::test(start_paused = true)]
async fn slow_phone_lists_what_it_could_read() {
    for release in ["4.4", "14"] {
        let caller = on(release);
        caller.phone.add_fault("slow:ms=2000,on=dd if=".parse().unwrap());
        let known = |list: &Value| labels(list).iter().filter(|(_, label)| label.is_some()).count();
        let began = tokio::time::Instant::now();
        let first = listed(&caller).await;
        assert!(began.elapsed() < Duration::from_secs(4), "{release}: {:?}", began.elapsed());
        let note = first["note"].as_str().unwrap();
        assert!(note.starts_with("labels not read in time: "), "{note}");
        // To start an app, more time is worth it.
        assert_eq!(launched(&caller, "Settings").await, format!("Launched {SETTINGS}"));
        let mut last = listed(&caller).await;
        assert!((1..known(&last)).contains(&known(&first)), "{release}: {first}");
        // Each call reads more, until all are known.
        for _ in 0..2 {
            last = listed(&caller).await;
        }
        assert_eq!(last["note"], Value::Null, "{release}");
    }
}

/// As many packages as are read at once are never read in time. The next call reads the others.
#[tokio::test(start_paused = true)]
async fn slow_packages_do_not_keep_others_from_being_read() {
    let fast = on("14");
    let all = labels(&listed(&fast).await).iter().filter(|(_, label)| label.is_some()).count();
    let mut first: Vec<String> = Vec::new();
    for command in fast.phone.commands().into_iter().filter(|command| command.argv[0] == "dd") {
        let path = command.argv[1].replace("if=", "");
        if first.len() < 3 && !first.contains(&path) {
            first.push(path);
        }
    }
    let caller = on("14");
    for path in &first {
        caller.phone.add_fault(format!("slow:ms=60000,on={path}").parse().unwrap());
    }
    let known = |list: &Value| labels(list).iter().filter(|(_, label)| label.is_some()).count();
    assert_eq!(known(&listed(&caller).await), 0);
    let second = listed(&caller).await;
    assert_eq!(known(&second), all - first.len());
    assert_eq!(second["note"], "labels not read in time: 3; the next call reads more");
    caller.phone.clear_faults();
    assert_eq!(known(&listed(&caller).await), all);
}

/// Without an answer from the phone the ids are there, and the list says that labels are not.
#[tokio::test(start_paused = true)]
async fn list_without_labels_says_so() {
    let caller = on("14");
    caller.phone.add_fault("slow:ms=60000,on=cmd package query-activities".parse().unwrap());
    let began = tokio::time::Instant::now();
    let list = listed(&caller).await;
    assert!(began.elapsed() < Duration::from_secs(7), "{:?}", began.elapsed());
    assert_eq!(list["note"], "no labels: the phone did not list the apps of its launcher");
    assert!(labels(&list).len() > 10 && labels(&list).iter().all(|(_, label)| label.is_none()));
    assert_eq!(launched(&caller, "deskclock").await, "Launched com.google.android.deskclock");
    caller.phone.clear_faults();
    assert_eq!(listed(&caller).await["note"], Value::Null);
}

/// Before the name of the real one is known, another app must not be taken for it.
#[tokio::test(start_paused = true)]
async fn name_that_could_not_be_read_may_be_the_one_that_is_meant() {
    let caller = on("14");
    install(&caller, "imitation.apk");
    caller.phone.add_fault("slow:ms=60000,on=/Settings.apk".parse().unwrap());
    let text = refused(&caller, "Settings").await;
    assert!(text.contains("org.example.imitation (\"Set\\u{200b}tings\")"), "{text}");
    assert!(text.contains("com.android.settings (its name is unknown)"), "{text}");
    caller.phone.clear_faults();
    assert_eq!(launched(&caller, "Maps").await, "Launched com.google.android.apps.maps");
}

/// The helper knows all labels. No package is read, and nothing is asked that a slow phone takes
/// seconds for.
#[tokio::test(start_paused = true)]
async fn helper_tells_the_names() {
    for release in RELEASES {
        let without = on(release);
        let read = labels(&listed(&without).await);
        let caller = Caller::of(VirtualPhone::new(Setup::of_release(release).unwrap()));
        // The first start on an old phone takes longer than a list is worth: the packages are read,
        // and the start goes on.
        listed(&caller).await;
        tokio::time::advance(Duration::from_secs(20)).await;
        let before = caller.phone.commands().len();
        let list = listed(&caller).await;
        assert_eq!((labels(&list), &list["note"]), (read, &Value::Null), "{release}");
        let asked = caller.phone.commands();
        let asked = asked[before..].iter().map(|it| it.argv.join(" ").replace(" --user 0", ""));
        let asked: Vec<_> = asked.filter(|it| it != "am get-current-user").collect();
        assert_eq!(asked, ["pm list packages", "pm list packages -3"], "{release}");
        assert_eq!(launched(&caller, "Settings").await, format!("Launched {SETTINGS}"));
    }
}
