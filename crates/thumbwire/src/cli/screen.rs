//! `thumbwire screen`

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use thumbwire_device::android::ui::read_dump;

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
    /// Read a saved `uiautomator` dump or UiAutomator2 page source instead of a phone
    #[arg(long, value_name = "DUMP", conflicts_with_all = ["device", "max_side"])]
    file: Option<PathBuf>,
    /// Every node, as JSON
    #[arg(long)]
    json: bool,
}

/// How long a look may take.
const BUDGET: Duration = Duration::from_secs(20);

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let look = match &arguments.file {
        Some(file) => saved(file)?,
        None => {
            let session = session(config, arguments.device).leaving_screens();
            match session.perform(&Call::within(BUDGET), Action::Look).await? {
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

fn saved(file: &std::path::Path) -> Result<Arc<Look>, Ended> {
    let failed = |why: String| Ended::failed(format!("cannot read {}: {why}", file.display()));
    let said = fs::read(file).map_err(|error| failed(error.to_string()))?;
    let tree = read_dump(&said).map_err(|error| failed(error.to_string()))?;
    Ok(Arc::new(Look::number(tree, None, &AtomicU32::new(1))))
}
