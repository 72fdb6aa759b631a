//! The phone in the conversation: an MCP App (SEP-1865), a page that the client shows beside the
//! reply of `mobile_show_phone`, and the tools that the page calls through the client.
//!
//! What passes between page and server costs the model nothing. The page tells the model, by the
//! client, that the user has acted.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_base::visible::name;
use thumbwire_device::{BlackReason, Format, FormatPreference, Screenshot};
use tokio::time::{Instant, sleep};

use super::devices::parse_get_device_info;
use super::{NoArgs, success};
use crate::action::{
    Action, Call, Cause, ClientId, Failure, InfoResult, Perform, ScreenshotOptions,
    TypedPerform as _, request,
};
use crate::toolset::tool::read_arguments;
use crate::toolset::{AppRole, Content, Handler, Reply, SpecTools, Tool, ToolEffect};

/// The URI of the page.
pub(super) const URI: &str = "ui://thumbwire/phone";

/// How long the page waits for a picture that differs.
const WAIT: Duration = Duration::from_secs(1);

/// The time between two screenshots of one wait.
const PAUSE: Duration = Duration::from_millis(100);

/// The maximum size of a picture in bytes: it passes through the client as base64.
const MAX_PICTURE: usize = 400_000;

/// The page.
pub(super) fn page() -> String {
    include_str!("phone_app.html").replace("{{VERSION}}", env!("CARGO_PKG_VERSION"))
}

/// The tool that opens the page, and those that it calls.
pub(super) fn tools() -> Vec<Tool> {
    use ToolEffect::{Destructive, ReadOnly};
    let table = SpecTools::read(include_str!("phone_app.json"));
    let tools = [
        table
            .row("mobile_show_phone", ReadOnly, 15, parse_get_device_info, render_show_phone)
            .in_app(AppRole::Opens(URI)),
        table.handled("mobile_phone_picture", ReadOnly, 20, Picture).in_app(AppRole::Serves),
        table
            .handled("mobile_phone_act", Destructive, 90, Act)
            .in_app(AppRole::Serves)
            .answering_done(),
    ];
    tools.into_iter().map(Tool::with_device).collect()
}

fn render_show_phone(_: &NoArgs, result: InfoResult) -> Reply {
    let InfoResult { identity, info, .. } = result;
    let text = format!(
        "{} is shown in the chat, where the user can touch it, if this client shows MCP Apps. Look at it yourself with mobile_snapshot",
        name(&identity.id)
    );
    let (width, height) = (info.screen.width, info.screen.height);
    let model = identity.model;
    success(text, json!({ "device": identity.id, "name": model, "width": width, "height": height }))
}

#[derive(Deserialize)]
struct PictureArgs {
    after: Option<String>,
}

struct Picture;

#[async_trait]
impl Handler for Picture {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let PictureArgs { after } = read_arguments(arguments)?;
        // The model has not seen what the page shows.
        let call = Call { client: ClientId::Server, ..call.clone() };
        let jpeg = FormatPreference::Only(Format::Jpeg);
        let options = ScreenshotOptions { format: jpeg, max_bytes: Some(MAX_PICTURE), fresh: true };
        let began = Instant::now();
        loop {
            let screenshot = perform.request(&call, request::Screenshot(options)).await?;
            let picture = fingerprint(&screenshot);
            if after.as_ref() != Some(&picture) {
                return Ok(render_picture(picture, screenshot));
            }
            if began.elapsed() >= WAIT {
                let same = Some(json!({ "picture": picture }));
                return Ok(Reply { structured: same, ..Reply::text("Nothing has changed") });
            }
            sleep(PAUSE).await;
        }
    }
}

/// A text that is another one for another picture.
fn fingerprint(screenshot: &Screenshot) -> String {
    let mut hasher = DefaultHasher::new();
    screenshot.image.bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn render_picture(picture: String, screenshot: Screenshot) -> Reply {
    let Screenshot { image, size, blank } = screenshot;
    let mut shown = json!({ "picture": picture, "width": size.width, "height": size.height });
    if let Some(blank) = blank {
        shown["black"] = match blank {
            BlackReason::Secure { .. } => "This app keeps its screen out of pictures",
            BlackReason::ScreenOff => "The screen is off",
            BlackReason::Unexplained => "The phone sends a black picture",
        }
        .into();
    }
    Reply { structured: Some(shown), ..Reply::parts(vec![Content::Image(image)]) }
}

#[derive(Deserialize)]
struct ActArgs {
    action: Action,
}

struct Act;

#[async_trait]
impl Handler for Act {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let ActArgs { action } = read_arguments(arguments)?;
        if !action.is_by_hand() {
            let reason = "`action` is not one of a hand: touch, press or type".into();
            return Err(Cause::InvalidArgument { reason }.into());
        }
        perform.perform(call, action).await?;
        Ok(success("Done".into(), json!({})))
    }
}

#[cfg(test)]
mod tests;
