//! Both APIs against an endpoint of our own: requests, parsing, retries, and that the key never
//! leaks.

mod bodies;
mod endpoint;
mod refusals;
mod streams;

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use thumbwire_device::{Format, Image};

use super::{
    ApiKey, Model, ModelError, ModelResponse, ModelSpec, PromptPart, RequestTimeouts, Settings,
    ToolCallMode, ToolSupport, config,
};
use super::{ContentPart, Message, Prompt, Role, Tool, ToolCall, ToolResult};
use endpoint::Server;
use thumbwire_core::action::Call;

/// A key that is easy to find where it does not belong.
const KEY: &str = "sk-sekret-0123456789";

/// A model of each API on the same server.
const BOTH: [&str; 2] = ["openai:model-x", "anthropic:model-x"];

/// A prompt with everything that prompts can have; its image is one pixel.
fn prompt() -> Prompt {
    let pixels = thumbwire_device::image::Pixels::new(1, 1, vec![1, 2, 3]).unwrap();
    let turn = |role, parts| Message { role, parts };
    let text = |text: &str| ContentPart::Text(text.into());
    Prompt {
        system: "You operate a phone.".into(),
        tools: Vec::new(),
        turns: vec![
            turn(Role::User, vec![text("An example.")]),
            turn(Role::Assistant, vec![text("{\"status\":\"FINISH\"}")]),
            turn(
                Role::User,
                vec![
                    text("The screen:"),
                    ContentPart::Image(pixels.write(Format::Png).unwrap()),
                    text("What now?"),
                ],
            ),
        ],
    }
}

/// The same with a function, and calls that were rejected.
fn prompt_with_tools() -> Prompt {
    let schema =
        serde_json::json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let tool = Tool { name: "tap".into(), description: "Taps.".into(), schema };
    let call = |id: &str, arguments: &str| {
        ContentPart::Call(ToolCall {
            id: id.into(),
            name: "tap".into(),
            arguments: arguments.into(),
            kept: Value::Null,
        })
    };
    let result = |id: &str, text: &str| {
        ContentPart::Result(ToolResult { id: id.into(), text: text.into(), is_error: true })
    };
    let text = ContentPart::Text("Two taps.".into());
    let calls = vec![text, call("a", "{\"x\": 1}"), call("b", "{x")];
    let mut prompt = Prompt { tools: vec![tool], ..prompt() };
    prompt.turns.push(Message { role: Role::Assistant, parts: calls });
    let results = vec![result("a", "not called"), result("b", "rejected: no JSON")];
    prompt.turns.push(Message { role: Role::User, parts: results });
    prompt.turns.push(Message { role: Role::Assistant, parts: vec![call("c", "")] });
    prompt.turns.push(Message { role: Role::User, parts: vec![result("c", "rejected")] });
    prompt
}

/// Settings for this server with short waits.
fn settings(server: &Server) -> Settings {
    Settings {
        base_url: Some(server.base.clone()),
        key: Some(ApiKey::new(KEY)),
        patience: RequestTimeouts {
            whole: Duration::from_secs(20),
            idle: Duration::from_millis(300),
            retries: 2,
            pause: Duration::from_millis(1),
        },
        price: "1,10".parse().ok(),
        ..Settings::default()
    }
}

/// Asks a model; returns its answer and the streamed text.
async fn ask(
    model: &dyn Model,
    shape: Option<&Value>,
) -> (Result<ModelResponse, ModelError>, String) {
    ask_within(model, shape, &Call::with_timeout(Duration::from_secs(30))).await
}

async fn ask_within(
    model: &dyn Model,
    shape: Option<&Value>,
    call: &Call,
) -> (Result<ModelResponse, ModelError>, String) {
    let heard = Mutex::new(String::new());
    let hear = |text: &str| heard.lock().unwrap().push_str(text);
    let answered = model.complete(&prompt(), shape, call, &hear).await;
    (answered, heard.into_inner().unwrap())
}

/// Asks a model of that choice at a server, once.
async fn asked(choice: &str, server: &Server) -> (Result<ModelResponse, ModelError>, String) {
    let model = config::open(&choice.parse::<ModelSpec>().unwrap(), settings(server)).unwrap();
    let (answered, heard) = ask(&*model, None).await;
    let out = format!("{answered:?}");
    assert!(!out.contains(KEY), "the key is told: {out}");
    (answered, heard)
}

/// An image of a phone's size.
fn screen() -> Image {
    let rgb = vec![200; 1080 * 2400 * 3];
    thumbwire_device::image::Pixels::new(1080, 2400, rgb).unwrap().write(Format::Png).unwrap()
}

fn bytes(text: impl Into<String>) -> Bytes {
    Bytes::from(text.into())
}
