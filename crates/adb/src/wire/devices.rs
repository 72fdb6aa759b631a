//! The device list, as an adb server returns it for `host:devices-l` and `adb devices -l` prints
//! it.
//!
//! `0123456789ABCDEF       device usb:2-1 product:husky model:Pixel_8_Pro device:husky
//! transport_id:1`
//!
//! A serial may contain spaces, a state may be a whole sentence, properties may be missing, and the
//! USB path may come without its name (`device 3-1 product:…`). Other lines (a heading, "* daemon
//! started") are skipped. Source: `format_transport` in AOSP's `transport.cpp`, and captures of
//! many versions.

use std::fmt;

/// A line of the device list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceEntry {
    /// The serial by which the adb server knows it.
    pub serial: String,
    /// Whether it can be used, and if not, why.
    pub state: DeviceState,
    /// `usb`, `product`, `model`, `device`, `transport_id` … in order. The adb server replaces
    /// characters other than letters, digits and a few others by `_`. A device path without a name
    /// is listed as `devpath`.
    pub properties: Vec<(String, String)>,
}

impl DeviceEntry {
    /// The value of a property, if present.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The state of a phone: the adb server's words for AOSP's `ConnectionState`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceState {
    /// Ready.
    Device,
    /// Was connected, does not respond now.
    Offline,
    /// The user has not authorized this computer.
    Unauthorized,
    /// This computer may not open the USB device. The text says what is missing.
    NoPermissions(String),
    /// The server is offering its keys.
    Authorizing,
    /// The server has sent CNXN.
    Connecting,
    /// Runs recovery: few services, no apps.
    Recovery,
    /// Runs the rescue system, which accepts an update.
    Rescue,
    /// Waits for an update to be sideloaded.
    Sideload,
    /// Runs the boot loader.
    Bootloader,
    /// Identifies as a host.
    Host,
    /// The server has released the USB device for other programs.
    Detached,
    /// Any other text.
    Other(String),
}

impl DeviceState {
    /// The meaning of an adb server's text.
    pub fn read(text: &str) -> Self {
        match text {
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
            _ if text.starts_with("no permissions") => Self::NoPermissions(text.to_owned()),
            _ => Self::Other(text.to_owned()),
        }
    }
}

