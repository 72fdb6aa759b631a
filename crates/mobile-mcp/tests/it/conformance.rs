//! The suite passes correct implementations, and each kind of mistake fails exactly its own test.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::common::{ClockIn, object};
use serde_json::{Value, json};
use thumbwire_mobile_mcp::conformance::agents::{self, Correlator, SentIntent};
use thumbwire_mobile_mcp::conformance::files::{self, CaseInput};
use thumbwire_mobile_mcp::conformance::probes::{self, ProbeOptions, ProbeResult, Run};
use thumbwire_mobile_mcp::conformance::{self, MUSTS, Party, Verdict};
use thumbwire_mobile_mcp::{
    Dispatcher, ExtraKeys, Extras, Finding, Mode, PendingRequests, Request, Response, Rule,
    SourcePosition,
};

#[test]
fn every_must_has_a_table_row() {
    insta::assert_snapshot!("musts", conformance::table());
}

// Files.

fn reported(input: &CaseInput) -> Vec<Rule> {
    input.check().iter().map(|finding| finding.rule).collect()
}

#[test]
fn every_file_must_has_passing_and_failing_cases() {
    let cases = files::cases();
    for must in conformance::of_files() {
        for broken in [false, true] {
            let is_there =
                |case: &files::Case| case.rule.name() == must.name && case.broken == broken;
            assert!(cases.iter().any(is_there), "{} {broken}", must.name);
        }
    }
    for case in cases {
        let fatal: BTreeSet<Rule> =
            reported(&case.input).into_iter().filter(|rule| rule.is_fatal(Mode::Strict)).collect();
        let expected = if case.broken { BTreeSet::from([case.rule]) } else { BTreeSet::new() };
        assert_eq!(fatal, expected, "{}: {}", case.rule.name(), case.what);
        assert!(case.matches(&reported(&case.input)));
    }
}

#[test]
fn checker_that_misses_a_rule_fails_only_its_cases() {
    for must in conformance::of_files() {
        let blind = |input: &CaseInput| -> Vec<Rule> {
            reported(input).into_iter().filter(|rule| rule.name() != must.name).collect()
        };
        let failed: BTreeSet<&str> = files::cases()
            .iter()
            .filter(|case| !case.matches(&blind(&case.input)))
            .map(|case| case.rule.name())
            .collect();
        assert_eq!(failed, BTreeSet::from([must.name]));
    }
}

#[test]
fn findings_in_an_apps_files_decide_its_verdicts() {
    let found = |rule, line| Finding {
        rule,
        position: SourcePosition { line, column: 1 },
        message: "so".into(),
    };
    let judged = files::judge(&[
        found(Rule::ToolName, 0),
        found(Rule::ParamType, 7),
        found(Rule::Unknown, 8),
    ]);
    let broken: Vec<_> = judged.iter().filter(|(_, verdict)| *verdict != Verdict::Met).collect();
    let out: Vec<_> = broken.iter().map(|(must, verdict)| (must.name, verdict.clone())).collect();
    let says = |text: &str| Verdict::Violated(text.into());
    assert_eq!(out, [("tool-name", says("so")), ("param-type", says("line 7: so"))]);

    let judged = files::judge(&[found(Rule::WellFormed, 1)]);
    let of = |name: &str| judged.iter().find(|(must, _)| must.name == name).unwrap().1.clone();
    assert_eq!(of("tool-name"), Verdict::Met);
    assert!(matches!(
        (of("well-formed"), of("root")),
        (Verdict::Violated(_), Verdict::NotTested(_))
    ));
}

// Running tools.

type Handle = Box<dyn FnMut(&Extras) -> Option<Extras>>;

fn care() -> ProbeOptions {
    let date = object(json!({ "date": "2026-02-14" }));
    ProbeOptions {
        calls: BTreeMap::from([
            ("query_clock_in".into(), date),
            ("clock_in_today".into(), object(json!({}))),
        ]),
    }
}

fn judged(
    care: &ProbeOptions,
    tool: &mut dyn FnMut(&Extras) -> Option<Extras>,
) -> Vec<ProbeResult> {
    let mut count = 0;
    let mut next_id = || {
        count += 1;
        format!("id-{count}")
    };
    probes::run(probes::plan(&ClockIn::dispatcher().0.descriptor, care, &mut next_id), tool)
}

fn names(judged: &[ProbeResult], which: impl Fn(&Verdict) -> bool) -> BTreeSet<&'static str> {
    judged.iter().filter(|one| which(&one.verdict)).map(|one| one.must.name).collect()
}

#[test]
fn our_runtime_keeps_every_must() {
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&care(), &mut |extras| tool.handle(extras));
    let all = MUSTS.iter().filter(|must| must.party == Party::Tool).map(|must| must.name).collect();
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
    let care = ProbeOptions {
        calls: BTreeMap::from([("query_clock_in".into(), object(json!({ "date": 5 })))]),
    };
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&care, &mut |extras| tool.handle(extras));
    assert_eq!(tool.0.calls, []);
    let says = judged.iter().find_map(|one| match &one.verdict {
        Verdict::NotTested(why) if why.contains("do not match") => Some(why.clone()),
        _ => None,
    });
    assert!(says.unwrap().contains("`date` must be of type string"));
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
        let judged = judged(&care(), &mut handle);
        let failed = names(&judged, |verdict| matches!(verdict, Verdict::Violated(_)));
        assert_eq!(failed, BTreeSet::from([must]), "{what}: {judged:#?}");
        broken.insert(must);
    }
    let all = MUSTS.iter().filter(|must| must.party == Party::Tool).map(|must| must.name).collect();
    assert_eq!(broken, all, "every MUST has a runtime that breaks it");
}

