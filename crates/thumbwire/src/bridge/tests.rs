//! The bridge against a phone that does as a test says: what is asked of it is counted, what its apps answer is scripted.

mod calls;
mod hostile;
mod listing;
mod phone;
mod trusting;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_device::{Acted, AppId, Component, Error};

use super::*;
use crate::action::{AppCall, AppTools, Ask, Catalog, Cause, Failure, Heard, NobodyThere, Trusted};
use phone::{App, Phone};

const MINUTE: Duration = Duration::from_secs(60);
const CLOCK: &str = "com.example.clock";

/// The descriptor of the specification's sample, cut to what is needed here.
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

/// A bridge by which these apps may be called.
fn bridge(phone: &Phone, allow: &[&str]) -> Bridge {
    bridge_keeping(phone, allow, Arc::new(MemoryStore::default()))
}

fn bridge_keeping(phone: &Phone, allow: &[&str], store: Arc<dyn TrustStore>) -> Bridge {
    let allow = allow.iter().map(|pattern| (*pattern).to_owned()).collect();
    let options = BridgeOptions { trust: Trust { allow, store }, ..BridgeOptions::default() };
    Bridge::with_reader(options, Box::new(phone.reader()))
}

async fn listed(bridge: &Bridge, phone: &Phone) -> Catalog {
    bridge.catalog(phone, Duration::ZERO).await.unwrap()
}

fn ids(tools: &AppTools) -> Vec<&str> {
    tools.tools.iter().map(|tool| tool.id.as_str()).collect()
}

fn call(tool: &str, arguments: Value) -> AppCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let (service, send_only) = (None, false);
    AppCall { app: AppId(CLOCK.into()), service, tool: tool.into(), arguments, send_only }
}

/// Checks and sends, as a session does.
async fn asked(
    bridge: &Bridge,
    phone: &Phone,
    wanted: AppCall,
    ask: &dyn Ask,
) -> Result<Heard, Failure> {
    let ready = bridge.ready(phone, wanted, ask).await?;
    Ok(bridge.send(phone, ready, MINUTE).await?.heard)
}

async fn called(bridge: &Bridge, phone: &Phone, wanted: AppCall) -> Result<Heard, Failure> {
    asked(bridge, phone, wanted, &NobodyThere).await
}

/// Somebody who always says the same, and what they were asked.
struct Person(&'static str, Mutex<Vec<String>>);

impl Person {
    fn saying(answer: &'static str) -> Self {
        Self(answer, Mutex::default())
    }
}

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: &str) -> Option<String> {
        lock(&self.1).push(question.to_owned());
        Some(self.0.to_owned())
    }
}
