//! For any input: no panic, no unbounded growth, and no response reaches another request.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::common::{ClockIn, object};
use proptest::prelude::*;
use serde_json::{Value, json};
use thumbwire_base::sanitize;
use thumbwire_mobile_mcp::{
    ExtraKeys, Extras, IncomingRequest, MalformedResponse, PendingRequests, Request, Response,
    ResponseMatch, Status, Values, descriptor,
};

/// JSON of any shape, with the protocol's own names more often than by chance.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        3 => prop::sample::select(vec![
            "mobile-mcp-request", "mobile-mcp-response", "version", "request", "response", "id", "capability", "args", "input", "output",
            "name", "type", "value", "status", "message",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let word = prop_oneof![
        Just("1.0".to_owned()),
        Just("success".to_owned()),
        Just("failure".to_owned()),
        Just("query_clock_in".to_owned()),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// XML of any shape, with the protocol's own names.
fn any_xml() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "<", ">", "/>", "</", "<capability ", "</capability>", "<input>", "</input>", "<param ", "<mobile-mcp-capabilities ",
            "</mobile-mcp-capabilities>", "version=\"1.0\" ", "id='a' ", "name=\"b\" ", "type=\"string\"", "required='true' ", "&amp;",
            "&x;", "&#", "&#x0;", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE ", "<?xml ", "?>", "\"", "'", "=", "\n", "”", "é", "xmlns:a='b'", "a:b='c'",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_xml_is_handled(xml in any_xml()) {
        let reading = descriptor::read(&xml);
        prop_assert!(reading.findings.len() <= 258);
        let lines = u32::try_from(xml.lines().count().max(1)).unwrap();
        for finding in reading.findings {
            // A trailing newline adds one more line.
            prop_assert!(finding.position.line <= lines + 1, "{finding:?}");
            prop_assert!(finding.message.chars().count() < 700, "{finding:?}");
        }
    }

    #[test]
    fn any_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        prop_assert!(descriptor::read(&text).descriptor.capabilities.is_empty());
        for key in ["mobile-mcp-request", "request", "mobile-mcp-response", "response"] {
            let extras = Extras::from([(key.to_owned(), text.clone())]);
            let _ = ClockIn::dispatcher().handle(&extras);
            let _ = Response::read(&extras, &ExtraKeys::default());
        }
    }

    #[test]
    fn any_request_is_handled(whole in any_json(), bare in any::<bool>()) {
        let key = if bare { "request" } else { "mobile-mcp-request" };
        let extras = Extras::from([(key.to_owned(), whole.to_string())]);
        let asked = IncomingRequest::read(&extras, &ExtraKeys::default());
        let answer = ClockIn::dispatcher().handle(&extras);
        // Every answerable request gets a response with its id, as specified.
        prop_assert_eq!(asked.is_ok(), answer.is_some());
        if let (Ok(asked), Some(answer)) = (asked, answer) {
            let read = Response::read(&answer, &ExtraKeys::default()).unwrap();
            prop_assert!(asked.id.chars().count() > 256 || read.id == asked.id);
        }
    }

    #[test]
    fn any_response_is_handled(whole in any_json(), cut in any::<prop::sample::Index>()) {
        let text = whole.to_string();
        let cut = cut.index(text.len() + 1);
        let broken = text.get(..cut).unwrap_or_default();
        for text in [text.as_str(), broken] {
            let extras = Extras::from([("mobile-mcp-response".to_owned(), text.to_owned())]);
            match Response::read(&extras, &ExtraKeys::default()) {
                Ok(answer) => {
                    prop_assert!(!answer.id.is_empty());
                    // What was read can be written and read again.
                    let again = Extras::from([("mobile-mcp-response".to_owned(), answer.to_json().to_string())]);
                    prop_assert_eq!(Response::read(&again, &ExtraKeys::default()), Ok(answer));
                }
                Err(MalformedResponse(says)) => prop_assert!(says.chars().count() < 400, "{says}"),
            }
        }
    }

    #[test]
    fn sanitized_text_is_short_visible_and_stable(words in any::<String>(), most in 0_usize..40) {
        let shown = sanitize(&words, most);
        prop_assert!(shown.chars().count() <= most + 1);
        prop_assert!(!shown.chars().any(char::is_control));
        prop_assert_eq!(sanitize(&shown, most + 1), shown);
    }
}

