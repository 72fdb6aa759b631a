//! A running tool, asked: requests, and what must come back (section 3.2).
//!
//! Most of it can be seen from requests that no tool may carry out, so that they do nothing to a real app that keeps the rules: a capability
//! that it does not have, a required argument left out. The rest needs calls that act; they are made only of capabilities that the caller
//! names, with the caller's arguments ([`Care`]).

use std::collections::BTreeMap;

use serde_json::json;

use super::{Must, Verdict, Whose, form};
use crate::words::harmless;
use crate::{Capability, Descriptor, Extras, Keys, Kind, Request, Response, Status, Values};

/// The tool finds the request where the specification puts it.
pub const EXTRACTED: Must = Must {
    name: "request-extracted",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The tool takes the request out of the extra `mobile-mcp-request`.",
    tried: "a capability that does not exist is asked for under that extra alone; there is an answer",
};

/// The tool looks at the version.
pub const VERSION: Must = Must {
    name: "version-validated",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The tool validates the version of the request.",
    tried: "a call that would be carried out names version 9.9; the answer is a failure",
};

/// The answer repeats the id.
pub const ID: Must = Must {
    name: "id-repeated",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The tool records the request's id and answers with the same.",
    tried: "two requests have ids of their own; each answer has its request's",
};

/// The capability is one of the tool's.
pub const CAPABILITY: Must = Must {
    name: "capability-verified",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The tool verifies that the capability is one that it supports.",
    tried: "a capability that does not exist is asked for; the answer is a failure",
};

/// Required parameters are there.
pub const REQUIRED: Must = Must {
    name: "required-validated",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The tool validates that the required parameters are there.",
    tried: "each capability with required parameters is called without any; the answer is a failure",
};

/// Parameters are of their types.
pub const TYPES: Must = Must {
    name: "types-validated",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The tool validates that parameters are of the types that the descriptor names.",
    tried: "a call that would be carried out has one value of another type; the answer is a failure",
};

/// What is valid is done.
pub const INVOKED: Must = Must {
    name: "capability-invoked",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The tool invokes the capability when the request is valid.",
    tried: "a capability is called with the caller's arguments; the answer is a success of that capability",
};

/// The answer has the specification's form.
pub const RESPONSE: Must = Must {
    name: "response-schema",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The answer is `mobile-mcp-response` with version 1.0, id, capability and status.",
    tried: "a capability that does not exist is asked for; the answer's JSON is looked at",
};

/// What it gives has the specification's form.
pub const OUTPUT: Must = Must {
    name: "output-schema",
    section: "3.2",
    whose: Whose::Tool,
    demands: "The output is a list of `{name, type, value}` with names and types of the descriptor.",
    tried: "a capability is called with the caller's arguments; the output's JSON is looked at",
};

/// Broken requests do not end it.
pub const SURVIVES: Must = Must {
    name: "survives-broken-requests",
    section: "",
    whose: Whose::Tool,
    demands: "A request that is no JSON does not end the tool.",
    tried: "after one, a capability that does not exist is asked for; there is an answer",
};

/// What the tool may be made to do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Care {
    /// The capabilities that may be called, each with arguments that do no harm; none for one that takes nothing is an empty object. They
    /// are called several times.
    pub calls: BTreeMap<String, Values>,
}

/// A request, and what is looked for in its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// What it tries.
    pub must: Must,
    /// What is done, in words; of a capability, with its id.
    pub what: String,
    /// The request's id; empty where it has none that could be answered.
    pub id: String,
    /// What is sent.
    pub extras: Extras,
    /// What is looked for.
    expect: Expect,
}

#[derive(Debug, Clone, PartialEq)]
enum Expect {
    /// Whatever comes, or nothing.
    Nothing,
    AnyAnswer,
    SameId,
    Failure,
    SuccessOf(String),
    Schema(String),
    Output(Box<Capability>),
}

/// What is to be sent to a tool, in order, and what cannot be tried.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// To be sent one after another.
    pub probes: Vec<Probe>,
    /// What is not tried and why, in words.
    pub untried: Vec<(Must, String)>,
}

/// What came of a probe, or of what could not be tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What was tried.
    pub must: Must,
    /// What was done, in words; empty where it was not tried.
    pub what: String,
    /// What came of it.
    pub verdict: Verdict,
}

/// The most capabilities that are each asked without their required arguments.
const MOST_ASKED: usize = 16;

