//! `thumbwire serve`

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::try_join_all;
use tokio_util::sync::CancellationToken;

use super::helper_flag::HelperFlag;
use super::log_flag::LogFlag;
use super::one_of::one_of;
use super::shutdown::ShutdownSignal;
#[cfg(feature = "studio")]
use super::studio::StudioPage;
use super::task_flags::TaskFlags;
use super::ufo::Ufo;
use super::{
    CliError, FILES, LEASE, PERMISSIONS, PHONES, PhoneSources, ScreenshotSize, ToolsetName,
    app_tools, dynamic_tools, leasing, phones_with, session_with,
};
use crate::config::Config;
use thumbwire_core::action::{ClientWatch, Perform};
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::kept_files::KeptFiles;
use thumbwire_core::providers::AllowedDevices;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::mobile::{self, MobileResources, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Toolset, ufo};
use thumbwire_core::trace::Recorder;
use thumbwire_device::{Format, FormatPreference};
use thumbwire_mcp::Audit;
use thumbwire_mcp::http::{self, Access, Listener, Protection, ServedToolset};
use thumbwire_mcp::http_token::{self, NamedToken, Scope, StoredToken, Token};
use thumbwire_mcp::oauth::{Issuer, SCOPE_ACT, SCOPE_LOOK};
use thumbwire_mcp::tls::{self, Tls};

/// The heading of the flags that say how replies of the `mobile` tools look.
const REPLIES: &str = "Replies of the mobile tools";

/// The heading of the flags for clients that did not start the server.
const HTTP: &str = "HTTP";

