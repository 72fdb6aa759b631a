//! Checks the documentation of apps' preferences: every example does what its row says.

use std::collections::BTreeSet;

use super::*;

const PAGE: &str = include_str!("../../../../docs/virtual-phone.md");

/// A row: the package, the patterns of its keys, and its example.
struct Row {
    package: &'static str,
    keys: Vec<&'static str>,
    example: Vec<(&'static str, &'static str)>,
}

/// The text between backticks.
fn quoted(text: &'static str) -> Vec<&'static str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn rows() -> Vec<Row> {
    let (_, section) = PAGE.split_once("\n## What the apps store\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [package, keys, _, example] = *cells.as_slice() else { panic!("{line}") };
        let text = quoted(example);
        let example = text.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        Row { package: quoted(package)[0], keys: quoted(keys), example }
    });
    rows.collect()
}

/// How to check a row, by its first key: what to tap, and what then shows on the screen.
fn seen(key: &str, package: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match (key, package) {
        ("visit/N/url", _) => (&["url_bar"], &["lighthouse.example/keepers"]),
        ("note/N/title", _) => (&["Call the plumber"], &["Monday"]),
        ("saved/N", _) => (&["navigation_saved"], &[]),
        ("booking/N/account", _) => (&["Current account"], &["Café Luna", "Lunch", "−$12.50"]),
        ("signed in", _) => (&[], &["Hello, ada"]),
        ("cart/ARTICLE", _) => (&["cart_button"], &["3"]),
        ("order/N/items", _) => (&["Orders"], &["$49.90"]),
        ("saved/PLACE", _) => (&["saved_tab_strip_button"], &[]),
        ("recent", _) => (&["search_omnibox_text_box"], &["harbour ferry"]),
        ("thread/N/name", _) => (&["Quinn"], &["Say hello"]),
        ("message/N/thread", _) => (&["Quinn"], &["Your parcel is here"]),
        ("draft/THREAD", _) => (&["Quinn"], &["Thank you so"]),
        ("event/N/title", _) => (&["Train to Lübeck"], &["Platform 7"]),
        ("contact/N/first_name", _) => (&["Aaron Aaronson"], &["555-0101", "a@example.org"]),
        ("alarm/N/hour", _) => (&[], &["6:45", "Early train"]),
        ("stopwatch/before", _) => (&["Stopwatch"], &["01:01"]),
        ("timer/length", _) => (&["Timer"], &["1:15"]),
        _ => (&[], &[]),
    }
}

/// What a single page does not show.
fn otherwise(world: &mut World, key: &str, package: &str) -> bool {
    let second = Duration::from_secs(1);
    let out =
        |world: &World, title: &str| world.notifications().iter().any(|one| one.title == title);
    match key {
        "order" => {
            let titles = texts(world, "id/index_note_title");
            world.set_preference(package, "order", None);
            titles != texts(world, "id/index_note_title")
        }
        "saved/N" => texts(world, "id/news_title").len() == 1,
        "saved/PLACE" => node(world, "saved_list").is_some_and(|list| list.children.len() == 1),
        "member/N/email" => {
            tap(world, "email");
            type_text(world, "bo@example.org\nlong enough\n");
            shows(world, "Hello, bo")
        }
        "tell/ORDER" => {
            world.grant(package, "android.permission.POST_NOTIFICATIONS").unwrap();
            wait(world, 3 * second);
            out(world, "Your order is on its way")
        }
        "read/THREAD" => !shows(world, "Unread"),
        "answer/THREAD" => {
            wait(world, 3 * second);
            world.notifications().len() == 1
        }
        "stopwatch/since" => {
            tap(world, "Stopwatch");
            world.keeps_moving()
        }
        "timer/since" => {
            wait(world, 3 * second);
            out(world, "Time's up")
        }
        "timer/rung" => {
            wait(world, 3 * second);
            !out(world, "Time's up")
        }
        _ => false,
    }
}

#[test]
fn every_documented_key_has_its_documented_effect() {
    let rows = rows();
    assert!(rows.len() > 20, "the page is read");
    for Row { package, keys, example } in rows {
        let mut world = phone();
        for (key, value) in &example {
            assert!(world.set_preference(package, key, Some(value)), "{package}");
        }
        world.start(package, None).unwrap();
        if package == BANK {
            tap(&mut world, "login_customer_number");
            type_text(&mut world, "1\nthumb-4711\n");
        }
        let (taps, words) = seen(keys[0], package);
        tap_all(&mut world, taps);
        for word in words {
            let root = world.scene().focused().unwrap().root.clone();
            let output = |text: &str| text.contains(word);
            let found = root.walk().any(|node| output(&node.text) || output(&node.description));
            let all: Vec<_> = root.walk().map(|node| node.text.clone()).collect();
            assert!(found, "{package} {keys:?}: no {word} among {all:?}");
        }
        let done = !words.is_empty() || otherwise(&mut world, keys[0], package);
        assert!(done, "{package} {keys:?} does nothing that can be seen");
    }
}

#[test]
fn every_preference_written_by_apps_is_documented() {
    // The numbers of a key match the names in its pattern.
    let shape = |key: &str| {
        let part = |part: &str| match part.chars().all(|c| c.is_ascii_digit() || c.is_uppercase()) {
            true => "#".to_owned(),
            false => part.to_owned(),
        };
        key.split('/').map(part).collect::<Vec<_>>().join("/")
    };
    let rows = rows();
    let known: BTreeSet<(&str, String)> =
        rows.iter().flat_map(|row| row.keys.iter().map(|key| (row.package, shape(key)))).collect();
    let mut worlds = vec![
        app(BROWSER, &["The last keepers"]),
        app(AKHBAR, &["news_item", "action_save"]),
        app(SHOP, &["product_item", "Add to cart"]),
        app(CLOCK, &["onoff_touch", "Stopwatch", "Start", "Timer", "timer_setup_digit_5", "fab"]),
        app(NOTES, &["New note"]),
        app(MESSAGES, &["Emma Hughes", "compose_message_text"]),
        restaurants(),
    ];
    for world in &mut worlds {
        if world.focused_text().is_some() {
            type_text(world, "Hello");
        }
        wait(world, Duration::from_secs(10));
    }
    tap(&mut worlds[5], "Send SMS");
    for world in &worlds {
        let package = world.foreground().package;
        let kept = world.preferences(&package);
        assert!(!kept.is_empty(), "{package}");
        for (key, _) in kept {
            assert!(known.contains(&(package.as_str(), shape(key))), "{package} {key}");
        }
    }
}
