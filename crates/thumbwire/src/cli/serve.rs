//! `thumbwire serve`

use std::path::PathBuf;
use std::sync::Arc;

use super::{Device, Ended, SurfaceName, session};
use crate::action::Perform;
use crate::config::Config;
use crate::mcp;
use crate::trace::{Recorder, Traced};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Which tools to serve
    #[arg(long, value_enum, default_value = "mobile")]
    surface: SurfaceName,
    #[command(flatten)]
    device: Device,
    /// Record every call, with its pictures, into this new folder
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let surface = Arc::new(arguments.surface.surface());
    let session = session(config, arguments.device);
    let perform: Arc<dyn Perform> = match &arguments.trace {
        None => session,
        Some(folder) => {
            let recorder = Recorder::begin(folder, jiff::Timestamp::now().to_string());
            let recorder = recorder.map_err(|error| {
                Ended::failed(format!("cannot record into {}: {error}", folder.display()))
            })?;
            Arc::new(Traced::new(session, recorder))
        }
    };
    mcp::serve_stdio(surface, perform).await.map_err(Ended::failed)?;
    Ok(0)
}
