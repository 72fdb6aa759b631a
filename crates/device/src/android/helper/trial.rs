//! Tries each operation of the helper once on a phone, for `thumbwire doctor --helper`: what it did, how long it took, what
//! the shell's command takes, and what is left behind.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::connection::Connection;
use super::frame::Header;
use super::protocol::{HelperError, Reply};
use super::{fields, unanswered};
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
    /// See [`HealthChecks::try_helper`](crate::HealthChecks::try_helper).
    pub(in crate::android) async fn helper_trial(&self) -> Result<HelperTrial, Error> {
        let rotation = self.ask(ShellCommand::new(ROTATION)).await?.out;
        let connection = self.helper("checking the helper").await?;
        let mut trial = Trial { device: self, connection: &connection, done: Vec::new() };
        trial.run().await?;
        let operations = trial.done;
        let variants = variants(connection.hello());
        let pid = connection.hello().and_then(|hello| hello.get("pid")?.as_u64());
        drop(connection);
        self.helper.shut_down().await;
        let left = self.left_behind(pid, &rotation).await?;
        Ok(HelperTrial { variants, operations, left })
    }

    /// What stayed on the phone.
    async fn left_behind(&self, pid: Option<u64>, rotation: &str) -> Result<Vec<Leftover>, Error> {
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
fn variants(hello: Option<&Header>) -> Vec<String> {
    let Some(hello) = hello else { return Vec::new() };
    let level = hello.get("sdk").and_then(Value::as_u64).map(|sdk| format!("API level: {sdk}"));
    let found = hello.get("variants").and_then(Value::as_object).into_iter().flatten();
    let found = found.map(|(name, variant)| match variant {
        Value::String(text) => format!("{name}: {}", excerpt(text)),
        other => format!("{name}: {}", excerpt(other.to_string())),
    });
    level.into_iter().chain(found).collect()
}

struct Trial<'a> {
    device: &'a Android,
    connection: &'a Connection,
    done: Vec<OperationTrial>,
}

/// A successful reply.
type Done = (Header, Bytes);

