//! Finding, adding, editing and deleting people.

use super::*;
use crate::input::KeyCode;

fn contacts(taps: &[&str]) -> World {
    let mut world = phone();
    world.start(CONTACTS, None).unwrap();
    tap_all(&mut world, taps);
    world
}

fn focused(world: &mut World) -> String {
    let root = &world.scene().focused().unwrap().root;
    let node = root.walk().find(|node| node.flags.focused);
    node.and_then(|node| node.id.clone()).unwrap_or_default()
}

/// All names, from the top of the list to its end.
fn names(world: &mut World) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for _ in 0..20 {
        for name in texts(world, "id/cliv_name_textview") {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        drag(world, (200, 800), (200, 500));
    }
    names
}

#[test]
fn contacts_are_listed_by_name_under_their_letters() {
    let mut world = contacts(&[]);
    let names = names(&mut world);
    assert_eq!(names.len(), 22);
    assert!(names.is_sorted(), "{names:?}");
    let mut other = World::new(Setup { seed: 9, display: SMALL, ..Setup::default() });
    other.start(CONTACTS, None).unwrap();
    assert_ne!(texts(&mut other, "id/cliv_name_textview"), names[..9]);
}

#[test]
fn new_contact_is_entered_field_by_field_and_listed() {
    let mut world = contacts(&["Create contact"]);
    assert!(focused(&mut world).ends_with("first_name") && world.keyboard_shown());
    assert!(!node(&mut world, "toolbar_button").unwrap().flags.enabled, "nothing to save yet");
    type_text(&mut world, "Ada");
    press(&mut world, "Next");
    assert!(focused(&mut world).ends_with("last_name"));
    type_text(&mut world, "Lovelace\n");
    assert!(focused(&mut world).ends_with("phone"), "the enter key goes on as well");
    type_text(&mut world, "(415) 555-0100\nada@example.com");
    assert!(focused(&mut world).ends_with("email"));
    press(&mut world, "Done");
    assert!(!world.keyboard_shown());
    tap(&mut world, "Save");
    assert_eq!(node(&mut world, "large_title").unwrap().text, "Ada Lovelace");
    assert!(shows(&mut world, "(415) 555-0100") && shows(&mut world, "ada@example.com"));
    world.key(KeyCode::BACK);
    assert!(shows(&mut world, "Ada Lovelace"));
    world.force_stop(CONTACTS);
    world.start(CONTACTS, None).unwrap();
    assert_eq!(texts(&mut world, "id/cliv_name_textview")[0], "Ada Lovelace");
}

#[test]
fn unsaved_contact_changes_need_confirmation() {
    let mut world = contacts(&["cliv_name_textview", "Edit contact"]);
    let before = node(&mut world, "first_name").unwrap().text;
    type_text(&mut world, "bella");
    world.key(KeyCode::BACK);
    world.key(KeyCode::BACK);
    assert!(shows(&mut world, "Discard changes?"));
    assert!(node(&mut world, "first_name").is_none(), "the dialog stands alone");
    tap(&mut world, "Keep editing");
    assert_eq!(node(&mut world, "first_name").unwrap().text, format!("{before}bella"));
    tap(&mut world, "Save");
    assert!(node(&mut world, "large_title").unwrap().text.starts_with(&format!("{before}bella ")));
    tap(&mut world, "Edit contact");
    type_text(&mut world, "x");
    world.key(KeyCode::BACK);
    world.key(KeyCode::BACK);
    tap(&mut world, "Discard");
    assert!(!node(&mut world, "large_title").unwrap().text.contains("bellax"));
}

#[test]
fn deleting_a_contact_needs_confirmation() {
    let mut world = contacts(&["cliv_name_textview", "Delete contact"]);
    assert!(shows(&mut world, "Delete contact?"));
    tap(&mut world, "Cancel");
    let name = node(&mut world, "large_title").unwrap().text;
    tap(&mut world, "Delete contact");
    tap(&mut world, "Delete");
    assert!(node(&mut world, "contact_list").is_some());
    assert!(!shows(&mut world, &name));
    world.clear_data(CONTACTS);
    world.start(CONTACTS, None).unwrap();
    assert!(shows(&mut world, &name), "the phone comes with them");
}

#[test]
fn search_matches_names_and_numbers() {
    let mut world = contacts(&["open_search_bar"]);
    type_text(&mut world, "zo");
    assert_eq!(texts(&mut world, "id/cliv_name_textview").len(), 1);
    tap(&mut world, "cliv_name_textview");
    let phone =
        world.scene().focused().unwrap().root.find("phone_row").unwrap().children[1].clone();
    let number = phone.walk().find(|node| node.text.contains("555")).unwrap().text.clone();
    world.key(KeyCode::BACK);
    tap(&mut world, "Clear text");
    type_text(&mut world, &number);
    assert!(texts(&mut world, "id/cliv_name_textview")[0].starts_with("Zoë "));
    type_text(&mut world, "q");
    assert!(shows(&mut world, "No contacts found"));
}
