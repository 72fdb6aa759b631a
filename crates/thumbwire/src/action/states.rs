//! What a caller can do about a phone that an adb server lists but that cannot be driven, by its state.
//!
//! The words are those of adb's `ConnectionState` (`adb.h` and `to_string` in AOSP's packages/modules/adb); "no permissions"
//! is followed by what this computer lacks (`diagnose_usb.cpp`).

/// One sentence on what brings a phone in this state back. It fits after "Next: ".
pub(super) fn next_move(state: &str) -> &'static str {
    match state.split_whitespace().next().unwrap_or_default() {
        "offline" => {
            "plug it in anew, or run `adb reconnect offline`; restart the phone if it stays offline"
        }
        "unauthorized" => UNAUTHORIZED,
        "authorizing" => {
            "unlock the phone, accept the USB debugging prompt if it shows one, and call again in a second"
        }
        "connecting" => "call again in a few seconds: the adb server is still greeting it",
        "no" => {
            "let this computer's user open it: install the udev rules for Android phones (on Debian and Ubuntu the package android-sdk-platform-tools-common), join the group plugdev, plug it in anew, and run `adb kill-server`"
        }
        "recovery" => {
            "restart it into Android, from the menu on its screen or by `adb reboot`: in its recovery there is nothing to drive"
        }
        "sideload" | "rescue" => {
            "restart it into Android from the menu on its screen: it waits for an update there and does nothing else"
        }
        "bootloader" => "restart it into Android by `fastboot reboot`, or with its power key",
        "detached" => "give it back to the adb server by `adb attach`",
        _ => "list the devices again in a few seconds; plug it in anew if its state stays the same",
    }
}

/// What opens the door of a phone that does not trust this computer.
pub(super) const UNAUTHORIZED: &str =
    "accept the USB debugging prompt on the phone's screen, then call again";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_of_adb_has_a_next_move_of_its_own() {
        let states = [
            "offline",
            "unauthorized",
            "authorizing",
            "connecting",
            "no permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com/tools/device.html]",
            "recovery",
            "sideload",
            "bootloader",
            "detached",
            "something new",
        ];
        let moves: std::collections::BTreeSet<&str> = states.into_iter().map(next_move).collect();
        assert_eq!(moves.len(), states.len());
        assert_eq!(next_move("rescue"), next_move("sideload"));
        assert_eq!(next_move(""), next_move("something new"));
    }
}