/// Where `--http` without an address listens.
const ADDRESS: &str = "127.0.0.1:8080";

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Toolset to serve
    #[arg(short = 't', long, value_name = "TOOLSET", value_enum, default_value = "mobile")]
    toolset: ToolsetName,
    /// Answer as the Mobile MCP server specification says, for clients written for it: the
    /// platform's tree as XML, coordinates in device pixels, PNG screenshots, and nothing of the
    /// screen in the replies to actions
    #[arg(long, conflicts_with_all = ["tree", "observe", "screenshot_format", "screenshot_size"], help_heading = REPLIES)]
    as_specified: bool,
    /// How the `mobile` tools write the elements of a screen: a short list, the platform's tree as
    /// XML with what a model needs, or the whole of it
    #[arg(long, value_name = "FORM", value_parser = one_of(TREE_FORMS), default_value = "list", help_heading = REPLIES)]
    tree: TreeForm,
    /// What the replies of `mobile` tools that act tell of the screen: what changed, all of it, or
    /// nothing [default: diff; off with `--tree xml` and `platform`]
    #[arg(long, value_name = "HOW", value_parser = one_of(OBSERVE_MODES), help_heading = REPLIES)]
    observe: Option<ObserveMode>,
    /// Format of the screenshots that the `mobile` tools send: the smallest file, JPEG or lossless
    /// WebP, or this one [default: auto]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(FORMATS), help_heading = REPLIES)]
    screenshot_format: Option<FormatPreference>,
    /// Offer the tools of a group that can do harm: `data` clears apps and sets permissions,
    /// `install` installs and uninstalls apps, `files` copies files to and from the phone, `logs`
    /// reads the phone's log and crashes, `notifications` lists notifications, `recording` records
    /// the screen, `clipboard` reads and sets the clipboard, by the helper. `settings` lets callers
    /// act on the pages of Settings that reset the phone, and those for accounts, security and
    /// developers, and `calls` lets them open `tel:`, `sms:` and similar addresses. Or `all`
    /// (repeatable, or separated by commas)
    #[arg(long = "allow", value_name = "GROUP", value_enum, value_delimiter = ',')]
    allowed: Vec<GroupName>,
    /// Directory whose files may be sent to the phone by the tools of `--allow install` and
    /// `--allow files`; without it, none
    #[arg(long, value_name = "DIR", help_heading = PERMISSIONS)]
    input: Option<PathBuf>,
    /// Phone that callers may use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's
    /// WebDriverAgent, `virtual`, or `virtual-ios` (repeatable; with several, callers select one)
    /// [default: the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Vec<String>,
    #[command(flatten)]
    sources: PhoneSources,
    /// Size of screenshots: `full`, the pixels of the longer side, or `auto` for what vision models
    /// look at. All coordinates are pixels of the screenshot [default: auto with the `mobile`
    /// tools, else full]
    #[arg(long, value_name = "SIZE", help_heading = REPLIES)]
    screenshot_size: Option<ScreenshotSize>,
    #[command(flatten)]
    helper: HelperFlag,
    /// How long a client keeps a phone for itself after its last act: until then, the acts of other
    /// clients are refused, and those of other Thumbwires of this user; 0 lets all act at any time
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE.as_secs(), help_heading = PHONES)]
    lease: u64,
    /// Let callers use the phones whose ids match PATTERN, in which `*` stands for any characters
    /// (repeatable). An address needs a pattern with a colon: `192.168.1.*:5555` [default: those of
    /// `--device`, else those that an adb server lists, `virtual` and `virtual-ios`]
    #[arg(long, value_name = "PATTERN", help_heading = PERMISSIONS)]
    allow_device: Vec<String>,
    /// Let callers use the apps whose ids match PATTERN, in which `*` stands for any characters,
    /// and no other (repeatable): launch, stop, clear, install and uninstall them, set their
    /// permissions, and act on their screens [default: act on any screen, and manage the apps that
    /// the launcher shows]
    #[arg(long, value_name = "PATTERN", help_heading = PERMISSIONS)]
    allow_app: Vec<String>,
    #[command(flatten)]
    allow: app_tools::AllowFlags,
    /// Record every call, with screenshots, in this new directory
    #[arg(long, value_name = "DIR", help_heading = FILES)]
    trace: Option<PathBuf>,
    /// Leave typed texts, the content of text fields and pictures out of the records of `--trace`
    /// and of tasks
    #[arg(long, help_heading = FILES)]
    redact: bool,
    /// Append a line of JSON for each call to this private file: who called which tool on which
    /// phone, and how it ended; never arguments or replies [default: to the log, at
    /// `LOG_LEVEL=thumbwire::audit=info`]
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    audit: Option<PathBuf>,
    /// Directory for saved screenshots and recordings (in `assets/`), logs (in `logs/`) and copied
    /// files (in `files/`) [default: thumbwire/out in $XDG_STATE_HOME or ~/.local/state]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show the phones, and what clients do with them, on a page for the browser [default address:
    /// 127.0.0.1:8090]
    #[cfg(feature = "studio")]
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = super::studio::ADDRESS)]
    studio: Option<String>,
    #[command(flatten)]
    http: Http,
    #[command(flatten)]
    ufo: Ufo,
    #[command(flatten)]
    task: TaskFlags,
    #[command(flatten)]
    pub(super) log: LogFlag,
}

/// How clients connect that did not start this process.
#[derive(clap::Args)]
struct Http {
    /// Serve streamable HTTP on this address, path /mcp, instead of stdio; HOST:PORT defaults to
    /// 127.0.0.1:8080
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = ADDRESS)]
    http: Option<String>,
    /// File with the token that clients must send; created if missing. Repeat it for several
    /// clients, each with a name and a scope: `ann=FILE` may do everything, `ci:look=FILE` only
    /// call the tools that change nothing [default: thumbwire/token in $XDG_STATE_HOME or
    /// ~/.local/state]
    #[arg(long, value_name = "[NAME[:SCOPE]=]FILE", requires = "http", help_heading = HTTP)]
    token_file: Vec<TokenFile>,
    /// Accept any program on this computer, of any user, without a token
    #[arg(long, requires = "http", conflicts_with = "token_file", help_heading = HTTP)]
    no_token: bool,
    /// Accept tokens of this OAuth issuer (JWTs with the scope `thumbwire:act` or
    /// `thumbwire:look`), too, whose keys are found by its metadata; without `--token-file` only
    /// those
    #[arg(long, value_name = "URL", requires = "http", conflicts_with = "no_token", help_heading = HTTP)]
    oauth_issuer: Option<String>,
    /// The URL by which clients reach this server, for which tokens must be issued [default,
    /// without `--allow-remote`: the one it prints]
    #[arg(long, value_name = "URL", requires = "oauth_issuer", help_heading = HTTP)]
    oauth_audience: Option<String>,
    /// Serve HTTPS (TLS 1.3) with this certificate chain in PEM; it is read again when it changes
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_key"], help_heading = HTTP)]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key in PEM, without a password; other users must have no access to
    /// the file
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_cert"], help_heading = HTTP)]
    tls_key: Option<PathBuf>,
    /// Serve HTTPS (TLS 1.3) with a certificate made by Thumbwire, which clients have to trust; it
    /// is kept in this folder and made again when it expires [default: thumbwire in $XDG_STATE_HOME
    /// or ~/.local/state]
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = "",
          requires = "http", conflicts_with_all = ["tls_cert", "tls_key"], help_heading = HTTP)]
    tls_self_signed: Option<OsString>,
    /// Let other computers connect, if `--http` has such an address; requires a certificate and a
    /// token
    #[arg(long, requires = "http", conflicts_with = "no_token", help_heading = HTTP)]
    allow_remote: bool,
    /// A host name or IP address by which other computers may name this server, without its port
    /// (repeatable) [default: those in the certificate]
    #[arg(long, value_name = "NAME", requires = "allow_remote", value_parser = host_name, help_heading = HTTP)]
    allow_host: Vec<String>,
}

