//! Reading, sending, copying, and starting conversations.

use super::*;
use crate::input::KeyCode;
use crate::packages::Intent;

#[test]
fn sent_message_appears_at_the_end_of_the_conversation() {
    let mut world = app(MESSAGES, &["Emma Hughes", "compose_message_text"]);
    assert!(!node(&mut world, "send_message_button_icon").unwrap().flags.enabled);
    type_text(&mut world, "Grüße, Ελένη – до завтра ✓");
    tap(&mut world, "Send SMS");
    assert_eq!(texts(&mut world, "id/message_text").last().unwrap(), "Grüße, Ελένη – до завтра ✓");
    assert_eq!(world.focused_text().as_deref(), Some(""), "ready for the next one");
    world.key(KeyCode::BACK);
    world.key(KeyCode::BACK);
    assert_eq!(texts(&mut world, "id/conversation_name")[0], "Emma Hughes", "the newest is first");
    assert!(shows(&mut world, "You: Grüße, Ελένη – до завтра ✓"));
    world.force_stop(MESSAGES);
    world.start(MESSAGES, None).unwrap();
    assert!(shows(&mut world, "You: Grüße, Ελένη – до завтра ✓"), "it was kept");
}

#[test]
fn conversation_shows_its_end_above_the_keyboard_too() {
    let mut world = app(MESSAGES, &["Book club", "compose_message_text"]);
    for line in 0..12 {
        type_text(&mut world, &format!("line {line}"));
        tap(&mut world, "Send SMS");
    }
    let list = node(&mut world, "message_list").unwrap();
    let last = list.walk().filter(|node| node.text == "line 11").last().unwrap().clone();
    assert!(last.bounds == last.full && last.full.bottom <= list.bounds.bottom);
    let (x, y) = (list.bounds.center().x, list.bounds.center().y);
    drag(&mut world, (x, y - 50), (x, y + 100));
    assert!(!shows(&mut world, "line 11"), "it can be scrolled back");
}

#[test]
fn unsent_message_stays_as_a_draft() {
    let mut world = app(MESSAGES, &["Book club", "compose_message_text"]);
    type_text(&mut world, "perhaps");
    world.key(KeyCode::BACK);
    world.key(KeyCode::BACK);
    assert!(shows(&mut world, "Draft: perhaps"));
    tap(&mut world, "Book club");
    assert_eq!(node(&mut world, "compose_message_text").unwrap().text, "perhaps");
}

#[test]
fn opening_marks_a_conversation_read_and_a_reply_unread() {
    let mut world = app(MESSAGES, &[]);
    let unread = |world: &mut World| {
        let root = &world.scene().focused().unwrap().root;
        root.walk().filter(|node| node.description == "Unread").count()
    };
    let before = unread(&mut world);
    assert!(before > 0);
    tap(&mut world, "unread_badge");
    world.key(KeyCode::BACK);
    assert_eq!(unread(&mut world), before - 1);
    for (key, value) in [("thread", "3"), ("from", "them"), ("text", "Hello again")] {
        world.set_preference(MESSAGES, &format!("message/400/{key}"), Some(value));
    }
    assert_eq!(texts(&mut world, "id/conversation_snippet")[0], "Hello again");
    assert_eq!(unread(&mut world), before);
}

#[test]
fn long_press_copies_or_deletes_a_message() {
    let mut world = app(MESSAGES, &["Emma Hughes"]);
    let at = node(&mut world, "message_text").unwrap();
    let hold = |world: &mut World| {
        world.pointer(TouchPhase::Down, at.bounds.center());
        wait(world, Duration::from_millis(600));
        world.pointer(TouchPhase::Up, at.bounds.center());
    };
    hold(&mut world);
    tap(&mut world, "Copy text");
    assert_eq!(world.clipboard(), Some(at.text.as_str()));
    hold(&mut world);
    tap(&mut world, "Delete");
    assert!(!shows(&mut world, &at.text));
}

#[test]
fn sms_uri_starts_a_conversation() {
    let mut world = phone();
    let data = Some("smsto:+15550123".to_owned());
    let extras = vec![("sms_body".to_owned(), "On my way".to_owned())];
    world.start_intent(&Intent { data, extras, ..Intent::default() }).unwrap();
    assert!(shows(&mut world, "+15550123"));
    assert_eq!(node(&mut world, "compose_message_text").unwrap().text, "On my way");
    tap(&mut world, "Send SMS");
    assert_eq!(texts(&mut world, "id/message_text"), ["On my way"]);
}

#[test]
fn long_message_leaves_room_for_its_button() {
    let mut world = app(MESSAGES, &["Book club", "compose_message_text"]);
    type_text(&mut world, &"word ".repeat(120));
    for rotation in [1, 0] {
        world.set_rotation(rotation);
        let send = node(&mut world, "send_message_button_icon").expect("a button");
        assert_eq!(send.bounds, send.full, "turned {rotation}");
        let field = node(&mut world, "compose_message_text").unwrap();
        let below = field.full.bottom - field.bounds.bottom;
        assert!(below < 15, "of what lies below the last line only: {below}");
    }
    tap(&mut world, "Send SMS");
    assert_eq!(node(&mut world, "compose_message_text").unwrap().text, "");
}
