//! What is listed, and how often a phone is queried for it.

use super::*;
use crate::action::{AppToolPhase, AppToolProtocol};

#[tokio::test]
async fn catalog_lists_findings_and_trusts_nothing_by_default() {
    let broken = App { unreadable: Some("it is no package"), ..App::new("com.example.broken") };
    let shy = App { exported: false, ..App::new("com.example.shy") };
    let apps = [
        broken.service("com.example.broken.S", ""),
        App::new(CLOCK).service("com.example.clock.McpService", DESCRIPTOR),
        shy.service("com.example.shy.S", DESCRIPTOR),
    ];
    let phone = Phone::with(apps);
    let catalog = listed(&host(&phone, &[]), &phone).await;
    let apps: Vec<_> = catalog.apps.iter().map(|app| (app.app.0.as_str(), ids(app))).collect();
    assert_eq!(
        apps,
        [
            ("com.example.broken", vec![]),
            (CLOCK, vec!["clock_in_today", "query_clock_in"]),
            ("com.example.shy", vec![]),
        ]
    );
    let [broken, clock, shy] = &catalog.apps[..] else { panic!("{catalog:?}") };
    assert_eq!(broken.complaints[0].message, "it is no package");
    assert_eq!(broken.name, "com.example.broken");
    assert_eq!(
        (clock.by, clock.version, clock.certificate.as_str()),
        (AppToolProtocol::MobileMcp, 1, "aa")
    );
    assert_eq!(
        clock.name, "Clock\\u{202e} app",
        "on one line, with visible bidirectional controls"
    );
    assert_eq!(clock.complaints, []);
    assert!(shy.complaints.iter().any(|one| one.fatal && one.rule == "service-reachable"));
    assert!(catalog.apps.iter().all(|app| app.trusted == TrustStatus::NotAllowed));
    let phases: Vec<_> = catalog.phases.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(
        phases,
        [AppToolPhase::Query, AppToolPhase::Functions, AppToolPhase::Package, AppToolPhase::Read]
    );
}

#[tokio::test(start_paused = true)]
async fn repeated_queries_are_served_from_caches() {
    let phone = clock();
    let host = host(&phone, &["*"]);
    listed(&host, &phone).await;
    let counts = || ["services", "package", "read", "functions"].map(|what| phone.times(what));
    assert_eq!(counts(), [1, 1, 1, 1]);
    listed(&host, &phone).await;
    assert_eq!(counts(), [2, 2, 1, 1], "a phone without functions is queried once");
    tokio::time::advance(MINUTE).await;
    let recent = host.catalog(&phone, MINUTE).await.unwrap();
    assert_eq!((counts(), recent.apps.len()), ([2, 2, 1, 1], 1));
    tokio::time::advance(Duration::from_millis(1)).await;
    host.catalog(&phone, MINUTE).await.unwrap();
    assert_eq!(counts(), [3, 3, 1, 1]);
    // Only what has changed is read again.
    phone.change(|apps| apps[0].package.updated = "2026-01-02 10:00:00".into());
    listed(&host, &phone).await;
    assert_eq!(counts(), [4, 4, 2, 1]);
    host.forget("fake");
    host.catalog(&phone, MINUTE).await.unwrap();
    assert_eq!(counts(), [5, 5, 3, 2]);
}

#[tokio::test]
async fn unreadable_app_is_retried() {
    let phone = clock();
    phone.change(|apps| apps[0].unreadable = Some("it is being written"));
    let host = host(&phone, &["*"]);
    assert_eq!(ids(&listed(&host, &phone).await.apps[0]), [""; 0]);
    phone.change(|apps| apps[0].unreadable = None);
    assert_eq!(ids(&listed(&host, &phone).await.apps[0]).len(), 2);
}

#[tokio::test]
async fn lost_or_unsupported_phone_is_an_error() {
    let phone = clock();
    let host = host(&phone, &["*"]);
    *lock(&phone.unplugged) = true;
    let failure = host.catalog(&phone, Duration::ZERO).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(listed(&host, &Phone::with([])).await.apps, []);
    let failure = host.catalog(&Phone::ios(), Duration::ZERO).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::PlatformNotSupported { .. }), "{failure:?}");
}

#[tokio::test]
async fn app_with_several_services_offers_all_their_tools() {
    let phone = Phone::with([App::new(CLOCK)
        .service("com.example.clock.A", DESCRIPTOR)
        .service("com.example.clock.B", DESCRIPTOR)]);
    let host = host(&phone, &["*"]);
    let catalog = listed(&host, &phone).await;
    assert_eq!(ids(&catalog.apps[0]).len(), 4);
    assert!(catalog.apps[0].complaints.iter().any(|one| one.rule == "one-service" && !one.fatal));
    let failure = called(&host, &phone, call("clock_in_today", json!({}))).await.unwrap_err();
    let Cause::InvalidArgument { reason } = &failure.cause else { panic!("{failure:?}") };
    assert!(reason.contains("com.example.clock.A, com.example.clock.B"), "{reason}");
    let service = Some("com.example.clock.B".to_owned());
    let wanted = AppToolCall { service, ..call("clock_in_today", json!({})) };
    called(&host, &phone, wanted).await.unwrap();
    assert_eq!(lock(&phone.all_sent)[0].to.class, "com.example.clock.B");
}

