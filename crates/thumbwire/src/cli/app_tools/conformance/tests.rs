//! The suite passes a correct tool, and each kind of mistake fails exactly its own test.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use thumbwire_mobile_mcp::{
    Descriptor, Dispatcher, Extras, Finding, Output, Rule, SourcePosition, Tool, Values, descriptor,
};

use super::probes::{self, OF_TOOLS, Plan, ProbeOptions, ProbeResult, Run};
use super::requirement::{Verdict, judge_files};

/// Runs the suite against a tool that responds at once.
fn run_probes(plan: Plan, tool: &mut dyn FnMut(&Extras) -> Option<Extras>) -> Vec<ProbeResult> {
    let mut run = Run::new(plan);
    while let Some(probe) = run.next() {
        let answer = tool(&probe.extras);
        run.on_reply(answer.as_ref());
    }
    run.finish()
}

/// The tool of the specification's authors: three capabilities around a day's attendance.
const CLOCK_IN: &str = include_str!("../../../../../mobile-mcp/tests/it/clock_in.xml");

struct ClockIn {
    descriptor: Descriptor,
    calls: Vec<(String, Values)>,
}

impl ClockIn {
    fn dispatcher() -> Dispatcher<Self> {
        let reading = descriptor::read(CLOCK_IN);
        assert_eq!(reading.findings, []);
        Dispatcher(Self { descriptor: reading.descriptor, calls: Vec::new() })
    }
}

impl Tool for ClockIn {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn call(&mut self, capability: &str, arguments: &Values) -> Result<Output, String> {
        self.calls.push((capability.to_owned(), arguments.clone()));
        match (capability, arguments.get("date")) {
            ("clock_in_today", _) => {
                Ok(Output { message: "Clock in successfully!".into(), ..Output::default() })
            }
            ("query_clock_in", Some(date)) => Ok(Output {
                values: object(json!({ "date": date, "has_clocked_in": true })),
                message: "Has clocked in.".into(),
            }),
            _ => Err("The book is closed.".into()),
        }
    }
}

fn object(value: Value) -> Values {
    match value {
        Value::Object(values) => values,
        other => panic!("{other} is no object"),
    }
}

#[test]
fn findings_in_an_apps_files_decide_its_verdicts() {
    let found = |rule, line| Finding {
        rule,
        position: SourcePosition { line, column: 1 },
        message: "so".into(),
    };
    let judged = judge_files(&[
        found(Rule::ToolName, 0),
        found(Rule::ParamType, 7),
        found(Rule::Unknown, 8),
    ]);
    let broken: Vec<_> = judged.iter().filter(|(_, verdict)| *verdict != Verdict::Met).collect();
    let out: Vec<_> = broken.iter().map(|(must, verdict)| (must.name, verdict.clone())).collect();
    let reason = |text: &str| Verdict::Violated(text.into());
    assert_eq!(out, [("tool-name", reason("so")), ("param-type", reason("line 7: so"))]);

    let judged = judge_files(&[found(Rule::WellFormed, 1)]);
    let of = |name: &str| judged.iter().find(|(must, _)| must.name == name).unwrap().1.clone();
    assert_eq!(of("tool-name"), Verdict::Met);
    assert!(matches!(
        (of("well-formed"), of("root")),
        (Verdict::Violated(_), Verdict::NotTested(_))
    ));
}

// Running tools.

type Handle = Box<dyn FnMut(&Extras) -> Option<Extras>>;

fn options() -> ProbeOptions {
    let date = object(json!({ "date": "2026-02-14" }));
    ProbeOptions {
        calls: BTreeMap::from([
            ("query_clock_in".into(), date),
            ("clock_in_today".into(), object(json!({}))),
        ]),
    }
}

fn judged(
    options: &ProbeOptions,
    tool: &mut dyn FnMut(&Extras) -> Option<Extras>,
) -> Vec<ProbeResult> {
    let mut count = 0;
    let mut next_id = || {
        count += 1;
        format!("id-{count}")
    };
    run_probes(probes::plan(&ClockIn::dispatcher().0.descriptor, options, &mut next_id), tool)
}

fn names(judged: &[ProbeResult], which: impl Fn(&Verdict) -> bool) -> BTreeSet<&'static str> {
    judged.iter().filter(|one| which(&one.verdict)).map(|one| one.must.name).collect()
}

