//! What an agent must do (sections 2, 3.1 and 3.3): discover tools, send requests, and tell responses apart.
//!
//! How an agent finds tools is up to it; its result is compared with what is installed. On a phone it uses Android's
//! own API. A host has to read the packages: it cannot go the specified way, but it can reach the same result.

use serde_json::Value;

use super::{Party, Requirement, Verdict};
use crate::sanitize::sanitize;
use crate::{Extras, Response, ResponseMatch, Status, VERSION, Values};

/// Tools are discovered.
pub const DISCOVERED: Requirement = Requirement {
    name: "tools-discovered",
    section: "2",
    party: Party::Agent,
    demands: "The agent discovers tools by the action `mobile.mcp.SERVICE`.",
    tried: "compare what it found with what is installed: every service with the action and no other",
};

/// A tool's name and description are read.
pub const DESCRIBED: Requirement = Requirement {
    name: "metadata-retrieved",
    section: "2",
    party: Party::Agent,
    demands: "The agent retrieves each tool's name and description from its meta-data.",
    tried: "compare what it found with what is installed: names and descriptions",
};

/// A tool's capabilities are read.
pub const LOADED: Requirement = Requirement {
    name: "descriptor-loaded",
    section: "2",
    party: Party::Agent,
    demands: "The agent loads the descriptor that the meta-data points to.",
    tried: "compare what it found with what is installed: capability ids",
};

/// The request has the specified form.
pub const SCHEMA: Requirement = Requirement {
    name: "request-schema",
    section: "3.1",
    party: Party::Agent,
    demands: "The request is `mobile-mcp-request` with version 1.0, an id, a capability and `args`, an object.",
    tried: "check the JSON of a request",
};

/// The service is named.
pub const ADDRESSED: Requirement = Requirement {
    name: "service-named",
    section: "3.1",
    party: Party::Agent,
    demands: "The agent names the service by its package and its class.",
    tried: "check the Intent's component",
};

/// There is a callback.
pub const CALLBACK: Requirement = Requirement {
    name: "callback-provided",
    section: "3.1",
    party: Party::Agent,
    demands: "The agent provides a callback.",
    tried: "check the Intent's extras that are not text",
};

/// Responses reach their requests.
pub const CORRELATED: Requirement = Requirement {
    name: "answers-correlated",
    section: "3.3",
    party: Party::Agent,
    demands: "The agent correlates each response with its request by id.",
    tried: "answer two requests to one tool in reverse order, one of them twice",
};

/// A tool that is installed, or that an agent found.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiscoveredTool {
    /// Its package.
    pub package: String,
    /// The full class name of its service.
    pub service: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The ids of its capabilities, in order.
    pub capabilities: Vec<String>,
}

/// Compares what an agent found with what is installed.
pub fn judge_discovery(
    installed: &[DiscoveredTool],
    found: &[DiscoveredTool],
) -> [(Requirement, Verdict); 3] {
    let of = |all: &[DiscoveredTool], one: &DiscoveredTool| {
        all.iter().find(|it| it.package == one.package && it.service == one.service).cloned()
    };
    let named = |one: &DiscoveredTool| {
        format!("{}/{}", sanitize(&one.package, 120), sanitize(&one.service, 120))
    };
    let missed = installed.iter().find(|one| of(found, one).is_none());
    let made_up = found.iter().find(|one| of(installed, one).is_none());
    let discovered = match (missed, made_up) {
        (Some(one), _) => Err(format!("{} was not found", named(one))),
        (None, Some(one)) => Err(format!("{} was found but is not a tool", named(one))),
        (None, None) => Ok(()),
    };
    let pairs: Vec<(&DiscoveredTool, DiscoveredTool)> =
        installed.iter().filter_map(|one| Some((one, of(found, one)?))).collect();
    let held = |what: &str, same: &dyn Fn(&DiscoveredTool, &DiscoveredTool) -> bool| match pairs
        .iter()
        .find(|(one, other)| !same(one, other))
    {
        Some((one, _)) => Err(format!("{what} of {} is not what is installed", named(one))),
        None => Ok(()),
    };
    let text = held("the name or the description", &|one, other| {
        one.name == other.name && one.description == other.description
    });
    let loaded = held("the capabilities", &|one, other| one.capabilities == other.capabilities);
    [(DISCOVERED, verdict(discovered)), (DESCRIBED, verdict(text)), (LOADED, verdict(loaded))]
}

/// An Intent as sent by an agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SentIntent {
    /// Package and full class name of the service; `None` if the Intent names only an action.
    pub component: Option<(String, String)>,
    /// Its text extras.
    pub extras: Extras,
    /// The keys of the extras that hold a callback.
    pub callbacks: Vec<String>,
}

/// Checks what an agent sent.
pub fn judge(sent: &SentIntent) -> [(Requirement, Verdict); 3] {
    let addressed = match &sent.component {
        Some((package, class)) if !package.is_empty() && !class.is_empty() => Ok(()),
        _ => Err("the Intent does not name a service".to_owned()),
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
    held.map_or_else(Verdict::Violated, |()| Verdict::Met)
}

fn schema(extras: &Extras) -> Result<(), String> {
    let text = extras.get("mobile-mcp-request").ok_or("no extra `mobile-mcp-request`")?;
    let whole: Value =
        serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
    let envelope = whole.get("mobile-mcp-request").ok_or("no `mobile-mcp-request` envelope")?;
    match envelope.get("version") {
        Some(Value::String(version)) if version == VERSION => {}
        other => return Err(format!("`version` is {}", render_value(other))),
    }
    let request = envelope.get("request").ok_or("there is no `request`")?;
    match request.get("id") {
        Some(Value::String(id)) if !id.is_empty() => {}
        other => return Err(format!("`id` is {}", render_value(other))),
    }
    let capability = request.get("capability").ok_or("there is no `capability`")?;
    match capability.get("id") {
        Some(Value::String(id)) if !id.is_empty() => {}
        other => return Err(format!("`capability.id` is {}", render_value(other))),
    }
    match capability.get("args") {
        None | Some(Value::Object(_)) => Ok(()),
        other => Err(format!("`capability.args` is {}", render_value(other))),
    }
}

fn render_value(value: Option<&Value>) -> String {
    value.map_or("missing".into(), |value| sanitize(&value.to_string(), 40))
}

/// What an agent does with responses: [`crate::PendingRequests`], or any implementation under test.
pub trait Correlator {
    /// A request was sent.
    fn sent(&mut self, id: &str, capability: &str);

    /// A response arrived. Returns the id of the request that it settles, if any.
    fn on_response(&mut self, response: Response) -> Option<String>;
}

impl Correlator for crate::PendingRequests {
    fn sent(&mut self, id: &str, capability: &str) {
        // An id in use stays with its request.
        let _ = self.on_sent(id, capability, std::time::Duration::MAX);
    }

    fn on_response(&mut self, response: Response) -> Option<String> {
        match self.on_response(std::time::Duration::ZERO, Ok(response)) {
            ResponseMatch::Expected(answer) => Some(answer.id),
            _ => None,
        }
    }
}

/// Tests whether an agent tells its responses apart.
pub fn judge_correlation(agent: &mut dyn Correlator) -> (Requirement, Verdict) {
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
        let settled = agent.on_response(answer);
        if settled.as_deref() != settles {
            let says = format!("a response to `{id}` settled {settled:?}; expected {settles:?}");
            return (CORRELATED, Verdict::Violated(says));
        }
    }
    (CORRELATED, Verdict::Met)
}