/// A host name or an IP address, without brackets.
fn host_name(text: &str) -> Result<String, String> {
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
    match tls::is_name(bare) {
        true => Ok(bare.to_owned()),
        false => Err("expected a host name or an IP address, without a port".to_owned()),
    }
}

/// A token's file, as `--token-file` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TokenFile {
    /// The token's name and scope, if it has a name.
    named: Option<(String, Scope)>,
    file: PathBuf,
}

/// The longest name of a token.
const MAX_TOKEN_NAME: usize = 32;

impl FromStr for TokenFile {
    type Err = String;

    /// Reads `FILE`, `NAME=FILE`, `NAME:look=FILE` or `NAME:act=FILE`. What cannot be a name is
    /// part of a path.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |name: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            (1..=MAX_TOKEN_NAME).contains(&name.len()) && name.chars().all(fits)
        };
        let unnamed = || Self { named: None, file: text.into() };
        let Some((named, file)) = text.split_once('=') else { return Ok(unnamed()) };
        let (name, scope) = named.split_once(':').unwrap_or((named, "act"));
        if !is_name(name) {
            return Ok(unnamed());
        }
        let scope = match scope {
            "act" => Scope::Act,
            "look" => Scope::Look,
            other => return Err(format!("unknown scope {other:?}: expected `look` or `act`")),
        };
        if file.is_empty() {
            return Err(format!("the file of the token {name:?} is missing"));
        }
        Ok(Self { named: Some((name.to_owned(), scope)), file: file.into() })
    }
}

impl Http {
    /// The certificate, if one is asked for. Prints what a client needs to trust a self-signed one.
    fn tls(&self, config: &Config) -> Result<Option<Arc<Tls>>, CliError> {
        if let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) {
            return Tls::open(certificate, key).map(|it| Some(it.into())).map_err(CliError::usage);
        }
        let Some(folder) = &self.tls_self_signed else { return Ok(None) };
        let home = || config.token.as_deref().and_then(Path::parent);
        let folder = Some(Path::new(folder)).filter(|it| !it.as_os_str().is_empty()).or_else(home);
        let folder = folder.ok_or_else(|| {
            CliError::usage(
                "cannot store the certificate: neither XDG_STATE_HOME nor HOME is set. \
                 Set --tls-self-signed FOLDER",
            )
        })?;
        let (tls, made) = Tls::open_self_signed(folder, &self.names(), SystemTime::now())
            .map_err(CliError::failed)?;
        let new = if made { "made a new certificate" } else { "the certificate is" };
        eprintln!(
            "thumbwire: {new} in {}; clients must trust it. Its SHA-256 fingerprint:\n{}",
            tls.certificate().display(),
            tls.fingerprint()
        );
        Ok(Some(tls.into()))
    }

    /// The names of a self-signed certificate.
    fn names(&self) -> Vec<String> {
        let address = self.http.as_deref().unwrap_or(ADDRESS);
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let mut others = vec![host.to_owned()];
        others.extend(self.allow_host.iter().cloned());
        tls::self_signed_names(&others)
    }
}

