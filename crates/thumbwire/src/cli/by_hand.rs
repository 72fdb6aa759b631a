//! The short verbs: `look`, `tap`, `type`, `press`, `scroll`, `launch`, `wait`, `shot`, `do`.
//!
//! Each is a call of a tool of the `mobile` toolset in the [session](super::session), so refs last
//! from one command to the next, and acts answer with what they changed on the screen.

use std::io;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;
use serde_json::{Value, json};
use thumbwire_base::files;
use thumbwire_core::action::ElementRef;
use thumbwire_device::image::{Format, FormatPreference, Image, fit};

use super::call::{images, print_text};
use super::session::{Answer, ToolCall, call_tool};
use super::{CliError, print};
use crate::config::Config;

/// A short verb: what it does, on which phone, and how its reply is printed.
#[derive(clap::Args)]
pub(super) struct ByHand<T: clap::Args> {
    #[command(flatten)]
    verb: T,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios` [default: that of the first command of the session; see
    /// `thumbwire session use`]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    /// Print the tool's result as MCP clients get it, as JSON
    #[arg(short, long)]
    json: bool,
}

/// The call that a verb is.
pub(super) trait ShortVerb {
    fn call(&self) -> Result<ToolCall, CliError>;

    /// Prints the result of the call, unless that is asked for as JSON.
    fn print(&self, reply: &Value) -> Result<(), CliError> {
        print_text(reply)
    }
}

pub(super) async fn run<T: clap::Args + ShortVerb>(
    arguments: ByHand<T>,
    config: &Config,
) -> Result<u8, CliError> {
    let ByHand { verb, device, json } = arguments;
    let call = ToolCall { device, ..verb.call()? };
    let Answer { code, reply } = call_tool(config, call).await?;
    match json {
        true => print(&format!("{reply}\n"))?,
        false => verb.print(&reply)?,
    }
    Ok(code)
}

/// `look`.
#[derive(clap::Args)]
pub(super) struct Look {
    /// Print only what changed since the last command
    #[arg(long)]
    changes: bool,
}

impl ShortVerb for Look {
    fn call(&self) -> Result<ToolCall, CliError> {
        let changes = self.changes.then_some(true);
        Ok(ToolCall::new("mobile_get_accessibility_tree", json!({ "changes": changes })))
    }
}

/// The arguments that name an element: a text, and unless it has a space, a ref or a resource id.
fn element(words: &[String]) -> Value {
    let text = words.join(" ");
    let id = (!text.contains(' ')).then_some(&text);
    json!({ "element_id": id, "text": text })
}

/// `tap`.
#[derive(clap::Args)]
pub(super) struct Tap {
    /// A ref such as `e12`, a text on the screen, a resource id, or X Y in pixels of a screenshot
    #[arg(required = true)]
    target: Vec<String>,
}

impl Tap {
    /// The point, if the target is one.
    fn point(&self) -> Option<(f64, f64)> {
        match &*self.target {
            [x, y] => Some((x.parse().ok()?, y.parse().ok()?)),
            _ => None,
        }
    }
}

impl ShortVerb for Tap {
    fn call(&self) -> Result<ToolCall, CliError> {
        Ok(match self.point() {
            Some((x, y)) => ToolCall::new("mobile_tap", json!({ "x": x, "y": y })),
            None => ToolCall::new("mobile_tap_element", element(&self.target)),
        })
    }
}

/// `type`.
#[derive(clap::Args)]
pub(super) struct Type {
    /// Text to type; several words are joined by spaces
    #[arg(required_unless_present_any = ["clear", "submit"])]
    text: Vec<String>,
    /// Field to tap first: a ref, its label or a resource id [default: the one with focus]
    #[arg(long, value_name = "FIELD")]
    into: Option<String>,
    /// Empty the field first
    #[arg(long)]
    clear: bool,
    /// Press Enter afterwards
    #[arg(long)]
    submit: bool,
}

impl ShortVerb for Type {
    fn call(&self) -> Result<ToolCall, CliError> {
        let label = self.into.as_ref().filter(|into| into.parse::<ElementRef>().is_err());
        let arguments = json!({
            "text": self.text.join(" "), "element_id": self.into, "element_text": label,
            "clear": self.clear, "submit": self.submit,
        });
        Ok(ToolCall::new("mobile_type", arguments))
    }
}

/// `press`.
#[derive(clap::Args)]
pub(super) struct Press {
    /// `home`, `back`, `enter`, `tab`, `delete`, `escape`, `recents`, `up` …, `power`,
    /// `volume_up`, or Android's name such as `KEYCODE_CAMERA`
    key: String,
}

impl ShortVerb for Press {
    fn call(&self) -> Result<ToolCall, CliError> {
        Ok(ToolCall::new("mobile_key", json!({ "key": self.key })))
    }
}

/// `scroll`.
#[derive(clap::Args)]
pub(super) struct Scroll {
    /// Where the content to see is
    #[arg(value_parser = ["up", "down", "left", "right"])]
    direction: String,
    /// Distance in screens, 0.1 to 1 [default: 0.5]
    #[arg(long, value_name = "SCREENS")]
    distance: Option<f64>,
}

impl ShortVerb for Scroll {
    fn call(&self) -> Result<ToolCall, CliError> {
        let arguments = json!({ "direction": self.direction, "distance": self.distance });
        Ok(ToolCall::new("mobile_scroll", arguments))
    }
}

/// `launch`.
#[derive(clap::Args)]
pub(super) struct Launch {
    /// Name in the launcher, or the app's id
    #[arg(required = true)]
    app: Vec<String>,
}

impl ShortVerb for Launch {
    fn call(&self) -> Result<ToolCall, CliError> {
        Ok(ToolCall::new("mobile_launch_app", json!({ "bundle_id": self.app.join(" ") })))
    }
}

/// `wait`.
#[derive(clap::Args)]
pub(super) struct Wait {
    /// Element to wait for: a text on the screen, a resource id or a ref
    #[arg(required_unless_present_any = ["app", "idle"])]
    target: Vec<String>,
    /// Wait until it is gone
    #[arg(long, requires = "target")]
    gone: bool,
    /// Wait until this app is in front
    #[arg(long, value_name = "ID", conflicts_with_all = ["target", "idle"])]
    app: Option<String>,
    /// Wait until the screen stays the same
    #[arg(long, conflicts_with = "target")]
    idle: bool,
    /// The longest wait, at most 60 [default: 10]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
}

impl ShortVerb for Wait {
    fn call(&self) -> Result<ToolCall, CliError> {
        let mut arguments = match &*self.target {
            [] => json!({ "app": self.app, "idle": self.idle.then_some(true) }),
            target => element(target),
        };
        arguments["gone"] = self.gone.then_some(true).into();
        arguments["timeout"] = self.timeout.into();
        Ok(ToolCall::new("mobile_wait_for", arguments))
    }
}

/// `shot`.
#[derive(clap::Args)]
pub(super) struct Shot {
    /// File to write, a PNG or by its ending a JPEG or WebP; it is replaced [default:
    /// screenshot.png, or screenshot-2.png … if that is there]
    file: Option<PathBuf>,
}

impl Shot {
    /// The format that the file's ending names.
    ///
    /// # Errors
    /// If no screenshot has this ending.
    fn format(&self) -> Result<Format, CliError> {
        let ending = self.file.as_deref().and_then(Path::extension).unwrap_or_default();
        let ending = ending.to_string_lossy().to_lowercase();
        match &*ending {
            "" => Ok(Format::Png),
            "jpg" => Ok(Format::Jpeg),
            ending => Format::from_name(ending).ok_or_else(|| {
                CliError::usage(format!("a screenshot is a .png, .jpg or .webp file, no .{ending}"))
            }),
        }
    }
}

impl ShortVerb for Shot {
    fn call(&self) -> Result<ToolCall, CliError> {
        self.format()?;
        Ok(ToolCall::new("mobile_take_screenshot", json!({})))
    }

    fn print(&self, reply: &Value) -> Result<(), CliError> {
        print_text(reply)?;
        for (_, png) in images(reply) {
            let image = Image { format: Format::Png, bytes: png.into() };
            let Image { bytes, .. } = fit(image, FormatPreference::Only(self.format()?), None)
                .map_err(|error| CliError::failed(format!("cannot {error}")))?;
            let file = match &self.file {
                Some(file) => files::write(file, &bytes).map(|()| file.clone()),
                None => write_numbered("screenshot", "png", &bytes),
            };
            let file = file.map_err(|error| {
                CliError::failed(format!("cannot write the screenshot: {error}"))
            })?;
            print(&format!("{}\n", file.display()))?;
        }
        Ok(())
    }
}

/// Writes a file to the working directory, under the first of `NAME.ENDING`, `NAME-2.ENDING` …
/// that is free.
fn write_numbered(name: &str, ending: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    const MAX_NUMBER: u32 = 10_000;
    for number in 1..MAX_NUMBER {
        let file = match number {
            1 => format!("{name}.{ending}"),
            number => format!("{name}-{number}.{ending}"),
        };
        match files::write_new(Path::new(&file), bytes) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            written => return written.map(|()| file.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// `do`.
#[derive(clap::Args)]
pub(super) struct Do {
    /// Steps, each a short command in quotes: "tap Search" "type tea --submit" "wait Results";
    /// `-` reads a step from each line of standard input
    #[arg(required = true, value_name = "STEP")]
    steps: Vec<String>,
}

/// A step, as `do` takes it.
#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
enum Step {
    Tap(Tap),
    Type(Type),
    Press(Press),
    Scroll(Scroll),
    Launch(Launch),
    Wait(Wait),
}

impl ShortVerb for Do {
    fn call(&self) -> Result<ToolCall, CliError> {
        let mut lines = Vec::new();
        for step in &self.steps {
            match step.as_str() {
                "-" => {
                    let text = io::read_to_string(io::stdin()).map_err(|error| {
                        CliError::usage(format!("cannot read standard input: {error}"))
                    })?;
                    lines.extend(text.lines().map(str::to_owned));
                }
                step => lines.push(step.to_owned()),
            }
        }
        lines.retain(|line| !line.trim().is_empty());
        let steps = lines.iter().map(|line| step(line)).collect::<Result<Vec<_>, _>>();
        let steps = steps.map_err(CliError::usage)?;
        Ok(ToolCall::new("mobile_do", json!({ "steps": steps })))
    }
}

/// The step of `mobile_do` that a line means.
///
/// # Errors
/// What is wrong with it.
fn step(line: &str) -> Result<Value, String> {
    let wrong = |reason: &str| format!("step {line:?}: {reason}");
    let parsed = Step::try_parse_from(words(line)).map_err(|error| {
        if error.kind() == ErrorKind::MissingRequiredArgument && !line.contains(' ') {
            return wrong(&format!("a step is one argument in quotes, such as \"{line} …\""));
        }
        let text = error.to_string();
        let message = text.split("Usage:").next().unwrap_or_default();
        let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
        let reason = lines.collect::<Vec<_>>().join(" ");
        wrong(reason.strip_prefix("error: ").unwrap_or(&reason))
    })?;
    Ok(match parsed {
        Step::Tap(tap) if tap.point().is_some() => {
            return Err(wrong("`do` taps elements, not points; use `thumbwire tap X Y`"));
        }
        Step::Tap(tap) => json!({ "tap": tap.target.join(" ") }),
        Step::Type(Type { text, into, clear, submit }) => {
            let mut step = json!({ "type": text.join(" "), "clear": clear, "submit": submit });
            if let Some(into) = into {
                step["into"] = into.into();
            }
            step
        }
        Step::Press(Press { key }) => json!({ "press": key }),
        Step::Scroll(Scroll { distance: Some(_), .. }) => {
            return Err(wrong("`do` scrolls by half a screen, without --distance"));
        }
        Step::Scroll(Scroll { direction, .. }) => json!({ "scroll": direction }),
        Step::Launch(Launch { app }) => json!({ "launch": app.join(" ") }),
        Step::Wait(wait) if wait.target.is_empty() || wait.timeout.is_some() => {
            return Err(wrong("`do` waits for elements, for 10 s; use `thumbwire wait`"));
        }
        Step::Wait(Wait { target, gone, .. }) => {
            json!({ if gone { "gone" } else { "wait_for" }: target.join(" ") })
        }
    })
}

/// The words of a line. One that begins with a quotation mark ends with it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '"' | '\'').then(|| rest[1..].split_once(first)).flatten();
        let (word, more) = match quoted {
            Some((word, more)) => (word, more),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = more.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_read_like_commands() {
        for (line, expected) in [
            ("tap Don't save", json!({ "tap": "Don't save" })),
            ("tap e12", json!({ "tap": "e12" })),
            (
                "type 'tea  for two' --into \"Search here\" --submit",
                json!({ "type": "tea  for two", "into": "Search here", "clear": false, "submit": true }),
            ),
            ("press back", json!({ "press": "back" })),
            ("scroll down", json!({ "scroll": "down" })),
            ("launch Maps", json!({ "launch": "Maps" })),
            ("wait 5 results", json!({ "wait_for": "5 results" })),
            ("wait Loading… --gone", json!({ "gone": "Loading…" })),
        ] {
            assert_eq!(step(line), Ok(expected), "{line}");
        }
        for (line, reason) in [
            ("tap 5 7", "taps elements, not points"),
            ("scroll sideways", "invalid value 'sideways'"),
            ("jump", "unrecognized subcommand 'jump'"),
            ("lunch Maps", "a similar subcommand exists: 'launch'"),
            ("launch", "a step is one argument in quotes, such as \"launch …\""),
            ("wait --idle", "waits for elements"),
        ] {
            let refused = step(line).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
    }

    #[test]
    fn two_numbers_are_a_point_and_other_words_one_text() {
        let call = |target: &[&str]| {
            let tap = Tap { target: target.iter().map(|&word| word.to_owned()).collect() };
            let ToolCall { tool, arguments, .. } = tap.call().unwrap_or_else(|_| panic!("a call"));
            (tool, Value::from(arguments))
        };
        let point = ("mobile_tap".to_owned(), json!({ "x": 5.0, "y": 7.0 }));
        assert_eq!(call(&["5", "7"]), point);
        let text = json!({ "text": "Save 2" });
        assert_eq!(call(&["Save", "2"]), ("mobile_tap_element".to_owned(), text));
    }
}
