//! `thumbwire serve`

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::carry::ConfirmFlag;
use super::mind::{Limits, MindFlags, Thinker};
use super::signals::Asked;
use super::stage::{self, Stage, Tasks};
use super::ufo::Ufo;
use super::{Device, Ended, SurfaceName, app_tools, guests, session};
use crate::action::Perform;
use crate::agent::{Secrets, task};
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
    #[command(flatten)]
    allow: app_tools::Allow,
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
    /// A secret that can be typed as `{{NAME}}` and is shown to nobody: the value of $THUMBWIRE_SECRET_NAME; may be given several
    /// times
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    #[command(flatten)]
    mind: MindFlags,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    confirm: ConfirmFlag,
}

/// How long a task of `mobile_run_task` may take, where nobody says otherwise.
pub(super) const TASK: Duration = Duration::from_secs(600);

/// What a task is given beyond its own time, to end its story.
const AFTER_A_TASK: Duration = Duration::from_secs(30);

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
    apps_have_a_place(&arguments)?;
    let mut doors = doors(&arguments, config).await?;
    let thinker = thinker(&arguments, config)?;
    let named = arguments.device.device.clone();
    let vault = stage::secrets(&arguments.secret)?;
    let session = session(config, arguments.device).with_files(Keep::new(&arguments.out));
    let session = session.with_bridge(arguments.allow.options(config)?);
    let session = Arc::new(session);
    let hidden: Arc<dyn Perform> = match vault.is_empty() {
        true => Arc::clone(&session) as Arc<dyn Perform>,
        false => Arc::new(Secrets::new(Arc::clone(&session), Arc::clone(&vault))),
    };
    let perform: Arc<dyn Perform> = match &arguments.trace {
        None => hidden,
        Some(folder) => {
            let recorder = Recorder::begin(folder, jiff::Timestamp::now().to_string());
            let recorder = recorder.map_err(|error| {
                Ended::failed(format!("cannot record into {}: {error}", folder.display()))
            })?;
            Arc::new(Traced::new(hidden, recorder))
        }
    };
    let mut surface = arguments.surface.surface();
    if let Some(thinker) = thinker {
        let stage = Stage { session: Arc::clone(&session), vault, out: arguments.out.clone() };
        let budgets = arguments.limits.budgets(TASK);
        let time = budgets.time.unwrap_or(TASK) + AFTER_A_TASK;
        let tasks = Tasks { stage, thinker, budgets, confirm: arguments.confirm };
        let tool = task::tool(Arc::new(tasks), time);
        // There is one door where a model was named, or none but standard input.
        match doors.as_mut().and_then(|(doors, _)| doors.first_mut()) {
            Some((_, surface)) => surface.tools.push(tool),
            None => surface.tools.push(tool),
        }
    }
    let with_apps = |surface| guests::with_apps(surface, &session, named.as_deref());
    let surface = with_apps(surface);
    let doors = doors.map(|(doors, access)| {
        let doors = doors.into_iter().map(|(listener, surface)| (listener, with_apps(surface)));
        (doors.collect(), access)
    });
    let mut asked = Asked::new();
    let served = match doors {
        Some((doors, access)) => over_http(doors, perform, access, &mut asked).await,
        None => tokio::select! {
            served = mcp::serve_stdio(Arc::new(surface), perform) => served,
            () = asked.ending() => Ok(()),
        },
    };
    session.end().await;
    served.map(|()| 0).map_err(Ended::failed)
}

/// That what apps offer has a place among what is served, where some are named.
///
/// # Errors
/// Wrong usage.
fn apps_have_a_place(arguments: &Arguments) -> Result<(), Ended> {
    match arguments.allow.is_given() && !is_mobile(arguments) {
        true => Err(Ended::usage("--app-tools goes with `--surface mobile`, which has such tools")),
        false => Ok(()),
    }
}

fn is_mobile(arguments: &Arguments) -> bool {
    !arguments.ufo.is_asked && matches!(arguments.surface, SurfaceName::Mobile)
}

/// The model that carries out tasks, where one was named.
fn thinker(arguments: &Arguments, config: &Config) -> Result<Option<Thinker>, Ended> {
    if !arguments.mind.is_there() {
        if arguments.confirm.is_given() {
            let words = "--confirm is about what a model does: name one with --model";
            return Err(Ended::usage(words));
        }
        return Ok(None);
    }
    if !is_mobile(arguments) {
        let words = "--model goes with `--surface mobile`, which has the tool mobile_run_task then";
        return Err(Ended::usage(words));
    }
    arguments.mind.open(config).map(Some)
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
    asked: &mut Asked,
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
        () = asked.ending() => {
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
    fn apps_are_named_in_vain_for_a_surface_that_has_none_of_their_tools() {
        let fits = |words: &[&str]| {
            let serve = Serve::parse_from(["serve"].iter().chain(words));
            apps_have_a_place(&serve.arguments).is_ok()
        };
        assert!(fits(&["--app-tools", "all"]) && fits(&["--surface", "android"]));
        assert!(!fits(&["--app-tools", "all", "--surface", "android"]));
        assert!(!fits(&["--app-tools", "all", "--ufo"]));
    }
}
