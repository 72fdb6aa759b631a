//! The app tool host over a scripted phone: its queries are counted and its apps' replies are
//! scripted.

mod calls;
mod hostile;
mod listing;
mod phone;
mod trusting;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_device::{AppId, Component, Error, SideEffect};

use super::*;
use crate::action::{
    AppToolCall, AppToolReply, AppTools, AskUser, Catalog, Cause, Failure, NoUser, Question,
    TrustStatus, UserAnswer,
};
use phone::{App, Phone};

const MINUTE: Duration = Duration::from_secs(60);
const CLOCK: &str = "com.example.clock";

/// The descriptor of the specification's sample, shortened to what is needed here.
const DESCRIPTOR: &str = r#"<mobile-mcp-capabilities version="1.0">
    <capability id="clock_in_today" description="Clocks in for today." version="1.0">
        <output><param name="success" type="boolean" description="Whether it did" /></output>
    </capability>
    <capability id="query_clock_in" description="Tells whether there was a clock-in." version="1.0">
        <input>
            <param name="date" type="string" required="true" description="yyyy-MM-dd" />
            <param name="days" type="integer" required="false" description="How many" />
        </input>
        <output>
            <param name="date" type="string" description="The date" />
            <param name="has_clocked_in" type="boolean" description="Whether" />
        </output>
    </capability>
</mobile-mcp-capabilities>"#;

/// A phone with the sample app.
fn clock() -> Phone {
    Phone::with([App::new(CLOCK).service("com.example.clock.McpService", DESCRIPTOR)])
}

/// A host that may call these apps.
fn host(phone: &Phone, allow: &[&str]) -> AppToolHost {
    host_keeping(phone, allow, Arc::new(MemoryStore::default()))
}

fn host_keeping(phone: &Phone, allow: &[&str], store: Arc<dyn TrustStore>) -> AppToolHost {
    let allow = allow.iter().map(|pattern| (*pattern).to_owned()).collect();
    let options =
        AppToolOptions { trust: TrustRules { allow, store }, ..AppToolOptions::default() };
    AppToolHost::with_reader(options, Box::new(phone.reader()))
}

async fn listed(host: &AppToolHost, phone: &Phone) -> Catalog {
    host.catalog(phone, Duration::ZERO).await.unwrap()
}

fn ids(tools: &AppTools) -> Vec<&str> {
    tools.tools.iter().map(|tool| tool.id.as_str()).collect()
}

fn call(tool: &str, arguments: Value) -> AppToolCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let (service, send_only) = (None, false);
    AppToolCall { app: AppId(CLOCK.into()), service, tool: tool.into(), arguments, send_only }
}

/// Checks and sends, as a session does.
async fn asked(
    host: &AppToolHost,
    phone: &Phone,
    call: AppToolCall,
    ask: &dyn AskUser,
) -> Result<AppToolReply, Failure> {
    let ready = host.ready(phone, call, ask).await?;
    Ok(host.send(phone, ready, MINUTE).await?.heard)
}

async fn called(
    host: &AppToolHost,
    phone: &Phone,
    call: AppToolCall,
) -> Result<AppToolReply, Failure> {
    asked(host, phone, call, &NoUser).await
}

/// A user who always gives the same answer, and the questions asked.
struct Person(&'static str, Mutex<Vec<String>>);

impl Person {
    fn saying(answer: &'static str) -> Self {
        Self(answer, Mutex::default())
    }
}

#[async_trait]
impl AskUser for Person {
    async fn ask(&self, question: &Question) -> UserAnswer {
        lock(&self.1).push(question.text.clone());
        match self.0 {
            "declined" => UserAnswer::Declined,
            "closed" => UserAnswer::Dismissed,
            text => UserAnswer::Text(text.to_owned()),
        }
    }
}