/// A small seeded generator (xorshift), so that a failure can be reproduced from its number.
struct Dice(u64);

impl Dice {
    fn below(&mut self, max: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % max as u64).expect("it is below a usize")
    }
}

fn answer_to(request: &Request) -> Response {
    Response {
        id: request.id.clone(),
        capability: request.capability.clone(),
        status: Status::Success,
        message: String::new(),
        output: request.arguments.clone(),
    }
}

/// 10,000 requests with up to 200 in flight: answered in any order, once or several times, late,
/// for another capability, by strangers, broken, or never. Each request ends exactly once, by its
/// own response or by its deadline, and a response belongs to its request.
#[test]
fn ten_thousand_requests_keep_their_responses() {
    const REQUESTS: usize = 10_000;
    let limit = Duration::from_millis(400);
    for seed in [1, 7, 2026] {
        let mut dice = Dice(seed);
        let mut pending = PendingRequests::default();
        let mut now = Duration::ZERO;
        let mut made = 0;
        let mut under_way: BTreeMap<String, Request> = BTreeMap::new();
        let mut all: Vec<(Request, Duration)> = Vec::new();
        let mut answered: BTreeSet<String> = BTreeSet::new();
        let mut timed_out: BTreeSet<String> = BTreeSet::new();
        let mut late: BTreeSet<String> = BTreeSet::new();
        let mut seen = [0_usize; 6];
        while made < REQUESTS || !under_way.is_empty() {
            now += Duration::from_millis(dice.below(4) as u64);
            if made < REQUESTS && under_way.len() < 200 && dice.below(2) == 0 {
                made += 1;
                let arguments: Values = object(json!({ "n": made, "x": dice.below(1_000) }));
                let capability = format!("do_{}", dice.below(5));
                let request = Request { id: format!("{seed}-{made}"), capability, arguments };
                pending.on_sent(&request.id, &request.capability, now + limit).unwrap();
                under_way.insert(request.id.clone(), request.clone());
                all.push((request, now + limit));
            }
            for id in pending.expired(now) {
                assert!(under_way.remove(&id).is_some() && timed_out.insert(id), "each ends once");
            }
            // Mostly recent ids, so that most responses are in time; sometimes any id ever used.
            let reach = if dice.below(20) == 0 { all.len() } else { all.len().min(150) };
            if reach == 0 {
                continue;
            }
            let (request, deadline) = all[all.len() - 1 - dice.below(reach)].clone();
            let answer = match dice.below(12) {
                0 => Err(MalformedResponse("half".into())),
                1 => Ok(Response { id: "stranger".into(), ..answer_to(&request) }),
                2 => Ok(Response { capability: "else".into(), ..answer_to(&request) }),
                _ => Ok(answer_to(&request)),
            };
            match pending.on_response(now, answer.clone()) {
                ResponseMatch::Expected(heard) => {
                    assert_eq!(heard, answer_to(&request), "a response belongs to its request");
                    assert!(now <= deadline && under_way.remove(&heard.id).is_some());
                    assert!(answered.insert(heard.id), "each is answered once");
                    seen[0] += 1;
                }
                ResponseMatch::Late(heard) => {
                    assert!(timed_out.contains(&heard.id) && late.insert(heard.id));
                    seen[1] += 1;
                }
                ResponseMatch::Duplicate(heard) => {
                    assert!(answered.contains(&heard.id) || late.contains(&heard.id));
                    seen[2] += 1;
                }
                ResponseMatch::UnknownRequest(heard) => {
                    // A stranger, or finished too long ago to be remembered.
                    assert!(!under_way.contains_key(&heard.id));
                    seen[3] += 1;
                }
                ResponseMatch::WrongCapability(heard) => {
                    assert!(heard.capability == "else" && under_way.contains_key(&heard.id));
                    seen[4] += 1;
                }
                ResponseMatch::Malformed(_) => {
                    assert!(answer.is_err());
                    seen[5] += 1;
                }
            }
            assert_eq!(pending.len(), under_way.len());
        }
        assert_eq!(answered.len() + timed_out.len(), REQUESTS, "none is lost");
        assert!(answered.is_disjoint(&timed_out));
        assert!(seen.iter().all(|count| *count > 100), "every kind occurred: {seen:?}");
        assert!(answered.len() > REQUESTS / 2 && timed_out.len() > 100);
    }
}
