//! The command line: flags in, exit codes out. The work itself is done in other modules.
//!
//! Exit codes are those of [`EXIT_CODES`]; docs/cli.md has the details. What the user
//! named and cannot be used (a file to read, a folder, an address) is wrong usage; what cannot be
//! written failed.

mod app_tools;
#[cfg(feature = "appium")]
mod appium_flags;
mod by_hand;
mod call;
mod completions;
#[cfg(all(feature = "agent", feature = "virtual-phone"))]
mod demo;
mod devices;
mod doctor;
mod dynamic_tools;
#[cfg(feature = "eval")]
mod eval;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(feature = "fleet")]
mod fleet_flags;
#[cfg(feature = "agent")]
mod flow_files;
#[cfg(feature = "agent")]
mod flow_view;
mod health;
mod help;
mod helper_flag;
#[cfg(feature = "ios")]
mod ios_flags;
#[cfg(feature = "agent")]
mod live;
mod log_flag;
mod mcp;
#[cfg(feature = "agent")]
mod model_flags;
#[cfg(feature = "fleet")]
mod node;
mod one_of;
#[cfg(feature = "virtual-phone")]
mod phone;
#[cfg(all(feature = "agent", feature = "fleet"))]
mod queued_flows;
#[cfg(feature = "agent")]
mod resume_command;
#[cfg(feature = "agent")]
mod role_flags;
#[cfg(feature = "agent")]
mod run;
#[cfg(feature = "agent")]
mod run_goal;
#[cfg(feature = "agent")]
mod run_setup;
mod screen;
mod screenshot_size;
mod serve;
mod session;
mod settings;
mod show_config;
mod shutdown;
#[cfg(feature = "agent")]
mod skill;
mod skill_documents;
#[cfg(feature = "agent")]
mod skill_flags;
#[cfg(feature = "agent")]
mod skill_install;
#[cfg(feature = "agent")]
mod skill_text;
#[cfg(feature = "studio")]
mod studio;
mod style;
#[cfg(feature = "agent")]
mod styled_output;
#[cfg(all(feature = "agent", feature = "fleet"))]
mod submit;
mod task_flags;
mod terminal_prompt;
#[cfg(feature = "agent")]
mod test;
mod tools;
mod trace;
mod ufo;
mod version;
#[cfg(feature = "virtual-phone")]
mod virtual_phone_flags;
mod watch_screen;
#[cfg(all(feature = "agent", feature = "fleet"))]
mod work;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};
use thumbwire_adb::AdbServer;
#[cfg(feature = "virtual-phone")]
use thumbwire_core::providers::{VIRTUAL, VirtualPhoneProvider};
#[cfg(all(feature = "ios", feature = "virtual-phone"))]
use thumbwire_core::providers::{VIRTUAL_IOS, VirtualIphoneProvider};
#[cfg(feature = "virtual-phone")]
use thumbwire_virtual_android::{Setup, VirtualPhone};
#[cfg(all(feature = "ios", feature = "virtual-phone"))]
use thumbwire_virtual_ios::VirtualIphone;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{self, Config};
use thumbwire_core::action::{Cause, CauseClass, Failure};
use thumbwire_core::adb_key;
use thumbwire_core::phone_locks::PhoneLocks;
use thumbwire_core::providers::{AdbDirectProvider, AdbServerProvider, DeviceProviders, HostKey};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{self, ObserveMode, Toolset, android};
use thumbwire_device::android::HelperMode;

use log_flag::LogFlag;
use screenshot_size::ScreenshotSize;

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no such phone, app or element, 4 a limit was reached, \
                          5 refused by policy, 130 interrupted";

/// Where the pages are that a help names, its last line.
const PAGES: &str =
    concat!("Documentation (docs/): ", env!("CARGO_PKG_REPOSITORY"), "/tree/main/docs");

