//! Tries each operation of the helper once on a phone, for `thumbwire doctor --helper`: what it
//! did, how long it took, what the shell's command takes, and what is left behind.

use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::clipboard::ClipboardReply;
use super::connection::Connection;
use super::frame::Header;
use super::protocol::{HelperError, Reply};
use super::screenshot::PictureReply;
use super::text::TextReply;
use super::tree::TreeReply;
use super::{Hello, call_service, fields, read, unanswered};
use crate::android::{Android, ShellCommand, ui};
use crate::error::excerpt;
use crate::{Error, HelperTrial, Leftover, OperationTrial, TreeDetail, TrialResult};

/// How long one operation may take.
const LIMIT: Duration = Duration::from_secs(20);

/// What is typed and copied: accents, Chinese, and a character beyond U+FFFF.
const TEXT: &str = "\u{e9}\u{6f22}\u{5b57}\u{1f600}";

/// `KEYCODE_SHIFT_LEFT`: a key that does nothing by itself.
const SHIFT: i64 = 59;

/// Files of ours on the phone.
const FILES: &str = "ls /data/local/tmp";

/// Settings that the helper must leave as they are.
const ROTATION: &str =
    "settings get system accelerometer_rotation; settings get system user_rotation";

impl Android {
    /// See [`HelperChecks::try_helper`](crate::HelperChecks::try_helper).
    pub(in crate::android) async fn helper_trial(&self) -> Result<HelperTrial, Error> {
        let rotation = self.ask(ShellCommand::new(ROTATION)).await?.out;
        let connection = self.helper("checking the helper").await?;
        let mut trial = Trial { device: self, connection: &connection, done: Vec::new() };
        trial.run().await?;
        let operations = trial.done;
        let variants = connection.hello().map(variants).unwrap_or_default();
        let pid = connection.hello().and_then(|hello| hello.pid);
        drop(connection);
        self.helper.shut_down().await;
        let left = self.left_behind(pid, &rotation).await?;
        Ok(HelperTrial { variants, operations, left })
    }

    /// What stayed on the phone.
    async fn left_behind(&self, pid: Option<u32>, rotation: &str) -> Result<Vec<Leftover>, Error> {
        let mut left = Vec::new();
        let mut found = |what: String, is_expected| left.push(Leftover { what, is_expected });
        let files = self.ask(ShellCommand::new(FILES)).await?.out;
        let ours = files.split_whitespace().filter(|name| name.contains("thumbwire"));
        for name in ours {
            found(format!("/data/local/tmp/{name}"), true);
        }
        if files.split_whitespace().any(|name| name == "dalvik-cache") {
            found("/data/local/tmp/dalvik-cache, of any `app_process` program".into(), true);
        }
        if let Some(pid) = pid {
            let folder = format!("/proc/{pid}");
            let alive = ShellCommand::new("ls -d").arg(&folder)?;
            if self.ask(alive).await?.out.trim() == folder {
                found(format!("the helper's process {pid} has not ended"), false);
            }
        }
        let now = self.ask(ShellCommand::new(ROTATION)).await?.out;
        if now != rotation {
            found("the settings of the rotation have changed".into(), false);
        }
        Ok(left)
    }
}

/// The API level and the hidden methods that were found.
fn variants(hello: &Hello) -> Vec<String> {
    let level = hello.sdk.map(|sdk| format!("API level: {sdk}"));
    let found = hello.variants.iter().map(|(name, variant)| {
        format!("{name}: {}", excerpt(variant.as_deref().unwrap_or("not found")))
    });
    level.into_iter().chain(found).collect()
}

struct Trial<'a> {
    device: &'a Android,
    connection: &'a Connection,
    done: Vec<OperationTrial>,
}

