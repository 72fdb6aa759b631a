//! What an agent has to keep (sections 2, 3.1 and 3.3): what it finds, what it sends, and that it knows its answers apart.
//!
//! How it finds tools is between it and Android; what it found is held against what is installed. On a phone, by Android's own API; from a
//! host, out of the packages: the specification's way cannot be gone there, its outcome can be reached.

use serde_json::Value;

use super::{Must, Verdict, Whose};
use crate::words::harmless;
use crate::{Extras, Heard, Response, Status, VERSION, Values};

/// Tools are found.
pub const DISCOVERED: Must = Must {
    name: "tools-discovered",
    section: "2",
    whose: Whose::Agent,
    demands: "The agent discovers tools by the action `mobile.mcp.SERVICE`.",
    tried: "what it found is held against what is installed: each service with the action, no other",
};

/// What a tool says of itself is read.
pub const DESCRIBED: Must = Must {
    name: "metadata-retrieved",
    section: "2",
    whose: Whose::Agent,
    demands: "The agent retrieves each tool's name and description from its meta-data.",
    tried: "what it found is held against what is installed: names and descriptions",
};

/// What a tool can do is read.
pub const LOADED: Must = Must {
    name: "descriptor-loaded",
    section: "2",
    whose: Whose::Agent,
    demands: "The agent loads the descriptor that the meta-data points to.",
    tried: "what it found is held against what is installed: the ids of the capabilities",
};

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

/// A tool that is installed, or that an agent found.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Its package.
    pub package: String,
    /// The full class name of its service.
    pub service: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The ids of its capabilities, in its order.
    pub capabilities: Vec<String>,
}

/// Judges what an agent found, by what is installed.
pub fn judge_discovery(installed: &[Found], found: &[Found]) -> [(Must, Verdict); 3] {
    let of = |all: &[Found], one: &Found| {
        all.iter().find(|it| it.package == one.package && it.service == one.service).cloned()
    };
    let named =
        |one: &Found| format!("{}/{}", harmless(&one.package, 120), harmless(&one.service, 120));
    let missed = installed.iter().find(|one| of(found, one).is_none());
    let made_up = found.iter().find(|one| of(installed, one).is_none());
    let discovered = match (missed, made_up) {
        (Some(one), _) => Err(format!("{} was not found", named(one))),
        (None, Some(one)) => Err(format!("{} was found and is no tool", named(one))),
        (None, None) => Ok(()),
    };
    let pairs: Vec<(&Found, Found)> =
        installed.iter().filter_map(|one| Some((one, of(found, one)?))).collect();
    let held = |what: &str, same: &dyn Fn(&Found, &Found) -> bool| match pairs
        .iter()
        .find(|(one, other)| !same(one, other))
    {
        Some((one, _)) => Err(format!("{what} of {} is not what is installed", named(one))),
        None => Ok(()),
    };
    let words = held("the name or the description", &|one, other| {
        one.name == other.name && one.description == other.description
    });
    let loaded = held("the capabilities", &|one, other| one.capabilities == other.capabilities);
    [(DISCOVERED, verdict(discovered)), (DESCRIBED, verdict(words)), (LOADED, verdict(loaded))]
}

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

fn verdict(held: Result<(), String>) -> Verdict {
    held.map_or_else(Verdict::Broken, |()| Verdict::Kept)
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
