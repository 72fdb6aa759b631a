//! `thumbwire serve`

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::try_join_all;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::helper_flag::HelperFlag;
use super::shutdown::ShutdownSignal;
use super::task_flags::TaskFlags;
use super::ufo::Ufo;
use super::{
    CliError, ScreenshotSize, ToolsetName, app_tools, dynamic_tools, phones_with, session_with,
};
use crate::config::Config;
use thumbwire_core::action::Perform;
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::kept_files::KeptFiles;
use thumbwire_core::providers::{AllowedDevices, VIRTUAL};
use thumbwire_core::toolset::mobile::{self, MobileResources, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Toolset};
use thumbwire_core::trace::Recorder;
use thumbwire_device::{Format, FormatPreference};
use thumbwire_mcp::http::{self, Access, ServedToolset};
use thumbwire_mcp::http_token::{self, StoredToken};

/// Where `--http` without an address listens.
const ADDRESS: &str = "127.0.0.1:8080";

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Toolset to serve
    #[arg(
        long = "toolset",
        alias = "surface",
        value_name = "TOOLSET",
        value_enum,
        default_value = "mobile"
    )]
    surface: ToolsetName,
    /// How the `mobile` tools write the elements of a screen: a short list, or the platform's tree as XML
    #[arg(long, value_name = "FORM", value_enum, default_value = "list")]
    tree: TreeName,
    /// What the replies of `mobile` tools that act tell of the screen: what changed, all of it, or nothing [default: diff;
    /// off with `--tree xml`]
    #[arg(long, value_name = "HOW", value_enum)]
    observe: Option<ObserveName>,
    /// Format of the screenshots that the `mobile` tools send: the smallest file, JPEG or lossless WebP, or this one
    /// [default: auto]
    #[arg(long, value_name = "FORMAT", value_enum)]
    screenshot_format: Option<FormatName>,
    /// Offer the tools of a group that can do harm: `data` clears apps and sets permissions, `install` installs and
    /// uninstalls apps, `files` copies files to and from the phone, `logs` reads the phone's log and crashes,
    /// `notifications` lists notifications, `recording` records the screen, `clipboard` reads and sets the clipboard, by the
    /// helper; or `all` (repeatable, or separated by commas)
    #[arg(long = "allow", value_name = "GROUP", value_enum, value_delimiter = ',')]
    allowed: Vec<GroupName>,
    /// Directory whose files may be sent to the phone by the tools of `--allow install` and `--allow files`; without it, none
    #[arg(long, value_name = "DIR")]
    input: Option<PathBuf>,
    /// Phone that callers may use: an adb serial, HOST:PORT of an adbd, or `virtual` (repeatable; with several, callers
    /// select one) [default: the only one connected]
    #[arg(long, value_name = "ID")]
    device: Vec<String>,
    /// Size of screenshots: `full`, the pixels of the longer side, or `auto` for what vision models look at. All coordinates
    /// are pixels of the screenshot [default: auto with the `mobile` tools, else full]
    #[arg(long, value_name = "SIZE", alias = "max-side")]
    screenshot_size: Option<ScreenshotSize>,
    #[command(flatten)]
    helper: HelperFlag,
    /// Let callers use the phones whose ids match PATTERN, in which `*` stands for any characters (repeatable). An address
    /// needs a pattern with a colon: `192.168.1.*:5555` [default: those of `--device`, else those that an adb server lists, and `virtual`]
    #[arg(long, value_name = "PATTERN")]
    allow_device: Vec<String>,
    /// Let callers use the apps whose ids match PATTERN, in which `*` stands for any characters, and no other (repeatable):
    /// launch, stop, clear, install and uninstall them, set their permissions, and act on their screens [default: act on any
    /// screen, and manage the apps that the launcher shows]
    #[arg(long, value_name = "PATTERN")]
    allow_app: Vec<String>,
    #[command(flatten)]
    allow: app_tools::AllowFlags,
    /// Record every call, with screenshots, in this new directory
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
    /// Directory for saved screenshots and recordings (in `assets/`), logs (in `logs/`) and copied files (in `files/`)
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    http: Http,
    #[command(flatten)]
    ufo: Ufo,
    #[command(flatten)]
    task: TaskFlags,
}

