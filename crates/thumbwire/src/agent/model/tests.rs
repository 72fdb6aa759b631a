//! Both dialects against an endpoint of our own: what goes out, what is read, what is asked again, and that the key is seen nowhere.

mod bodies;
mod endpoint;
mod refusals;
mod streams;

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use thumbwire_device::{Format, Image};

use super::super::prompt::{Part, Prompt, Role, Turn};
use super::{Answer, Choice, Key, Model, Patience, Settings, Unanswered, open};
use crate::action::Call;
use endpoint::Server;

/// A key that can be found again wherever it does not belong.
const KEY: &str = "sk-sekret-0123456789";

/// Two models of one server, one a dialect.
const BOTH: [&str; 2] = ["openai:model-x", "anthropic:model-x"];

/// A prompt with all that prompts have; its picture is one pixel.
fn prompt() -> Prompt {
    let pixels = thumbwire_device::picture::Pixels::new(1, 1, vec![1, 2, 3]).unwrap();
    let turn = |role, parts| Turn { role, parts };
    let text = |text: &str| Part::Text(text.into());
    Prompt {
        system: "You operate a phone.".into(),
        turns: vec![
            turn(Role::User, vec![text("An example.")]),
            turn(Role::Assistant, vec![text("{\"status\":\"FINISH\"}")]),
            turn(
                Role::User,
                vec![
                    text("The screen:"),
                    Part::Picture(pixels.write(Format::Png).unwrap()),
                    text("What now?"),
                ],
            ),
        ],
    }
}

/// A model at this server that waits for nothing long.
fn settings(server: &Server) -> Settings {
    Settings {
        base_url: Some(server.base.clone()),
        key: Some(Key::new(KEY)),
        patience: Patience {
            whole: Duration::from_secs(20),
            idle: Duration::from_millis(300),
            retries: 2,
            pause: Duration::from_millis(1),
        },
        price: "1,10".parse().ok(),
        ..Settings::default()
    }
}

/// Asks a model; gives what it answered, and what was heard meanwhile.
async fn ask(model: &dyn Model, shape: Option<&Value>) -> (Result<Answer, Unanswered>, String) {
    ask_within(model, shape, &Call::within(Duration::from_secs(30))).await
}

async fn ask_within(
    model: &dyn Model,
    shape: Option<&Value>,
    call: &Call,
) -> (Result<Answer, Unanswered>, String) {
    let heard = Mutex::new(String::new());
    let hear = |words: &str| heard.lock().unwrap().push_str(words);
    let answered = model.answer(&prompt(), shape, call, &hear).await;
    (answered, heard.into_inner().unwrap())
}

/// Asks a model of that choice at a server, once.
async fn asked(choice: &str, server: &Server) -> (Result<Answer, Unanswered>, String) {
    let model = open(&choice.parse::<Choice>().unwrap(), settings(server)).unwrap();
    let (answered, heard) = ask(&*model, None).await;
    let told = format!("{answered:?}");
    assert!(!told.contains(KEY), "the key is told: {told}");
    (answered, heard)
}

/// A picture of a phone's size.
fn screen() -> Image {
    let rgb = vec![200; 1080 * 2400 * 3];
    thumbwire_device::picture::Pixels::new(1080, 2400, rgb).unwrap().write(Format::Png).unwrap()
}

fn bytes(text: impl Into<String>) -> Bytes {
    Bytes::from(text.into())
}
