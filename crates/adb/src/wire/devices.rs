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

/// What an adb server says of a phone.
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
    /// Any other word: `connecting`, `authorizing`, `recovery`, `sideload`, `bootloader` …
    Other(String),
}

impl State {
    fn read(words: &str) -> Self {
        match words {
            "device" => Self::Device,
            "offline" => Self::Offline,
            "unauthorized" => Self::Unauthorized,
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
            Self::NoPermissions(words) | Self::Other(words) => words,
        })
    }
}

/// Reads the list. Lines that name no device are passed over.
pub fn read_devices(text: &str) -> Vec<Listed> {
    text.lines().filter_map(read_line).collect()
}

/// The states of AOSP's `ConnectionState`; `no` begins "no permissions …".
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
    let (state, properties) = words.split_at(first.unwrap_or(words.len()));
    if serial.is_empty() || state.is_empty() {
        return None;
    }
    Some(Listed {
        serial: serial.to_owned(),
        state: State::read(&state.join(" ")),
        properties: properties.iter().filter_map(|word| read_property(word)).collect(),
    })
}

/// Without a tab the state is the first known word after the serial, since the serial may hold
/// spaces; a word that nobody knows counts as a state if properties follow it.
fn split_at_state(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let mut words_after_spaces = line
        .match_indices(' ')
        .map(|(place, _)| line.split_at(place + 1))
        .filter(|(_, after)| !after.starts_with(char::is_whitespace));
    let known = words_after_spaces
        .find(|(_, after)| STATES.contains(&after.split_whitespace().next().unwrap_or_default()));
    known.or_else(|| {
        line.split_whitespace().any(|word| word.starts_with("transport_id:")).then_some(())?;
        line.split_once(' ')
    })
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
