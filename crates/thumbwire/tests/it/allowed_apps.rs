//! The apps that callers of `serve` may manage and use.

use std::time::Duration;

use serde_json::json;
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, ufo};
use thumbwire_virtual_android::{ProgramStub, Setup, VirtualPhone};
use thumbwire_virtual_phone::Intent;

use crate::caller::Caller;
use crate::support::McpProcess;

const MAPS: &str = "com.google.android.apps.maps";
const NOTES: &str = "com.android.notes";
/// A system app without a launcher entry.
const PROVIDER: &str = "com.example.contacts.provider";
const RELEASES: [&str; 2] = ["4.4", "14"];

/// A caller who may use these apps on a phone that also has one without a launcher entry.
fn allowed(release: &str, patterns: &[&str]) -> Caller {
    let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
    phone.world(|world| {
        let known = world.packages();
        let mut provider = known.into_iter().find(|app| app.package == MAPS).unwrap().clone();
        (provider.package, provider.launcher) = (PROVIDER.to_owned(), None);
        provider.built_in = None;
        world.install(provider, None);
    });
    let allowed_apps = AllowedApps::matching(patterns.iter().map(|&it| it.to_owned()));
    let options = SessionOptions { allowed_apps, ..SessionOptions::default() };
    let surface = mobile::toolset_allowing(TreeForm::List, ObserveMode::Diff, &ToolGroup::ALL);
    Caller { surface, ..Caller::of(phone).with_options(options) }
}

/// How many commands with this word ran.
fn ran(caller: &Caller, word: &str) -> usize {
    let commands = caller.phone.commands();
    commands.iter().filter(|command| command.argv.iter().any(|it| it == word)).count()
}

#[tokio::test(start_paused = true)]
async fn app_without_a_launcher_entry_is_not_managed_unless_it_is_named() {
    for release in RELEASES {
        let of_provider = json!({ "bundle_id": PROVIDER });
        let permission = json!({ "bundle_id": PROVIDER, "permission": "CAMERA", "granted": false });
        let caller = allowed(release, &[]);
        for (tool, arguments, word) in [
            ("mobile_clear_app", &of_provider, "clear"),
            ("mobile_close_app", &of_provider, "force-stop"),
            ("mobile_uninstall_app", &of_provider, "uninstall"),
            ("mobile_set_permission", &permission, "revoke"),
        ] {
            assert_eq!(
                caller.refused(tool, arguments.clone()).await,
                "Refused: app com.example.contacts.provider is not allowed: the launcher does not show it, so it is a part \
                 of the system or of another app\nNext: use an app that is allowed; the operator of Thumbwire can allow \
                 this one with `--allow-app com.example.contacts.provider`",
                "{release} {tool}"
            );
            assert_eq!(ran(&caller, word), 0, "{release} {tool}");
        }
        caller.said("mobile_clear_app", json!({ "bundle_id": NOTES })).await;
        let missing =
            caller.refused("mobile_clear_app", json!({ "bundle_id": "com.none.x" })).await;
        assert!(missing.starts_with("App not found: com.none.x"), "{missing}");
        let caller = allowed(release, &["com.example.*"]);
        caller.said("mobile_close_app", of_provider).await;
    }
}

#[tokio::test(start_paused = true)]
async fn launcher_is_asked_once() {
    let caller = allowed("14", &[]);
    caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
    let before = ran(&caller, "query-activities");
    // What was launched is in the launcher.
    caller.said("mobile_close_app", json!({ "bundle_id": MAPS })).await;
    assert_eq!(ran(&caller, "query-activities"), before);
}