/// How clients connect that did not start this process.
#[derive(clap::Args)]
struct Http {
    /// Serve streamable HTTP on this address, path /mcp, instead of stdio; HOST:PORT defaults to 127.0.0.1:8080
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = ADDRESS)]
    http: Option<String>,
    /// File with the token that clients must send; created if missing [default: thumbwire/token in $XDG_STATE_HOME or
    /// ~/.local/state]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Accept any program on this computer, of any user, without a token
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    no_token: bool,
}

/// The form of a screen, as `--tree` takes it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TreeName {
    List,
    Xml,
}

/// How much of the screen replies tell, as `--observe` takes it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ObserveName {
    Diff,
    Full,
    Off,
}

/// A format, as `--screenshot-format` takes it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FormatName {
    Auto,
    Png,
    Jpeg,
    Webp,
}

impl FormatName {
    fn preference(self) -> FormatPreference {
        match self {
            Self::Auto => FormatPreference::Smallest,
            Self::Png => FormatPreference::Only(Format::Png),
            Self::Jpeg => FormatPreference::Only(Format::Jpeg),
            Self::Webp => FormatPreference::Only(Format::Webp),
        }
    }
}

/// A group of tools, as `--allow` takes it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GroupName {
    Data,
    Install,
    Files,
    Logs,
    Notifications,
    Recording,
    Clipboard,
    All,
}

impl GroupName {
    fn groups(self) -> &'static [ToolGroup] {
        match self {
            Self::Data => &[ToolGroup::Data],
            Self::Install => &[ToolGroup::Install],
            Self::Files => &[ToolGroup::Files],
            Self::Logs => &[ToolGroup::Logs],
            Self::Notifications => &[ToolGroup::Notifications],
            Self::Recording => &[ToolGroup::Recording],
            Self::Clipboard => &[ToolGroup::Clipboard],
            Self::All => &ToolGroup::HARMFUL,
        }
    }
}