/// Let programs use phones: an MCP server, an agent and a virtual phone in one binary.
#[derive(Parser)]
#[command(
    name = "thumbwire",
    version = version::VERSION.as_str(),
    max_term_width = 100,
    after_help = format!("{EXIT_CODES}\n\n{PAGES}")
)]
struct Cli {
    #[command(subcommand)]
    verb: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Serve phone tools to MCP clients, over stdio or HTTP.
    #[command(after_help = PAGES)]
    Serve(Box<serve::Arguments>),
    /// Give phones to an MCP client: Claude, Codex, Cursor, VS Code, Windsurf, Zed.
    Mcp(mcp::Arguments),
    /// Work towards a goal on a phone with a model.
    #[cfg(feature = "agent")]
    #[command(after_help = PAGES)]
    Run(Box<run::Arguments>),
    /// Run flows: UI tests from YAML files, without a model.
    #[cfg(feature = "agent")]
    #[command(after_help = PAGES)]
    Test(Box<test::Arguments>),
    /// Run a short demo on the built-in virtual phone.
    #[cfg(all(feature = "agent", feature = "virtual-phone"))]
    Demo(demo::Arguments),
    /// Run the task suite on virtual phones and report the success rate.
    #[cfg(feature = "eval")]
    #[command(after_help = PAGES)]
    Eval(Box<eval::Arguments>),
    /// Show phones in the browser: touch them, inspect screens, record flows, watch programs.
    #[cfg(feature = "studio")]
    Studio(studio::Arguments),
    /// Print the screen of a phone or of a saved dump, outside the session.
    Screen(screen::Arguments),
    /// List connected phones.
    Devices(devices::Arguments),
    /// Check this computer and its phones, and print what to do about each problem.
    ///
    /// It reads files, asks the adb server, and looks at each phone: its state, whether its screen
    /// can be read, how long a look takes, whether the helper starts. It taps and types nothing.
    /// Exit code 1 if there is a problem.
    Doctor(doctor::Arguments),
    /// Print what is on the screen: a line per element, with refs to act on.
    Look(by_hand::ByHand<by_hand::Look>),
    /// Tap an element or a point, and print what changed.
    Tap(by_hand::ByHand<by_hand::Tap>),
    /// Type a text, and print what changed.
    Type(by_hand::ByHand<by_hand::Type>),
    /// Press a key, and print what changed.
    Press(by_hand::ByHand<by_hand::Press>),
    /// Scroll, and print what changed.
    Scroll(by_hand::ByHand<by_hand::Scroll>),
    /// Launch an app, and print its screen.
    Launch(by_hand::ByHand<by_hand::Launch>),
    /// Wait for an element, an app, or until nothing moves.
    #[command(override_usage = "thumbwire wait [OPTIONS] <TARGET... | --app ID | --idle>")]
    Wait(by_hand::ByHand<by_hand::Wait>),
    /// Take a screenshot.
    Shot(by_hand::ByHand<by_hand::Shot>),
    /// Do several steps, until one fails, and print what changed.
    Do(by_hand::ByHand<by_hand::Do>),
    /// Show or end the session that keeps the refs of these commands.
    ///
    /// The first of `look`, `tap`, `type`, `press`, `scroll`, `launch`, `wait`, `shot` and `do`
    /// starts it: a process of your own, which no other user can reach, and which ends after 15
    /// minutes without a command.
    Session(session::Arguments),
    /// Call a single tool.
    ///
    /// If a call rotates the screen, the screen stays rotated for later calls. The next `serve`
    /// restores it when it first connects to the phone.
    Call(call::Arguments),
    /// List the tools of a toolset.
    Tools(tools::Arguments),
    /// Find, call and check the tools that apps offer.
    AppTools(app_tools::Arguments),
    /// Run a virtual phone that other programs reach with `adb connect`.
    #[cfg(feature = "virtual-phone")]
    #[command(after_help = PAGES)]
    Phone(phone::Arguments),
    /// Offer the phones of this computer to others, over NATS.
    #[cfg(feature = "fleet")]
    Node(Box<node::Arguments>),
    /// Put flows into the queue of a fleet, and report how they ended.
    #[cfg(all(feature = "agent", feature = "fleet"))]
    #[command(after_help = PAGES)]
    Submit(Box<submit::Arguments>),
    /// Run the flows of a fleet's queue on its phones.
    #[cfg(all(feature = "agent", feature = "fleet"))]
    #[command(after_help = PAGES)]
    Work(Box<work::Arguments>),
    /// Try phones of many computers on this one, or watch what happens on them.
    #[cfg(feature = "fleet")]
    Fleet(fleet::Arguments),
    /// Show or export a recorded run.
    Trace(trace::Arguments),
    /// Teach other agents to use phones; save runs as skills, and show and check them.
    #[cfg(feature = "agent")]
    Skill(skill::Arguments),
    /// Show the settings of the environment and the configuration file.
    Config(show_config::Arguments),
    /// Print a script that completes commands and options in a shell.
    Completions(completions::Arguments),
    /// Check that a server with `--http` answers.
    #[command(hide = true)]
    Health(health::Arguments),
    /// Write the manual pages.
    #[command(hide = true)]
    Man(completions::ManArguments),
}

