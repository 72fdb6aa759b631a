//! `thumbwire screen`

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use thumbwire_device::saved::{Reading, read_saved};

use super::{Device, Ended, print, session};
use crate::action::{Action, Call, Outcome, Perform as _};
use crate::config::Config;
use crate::look::Look;
use crate::surface::mobile;
use crate::trace::format::StoredLook;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    device: Device,
    /// Read a saved `uiautomator` dump or page source (UiAutomator2, WebDriverAgent) instead of a phone, `-` for standard
    /// input; what of it cannot be read is told on standard error
    #[arg(long, value_name = "DUMP", conflicts_with_all = ["device", "max_side"])]
    file: Option<PathBuf>,
    /// Every node, as JSON
    #[arg(long)]
    json: bool,
}

/// The largest file that is read. Dumps of real screens stay below 1 MB.
const LARGEST: usize = 64 << 20;

/// How long a look may take.
const BUDGET: Duration = Duration::from_secs(20);

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let look = match &arguments.file {
        Some(file) => saved(file)?,
        None => {
            let session = session(config, arguments.device).leaving_screens();
            match session.perform(&Call::within(BUDGET), Action::LOOK).await? {
                Outcome::Look(look) => look,
                other => return Err(Ended::failed(format!("a look gave {other:?}"))),
            }
        }
    };
    let text = if arguments.json {
        let stored = serde_json::to_string(&StoredLook::from(&*look));
        stored.map_err(|error| Ended::failed(error.to_string()))?
    } else {
        mobile::xml(&look)
    };
    print(&format!("{text}\n"))?;
    Ok(0)
}

/// The look that a saved file holds, as far as it could be read; what could not is told on standard error.
fn saved(file: &Path) -> Result<Arc<Look>, Ended> {
    let name = if is_stdin(file) { "standard input".into() } else { file.display().to_string() };
    let failed = |why: String| Ended::failed(format!("cannot read {name}: {why}"));
    let said = read(file).map_err(|error| failed(error.to_string()))?;
    if said.len() > LARGEST {
        return Err(failed(format!("it is larger than any dump, {LARGEST} bytes")));
    }
    let Reading { tree, faults } = read_saved(&said).map_err(|error| failed(error.to_string()))?;
    for fault in faults {
        eprintln!("thumbwire: {name}: {fault}");
    }
    Ok(Arc::new(Look::number(tree, None, &AtomicU32::new(1))))
}

/// At most one byte more than is taken.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut said = Vec::new();
    let most = LARGEST as u64 + 1;
    if is_stdin(file) {
        io::stdin().lock().take(most).read_to_end(&mut said)?;
    } else {
        File::open(file)?.take(most).read_to_end(&mut said)?;
    }
    Ok(said)
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}
