//! Pages of app tools, and calls by name.

use std::sync::Arc;

use thumbwire_device::{AppId, Component};

use super::*;
use crate::action::{AppToolProtocol, Catalog};

fn tool(id: &str, description: &str) -> AppTool {
    AppTool {
        id: id.into(),
        description: description.into(),
        version: "1".into(),
        service: Some(Component { app: AppId("com.a".into()), class: "com.a.Tools".into() }),
        input: vec![Parameter {
            name: "date".into(),
            kind: "string",
            required: true,
            description: "Day,\nas 2026-11-22".into(),
        }],
        output: vec![Parameter { name: "done".into(), kind: "boolean", ..Parameter::default() }],
        schema: None,
    }
}

fn app(id: &str, trusted: TrustStatus, tools: Vec<AppTool>) -> Arc<AppTools> {
    Arc::new(AppTools {
        app: AppId(id.into()),
        by: AppToolProtocol::MobileMcp,
        name: "A\u{202e}pp".into(),
        description: String::new(),
        version: 3,
        certificate: "ab".into(),
        trusted,
        tools,
        complaints: Vec::new(),
    })
}

fn listed(apps: Vec<Arc<AppTools>>, wanted: Value) -> Value {
    let wanted: ListAppToolsArgs = serde_json::from_value(wanted).unwrap();
    let catalog = Catalog { apps, phases: Vec::new() };
    render_list_app_tools(&wanted, Arc::new(catalog)).structured.unwrap()
}

#[test]
fn apps_are_listed_with_trust_findings_and_tools() {
    let mut broken =
        (*app("com.b", TrustStatus::Changed("it offers `pay` now".into()), Vec::new())).clone();
    broken.complaints = vec![AppToolFinding {
        rule: "unique-ids".into(),
        fatal: true,
        message: "two capabilities are called `x`".into(),
    }];
    let apps =
        vec![app("com.a", TrustStatus::NotAllowed, vec![tool("x", "Does\nx")]), Arc::new(broken)];
    insta::assert_json_snapshot!(listed(apps, json!({})), @r#"
    {
      "apps": [
        {
          "bundle_id": "com.a",
          "by": "mobile-mcp",
          "name": "A\\u{202e}pp",
          "version": 3,
          "trust": "not_allowed",
          "tools": [
            {
              "tool": "x",
              "description": "Does x",
              "version": "1",
              "service": "com.a.Tools",
              "takes": [
                {
                  "name": "date",
                  "type": "string",
                  "required": true,
                  "description": "Day, as 2026-11-22"
                }
              ],
              "gives": [
                {
                  "name": "done",
                  "type": "boolean"
                }
              ]
            }
          ]
        },
        {
          "bundle_id": "com.b",
          "by": "mobile-mcp",
          "name": "A\\u{202e}pp",
          "version": 3,
          "trust": "changed",
          "changed": "it offers `pay` now",
          "complaints": [
            {
              "rule": "unique-ids",
              "fatal": true,
              "says": "two capabilities are called `x`"
            }
          ],
          "tools": []
        }
      ],
      "total": 2,
      "next": null
    }
    "#);
}

#[test]
fn long_lists_are_paged() {
    let book = "b".repeat(100_000);
    let tools = |app: &str| (0..100).map(|i| tool(&format!("{app}{i}"), &book)).collect();
    let apps = vec![
        app("com.a", TrustStatus::Yes, tools("a")),
        app("com.b", TrustStatus::Yes, tools("b")),
    ];
    let (mut offset, mut ids, mut pages) = (json!(0), Vec::new(), 0);
    while !offset.is_null() {
        let page = listed(apps.clone(), json!({ "offset": offset }));
        assert!(page.to_string().len() < PAGE + 1_000);
        for app in page["apps"].as_array().unwrap() {
            ids.extend(app["tools"].as_array().unwrap().iter().map(|tool| tool["tool"].clone()));
        }
        offset = page["next"].clone();
        pages += 1;
    }
    ids.dedup();
    assert_eq!((ids.len(), pages > 3), (200, true));
    let one = listed(apps, json!({ "bundle_id": "com.b", "offset": 99 }));
    assert_eq!((&one["total"], &one["apps"][0]["tools"][0]["tool"]), (&json!(100), &json!("b99")));
}

#[test]
fn calls_by_name_keep_their_arguments() {
    let called: CallAppToolArgs = serde_json::from_value(json!({
        "bundle_id": " com.a ", "tool": "x", "arguments": { "date": "today" }, "service": "", "send_only": true,
    }))
    .unwrap();
    let Ok(request::CallAppTool(asked)) = parse_call_app_tool(&called) else { panic!("no call") };
    assert_eq!((asked.app.0.as_str(), asked.service, asked.send_only), ("com.a", None, true));
    assert_eq!(asked.arguments["date"], "today");
    let nothing: CallAppToolArgs =
        serde_json::from_value(json!({ "bundle_id": " ", "tool": "x" })).unwrap();
    assert!(parse_call_app_tool(&nothing).is_err());
}