#[test]
fn our_runtime_keeps_every_must() {
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&options(), &mut |extras| tool.handle(extras));
    let all = OF_TOOLS.iter().map(|must| must.name).collect();
    assert_eq!(names(&judged, |verdict| *verdict == Verdict::Met), all);
    assert_eq!(names(&judged, |verdict| *verdict != Verdict::Met), BTreeSet::new(), "{judged:#?}");
    let mut calls: Vec<_> =
        tool.0.calls.iter().map(|(capability, _)| capability.as_str()).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["clock_in_today", "clock_in_today", "query_clock_in", "query_clock_in"]);
}

#[test]
fn tool_does_nothing_without_permission() {
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&ProbeOptions::default(), &mut |extras| tool.handle(extras));
    assert_eq!(tool.0.calls, []);
    let untried = names(&judged, |verdict| matches!(verdict, Verdict::NotTested(_)));
    let acting = ["capability-invoked", "output-schema", "types-validated", "version-validated"];
    assert_eq!(untried, BTreeSet::from(acting));
    assert_eq!(
        names(&judged, |verdict| matches!(verdict, Verdict::Violated(_) | Verdict::NoReply)),
        BTreeSet::new()
    );
}

#[test]
fn mismatched_arguments_are_not_sent() {
    let options = ProbeOptions {
        calls: BTreeMap::from([("query_clock_in".into(), object(json!({ "date": 5 })))]),
    };
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&options, &mut |extras| tool.handle(extras));
    assert_eq!(tool.0.calls, []);
    let reason = judged.iter().find_map(|one| match &one.verdict {
        Verdict::NotTested(reason) if reason.contains("do not match") => Some(reason.clone()),
        _ => None,
    });
    assert!(reason.unwrap().contains("`date` must be of type string"));
}

/// Our runtime behind a filter that changes its input or output.
fn behind(change: impl Fn(&mut Value, bool) + 'static) -> Handle {
    let mut tool = ClockIn::dispatcher();
    Box::new(move |extras| {
        let mut extras = extras.clone();
        changed(&mut extras, "mobile-mcp-request", |value| change(value, true));
        let mut answer = tool.handle(&extras)?;
        changed(&mut answer, "mobile-mcp-response", |value| change(value, false));
        Some(answer)
    })
}

fn changed(extras: &mut Extras, key: &str, change: impl Fn(&mut Value)) {
    if let Some(text) = extras.get_mut(key)
        && let Ok(mut value) = serde_json::from_str(text)
    {
        change(&mut value);
        *text = value.to_string();
    }
}

fn response(value: &mut Value) -> &mut Value {
    &mut value["mobile-mcp-response"]["response"]
}

fn request(value: &mut Value) -> &mut Value {
    &mut value["mobile-mcp-request"]["request"]
}

