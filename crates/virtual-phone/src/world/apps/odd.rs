//! Odd (`org.example.odd`), which comes as an APK: a tool that answers as no tool should, for the tests of hosts. Each capability is a way
//! to do it wrong. It has no screen of its own.

use super::stranger::Stranger;
use crate::world::app::{App, Env, Event, Manifest, Reach};
use crate::world::packages::Installation;
use crate::world::services::{Served, ServiceStart};
use crate::world::view::View;
use serde_json::{Value, json};
use std::time::Duration;

/// The package.
pub(super) const PACKAGE: &str = "org.example.odd";
/// The service that answers.
pub(super) const SERVICE: &str = "org.example.odd.OddService";

const RESPONSE: &str = "mobile-mcp-response";

/// The state of Odd: what is shown in its place.
pub(crate) struct Odd {
    shown: Stranger,
}

impl Odd {
    pub(super) fn of(shown: Stranger) -> Self {
        Self { shown }
    }
}

impl App for Odd {
    fn manifest() -> Manifest {
        Manifest::of_installation(Installation::unknown())
    }

    fn new(_seed: u64) -> Self {
        Self::of(Stranger::of(&Self::manifest()))
    }

    fn view(&self, env: &Env<'_>) -> View {
        self.shown.view(env)
    }

    fn on(&mut self, event: Event, reach: &mut Reach<'_>) {
        self.shown.on(event, reach);
    }

    fn serve(&mut self, start: &ServiceStart<'_>, _reach: &mut Reach<'_>) -> Served {
        let request: Option<Value> =
            start.extra("mobile-mcp-request").and_then(|text| serde_json::from_str(text).ok());
        let request = request.as_ref().and_then(|all| all.pointer("/mobile-mcp-request/request"));
        let text = |path| request.and_then(|it| it.pointer(path)?.as_str()).unwrap_or_default();
        let (id, capability) = (text("/id"), text("/capability/id"));
        if start.class != SERVICE || id.is_empty() {
            return Served::default();
        }
        // It never makes itself a foreground service.
        let answers = |answers| Served { answers, ..Served::default() };
        let whole = |id, capability, status, message| {
            vec![(RESPONSE.to_owned(), response(id, capability, status, message))]
        };
        let right = || whole(id, capability, "success", "");
        match capability {
            "answer" => answers(vec![(Duration::ZERO, right())]),
            "fail" => answers(vec![(
                Duration::ZERO,
                whole(id, capability, "failure", "It could not be done."),
            )]),
            "twice" => answers(vec![
                (Duration::ZERO, right()),
                (
                    Duration::from_millis(500),
                    whole(id, capability, "failure", "On second thoughts, no."),
                ),
            ]),
            "late" => {
                let seconds =
                    request.and_then(|it| it.pointer("/capability/args/seconds")?.as_u64());
                let seconds = seconds.unwrap_or(60).clamp(1, 600);
                answers(vec![(Duration::from_secs(seconds), right())])
            }
            "broken" => {
                let mut broken = response(id, capability, "success", "");
                broken.truncate(broken.len() - 3);
                answers(vec![(Duration::ZERO, vec![(RESPONSE.to_owned(), broken)])])
            }
            "other_id" => {
                let other = "00000000-0000-4000-8000-000000000000";
                answers(vec![(Duration::ZERO, whole(other, capability, "success", ""))])
            }
            "other_capability" => {
                answers(vec![(Duration::ZERO, whole(id, "answer", "success", ""))])
            }
            "die" => Served { dies: true, ..Served::default() },
            _ => Served::default(),
        }
    }
}

/// An answer as the specification has it.
fn response(id: &str, capability: &str, status: &str, message: &str) -> String {
    json!({
        RESPONSE: {
            "version": "1.0",
            "response": {
                "id": id,
                "capability": { "id": capability, "output": [] },
                "status": status,
                "message": message,
            },
        },
    })
    .to_string()
}
