//! The command line: flags in, exit codes out. What the verbs do is done elsewhere.
//!
//! Exit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 no such element, app or device, 4 time-out; 5 is kept for
//! what a policy refuses.

mod app_tools;
mod call;
mod carry;
mod demo;
mod devices;
mod eval;
mod flow;
mod guests;
mod live;
mod manner;
mod mind;
mod phone;
mod replay;
mod run;
mod screen;
mod serve;
mod signals;
mod stage;
mod terminal;
mod tools;
mod trace;
mod ufo;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use thumbwire_adb::AdbServer;
use thumbwire_virtual_phone::{Setup, VirtualPhone};

use crate::action::{Cause, Failure};
use crate::config::Config;
use crate::key;
use crate::mcp;
use crate::session::{OurKey, Phones, Session, VIRTUAL};
use crate::surface::{self, Surface, android, mobile};

/// Puts a program's thumb on any phone: an MCP server for phones, with a virtual phone built in.
#[derive(Parser)]
#[command(name = "thumbwire", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Serve a phone's tools to MCP clients, on standard input and output or over HTTP.
    Serve(serve::Arguments),
    /// Carry out a goal on a phone, with a model that looks and decides; or try flows, without one.
    Run(run::Arguments),
    /// Drive the built-in virtual phone through a whole story and keep its pictures.
    Demo(demo::Arguments),
    /// Attempt the task suite on virtual phones, and tell how many tasks succeed.
    Eval(eval::Arguments),
    /// Print a look at the screen, of a phone or of a saved dump.
    Screen(screen::Arguments),
    /// List the phones that are there.
    Devices(devices::Arguments),
    /// Call one tool by hand.
    ///
    /// A screen that a call turned stays turned for the calls that follow; the next `serve` turns it back when it first
    /// reaches the phone.
    Call(call::Arguments),
    /// List the tools of a surface.
    Tools(tools::Arguments),
    /// What apps offer to programs: find it, call it, and make such apps.
    AppTools(app_tools::Arguments),
    /// Run the virtual phone for other programs: `adb connect` to it.
    Phone(phone::Arguments),
    /// Show a recorded run, make a page of it, or repeat it.
    Trace(trace::Arguments),
}

/// Which phone a verb is for.
#[derive(clap::Args)]
struct Device {
    /// The phone: an adb serial, HOST:PORT of an adbd, or `virtual` for the built-in one [default: the only one attached]
    #[arg(long, value_name = "ID")]
    device: Option<String>,
    /// Serve pictures of at most so many pixels on the longer side; all coordinates are pixels of those
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(64..=10_000))]
    max_side: Option<u32>,
}

/// A family of tools.
#[derive(Clone, Copy, ValueEnum)]
enum SurfaceName {
    /// `mobile_*`, for Android and iOS phones
    Mobile,
    /// The Android MCP Server's, for Android phones
    Android,
    /// The data server of UFO's MobileAgent
    UfoData,
    /// The action server of UFO's MobileAgent
    UfoAction,
}

impl SurfaceName {
    fn surface(self) -> Surface {
        match self {
            Self::Mobile => mobile::surface(),
            Self::Android => android::surface(),
            Self::UfoData => surface::ufo::data(),
            Self::UfoAction => surface::ufo::lone_action(),
        }
    }
}

/// Why a verb ended badly: what to say, and the exit code.
struct Ended {
    words: String,
    code: u8,
}

impl Ended {
    fn failed(words: impl Into<String>) -> Self {
        Self { words: words.into(), code: 1 }
    }

    fn usage(words: impl Into<String>) -> Self {
        Self { words: words.into(), code: 2 }
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        let words = mobile::words(&failure);
        Self { words, code: exit_code(&failure.cause) }
    }
}