#[derive(Deserialize)]
struct AppsReply {
    apps: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct ReleaseReply {
    released: bool,
}

impl Trial<'_> {
    async fn run(&mut self) -> Result<(), Error> {
        let reports = json!([["power"], ["window", "-a"]]);
        let request = json!({ "reports": reports, "deflate": true });
        let tree = self
            .simple("tree", request, |reply: &TreeReply, body| {
                let tree = reply.tree(body.clone()).map_err(|error| error.to_string())?;
                let tree = ui::read_dump(&tree.xml).map_err(|error| error.to_string())?;
                Ok(format!("{} nodes and what is in front", tree.nodes.len()))
            })
            .await?;
        let (width, height) = tree.map_or((0, 0), |tree| (tree.width, tree.height));
        // The status bar ignores touches.
        let (middle, edge) = (width / 2, height.min(1));
        let tap = json!({ "x": middle, "y": edge });
        self.silent("tap", tap, "at the upper edge").await?;
        let swipe =
            json!({ "x1": middle, "y1": edge, "x2": middle + 20, "y2": edge, "duration_ms": 50 });
        self.silent("swipe", swipe, "20 pixels along the upper edge").await?;
        let finger = |x: i32| json!([[0, x, edge], [50, x + 10, edge]]);
        let fingers = json!({ "fingers": [finger(middle), finger(middle / 2)] });
        self.silent("touch", fingers, "two fingers at the upper edge").await?;
        self.silent("key", json!({ "code": SHIFT }), "Shift").await?;
        self.text().await?;
        self.clipboard().await?;
        self.first_reply("events", json!({}), |_, _| Ok("it listens until cancelled".into())).await;
        self.simple("shot", json!({}), |picture: &PictureReply, body| {
            let kb = body.len().div_ceil(1024);
            Ok(format!("{kb} KB, by {}", picture.method.as_deref().unwrap_or("?")))
        })
        .await?;
        self.first_reply("stream", json!({ "max_side": 480 }), |fields, body| {
            let picture: PictureReply =
                read("stream", fields).map_err(|error| error.to_string())?;
            let kb = body.len().div_ceil(1024);
            let size = picture.screenshot(body).map_err(|error| error.to_string())?.size;
            Ok(format!("{}x{}, {kb} KB, then until cancelled", size.width, size.height))
        })
        .await;
        self.simple("apps", json!({}), |reply: &AppsReply, _| {
            Ok(format!("{} entries of the launcher", reply.apps.len()))
        })
        .await?;
        self.call_service().await?;
        self.simple("release", json!({}), |reply: &ReleaseReply, _| {
            let held = if reply.released { "was let go" } else { "was not held" };
            Ok(format!("UiAutomation {held}"))
        })
        .await?;
        self.time_commands(middle, edge).await
    }

    /// Tries an operation whose reply says nothing.
    async fn silent(
        &mut self,
        op: &'static str,
        request: Value,
        success: &'static str,
    ) -> Result<(), Error> {
        self.simple(op, request, |_: &IgnoredAny, _| Ok(success.into())).await.map(drop)
    }

    /// Tries an operation whose success `describe` describes.
    async fn simple<R: DeserializeOwned>(
        &mut self,
        op: &'static str,
        request: Value,
        describe: impl FnOnce(&R, &Bytes) -> Result<String, String>,
    ) -> Result<Option<R>, Error> {
        self.tried(op, request, &[], describe).await
    }

    /// The same; with one of these errors it could not be tried.
    async fn tried<R: DeserializeOwned>(
        &mut self,
        op: &'static str,
        request: Value,
        skipped: &[&str],
        describe: impl FnOnce(&R, &Bytes) -> Result<String, String>,
    ) -> Result<Option<R>, Error> {
        let began = Instant::now();
        let reply = self.connection.ask(op, fields(request), LIMIT).await;
        let took = began.elapsed();
        let (result, done) = match reply {
            Ok(Reply::Done(fields, body) | Reply::More(fields, body)) => {
                let described = read(op, fields).map_err(|error| error.to_string());
                let described =
                    described.and_then(|reply: R| describe(&reply, &body).map(|it| (it, reply)));
                match described {
                    Ok((text, reply)) => (TrialResult::Passed(text), Some(reply)),
                    Err(text) => (TrialResult::Failed(text), None),
                }
            }
            Ok(Reply::Failed(HelperError { code, message, .. })) => {
                let text = format!("{code}: {message}");
                let is_skipped = code == "unsupported" || skipped.contains(&&*code);
                let result =
                    if is_skipped { TrialResult::Skipped(text) } else { TrialResult::Failed(text) };
                (result, None)
            }
            Err(error) => match unanswered(error, "answer") {
                lost @ Error::NotConnected { .. } => return Err(lost),
                error => (TrialResult::Failed(error.to_string()), None),
            },
        };
        self.done.push(OperationTrial { op, result, took, shell: None });
        Ok(done)
    }

    /// Types into the field that has the focus, if one has, and puts back what it had.
    async fn text(&mut self) -> Result<(), Error> {
        let typing = json!({ "text": TEXT });
        let typed = self
            .tried("text", typing, &["not_found"], |reply: &TextReply, _| {
                let method = reply.method;
                match &reply.found {
                    _ if reply.complete => Ok(format!("typed and read back, by {method:?}")),
                    None => Ok(format!("typed by {method:?}; the field hides its text")),
                    Some(found) => Err(format!("the field has {:?}", excerpt(found))),
                }
            })
            .await?;
        if let Some(before) = typed.and_then(|reply| reply.found) {
            let back = json!({ "text": before.replacen(TEXT, "", 1), "replace": true });
            let reply = self.connection.ask("text", fields(back), LIMIT).await;
            if !matches!(reply, Ok(Reply::Done(..))) {
                let result = TrialResult::Failed("the field still has the text".into());
                let took = Duration::ZERO;
                self.done.push(OperationTrial { op: "text", result, took, shell: None });
            }
        }
        Ok(())
    }