/// Plans the requests to a tool with this descriptor. `next_id` makes ids: each must be new.
pub fn plan(descriptor: &Descriptor, care: &Care, next_id: &mut dyn FnMut() -> String) -> Plan {
    let mut planned = Planned { plan: Plan::default(), next_id };
    let stranger = stranger(descriptor);
    let asks = format!("asks for `{stranger}`, which it does not have");
    for (must, expect) in [
        (EXTRACTED, Expect::AnyAnswer),
        (ID, Expect::SameId),
        (ID, Expect::SameId),
        (CAPABILITY, Expect::Failure),
        (RESPONSE, Expect::Schema(stranger.clone())),
    ] {
        planned.probe(must, asks.clone(), &stranger, &Values::new(), expect);
    }
    let mut asked =
        descriptor.capabilities.iter().filter(|one| one.input.iter().any(|param| param.required));
    let mut any = false;
    for capability in asked.by_ref().take(MOST_ASKED) {
        any = true;
        let what = format!("calls `{}` without arguments", shown(&capability.id));
        planned.probe(REQUIRED, what, &capability.id, &Values::new(), Expect::Failure);
    }
    if !any {
        planned.untried(REQUIRED, "no capability has required parameters");
    }
    acting(descriptor, care, &mut planned);
    let garbage =
        Extras::from([("mobile-mcp-request".to_owned(), "{\"mobile-mcp-request\":".to_owned())]);
    let what = "sends half a JSON object".to_owned();
    planned.plan.probes.push(Probe {
        must: SURVIVES,
        what,
        id: String::new(),
        extras: garbage,
        expect: Expect::Nothing,
    });
    planned.probe(SURVIVES, asks, &stranger, &Values::new(), Expect::AnyAnswer);
    planned.plan
}

/// The probes that make a tool act.
fn acting(descriptor: &Descriptor, care: &Care, planned: &mut Planned<'_>) {
    let allowed =
        descriptor.capabilities.iter().filter_map(|one| Some((one, care.calls.get(&one.id)?)));
    let calls: Vec<_> = allowed.collect();
    let mut mistyped = false;
    for (capability, arguments) in &calls {
        let id = shown(&capability.id);
        if let Some(refusal) = capability.refusal(arguments) {
            planned
                .untried(INVOKED, &format!("the arguments given for `{id}` do not fit: {refusal}"));
            continue;
        }
        let what = format!("calls `{id}`");
        planned.probe(
            INVOKED,
            what.clone(),
            &capability.id,
            arguments,
            Expect::SuccessOf(capability.id.clone()),
        );
        let expect = Expect::Output(Box::new((*capability).clone()));
        planned.probe(OUTPUT, what, &capability.id, arguments, expect);
        let what = format!("calls `{id}` in version 9.9");
        planned.probe(VERSION, what, &capability.id, arguments, Expect::Failure);
        if let Some(probe) = planned.plan.probes.last_mut() {
            for text in probe.extras.values_mut() {
                *text = text.replacen(
                    &format!("\"version\":\"{}\"", crate::VERSION),
                    "\"version\":\"9.9\"",
                    1,
                );
            }
        }
        if let Some((name, arguments)) = mistyping(capability, arguments) {
            mistyped = true;
            let what = format!("calls `{id}` with another type for `{}`", shown(&name));
            planned.probe(TYPES, what, &capability.id, &arguments, Expect::Failure);
        }
    }
    if calls.is_empty() {
        for must in [INVOKED, OUTPUT, VERSION, TYPES] {
            planned.untried(must, "needs a capability that may be called, with arguments for it");
        }
    } else if !mistyped {
        planned.untried(TYPES, "no capability that may be called has parameters");
    }
}

/// The arguments with one of another type: a list where there is to be a word, a word where there is to be anything else.
fn mistyping(capability: &Capability, arguments: &Values) -> Option<(String, Values)> {
    let param = capability.input.iter().find(|param| Kind::of(&param.written).is_some())?;
    let wrong = match param.kind {
        Kind::String => json!(["thumbwire"]),
        Kind::Boolean | Kind::Integer | Kind::Number => json!("thumbwire"),
    };
    let mut arguments = arguments.clone();
    arguments.insert(param.name.clone(), wrong);
    Some((param.name.clone(), arguments))
}

/// An id that no capability of the tool has.
fn stranger(descriptor: &Descriptor) -> String {
    let mut id = "thumbwire_no_such_capability".to_owned();
    while descriptor.capability(&id).is_some() {
        id.push('_');
    }
    id
}

struct Planned<'a> {
    plan: Plan,
    next_id: &'a mut dyn FnMut() -> String,
}

