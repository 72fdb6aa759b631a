//! Probes a running tool: requests, and the responses that must come back (section 3.2).
//!
//! Most requirements can be tested with requests that no tool may execute, so a correct app is not
//! changed: an unknown capability, a missing required argument. The rest needs calls that act;
//! these go only to capabilities that the caller names, with the caller's arguments
//! ([`ProbeOptions`]).

use std::collections::BTreeMap;

use serde_json::json;

use thumbwire_base::sanitize;
use thumbwire_mobile_mcp::{
    Capability, Descriptor, ExtraKeys, Extras, ParamType, Request, Response, Status, Values,
};

use super::requirement::{Requirement, Verdict};
use super::response_form;

/// The tool reads the request from the specified extra.
pub(super) const EXTRACTED: Requirement = Requirement::of_tool(
    "request-extracted",
    "The tool reads the request from the extra `mobile-mcp-request`.",
);

/// The tool checks the version.
pub(super) const VERSION: Requirement =
    Requirement::of_tool("version-validated", "The tool validates the version of the request.");

/// The response repeats the id.
pub(super) const ID: Requirement = Requirement::of_tool(
    "id-repeated",
    "The tool records the request's id and repeats it in its response.",
);

/// The tool checks the capability.
pub(super) const CAPABILITY: Requirement = Requirement::of_tool(
    "capability-verified",
    "The tool verifies that it supports the capability.",
);

/// Required parameters are present.
pub(super) const REQUIRED: Requirement = Requirement::of_tool(
    "required-validated",
    "The tool validates that all required parameters are present.",
);

/// Parameters have the right types.
pub(super) const TYPES: Requirement = Requirement::of_tool(
    "types-validated",
    "The tool validates that parameters have the types that the descriptor names.",
);

/// A valid request is executed.
pub(super) const INVOKED: Requirement = Requirement::of_tool(
    "capability-invoked",
    "The tool invokes the capability when the request is valid.",
);

/// The response has the specified form.
pub(super) const RESPONSE: Requirement = Requirement::of_tool(
    "response-schema",
    "The response is `mobile-mcp-response` with version 1.0, id, capability and status.",
);

/// The output has the specified form.
pub(super) const OUTPUT: Requirement = Requirement::of_tool(
    "output-schema",
    "The output is a list of `{name, type, value}` with the descriptor's names and types.",
);

/// The tool survives broken requests.
pub(super) const SURVIVES: Requirement = Requirement {
    section: "",
    ..Requirement::of_tool(
        "survives-broken-requests",
        "The tool survives a request that is not JSON.",
    )
};

/// What the specification requires of a running tool. The requirements for files are the rules
/// ([`Rule`]) that have a section and are fatal to lint.
pub(super) const OF_TOOLS: &[Requirement] =
    &[EXTRACTED, VERSION, ID, CAPABILITY, REQUIRED, TYPES, INVOKED, RESPONSE, OUTPUT, SURVIVES];

/// What the tool may be made to do.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ProbeOptions {
    /// The capabilities that may be called, each with harmless arguments; use an empty object for a
    /// capability without parameters. Each is called several times.
    pub(super) calls: BTreeMap<String, Values>,
}

/// A request, and what its response must be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Probe {
    /// What it tests.
    pub(super) must: Requirement,
    /// What it does, with the capability's id.
    pub(super) what: String,
    /// The request's id; empty if there is none to answer.
    pub(super) id: String,
    /// The Intent's extras.
    pub(super) extras: Extras,
    /// The expected response.
    expect: Expectation,
}

#[derive(Debug, Clone, PartialEq)]
enum Expectation {
    /// Any response, or none.
    Nothing,
    AnyAnswer,
    SameId,
    Failure,
    SuccessOf(String),
    Schema(String),
    Output(Box<Capability>),
}

/// The probes for a tool, in order, and what cannot be tested.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Plan {
    /// To be sent one after another.
    pub(super) probes: Vec<Probe>,
    /// What is not tested, and why.
    pub(super) not_tested: Vec<(Requirement, String)>,
}

/// The result of a probe, or of a test that was not possible.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProbeResult {
    /// What was tested.
    pub(super) must: Requirement,
    /// What was done; empty if it was not tested.
    pub(super) what: String,
    /// The result.
    pub(super) verdict: Verdict,
}

/// Limit on the capabilities that are called without their required arguments.
const MAX_ASKED: usize = 16;

