//! `thumbwire screen`

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use thumbwire_base::files;
use thumbwire_core::session::SessionOptions;
use thumbwire_device::saved_tree::{SavedTree, read_saved};

use super::log_flag::LogFlag;
use super::screenshot_size::ScreenshotSize;
use super::{
    CliError, DeviceFlags, PHONES, devices, open_session, phones, print, print_error, watch_screen,
};
use crate::config::Config;
use thumbwire_core::action::{Call, SnapshotOptions, TypedPerform as _, request};
use thumbwire_core::snapshot::{OutlineDetail, Snapshot, outline};
use thumbwire_core::toolset::mobile;
use thumbwire_core::trace::format::StoredSnapshot;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    device: DeviceFlags,
    /// Size of screenshots: `full`, the pixels of the longer side, or `auto` for what vision models
    /// look at. All coordinates are pixels of the screenshot [default: full]
    #[arg(long, value_name = "SIZE", help_heading = PHONES)]
    screenshot_size: Option<ScreenshotSize>,
    /// Read a saved `uiautomator` dump or page source (UiAutomator2, WebDriverAgent) instead of a
    /// phone; `-` is standard input. Parse warnings go to standard error
    #[arg(long, value_name = "DUMP", conflicts_with_all = ["device", "screenshot_size"])]
    file: Option<PathBuf>,
    /// Print resource ids and bounds too
    #[arg(long, conflicts_with_all = ["xml", "json"])]
    full: bool,
    /// Print the platform's tree as XML, pruned
    #[arg(long, conflicts_with = "json")]
    xml: bool,
    /// Print every node as JSON
    #[arg(short, long)]
    json: bool,
    /// Save a picture to this empty folder now and whenever the screen changes, until Ctrl-C. The
    /// helper on the phone sends them; without it, a screenshot is taken each second
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["file", "full", "xml", "json"])]
    watch: Option<PathBuf>,
    /// With `--watch`, end after this long
    #[arg(long = "for", value_name = "SECONDS", requires = "watch")]
    seconds: Option<u64>,
    #[command(flatten)]
    pub(super) log: LogFlag,
}

/// Size limit of a dump, in bytes. Dumps of real screens stay below 1 MB.
const MAX_BYTES: usize = 64 << 20;

/// Timeout of a snapshot.
const BUDGET: Duration = Duration::from_secs(20);

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    if let Some(folder) = &arguments.watch {
        let DeviceFlags { device, sources } = arguments.device;
        let phones = phones(&sources.applied_to(config)?, device.as_deref());
        let id = devices::chosen(device, &phones).await?;
        let limits = arguments.screenshot_size.and_then(ScreenshotSize::limits);
        let phones = match limits {
            Some(limits) => phones.with_screenshot_limits(limits),
            None => phones,
        };
        let time = arguments.seconds.map(Duration::from_secs);
        watch_screen::run(&phones, &id, folder, limits.is_some(), time).await?;
        return Ok(0);
    }
    let snapshot = match &arguments.file {
        Some(file) => saved(file)?,
        None => {
            let config = &arguments.device.sources.applied_to(config)?;
            let shared = super::leasing(config, "thumbwire screen").await?;
            let options = SessionOptions { keep_orientation: true, ..shared };
            let session =
                open_session(config, arguments.device, arguments.screenshot_size, options)?;
            let request = request::Snapshot(SnapshotOptions::default());
            let snapshot = session.request(&Call::with_timeout(BUDGET), request).await;
            session.end().await;
            snapshot?
        }
    };
    let text = if arguments.json {
        let stored = serde_json::to_string(&StoredSnapshot::from(&*snapshot));
        stored.map_err(|error| CliError::failed(error.to_string()))?
    } else if arguments.xml {
        mobile::xml(&snapshot)
    } else {
        let detail = if arguments.full { OutlineDetail::Full } else { OutlineDetail::Compact };
        outline(&snapshot, detail)
    };
    print(&format!("{text}\n"))?;
    Ok(0)
}

/// Reads a snapshot from a saved file, as far as possible. Prints parse warnings on standard error.
fn saved(file: &Path) -> Result<Arc<Snapshot>, CliError> {
    let name = if is_stdin(file) { "standard input".into() } else { file.display().to_string() };
    let failed = |reason: String| CliError::usage(format!("cannot read {name}: {reason}"));
    let output = read(file).map_err(|error| failed(error.to_string()))?;
    let SavedTree { tree, faults } =
        read_saved(&output).map_err(|error| failed(error.to_string()))?;
    for fault in faults {
        print_error(&format!("thumbwire: {name}: {fault}"));
    }
    Ok(Arc::new(Snapshot::number(tree, None, &AtomicU32::new(1))))
}

/// Reads a file, or standard input, up to the limit.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    if !is_stdin(file) {
        return files::read(file, MAX_BYTES as u64);
    }
    let mut output = Vec::new();
    io::stdin().lock().take(MAX_BYTES as u64 + 1).read_to_end(&mut output)?;
    match output.len() > MAX_BYTES {
        true => Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes"))),
        false => Ok(output),
    }
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}