#[test]
fn silent_tool_is_probed_once() {
    let mut count = 0;
    let descriptor = ClockIn::dispatcher().0.descriptor;
    let mut run = Run::new(probes::plan(&descriptor, &care(), &mut || {
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

// Agents.

fn sent() -> SentIntent {
    let request = Request {
        id: "r-1".into(),
        capability: "query_clock_in".into(),
        arguments: object(json!({ "date": "d" })),
    };
    SentIntent {
        component: Some(("com.example.clockin".into(), "com.example.clockin.ToolService".into())),
        extras: request.extras(&ExtraKeys::default()),
        callbacks: ExtraKeys::default().callback,
    }
}

fn broken_musts(sent: &SentIntent) -> Vec<&'static str> {
    let judged = agents::judge(sent).into_iter();
    judged.filter(|(_, verdict)| *verdict != Verdict::Met).map(|(must, _)| must.name).collect()
}

#[test]
fn our_requests_keep_every_must() {
    assert_eq!(broken_musts(&sent()), [""; 0]);
    assert!(Dispatcher(ClockIn::dispatcher().0).handle(&sent().extras).is_some());
}

#[test]
fn each_broken_request_fails_exactly_one_must() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut sent = sent();
        changed(&mut sent.extras, "mobile-mcp-request", change);
        sent
    };
    let capability = |key: &'static str, value: Value| {
        with(&move |whole| request(whole)["capability"][key] = value.clone())
    };
    for broken in [
        SentIntent { extras: Extras::new(), ..sent() },
        SentIntent { extras: Extras::from([("mobile-mcp-request".into(), "{".into())]), ..sent() },
        with(&|whole| *whole = json!({ "version": "1.0" })),
        with(&|whole| whole["mobile-mcp-request"]["version"] = "2.0".into()),
        with(&|whole| whole["mobile-mcp-request"]["version"] = 1.0.into()),
        with(&|whole| {
            whole["mobile-mcp-request"]["request"].take();
        }),
        with(&|whole| request(whole)["id"] = "".into()),
        capability("id", json!(5)),
        capability("args", json!([])),
    ] {
        assert_eq!(broken_musts(&broken), ["request-schema"], "{broken:?}");
    }
    for component in
        [None, Some((String::new(), "a.B".to_owned())), Some(("a".to_owned(), String::new()))]
    {
        assert_eq!(broken_musts(&SentIntent { component, ..sent() }), ["service-named"]);
    }
    assert_eq!(broken_musts(&SentIntent { callbacks: vec![], ..sent() }), ["callback-provided"]);
}

#[test]
fn wrong_discovery_fails_exactly_its_must() {
    let tool = |package: &str| agents::DiscoveredTool {
        package: package.into(),
        service: format!("{package}.ToolService"),
        name: "Clock-in".into(),
        description: "Keeps a day's attendance.".into(),
        capabilities: vec!["clock_in_today".into(), "query_clock_in".into()],
    };
    let installed = [tool("a"), tool("b")];
    let broken = |found: &[agents::DiscoveredTool]| -> Vec<&str> {
        let judged = agents::judge_discovery(&installed, found).into_iter();
        judged.filter(|(_, verdict)| *verdict != Verdict::Met).map(|(must, _)| must.name).collect()
    };
    assert_eq!(broken(&[tool("b"), tool("a")]), [""; 0]);
    for found in [vec![], vec![tool("a")], vec![tool("a"), tool("b"), tool("c")]] {
        assert_eq!(broken(&found), ["tools-discovered"]);
    }
    let other_class = agents::DiscoveredTool { service: "b.Other".into(), ..tool("b") };
    assert_eq!(broken(&[tool("a"), other_class]), ["tools-discovered"]);
    let nameless = agents::DiscoveredTool { name: "@0x7f010001".into(), ..tool("b") };
    assert_eq!(broken(&[tool("a"), nameless]), ["metadata-retrieved"]);
    let empty = agents::DiscoveredTool { capabilities: vec![], ..tool("b") };
    assert_eq!(broken(&[tool("a"), empty]), ["descriptor-loaded"]);
}

/// Assigns responses in the order of the requests.
#[derive(Default)]
struct InOrder(VecDeque<String>);

impl Correlator for InOrder {
    fn sent(&mut self, id: &str, _capability: &str) {
        self.0.push_back(id.to_owned());
    }

    fn on_response(&mut self, _answer: Response) -> Option<String> {
        self.0.pop_front()
    }
}

/// Knows its ids but forgets which were answered.
#[derive(Default)]
struct Forgetful(BTreeSet<String>);

impl Correlator for Forgetful {
    fn sent(&mut self, id: &str, _capability: &str) {
        self.0.insert(id.to_owned());
    }

    fn on_response(&mut self, response: Response) -> Option<String> {
        self.0.get(&response.id).cloned()
    }
}

#[test]
fn our_agent_correlates_responses_and_broken_ones_fail() {
    assert_eq!(agents::judge_correlation(&mut PendingRequests::default()).1, Verdict::Met);
    assert!(matches!(agents::judge_correlation(&mut InOrder::default()).1, Verdict::Violated(_)));
    assert!(matches!(agents::judge_correlation(&mut Forgetful::default()).1, Verdict::Violated(_)));
}