/// A runtime for each possible mistake, with the one MUST that it violates.
fn broken_runtimes() -> Vec<(&'static str, &'static str, Handle)> {
    let mut other_key = ClockIn::dispatcher();
    let mut mortal = ClockIn::dispatcher();
    let mut dead = false;
    let mut bare = ClockIn::dispatcher();
    vec![
        (
            "reads another extra",
            "request-extracted",
            Box::new(move |extras| {
                other_key
                    .handle(&Extras::from([("request".into(), extras.get("request")?.clone())]))
            }),
        ),
        (
            "ignores the version",
            "version-validated",
            behind(|value, is_request| {
                if is_request {
                    value["mobile-mcp-request"]["version"] = "1.0".into();
                }
            }),
        ),
        (
            "answers with another id",
            "id-repeated",
            behind(|value, is_request| {
                if !is_request {
                    response(value)["id"] = "mine".into();
                }
            }),
        ),
        (
            "accepts any capability",
            "capability-verified",
            behind(|value, is_request| {
                let id = &response(value)["capability"]["id"];
                if !is_request && id.as_str().is_some_and(|id| id.starts_with("thumbwire")) {
                    response(value)["status"] = "success".into();
                }
            }),
        ),
        (
            "makes up missing arguments",
            "required-validated",
            behind(|value, is_request| {
                if is_request
                    && request(value)["capability"]["id"] != "clock_in_today"
                    && request(value)["capability"]["args"] == json!({})
                {
                    request(value)["capability"]["args"] = json!({ "date": "today" });
                    // The capability that our tool always refuses.
                    if request(value)["capability"]["id"] == "make_up_clock_in" {
                        request(value)["capability"]["id"] = "query_clock_in".into();
                    }
                }
            }),
        ),
        (
            "takes any type for a string",
            "types-validated",
            behind(|value, is_request| {
                if is_request && request(value)["capability"]["args"]["date"].is_array() {
                    request(value)["capability"]["args"]["date"] = "[]".into();
                }
            }),
        ),
        (
            "refuses valid requests",
            "capability-invoked",
            behind(|value, is_request| {
                if !is_request && response(value)["status"] == "success" {
                    response(value)["status"] = "failure".into();
                }
            }),
        ),
        (
            "answers for another capability",
            "capability-invoked",
            behind(|value, is_request| {
                if !is_request && response(value)["status"] == "success" {
                    response(value)["capability"]["id"] = "another".into();
                }
            }),
        ),
        (
            "answers like the samples",
            "response-schema",
            Box::new(move |extras| {
                let mut answer = bare.handle(extras)?;
                let whole: Value =
                    serde_json::from_str(&answer.remove("mobile-mcp-response")?).ok()?;
                answer.insert(
                    "response".into(),
                    whole["mobile-mcp-response"]["response"].to_string(),
                );
                Some(answer)
            }),
        ),
        (
            "omits the response version",
            "response-schema",
            behind(|value, is_request| {
                if !is_request {
                    value["mobile-mcp-response"]["version"].take();
                }
            }),
        ),
        (
            "reports a failure as an error",
            "response-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["status"] == "failure" {
                    response(value)["status"] = "error".into();
                }
            }),
        ),
        (
            "omits the capability in a failure",
            "response-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["status"] == "failure" {
                    response(value)["capability"].take();
                }
            }),
        ),
        (
            "returns an object",
            "output-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["capability"]["output"][0].is_object() {
                    response(value)["capability"]["output"] = json!({ "date": "d" });
                }
            }),
        ),
        (
            "returns a quoted boolean",
            "output-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["capability"]["output"][1].is_object() {
                    response(value)["capability"]["output"][1]["value"] = "true".into();
                }
            }),
        ),
        (
            "omits the types",
            "output-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["capability"]["output"][1].is_object() {
                    response(value)["capability"]["output"][1]["type"].take();
                }
            }),
        ),
        (
            "dies of a request that is not JSON",
            "survives-broken-requests",
            Box::new(move |extras| {
                dead |= serde_json::from_str::<Value>(extras.get("mobile-mcp-request")?).is_err();
                if dead { None } else { mortal.handle(extras) }
            }),
        ),
    ]
}

#[test]
fn each_broken_runtime_fails_exactly_one_must() {
    let mut broken = BTreeSet::new();
    for (what, must, mut handle) in broken_runtimes() {
        let judged = judged(&options(), &mut handle);
        let failed = names(&judged, |verdict| matches!(verdict, Verdict::Violated(_)));
        assert_eq!(failed, BTreeSet::from([must]), "{what}: {judged:#?}");
        broken.insert(must);
    }
    let all = OF_TOOLS.iter().map(|must| must.name).collect();
    assert_eq!(broken, all, "every MUST has a runtime that breaks it");
}

#[test]
fn silent_tool_is_probed_once() {
    let mut count = 0;
    let descriptor = ClockIn::dispatcher().0.descriptor;
    let mut run = Run::new(probes::plan(&descriptor, &options(), &mut || {
        count += 1;
        count.to_string()
    }));
    assert_eq!(run.next().unwrap().id, "1");
    run.on_reply(None);
    assert_eq!(run.next(), None);
    let judged = run.finish();
    assert!(matches!(judged[0].verdict, Verdict::Violated(_)));
    assert!(judged[1..].iter().all(|one| one.verdict == Verdict::NoReply), "{judged:#?}");
}

#[test]
fn invalid_call_flag_is_a_usage_error() {
    let written = r#"<mobile-mcp-capabilities version="1.0">
        <capability id="add_note" description="Adds a note" version="1">
            <input><param name="text" type="string" required="true" description="It" /></input>
        </capability>
    </mobile-mcp-capabilities>"#;
    let descriptor = descriptor::read(written).descriptor;
    let code = |call: &str| {
        let output = super::options(&[call.to_owned()])
            .and_then(|options| super::fits(&options, &descriptor));
        output.map_or_else(|ended| ended.code, |()| 0)
    };
    assert_eq!(code(r#"add_note={"text":"test"}"#), 0);
    for call in ["add_nte={}", "add_note={}", r#"add_note={"text":1}"#] {
        assert_eq!(code(call), 2, "{call}");
    }
}
