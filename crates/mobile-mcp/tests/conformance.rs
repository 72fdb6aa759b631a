//! The suite holds for what is right, and each thing that can be done wrong fails exactly what it is about.

mod common;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use common::{ClockIn, object};
use serde_json::{Value, json};
use thumbwire_mobile_mcp::conformance::agents::{self, Correlates, Sent};
use thumbwire_mobile_mcp::conformance::files::{self, Given};
use thumbwire_mobile_mcp::conformance::probes::{self, Care, Judged, Run};
use thumbwire_mobile_mcp::conformance::{self, MUSTS, Verdict, Whose};
use thumbwire_mobile_mcp::{
    Dispatcher, Extras, Finding, Keys, Mode, Pending, Place, Request, Response, Rule,
};

#[test]
fn each_must_has_its_row() {
    insta::assert_snapshot!("musts", conformance::table());
}

// Files.

fn reported(given: &Given) -> Vec<Rule> {
    given.check().iter().map(|finding| finding.rule).collect()
}

#[test]
fn each_must_of_files_has_a_case_for_and_a_case_against_and_we_see_them_right() {
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
            reported(&case.given).into_iter().filter(|rule| rule.is_fatal(Mode::Strict)).collect();
        let expected = if case.broken { BTreeSet::from([case.rule]) } else { BTreeSet::new() };
        assert_eq!(fatal, expected, "{}: {}", case.rule.name(), case.what);
        assert!(case.is_right(&reported(&case.given)));
    }
}

#[test]
fn a_checker_that_misses_a_rule_fails_the_cases_of_that_rule_alone() {
    for must in conformance::of_files() {
        let blind = |given: &Given| -> Vec<Rule> {
            reported(given).into_iter().filter(|rule| rule.name() != must.name).collect()
        };
        let failed: BTreeSet<&str> = files::cases()
            .iter()
            .filter(|case| !case.is_right(&blind(&case.given)))
            .map(|case| case.rule.name())
            .collect();
        assert_eq!(failed, BTreeSet::from([must.name]));
    }
}

#[test]
fn an_app_is_judged_by_what_was_found_in_its_files() {
    let found = |rule, line| Finding { rule, place: Place { line, column: 1 }, says: "so".into() };
    let judged = files::judge(&[
        found(Rule::ToolName, 0),
        found(Rule::ParamType, 7),
        found(Rule::Unknown, 8),
    ]);
    let broken: Vec<_> = judged.iter().filter(|(_, verdict)| *verdict != Verdict::Kept).collect();
    let told: Vec<_> = broken.iter().map(|(must, verdict)| (must.name, verdict.clone())).collect();
    let says = |text: &str| Verdict::Broken(text.into());
    assert_eq!(told, [("tool-name", says("so")), ("param-type", says("line 7: so"))]);

    let judged = files::judge(&[found(Rule::WellFormed, 1)]);
    let of = |name: &str| judged.iter().find(|(must, _)| must.name == name).unwrap().1.clone();
    assert_eq!(of("tool-name"), Verdict::Kept);
    assert!(matches!((of("well-formed"), of("root")), (Verdict::Broken(_), Verdict::Untried(_))));
}

// Running tools.

type Handle = Box<dyn FnMut(&Extras) -> Option<Extras>>;

fn care() -> Care {
    let date = object(json!({ "date": "2026-02-14" }));
    Care {
        calls: BTreeMap::from([
            ("query_clock_in".into(), date),
            ("clock_in_today".into(), object(json!({}))),
        ]),
    }
}

fn judged(care: &Care, tool: &mut dyn FnMut(&Extras) -> Option<Extras>) -> Vec<Judged> {
    let mut count = 0;
    let mut next_id = || {
        count += 1;
        format!("id-{count}")
    };
    probes::run(probes::plan(&ClockIn::dispatcher().0.descriptor, care, &mut next_id), tool)
}

fn names(judged: &[Judged], which: impl Fn(&Verdict) -> bool) -> BTreeSet<&'static str> {
    judged.iter().filter(|one| which(&one.verdict)).map(|one| one.must.name).collect()
}

#[test]
fn our_own_runtime_keeps_every_must() {
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&care(), &mut |extras| tool.handle(extras));
    let all = MUSTS.iter().filter(|must| must.whose == Whose::Tool).map(|must| must.name).collect();
    assert_eq!(names(&judged, |verdict| *verdict == Verdict::Kept), all);
    assert_eq!(names(&judged, |verdict| *verdict != Verdict::Kept), BTreeSet::new(), "{judged:#?}");
    let mut calls: Vec<_> =
        tool.0.calls.iter().map(|(capability, _)| capability.as_str()).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["clock_in_today", "clock_in_today", "query_clock_in", "query_clock_in"]);
}

