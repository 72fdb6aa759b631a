//! Odd (`org.example.odd`), an APK: a misbehaving app tool for the tests of hosts. Each capability
//! misbehaves in its own way. It has no screen.

use crate::app::{App, AppContext, DrawContext, Event};
use crate::apps::generic_app::GenericApp;
use crate::services::{ServiceOutcome, ServiceStart};
use crate::view::View;
use serde_json::{Value, json};
use std::time::Duration;

/// The package.
pub(super) const PACKAGE: &str = "org.example.odd";
/// The service that replies.
pub(super) const SERVICE: &str = "org.example.odd.OddService";

const RESPONSE: &str = "mobile-mcp-response";

/// The state of Odd: the screen shown instead.
pub(crate) struct OddApp {
    shown: GenericApp,
}

impl OddApp {
    pub(super) fn of(shown: GenericApp) -> Self {
        Self { shown }
    }
}

impl App for OddApp {
    fn view(&self, env: &DrawContext<'_>) -> View {
        self.shown.view(env)
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        self.shown.handle(event, context);
    }

    fn on_start_command(
        &mut self,
        start: &ServiceStart<'_>,
        _reach: &mut AppContext<'_>,
    ) -> ServiceOutcome {
        let request: Option<Value> =
            start.extra("mobile-mcp-request").and_then(|text| serde_json::from_str(text).ok());
        let request = request.as_ref().and_then(|all| all.pointer("/mobile-mcp-request/request"));
        let text = |path| request.and_then(|it| it.pointer(path)?.as_str()).unwrap_or_default();
        let (id, capability) = (text("/id"), text("/capability/id"));
        if start.class != SERVICE || id.is_empty() {
            return ServiceOutcome::default();
        }
        // It never calls `startForeground`.
        let answers = |answers| ServiceOutcome { answers, ..ServiceOutcome::default() };
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
            "die" => ServiceOutcome { dies: true, ..ServiceOutcome::default() },
            _ => ServiceOutcome::default(),
        }
    }
}

/// A reply as specified.
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
