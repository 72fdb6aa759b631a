//! Logging in with a password, and transferring money.

use super::*;
use crate::input::KeyCode;

fn logged_in() -> World {
    let mut world = app(BANK, &["login_customer_number"]);
    type_text(&mut world, "10024816\nthumb-4711\n");
    world
}

#[test]
fn password_shows_dots_and_a_wrong_one_fails() {
    let mut world = app(BANK, &["login_customer_number"]);
    type_text(&mut world, "10024816\nwrong");
    let secret = node(&mut world, "login_password").unwrap();
    assert!(secret.flags.password);
    assert_eq!(secret.text, "•••••");
    type_text(&mut world, "\n");
    assert!(shows(&mut world, "Customer number or password is wrong"));
    assert_eq!(node(&mut world, "login_password").unwrap().text, "");
    tap(&mut world, "login_password");
    type_text(&mut world, "thumb-4711\n");
    assert!(node(&mut world, "total_balance").is_some());
    world.force_stop(BANK);
    world.start(BANK, None).unwrap();
    assert!(node(&mut world, "login_button").is_some(), "a stopped app is logged out");
}

#[test]
fn screenshot_is_black_but_the_tree_is_readable() {
    let mut world = logged_in();
    assert!(shows(&mut world, "Savings account"));
    let (seen, captured) = (world.frame(), world.capture());
    let middle = (SMALL.width / 2, SMALL.height / 2);
    assert_ne!(seen.pixel(middle.0, middle.1), Some([0, 0, 0]));
    assert_eq!(captured.pixel(middle.0, middle.1), Some([0, 0, 0]));
}

#[test]
fn transfer_needs_confirmation_and_reduces_the_balance() {
    let mut world = logged_in();
    let balance = node(&mut world, "account_balance").unwrap().text;
    tap_all(&mut world, &["New transfer", "transfer_recipient"]);
    type_text(&mut world, "Olga\n99999999\n");
    world.key(KeyCode::BACK);
    tap(&mut world, "Review");
    assert!(shows(&mut world, "Enter an amount such as 25 or 19.90"));
    tap(&mut world, "transfer_amount");
    for _ in 0..8 {
        world.key(KeyCode::DEL);
    }
    type_text(&mut world, "19,90\nCinema\n");
    tap_all(&mut world, &["Review", "Cancel"]);
    assert_eq!(world.preferences(BANK), []);
    tap_all(&mut world, &["Review"]);
    assert!(shows(&mut world, "$19.90 will be sent to Olga."));
    tap(&mut world, "Send");
    tap(&mut world, "Back to accounts");
    assert_ne!(node(&mut world, "account_balance").unwrap().text, balance);
    tap(&mut world, "account_item");
    assert_eq!(texts(&mut world, "id/transaction_name")[0], "Olga");
    assert_eq!(texts(&mut world, "id/transaction_amount")[0], "−$19.90");
}

#[test]
fn five_wrong_passwords_lock_the_login() {
    let mut world = app(BANK, &["login_customer_number"]);
    type_text(&mut world, "1\n");
    for _ in 0..5 {
        tap(&mut world, "login_password");
        type_text(&mut world, "no\n");
    }
    tap(&mut world, "login_password");
    type_text(&mut world, "thumb-4711\n");
    assert!(shows(&mut world, "Too many attempts. Stop the app and try again."));
}
