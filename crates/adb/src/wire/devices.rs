//! The list of devices, as an adb server answers `host:devices-l` and as `adb devices -l` prints it.
//!
//! `0123456789ABCDEF       device usb:2-1 product:husky model:Pixel_8_Pro device:husky transport_id:1`
//!
//! A serial may hold spaces, the state may be a whole sentence, and properties may be missing; lines
//! that are no devices (a heading, "* daemon started") are passed over. Source: `format_transport`
//! in AOSP's `transport.cpp`, and captures of many versions.

use std::fmt;

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// By which the adb server knows it.
    pub serial: String,
    /// Whether it can be used, and if not, why.
    pub state: State,
    /// `usb`, `product`, `model`, `device`, `transport_id` … in their order. The adb server turns
    /// characters other than letters, digits and a few signs into `_`.
    pub properties: Vec<(String, String)>,
}

impl Listed {
    /// The value of a property; `None` when the line has none of that name.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What an adb server says of a phone: its words for AOSP's `ConnectionState`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Ready.
    Device,
    /// Connected once, does not answer now.
    Offline,
    /// Its owner has not accepted this computer.
    Unauthorized,
    /// This computer may not open the USB device. The sentence says what is missing.
    NoPermissions(String),
    /// The server shows it its keys.
    Authorizing,
    /// The server has greeted it.
    Connecting,
    /// It runs its recovery system: a few services, no apps.
    Recovery,
    /// It runs its rescue system, which takes an update.
    Rescue,
    /// It waits for an update to be sent.
    Sideload,
    /// It runs its boot loader.
    Bootloader,
    /// It says that it is a host.
    Host,
    /// The server has let go of its USB device, for other programs.
    Detached,
    /// Any other words.
    Other(String),
}

impl State {
    /// What the words of an adb server mean.
    pub fn read(words: &str) -> Self {
        match words {
            "device" => Self::Device,
            "offline" => Self::Offline,
            "unauthorized" => Self::Unauthorized,
            "authorizing" => Self::Authorizing,
            "connecting" => Self::Connecting,
            "recovery" => Self::Recovery,
            "rescue" => Self::Rescue,
            "sideload" => Self::Sideload,
            "bootloader" => Self::Bootloader,
            "host" => Self::Host,
            "detached" => Self::Detached,
            _ if words.starts_with("no permissions") => Self::NoPermissions(words.to_owned()),
            _ => Self::Other(words.to_owned()),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Device => "device",
            Self::Offline => "offline",
            Self::Unauthorized => "unauthorized",
            Self::Authorizing => "authorizing",
            Self::Connecting => "connecting",
            Self::Recovery => "recovery",
            Self::Rescue => "rescue",
            Self::Sideload => "sideload",
            Self::Bootloader => "bootloader",
            Self::Host => "host",
            Self::Detached => "detached",
            Self::NoPermissions(words) | Self::Other(words) => words,
        })
    }
}

/// Reads the list. Lines that name no device are passed over.
pub fn read_devices(text: &str) -> Vec<Listed> {
    text.lines().filter_map(read_line).collect()
}

/// The words by which a state begins, `no permissions` being the one of two.
const STATES: [&str; 13] = [
    "device",
    "offline",
    "unauthorized",
    "no",
    "authorizing",
    "connecting",
    "detached",
    "recovery",
    "rescue",
    "sideload",
    "bootloader",
    "host",
    "unknown",
];
/// How wide a server prints a serial, filled with spaces (`%-22s` in AOSP's `append_transport`).
const SERIAL_WIDTH: usize = 22;

fn read_line(line: &str) -> Option<Listed> {
    if line.starts_with("* ") {
        return None;
    }
    let (serial, rest) = match line.split_once('\t') {
        Some(halves) => halves,
        None => split_at_state(line)?,
    };
    let serial = serial.trim();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let first = words.iter().position(|word| read_property(word).is_some());
    let (state, rest) = words.split_at(first.unwrap_or(words.len()));
    if serial.is_empty() || state.is_empty() {
        return None;
    }
    let mut properties: Vec<(String, String)> = Vec::new();
    for word in rest {
        match (read_property(word), properties.last_mut()) {
            (Some(property), _) => properties.push(property),
            // Only a model has its spaces replaced.
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (None, None) => {}
        }
    }
    Some(Listed { serial: serial.to_owned(), state: State::read(&state.join(" ")), properties })
}

