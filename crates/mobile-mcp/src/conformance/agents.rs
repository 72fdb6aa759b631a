//! What an agent has to keep (sections 3.1 and 3.3): what it sends, and that it knows its answers apart.
//!
//! Discovery (section 2) is asked of Android, and so is tried where there is one: in the tests of whoever talks to phones.

use serde_json::Value;

use super::{Must, Verdict, Whose};
use crate::words::harmless;
use crate::{Extras, Heard, Response, Status, VERSION, Values};

/// The request has the specification's form.
pub const SCHEMA: Must = Must {
    name: "request-schema",
    section: "3.1",
    whose: Whose::Agent,
    demands: "The request is `mobile-mcp-request` with version 1.0, an id, a capability and `args`, an object.",
    tried: "the JSON of a request is looked at",
};

/// The service is named.
pub const ADDRESSED: Must = Must {
    name: "service-named",
    section: "3.1",
    whose: Whose::Agent,
    demands: "The agent names the service by its package and its class.",
    tried: "the Intent's component is looked at",
};

/// There is a way back.
pub const CALLBACK: Must = Must {
    name: "callback-provided",
    section: "3.1",
    whose: Whose::Agent,
    demands: "The agent provides a callback.",
    tried: "the Intent's extras that are no text are looked at",
};

/// Answers go to their requests.
pub const CORRELATED: Must = Must {
    name: "answers-correlated",
    section: "3.3",
    whose: Whose::Agent,
    demands: "The agent correlates each answer with its request by the id.",
    tried: "two requests to one tool are answered in the other order, one of them twice",
};

/// An Intent as an agent sends it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sent {
    /// Package and full class name of the service; `None` where the Intent names only an action.
    pub component: Option<(String, String)>,
    /// Its text extras.
    pub extras: Extras,
    /// The names of the extras that hold a callback.
    pub callbacks: Vec<String>,
}

/// Judges what an agent sent.
pub fn judge(sent: &Sent) -> [(Must, Verdict); 3] {
    let verdict = |held: Result<(), String>| held.map_or_else(Verdict::Broken, |()| Verdict::Kept);
    let addressed = match &sent.component {
        Some((package, class)) if !package.is_empty() && !class.is_empty() => Ok(()),
        _ => Err("the Intent names no service".to_owned()),
    };
    let called_back = match sent.callbacks.is_empty() {
        false => Ok(()),
        true => Err("the Intent has no callback".to_owned()),
    };
    [
        (SCHEMA, verdict(schema(&sent.extras))),
        (ADDRESSED, verdict(addressed)),
        (CALLBACK, verdict(called_back)),
    ]
}

fn schema(extras: &Extras) -> Result<(), String> {
    let text = extras.get("mobile-mcp-request").ok_or("there is no extra `mobile-mcp-request`")?;
    let whole: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let envelope =
        whole.get("mobile-mcp-request").ok_or("there is no `mobile-mcp-request` around it")?;
    match envelope.get("version") {
        Some(Value::String(version)) if version == VERSION => {}
        other => return Err(format!("`version` is {}", told(other))),
    }
    let request = envelope.get("request").ok_or("there is no `request`")?;
    match request.get("id") {
        Some(Value::String(id)) if !id.is_empty() => {}
        other => return Err(format!("`id` is {}", told(other))),
    }
    let capability = request.get("capability").ok_or("there is no `capability`")?;
    match capability.get("id") {
        Some(Value::String(id)) if !id.is_empty() => {}
        other => return Err(format!("`capability.id` is {}", told(other))),
    }
    match capability.get("args") {
        None | Some(Value::Object(_)) => Ok(()),
        other => Err(format!("`capability.args` is {}", told(other))),
    }
}

fn told(value: Option<&Value>) -> String {
    value.map_or("missing".into(), |value| harmless(&value.to_string(), 40))
}

/// What an agent makes of answers: as [`crate::Pending`] does, or whatever is tried.
pub trait Correlates {
    /// A request went out.
    fn sent(&mut self, id: &str, capability: &str);

    /// An answer came; the id of the request that it settles, if it settles one.
    fn heard(&mut self, answer: Response) -> Option<String>;
}

impl Correlates for crate::Pending {
    fn sent(&mut self, id: &str, capability: &str) {
        // An id that is taken stays with its request.
        let _ = self.sent(id, capability, std::time::Duration::MAX);
    }

    fn heard(&mut self, answer: Response) -> Option<String> {
        match self.heard(std::time::Duration::ZERO, Ok(answer)) {
            Heard::Answer(answer) => Some(answer.id),
            _ => None,
        }
    }
}

/// Tries whether an agent knows its answers apart.
pub fn judge_correlation(agent: &mut dyn Correlates) -> (Must, Verdict) {
    agent.sent("first", "do");
    agent.sent("second", "do");
    for (id, settles) in
        [("second", Some("second")), ("second", None), ("stranger", None), ("first", Some("first"))]
    {
        let answer = Response {
            id: id.into(),
            capability: "do".into(),
            status: Status::Success,
            message: String::new(),
            output: Values::new(),
        };
        let settled = agent.heard(answer);
        if settled.as_deref() != settles {
            let says = format!("an answer to `{id}` settled {settled:?} instead of {settles:?}");
            return (CORRELATED, Verdict::Broken(says));
        }
    }
    (CORRELATED, Verdict::Kept)
}