impl CliCommand {
    /// What `-v` asks to log, of the verbs that have it as such.
    fn log_flag(&self) -> LogFlag {
        match self {
            Self::Serve(arguments) => arguments.log,
            Self::Screen(arguments) => arguments.log,
            Self::Devices(arguments) => arguments.log,
            Self::Call(arguments) => arguments.log,
            Self::Session(arguments) => arguments.log(),
            #[cfg(feature = "fleet")]
            Self::Node(arguments) => arguments.log,
            #[cfg(all(feature = "agent", feature = "fleet"))]
            Self::Work(arguments) => arguments.log,
            _ => LogFlag::default(),
        }
    }

    /// What is logged unless `LOG_LEVEL` says otherwise. Verbs that show a run tell what goes wrong
    /// in their own output, and log lines between its lines would only repeat it.
    fn default_log(&self) -> &'static str {
        match self {
            #[cfg(feature = "agent")]
            Self::Run(_) | Self::Test(_) => "off",
            #[cfg(all(feature = "agent", feature = "virtual-phone"))]
            Self::Demo(_) => "off",
            #[cfg(feature = "eval")]
            Self::Eval(_) => "off",
            #[cfg(all(feature = "agent", feature = "fleet"))]
            Self::Submit(_) => "off",
            #[cfg(feature = "fleet")]
            Self::Fleet(_) => "off",
            Self::Trace(_) => "off",
            _ => thumbwire_mcp::LOGGED,
        }
    }
}

/// The heading of the flags that say where phones are, and how they are used.
const PHONES: &str = "Phones";

/// The heading of the flags that say what may be done.
const PERMISSIONS: &str = "Permissions";

/// The heading of the flags that say what is written, and where.
const FILES: &str = "Files";

/// Where phones are that no adb server lists.
#[derive(Clone, Default, clap::Args)]
#[group(skip)]
struct PhoneSources {
    #[command(flatten)]
    here: LocalSources,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    fleet: fleet_flags::FleetFlags,
}

/// Where phones are that this computer reaches itself.
#[derive(Clone, Default, clap::Args)]
#[group(skip)]
struct LocalSources {
    #[cfg(feature = "ios")]
    #[command(flatten)]
    ios: ios_flags::IosFlags,
    #[cfg(feature = "appium")]
    #[command(flatten)]
    appium: appium_flags::AppiumFlags,
}

impl PhoneSources {
    /// The settings, with these phones instead of those of the environment.
    ///
    /// # Errors
    /// As [`LocalSources::applied_to`].
    fn applied_to(&self, config: &Config) -> Result<Config, CliError> {
        let config = self.here.applied_to(config)?;
        #[cfg(feature = "fleet")]
        let config = self.fleet.applied_to(config);
        Ok(config)
    }
}

impl LocalSources {
    /// The settings, with these phones instead of those of the environment.
    ///
    /// # Errors
    /// As [`appium_flags::AppiumFlags::applied_to`].
    fn applied_to(&self, config: &Config) -> Result<Config, CliError> {
        let config = config.clone();
        #[cfg(feature = "ios")]
        let config = self.ios.applied_to(config);
        #[cfg(feature = "appium")]
        let config = self.appium.applied_to(config)?;
        Ok(config)
    }
}

/// The phone that a verb uses.
#[derive(Clone, clap::Args)]
struct DeviceFlags {
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `appium` or `appium:NAME` of a phone behind `--appium`, `virtual`, or `virtual-ios`
    /// [default: the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    sources: PhoneSources,
}

