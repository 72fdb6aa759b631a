//! The tree agrees with what is painted and what can be touched.

use std::sync::LazyLock;

use super::*;
use crate::input::KeyCode;
use crate::input::hit;
use crate::scene::{Scene, Window};
use crate::world::Setup;
use thumbwire_virtual_screen::Frame;
use thumbwire_virtual_screen::PaintOp;
use thumbwire_virtual_screen::Rect;

/// Every page by name, and a phone that shows it.
fn pages(display: Display) -> Vec<(&'static str, World)> {
    let fresh = || World::new(Setup { display, ..Setup::default() });
    let in_maps = || {
        let mut world = fresh();
        world.start(MAPS, None).unwrap();
        world
    };
    let searching = |text: &str| {
        let mut world = in_maps();
        tap(&mut world, "search_omnibox_text_box");
        type_text(&mut world, text);
        world
    };
    let mut drawer = fresh();
    tap(&mut drawer, "search_container_hotseat");
    let mut saved = searching("restaurants\n");
    tap(&mut saved, "search_result_row");
    let detail = searching("sushi\n");
    let mut detail_of_one = detail;
    tap(&mut detail_of_one, "search_result_row");
    let mut way = searching("sushi\n");
    tap(&mut way, "search_result_row");
    tap(&mut way, "directions_button");
    tap(&mut saved, "save_button");
    saved.key(KeyCode::BACK);
    saved.key(KeyCode::BACK);
    tap(&mut saved, "saved_tab_strip_button");
    let mut contribute = in_maps();
    tap(&mut contribute, "contribute_tab_strip_button");
    let in_app = |package: &str, taps: &[&str]| {
        let mut world = fresh();
        world.start(package, None).unwrap();
        tap_all(&mut world, taps);
        world
    };
    let in_bank = |taps: &[&str]| {
        let mut world = in_app(BANK, &["login_customer_number"]);
        type_text(&mut world, "1\nthumb-4711\n");
        tap_all(&mut world, taps);
        world
    };
    let in_settings = |taps: &[&str]| in_app(SETTINGS, taps);
    let mut alerted = in_app(NOTES, &["New note"]);
    alerted.pop_up("Software update", "A new version is ready to be installed.");
    let mut hanging = in_app(CLOCK, &[]);
    hanging.stop_responding(CLOCK);
    let mut crashed = in_app(SHOP, &[]);
    crashed.put_setting("global", "show_first_crash_dialog", "1");
    crashed.crash(SHOP, "java.lang.IllegalStateException");
    let mut shade = fresh();
    for (package, title, text) in [
        (MESSAGES, "Emma Hughes", "Sounds good!"),
        (CALENDAR, "Dentist", "10:30 · Harbour Street 4"),
        (CLOCK, "Alarm", "8:30"),
    ] {
        shade.notify(package, title, text);
    }
    shade.open_shade(false);
    let mut quick = fresh();
    quick.open_shade(true);
    let mut asking = in_maps();
    tap(&mut asking, "mylocation_button");
    vec![
        ("permission", asking),
        ("shade", shade),
        ("quick settings", quick),
        ("alert", alerted),
        ("not responding", hanging),
        ("crashed", crashed),
        ("settings", in_settings(&[])),
        ("network", in_settings(&["Network & internet"])),
        ("internet", in_settings(&["Network & internet", "Internet"])),
        ("apps", in_settings(&["Apps"])),
        ("app", in_settings(&["Apps", "Maps"])),
        ("display", in_settings(&["Display"])),
        ("timeout", in_settings(&["Display", "Screen timeout"])),
        ("find setting", in_settings(&["Search settings"])),
        ("contacts", in_app(CONTACTS, &[])),
        ("find contact", in_app(CONTACTS, &["open_search_bar"])),
        ("contact", in_app(CONTACTS, &["cliv_name_textview"])),
        ("create contact", in_app(CONTACTS, &["Create contact"])),
        ("delete contact", in_app(CONTACTS, &["cliv_name_textview", "Delete contact"])),
        ("conversations", in_app(MESSAGES, &[])),
        ("conversation", in_app(MESSAGES, &["Book club"])),
        ("writing", in_app(MESSAGES, &["Emma Hughes", "compose_message_text"])),
        ("new conversation", in_app(MESSAGES, &["Start chat"])),
        ("shop", in_app(SHOP, &[])),
        ("article", in_app(SHOP, &["product_item", "Add to cart"])),
        ("cart", in_app(SHOP, &["product_item", "Add to cart", "cart_button"])),
        (
            "checkout",
            in_app(
                SHOP,
                &["product_item", "Add to cart", "cart_button", "Checkout", "Place order"],
            ),
        ),
        ("orders", in_app(SHOP, &["Orders"])),
        ("month", in_app(CALENDAR, &[])),
        ("event", in_app(CALENDAR, &["event_chip"])),
        ("delete event", in_app(CALENDAR, &["event_chip", "Delete event"])),
        ("new event", in_app(CALENDAR, &["Create new event"])),
        ("no files", in_app(FILES, &[])),
        ("new folder", in_app(FILES, &["New folder"])),
        ("web", in_app(BROWSER, &[])),
        ("web article", in_app(BROWSER, &["The last keepers"])),
        ("web table", in_app(BROWSER, &["Heights of lighthouses"])),
        ("web form", in_app(BROWSER, &["Write to us", "name"])),
        ("address", in_app(BROWSER, &["url_bar"])),
        ("bank", in_app(BANK, &["login_button"])),
        ("accounts", in_bank(&[])),
        ("account", in_bank(&["account_item"])),
        ("transfer", in_bank(&["New transfer", "Review"])),
        ("sign in", in_app(MEMBERS, &["sign_in_button"])),
        ("join", in_app(MEMBERS, &["create_account"])),
        ("forgot", in_app(MEMBERS, &["forgot_password"])),
        ("news", in_app(AKHBAR, &[])),
        ("story", in_app(AKHBAR, &["news_item", "action_save"])),
        ("find story", in_app(AKHBAR, &["action_search"])),
        ("alarms", in_app(CLOCK, &[])),
        ("alarm", in_app(CLOCK, &["Add alarm"])),
        ("set alarm", in_app(CLOCK, &["alarm_item"])),
        ("stopwatch", in_app(CLOCK, &["Stopwatch", "Start", "Lap", "Lap"])),
        ("timer", in_app(CLOCK, &["Timer", "timer_setup_digit_5"])),
        ("running timer", in_app(CLOCK, &["Timer", "timer_setup_digit_5", "fab"])),
        ("notes", in_app(NOTES, &[])),
        ("note", in_app(NOTES, &["Shopping"])),
        ("new note", in_app(NOTES, &["New note"])),
        ("delete note", in_app(NOTES, &["Shopping", "Delete note"])),
        ("home", fresh()),
        ("drawer", drawer),
        ("map", in_maps()),
        ("search", searching("")),
        ("suggestions", searching("re")),
        ("results", searching("restaurants\n")),
        ("nothing", searching("qqq\n")),
        ("detail", detail_of_one),
        ("directions", way),
        ("saved", saved),
        ("contribute", contribute),
    ]
}

