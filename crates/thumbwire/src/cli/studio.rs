//! `thumbwire studio`, and `--studio` of `serve` and `run`: the page in the browser.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use thumbwire_agent::Skill;
use thumbwire_core::action::Perform;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::providers::AllowedDevices;
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile;
use thumbwire_mcp::http::{self, Access, Listener, PAGES_PATH, PageBody, Pages, ServedToolset};
use thumbwire_mcp::{Audit, http_token};
use thumbwire_studio::{Studio, StudioOptions};
use tokio_util::sync::CancellationToken;

use super::helper_flag::HelperFlag;
use super::shutdown::ShutdownSignal;
use super::skill_flags::recorded;
use super::{CliError, PhoneSources, leasing, phones_with, session_with};
use crate::config::Config;

/// Where the page is unless an address is given.
pub(super) const ADDRESS: &str = "127.0.0.1:8090";

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Phone to show: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios` (repeatable) [default: those connected]
    #[arg(short, long, value_name = "ID")]
    device: Vec<String>,
    /// Address of the page; only this computer can reach it
    #[arg(long, value_name = "HOST:PORT", default_value = ADDRESS)]
    listen: String,
    #[command(flatten)]
    sources: PhoneSources,
    #[command(flatten)]
    helper: HelperFlag,
    /// Directory whose runs are listed, and where recordings are kept, in `logs/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// Shows the page until it is stopped.
pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.sources.applied_to(config)?;
    let named = &arguments.device;
    let allowed = AllowedDevices::new(named.clone(), Vec::new());
    let ids = named.iter().map(String::as_str);
    let phones = phones_with(config, ids, arguments.helper.mode()).with_allowed(allowed);
    let options = SessionOptions {
        files: Some(ArtifactStore::new(&arguments.out)),
        ..leasing(config, "thumbwire studio").await?
    };
    let session = Arc::new(session_with(phones, named.clone(), None, options));
    let page = StudioPage::open(&arguments.listen, config).await?;
    let first = named.first().cloned();
    let studio = studio(&session, &page, &arguments.out, first);
    session.events().add(studio.events());
    tokio::spawn(session.watch_devices());
    let stop = CancellationToken::new();
    let perform = Arc::new(ObservedPerform::new(Arc::clone(&session), studio.events()));
    let mut serving = page.serve(&studio, &session, perform, Audit::default(), stop.clone());
    let mut shutdown = ShutdownSignal::new();
    let served = tokio::select! {
        served = &mut serving => served,
        () = shutdown.ending() => {
            stop.cancel();
            serving.await
        }
    };
    session.end().await;
    served.map(|()| 0).map_err(|error| CliError::failed(error.to_string()))
}

/// A studio for the phones of a session. Recordings are kept in `logs/` below `out`.
pub(super) fn studio(
    session: &Arc<Session>,
    page: &StudioPage,
    out: &Path,
    device: Option<String>,
) -> Studio {
    let options = StudioOptions {
        folder: out.to_owned(),
        address: page.address.clone(),
        device,
        make_skill: |recording, goal| {
            let skill = Skill::learn(&[recorded(recording, Some(goal))?], None)?;
            Ok((skill.name.clone(), skill.to_text()))
        },
        clock: jiff::Timestamp::now,
    };
    Studio::new(Arc::clone(session), options)
}

/// An address at which the page can be served.
pub(super) struct StudioPage {
    listener: Listener,
    access: Access,
    /// The address of the page, without the token.
    address: String,
}

impl StudioPage {
    /// Listens, and prints the address with the token that the page needs.
    ///
    /// # Errors
    /// If other computers could reach the address, it is in use, or there is no place for a token.
    pub(super) async fn open(address: &str, config: &Config) -> Result<Self, CliError> {
        let file = config.token.as_deref().ok_or_else(|| {
            CliError::usage(
                "cannot store the studio's token: neither XDG_STATE_HOME nor HOME is set",
            )
        })?;
        let token = http_token::read_or_make(file).map_err(CliError::usage)?.token;
        let tcp = http::bind(address).await.map_err(CliError::usage)?;
        let at = tcp.local_addr().map_err(|error| CliError::failed(error.to_string()))?;
        // Whatever follows `#` stays in the browser.
        let address = format!("http://{at}{PAGES_PATH}/");
        eprintln!("thumbwire: the studio is at {address}#token={}", token.reveal());
        Ok(Self { listener: tcp.into(), access: Access::Token(token), address })
    }

    /// Serves the page, and MCP beside it, until `stop` is cancelled. `perform` performs the calls
    /// of MCP clients.
    pub(super) fn serve(
        self,
        studio: &Studio,
        session: &Arc<Session>,
        perform: Arc<dyn Perform>,
        audit: Audit,
        stop: CancellationToken,
    ) -> BoxFuture<'static, io::Result<()>> {
        let served = ServedToolset::new(Arc::new(mobile::toolset()), perform)
            .with_client_watch(Arc::clone(session) as _)
            .with_audit(audit)
            .with_pages(Arc::new(StudioPages(studio.clone())));
        http::serve(self.listener, served, self.access, stop)
    }
}

/// The studio as pages of the MCP server.
struct StudioPages(Studio);

#[async_trait]
impl Pages for StudioPages {
    fn file(&self, path: &str) -> Option<::http::Response<Bytes>> {
        self.0.file(path)
    }

    fn act(&self, request: &::http::Request<Bytes>) -> Option<String> {
        self.0.act(request)
    }

    fn takes_form(&self, path: &str) -> bool {
        self.0.takes_form(path)
    }

    fn form(&self, path: &str, body: Bytes) -> ::http::Response<Bytes> {
        self.0.form(path, &body)
    }

    async fn answer(&self, request: ::http::Request<Bytes>) -> ::http::Response<PageBody> {
        self.0.answer(request).await
    }
}