/// A toolset, as `--toolset` takes it.
#[derive(Clone, Copy, ValueEnum)]
enum ToolsetName {
    /// `mobile_*` tools, for Android and iOS phones
    Mobile,
    /// Tools of the Android MCP Server, for Android phones
    Android,
    /// Data collection server of UFO's MobileAgent
    UfoData,
    /// Action server of UFO's MobileAgent
    UfoAction,
}

impl ToolsetName {
    /// The toolset with every tool: a person who types a command is the operator, who need not
    /// allow groups of tools.
    fn toolset(self) -> Toolset {
        match self {
            Self::Mobile => {
                mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::ALL)
            }
            Self::Android => android::toolset(),
            Self::UfoData => toolset::ufo::data(),
            Self::UfoAction => toolset::ufo::standalone_action(),
        }
    }
}

/// Why a verb failed: the message and the exit code.
struct CliError {
    text: String,
    code: u8,
}

impl CliError {
    fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 1 }
    }

    fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 2 }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let text = mobile::failure_text(&failure);
        Self { text, code: exit_code(&failure.cause) }
    }
}

fn exit_code(cause: &Cause) -> u8 {
    match cause.class() {
        CauseClass::Failed | CauseClass::Cancelled => 1,
        CauseClass::Usage => 2,
        CauseClass::NoDevice | CauseClass::NotFound => 3,
        CauseClass::Limit | CauseClass::TimedOut => 4,
        CauseClass::Refused => 5,
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    keep_files_private();
    if config::command_line().is_empty() {
        return print(help::NEXT).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let ended = start().and_then(|(arguments, config)| {
        log_to_stderr(&config, &arguments.verb)?;
        let runtime =
            tokio::runtime::Runtime::new().map_err(|e| CliError::failed(e.to_string()))?;
        let ended = runtime.block_on(run(arguments.verb, &config));
        // A pending read of standard input (a terminal or a socket) cannot be cancelled.
        runtime.shutdown_background();
        ended
    });
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(CliError { text: words, code }) => {
            print_error(&format!("thumbwire: {words}"));
            ExitCode::from(code)
        }
    }
}

/// Reads the command line, the environment and the configuration file. Like clap, ends the program
/// after it has printed help or a usage error.
fn start() -> Result<(Cli, Config), CliError> {
    let line = config::whole_command_line();
    let parsed = match help::parse(line.clone()) {
        // Help is there also when the file cannot be read.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) if error.kind() == ErrorKind::InvalidSubcommand => help::explained(error).exit(),
        parsed => parsed,
    };
    let file = config::config_file().map_err(CliError::usage)?;
    let (parsed, added) = match file.exists || config::may_set_options() {
        true => {
            let completed =
                settings::complete(&help::program_command(), line, &file, &config::option);
            let (line, added) = completed.map_err(CliError::usage)?;
            (help::parse(line), added)
        }
        false => (parsed, Vec::new()),
    };
    let arguments = parsed.unwrap_or_else(|error| {
        for setting in &added {
            let source = setting.source.name(&file);
            print_error(&format!("note: --{} is set by {source}", setting.name));
        }
        help::explained(error).exit()
    });
    let config = Config::load(file).map_err(CliError::usage)?;
    Ok((arguments, config))
}

/// Nobody else may read what is written: traces, screenshots, recordings, logs and reports show a
/// phone's screen.
fn keep_files_private() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

async fn run(verb: CliCommand, config: &Config) -> Result<u8, CliError> {
    match verb {
        CliCommand::Serve(arguments) => serve::run(*arguments, config).await,
        CliCommand::Mcp(arguments) => mcp::run(arguments, config).await,
        #[cfg(feature = "agent")]
        CliCommand::Run(arguments) => run::run(*arguments, config).await,
        #[cfg(feature = "agent")]
        CliCommand::Test(arguments) => test::run(*arguments, config).await,
        #[cfg(all(feature = "agent", feature = "virtual-phone"))]
        CliCommand::Demo(arguments) => demo::run(arguments, config).await,
        #[cfg(feature = "eval")]
        CliCommand::Eval(arguments) => eval::run(*arguments, config).await,
        #[cfg(feature = "studio")]
        CliCommand::Studio(arguments) => studio::run(arguments, config).await,
        CliCommand::Screen(arguments) => screen::run(arguments, config).await,
        CliCommand::Devices(arguments) => devices::run(arguments, config).await,
        CliCommand::Doctor(arguments) => doctor::run(arguments, config).await,
        CliCommand::Look(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Tap(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Type(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Press(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Scroll(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Launch(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Wait(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Shot(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Do(arguments) => by_hand::run(arguments, config).await,
        CliCommand::Session(arguments) => session::run(arguments, config).await,
        CliCommand::Call(arguments) => call::run(arguments, config).await,
        CliCommand::Tools(arguments) => tools::run(&arguments),
        CliCommand::AppTools(arguments) => app_tools::run(arguments, config).await,
        #[cfg(feature = "virtual-phone")]
        CliCommand::Phone(arguments) => phone::run(arguments).await,
        #[cfg(feature = "fleet")]
        CliCommand::Node(arguments) => node::run(*arguments, config).await,
        #[cfg(all(feature = "agent", feature = "fleet"))]
        CliCommand::Submit(arguments) => submit::run(*arguments, config).await,
        #[cfg(all(feature = "agent", feature = "fleet"))]
        CliCommand::Work(arguments) => work::run(*arguments, config).await,
        #[cfg(feature = "fleet")]
        CliCommand::Fleet(arguments) => fleet::run(arguments, config).await,
        CliCommand::Trace(arguments) => trace::run(arguments),
        #[cfg(feature = "agent")]
        CliCommand::Skill(arguments) => skill::run(arguments),
        CliCommand::Config(arguments) => show_config::run(&arguments, config),
        CliCommand::Completions(arguments) => completions::run(&arguments),
        CliCommand::Health(arguments) => health::run(&arguments),
        CliCommand::Man(arguments) => completions::man(&arguments),
    }
}

/// Logs go to stderr: stdout belongs to the protocol or to the command's result.
fn log_to_stderr(config: &Config, verb: &CliCommand) -> Result<(), CliError> {
    let log = verb.log_flag().filter().or(config.log.as_deref());
    let log = log.unwrap_or_else(|| verb.default_log());
    let filter: Targets = log
        .parse()
        .map_err(|error| CliError::usage(format!("invalid log filter {log:?}: {error}")))?;
    let without_messages = tracing_subscriber::filter::filter_fn(thumbwire_mcp::may_be_logged);
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(|| terminal_prompt::StderrAboveBar)
        .finish()
        .with(filter)
        .with(without_messages)
        .init();
    Ok(())
}

/// Timeout for the phone's owner to accept our key. Shorter than any tool's own timeout.
const CONSENT: Duration = Duration::from_secs(7);

/// All phones that can be reached from here; the providers are asked in this order. The operator
/// named some of them: if a built-in virtual phone or a WebDriverAgent is one, it is in the device
/// list from the start.
fn phones<'a>(config: &Config, named: impl IntoIterator<Item = &'a str>) -> DeviceProviders {
    phones_with(config, named, HelperMode::default())
}

/// The phones of [`phones`], whose helpers are used in this way.
fn phones_with<'a>(
    config: &Config,
    named: impl IntoIterator<Item = &'a str>,
    helper: HelperMode,
) -> DeviceProviders {
    let named: Vec<&str> = named.into_iter().collect();
    let key = host_key(config);
    let server = AdbServer::new(&config.adb_server);
    let phones = DeviceProviders::default()
        .with(AdbServerProvider::new(server).with_helper(helper))
        .with(AdbDirectProvider::default().with_key(key.clone()).with_helper(helper));
    #[cfg(feature = "ios")]
    let phones = ios_flags::with_iphones(phones, config, &named);
    #[cfg(feature = "appium")]
    let phones = match appium_flags::provider(config) {
        Some(appium) => phones.with(appium),
        None => phones,
    };
    with_virtual(phones, &named, key, helper)
}

/// The user's adb key, if the environment names its file.
fn host_key(config: &Config) -> Option<Arc<HostKey>> {
    let (file, name) = (config.adb_key.clone()?, config.key_name.clone());
    let source = Box::new(move || adb_key::read_or_make(&file, &name).map(Arc::new));
    Some(Arc::new(HostKey { source, name: config.key_name.clone(), consent: CONSENT }))
}

#[cfg(feature = "virtual-phone")]
fn with_virtual(
    phones: DeviceProviders,
    named: &[&str],
    key: Option<Arc<HostKey>>,
    helper: HelperMode,
) -> DeviceProviders {
    let provider = match named.contains(&VIRTUAL) {
        true => VirtualPhoneProvider::new(VirtualPhone::new(Setup::default())),
        false => VirtualPhoneProvider::default(),
    };
    let phones = phones.with(provider.with_key(key).with_helper(helper));
    #[cfg(feature = "ios")]
    let phones = phones.with(match named.contains(&VIRTUAL_IOS) {
        true => {
            VirtualIphoneProvider::new(VirtualIphone::new(thumbwire_virtual_ios::Setup::default()))
        }
        false => VirtualIphoneProvider::default(),
    });
    phones
}

#[cfg(not(feature = "virtual-phone"))]
fn with_virtual(
    phones: DeviceProviders,
    _: &[&str],
    _: Option<Arc<HostKey>>,
    _: HelperMode,
) -> DeviceProviders {
    phones
}

/// A session on the phones given by the environment and the flags.
///
/// # Errors
/// As [`PhoneSources::applied_to`].
fn open_session(
    config: &Config,
    device: DeviceFlags,
    screenshot_size: Option<ScreenshotSize>,
    options: SessionOptions,
) -> Result<Session, CliError> {
    let config = device.sources.applied_to(config)?;
    let phones = phones(&config, device.device.as_deref());
    Ok(session_with(phones, device.device, screenshot_size, options))
}

/// How long a client keeps a phone after its last act. A model thinks for a few seconds between two
/// acts, and seldom for longer; a client that has disappeared should not block a phone for minutes.
const LEASE: Duration = Duration::from_secs(30);

/// Options with which this program and the others of the user on this computer, each by its name,
/// do not act on one phone at the same time; with the phones of the fleet, if there is one.
///
/// # Errors
/// If the fleet of the settings cannot be reached.
async fn leasing(config: &Config, program: &str) -> Result<SessionOptions, CliError> {
    let locks = phone_locks(config, program);
    #[cfg(feature = "fleet")]
    let remote = fleet_flags::remote_phones(config, program).await?;
    #[cfg(not(feature = "fleet"))]
    let remote = None;
    Ok(SessionOptions { lease_time: LEASE, locks, remote, ..SessionOptions::default() })
}

/// Which program acts on which phone; `None` without a folder for it.
fn phone_locks(config: &Config, program: &str) -> Option<PhoneLocks> {
    config.state.as_ref().map(|state| PhoneLocks::new(state.join("phones"), program))
}

/// A session on these phones, with screenshots of this size. `named`: those that the operator
/// named.
fn session_with(
    phones: DeviceProviders,
    named: impl IntoIterator<Item = String>,
    screenshot_size: Option<ScreenshotSize>,
    options: SessionOptions,
) -> Session {
    let phones = match screenshot_size.and_then(ScreenshotSize::limits) {
        Some(limits) => phones.with_screenshot_limits(limits),
        None => phones,
    };
    let (devices, clock) = (named.into_iter().collect(), || jiff::Zoned::now().datetime());
    Session::new(phones, SessionOptions { devices, clock, ..options })
}

/// Prints to standard output, with control characters escaped: the text may come from a phone.
fn print(text: &str) -> Result<(), CliError> {
    print_styled(&style::escape_controls(text))
}

/// Prints a line to standard error, with control characters escaped.
fn print_error(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(terminal_prompt::StderrAboveBar, "{text}");
}

/// Prints text with colours, whose foreign parts were sanitized, to standard output. Exits quietly
/// if the reader has closed the pipe (`| head`).
fn print_styled(text: &str) -> Result<(), CliError> {
    use std::io::Write as _;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        done => done
            .map_err(|error| CliError::failed(format!("cannot write to standard output: {error}"))),
    }
}

#[cfg(test)]
mod tests;
