//! `thumbwire serve`

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::try_join_all;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::ufo::Ufo;
use super::{Device, Ended, SurfaceName, session};
use crate::action::Perform;
use crate::config::Config;
use crate::keep::Keep;
use crate::mcp;
use crate::mcp::http::{self, Access, View};
use crate::surface::Surface;
use crate::token::{self, Kept};
use crate::trace::{Recorder, Traced};

/// Where `--http` alone listens.
const ADDRESS: &str = "127.0.0.1:8080";

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
    /// Where saved screenshots and recordings (in `assets/`) and followed logs (in `logs/`) are kept
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    http: Http,
    #[command(flatten)]
    ufo: Ufo,
}

/// How callers come in that are no child of ours.
#[derive(clap::Args)]
struct Http {
    /// Serve streamable HTTP at this address of this computer, path /mcp, instead of standard input and output; HOST:PORT is
    /// 127.0.0.1:8080 when it is left away
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = ADDRESS)]
    http: Option<String>,
    /// The file of the token that callers must hold; it is made where there is none [default: thumbwire/token in
    /// $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Serve every program of this computer, of whichever user, without a token
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    no_token: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    // What cannot be served is told before a phone is looked for.
    let doors = doors(&arguments, config).await?;
    let session = session(config, arguments.device).with_files(Keep::new(&arguments.out));
    let session = Arc::new(session);
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
    let served = match doors {
        Some((doors, access)) => over_http(doors, perform, access).await,
        None => tokio::select! {
            served = mcp::serve_stdio(Arc::new(arguments.surface.surface()), perform) => served,
            () = asked_to_end() => Ok(()),
        },
    };
    session.end().await;
    served.map(|()| 0).map_err(Ended::failed)
}

/// Where HTTP is served, what, and to whom; `None` is standard input and output.
async fn doors(
    arguments: &Arguments,
    config: &Config,
) -> Result<Option<(Vec<(TcpListener, Surface)>, Access)>, Ended> {
    if arguments.ufo.is_asked {
        // UFO's clients hold none.
        return Ok(Some((arguments.ufo.doors().await?, without_token())));
    }
    let Some(address) = &arguments.http.http else { return Ok(None) };
    let listener = http::bind(address).await.map_err(Ended::usage)?;
    let doors = vec![(listener, arguments.surface.surface())];
    Ok(Some((doors, access(&arguments.http, config)?)))
}

/// Serves until somebody asks the program to end, and lets calls under way come to theirs.
async fn over_http(
    doors: Vec<(TcpListener, Surface)>,
    perform: Arc<dyn Perform>,
    access: Access,
) -> Result<(), String> {
    let stop = CancellationToken::new();
    let mut serving = Vec::new();
    for (listener, surface) in doors {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        eprintln!("thumbwire: serving `{}` at http://{address}{}", surface.name, http::PATH);
        let view = View { surface: Arc::new(surface), perform: Arc::clone(&perform) };
        serving.push(http::serve(listener, view, access.clone(), stop.clone()));
    }
    let mut served = std::pin::pin!(try_join_all(serving));
    let served = tokio::select! {
        served = served.as_mut() => served,
        () = asked_to_end() => {
            stop.cancel();
            served.await
        }
    };
    served.map(drop).map_err(|error| format!("cannot accept connections any more: {error}"))
}

/// Who may call; a token that is made here is shown, this once.
fn access(http: &Http, config: &Config) -> Result<Access, Ended> {
    if http.no_token {
        return Ok(without_token());
    }
    let file = http.token_file.as_ref().or(config.token.as_ref()).ok_or_else(|| {
        Ended::usage("there is no home to keep the token in; name a file with --token-file")
    })?;
    let Kept { token, made } = token::read_or_make(file).map_err(Ended::failed)?;
    if made {
        eprintln!(
            "thumbwire: this is the token, made just now and not shown again:\n{}",
            token.reveal()
        );
    }
    eprintln!(
        "thumbwire: clients send the header `Authorization: Bearer TOKEN`; the token lies in {}",
        file.display()
    );
    Ok(Access::Token(token))
}

fn without_token() -> Access {
    eprintln!("thumbwire: without a token: every program of this computer may use the phone");
    Access::Everyone
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
