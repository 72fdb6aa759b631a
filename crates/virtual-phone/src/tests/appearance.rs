//! What only shows in the pixels.

use super::*;
use crate::theme;
use crate::world::Setup;

#[test]
fn caret_of_an_empty_field_is_painted() {
    for (package, field) in [(MAPS, "search_omnibox_text_box"), (CONTACTS, "open_search_bar")] {
        let mut world = World::new(Setup { display: SMALL, ..Setup::default() });
        world.start(package, None).unwrap();
        tap(&mut world, field);
        assert_eq!(world.focused_text().as_deref(), Some(""), "{package}");
        let bounds = world.scene().focused().unwrap().root.walk().find(|node| node.flags.focused);
        let bounds = bounds.unwrap().bounds;
        let frame = world.frame();
        let caret = [theme::PRIMARY.red, theme::PRIMARY.green, theme::PRIMARY.blue];
        let row = |y: i32| (bounds.left..bounds.right).any(|x| frame.pixel(x, y) == Some(caret));
        assert!(row(bounds.center().y), "{package}: no caret in {bounds:?}");
    }
}

#[test]
fn home_screen_fits_on_a_small_phone() {
    let display = Display { width: 480, height: 800, density: 240, rotation: 0 };
    let mut world = World::new(Setup { display, ..Setup::default() });
    let root = &world.scene().focused().unwrap().root;
    let bar = root.find("search_container_hotseat").unwrap().bounds;
    assert_eq!(bar.height(), 56 * 240 / 160);
    assert!(bar.bottom < display.height - 24 * 240 / 160, "{bar:?} is above the system's bar");
}