/// The forms of a screen, as `--tree` takes them.
const TREE_FORMS: &[(&str, TreeForm)] =
    &[("list", TreeForm::List), ("xml", TreeForm::Xml), ("platform", TreeForm::Platform)];

/// How much of the screen replies have, as `--observe` takes it.
const OBSERVE_MODES: &[(&str, ObserveMode)] =
    &[("diff", ObserveMode::Diff), ("full", ObserveMode::Full), ("off", ObserveMode::Off)];

/// The formats, as `--screenshot-format` takes them.
const FORMATS: &[(&str, FormatPreference)] = &[
    ("auto", FormatPreference::Smallest),
    ("png", FormatPreference::Only(Format::Png)),
    ("jpeg", FormatPreference::Only(Format::Jpeg)),
    ("webp", FormatPreference::Only(Format::Webp)),
];

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
    Settings,
    Calls,
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
            // They have no tools of their own.
            Self::Settings | Self::Calls => &[],
            Self::All => &ToolGroup::HARMFUL,
        }
    }
}

impl Arguments {
    /// With what `--as-specified` stands for.
    fn by_specification(self) -> Self {
        if !self.as_specified {
            return self;
        }
        Self {
            tree: TreeForm::Platform,
            observe: Some(ObserveMode::Off),
            screenshot_format: Some(FormatPreference::Only(Format::Png)),
            screenshot_size: Some(ScreenshotSize::Full),
            ..self
        }
    }

    /// Whether there is a page for a person.
    fn has_studio(&self) -> bool {
        #[cfg(feature = "studio")]
        return self.studio.is_some();
        #[cfg(not(feature = "studio"))]
        false
    }

    fn served_toolset(&self, config: &Config) -> Toolset {
        let observe = self.observe.unwrap_or(match self.tree {
            TreeForm::List => ObserveMode::Diff,
            // Clients that want the platform's tree parse replies.
            TreeForm::Xml | TreeForm::Platform => ObserveMode::Off,
        });
        match self.toolset {
            ToolsetName::Mobile => {
                let allowed = self.allowed.iter().flat_map(|group| group.groups());
                let multi_touch = self.helper.is_asked_for().then_some(ToolGroup::MultiTouch);
                let allowed: Vec<ToolGroup> = allowed.copied().chain(multi_touch).collect();
                let format = self.screenshot_format.unwrap_or(FormatPreference::Smallest);
                mobile::toolset_sending(self.tree, observe, &allowed, format)
            }
            // Of a fleet, the node knows what the data server has listed.
            ToolsetName::UfoAction if has_fleet(config) => ufo::action(),
            toolset => toolset.toolset(),
        }
    }
}

