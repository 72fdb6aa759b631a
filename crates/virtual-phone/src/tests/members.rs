//! Signing in, showing a password, and joining.

use super::*;
use crate::input::KeyCode;

#[test]
fn password_can_be_shown_and_hidden() {
    let mut world = app(MEMBERS, &["email"]);
    type_text(&mut world, "ada@example.com\ncorrect horse");
    let secret = |world: &mut World| node(world, "password").unwrap();
    assert_eq!(
        (secret(&mut world).text, secret(&mut world).flags.password),
        ("•".repeat(13), true)
    );
    tap(&mut world, "Show password");
    assert_eq!(secret(&mut world).text, "correct horse");
    assert!(!secret(&mut world).flags.password);
    tap(&mut world, "Hide password");
    type_text(&mut world, "\n");
    assert!(shows(&mut world, "Hello, ada"));
    world.force_stop(MEMBERS);
    world.start(MEMBERS, None).unwrap();
    tap(&mut world, "Sign out");
    assert!(node(&mut world, "sign_in_button").is_some());
}

#[test]
fn error_shows_below_the_focused_field() {
    let mut world = app(MEMBERS, &["sign_in_button"]);
    assert_eq!(texts(&mut world, "id/textinput_error"), ["Enter a valid email address"]);
    assert!(node(&mut world, "email").unwrap().flags.focused);
    type_text(&mut world, "ada@example.com\nwrong\n");
    assert_eq!(texts(&mut world, "id/textinput_error"), ["Wrong email address or password"]);
    assert!(node(&mut world, "password").unwrap().flags.focused);
    type_text(&mut world, "!");
    assert_eq!(texts(&mut world, "id/textinput_error").len(), 0);
}

#[test]
fn new_member_joins_with_a_repeated_password() {
    let mut world = app(MEMBERS, &["create_account", "email"]);
    type_text(&mut world, "bo@example.org\nlong enough\nlong enoug\n");
    assert!(shows(&mut world, "The passwords differ"));
    type_text(&mut world, "h\n");
    assert!(shows(&mut world, "Hello, bo"));
    assert!(world.preferences(MEMBERS).contains(&("member/1/password", "long enough")));
}

#[test]
fn forgotten_password_shows_a_dialog() {
    let mut world = app(MEMBERS, &["Forgot password?"]);
    assert!(shows(&mut world, "Forgot your password?"));
    world.key(KeyCode::BACK);
    assert!(node(&mut world, "sign_in_button").is_some());
    tap_all(&mut world, &["forgot_password", "Send link"]);
    assert!(node(&mut world, "sign_in_button").is_some());
}