/// Without a tab the state stands where a server prints it, behind a serial that was filled up with
/// spaces. Else it is the last known word before the properties, since a long serial may hold such
/// words too, but the first "no permissions", since a sentence follows; a word that nobody knows
/// counts as a state if properties follow it.
fn split_at_state(line: &str) -> Option<(&str, &str)> {
    if let Some((serial, rest)) = line.split_at_checked(SERIAL_WIDTH + 1)
        && serial.ends_with(' ')
        && begins_with_state(rest)
    {
        return Some((serial, rest));
    }
    let line = line.trim();
    let mut found = None;
    for (place, _) in line.match_indices(' ') {
        let (before, after) = line.split_at(place + 1);
        if after.starts_with(char::is_whitespace) {
            continue;
        }
        if read_property(first_word(after)).is_some() {
            break;
        }
        if begins_with_state(after) {
            found = Some((before, after));
            if first_word(after) == "no" {
                break;
            }
        }
    }
    found.or_else(|| {
        line.split_whitespace().any(|word| word.starts_with("transport_id:")).then_some(())?;
        line.split_once(' ')
    })
}

fn begins_with_state(text: &str) -> bool {
    let word = first_word(text);
    STATES.contains(&word) && (word != "no" || text.starts_with("no permissions"))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// `name:value` with a plain name; the address in "see [http://…]" is none.
fn read_property(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once(':')?;
    let plain =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    plain.then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use proptest::prelude::*;

    /// One line a device: `serial|state|properties`.
    fn check(text: &str, expected: &[&str]) {
        let read: Vec<String> = read_devices(text)
            .into_iter()
            .map(|listed| {
                let properties: Vec<String> = listed
                    .properties
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                format!("{}|{}|{}", listed.serial, listed.state, properties.join(","))
            })
            .collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn a_stock_server_pads_with_spaces() {
        check(
            "127.0.0.1:6555         device product:vp model:Virtual_Phone device:vp transport_id:7\n",
            &["127.0.0.1:6555|device|product=vp,model=Virtual_Phone,device=vp,transport_id=7"],
        );
    }

    #[test]
    fn a_serial_may_hold_spaces_and_a_state_may_be_new() {
        check(
            "My Phone (2)           device usb:1-1 transport_id:1\nabc   dreaming transport_id:2\n",
            &["My Phone (2)|device|usb=1-1,transport_id=1", "abc|dreaming|transport_id=2"],
        );
    }

    /// As long as an adb server's answer can be: looking far ahead from each space takes minutes.
    #[test]
    fn a_line_of_spaces_is_read_at_once() {
        let spaces = " ".repeat(65_000);
        check(&spaces, &[]);
        check(&format!("x{spaces}y"), &[]);
        check(&"x ".repeat(32_000), &[]);
        check(&format!("x{spaces}device"), &["x|device|"]);
    }

    /// `%-22s %s` as the server pads, and longer serials.
    #[test]
    fn a_serial_may_hold_words_for_states() {
        check(
            "My device             offline transport_id:1\n\
             no permissions host    unauthorized usb:1-1 transport_id:2\n\
             a device with a very long host name no permissions (user device is not in the plugdev \
             group); see [http://developer.android.com/tools/device.html] usb:1-4 transport_id:3\n\
             tab device\tdevice\n",
            &[
                "My device|offline|transport_id=1",
                "no permissions host|unauthorized|usb=1-1,transport_id=2",
                "a device with a very long host name|no permissions (user device is not in the \
                 plugdev group); see [http://developer.android.com/tools/device.html]|\
                 usb=1-4,transport_id=3",
                "tab device|device|",
            ],
        );
    }

    #[test]
    fn phones_without_a_serial_and_with_a_product_of_several_words_are_listed() {
        check(
            "????????????           no permissions (user in plugdev group; are your udev rules \
             wrong?); see [http://developer.android.com/tools/device.html] usb:3-1 transport_id:4\n\
             (no serial number)     recovery usb:1-2 product:my own phone model:X_1 transport_id:5\n\
             [::1]:5555             connecting transport_id:6\n\
             it's \"a\"; phone:2      device usb:1 transport_id:7\n",
            &[
                "????????????|no permissions (user in plugdev group; are your udev rules wrong?); \
                 see [http://developer.android.com/tools/device.html]|usb=3-1,transport_id=4",
                "(no serial number)|recovery|usb=1-2,product=my own phone,model=X_1,transport_id=5",
                "[::1]:5555|connecting|transport_id=6",
                "it's \"a\"; phone:2|device|usb=1,transport_id=7",
            ],
        );
    }

    #[test]
    fn each_state_keeps_its_word() {
        for word in STATES {
            let word = if word == "no" { "no permissions; see" } else { word };
            let state = State::read(word);
            assert_eq!(state.to_string(), word);
            assert_eq!(matches!(state, State::Other(_)), word == "unknown", "{word}");
        }
        assert_eq!(State::read("dreaming"), State::Other("dreaming".into()));
    }

    #[test]
    fn nothing_is_made_out_of_noise() {
        check("", &[]);
        check("List of devices attached\n\n", &[]);
        check("\t\t\n \n device\n", &[]);
    }

    fn check_file(folder: &Path, name: &str, expected: &[&str]) {
        check(&std::fs::read_to_string(folder.join(name)).unwrap(), expected);
    }

    #[test]
    fn forms_kept_by_scrcpy_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/adb-devices");
        let usb = "0123456789abcdef|device|\
                   usb=2-1,product=MyProduct,model=MyModel,device=MyDevice,transport_id=1";
        // "trandport_id" is scrcpy's own: a name that nobody knows is kept.
        let wifi = "192.168.1.1:5555|device|product=MyWifiProduct,model=MyWifiModel,\
                    device=MyWifiDevice,trandport_id=2";
        let form = |name: &str, expected: &[&str]| {
            check_file(&folder, &format!("scrcpy_devices-l_{name}.txt"), expected);
        };
        form("plain", &[usb, wifi]);
        form("cr", &[usb, wifi]);
        form("daemon_start", &[usb]);
        form("without_eol", &[usb]);
        form("corrupted", &[]);
        form("spaces", &["0123456789abcdef|unauthorized|usb=1-4,transport_id=3"]);
    }

    proptest! {
        /// As a server prints it, whatever the serial and the state.
        #[test]
        fn a_printed_line_reads_back(
            serial in "[!-~]([ -~]{0,40}[!-~])?",
            state in prop::sample::select(STATES.to_vec()),
        ) {
            prop_assume!(!serial.starts_with('*'));
            let state = if state == "no" { "no permissions; see [http://x]" } else { state };
            // What cannot be told apart: a long serial that ends like the beginning of a state, or
            // holds what looks like a property.
            prop_assume!(serial.len() <= SERIAL_WIDTH);
            let line = format!("{serial:SERIAL_WIDTH$} {state} usb:1-4 transport_id:3");
            let read = read_devices(&line);
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!((&read[0].serial, read[0].state.to_string()), (&serial, state.to_owned()));
            prop_assert_eq!(read[0].property("transport_id"), Some("3"));
        }

        #[test]
        fn any_text_is_read_or_passed_over(text in "([a-z:_\\t \\n\\r(ü]|device|offline|transport_id:1){0,60}") {
            for listed in read_devices(&text) {
                prop_assert!(!listed.serial.is_empty());
            }
        }
    }

    /// Captures that may not be copied are read where they lie.
    #[test]
    fn captures_of_real_lists_are_read() {
        let captures = std::env::var_os("THUMBWIRE_DATA").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
            PathBuf::from,
        );
        let folder = captures.join("shell/devices");
        if !folder.is_dir() {
            let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|v| v == "1");
            assert!(!required, "the captures are required here: {}", folder.display());
            println!("skipped: no captures");
            return;
        }
        check_file(
            &folder,
            "no-permissions_udev.txt",
            &["eb9f484b|no permissions (missing udev rules? user is in the plugdev group); \
               see [http://developer.android.com/tools/device.html]|"],
        );
        check_file(
            &folder,
            "offline-emulator_and_phone.txt",
            &[
                "emulator-5554|offline|",
                "dc954d2d|device|product=jfltexx,model=GT_I9505,device=jflte",
            ],
        );
        check_file(&folder, "windows_powershell_transcript.txt", &["DEFNW18B29003825|device|"]);
        check_file(
            &folder,
            "wireless-tls_foldable.txt",
            &["adb-272dda1f-qSVOhb._adb-tls-connect._tcp|device|\
               product=bixi,model=2505APX7BC,device=bixi,transport_id=11"],
        );
    }
}