#[test]
fn without_leave_a_tool_is_made_to_do_nothing() {
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&Care::default(), &mut |extras| tool.handle(extras));
    assert_eq!(tool.0.calls, []);
    let untried = names(&judged, |verdict| matches!(verdict, Verdict::Untried(_)));
    let acting = ["capability-invoked", "output-schema", "types-validated", "version-validated"];
    assert_eq!(untried, BTreeSet::from(acting));
    assert_eq!(
        names(&judged, |verdict| matches!(verdict, Verdict::Broken(_) | Verdict::Silent)),
        BTreeSet::new()
    );
}

#[test]
fn arguments_that_do_not_fit_are_not_sent() {
    let care =
        Care { calls: BTreeMap::from([("query_clock_in".into(), object(json!({ "date": 5 })))]) };
    let mut tool = ClockIn::dispatcher();
    let judged = judged(&care, &mut |extras| tool.handle(extras));
    assert_eq!(tool.0.calls, []);
    let says = judged.iter().find_map(|one| match &one.verdict {
        Verdict::Untried(why) if why.contains("do not fit") => Some(why.clone()),
        _ => None,
    });
    assert!(says.unwrap().contains("`date` must be of the type string"));
}

/// Our runtime behind something that changes what goes in or comes out.
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

/// A runtime for each thing that can be done wrong, with the one MUST that it breaks.
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
            "does not look at the version",
            "version-validated",
            behind(|value, is_request| {
                if is_request {
                    value["mobile-mcp-request"]["version"] = "1.0".into();
                }
            }),
        ),
        (
            "answers with an id of its own",
            "id-repeated",
            behind(|value, is_request| {
                if !is_request {
                    response(value)["id"] = "mine".into();
                }
            }),
        ),
        (
            "does whatever it is asked for",
            "capability-verified",
            behind(|value, is_request| {
                let id = &response(value)["capability"]["id"];
                if !is_request && id.as_str().is_some_and(|id| id.starts_with("thumbwire")) {
                    response(value)["status"] = "success".into();
                }
            }),
        ),
        (
            "guesses what is missing",
            "required-validated",
            behind(|value, is_request| {
                if is_request
                    && request(value)["capability"]["id"] != "clock_in_today"
                    && request(value)["capability"]["args"] == json!({})
                {
                    request(value)["capability"]["args"] = json!({ "date": "today" });
                    // The one that our tool refuses whatever it gets.
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
            "refuses what is valid",
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
            "answers as the samples do",
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
            "leaves the version of the answer out",
            "response-schema",
            behind(|value, is_request| {
                if !is_request {
                    value["mobile-mcp-response"]["version"].take();
                }
            }),
        ),
        (
            "calls a failure an error",
            "response-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["status"] == "failure" {
                    response(value)["status"] = "error".into();
                }
            }),
        ),
        (
            "leaves the capability of a failure out",
            "response-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["status"] == "failure" {
                    response(value)["capability"].take();
                }
            }),
        ),
        (
            "gives an object",
            "output-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["capability"]["output"][0].is_object() {
                    response(value)["capability"]["output"] = json!({ "date": "d" });
                }
            }),
        ),
        (
            "gives a boolean in quotes",
            "output-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["capability"]["output"][1].is_object() {
                    response(value)["capability"]["output"][1]["value"] = "true".into();
                }
            }),
        ),
        (
            "names no types",
            "output-schema",
            behind(|value, is_request| {
                if !is_request && response(value)["capability"]["output"][1].is_object() {
                    response(value)["capability"]["output"][1]["type"].take();
                }
            }),
        ),
        (
            "ends at a request that is no JSON",
            "survives-broken-requests",
            Box::new(move |extras| {
                dead |= serde_json::from_str::<Value>(extras.get("mobile-mcp-request")?).is_err();
                if dead { None } else { mortal.handle(extras) }
            }),
        ),
    ]
}

#[test]
fn each_broken_runtime_fails_exactly_what_it_breaks() {
    let mut broken = BTreeSet::new();
    for (what, must, mut handle) in broken_runtimes() {
        let judged = judged(&care(), &mut handle);
        let failed = names(&judged, |verdict| matches!(verdict, Verdict::Broken(_)));
        assert_eq!(failed, BTreeSet::from([must]), "{what}: {judged:#?}");
        broken.insert(must);
    }
    let all = MUSTS.iter().filter(|must| must.whose == Whose::Tool).map(|must| must.name).collect();
    assert_eq!(broken, all, "each MUST has a runtime that breaks it");
}