#[tokio::test(start_paused = true)]
async fn only_named_apps_are_launched_managed_and_opened() {
    for release in RELEASES {
        let caller = allowed(release, &[NOTES]);
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller.said("mobile_launch_app", json!({ "bundle_id": "Notes" })).await;
        let refusal = "Refused: app com.google.android.apps.maps is not allowed\nNext: use an app that is allowed; the \
                       operator of Thumbwire can allow this one with `--allow-app com.google.android.apps.maps`";
        for (tool, arguments) in [
            ("mobile_launch_app", json!({ "bundle_id": MAPS })),
            ("mobile_launch_app", json!({ "bundle_id": "Maps" })),
            ("mobile_close_app", json!({ "bundle_id": MAPS })),
            ("mobile_clear_app", json!({ "bundle_id": MAPS })),
            ("mobile_uninstall_app", json!({ "bundle_id": MAPS })),
            ("mobile_call_app_tool", json!({ "bundle_id": MAPS, "tool": "search" })),
        ] {
            assert_eq!(caller.refused(tool, arguments).await, refusal, "{release} {tool}");
        }
        let in_steps = json!({ "steps": [{ "launch": MAPS }] });
        let text = caller.refused("mobile_do", in_steps).await;
        assert!(text.contains("app com.google.android.apps.maps is not allowed"), "{text}");
        let ufo = Caller { surface: ufo::action(), ..caller };
        let text = ufo.said("launch_app", json!({ "package_name": MAPS })).await;
        assert!(text.contains("\"success\":false") && text.contains("is not allowed"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn address_of_an_app_that_is_not_named_is_refused_before_it_is_opened() {
    for (release, reason) in [
        ("14", "Refused: app com.google.android.apps.maps is not allowed\n"),
        ("4.4", "Refused: the phone does not say which app would open the address"),
    ] {
        let caller = allowed(release, &[NOTES]);
        let opened = caller.refused("mobile_open_url", json!({ "url": "geo:0,0?q=park" })).await;
        assert!(opened.starts_with(reason), "{release}: {opened}");
        let commands = caller.phone.commands();
        let opens = commands.iter().filter(|it| it.argv.iter().any(|word| word == "start"));
        assert_eq!(opens.count(), 0, "{release}: nothing was opened");
    }
    let caller = allowed("14", &[NOTES]);
    let nobody = caller.refused("mobile_open_url", json!({ "url": "nobody:1" })).await;
    assert!(nobody.contains("no app on this phone opens `nobody:` addresses"), "{nobody}");
    for (release, pattern) in [("14", MAPS), ("14", "*"), ("4.4", "*")] {
        let caller = allowed(release, &[pattern]);
        caller.said("mobile_open_url", json!({ "url": "geo:0,0?q=park" })).await;
        let front = caller.said("mobile_get_current_app", json!({})).await;
        assert!(front.contains(MAPS), "{release} {pattern}: {front}");
    }
}

/// What was in front when the caller looked is no proof a moment later.
#[tokio::test(start_paused = true)]
async fn splash_screen_that_has_opened_another_app_is_not_tapped() {
    for (release, seconds) in RELEASES.into_iter().flat_map(|it| [(it, 0), (it, 2)]) {
        let caller = allowed(release, &[NOTES]);
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller.said("mobile_get_accessibility_tree", json!({})).await;
        caller.phone.world(|world| world.start(MAPS, None).map(drop)).unwrap();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        let input = ran(&caller, "input");
        let text = caller.refused("mobile_tap", json!({ "x": 240, "y": 90 })).await;
        assert!(text.contains("maps is not allowed: it is in front"), "{release}: {text}");
        assert_eq!(ran(&caller, "input"), input, "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn screen_of_an_app_that_is_not_named_may_be_looked_at_and_left() {
    for release in RELEASES {
        let caller = allowed(release, &[NOTES]);
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller.said("mobile_tap", json!({ "x": 300, "y": 700 })).await;
        // Somebody else opens another app.
        caller.phone.world(|world| world.start(MAPS, None).map(drop)).unwrap();
        let input = ran(&caller, "input");
        caller.said("mobile_get_accessibility_tree", json!({})).await;
        for (tool, arguments) in [
            ("mobile_tap", json!({ "x": 240, "y": 90 })),
            ("mobile_tap_element", json!({ "text": "Search here" })),
            ("mobile_double_tap", json!({ "x": 240, "y": 90 })),
            ("mobile_long_press", json!({ "x": 240, "y": 90 })),
            ("mobile_scroll", json!({ "direction": "down" })),
            ("mobile_swipe", json!({ "start_x": 240, "start_y": 600, "end_x": 240, "end_y": 300 })),
            ("mobile_type_keys", json!({ "text": "a" })),
            ("mobile_type", json!({ "text": "a", "text": "Search here" })),
            ("mobile_key", json!({ "key": "enter" })),
            ("mobile_do", json!({ "steps": [{ "tap": "Search here" }] })),
        ] {
            let text = caller.refused(tool, arguments).await;
            assert!(
                text.contains(
                    "app com.google.android.apps.maps is not allowed: it is in front, and may only be looked at or left"
                ),
                "{release} {tool}: {text}"
            );
        }
        assert_eq!(ran(&caller, "input"), input, "{release}");
        caller.said("mobile_take_screenshot", json!({})).await;
        caller.said("mobile_press_key", json!({ "key": "home" })).await;
    }
}

/// A reply can be typed into a notification. And a phone that does not say what is in front may
/// show anything.
#[tokio::test(start_paused = true)]
async fn acts_need_a_known_app_in_front() {
    let tap = || ("mobile_tap", json!({ "x": 240, "y": 90 }));
    for (pattern, is_allowed) in [(NOTES, false), ("*", true), ("com.android.*", true)] {
        let caller = allowed("14", &[pattern]);
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller.phone.world(|world| world.open_shade(false));
        caller.said("mobile_get_accessibility_tree", json!({})).await;
        let (tool, arguments) = tap();
        match is_allowed {
            true => drop(caller.said(tool, arguments).await),
            false => {
                let text = caller.refused(tool, arguments).await;
                let expected = "Refused: app com.android.systemui is not allowed: it is in front";
                assert!(text.starts_with(expected), "{text}");
                caller.said("mobile_press_key", json!({ "key": "back" })).await;
            }
        }
    }
    for (pattern, is_allowed) in [(NOTES, false), ("*", true)] {
        let caller = allowed("14", &[pattern]);
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        let size = "  Display: mDisplayId=0\n    init=1080x2400 420dpi cur=1080x2400 app=1080x2337 rng=1080x1000-2400x2400\n";
        caller.phone.stub_program("dumpsys", Some(ProgramStub::printing(size)));
        // What was in front is known for a while.
        tokio::time::advance(Duration::from_secs(11)).await;
        let (tool, arguments) = tap();
        match is_allowed {
            true => drop(caller.said(tool, arguments).await),
            false => {
                let input = ran(&caller, "input");
                let text = caller.refused(tool, arguments).await;
                assert!(text.contains("the phone does not say which app is in front"), "{text}");
                assert_eq!(ran(&caller, "input"), input);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn look_before_an_act_tells_what_is_in_front_for_free() {
    let looks = |caller: &Caller| {
        let commands = caller.phone.commands();
        commands.iter().filter(|it| it.argv.iter().any(|word| word == "window")).count()
    };
    let counted = async |patterns: &[&str]| {
        let caller = allowed("14", patterns);
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller.said("mobile_get_accessibility_tree", json!({})).await;
        let before = looks(&caller);
        caller.said("mobile_tap", json!({ "x": 300, "y": 700 })).await;
        caller.said("mobile_tap", json!({ "x": 300, "y": 700 })).await;
        looks(&caller) - before
    };
    assert_eq!(counted(&["*"]).await, counted(&[]).await);
}

#[test]
fn served_caller_is_limited_by_the_launcher_or_by_name() {
    let named = ["--device", "virtual", "--allow-app", "com.android.*", "--allow", "data"];
    let mut server = McpProcess::connected(&named);
    let text = server.say("mobile_clear_app", json!({ "bundle_id": MAPS }));
    assert!(text.starts_with("Refused: app com.google.android.apps.maps is not allowed"), "{text}");
    let text = server.say("mobile_clear_app", json!({ "bundle_id": NOTES }));
    assert_eq!(text, "Stopped com.android.notes and cleared its data");
    let mut server = McpProcess::connected(&["--device", "virtual", "--allow", "data"]);
    let home = "com.android.launcher3";
    let text = server.say("mobile_clear_app", json!({ "bundle_id": home }));
    assert!(text.contains("the launcher does not show it"), "{text}");
}

/// Pages of Settings by the action that opens them, with the title, and the fragment of the page in
/// the oldest and the newest release.
const GUARDED_PAGES: [(&str, &str, [&str; 2]); 4] = [
    ("PRIVACY_SETTINGS", "Reset options", ["PrivacySettings", "ResetDashboardFragment"]),
    ("SECURITY_SETTINGS", "Security", ["SecuritySettings", "SecuritySettings"]),
    (
        "SYNC_SETTINGS",
        "Passwords & accounts",
        ["ManageAccountsSettings", "AccountDashboardFragment"],
    ),
    (
        "APPLICATION_DEVELOPMENT_SETTINGS",
        "Developer options",
        ["DevelopmentSettings", "DevelopmentSettingsDashboardFragment"],
    ),
];

/// Shows a page of Settings, by the phone's owner: what was known of the screen is too old then.
async fn open_page(caller: &Caller, action: &str) {
    let intent = Intent { action: Some(format!("android.settings.{action}")), ..Intent::default() };
    caller.phone.world(|world| world.start_intent(&intent)).expect("Settings");
    tokio::time::advance(Duration::from_secs(11)).await;
}

#[tokio::test(start_paused = true)]
async fn guarded_pages_of_settings_can_be_looked_at_and_left() {
    for (at, release) in RELEASES.into_iter().enumerate() {
        for (action, title, fragments) in GUARDED_PAGES {
            let caller = allowed(release, &[]);
            open_page(&caller, action).await;
            let list = caller.said("mobile_get_accessibility_tree", json!({})).await;
            assert!(list.starts_with("com.android.settings"), "{list}");
            let input = ran(&caller, "input");
            for (tool, arguments) in [
                ("mobile_tap", json!({ "x": 240, "y": 300 })),
                ("mobile_tap_element", json!({ "text": title })),
                ("mobile_long_press", json!({ "x": 240, "y": 300 })),
                ("mobile_scroll", json!({ "direction": "down" })),
                ("mobile_type_keys", json!({ "text": "x" })),
                ("mobile_key", json!({ "key": "enter" })),
            ] {
                let text = caller.refused(tool, arguments).await;
                assert_eq!(
                    text,
                    format!(
                        "Refused: this page of Settings ({}) may only be looked at or left\nNext: use another page, or leave \
                         this one with the back key; the operator of Thumbwire can allow it with `--allow settings`",
                        fragments[at]
                    ),
                    "{release} {action} {tool}"
                );
            }
            assert_eq!(ran(&caller, "input"), input, "{release} {action}");
            assert_eq!(ran(&caller, "top"), 1, "the page is asked for once");
            caller.said("mobile_press_key", json!({ "key": "home" })).await;
            caller.said("mobile_tap", json!({ "x": 240, "y": 300 })).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn other_pages_of_settings_are_used_and_guarded_ones_if_the_operator_allows() {
    for release in RELEASES {
        let caller = allowed(release, &[]);
        open_page(&caller, "DISPLAY_SETTINGS").await;
        caller.said("mobile_tap_element", json!({ "text": "Adaptive brightness" })).await;
        // From the list of subjects to the page that resets the phone.
        caller.said("mobile_launch_app", json!({ "bundle_id": "com.android.settings" })).await;
        caller.said("mobile_press_key", json!({ "key": "back" })).await;
        open_page(&caller, "PRIVACY_SETTINGS").await;
        let erase = json!({ "text": "Erase all data (factory reset)" });
        caller.refused("mobile_tap_element", erase.clone()).await;

        let allowed_apps = AllowedApps::matching([]).with_settings(true);
        let options = SessionOptions { allowed_apps, ..SessionOptions::default() };
        let trusted = Caller::of(caller.phone.clone()).with_options(options);
        trusted.said("mobile_tap_element", erase).await;
        tokio::time::advance(Duration::from_secs(11)).await;
        let setting = || {
            caller
                .phone
                .world(|world| world.setting("global", "device_provisioned").map(str::to_owned))
        };
        let before = setting();
        // The other one has opened the next page, and the first may not act there either.
        let text = caller.refused("mobile_tap_element", json!({ "text": "Erase all data" })).await;
        assert!(text.contains("Clear)"), "{release}: {text}");
        assert_eq!(setting(), before, "{release}");
        trusted.said("mobile_tap_element", json!({ "text": "Erase all data" })).await;
        assert_eq!(setting().as_deref(), Some("0"), "{release}: it is what would have happened");
    }
}

/// A phone that does not tell the fragment.
#[tokio::test(start_paused = true)]
async fn words_on_the_screen_decide_where_the_phone_does_not_tell_the_page() {
    let caller = allowed("14", &[]);
    caller.phone.add_fault("corrupt-output:every=1,on=dumpsys activity top".parse().unwrap());
    for (action, text) in
        [("SECURITY_SETTINGS", "Install unknown apps"), ("PRIVACY_SETTINGS", "Reset options")]
    {
        open_page(&caller, action).await;
        let text = caller.refused("mobile_tap_element", json!({ "text": text })).await;
        assert!(text.contains(") may only be looked at or left"), "{text}");
        caller.said("mobile_press_key", json!({ "key": "home" })).await;
    }
    open_page(&caller, "DISPLAY_SETTINGS").await;
    caller.said("mobile_tap_element", json!({ "text": "Adaptive brightness" })).await;
}