impl Trial<'_> {
    async fn run(&mut self) -> Result<(), Error> {
        self.simple("ping", json!({}), |_| Ok("it answers".into())).await?;
        let reports = json!([["power"], ["window", "-a"]]);
        let tree = self
            .simple("tree", json!({ "reports": reports, "deflate": true }), |(output, body)| {
                let length = output.get("tree_bytes").and_then(Value::as_u64).unwrap_or(0);
                let xml = body.get(..usize::try_from(length).unwrap_or(usize::MAX));
                let tree = ui::read_dump(xml.ok_or("no tree")?).map_err(|why| why.to_string())?;
                Ok(format!("{} nodes and what is in front", tree.nodes.len()))
            })
            .await?;
        let (mut width, mut height) = (0, 0);
        if let Some((output, _)) = &tree {
            let number = |name: &str| output.get(name).and_then(Value::as_i64).unwrap_or(0);
            (width, height) = (number("width"), number("height"));
            let act = json!({ "rev": number("rev"), "node": 0, "action": "accessibility_focus" });
            self.tried("act", act, &["refused"], |_| Ok("on the first node".into())).await?;
        }
        // The status bar ignores both.
        let (middle, edge) = (width / 2, height.min(1));
        let tap = json!({ "x": middle, "y": edge });
        self.simple("tap", tap, |_| Ok("at the upper edge".into())).await?;
        let swipe =
            json!({ "x1": middle, "y1": edge, "x2": middle + 20, "y2": edge, "duration_ms": 50 });
        self.simple("swipe", swipe, |_| Ok("20 pixels along the upper edge".into())).await?;
        let finger = |x: i64| json!([[0, x, edge], [50, x + 10, edge]]);
        let fingers = json!({ "fingers": [finger(middle), finger(middle / 2)] });
        self.simple("touch", fingers, |_| Ok("two fingers at the upper edge".into())).await?;
        self.simple("key", json!({ "code": SHIFT }), |_| Ok("Shift".into())).await?;
        self.text().await?;
        self.clipboard().await?;
        let quiet = json!({ "idle_ms": 200, "limit_ms": 3000 });
        self.simple("quiet", quiet, |(output, _)| {
            Ok(match output.get("quiet") {
                Some(Value::Bool(true)) => "the screen is still".into(),
                _ => "the screen keeps moving".into(),
            })
        })
        .await?;
        let listens = |_: &Done| "it listens until cancelled".into();
        self.first_reply("events", json!({}), listens).await;
        for format in ["jpeg", "webp", "png"] {
            let shot = json!({ "format": format });
            self.simple("shot", shot, |(output, body)| {
                let via = output.get("via").and_then(Value::as_str).unwrap_or("?");
                Ok(format!("{format}, {} KB, by {via}", body.len().div_ceil(1024)))
            })
            .await?;
        }
        self.first_reply("stream", json!({ "max_side": 480 }), |(output, body)| {
            let side = |name: &str| output.get(name).and_then(Value::as_i64).unwrap_or(0);
            let kb = body.len().div_ceil(1024);
            format!("{}x{}, {kb} KB, then until cancelled", side("width"), side("height"))
        })
        .await;
        let report = json!({ "service": ["power"] });
        self.simple("report", report, |(_, body)| Ok(format!("{} bytes", body.len()))).await?;
        self.apps().await?;
        self.simple("tools", json!({}), |(output, _)| {
            let services = output.get("services").and_then(Value::as_array).map_or(0, Vec::len);
            Ok(format!("{services} services of apps"))
        })
        .await?;
        self.courier().await?;
        self.simple("release", json!({}), |(output, _)| {
            Ok(match output.get("released") {
                Some(Value::Bool(true)) => "UiAutomation was let go".into(),
                _ => "UiAutomation was not held".into(),
            })
        })
        .await?;
        self.time_commands(middle, edge).await
    }

    /// Tries an operation whose success `tell` describes.
    async fn simple(
        &mut self,
        op: &'static str,
        request: Value,
        tell: impl FnOnce(&Done) -> Result<String, String>,
    ) -> Result<Option<Done>, Error> {
        self.tried(op, request, &[], tell).await
    }

    /// The same; with one of these errors it could not be tried.
    async fn tried(
        &mut self,
        op: &'static str,
        request: Value,
        skipped: &[&str],
        tell: impl FnOnce(&Done) -> Result<String, String>,
    ) -> Result<Option<Done>, Error> {
        let began = Instant::now();
        let reply = self.connection.ask(op, fields(request), LIMIT).await;
        let took = began.elapsed();
        let (result, done) = match reply {
            Ok(Reply::Done(output, body) | Reply::More(output, body)) => {
                let done = (output, body);
                match tell(&done) {
                    Ok(text) => (TrialResult::Passed(text), Some(done)),
                    Err(text) => (TrialResult::Failed(text), None),
                }
            }
            Ok(Reply::Failed(HelperError { code, text, .. })) => {
                let text = format!("{code}: {text}");
                let is_skipped = code == "unsupported" || skipped.contains(&&*code);
                let result = match is_skipped {
                    true => TrialResult::Skipped(text),
                    false => TrialResult::Failed(text),
                };
                (result, None)
            }
            Err(why) => match unanswered(why, "answer") {
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
            .tried("text", typing, &["not_found"], |(output, _)| {
                let how = output.get("how").and_then(Value::as_str).unwrap_or("?");
                match (output.get("found").and_then(Value::as_str), output.get("complete")) {
                    (_, Some(Value::Bool(true))) => Ok(format!("typed and read back, by {how}")),
                    (None, _) => Ok(format!("typed by {how}; the field hides its text")),
                    (Some(found), _) => Err(format!("the field has {:?}", excerpt(found))),
                }
            })
            .await?;
        let found = typed.as_ref().and_then(|(output, _)| output.get("found")?.as_str());
        if let Some(before) = found.map(|found| found.replacen(TEXT, "", 1)) {
            let back = json!({ "text": before, "replace": true });
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
        let text = |output: &Header| output.get("text").and_then(Value::as_str).map(str::to_owned);
        let before = self
            .simple("clip_get", json!({}), |(output, _)| {
                Ok(match text(output) {
                    Some(text) => format!("{} characters", text.chars().count()),
                    None => "no text".into(),
                })
            })
            .await?;
        let Some((before, _)) = before else { return Ok(()) };
        let set = json!({ "text": TEXT });
        self.simple("clip_set", set, |_| Ok("accents and an emoji".into())).await?;
        let now = self.connection.ask("clip_get", Header::new(), LIMIT).await;
        let is_same = |output: &Header| text(output).as_deref() == Some(TEXT);
        let arrived = matches!(&now, Ok(Reply::Done(output, _)) if is_same(output));
        let back = fields(json!({ "text": text(&before).unwrap_or_default() }));
        let restored = self.connection.ask("clip_set", back, LIMIT).await;
        let failed = match (arrived, restored) {
            (false, _) => "it is not what the clipboard then has",
            (true, Ok(Reply::Done(..))) => return Ok(()),
            (true, _) => "the former text could not be put back",
        };
        if let Some(last) = self.done.last_mut() {
            last.result = TrialResult::Failed(failed.into());
        }
        Ok(())
    }

    /// Begins an operation that replies until it is cancelled, waits for its first reply, and cancels it.
    async fn first_reply(
        &mut self,
        op: &'static str,
        request: Value,
        tell: impl FnOnce(&Done) -> String,
    ) {
        let began = Instant::now();
        let result = match self.connection.begin(op, fields(request)) {
            Err(why) => TrialResult::Failed(unanswered(why, "answer").to_string()),
            Ok(mut replies) => match timeout(LIMIT, replies.next()).await {
                Ok(Ok(Reply::More(output, body))) => TrialResult::Passed(tell(&(output, body))),
                Ok(Ok(Reply::Failed(error))) if error.code == "unsupported" => {
                    TrialResult::Skipped(format!("{}: {}", error.code, error.text))
                }
                Ok(reply) => TrialResult::Failed(excerpt(format!("{reply:?}"))),
                Err(_) => TrialResult::Failed("no answer".into()),
            },
        };
        self.done.push(OperationTrial { op, result, took: began.elapsed(), shell: None });
    }

    async fn apps(&mut self) -> Result<(), Error> {
        let listed = self
            .simple("apps", json!({}), |(output, _)| {
                let apps = output.get("apps").and_then(Value::as_array).map_or(0, Vec::len);
                Ok(format!("{apps} entries of the launcher"))
            })
            .await?;
        let first = listed.as_ref().and_then(|(output, _)| {
            output.get("apps")?.as_array()?.first()?.get("package")?.as_str()
        });
        let Some(package) = first else { return Ok(()) };
        self.simple("icon", json!({ "package": package }), |(_, body)| {
            match body.starts_with(b"\x89PNG") {
                true => Ok(format!("a PNG of {} KB", body.len().div_ceil(1024))),
                false => Err("not a PNG".into()),
            }
        })
        .await
        .map(drop)
    }

    /// A service that does not exist: no app is started.
    async fn courier(&mut self) -> Result<(), Error> {
        let nobody = json!({
            "component": "org.thumbwire.nobody/.Service", "extras": [], "callbacks": ["callback"], "wanted": [],
            "limit_ms": 2000,
        });
        let answered = |_: &Done| Err("a service that does not exist has answered".to_owned());
        self.tried("courier", nobody, &[], answered).await?;
        if let Some(OperationTrial { result, .. }) = self.done.last_mut()
            && matches!(result, TrialResult::Failed(text) if text.starts_with("not_found"))
        {
            *result = TrialResult::Passed("a service that does not exist is not found".into());
        }
        Ok(())
    }

    /// How long shell commands take for the same.
    async fn time_commands(&mut self, x: i64, y: i64) -> Result<(), Error> {
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
