//! Texts of fields: `ACTION_SET_TEXT`, and keys.

use super::tree::Element;
use crate::latency;
use crate::phone::VirtualPhone;
use thumbwire_virtual_phone::{KeyCode, NodeAction};

/// The code of a key by the name that UiAutomator's clients use; `None` for an unknown one.
pub(super) fn key_code(name: &str) -> Option<u32> {
    Some(match name.to_ascii_lowercase().as_str() {
        "home" => 3,
        "back" => 4,
        "up" => 19,
        "down" => 20,
        "left" => 21,
        "right" => 22,
        "center" => 23,
        "volume_up" => 24,
        "volume_down" => 25,
        "power" => 26,
        "camera" => 27,
        "enter" => 66,
        "delete" | "del" => 67,
        "menu" => 82,
        "search" => 84,
        "volume_mute" => 164,
        "recent" => 187,
        _ => return None,
    })
}

/// `KeyEvent.META_SHIFT_ON`
const META_SHIFT: u64 = 1;

/// Presses a key. With shift, the key of a letter types a capital.
pub(super) async fn press_key(phone: &VirtualPhone, code: u32, meta: u64) {
    phone.run_work(latency::KEY).await;
    let letter =
        code.checked_sub(29).and_then(|nth| u8::try_from(nth).ok()).filter(|nth| *nth < 26);
    phone.with(|phone| match letter.filter(|_| meta & META_SHIFT != 0) {
        Some(nth) => drop(phone.world.type_char(char::from(b'A' + nth))),
        None => phone.world.key(KeyCode(code)),
    });
}

/// Sets a field's text, or adds to it. `false` if the element takes no text.
pub(super) async fn set_text(
    phone: &VirtualPhone,
    element: &Element,
    text: &str,
    replace: bool,
) -> bool {
    phone.run_work(latency::HELPER_TEXT).await;
    phone.with(|phone| {
        let address = &element.address;
        if !element.is_field || !element.in_front {
            return false;
        }
        if !element.flags.focused && !phone.world.perform_on_node(address, &NodeAction::Focus) {
            return false;
        }
        // The field's own text, of which the element of a password shows dots.
        let before = phone.world.focused_text().filter(|_| !replace).unwrap_or_default();
        phone.world.replace_text(&(before + text))
    })
}