#[test]
fn a_tool_that_does_not_answer_is_asked_once() {
    let mut count = 0;
    let descriptor = ClockIn::dispatcher().0.descriptor;
    let mut run = Run::new(probes::plan(&descriptor, &care(), &mut || {
        count += 1;
        count.to_string()
    }));
    assert_eq!(run.next().unwrap().id, "1");
    run.heard(None);
    assert_eq!(run.next(), None);
    let judged = run.finish();
    assert!(matches!(judged[0].verdict, Verdict::Broken(_)));
    assert!(judged[1..].iter().all(|one| one.verdict == Verdict::Silent), "{judged:#?}");
}

// Agents.

fn sent() -> Sent {
    let request = Request {
        id: "r-1".into(),
        capability: "query_clock_in".into(),
        arguments: object(json!({ "date": "d" })),
    };
    Sent {
        component: Some(("com.example.clockin".into(), "com.example.clockin.ToolService".into())),
        extras: request.extras(&Keys::default()),
        callbacks: Keys::default().callback,
    }
}

fn broken_musts(sent: &Sent) -> Vec<&'static str> {
    let judged = agents::judge(sent).into_iter();
    judged.filter(|(_, verdict)| *verdict != Verdict::Kept).map(|(must, _)| must.name).collect()
}

#[test]
fn our_own_requests_keep_every_must() {
    assert_eq!(broken_musts(&sent()), [""; 0]);
    assert!(Dispatcher(ClockIn::dispatcher().0).handle(&sent().extras).is_some());
}

#[test]
fn each_broken_request_fails_exactly_what_it_breaks() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut sent = sent();
        changed(&mut sent.extras, "mobile-mcp-request", change);
        sent
    };
    let capability = |key: &'static str, value: Value| {
        with(&move |whole| request(whole)["capability"][key] = value.clone())
    };
    for broken in [
        Sent { extras: Extras::new(), ..sent() },
        Sent { extras: Extras::from([("mobile-mcp-request".into(), "{".into())]), ..sent() },
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
        assert_eq!(broken_musts(&Sent { component, ..sent() }), ["service-named"]);
    }
    assert_eq!(broken_musts(&Sent { callbacks: vec![], ..sent() }), ["callback-provided"]);
}

#[test]
fn an_agent_that_finds_something_else_than_what_is_installed_fails_exactly_that() {
    let tool = |package: &str| agents::Found {
        package: package.into(),
        service: format!("{package}.ToolService"),
        name: "Clock-in".into(),
        description: "Keeps a day's attendance.".into(),
        capabilities: vec!["clock_in_today".into(), "query_clock_in".into()],
    };
    let installed = [tool("a"), tool("b")];
    let broken = |found: &[agents::Found]| -> Vec<&str> {
        let judged = agents::judge_discovery(&installed, found).into_iter();
        judged.filter(|(_, verdict)| *verdict != Verdict::Kept).map(|(must, _)| must.name).collect()
    };
    assert_eq!(broken(&[tool("b"), tool("a")]), [""; 0]);
    for found in [vec![], vec![tool("a")], vec![tool("a"), tool("b"), tool("c")]] {
        assert_eq!(broken(&found), ["tools-discovered"]);
    }
    let other_class = agents::Found { service: "b.Other".into(), ..tool("b") };
    assert_eq!(broken(&[tool("a"), other_class]), ["tools-discovered"]);
    let nameless = agents::Found { name: "@0x7f010001".into(), ..tool("b") };
    assert_eq!(broken(&[tool("a"), nameless]), ["metadata-retrieved"]);
    let empty = agents::Found { capabilities: vec![], ..tool("b") };
    assert_eq!(broken(&[tool("a"), empty]), ["descriptor-loaded"]);
}

/// Takes answers in the order of the requests.
#[derive(Default)]
struct InOrder(VecDeque<String>);

impl Correlates for InOrder {
    fn sent(&mut self, id: &str, _capability: &str) {
        self.0.push_back(id.to_owned());
    }

    fn heard(&mut self, _answer: Response) -> Option<String> {
        self.0.pop_front()
    }
}

/// Knows its ids and forgets that they were answered.
#[derive(Default)]
struct Forgetful(BTreeSet<String>);

impl Correlates for Forgetful {
    fn sent(&mut self, id: &str, _capability: &str) {
        self.0.insert(id.to_owned());
    }

    fn heard(&mut self, answer: Response) -> Option<String> {
        self.0.get(&answer.id).cloned()
    }
}

#[test]
fn our_own_agent_knows_its_answers_apart_and_broken_ones_do_not() {
    assert_eq!(agents::judge_correlation(&mut Pending::default()).1, Verdict::Kept);
    assert!(matches!(agents::judge_correlation(&mut InOrder::default()).1, Verdict::Broken(_)));
    assert!(matches!(agents::judge_correlation(&mut Forgetful::default()).1, Verdict::Broken(_)));
}