    async fn clipboard(&mut self) -> Result<(), Error> {
        let before = self
            .simple("clip_get", json!({}), |reply: &ClipboardReply, _| {
                let length = reply.text.as_ref().map(|text| text.chars().count());
                Ok(length.map_or("no text".into(), |length| format!("{length} characters")))
            })
            .await?;
        let Some(before) = before else { return Ok(()) };
        self.silent("clip_set", json!({ "text": TEXT }), "accents and an emoji").await?;
        let now = self.connection.ask("clip_get", Header::new(), LIMIT).await;
        let has_arrived = match now {
            Ok(Reply::Done(fields, _)) => read("clip_get", fields)
                .is_ok_and(|reply: ClipboardReply| reply.text.as_deref() == Some(TEXT)),
            _ => false,
        };
        let back = fields(json!({ "text": before.text.unwrap_or_default() }));
        let restored = self.connection.ask("clip_set", back, LIMIT).await;
        let failed = match (has_arrived, restored) {
            (false, _) => "it is not what the clipboard then has",
            (true, Ok(Reply::Done(..))) => return Ok(()),
            (true, _) => "the former text could not be put back",
        };
        if let Some(last) = self.done.last_mut() {
            last.result = TrialResult::Failed(failed.into());
        }
        Ok(())
    }

    /// Begins an operation that replies until it is cancelled, waits for its first reply, and
    /// cancels it.
    async fn first_reply(
        &mut self,
        op: &'static str,
        request: Value,
        describe: impl FnOnce(Header, Bytes) -> Result<String, String>,
    ) {
        let began = Instant::now();
        let result = match self.connection.begin(op, fields(request)) {
            Err(error) => TrialResult::Failed(unanswered(error, "answer").to_string()),
            Ok(mut replies) => match timeout(LIMIT, replies.next()).await {
                Ok(Ok(Reply::More(fields, body))) => match describe(fields, body) {
                    Ok(text) => TrialResult::Passed(text),
                    Err(text) => TrialResult::Failed(text),
                },
                Ok(Ok(Reply::Failed(error))) if error.code == "unsupported" => {
                    TrialResult::Skipped(format!("{}: {}", error.code, error.message))
                }
                Ok(reply) => TrialResult::Failed(excerpt(format!("{reply:?}"))),
                Err(_) => TrialResult::Failed("no answer".into()),
            },
        };
        self.done.push(OperationTrial { op, result, took: began.elapsed(), shell: None });
    }

    /// A service that does not exist: no app is started.
    async fn call_service(&mut self) -> Result<(), Error> {
        let nobody = json!({
            "component": "org.thumbwire.nobody/.Service", "extras": [],
            "callbacks": ["callback"], "result_extras": [], "limit_ms": 2000,
        });
        let answered =
            |_: &IgnoredAny, _: &Bytes| Err("a service that does not exist has answered".into());
        self.simple(call_service::OP, nobody, answered).await?;
        if let Some(OperationTrial { result, .. }) = self.done.last_mut()
            && matches!(result, TrialResult::Failed(text) if text.starts_with("not_found"))
        {
            *result = TrialResult::Passed("a service that does not exist is not found".into());
        }
        Ok(())
    }

    /// How long shell commands take for the same.
    async fn time_commands(&mut self, x: i32, y: i32) -> Result<(), Error> {
        let device = self.device;
        let tap = ShellCommand::new("input tap").number(x).number(y);
        let key = ShellCommand::new("input keyevent").number(SHIFT);
        let commands = [
            ("tree", "uiautomator dump", ui::dump_command(TreeDetail::Full)),
            ("tap", "input tap", tap),
            ("key", "input keyevent", key),
            ("shot", "screencap -p", ShellCommand::new("screencap -p")),
        ];
        for (op, name, command) in commands {
            let began = Instant::now();
            device.fetch(command).await?;
            let took = began.elapsed();
            let same = |trial: &&mut OperationTrial| trial.op == op;
            if let Some(trial) = self.done.iter_mut().find(same) {
                trial.shell = Some((name, took));
            }
        }
        Ok(())
    }
}
