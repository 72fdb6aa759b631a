//! What requests contain.

use serde_json::{Value, json};
use thumbwire_device::Size;

use super::endpoint::{CannedResponse, Server};
use super::*;

/// An answer for both APIs in one body: each reads its own part.
fn answer() -> CannedResponse {
    CannedResponse::json(
        200,
        &json!({
            "choices": [{ "message": { "content": "yes" }, "finish_reason": "stop" }],
            "content": [{ "type": "text", "text": "yes" }], "stop_reason": "end_turn",
            "usage": { "prompt_tokens": 10, "input_tokens": 10, "completion_tokens": 2, "output_tokens": 2 },
        }),
    )
}

fn shape(closed: bool) -> Value {
    let mut shape = json!({
        "type": "object",
        "properties": { "status": { "type": "string" } },
        "required": ["status"],
    });
    if closed {
        shape["additionalProperties"] = false.into();
    }
    shape
}

async fn body(choice: &str, shape: Option<&Value>, change: impl Fn(&mut Settings)) -> Value {
    let server = Server::giving([answer()]).await;
    let mut settings = settings(&server);
    change(&mut settings);
    let model = config::open(&choice.parse().unwrap(), settings).unwrap();
    assert_eq!(ask(&*model, shape).await.0.unwrap().text, "yes");
    server.asked().remove(0).body
}

#[tokio::test]
async fn bodies_match_each_api() {
    for choice in BOTH {
        let plain = body(choice, None, |_| ()).await;
        let shape = shape(true);
        let full = body(choice, Some(&shape), |settings| {
            settings.stream = false;
            settings.json_schema = true;
            settings.max_tokens = Some(500);
        });
        let name = choice.split(':').next().unwrap();
        insta::assert_json_snapshot!(format!("{name}_streamed"), plain);
        insta::assert_json_snapshot!(format!("{name}_whole_in_a_shape"), full.await);
    }
}

#[tokio::test]
async fn requests_carry_the_key_where_each_provider_looks_for_it() {
    let server = Server::giving([answer()]).await;
    for choice in BOTH {
        asked(choice, &server).await.0.unwrap();
    }
    let [openai, anthropic] = &server.asked()[..] else { panic!() };
    assert_eq!(openai.uri.path(), "/chat/completions");
    assert_eq!(openai.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(anthropic.uri.path(), "/v1/messages");
    assert_eq!(anthropic.headers["x-api-key"], KEY);
    assert_eq!(anthropic.headers["anthropic-version"], "2023-06-01");
    assert!(!anthropic.headers.contains_key("authorization"));
}

#[tokio::test]
async fn schema_is_sent_only_if_wanted_and_supported() {
    let with = |settings: &mut Settings| settings.json_schema = true;
    let open = body(BOTH[0], Some(&shape(false)), with).await;
    assert_eq!(open["response_format"]["json_schema"]["strict"], false);
    assert!(body(BOTH[0], Some(&shape(true)), |_| ()).await.get("response_format").is_none());
    let open = body(BOTH[1], Some(&shape(false)), with).await;
    assert!(open.get("output_config").is_none(), "Anthropic refuses open schemas: {open}");
}

#[tokio::test]
async fn large_screenshot_is_sent_at_the_size_that_the_model_tells() {
    for (choice, (width, height)) in BOTH.into_iter().zip([(768, 1707), (706, 1568)]) {
        let server = Server::giving([answer()]).await;
        let model = config::open(&choice.parse().unwrap(), settings(&server)).unwrap();
        let sent = model.picture_size(Size { width: 1080, height: 2400 });
        assert_eq!(sent, Size { width, height });
        let turn = Message { role: Role::User, parts: vec![ContentPart::Image(screen())] };
        let prompt = Prompt { system: String::new(), turns: vec![turn], ..Prompt::default() };
        let call = Call::with_timeout(Duration::from_secs(30));
        model.complete(&prompt, None, &call, &|_| ()).await.unwrap();
        let parts = server.asked().remove(0).body["messages"][0]["content"].clone();
        assert_eq!(parts.as_array().unwrap().len(), 1, "nothing is said about its size: {parts}");
    }
}

#[tokio::test]
async fn functions_calls_and_results_match_each_api() {
    for choice in BOTH {
        let server = Server::giving([answer()]).await;
        // A schema is for answers without functions.
        let settings =
            Settings { json_schema: true, tool_calls: ToolCallMode::Native, ..settings(&server) };
        let model = config::open(&choice.parse().unwrap(), settings).unwrap();
        let call = Call::with_timeout(Duration::from_secs(30));
        let prompt = prompt_with_tools();
        model.complete(&prompt, Some(&shape(true)), &call, &|_| ()).await.unwrap();
        let name = choice.split(':').next().unwrap();
        insta::assert_json_snapshot!(
            format!("{name}_with_functions"),
            server.asked().remove(0).body
        );
    }
}

#[test]
fn functions_are_sent_as_the_settings_say() {
    let support = |tool_calls, json_schema| {
        let base_url = Some("http://127.0.0.1:1".into());
        let settings = Settings { base_url, tool_calls, json_schema, ..Settings::default() };
        BOTH.map(|choice| {
            config::open(&choice.parse().unwrap(), settings.clone()).unwrap().tool_support()
        })
    };
    assert_eq!(support(ToolCallMode::Auto, false), [ToolSupport::Maybe; 2]);
    assert_eq!(support(ToolCallMode::Auto, true), [ToolSupport::No; 2], "a schema is for text");
    assert_eq!(support(ToolCallMode::Text, false), [ToolSupport::No; 2]);
    assert_eq!(support(ToolCallMode::Native, false), [ToolSupport::Yes; 2]);
}