impl Arguments {
    fn toolset(&self) -> Toolset {
        let form = match self.tree {
            TreeName::List => TreeForm::List,
            TreeName::Xml => TreeForm::Xml,
        };
        let observe = match (self.observe, self.tree) {
            (Some(ObserveName::Diff), _) | (None, TreeName::List) => ObserveMode::Diff,
            (Some(ObserveName::Full), _) => ObserveMode::Full,
            // Who wants the platform's tree parses replies.
            (Some(ObserveName::Off), _) | (None, TreeName::Xml) => ObserveMode::Off,
        };
        match self.surface {
            ToolsetName::Mobile => {
                let allowed = self.allowed.iter().flat_map(|group| group.groups());
                let multi_touch = self.helper.is_asked_for().then_some(ToolGroup::MultiTouch);
                let allowed: Vec<ToolGroup> = allowed.copied().chain(multi_touch).collect();
                let format = self.screenshot_format.unwrap_or(FormatName::Auto).preference();
                mobile::toolset_sending(form, observe, &allowed, format)
            }
            surface => surface.toolset(),
        }
    }
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    // Report usage errors before looking for a phone.
    apps_have_a_place(&arguments)?;
    if arguments.tree == TreeName::Xml && !is_mobile(&arguments) {
        return Err(CliError::usage("--tree requires `--toolset mobile`"));
    }
    if arguments.observe.is_some() && !is_mobile(&arguments) {
        return Err(CliError::usage("--observe requires `--toolset mobile`"));
    }
    if !arguments.allowed.is_empty() && !is_mobile(&arguments) {
        return Err(CliError::usage("--allow requires `--toolset mobile`"));
    }
    let named = distinct(&arguments.device);
    if named.len() > 1 && is_ufo(&arguments) {
        return Err(CliError::usage("UFO's tools cannot select a device: give one `--device`"));
    }
    if arguments.screenshot_format.is_some() && !is_mobile(&arguments) {
        return Err(CliError::usage("--screenshot-format requires `--toolset mobile`"));
    }
    if arguments.allowed.contains(&GroupName::Clipboard) && arguments.helper.is_off() {
        return Err(CliError::usage("--allow clipboard requires the helper: add `--helper push`"));
    }
    let mut screenshot_size = arguments.screenshot_size;
    if is_mobile(&arguments) {
        screenshot_size.get_or_insert(ScreenshotSize::Auto);
    } else if !arguments.ufo.is_asked {
        ScreenshotSize::check(screenshot_size, arguments.surface)?;
    }
    check_input(&arguments)?;
    let mut doors = listeners(&arguments, config).await?;
    let task = arguments.task.open(config, is_mobile(&arguments))?;
    let mut surface = arguments.toolset();
    let allowed = AllowedDevices::new(named.clone(), arguments.allow_device.clone());
    let has_virtual = named.iter().any(|id| id == VIRTUAL);
    let phones = phones_with(config, has_virtual, arguments.helper.mode()).with_allowed(allowed);
    let session = session_with(phones, named.clone(), screenshot_size);
    let apps = AllowedApps::matching(arguments.allow_app.clone());
    let session = session.with_allowed_apps(apps).with_files(ArtifactStore::new(&arguments.out));
    let session = session.with_app_tool_host(arguments.allow.options(config)?);
    let session = match &arguments.input {
        Some(folder) => session.with_input_files(InputFolder::new(folder)),
        None => session,
    };
    let session = Arc::new(session);
    let hidden: Arc<dyn Perform> = task.redacted(&session);
    // One stream: calls, and phones that connect and disconnect.
    let events = session.events().clone();
    if let Some(folder) = &arguments.trace {
        let recorder = Recorder::begin(folder, jiff::Timestamp::now().to_string());
        let recorder = recorder.map_err(|error| {
            CliError::failed(format!("cannot record the trace in {}: {error}", folder.display()))
        })?;
        events.add(Arc::new(recorder));
    }
    let observed = Arc::new(ObservedPerform::new(hidden, events));
    let files = Arc::new(KeptFiles::new(observed));
    let perform = Arc::clone(&files) as Arc<dyn Perform>;
    if let Some(tool) = task.tool(&session, &arguments.out) {
        // With a model there is at most one listener; without one, stdio.
        match doors.as_mut().and_then(|(doors, _)| doors.first_mut()) {
            Some((_, surface)) => surface.tools.push(tool),
            None => surface.tools.push(tool),
        }
    }
    let with_apps = |surface| {
        let mut surface = dynamic_tools::with_apps(surface, &session, &named);
        if surface.name == "mobile" {
            surface.resources = Some(Arc::new(MobileResources::new(Arc::clone(&files))));
        }
        surface
    };
    let surface = with_apps(surface);
    let doors = doors.map(|(doors, access)| {
        let doors = doors.into_iter().map(|(listener, surface)| (listener, with_apps(surface)));
        (doors.collect(), access)
    });
    dynamic_tools::follow_devices(&session, &named);
    let mut asked = ShutdownSignal::new();
    let served = match doors {
        Some((doors, access)) => over_http(doors, perform, access, &mut asked).await,
        None => tokio::select! {
            served = thumbwire_mcp::serve_stdio(Arc::new(surface), perform) => served,
            () = asked.ending() => Ok(()),
        },
    };
    session.end().await;
    served.map(|()| 0).map_err(CliError::failed)
}

/// Checks that the served toolset can hold app tools, if the command line allows any.
///
/// # Errors
/// Wrong usage.
fn apps_have_a_place(arguments: &Arguments) -> Result<(), CliError> {
    match arguments.allow.is_given() && !is_mobile(arguments) {
        true => Err(CliError::usage("--allow-app-tools requires `--toolset mobile`")),
        false => Ok(()),
    }
}

/// Checks that the folder of input files exists, and that a tool uses it.
///
/// # Errors
/// Wrong usage.
fn check_input(arguments: &Arguments) -> Result<(), CliError> {
    let Some(folder) = &arguments.input else { return Ok(()) };
    let mut allowed = arguments.allowed.iter().flat_map(|group| group.groups());
    if !allowed.any(|group| matches!(group, ToolGroup::Install | ToolGroup::Files)) {
        return Err(CliError::usage("--input requires `--allow install` or `--allow files`"));
    }
    match folder.is_dir() {
        true => Ok(()),
        false => Err(CliError::usage(format!("--input: {} is not a directory", folder.display()))),
    }
}