/// The pages on the small screen, laid out once for all read-only tests.
fn scenes() -> &'static [(&'static str, Scene)] {
    static SCENES: LazyLock<Vec<(&'static str, Scene)>> = LazyLock::new(|| {
        let pages = pages(SMALL).into_iter();
        pages.map(|(page, mut world)| (page, world.scene().clone())).collect()
    });
    &SCENES
}

fn app_window(world: &mut World) -> Window {
    world.scene().focused().unwrap().clone()
}

#[test]
fn middle_of_every_clickable_node_hits_that_node() {
    for (page, scene) in scenes() {
        for window in &scene.windows {
            for node in window.root.walk().filter(|node| node.flags.clickable) {
                let mut chain = Vec::new();
                hit(&window.root, node.bounds.center(), &mut chain);
                let struck =
                    chain.iter().find(|node| node.flags.clickable).map(|node| &node.address);
                let inside = node.walk().any(|below| Some(&below.address) == struck);
                assert!(inside, "{page}: {} is covered by {struck:?}", node.address);
            }
        }
    }
}

#[test]
fn every_touch_target_is_at_least_48_dp_high_and_wide() {
    for (page, scene) in scenes() {
        let least = (48.0 * SMALL.scale()) as i32 - 1;
        for node in scene.focused().unwrap().root.walk().filter(|node| node.flags.clickable) {
            let size = (node.full.width(), node.full.height());
            assert!(size.0 >= least && size.1 >= least, "{page}: {} {size:?}", node.address);
        }
    }
}

