//! Malicious apps: whatever they declare, the list stays bounded and other apps are unaffected.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::app_tools::discovery::{MAX_APPS, MAX_TOOLS};
use crate::app_tools::functions;

fn capabilities(count: usize) -> String {
    let mut text = "<mobile-mcp-capabilities version=\"1.0\">".to_owned();
    for number in 0..count {
        let _ = write!(text, "<capability id=\"c{number}\" description=\"x\" version=\"1\"/>");
    }
    text + "</mobile-mcp-capabilities>"
}

#[tokio::test]
async fn hostile_descriptor_is_bounded_and_harms_no_other_app() {
    let deep = "<capability>".repeat(100_000);
    let twice = capabilities(1)
        .replace("</mobile", "<capability id=\"c0\" description=\"y\" version=\"1\"/></mobile");
    let long = "p".repeat(1_000_000);
    let poisoned = format!(
        "<mobile-mcp-capabilities version=\"1.0\"><capability id=\"ok\" version=\"1\" description=\"{long}\"/><capability id=\"{long}\" description=\"x\" version=\"1\"/><capability id=\"a&#10;b\" description=\"x\" version=\"1\"/></mobile-mcp-capabilities>"
    );
    for (name, descriptor) in [
        ("deep", deep),
        ("huge", capabilities(20_000)),
        ("twice", twice),
        ("poisoned", poisoned),
        ("empty", String::new()),
        ("binary", "\0\u{1}\u{2}<".into()),
    ] {
        let phone = Phone::with([
            App::new("com.example.bad").service("com.example.bad.S", &descriptor),
            App::new(CLOCK).service("com.example.clock.S", DESCRIPTOR),
        ]);
        let catalog = listed(&host(&phone, &["*"]), &phone).await;
        let [bad, clock] = &catalog.apps[..] else { panic!("{name}") };
        assert!(bad.complaints.iter().any(|one| one.fatal), "{name}: {:?}", bad.complaints);
        assert!(bad.complaints.len() <= 50 && bad.tools.len() <= MAX_TOOLS, "{name}");
        assert!(format!("{bad:?}").len() < 400_000, "{name}: {}", format!("{bad:?}").len());
        let ids: std::collections::BTreeSet<_> = ids(bad).into_iter().collect();
        assert_eq!(ids.len(), bad.tools.len(), "{name}: ids are unique");
        assert!(ids.iter().all(|id| id.len() <= 200 && !id.contains('\n')), "{name}");
        assert_eq!(super::ids(clock).len(), 2, "{name}");
    }
}

#[tokio::test]
async fn listed_apps_and_tools_are_bounded() {
    let app = |number: usize| {
        App::new(&format!("com.example.a{number:03}")).service("com.example.S", &capabilities(20))
    };
    let phone = Phone::with((0..MAX_APPS + 6).map(app));
    let host = host(&phone, &["*"]);
    let catalog = listed(&host, &phone).await;
    assert_eq!(catalog.apps.len(), MAX_APPS + 1);
    let tools: usize = catalog.apps.iter().map(|app| app.tools.len()).sum();
    assert_eq!((tools, phone.times("read")), (MAX_TOOLS, MAX_APPS));
    let last = catalog.apps.last().unwrap();
    assert!(last.complaints[0].message.contains("this one and 5 more were skipped"), "{last:?}");
    let cut = &catalog.apps[MAX_TOOLS / 20];
    assert!(
        cut.complaints.iter().any(|one| one.message.contains("of this app's are omitted")),
        "{cut:?}"
    );
}

proptest! {
    #[test]
    fn no_list_of_functions_panics(said in "(\\PC|[\n{}\\[\\]\",:0-9])*") {
        let _ = functions::read(&said);
    }
}

#[test]
fn hostile_functions_are_bounded() {
    let deep = format!("{{\"com.x\":{}", "[".repeat(100_000));
    assert!(functions::read(&deep).is_err());
    let chain = |number: usize| {
        json!({ "name": format!("t{number}"), "dataTypeMetadata": [{
        "type": 3,
        "properties": [
            { "name": "a", "dataTypeMetadata": [{ "type": 11, "dataTypeReference": format!("t{}", number + 1) }] },
            { "name": "b", "dataTypeMetadata": [{ "type": 11, "dataTypeReference": format!("t{}", number + 1) }] },
        ],
    }] })
    };
    let types: Vec<_> = (0..60).map(chain).collect();
    let function = json!({
        "functionId": "com.x.F#f",
        "description": "d".repeat(1_000_000),
        "components": [{ "dataTypes": types }],
        "parameters": [{ "name": "p", "dataTypeMetadata": [{ "type": 11, "dataTypeReference": "t0" }] }],
    });
    let wide =
        json!({ "com.x": [function, { "functionId": "a\nb" }, { "functionId": "com.x.F#f" }] });
    let offered = functions::read(&wide.to_string()).unwrap();
    assert_eq!((offered[0].tools.len(), offered[0].complaints.len()), (1, 1));
    let length = format!("{:?}", offered[0]).len();
    assert!(length < 100_000, "{length}");
}

/// 64 members, each of the same type again, each with long texts.
#[test]
fn recursive_type_is_bounded() {
    let member = |number: usize| {
        json!({
            "name": format!("m{number}"),
            "dataTypeMetadata": [{ "type": 11, "dataTypeReference": "t" }],
        })
    };
    let members: Vec<_> = (0..64).map(member).collect();
    let long = "c".repeat(10_000);
    let kind = json!({ "type": 3, "properties": members, "required": [long], "enumValues": [long, "\u{e0041}", "ok"] });
    let function = |name: String| {
        json!({
            "functionId": name,
            "components": [{ "dataTypes": [{ "name": "t", "dataTypeMetadata": [kind] }] }],
            "parameters": [{ "name": "p", "dataTypeMetadata": [{ "type": 11, "dataTypeReference": "t" }] }],
        })
    };
    let one = json!({ "com.x": [function("com.x.F#f".into())] });
    let offered = functions::read(&one.to_string()).unwrap();
    let schema = offered[0].tools[0].schema.clone().unwrap();
    let text = Value::from(schema).to_string();
    assert!(text.len() < 100_000 && text.contains("[\"ok\"]"), "{}", text.len());
    let many: Vec<_> =
        (0..5_000).map(|number| json!({ "functionId": format!("f{number}") })).collect();
    let offered = functions::read(&json!({ "com.x": many, "com.y": many }).to_string()).unwrap();
    assert_eq!(offered.len(), 1);
    assert_eq!(offered[0].complaints[0].rule, "bounds");
}
