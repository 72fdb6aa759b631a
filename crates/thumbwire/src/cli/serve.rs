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
    let session = Arc::new(session(config, arguments.device));
    let perform: Arc<dyn Perform> = match &arguments.trace {
        None => Arc::clone(&session) as Arc<dyn Perform>,
        Some(folder) => {
            let recorder = Recorder::begin(folder, jiff::Timestamp::now().to_string());
            let recorder = recorder.map_err(|error| {
                Ended::failed(format!("cannot record into {}: {error}", folder.display()))
            })?;
            Arc::new(Traced::new(Arc::clone(&session), recorder))
        }
    };
    let served = tokio::select! {
        served = mcp::serve_stdio(surface, perform) => served,
        () = asked_to_end() => Ok(()),
    };
    session.end().await;
    served.map(|()| 0).map_err(Ended::failed)
}

/// Until somebody asks the program to end: by Ctrl-C, or as a service manager or a closed terminal does.
async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Where a signal cannot be listened for, it ends the program as ever.
        let asked = async |kind: SignalKind| match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        };
        tokio::select! {
            () = asked(SignalKind::interrupt()) => {}
            () = asked(SignalKind::terminate()) => {}
            () = asked(SignalKind::hangup()) => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
