//! The windows of menus, dialogs, lists and the keyboard, as `dumpsys window` and a dump show them.

use crate::common::Wired;
use thumbwire_virtual_android::Setup;
use thumbwire_virtual_phone::{KeyCode, Point, TouchPhase};

const NOTES: &str = "com.android.notes";
const ACTIVITY: &str = "com.android.notes/com.android.notes.NotesActivity";

fn phone(release: &str) -> Wired {
    Wired::made(Setup::of_release(release).expect("a release"))
}

/// The output of a command; Android 4.4 has no statuses and a terminal's line ends.
async fn out(wired: &Wired, command: &str) -> String {
    let output = wired.run(command).await;
    String::from_utf8(output.stdout).expect("text").replace("\r\n", "\n")
}

async fn dump(wired: &Wired) -> String {
    out(wired, "uiautomator dump /sdcard/d.xml; cat /sdcard/d.xml").await
}

/// The title of the focused window.
async fn focus(wired: &Wired) -> String {
    let report = out(wired, "dumpsys window -a").await;
    let line = report.lines().find(|line| line.contains("mCurrentFocus=")).expect("a focus");
    line.trim_end_matches('}').split(" u0 ").nth(1).expect("a title").to_owned()
}

/// The lines of the window with that title.
async fn window(wired: &Wired, title: &str) -> String {
    let report = out(wired, "dumpsys window windows").await;
    let found = report.split("  Window #").find(|part| {
        part.lines().next().is_some_and(|first| first.contains(&format!(" u0 {title}")))
    });
    found.unwrap_or_else(|| panic!("no {title} in {report}")).to_owned()
}

fn tap(wired: &Wired, at: Point) {
    wired.phone.world(|world| {
        world.pointer(TouchPhase::Down, at);
        world.pointer(TouchPhase::Up, at);
    });
}

/// Opens a new note and types a text.
async fn note(wired: &Wired, text: &str) {
    wired.phone.world(|world| {
        world.start(NOTES, None).expect("Notes");
        let root = &world.scene().focused().expect("a window").root;
        let at = root.find("new_note_button").expect("its button").bounds.center();
        world.pointer(TouchPhase::Down, at);
        world.pointer(TouchPhase::Up, at);
        for c in text.chars() {
            assert!(world.type_char(c));
        }
    });
}

#[tokio::test]
async fn options_menu_has_its_own_window_and_title() {
    for (release, title, kind) in [
        ("4.4", format!("AtchDlg:{ACTIVITY}"), "ty=1003"),
        ("9", "PopupWindow:".to_owned(), "ty=APPLICATION_PANEL"),
        ("14", "PopupWindow:".to_owned(), "ty=APPLICATION_PANEL"),
    ] {
        let wired = phone(release);
        wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
        out(&wired, "input keyevent 82").await;
        let seen = focus(&wired).await;
        assert!(seen.starts_with(&title), "{release}: {seen}");
        assert!(window(&wired, &title).await.contains(kind), "{release}");
        let xml = dump(&wired).await;
        assert!(xml.contains("text=\"New note\"") && !xml.contains("notes_grid"), "{xml}");
        // The app stays the focused one.
        let report = out(&wired, "dumpsys window -a").await;
        let app = report.lines().find(|line| line.contains("mFocusedApp=")).expect("an app");
        assert!(app.contains("com.android.notes/.NotesActivity"), "{app}");
        out(&wired, "input keyevent 4").await;
        assert_eq!(focus(&wired).await, ACTIVITY);
        out(&wired, "input keyevent 82; input keyevent 82").await;
        assert_eq!(focus(&wired).await, ACTIVITY, "MENU closes it too");
        out(&wired, "input keyevent 82; input keyevent 3").await;
        assert!(focus(&wired).await.starts_with("com.android.launcher3/"));
    }
}

#[tokio::test]
async fn row_of_an_options_menu_acts_on_the_app() {
    let wired = phone("4.4");
    note(&wired, "a").await;
    out(&wired, "input keyevent 82").await;
    let at = wired.phone.world(|world| {
        let root = &world.scene().focused().expect("a window").root;
        root.walk().find(|node| node.text == "Delete note").expect("its row").bounds.center()
    });
    tap(&wired, at);
    let xml = dump(&wired).await;
    assert!(xml.contains("Delete note?"), "{xml}");
    // A dialog of an app has its activity's title.
    assert_eq!(focus(&wired).await, ACTIVITY);
    let report = out(&wired, "dumpsys window windows").await;
    assert!(report.contains(" ty=2 fl=#1820002 "), "{report}");
}