fn exit_code(cause: &Cause) -> u8 {
    match cause {
        Cause::DeviceNotConnected { .. }
        | Cause::DeviceNotReady { .. }
        | Cause::NoDeviceChosen { .. }
        | Cause::AppNotFound { .. }
        | Cause::AppToolNotFound { .. }
        | Cause::ElementNotFound { .. }
        | Cause::NoSuchIndex { .. }
        | Cause::NotListed { .. }
        | Cause::NoSuchRecording { .. }
        | Cause::NoSuchMonitor { .. } => 3,
        Cause::TimedOut { .. } => 4,
        Cause::InvalidArgument { .. } | Cause::BadFileName { .. } => 2,
        Cause::AppNotTrusted { .. } => 5,
        Cause::DeviceNotAuthorized { .. }
        | Cause::PlatformNotSupported { .. }
        | Cause::Unheard { .. }
        | Cause::InBackground { .. }
        | Cause::Refused { .. }
        | Cause::TooMany { .. }
        | Cause::NotReady { .. }
        | Cause::PhoneFailed { .. }
        | Cause::Cancelled => 1,
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = Config::from_env().map_err(Ended::usage).and_then(|config| {
        log_to_stderr(&config)?;
        let runtime = tokio::runtime::Runtime::new().map_err(|e| Ended::failed(e.to_string()))?;
        let ended = runtime.block_on(run(arguments.verb, &config));
        // A read of a terminal or a socket as standard input cannot be called off.
        runtime.shutdown_background();
        ended
    });
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(Ended { words, code }) => {
            eprintln!("thumbwire: {words}");
            ExitCode::from(code)
        }
    }
}

async fn run(verb: Verb, config: &Config) -> Result<u8, Ended> {
    match verb {
        Verb::Serve(arguments) => serve::run(arguments, config).await,
        Verb::Run(arguments) => run::run(arguments, config).await,
        Verb::Demo(arguments) => demo::run(arguments).await,
        Verb::Eval(arguments) => eval::run(arguments, config).await,
        Verb::Screen(arguments) => screen::run(arguments, config).await,
        Verb::Devices(arguments) => devices::run(arguments, config).await,
        Verb::Call(arguments) => call::run(arguments, config).await,
        Verb::Tools(arguments) => tools::run(&arguments),
        Verb::AppTools(arguments) => app_tools::run(arguments, config).await,
        Verb::Phone(arguments) => phone::run(arguments).await,
        Verb::Trace(arguments) => trace::run(arguments, config).await,
    }
}

/// Logs go to stderr: stdout belongs to the protocol, or to what was asked for.
fn log_to_stderr(config: &Config) -> Result<(), Ended> {
    let log = config.log.as_deref().unwrap_or(mcp::LOGGED);
    let filter = tracing_subscriber::EnvFilter::try_new(log)
        .map_err(|error| Ended::usage(format!("LOG_LEVEL is {log:?}: {error}")))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| terminal::Above).init();
    Ok(())
}

/// How long a phone's owner may take to accept our key: shorter than any call takes.
const CONSENT: Duration = Duration::from_secs(7);

/// The phones that the environment and the flags name.
fn phones(config: &Config) -> Phones {
    let phones = Phones::new(AdbServer::new(&config.adb_server));
    let Some(file) = config.adb_key.clone() else { return phones };
    let name = config.key_name.clone();
    let source = Box::new(move || key::read_or_make(&file, &name).map(Arc::new));
    phones.with_key(OurKey { source, name: config.key_name.clone(), consent: CONSENT })
}

/// A session on those phones. Who names the built-in one finds it in the list from the beginning.
fn session(config: &Config, device: Device) -> Session {
    let mut phones = phones(config);
    if device.device.as_deref() == Some(VIRTUAL) {
        phones = phones.with_virtual(VirtualPhone::new(Setup::default()));
    }
    if let Some(pixels) = device.max_side {
        phones = phones.with_max_side(pixels);
    }
    Session::new(phones, device.device).with_clock(|| jiff::Zoned::now().datetime())
}

/// Prints to standard output; a reader that has left (`| head`) ends the program quietly.
fn print(text: &str) -> Result<(), Ended> {
    use std::io::Write as _;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        done => done.map_err(|error| Ended::failed(format!("cannot write the output: {error}"))),
    }
}