fn is_mobile(arguments: &Arguments) -> bool {
    !arguments.ufo.is_asked && matches!(arguments.surface, ToolsetName::Mobile)
}

fn is_ufo(arguments: &Arguments) -> bool {
    arguments.ufo.is_asked
        || matches!(arguments.surface, ToolsetName::UfoData | ToolsetName::UfoAction)
}

/// The ids, each once.
fn distinct(ids: &[String]) -> Vec<String> {
    let is_first = |(at, id): &(usize, &String)| !ids[..*at].contains(id);
    ids.iter().enumerate().filter(is_first).map(|(_, id)| id.clone()).collect()
}

/// The HTTP listeners with their toolsets, and who may call; `None` means stdio.
async fn listeners(
    arguments: &Arguments,
    config: &Config,
) -> Result<Option<(Vec<(TcpListener, Toolset)>, Access)>, CliError> {
    if arguments.ufo.is_asked {
        // UFO's clients send no token.
        return Ok(Some((arguments.ufo.doors().await?, without_token())));
    }
    let Some(address) = &arguments.http.http else { return Ok(None) };
    let listener = http::bind(address).await.map_err(CliError::usage)?;
    let doors = vec![(listener, arguments.toolset())];
    Ok(Some((doors, access(&arguments.http, config)?)))
}

/// Serves until a shutdown signal, then waits for running calls to finish.
async fn over_http(
    doors: Vec<(TcpListener, Toolset)>,
    perform: Arc<dyn Perform>,
    access: Access,
    asked: &mut ShutdownSignal,
) -> Result<(), String> {
    let stop = CancellationToken::new();
    let mut serving = Vec::new();
    for (listener, surface) in doors {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        eprintln!("thumbwire: serving `{}` at http://{address}{}", surface.name, http::PATH);
        let view = ServedToolset { surface: Arc::new(surface), perform: Arc::clone(&perform) };
        serving.push(http::serve(listener, view, access.clone(), stop.clone()));
    }
    let mut served = std::pin::pin!(try_join_all(serving));
    let served = tokio::select! {
        served = served.as_mut() => served,
        () = asked.ending() => {
            stop.cancel();
            served.await
        }
    };
    served.map(drop).map_err(|error| format!("cannot accept more connections: {error}"))
}

/// Who may call. Prints the token if it is new, this once.
fn access(http: &Http, config: &Config) -> Result<Access, CliError> {
    if http.no_token {
        return Ok(without_token());
    }
    let file = http.token_file.as_ref().or(config.token.as_ref()).ok_or_else(|| {
        CliError::usage(
            "cannot store the token: neither XDG_STATE_HOME nor HOME is set. Set --token-file FILE",
        )
    })?;
    let StoredToken { token, made } = http_token::read_or_make(file).map_err(CliError::failed)?;
    if made {
        eprintln!(
            "thumbwire: created a new token; it will not be shown again:\n{}",
            token.reveal()
        );
    }
    eprintln!(
        "thumbwire: clients must send `Authorization: Bearer TOKEN`; the token is in {}",
        file.display()
    );
    Ok(Access::Token(token))
}

fn without_token() -> Access {
    eprintln!(
        "thumbwire: warning: no token required; any program on this computer can use the phone"
    );
    Access::Everyone
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Serve {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn app_tools_require_the_mobile_toolset() {
        let fits = |text: &[&str]| {
            let serve = Serve::parse_from(["serve"].iter().chain(text));
            apps_have_a_place(&serve.arguments).is_ok()
        };
        assert!(fits(&["--allow-app-tools", "all"]) && fits(&["--toolset", "android"]));
        assert!(!fits(&["--allow-app-tools", "all", "--toolset", "android"]));
        assert!(!fits(&["--allow-app-tools", "all", "--ufo"]));
    }
}
