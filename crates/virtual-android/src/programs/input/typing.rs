//! Keys, one after the other, and what becomes of those that are late.
//!
//! `input` waits until each key is finished. `input text` stamps all keys of its text before the
//! first (`KeyCharacterMap.getEvents`), and the dispatcher drops a key that is older than ten
//! seconds when its turn comes: on a slow phone the rest of a long text is lost, while `input`
//! reports nothing. `input keyevent` stamps each key when it presses it.

use super::{Invocation, press, press_char};
use crate::latency;
use std::time::Duration;
use thumbwire_virtual_phone::SYSTEM_PID;

/// `STALE_EVENT_TIMEOUT` of `InputDispatcher.cpp`.
const STALE: Duration = Duration::from_secs(10);

/// What `InputDispatcher` logs about each half of a dropped key.
const DROPPED: &str = "Dropped event because it is stale.";

/// Types a text as `input text` does.
pub(super) async fn type_text(call: &Invocation, text: &str) {
    let stamp = call.phone.read(|phone| phone.world.uptime());
    for c in text.chars() {
        let late = call.phone.with(|phone| {
            let late = phone.world.uptime().saturating_sub(stamp) >= STALE;
            for _ in 0..2 * u32::from(late) {
                phone.world.write_log('I', "InputDispatcher", SYSTEM_PID, DROPPED);
            }
            late
        });
        if !late {
            press_char(call, c);
            call.phone.run_work(latency::KEY).await;
            if needs_shift(c) {
                call.phone.run_work(latency::KEY).await;
            }
        }
        // In virtual time nothing waits, but other commands see the text grow too.
        tokio::task::yield_now().await;
    }
}

/// Presses a key and waits until it is finished, as `input keyevent` does.
pub(super) async fn press_and_wait(call: &Invocation, code: u32) {
    press(call, code);
    call.phone.run_work(latency::KEY).await;
}

/// Whether the virtual keyboard types the character with shift, which is a key of its own:
/// `Virtual.kcm`, where the first key that has the character is used.
fn needs_shift(c: char) -> bool {
    c.is_ascii_uppercase() || "~!@#$%^&*()_+{}|:\"<>?".contains(c)
}
