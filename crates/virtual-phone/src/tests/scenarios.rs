//! Typical use of the phone.

use std::time::Duration;

use super::*;
use crate::input::KeyCode;
use crate::packages::{Intent, StartError, StartResult};
use crate::scene::WindowKind;

#[test]
fn restaurant_can_be_found_opened_and_saved() {
    let mut world = phone();
    assert!(shows(&mut world, "Maps"));
    tap(&mut world, "Maps");
    assert_eq!(world.foreground().package, MAPS);
    tap(&mut world, "search_omnibox_text_box");
    assert!(world.keyboard_shown());
    type_text(&mut world, "restaurants");
    assert_eq!(world.focused_text().as_deref(), Some("restaurants"));
    world.key(KeyCode::ENTER);
    assert!(!world.keyboard_shown());
    assert!(shows(&mut world, "18 places"));
    let first = texts(&mut world, "id/title")[0].clone();
    tap(&mut world, &first);
    assert_eq!(texts(&mut world, "id/title"), std::slice::from_ref(&first));
    for id in ["rating", "address", "hours", "phone", "website", "directions_button"] {
        assert!(node(&mut world, id).is_some(), "no {id}");
    }
    tap(&mut world, "save_button");
    assert!(shows(&mut world, "Saved"));
    for _ in 0..2 {
        world.key(KeyCode::BACK);
    }
    tap(&mut world, "saved_tab_strip_button");
    assert_eq!(texts(&mut world, "id/title"), [first]);
}

#[test]
fn back_goes_one_step_at_a_time_to_the_home_screen() {
    let mut world = restaurants();
    tap(&mut world, "search_result_row");
    tap(&mut world, "directions_button");
    assert!(node(&mut world, "directions_page").is_some());
    for page in ["place_page", "search_results_page", "mainmap_container"] {
        world.key(KeyCode::BACK);
        assert!(node(&mut world, page).is_some(), "not on {page}");
    }
    world.key(KeyCode::BACK);
    assert_eq!(world.foreground().package, "com.android.launcher3");
    world.key(KeyCode::BACK);
    assert_eq!(world.foreground().package, "com.android.launcher3");
}

#[test]
fn back_hides_the_keyboard_before_it_leaves_the_page() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    world.key(KeyCode::BACK);
    assert!(!world.keyboard_shown());
    assert!(node(&mut world, "search_omnibox_edit_text").is_some());
    world.key(KeyCode::BACK);
    assert!(node(&mut world, "map_view").is_some());
}

#[test]
fn soft_keyboard_types_letters_capitals_symbols_and_deletes() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    for key in ["t", "a", "x", "Delete", "Space", "Shift", "B", "c", "Symbols", "7", "&", "Letters"]
    {
        press(&mut world, key);
    }
    assert_eq!(world.focused_text().as_deref(), Some("ta Bc7&"));
    assert_eq!(node(&mut world, "search_omnibox_edit_text").unwrap().text, "ta Bc7&");
    press(&mut world, "Search");
    assert!(shows(&mut world, "No results for \u{201c}ta Bc7&\u{201d}"));
}

#[test]
fn caret_moves_by_key_and_touch() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    type_text(&mut world, "cofee");
    world.key(KeyCode::DPAD_LEFT);
    world.key(KeyCode::DPAD_LEFT);
    type_text(&mut world, "f");
    assert_eq!(world.focused_text().as_deref(), Some("coffee"));
    world.key(KeyCode::MOVE_HOME);
    world.key(KeyCode::FORWARD_DEL);
    type_text(&mut world, "T");
    world.key(KeyCode::MOVE_END);
    world.key(KeyCode::DEL);
    assert_eq!(world.focused_text().as_deref(), Some("Toffe"));
    let field = node(&mut world, "search_omnibox_edit_text").unwrap().bounds;
    tap_at(&mut world, Point { x: field.left + 1, y: field.center().y });
    type_text(&mut world, "é");
    assert_eq!(world.focused_text().as_deref(), Some("éToffe"));
}

#[test]
fn typing_without_a_focused_field_fails() {
    let mut world = maps();
    assert!(!world.type_char('x'));
    assert_eq!(world.focused_text(), None);
    tap(&mut world, "search_omnibox_text_box");
    assert!(!world.type_char('\u{7}'));
    assert_eq!(world.focused_text().as_deref(), Some(""));
}

#[test]
fn field_accepts_ten_thousand_characters_and_shows_its_end() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    world.set_clipboard("'; reboot # ".repeat(900));
    world.key(KeyCode::PASTE);
    assert_eq!(world.focused_text().map(|text| text.len()), Some(10_800));
    world.set_clipboard("x".repeat(10_000));
    world.key(KeyCode::PASTE);
    assert_eq!(world.focused_text().map(|text| text.len()), Some(10_800));
    world.frame();
}

