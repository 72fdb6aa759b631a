//! `thumbwire node`: offers the phones of this computer to other computers, over NATS.

use std::sync::Arc;
use std::time::SystemTime;

use thumbwire_core::action::Perform;
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::providers::AllowedDevices;
use thumbwire_core::session::SessionOptions;
use thumbwire_fleet::node::{self, Node, NodeFiles};
use thumbwire_fleet::registry::is_node_name;
use thumbwire_fleet::without_password;
use tokio::sync::oneshot;

use super::fleet_flags::{NatsFlags, connect, unusable};
use super::helper_flag::HelperFlag;
use super::log_flag::LogFlag;
use super::shutdown::ShutdownSignal;
use super::{CliError, LocalSources, ScreenshotSize, leasing, phones_with, print, session_with};
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// NATS server of the fleet: `nats://HOST:4222` or `tls://HOST`
    #[arg(long, value_name = "URL")]
    nats: String,
    #[command(flatten)]
    credentials: NatsFlags,
    /// Name of this node, which no other node of the fleet has: letters, digits, `-` and `_`
    /// [default: the name of this computer]
    #[arg(long, value_name = "NAME", value_parser = node_name)]
    name: Option<String>,
    /// Label of all phones of this node, for `--device label=NAME` (repeatable)
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
    /// Phone to offer: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios` (repeatable) [default: all that are connected]
    #[arg(short, long, value_name = "ID")]
    device: Vec<String>,
    #[command(flatten)]
    sources: LocalSources,
    #[command(flatten)]
    helper: HelperFlag,
    /// Let callers use the apps whose ids match PATTERN, in which `*` stands for any characters,
    /// and no other (repeatable)
    #[arg(long, value_name = "PATTERN")]
    allow_app: Vec<String>,
    /// Size of screenshots: `full`, the pixels of the longer side, or `auto` for what vision models
    /// look at. All coordinates are pixels of the screenshot
    #[arg(long, value_name = "SIZE")]
    screenshot_size: Option<ScreenshotSize>,
    #[command(flatten)]
    pub(super) log: LogFlag,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.sources.applied_to(config)?;
    if config.fleet.is_some() {
        return Err(CliError::usage(
            "a node offers the phones of this computer: leave --fleet out",
        ));
    }
    let name = arguments.name.unwrap_or_else(computer_name);
    let program = format!("thumbwire node {name}");
    let server = arguments.credentials.for_server(arguments.nats);
    let connection = connect(&server, &program).await?;
    let ids = arguments.device.iter().map(String::as_str);
    let allowed = AllowedDevices::new(arguments.device.clone(), []);
    let phones = phones_with(config, ids, arguments.helper.mode()).with_allowed(allowed);
    let folder = tempfile::tempdir()
        .map_err(|error| CliError::failed(format!("no folder for files: {error}")))?;
    let files = NodeFiles::new(folder.path());
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let options = SessionOptions {
        allowed_apps: AllowedApps::matching(arguments.allow_app),
        first_lease: u64::try_from(since_1970.as_millis()).unwrap_or_default(),
        files: Some(files.output()),
        input_files: Some(files.input()),
        ..leasing(config, "thumbwire node").await?
    };
    let size = arguments.screenshot_size;
    let session = Arc::new(session_with(phones, arguments.device, size, options));
    let observed = ObservedPerform::new(Arc::clone(&session), session.events().clone());
    let perform: Arc<dyn Perform> = Arc::new(observed);
    let node = Node {
        name: name.clone(),
        labels: arguments.label,
        session: Arc::clone(&session),
        perform,
        files,
    };
    let mut shutdown = ShutdownSignal::new();
    let (ready, listed) = oneshot::channel();
    let greet = async {
        if let Ok(count) = listed.await {
            let phones = if count == 1 { "phone is" } else { "phones are" };
            let greeting = format!(
                "{count} {phones} in the fleet as {name}/…; press Ctrl-C to stop. On any computer:\n  thumbwire devices --fleet {}\n",
                without_password(&server.url)
            );
            let _ = print(&greeting);
        }
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = node::run(node, connection, ready, shutdown.ending()) => ended,
        () = greet => Ok(()),
    };
    session.end().await;
    ended.map(|()| 0).map_err(unusable)
}

fn node_name(text: &str) -> Result<String, String> {
    match is_node_name(text) {
        true => Ok(text.to_owned()),
        false => Err("expected 1 to 40 letters, digits, `-` and `_`".to_owned()),
    }
}

/// The name of this computer, as far as a node can have it.
pub(super) fn computer_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = String::new();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).take(40).collect();
    if is_node_name(&name) { name } else { "node".to_owned() }
}