impl fmt::Display for DeviceState {
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

/// Parses the list. Lines that name no device are skipped.
pub fn read_devices(text: &str) -> Vec<DeviceEntry> {
    text.lines().filter_map(read_line).collect()
}

/// The words with which a state starts; `no permissions` is the only one of two words.
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
/// The width to which a server pads a serial (`%-22s` in AOSP's `append_transport`).
const SERIAL_WIDTH: usize = 22;

fn read_line(line: &str) -> Option<DeviceEntry> {
    if line.starts_with("* ") {
        return None;
    }
    let (serial, rest) = match line.split_once('\t') {
        Some(halves) => halves,
        None => split_at_state(line)?,
    };
    let serial = serial.trim();
    let text: Vec<&str> = rest.split_whitespace().collect();
    let first = text.iter().position(|word| read_property(word).is_some());
    let (state, rest) = text.split_at(first.unwrap_or(text.len()));
    if serial.is_empty() || state.is_empty() {
        return None;
    }
    let (state, path) = state.split_at(state_length(state));
    let mut properties: Vec<(String, String)> = Vec::new();
    if !path.is_empty() {
        properties.push(("devpath".to_owned(), path.join(" ")));
    }
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
    Some(DeviceEntry {
        serial: serial.to_owned(),
        state: DeviceState::read(&state.join(" ")),
        properties,
    })
}

/// Finds the state in a line without a tab. A padded serial ends at the fixed column. A longer
/// serial may itself contain state words: then the state is the last known word before the
/// properties, except that the first "no permissions" wins, because a sentence follows it. An
/// unknown word counts as a state if properties follow.
fn split_at_state(line: &str) -> Option<(&str, &str)> {
    if let Some((serial, rest)) = line.split_at_checked(SERIAL_WIDTH + 1)
        && serial.ends_with(' ')
        && begins_with_state(rest)
    {
        return Some((serial, rest));
    }
    let line = line.trim();
    let mut found = None;
    for (index, _) in line.match_indices(' ') {
        let (before, after) = line.split_at(index + 1);
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

/// How many of the words before the properties are the state. A known state is one word, or a
/// sentence that ends with a web address in brackets; after it comes the device path.
fn state_length(text: &[&str]) -> usize {
    match text {
        ["no", ..] => {
            text.iter().position(|word| word.ends_with(']')).map_or(text.len(), |at| at + 1)
        }
        [first, ..] if STATES.contains(first) => 1,
        _ => text.len(),
    }
}

fn begins_with_state(text: &str) -> bool {
    let word = first_word(text);
    STATES.contains(&word) && (word != "no" || text.starts_with("no permissions"))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// `name:value` with a plain name; the address in "see [http://…]" is not one.
fn read_property(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once(':')?;
    let plain =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    plain.then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thumbwire_test_support::capture;

    /// One line per device: `serial|state|properties`.
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
    fn stock_server_pads_with_spaces() {
        check(
            "127.0.0.1:6555         device product:vp model:Virtual_Phone device:vp transport_id:7\n",
            &["127.0.0.1:6555|device|product=vp,model=Virtual_Phone,device=vp,transport_id=7"],
        );
    }

    #[test]
    fn serial_may_contain_spaces_and_state_may_be_unknown() {
        check(
            "My Phone (2)           device usb:1-1 transport_id:1\nabc   dreaming transport_id:2\n",
            &["My Phone (2)|device|usb=1-1,transport_id=1", "abc|dreaming|transport_id=2"],
        );
    }

    /// A path without `usb:` before it, as reported for a phone of the product `manet`; the rest of
    /// the line is made up.
    #[test]
    fn device_path_without_a_name_does_not_belong_to_the_state() {
        check(
            "12345678               device 3-1 product:manet model:23113RKC6C device:manet transport_id:1\n\
             12345679\tdevice 3-1.4 product:manet\n\
             1234567a               offline 3-1\n\
             1234567b               no permissions (missing udev rules? user is in the plugdev group); \
             see [http://developer.android.com/tools/device.html] 3-1 transport_id:4\n",
            &[
                "12345678|device|devpath=3-1,product=manet,model=23113RKC6C,device=manet,transport_id=1",
                "12345679|device|devpath=3-1.4,product=manet",
                "1234567a|offline|devpath=3-1",
                "1234567b|no permissions (missing udev rules? user is in the plugdev group); \
                 see [http://developer.android.com/tools/device.html]|devpath=3-1,transport_id=4",
            ],
        );
    }

    /// As long as an adb server's reply can be: a lookahead from each space would take minutes.
    #[test]
    fn line_of_spaces_parses_quickly() {
        let spaces = " ".repeat(65_000);
        check(&spaces, &[]);
        check(&format!("x{spaces}y"), &[]);
        check(&"x ".repeat(32_000), &[]);
        check(&format!("x{spaces}device"), &["x|device|"]);
    }

    /// `%-22s %s` as the server pads, and longer serials.
    #[test]
    fn serial_may_contain_state_words() {
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
    fn missing_serials_and_multiword_products_parse() {
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
    fn each_state_round_trips() {
        for word in STATES {
            let word = if word == "no" { "no permissions; see" } else { word };
            let state = DeviceState::read(word);
            assert_eq!(state.to_string(), word);
            assert_eq!(matches!(state, DeviceState::Other(_)), word == "unknown", "{word}");
        }
        assert_eq!(DeviceState::read("dreaming"), DeviceState::Other("dreaming".into()));
    }

    #[test]
    fn noise_yields_no_devices() {
        check("", &[]);
        check("List of devices attached\n\n", &[]);
        check("\t\t\n \n device\n", &[]);
    }

    fn check_file(name: &str, expected: &[&str]) {
        let Some(text) = capture(&format!("shell/devices/{name}")) else { return };
        check(&String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn scrcpys_samples_parse() {
        let usb = "0123456789abcdef|device|\
                   usb=2-1,product=MyProduct,model=MyModel,device=MyDevice,transport_id=1";
        // "trandport_id" is scrcpy's typo: an unknown name is kept.
        let wifi = "192.168.1.1:5555|device|product=MyWifiProduct,model=MyWifiModel,\
                    device=MyWifiDevice,trandport_id=2";
        let form = |name: &str, expected: &[&str]| {
            check_file(&format!("scrcpy_devices-l_{name}.txt"), expected);
        };
        form("plain", &[usb, wifi]);
        form("cr", &[usb, wifi]);
        form("daemon_start", &[usb]);
        form("without_eol", &[usb]);
        form("corrupted", &[]);
        form("spaces", &["0123456789abcdef|unauthorized|usb=1-4,transport_id=3"]);
    }

    proptest! {
        /// As a server prints it, for any serial and state.
        #[test]
        fn printed_line_round_trips(
            serial in "[!-~]([ -~]{0,40}[!-~])?",
            state in prop::sample::select(STATES.to_vec()),
        ) {
            prop_assume!(!serial.starts_with('*'));
            let state = if state == "no" { "no permissions; see [http://x]" } else { state };
            // Ambiguous: a long serial that ends like the start of a state, or contains what looks
            // like a property.
            prop_assume!(serial.len() <= SERIAL_WIDTH);
            let line = format!("{serial:SERIAL_WIDTH$} {state} usb:1-4 transport_id:3");
            let read = read_devices(&line);
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!((&read[0].serial, read[0].state.to_string()), (&serial, state.to_owned()));
            prop_assert_eq!(read[0].property("transport_id"), Some("3"));
        }

        #[test]
        fn any_text_parses_or_is_skipped(text in "([a-z:_\\t \\n\\r(ü]|device|offline|transport_id:1){0,60}") {
            for listed in read_devices(&text) {
                prop_assert!(!listed.serial.is_empty());
            }
        }
    }

    #[test]
    fn captures_of_real_lists_parse() {
        check_file(
            "no-permissions_udev.txt",
            &["eb9f484b|no permissions (missing udev rules? user is in the plugdev group); \
               see [http://developer.android.com/tools/device.html]|"],
        );
        check_file(
            "offline-emulator_and_phone.txt",
            &[
                "emulator-5554|offline|",
                "dc954d2d|device|product=jfltexx,model=GT_I9505,device=jflte",
            ],
        );
        check_file("windows_powershell_transcript.txt", &["DEFNW18B29003825|device|"]);
        check_file(
            "wireless-tls_foldable.txt",
            &["adb-272dda1f-qSVOhb._adb-tls-connect._tcp|device|\
               product=bixi,model=2505APX7BC,device=bixi,transport_id=11"],
        );
    }
}