/// Plans the probes for a tool with this descriptor. `next_id` must return a new id each time.
pub(super) fn plan(
    descriptor: &Descriptor,
    options: &ProbeOptions,
    next_id: &mut dyn FnMut() -> String,
) -> Plan {
    let mut planned = PlanBuilder { plan: Plan::default(), next_id };
    let stranger = unknown_id(descriptor);
    let asks = format!("requests `{stranger}`, which the tool does not have");
    for (must, expect) in [
        (EXTRACTED, Expectation::AnyAnswer),
        (ID, Expectation::SameId),
        (ID, Expectation::SameId),
        (CAPABILITY, Expectation::Failure),
        (RESPONSE, Expectation::Schema(stranger.clone())),
    ] {
        planned.probe(must, asks.clone(), &stranger, &Values::new(), expect);
    }
    let mut asked =
        descriptor.capabilities.iter().filter(|one| one.input.iter().any(|param| param.required));
    let mut any = false;
    for capability in asked.by_ref().take(MAX_ASKED) {
        any = true;
        let what = format!("calls `{}` without arguments", shown(&capability.id));
        planned.probe(REQUIRED, what, &capability.id, &Values::new(), Expectation::Failure);
    }
    if !any {
        planned.untried(REQUIRED, "no capability has required parameters");
    }
    side_effect_probes(descriptor, options, &mut planned);
    let garbage =
        Extras::from([("mobile-mcp-request".to_owned(), "{\"mobile-mcp-request\":".to_owned())]);
    let what = "sends half a JSON object".to_owned();
    planned.plan.probes.push(Probe {
        must: SURVIVES,
        what,
        id: String::new(),
        extras: garbage,
        expect: Expectation::Nothing,
    });
    planned.probe(SURVIVES, asks, &stranger, &Values::new(), Expectation::AnyAnswer);
    planned.plan
}

/// The probes that make a tool act.
fn side_effect_probes(
    descriptor: &Descriptor,
    options: &ProbeOptions,
    planned: &mut PlanBuilder<'_>,
) {
    let allowed =
        descriptor.capabilities.iter().filter_map(|one| Some((one, options.calls.get(&one.id)?)));
    let calls: Vec<_> = allowed.collect();
    let mut mistyped = false;
    for (capability, arguments) in &calls {
        let id = shown(&capability.id);
        if let Some(refusal) = capability.argument_error(arguments) {
            planned.untried(INVOKED, &format!("the arguments for `{id}` do not match: {refusal}"));
            continue;
        }
        let what = format!("calls `{id}`");
        planned.probe(
            INVOKED,
            what.clone(),
            &capability.id,
            arguments,
            Expectation::SuccessOf(capability.id.clone()),
        );
        let expect = Expectation::Output(Box::new((*capability).clone()));
        planned.probe(OUTPUT, what, &capability.id, arguments, expect);
        let what = format!("calls `{id}` in version 9.9");
        planned.probe(VERSION, what, &capability.id, arguments, Expectation::Failure);
        if let Some(probe) = planned.plan.probes.last_mut() {
            for text in probe.extras.values_mut() {
                *text = text.replacen(
                    &format!("\"version\":\"{}\"", thumbwire_mobile_mcp::VERSION),
                    "\"version\":\"9.9\"",
                    1,
                );
            }
        }
        if let Some((name, arguments)) = wrong_type_arguments(capability, arguments) {
            mistyped = true;
            let what = format!("calls `{id}` with another type for `{}`", shown(&name));
            planned.probe(TYPES, what, &capability.id, &arguments, Expectation::Failure);
        }
    }
    if calls.is_empty() {
        for must in [INVOKED, OUTPUT, VERSION, TYPES] {
            planned.untried(must, "needs a capability that may be called, with its arguments");
        }
    } else if !mistyped {
        planned.untried(TYPES, "no capability that may be called has parameters");
    }
}

/// The arguments with one value of the wrong type: a list instead of a string, a string instead of
/// anything else.
fn wrong_type_arguments(capability: &Capability, arguments: &Values) -> Option<(String, Values)> {
    let param = capability.input.iter().find(|param| ParamType::of(&param.written).is_some())?;
    let wrong = match param.kind {
        ParamType::String => json!(["thumbwire"]),
        ParamType::Boolean | ParamType::Integer | ParamType::Number => json!("thumbwire"),
    };
    let mut arguments = arguments.clone();
    arguments.insert(param.name.clone(), wrong);
    Some((param.name.clone(), arguments))
}

/// An id that no capability of the tool has.
fn unknown_id(descriptor: &Descriptor) -> String {
    let mut id = "thumbwire_no_such_capability".to_owned();
    while descriptor.capability(&id).is_some() {
        id.push('_');
    }
    id
}