#[test]
fn every_button_has_a_label() {
    for (page, scene) in scenes() {
        for node in scene.focused().unwrap().root.walk().filter(|node| node.flags.clickable) {
            let text = node.walk().any(|below| {
                !(below.text.is_empty() && below.description.is_empty() && below.hint.is_empty())
            });
            // The text of a row that is only partly on the screen may extend beyond its edge.
            let cut = node.bounds != node.full;
            assert!(text || cut, "{page}: {} has no text", node.address);
        }
    }
}

#[test]
fn listed_nodes_are_inside_parent_window_and_screen() {
    fn check(node: &Node, within: &Rect) {
        // What a scrolling node paints for its children may extend beyond its own edge.
        for inked in node.inks.iter().filter(|_| !node.flags.scrollable) {
            if let PaintOp::Text { y, shaped, .. } = &inked.ink {
                let end = y + shaped.height;
                assert!(end <= node.full.bottom as f32 + 2.0, "{:?} is cut", node.address);
            }
        }
        assert!(!node.bounds.is_empty(), "{}", node.address);
        assert!(within.encloses(&node.bounds), "{} {:?}", node.address, node.bounds);
        for child in &node.children {
            check(child, &node.bounds);
        }
    }
    let narrow = Display { width: 480, height: 800, density: 240, rotation: 0 };
    let wide = Display { width: 900, height: 480, rotation: 1, ..SMALL };
    let dense = Display { width: 320, height: 480, density: 320, rotation: 0 };
    for display in [SMALL, narrow, wide, dense] {
        for (_, mut world) in pages_that_fit(display) {
            let screen = world.display().bounds();
            for window in &world.scene().windows {
                assert!(screen.encloses(&window.bounds));
                check(&window.root, &window.bounds);
            }
        }
    }
}

/// On a screen too small for some buttons, only the pages that need none.
fn pages_that_fit(display: Display) -> Vec<(&'static str, World)> {
    if (display.height as f32) / display.scale() > 300.0 {
        return pages(display);
    }
    let mut world = World::new(Setup { display, ..Setup::default() });
    let home = World::new(Setup { display, ..Setup::default() });
    world.start(MAPS, None).unwrap();
    vec![("home", home), ("map", world)]
}

#[test]
fn texts_side_by_side_do_not_overlap() {
    for (page, scene) in scenes() {
        let window = scene.focused().unwrap();
        let texts: Vec<&Node> = window
            .root
            .walk()
            .filter(|node| !node.text.is_empty() && node.children.is_empty())
            .collect();
        for (index, a) in texts.iter().enumerate() {
            for b in &texts[index + 1..] {
                let over = a.bounds.intersect(&b.bounds);
                assert!(over.is_empty(), "{page}: {} over {}", a.address, b.address);
            }
        }
    }
}

#[test]
fn text_is_painted_only_inside_its_bounds() {
    for (page, mut world) in pages(SMALL) {
        if !["detail", "suggestions"].contains(&page) {
            continue;
        }
        let scene = world.scene().clone();
        let whole = scene.frame();
        let window = app_window(&mut world);
        let texts = window.root.walk().filter(|node| !node.text.is_empty());
        for node in texts.filter(|node| node.children.is_empty()).take(14) {
            let mut without = scene.clone();
            let root = &mut without.windows[0].root;
            wipe(root, &node.address);
            let changed = difference(&whole, &without.frame());
            assert!(!changed.is_empty(), "{page}: nothing is painted for {}", node.address);
            assert!(node.bounds.encloses(&changed), "{page}: {} inked {changed:?}", node.address);
        }
    }
}