/// On a phone with 4.4.4 a tap on a misspelt word opened a list with the focus, and what was typed
/// then was lost.
#[tokio::test]
async fn tap_on_a_misspelt_word_opens_suggestions() {
    let wired = phone("4.4");
    note(&wired, "helllo there").await;
    let field = wired.phone.world(|world| {
        let root = &world.scene().focused().expect("a window").root;
        root.find("edit_note_text").expect("the note").bounds
    });
    let word = Point { x: field.left + 20, y: field.top + 12 };
    tap(&wired, word);
    let title = focus(&wired).await;
    assert!(title.starts_with("PopupWindow:"), "{title}");
    assert!(window(&wired, "PopupWindow:").await.contains(" ty=1000 "));
    let xml = dump(&wired).await;
    for text in ["hello", "Add to dictionary", "Delete"] {
        assert!(xml.contains(&format!("text=\"{text}\"")), "{text}: {xml}");
    }
    assert!(!xml.contains("edit_note_text"), "{xml}");
    out(&wired, "input text lost; input keyevent 4; input text X").await;
    let text = || wired.phone.world(|world| world.focused_text()).expect("the note");
    assert!(text().contains('X') && !text().contains("lost"), "{}", text());
    wired.phone.world(|world| world.key(KeyCode::DEL));
    assert_eq!(text(), "helllo there");
    tap(&wired, word);
    let at = wired.phone.world(|world| {
        let root = &world.scene().focused().expect("a window").root;
        root.walk().find(|node| node.text == "hello").expect("its row").bounds.center()
    });
    tap(&wired, at);
    assert_eq!(text(), "hello there");
    // A well spelt word opens nothing, nor does a newer phone.
    tap(&wired, word);
    assert_eq!(focus(&wired).await, ACTIVITY);
    let newer = phone("14");
    note(&newer, "helllo there").await;
    tap(&newer, Point { x: 120, y: 420 });
    assert_eq!(focus(&newer).await, ACTIVITY);
}

#[tokio::test]
async fn crash_and_power_menu_are_windows_of_the_system() {
    let wired = phone("4.4");
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    wired.phone.world(|world| world.crash(NOTES, "java.lang.IllegalStateException: no"));
    assert_eq!(focus(&wired).await, "Application Error: com.android.notes");
    // Seen on a phone with 4.4.4.
    let error = window(&wired, "Application Error").await;
    for part in [
        "    mOwnerUid=1000 mShowToOwnerOnly=false package=android appop=SYSTEM_ALERT_WINDOW\n",
        "    mAttrs=WM.LayoutParams{(0,0)(wrapxwrap) gr=#11 sim=#120 ty=2003 fl=#820002 ",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    for (release, title) in
        [("4.4", "GlobalActions"), ("9", "ActionsDialog"), ("14", "ActionsDialogLite")]
    {
        let wired = phone(release);
        wired.phone.world(|world| world.open_power_menu());
        assert_eq!(focus(&wired).await, title);
        assert!(dump(&wired).await.contains("text=\"Power off\""));
        out(&wired, "input keyevent 4").await;
        assert!(focus(&wired).await.starts_with("com.android.launcher3/"));
    }
    let wired = phone("14");
    out(&wired, "input keyevent --longpress POWER").await;
    assert_eq!(focus(&wired).await, "ActionsDialogLite");
}

/// The tree of 4.4 has no keyboard, but its window says where it is.
#[tokio::test]
async fn keyboard_of_4_4_is_only_in_the_window_list() {
    let wired = phone("4.4");
    assert!(!out(&wired, "dumpsys window windows").await.contains("InputMethod"));
    note(&wired, "").await;
    assert!(!dump(&wired).await.contains("inputmethod"));
    let top = wired.phone.world(|world| {
        let windows = &world.scene().windows;
        windows.iter().find(|one| one.title == "InputMethod").expect("a keyboard").bounds.top
    });
    // As on a phone with 4.4.4, whose keyboard began at 456: frame [0,87][480,800], insets 369,
    // region to 864.
    let keyboard = window(&wired, "InputMethod").await;
    let frame_top = 48 + 49;
    let inset = top - frame_top;
    for part in [
        "(fillxwrap) gr=#50 sim=#120 ty=2011 fl=#1800108 ".to_owned(),
        format!("    mGivenContentInsets=[0,{inset}][0,0] mGivenVisibleInsets=[0,{inset}][0,0]\n"),
        "    mTouchableInsets=3 mGivenInsetsPending=false\n".to_owned(),
        format!("    touchable region=SkRegion((0,{top},480,864))\n"),
        format!("    mFrame=[0,{frame_top}][480,800] last=[0,{frame_top}][480,800]\n"),
    ] {
        assert!(keyboard.contains(&part), "{part}: {keyboard}");
    }
    let report = out(&wired, "dumpsys window windows").await;
    let order = [
        "mCurrentFocus=",
        "mFocusedApp=",
        "mInputMethodTarget=",
        "mInTouchMode=",
        "mInputMethodWindow=",
    ];
    let places: Vec<_> = order.iter().map(|key| report.find(&format!("\n  {key}"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{report}");
}

/// Seen on a real 4.4.4: the whole report has frames only with `-a`.
#[tokio::test]
async fn frames_need_an_option() {
    for release in ["4.4", "14"] {
        let wired = phone(release);
        let frames = |report: &str| report.contains("mFrame=") || report.contains(" frame=");
        for (command, expected) in [
            ("dumpsys window", false),
            ("dumpsys window -a", true),
            ("dumpsys window windows", true),
        ] {
            assert_eq!(frames(&out(&wired, command).await), expected, "{release}: {command}");
        }
    }
}