/// As AOSP's command prints it: every value of the search documents is a list.
const FUNCTIONS: &str = r##"{
  "com.example.notes": [
    {
      "AppFunctionStaticMetadata-com.example.notes": {
        "functionId": ["com.example.notes.NotesFunctions#createNote"],
        "packageName": ["com.example.notes"],
        "description": ["Creates a note."],
        "enabledByDefault": [true],
        "parameters": [
          {
            "name": ["title"], "isRequired": [true], "description": ["Its title."],
            "dataTypeMetadata": [{ "type": [8] }]
          },
          {
            "name": ["tags"], "isRequired": [false],
            "dataTypeMetadata": [{ "type": [10], "itemType": [{ "type": [11], "dataTypeReference": ["com.example.Tag"] }] }]
          }
        ],
        "response": [{ "valueType": [{ "type": [3], "properties": [
          { "name": ["id"], "dataTypeMetadata": [{ "type": [6] }] },
          { "name": ["tags"], "dataTypeMetadata": [{ "type": [10], "itemType": [{ "type": [8] }] }] }
        ] }] }],
        "components": [{ "dataTypes": [
          { "name": ["com.example.Tag"], "dataTypeMetadata": [{ "type": [3], "required": ["word"], "properties": [
            { "name": ["word"], "dataTypeMetadata": [{ "type": [8] }] },
            { "name": ["parent"], "dataTypeMetadata": [{ "type": [11], "dataTypeReference": ["com.example.Tag"] }] }
          ] }] }
        ] }]
      },
      "AppFunctionRuntimeMetadata-com.example.notes": {
        "AppFunctionRuntimeMetadata-com.example.notes": { "enabled": [0] }
      }
    },
    {
      "AppFunctionStaticMetadata-com.example.notes": {
        "functionId": ["com.example.notes.NotesFunctions#deleteAll"],
        "enabledByDefault": [false]
      }
    },
    {
      "AppFunctionStaticMetadata-com.example.notes": {
        "functionId": ["com.example.notes.NotesFunctions#switchedOff"],
        "enabledByDefault": [true]
      },
      "AppFunctionRuntimeMetadata-com.example.notes": {
        "AppFunctionRuntimeMetadata-com.example.notes": { "enabled": [2] }
      }
    }
  ]
}"##;

#[tokio::test]
async fn app_functions_are_tools_with_nested_schemas() {
    let phone = Phone::with([App::new("com.example.notes")]);
    *lock(&phone.functions) = Some(FUNCTIONS.into());
    let host = host(&phone, &["com.example.*"]);
    let catalog = listed(&host, &phone).await;
    let [notes] = &catalog.apps[..] else { panic!("{catalog:?}") };
    assert_eq!((notes.by, notes.certificate.as_str()), (AppToolProtocol::AppFunctions, "aa"));
    let [tool] = &notes.tools[..] else { panic!("{notes:?}") };
    assert_eq!(tool.id, "com.example.notes.NotesFunctions#createNote");
    let kinds = |list: &[crate::action::Parameter]| -> Vec<(String, &'static str, bool)> {
        list.iter().map(|it| (it.name.clone(), it.kind, it.required)).collect()
    };
    let named = |name: &str, kind, required| (name.to_owned(), kind, required);
    let input = [named("title", "string", true), named("tags", "array", false)];
    assert_eq!(kinds(&tool.input), input);
    let output = [named("id", "integer", false), named("tags", "array", false)];
    assert_eq!(kinds(&tool.output), output);
    let schema = tool.schema.clone().unwrap();
    assert_eq!(schema["required"], json!(["title"]));
    let tag = &schema["properties"]["tags"]["items"];
    assert_eq!(
        (&tag["required"], &tag["properties"]["word"]),
        (&json!(["word"]), &json!({ "type": "string" }))
    );
    assert!(tag.to_string().len() < 2_000, "recursive types are bounded");

    *lock(&phone.returned) =
        r#"{"androidAppfunctionsReturnValue":[{"id":[7],"tags":["a"]}]}"#.into();
    let wanted = |arguments| AppToolCall {
        app: AppId("com.example.notes".into()),
        ..call("com.example.notes.NotesFunctions#createNote", arguments)
    };
    let heard = called(&host, &phone, wanted(json!({ "title": "x", "tags": [{ "word": "y" }] })));
    let AppToolReply::Answer { success, output, warnings, .. } = heard.await.unwrap() else {
        panic!()
    };
    let expected = json!({ "id": 7, "tags": ["a"] });
    assert_eq!((success, Value::Object(output), warnings.len()), (true, expected, 0));
    for (arguments, text) in [
        (json!({}), "`title` is missing"),
        (json!({ "title": "x", "tags": "y" }), "`tags` must be of type array"),
        (json!({ "title": 5 }), "`title` must be of type string"),
        (json!({ "title": "x", "tag": 5 }), "`tag` is unknown"),
    ] {
        let failure = called(&host, &phone, wanted(arguments)).await.unwrap_err();
        assert!(failure.cause.to_string().contains(text), "{failure:?}");
    }
    *lock(&phone.returned) = "no JSON at all".into();
    let failure = called(&host, &phone, wanted(json!({ "title": "x" }))).await.unwrap_err();
    assert_eq!(failure.side_effect, SideEffect::Possible);
}

#[tokio::test]
async fn app_functions_survive_one_failed_query() {
    let phone = Phone::with([App::new("com.example.notes")]);
    *lock(&phone.functions) = Some(FUNCTIONS.into());
    let host = host(&phone, &[]);
    assert_eq!(listed(&host, &phone).await.apps.len(), 1);
    *lock(&phone.functions) = Some("Exception: java.lang.IllegalStateException".into());
    assert_eq!(listed(&host, &phone).await.apps.len(), 1);
    *lock(&phone.functions) = Some("{}".into());
    assert_eq!(listed(&host, &phone).await.apps.len(), 0);
}