fn wipe(node: &mut Node, address: &str) {
    if node.address == address {
        node.inks.clear();
    }
    for child in &mut node.children {
        wipe(child, address);
    }
}

/// The smallest rectangle around all differing pixels.
fn difference(a: &Frame, b: &Frame) -> Rect {
    let mut around = Rect::new(i32::MAX, i32::MAX, i32::MIN, i32::MIN);
    let width = a.width as usize;
    for (at, (a, b)) in a.rgba.chunks(4).zip(b.rgba.chunks(4)).enumerate() {
        if a != b {
            let (x, y) = ((at % width) as i32, (at / width) as i32);
            around.left = around.left.min(x);
            around.top = around.top.min(y);
            around.right = around.right.max(x + 1);
            around.bottom = around.bottom.max(y + 1);
        }
    }
    around
}

#[test]
fn app_paints_nothing_below_its_window() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    let scene: Scene = world.scene().clone();
    let bottom = scene.windows[0].bounds.bottom;
    assert!(bottom < SMALL.height, "the keyboard takes its part");
    let only = Scene { windows: scene.windows[..1].to_vec(), ..scene };
    let frame = only.frame();
    let below = &frame.rgba[(bottom * SMALL.width * 4) as usize..];
    assert!(below.chunks(4).all(|pixel| pixel == [0, 0, 0, 255]));
}

#[test]
fn app_has_nothing_under_the_keyboard() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    let scene = world.scene();
    let keys = scene.windows.iter().find(|window| window.kind == WindowKind::InputMethod).unwrap();
    let app = scene.focused().unwrap();
    assert!(app.bounds.intersect(&keys.bounds).is_empty());
    assert!(keys.root.walk().filter(|node| node.flags.clickable).count() > 30);
}

#[test]
fn same_seed_and_same_calls_give_the_same_pixels_and_the_same_tree() {
    let story = || {
        let mut world = restaurants();
        drag(&mut world, (200, 800), (200, 500));
        tap(&mut world, "search_result_row");
        wait(&mut world, std::time::Duration::from_secs(70));
        world
    };
    let (mut one, mut other) = (story(), story());
    assert_eq!(one.scene(), other.scene());
    assert!(one.frame() == other.frame());
    assert_eq!(one.log(), other.log());
}

#[test]
fn order_of_results_depends_on_the_seed() {
    let titles = |seed| {
        let mut world = World::new(Setup { seed, display: SMALL, ..Setup::default() });
        world.start(MAPS, None).unwrap();
        tap(&mut world, "Restaurants");
        texts(&mut world, "id/title")
    };
    assert_eq!(titles(5), titles(5));
    assert_ne!(titles(5), titles(6));
}

#[test]
fn rotating_there_and_back_restores_the_layout() {
    let mut world = restaurants();
    let before = world.frame();
    world.set_rotation(1);
    assert_eq!((world.display().width, world.display().height), (900, 480));
    let turned = world.frame();
    assert_eq!((turned.width, turned.height), (900, 480));
    assert!(shows(&mut world, "18 places"));
    world.set_rotation(0);
    assert!(world.frame() == before);
}

#[test]
fn size_and_density_overrides_can_be_reset() {
    let mut world = maps();
    let before = world.scene().clone();
    world.set_size_override(Some((720, 1280)));
    world.set_density_override(Some(320));
    assert_eq!((world.display().width, world.display().density), (720, 320));
    assert_eq!(world.physical_size(), (480, 900));
    world.set_size_override(None);
    world.set_density_override(None);
    assert_eq!(*world.scene(), before);
    world.set_size_override(Some((0, i32::MAX)));
    assert_eq!((world.display().width, world.display().height), (200, 4096));
}
