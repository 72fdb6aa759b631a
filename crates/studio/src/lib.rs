//! The studio: a page in the browser to see phones, touch them, inspect what is on their screens,
//! record flows, and watch and steer the programs that use them.
//!
//! Start with [`Studio`]. [`Studio::file`] serves the page, whose files are in `web/`, and
//! [`Studio::answer`] its requests, which `api` reads. `screen` and `video` send pictures, `feed`
//! events, `inspect` elements; `steer` pauses programs and answers their questions; `record` makes
//! flows of what a hand does, `flow_run` runs them, `runs` and `suites` list what is recorded on
//! disk.
//!
//! It adds no second way to act, look or record: everything goes through
//! [`Perform`](thumbwire_core::action::Perform), [`Event`](thumbwire_core::event::Event) and
//! [`Recorder`](thumbwire_core::trace::Recorder). Not here: sockets, tokens and the checks of
//! requests, which are the MCP server's.

mod api;
mod feed;
mod flow_run;
mod inspect;
mod page;
mod python;
mod record;
mod runs;
mod screen;
mod secrets;
mod shared;
mod steer;
mod suites;
mod tickets;
mod video;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use http::{Request, Response};
use thumbwire_core::action::{
    AskBeside, AskUser, Call, ClientId, ClientName, Perform, SecretPages,
};
use thumbwire_core::event::{EventSink, EventSinks, ObservedPerform};
use thumbwire_core::session::Session;

use feed::{Feed, PersonFeed};
use inspect::Looks;
use record::Recordings;
use screen::Screens;
use secrets::SecretForms;
use steer::Questions;
use tickets::Tickets;
use video::Videos;

/// The body of a response: parts as they come.
pub type Body = BoxStream<'static, Bytes>;

/// How long an act of a person may take.
const ACT_TIME: Duration = Duration::from_secs(30);

/// How long a flow of the editor may run.
const FLOW_TIME: Duration = Duration::from_secs(3600);

/// Makes a skill of the recording in a folder, for a goal: the skill's name and the text of its
/// file.
pub type MakeSkill = fn(&Path, &str) -> Result<(String, String), String>;

/// What a studio needs from outside.
#[derive(Debug, Clone)]
pub struct StudioOptions {
    /// The folder whose recorded runs are listed; recordings are kept in `logs/` in it.
    pub folder: PathBuf,
    /// The address of the page, which ends with `/studio/`.
    pub address: String,
    /// The phone that the page shows first.
    pub device: Option<String>,
    /// Makes skills of recordings.
    pub make_skill: MakeSkill,
    /// The time of day.
    pub clock: fn() -> jiff::Timestamp,
}

/// The studio of one process. Clones are the same one.
#[derive(Clone)]
pub struct Studio(Arc<Parts>);

struct Parts {
    session: Arc<Session>,
    /// What a person does, reported to the feed.
    perform: Arc<dyn Perform>,
    feed: Arc<Feed>,
    questions: Arc<Questions>,
    screens: Screens,
    videos: Videos,
    looks: Looks,
    recordings: Recordings,
    /// Reports that are about to be opened.
    tickets: Tickets,
    secrets: Arc<SecretForms>,
    options: StudioOptions,
}

impl Studio {
    /// A studio for the phones of this session.
    pub fn new(session: Arc<Session>, options: StudioOptions) -> Self {
        let feed = Arc::new(Feed::default());
        let sinks = EventSinks::default().with(PersonFeed(Arc::clone(&feed)));
        let perform: Arc<dyn Perform> = Arc::new(ObservedPerform::new(Arc::clone(&session), sinks));
        Self(Arc::new(Parts {
            screens: Screens::new(Arc::clone(&session)),
            videos: Videos::new(Arc::clone(&session)),
            questions: Arc::new(Questions::new(Arc::clone(&feed))),
            looks: Looks::default(),
            recordings: Recordings::default(),
            tickets: Tickets::default(),
            secrets: Arc::new(SecretForms::new(options.address.clone())),
            session,
            perform,
            feed,
            options,
        }))
    }

    /// The sink for everything that the page shows of other programs: calls, phones, steps of
    /// agents and flows.
    pub fn events(&self) -> Arc<dyn EventSink> {
        Arc::clone(&self.0.feed) as Arc<dyn EventSink>
    }

    /// A file by its path below the studio's own that needs no token: the page's own, such as
    /// `/studio.css`, which tell nothing of phones, and what has an address for one use.
    pub fn file(&self, path: &str) -> Option<Response<Bytes>> {
        let ticket = path.strip_prefix("/report/");
        let report = ticket.and_then(|ticket| self.0.tickets.take(ticket));
        let report = report.map(page::report).or_else(|| self.0.secrets.page(path));
        report.or_else(|| page::file(path))
    }

    /// Where users type secrets, each on a page of its own.
    pub fn secret_pages(&self) -> Arc<dyn SecretPages> {
        Arc::clone(&self.0.secrets) as Arc<dyn SecretPages>
    }

    /// Whether a form at this path needs no token.
    pub fn takes_form(&self, path: &str) -> bool {
        self.0.secrets.takes_form(path)
    }

    /// Answers such a form.
    pub fn form(&self, path: &str, body: &[u8]) -> Response<Bytes> {
        self.0.secrets.form(path, body)
    }

    /// What a person does by this request; `None` if they only look.
    pub fn act(&self, request: &Request<Bytes>) -> Option<String> {
        api::act(request)
    }

    /// Answers a request of the page, whose path is the part below the studio's own, and whose
    /// extensions have the caller's [`Scope`](thumbwire_core::action::Scope); without one it may
    /// only look.
    pub async fn answer(&self, request: Request<Bytes>) -> Response<Body> {
        api::answer(&self.0, request).await
    }
}

impl AskBeside for Studio {
    fn asking(&self, ask: Arc<dyn AskUser>) -> Arc<dyn AskUser> {
        Arc::new(steer::AskInStudio::new(ask, Arc::clone(&self.0.questions)))
    }
}

impl Parts {
    /// A call of the person at the page.
    fn call(&self, device: &str) -> Call {
        self.call_within(device, ACT_TIME)
    }

    fn call_within(&self, device: &str, time: Duration) -> Call {
        Call {
            client: ClientId::Studio,
            client_name: ClientName::clean("studio"),
            ..Call::with_timeout(time).on(Some(device.to_owned()))
        }
    }
}