#[test]
fn clear_button_empties_the_field_and_keeps_the_focus() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    assert!(node(&mut world, "search_omnibox_clear_button").is_none());
    type_text(&mut world, "abc");
    tap(&mut world, "search_omnibox_clear_button");
    assert_eq!(world.focused_text().as_deref(), Some(""));
    let field = node(&mut world, "search_omnibox_edit_text").unwrap();
    assert_eq!((field.text.as_str(), field.hint.as_str()), ("", "Search here"));
    assert!(field.flags.focused && world.keyboard_shown());
}

#[test]
fn suggestions_follow_the_typed_text_and_open_results() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    type_text(&mut world, "rest");
    assert!(shows(&mut world, "restaurants"));
    type_text(&mut world, "x");
    assert!(!shows(&mut world, "restaurants"));
    world.key(KeyCode::DEL);
    tap(&mut world, "restaurants");
    assert!(shows(&mut world, "18 places"));
    world.key(KeyCode::BACK);
    tap(&mut world, "search_omnibox_text_box");
    assert!(shows(&mut world, "restaurants"), "recent searches are offered");
}

#[test]
fn drag_scrolls_by_its_length() {
    let mut world = restaurants();
    let before = node(&mut world, "search_result_row").unwrap();
    drag(&mut world, (200, 800), (200, 780));
    let after = node(&mut world, "search_result_row").unwrap();
    assert_eq!(after.full.top, before.full.top - 20);
    let mut seen: Vec<String> = texts(&mut world, "id/title");
    for _ in 0..12 {
        drag(&mut world, (200, 800), (200, 600));
        seen.extend(texts(&mut world, "id/title"));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 18);
}

#[test]
fn filters_narrow_and_sort_the_results() {
    let mut world = restaurants();
    tap(&mut world, "Top rated");
    let stars: Vec<f32> =
        texts(&mut world, "id/rating").iter().map(|text| text.parse().unwrap()).collect();
    assert!(stars.len() > 2 && stars.is_sorted_by(|a, b| a >= b), "{stars:?}");
    tap(&mut world, "Open now");
    assert!(texts(&mut world, "id/open_state").iter().all(|state| state == "Open"));
}

#[test]
fn duration_distinguishes_long_press_from_tap() {
    let mut world = maps();
    let at = Point { x: 60, y: 500 };
    let toast = |world: &mut World| {
        world.scene().windows.iter().any(|window| window.kind == WindowKind::Toast)
    };
    tap_at(&mut world, at);
    assert!(!toast(&mut world));
    world.pointer(TouchPhase::Down, at);
    wait(&mut world, Duration::from_millis(499));
    assert!(!toast(&mut world));
    wait(&mut world, Duration::from_millis(1));
    assert!(toast(&mut world));
    world.pointer(TouchPhase::Up, at);
    wait(&mut world, Duration::from_millis(2000));
    assert!(!toast(&mut world), "a toast goes by itself");
}

#[test]
fn dragging_the_map_moves_the_drawing() {
    let mut world = maps();
    world.grant(MAPS, "android.permission.ACCESS_FINE_LOCATION").unwrap();
    let before = world.frame();
    drag(&mut world, (200, 600), (260, 500));
    assert_ne!(world.frame(), before);
    tap(&mut world, "mylocation_button");
    assert_eq!(world.frame(), before);
}

#[test]
fn swipe_opens_the_drawer_which_finds_apps_by_name() {
    let mut world = phone();
    drag(&mut world, (240, 600), (240, 300));
    assert!(node(&mut world, "apps_list_view").is_some());
    tap(&mut world, "fallback_search_view");
    type_text(&mut world, "zz");
    assert!(node(&mut world, "empty_text").is_some());
    world.key(KeyCode::DEL);
    world.key(KeyCode::DEL);
    type_text(&mut world, "ma");
    tap(&mut world, "Maps");
    assert_eq!(world.foreground().package, MAPS);
    world.key(KeyCode::HOME);
    assert!(node(&mut world, "workspace").is_some());
}

#[test]
fn system_gestures_go_home_and_back() {
    let mut world = restaurants();
    drag(&mut world, (2, 500), (200, 505));
    assert!(node(&mut world, "map_view").is_some());
    drag(&mut world, (240, 895), (240, 500));
    assert_eq!(world.foreground().package, "com.android.launcher3");
    world.key(KeyCode::APP_SWITCH);
    assert_eq!(world.foreground().package, MAPS);
}

#[test]
fn arrow_keys_and_enter_work_without_touch() {
    let mut world = maps();
    world.key(KeyCode::TAB);
    let focused = |world: &mut World| {
        let root = &world.scene().focused().unwrap().root;
        root.walk().find(|node| node.flags.focused).and_then(|node| node.id.clone())
    };
    assert!(focused(&mut world).is_some_and(|id| id.ends_with("search_omnibox_text_box")));
    world.key(KeyCode::DPAD_RIGHT);
    assert!(focused(&mut world).is_some_and(|id| id.ends_with("voice_search")));
    world.key(KeyCode::DPAD_LEFT);
    world.key(KeyCode::DPAD_CENTER);
    assert!(world.keyboard_shown());
}