fn has_fleet(config: &Config) -> bool {
    #[cfg(feature = "fleet")]
    return config.fleet.is_some();
    #[cfg(not(feature = "fleet"))]
    {
        let _ = config;
        false
    }
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    // Report usage errors before looking for a phone.
    let config = &arguments.sources.applied_to(config)?;
    apps_have_a_place(&arguments)?;
    if arguments.as_specified && !is_mobile(&arguments) {
        return Err(CliError::usage("--as-specified requires `--toolset mobile`"));
    }
    let arguments = arguments.by_specification();
    if arguments.tree != TreeForm::List && !is_mobile(&arguments) {
        return Err(CliError::usage("--tree requires `--toolset mobile`"));
    }
    if arguments.observe.is_some() && !is_mobile(&arguments) {
        return Err(CliError::usage("--observe requires `--toolset mobile`"));
    }
    let of_mobile = |group: &GroupName| !matches!(group, GroupName::Settings | GroupName::Calls);
    if arguments.allowed.iter().any(of_mobile) && !is_mobile(&arguments) {
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
        return Err(CliError::usage(
            "--allow clipboard requires the helper: leave `--helper off` out",
        ));
    }
    let mut screenshot_size = arguments.screenshot_size;
    if is_mobile(&arguments) {
        screenshot_size.get_or_insert(ScreenshotSize::Auto);
    } else if !arguments.ufo.is_asked {
        ScreenshotSize::check(screenshot_size, arguments.toolset)?;
    }
    check_input(&arguments)?;
    let audit = match &arguments.audit {
        Some(file) => Audit::to_file(file).map_err(CliError::usage)?,
        None => Audit::default(),
    };
    if has_fleet(config) && !arguments.allow_app.is_empty() {
        return Err(CliError::usage(
            "--allow-app limits the phones of this computer only: give it to `thumbwire node`, not beside --fleet",
        ));
    }
    let mut listeners = listeners(&arguments, config).await?;
    let skills = arguments.task.skills()?;
    let task = arguments.task.open(config, is_mobile(&arguments))?;
    let mut toolset = arguments.served_toolset(config);
    let allowed = AllowedDevices::new(named.clone(), arguments.allow_device.clone());
    let ids = named.iter().map(String::as_str);
    let phones = phones_with(config, ids, arguments.helper.mode()).with_allowed(allowed);
    let allows = |group| arguments.allowed.iter().any(|it| [group, GroupName::All].contains(it));
    let apps = AllowedApps::matching(arguments.allow_app.clone())
        .with_settings(allows(GroupName::Settings))
        .with_calls(allows(GroupName::Calls));
    // Programs start servers in folders like `/`, which are no place for files.
    let home = || config.state.as_ref().map(|folder| folder.join("out"));
    let out = arguments.out.clone().or_else(home).unwrap_or_else(|| PathBuf::from("."));
    let options = SessionOptions {
        allowed_apps: apps,
        files: Some(ArtifactStore::new(&out)),
        app_tools: arguments.allow.options(config)?,
        lease_time: Duration::from_secs(arguments.lease),
        input_files: arguments.input.as_ref().map(InputFolder::new),
        ..leasing(config, "thumbwire serve").await?
    };
    let session = Arc::new(session_with(phones, named.clone(), screenshot_size, options));
    let asks_secrets = is_mobile(&arguments) && arguments.has_studio();
    let guarded: Arc<dyn Perform> = task.guarded(&session, asks_secrets);
    // One stream: calls, and phones that connect and disconnect.
    let events = session.events().clone();
    if let Some(folder) = &arguments.trace {
        let recorder = Recorder::begin(folder, jiff::Timestamp::now().to_string());
        let recorder = recorder.map_err(|error| {
            CliError::usage(format!("cannot record the trace in {}: {error}", folder.display()))
        })?;
        events.add(Arc::new(recorder.with_redaction(arguments.redact)));
    }
    #[cfg(feature = "studio")]
    let studio = match &arguments.studio {
        Some(address) => {
            let page = StudioPage::open(address, config).await?;
            let studio = super::studio::studio(&session, &page, &out, named.first().cloned());
            events.add(studio.events());
            Some((studio, page))
        }
        None => None,
    };
    let observed = Arc::new(ObservedPerform::new(guarded, events));
    let files = Arc::new(KeptFiles::new(observed));
    let perform = Arc::clone(&files) as Arc<dyn Perform>;
    #[cfg(feature = "studio")]
    let studio = studio.map(|(studio, page)| {
        let (perform, stop) = (Arc::clone(&perform), CancellationToken::new());
        tokio::spawn(page.serve(&studio, &session, perform, audit.clone(), stop));
        studio
    });
    let secret_tool = task.secret_tool();
    if let Some(tool) = task.tool(&session, &out, arguments.redact) {
        // With a model there is at most one listener; without one, stdio.
        match listeners.as_mut().and_then(|(listeners, _)| listeners.first_mut()) {
            Some((_, toolset)) => toolset.tools.push(tool),
            None => toolset.tools.push(tool),
        }
    }
    if asks_secrets && let Some(tool) = secret_tool {
        match listeners.as_mut().and_then(|(listeners, _)| listeners.first_mut()) {
            Some((_, toolset)) => toolset.tools.push(tool),
            None => toolset.tools.push(tool),
        }
    }
    let with_apps = |toolset| {
        let mut toolset = dynamic_tools::with_apps(toolset, &session, &named);
        #[cfg(feature = "studio")]
        if let Some(studio) = &studio {
            toolset.ask_beside = Some(Arc::new(studio.clone()));
            toolset.secret_pages = Some(studio.secret_pages());
        }
        if toolset.name == "mobile" {
            toolset.resources = Some(Arc::new(MobileResources::new(Arc::clone(&files))));
            toolset.skills.clone_from(&skills);
        }
        toolset
    };
    let toolset = with_apps(toolset);
    let listeners = listeners.map(|(listeners, access)| {
        let listeners =
            listeners.into_iter().map(|(listener, toolset)| (listener, with_apps(toolset)));
        (listeners.collect(), access)
    });
    dynamic_tools::follow_devices(&session, &named);
    let mut shutdown = ShutdownSignal::new();
    let served = match listeners {
        Some((listeners, access)) => {
            let watch = Arc::clone(&session) as Arc<dyn ClientWatch>;
            let view = |toolset| {
                let view = ServedToolset::new(Arc::new(toolset), Arc::clone(&perform));
                view.with_client_watch(Arc::clone(&watch)).with_audit(audit.clone())
            };
            over_http(listeners, view, access, &mut shutdown).await
        }
        None => tokio::select! {
            served = thumbwire_mcp::serve_stdio(Arc::new(toolset), perform, audit) => served,
            () = shutdown.ending() => Ok(()),
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
    !arguments.ufo.is_asked && matches!(arguments.toolset, ToolsetName::Mobile)
}

fn is_ufo(arguments: &Arguments) -> bool {
    arguments.ufo.is_asked
        || matches!(arguments.toolset, ToolsetName::UfoData | ToolsetName::UfoAction)
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
) -> Result<Option<(Vec<(Listener, Toolset)>, Access)>, CliError> {
    if arguments.ufo.is_asked {
        // UFO's clients send no token.
        return Ok(Some((arguments.ufo.listeners().await?, without_token())));
    }
    let Some(address) = &arguments.http.http else { return Ok(None) };
    let http = &arguments.http;
    let protection = Protection {
        is_wanted: http.allow_remote,
        has_tls: http.tls_cert.is_some() || http.tls_self_signed.is_some(),
        has_token: !http.no_token,
    };
    let bound = http::bind_remote(address, protection).await.map_err(CliError::usage)?;
    let mut listener = Listener::from(bound);
    if let Some(tls) = http.tls(config)? {
        listener = listener.with_tls(tls);
    }
    if http.allow_remote {
        listener = listener.for_others(http.allow_host.clone());
    }
    let url = listener.url().map_err(|error| CliError::failed(error.to_string()))?;
    let listeners = vec![(listener, arguments.served_toolset(config))];
    Ok(Some((listeners, access(&arguments.http, &url, config)?)))
}

/// Serves until a shutdown signal, then waits for running calls to finish.
async fn over_http(
    listeners: Vec<(Listener, Toolset)>,
    view: impl Fn(Toolset) -> ServedToolset,
    access: Access,
    shutdown: &mut ShutdownSignal,
) -> Result<(), String> {
    let stop = CancellationToken::new();
    let mut serving = Vec::new();
    for (listener, toolset) in listeners {
        let url = listener.url().map_err(|error| error.to_string())?;
        eprintln!("thumbwire: serving `{}` at {url}", toolset.name);
        serving.push(http::serve(listener, view(toolset), access.clone(), stop.clone()));
    }
    let mut served = std::pin::pin!(try_join_all(serving));
    let served = tokio::select! {
        served = served.as_mut() => served,
        () = shutdown.ending() => {
            stop.cancel();
            served.await
        }
    };
    served.map(drop).map_err(|error| format!("cannot accept more connections: {error}"))
}

/// Who may call the server at `url`. Prints the token if it is new, this once.
fn access(http: &Http, url: &str, config: &Config) -> Result<Access, CliError> {
    if http.no_token {
        return Ok(without_token());
    }
    let Some(issuer) = &http.oauth_issuer else { return file_tokens(http, config) };
    if http.allow_remote && http.oauth_audience.is_none() {
        return Err(CliError::usage(
            "--oauth-issuer with --allow-remote needs `--oauth-audience URL`: the URL by which other computers reach \
             this server, such as https://phones.example:8443/mcp",
        ));
    }
    let audience = http.oauth_audience.as_deref().unwrap_or(url);
    let issuer = Issuer::new(issuer, audience).map_err(CliError::usage)?;
    let tokens = match &*http.token_file {
        [] => Vec::new(),
        _ => match file_tokens(http, config)? {
            Access::Tokens(tokens) => tokens,
            Access::Token(token) => {
                vec![NamedToken { name: String::new(), scope: Scope::Act, token }]
            }
            Access::Everyone | Access::Issued { .. } => Vec::new(),
        },
    };
    eprintln!(
        "thumbwire: accepting tokens that {} issues for {audience}, with the scope {SCOPE_ACT} or {SCOPE_LOOK}",
        http.oauth_issuer.as_deref().unwrap_or_default()
    );
    Ok(Access::Issued { tokens, issuer: issuer.into() })
}

/// The clients with a token of a file.
fn file_tokens(http: &Http, config: &Config) -> Result<Access, CliError> {
    let home = config.token.clone().map(|file| TokenFile { named: None, file });
    let files = match &*http.token_file {
        [] => home.into_iter().collect(),
        given => given.to_vec(),
    };
    if files.is_empty() {
        return Err(CliError::usage(
            "cannot store the token: neither XDG_STATE_HOME nor HOME is set. Set --token-file FILE",
        ));
    }
    let mut tokens: Vec<NamedToken> = Vec::new();
    for TokenFile { named, file } in &files {
        let Some((name, scope)) = named.clone() else {
            return match files.len() {
                1 => read_token(file, "").map(Access::Token),
                _ => Err(CliError::usage(
                    "several `--token-file` need names: NAME=FILE, or NAME:look=FILE",
                )),
            };
        };
        if tokens.iter().any(|known| known.name == name) {
            return Err(CliError::usage(format!("two `--token-file` have the name {name:?}")));
        }
        let token = read_token(file, &format!(" of {name} (scope {})", scope.name()))?;
        if let Some(same) = tokens.iter().find(|known| known.token.is(token.reveal().as_bytes())) {
            let same = &same.name;
            return Err(CliError::usage(format!("{same:?} and {name:?} have the same token")));
        }
        tokens.push(NamedToken { name, scope, token });
    }
    Ok(Access::Tokens(tokens))
}

/// Reads a token, or creates it and prints it this once. `whose` follows the word "token" in
/// messages.
fn read_token(file: &Path, whose: &str) -> Result<Token, CliError> {
    let StoredToken { token, made } = http_token::read_or_make(file).map_err(CliError::usage)?;
    if made {
        eprintln!(
            "thumbwire: created a new token{whose}; it will not be shown again:\n{}",
            token.reveal()
        );
    }
    eprintln!(
        "thumbwire: clients must send `Authorization: Bearer TOKEN`; the token{whose} is in {}",
        file.display()
    );
    Ok(token)
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

    #[test]
    fn token_files_have_names_and_scopes() {
        let read = |text: &str| {
            let TokenFile { named, file } = text.parse()?;
            Ok::<_, String>((named, file.display().to_string()))
        };
        let named = |name: &str, scope| Some((name.to_owned(), scope));
        for (text, expected) in [
            ("t", (None, "t")),
            ("/a/b=c", (None, "/a/b=c")),
            ("./a=b", (None, "./a=b")),
            ("ann=/t", (named("ann", Scope::Act), "/t")),
            ("ann:act=/t", (named("ann", Scope::Act), "/t")),
            ("ci-2:look=t=x", (named("ci-2", Scope::Look), "t=x")),
        ] {
            assert_eq!(read(text), Ok((expected.0, expected.1.to_owned())), "{text}");
        }
        let unknown = "unknown scope \"admin\": expected `look` or `act`";
        assert_eq!(read("ann:admin=t"), Err(unknown.to_owned()));
        assert_eq!(read("ann="), Err("the file of the token \"ann\" is missing".to_owned()));
    }
}