struct PlanBuilder<'a> {
    plan: Plan,
    next_id: &'a mut dyn FnMut() -> String,
}

impl PlanBuilder<'_> {
    fn probe(
        &mut self,
        must: Requirement,
        what: String,
        capability: &str,
        arguments: &Values,
        expect: Expectation,
    ) {
        let id = (self.next_id)();
        let request =
            Request { id: id.clone(), capability: capability.into(), arguments: arguments.clone() };
        // Only the specified JSON: other formats would hide that a tool does not read this one.
        let extras =
            Extras::from([("mobile-mcp-request".to_owned(), request.to_json().to_string())]);
        self.plan.probes.push(Probe { must, what, id, extras, expect });
    }

    fn untried(&mut self, must: Requirement, reason: &str) {
        self.plan.not_tested.push((must, reason.to_owned()));
    }
}

/// Judges the response to a probe; `None` means that none arrived in time.
pub(super) fn judge(probe: &Probe, extras: Option<&Extras>) -> Verdict {
    let read = match (extras, &probe.expect) {
        (_, Expectation::Nothing) => return Verdict::Met,
        (None, Expectation::AnyAnswer) => return Verdict::Violated("no response".into()),
        (None, _) => return Verdict::NoReply,
        (Some(_), Expectation::AnyAnswer) => return Verdict::Met,
        (Some(answer), Expectation::Schema(capability)) => {
            return verdict(response_form::schema(answer, capability));
        }
        (Some(answer), _) => Response::read(answer, &ExtraKeys::default()),
    };
    let (read, answer) = match (read, extras) {
        (Ok(read), Some(answer)) => (read, answer),
        // An unreadable response counts against `response-schema` only.
        _ => return Verdict::NoReply,
    };
    let said = || format!("{}: {}", read.status.name(), sanitize(&read.message, 120));
    match &probe.expect {
        Expectation::SameId if read.id != probe.id => {
            Verdict::Violated(format!("the id is `{}`; expected `{}`", shown(&read.id), probe.id))
        }
        Expectation::Failure if read.status == Status::Success => Verdict::Violated(said()),
        Expectation::SuccessOf(_) if read.status == Status::Failure => Verdict::Violated(said()),
        Expectation::SuccessOf(id) if read.capability != *id => Verdict::Violated(format!(
            "the capability is `{}`; expected `{}`",
            shown(&read.capability),
            shown(id)
        )),
        // A failure's output says nothing about a success; that it failed counts against
        // `capability-invoked`.
        Expectation::Output(_) if read.status == Status::Failure => Verdict::NoReply,
        Expectation::Output(capability) => verdict(response_form::output(answer, capability)),
        _ => Verdict::Met,
    }
}

fn verdict(held: Result<(), String>) -> Verdict {
    held.map_or_else(Verdict::Violated, |()| Verdict::Met)
}

/// Runs a plan, one probe after another. A tool that ignores the first probe gets no more: each
/// would cost a time-out.
#[derive(Debug)]
pub(super) struct Run {
    /// The remaining probes, next one last.
    left: Vec<Probe>,
    not_tested: Vec<(Requirement, String)>,
    judged: Vec<ProbeResult>,
    is_silent: bool,
}

impl Run {
    /// Starts a run.
    pub(super) fn new(mut plan: Plan) -> Self {
        plan.probes.reverse();
        Self {
            left: plan.probes,
            not_tested: plan.not_tested,
            judged: Vec::new(),
            is_silent: false,
        }
    }

    /// The next probe to send; `None` when done.
    pub(super) fn next(&self) -> Option<&Probe> {
        self.left.last().filter(|_| !self.is_silent)
    }

    /// Records the response to it; `None` means that none arrived in time.
    pub(super) fn on_reply(&mut self, extras: Option<&Extras>) {
        let Some(probe) = self.left.pop() else { return };
        let verdict = judge(&probe, extras);
        self.is_silent |= probe.must == EXTRACTED && extras.is_none();
        self.judged.push(ProbeResult { must: probe.must, what: probe.what, verdict });
    }

    /// All results; probes that were not sent are [`Verdict::NoReply`].
    pub(super) fn finish(mut self) -> Vec<ProbeResult> {
        while let Some(Probe { must, what, .. }) = self.left.pop() {
            self.judged.push(ProbeResult { must, what, verdict: Verdict::NoReply });
        }
        self.judged.extend(self.not_tested.into_iter().map(|(must, reason)| ProbeResult {
            must,
            what: String::new(),
            verdict: Verdict::NotTested(reason),
        }));
        self.judged
    }
}

fn shown(text: &str) -> String {
    sanitize(text, 60)
}