#[test]
fn start_error_says_what_is_missing() {
    let mut world = phone();
    assert_eq!(world.start("com.none", None), Err(StartError::NoSuchPackage));
    assert_eq!(world.start(MAPS, Some(".Nope")), Err(StartError::NoSuchActivity));
    assert_eq!(world.start_intent(&Intent::default()), Err(StartError::NotLaunchable));
    assert_eq!(world.start(MAPS, None), Ok(StartResult::New));
    assert_eq!(world.start(MAPS, None), Ok(StartResult::BroughtToFront));
    let full = "com.google.android.maps.MapsActivity";
    assert_eq!(world.foreground().activity, full);
    assert_eq!(world.start(MAPS, Some(full)), Ok(StartResult::BroughtToFront));
    assert!(world.log().lines().any(|line| {
        line.text.contains("cmp=com.google.android.apps.maps/com.google.android.maps.MapsActivity")
    }));
}

#[test]
fn geo_uri_opens_maps_with_its_search() {
    let mut world = phone();
    let data = Some("geo:0,0?q=hotels%20near+me".to_owned());
    world.start_intent(&Intent { data, ..Intent::default() }).unwrap();
    assert!(shows(&mut world, "8 places"));
}

#[test]
fn force_stop_keeps_data_and_clearing_deletes_it() {
    let mut world = restaurants();
    tap(&mut world, "search_result_row");
    tap(&mut world, "save_button");
    assert!(world.pid_of(MAPS).is_some());
    assert!(world.force_stop(MAPS));
    assert_eq!(world.pid_of(MAPS), None);
    assert_eq!(world.foreground().package, "com.android.launcher3");
    assert_eq!(world.start(MAPS, None), Ok(StartResult::New));
    tap(&mut world, "saved_tab_strip_button");
    assert!(node(&mut world, "saved_list").is_some(), "what was saved is still there");
    assert!(world.clear_data(MAPS));
    world.start(MAPS, None).unwrap();
    tap(&mut world, "saved_tab_strip_button");
    assert!(node(&mut world, "empty_page").is_some());
    assert!(!world.force_stop("com.none"));
}

#[test]
fn screen_that_is_off_is_black_and_ignores_touches() {
    let mut world = maps();
    world.key(KeyCode::POWER);
    assert!(!world.screen_on());
    assert!(world.frame().rgba.chunks(4).all(|pixel| pixel == [0, 0, 0, 255]));
    tap_at(&mut world, Point { x: 200, y: 60 });
    world.key(KeyCode::HOME);
    world.key(KeyCode::WAKEUP);
    assert_eq!(world.foreground().package, MAPS);
    assert!(!world.keyboard_shown());
}

#[test]
fn sharing_a_place_fills_the_clipboard() {
    let mut world = restaurants();
    tap(&mut world, "search_result_row");
    let row = node(&mut world, "action_buttons").unwrap().bounds.center();
    drag(&mut world, (400, row.y), (100, row.y));
    tap(&mut world, "share_button");
    assert!(world.clipboard().is_some_and(|text| text.starts_with("https://maps.example/place/")));
}

#[test]
fn status_bar_clock_follows_the_uptime() {
    let mut world = phone();
    let clock = |world: &mut World| {
        let bar = world.scene().windows.iter().find(|window| window.kind == WindowKind::StatusBar);
        bar.unwrap().root.find("clock").unwrap().text.clone()
    };
    assert_eq!(clock(&mut world), "10:00");
    world.advance(Duration::from_secs(185));
    assert_eq!(clock(&mut world), "10:03");
    world.advance(Duration::from_secs(1));
    assert_eq!(world.uptime(), Duration::from_secs(185), "time does not run backwards");
}

#[test]
fn home_screen_pages_are_swiped_and_home_shows_the_first() {
    let mut world = phone();
    let first = texts(&mut world, "id/icon");
    assert!(shows(&mut world, "Home screen 1 of 2"));
    drag(&mut world, (400, 200), (100, 205));
    assert!(shows(&mut world, "Home screen 2 of 2"));
    let second = texts(&mut world, "id/icon");
    assert!(second.iter().any(|app| !first.contains(app)), "{second:?}");
    drag(&mut world, (400, 200), (100, 205));
    assert_eq!(texts(&mut world, "id/icon"), second, "there is no third page");
    drag(&mut world, (100, 200), (400, 205));
    assert_eq!(texts(&mut world, "id/icon"), first);
    drag(&mut world, (400, 200), (100, 205));
    world.key(crate::input::KeyCode::HOME);
    assert_eq!(texts(&mut world, "id/icon"), first);
    let apps = world.packages().iter().filter(|app| app.launcher.is_some()).count();
    let mut shown: Vec<String> = first.into_iter().chain(second).collect();
    shown.sort();
    shown.dedup();
    assert_eq!(shown.len(), apps, "every app is on some page or in the dock");
}