impl Planned<'_> {
    fn probe(
        &mut self,
        must: Must,
        what: String,
        capability: &str,
        arguments: &Values,
        expect: Expect,
    ) {
        let id = (self.next_id)();
        let request =
            Request { id: id.clone(), capability: capability.into(), arguments: arguments.clone() };
        // The specification's JSON and nothing beside it: other dialects would hide that a tool does not know this one.
        let extras =
            Extras::from([("mobile-mcp-request".to_owned(), request.to_json().to_string())]);
        self.plan.probes.push(Probe { must, what, id, extras, expect });
    }

    fn untried(&mut self, must: Must, why: &str) {
        self.plan.untried.push((must, why.to_owned()));
    }
}

/// Judges what came back to a probe: `None` where nothing came in time.
pub fn judge(probe: &Probe, answer: Option<&Extras>) -> Verdict {
    let read = match (answer, &probe.expect) {
        (_, Expect::Nothing) => return Verdict::Kept,
        (None, Expect::AnyAnswer) => return Verdict::Broken("there was no answer".into()),
        (None, _) => return Verdict::Silent,
        (Some(_), Expect::AnyAnswer) => return Verdict::Kept,
        (Some(answer), Expect::Schema(capability)) => {
            return verdict(form::schema(answer, capability));
        }
        (Some(answer), _) => Response::read(answer, &Keys::default()),
    };
    let (read, answer) = match (read, answer) {
        (Ok(read), Some(answer)) => (read, answer),
        // That an answer can be read is what `response-schema` is about.
        _ => return Verdict::Silent,
    };
    let said = || format!("{}: {}", read.status.name(), harmless(&read.message, 120));
    match &probe.expect {
        Expect::SameId if read.id != probe.id => {
            Verdict::Broken(format!("the id was `{}` instead of `{}`", shown(&read.id), probe.id))
        }
        Expect::Failure if read.status == Status::Success => Verdict::Broken(said()),
        Expect::SuccessOf(_) if read.status == Status::Failure => Verdict::Broken(said()),
        Expect::SuccessOf(id) if read.capability != *id => Verdict::Broken(format!(
            "the capability was `{}` instead of `{}`",
            shown(&read.capability),
            shown(id)
        )),
        // What a failure gives says nothing of what a success would; that it fails is `capability-invoked`.
        Expect::Output(_) if read.status == Status::Failure => Verdict::Silent,
        Expect::Output(capability) => verdict(form::output(answer, capability)),
        _ => Verdict::Kept,
    }
}

fn verdict(held: Result<(), String>) -> Verdict {
    held.map_or_else(Verdict::Broken, |()| Verdict::Kept)
}

/// A plan being carried out, one probe after another. A tool that does not answer the first is asked no more: each would cost a time-out.
#[derive(Debug)]
pub struct Run {
    /// What is left, the next one last.
    left: Vec<Probe>,
    untried: Vec<(Must, String)>,
    judged: Vec<Judged>,
    is_silent: bool,
}

impl Run {
    /// Begins.
    pub fn new(mut plan: Plan) -> Self {
        plan.probes.reverse();
        Self { left: plan.probes, untried: plan.untried, judged: Vec::new(), is_silent: false }
    }

    /// What is to be sent now; `None` when all is done.
    pub fn next(&self) -> Option<&Probe> {
        self.left.last().filter(|_| !self.is_silent)
    }

    /// What came back to it: `None` where nothing came in time.
    pub fn heard(&mut self, answer: Option<&Extras>) {
        let Some(probe) = self.left.pop() else { return };
        let verdict = judge(&probe, answer);
        self.is_silent |= probe.must == EXTRACTED && answer.is_none();
        self.judged.push(Judged { must: probe.must, what: probe.what, verdict });
    }

    /// What came of all of it; what was not sent any more is [`Verdict::Silent`].
    pub fn finish(mut self) -> Vec<Judged> {
        while let Some(Probe { must, what, .. }) = self.left.pop() {
            self.judged.push(Judged { must, what, verdict: Verdict::Silent });
        }
        self.judged.extend(self.untried.into_iter().map(|(must, why)| Judged {
            must,
            what: String::new(),
            verdict: Verdict::Untried(why),
        }));
        self.judged
    }
}

/// Runs the suite against a tool that answers at once.
pub fn run(plan: Plan, tool: &mut dyn FnMut(&Extras) -> Option<Extras>) -> Vec<Judged> {
    let mut run = Run::new(plan);
    while let Some(probe) = run.next() {
        let answer = tool(&probe.extras);
        run.heard(answer.as_ref());
    }
    run.finish()
}

fn shown(words: &str) -> String {
    harmless(words, 60)
}
