//! Which apps' tools may be called.
//!
//! Nothing is allowed by default: the operator's list must name the app, or the operator must have
//! trusted it by name ([`AppToolHost::trust`]). The first call pins the app: its certificate, and a
//! digest of everything it says about each tool. From then on another signer is refused, and new or
//! changed tools need confirmation, because a model reads their texts. Updates with the same texts
//! pass, and so do removed tools.
//!
//! The digest covers what is shown: no model reads what was cut off.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};
use thumbwire_base::sanitize;
use thumbwire_device::{AppId, Device};

use super::trust_store::{MemoryStore, Pin, TrustStore};
use super::{AppToolHost, AppToolOptions, quoted};
use crate::action::{
    AppTool, AppTools, AskUser, Cause, Failure, Question, TrustStatus, UserAnswer, agrees,
};

/// How many digests of one tool are kept: versions of an app on several phones.
const VERSIONS: usize = 4;

/// How many tools a question names.
const NAMED: usize = 5;

/// How many characters of a tool's description, how many of its arguments, and how many characters
/// of their descriptions a question shows: the same that `toolset::app_tools` shows a model.
const SAID: usize = 300;
const ARGUMENTS: usize = 32;
const OF_AN_ARGUMENT: usize = 120;

/// Which apps' tools may be called.
#[derive(Clone)]
pub struct TrustRules {
    /// Packages by name: `com.example.clock`; a prefix: `com.example.*`; or `*` for all.
    pub allow: Vec<String>,
    /// The pins of apps that were called.
    pub store: Arc<dyn TrustStore>,
}

impl Default for TrustRules {
    /// Allows no app, with pins in memory only.
    fn default() -> Self {
        Self { allow: Vec::new(), store: Arc::new(MemoryStore::default()) }
    }
}

impl TrustRules {
    /// Whether the operator's list names the app.
    fn allows(&self, app: &AppId) -> bool {
        self.allow.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some("") => true,
            // `com.exam*` would also match unrelated packages, so only whole segments count.
            Some(start) => start.ends_with('.') && app.0.starts_with(start),
            None => app.0 == *pattern,
        })
    }

    /// Whether the app's tools may be called, given its pin.
    pub(super) fn trust_status(&self, tools: &AppTools, pin: Option<&Pin>) -> TrustStatus {
        if !self.allows(&tools.app) && !pin.is_some_and(|pin| pin.allowed) {
            return TrustStatus::NotAllowed;
        }
        let Some(pin) = pin else { return TrustStatus::Yes };
        // A certificate that can no longer be read counts as another one.
        if !pin.certificate.is_empty() && pin.certificate != tools.certificate {
            return TrustStatus::OtherSigner;
        }
        match changes(tools, pin) {
            None => TrustStatus::Yes,
            Some(words) => TrustStatus::Changed(words),
        }
    }
}

impl AppToolHost {
    /// Trusts an app's tools from now on, with the certificate and texts that it has on this phone.
    /// The caller must be the operator, or have asked them.
    ///
    /// # Errors
    /// If the app offers nothing, the phone cannot answer, or the pin cannot be stored.
    pub async fn trust(&self, device: &dyn Device, app: &AppId) -> Result<(), Failure> {
        let catalog = self.catalog(device, std::time::Duration::ZERO).await?;
        let mut pin = Pin { allowed: true, ..Pin::default() };
        let mut offers = catalog.apps.iter().filter(|tools| tools.app == *app).peekable();
        if offers.peek().is_none() {
            return Err(no_tool_error(app, "(any)").into());
        }
        for tools in offers {
            accept(&mut pin, tools);
        }
        self.remember(app, pin)
    }

    /// Whether any app's tools may be called, as far as that is known without a phone.
    pub fn allows_any(&self) -> bool {
        let trusted = || self.pins().is_ok_and(|pins| pins.values().any(|pin| pin.allowed));
        !self.options.trust.allow.is_empty() || trusted()
    }

    /// Ensures that the app's tools may be called: pins new ones, asks about changes.
    pub(super) async fn ensure_trusted(
        &self,
        tools: &AppTools,
        ask: &dyn AskUser,
    ) -> Result<(), Failure> {
        let store = &self.options.trust.store;
        let refused = |reason| Failure::from(Cause::Refused { reason });
        // Retry if another program has changed the pin in the meantime: a question leaves it
        // minutes to do so.
        loop {
            let pins = self.pins()?;
            let known = pins.get(&tools.app.0);
            self.confirm_changes(tools, known, ask).await?;
            let mut pin = known.cloned().unwrap_or_default();
            accept(&mut pin, tools);
            if known == Some(&pin) || store.replace(&tools.app.0, known, pin).map_err(refused)? {
                return Ok(());
            }
        }
    }

    /// Checks that the app may be called as it is, by its pin or by the user's confirmation.
    async fn confirm_changes(
        &self,
        tools: &AppTools,
        known: Option<&Pin>,
        ask: &dyn AskUser,
    ) -> Result<(), Failure> {
        let refused = |reason: &str| {
            Err(Cause::AppNotTrusted { app: tools.app.0.clone(), reason: reason.into() }.into())
        };
        match self.options.trust.trust_status(tools, known) {
            TrustStatus::Yes => Ok(()),
            TrustStatus::NotAllowed => refused("the operator has not allowed the app"),
            TrustStatus::OtherSigner => refused(
                "its signing certificate differs from the one at first use; another app may have taken its name",
            ),
            TrustStatus::Changed(what) => {
                let nothing = Pin::default();
                match ask.ask(&question(tools, known.unwrap_or(&nothing), &what)).await {
                    UserAnswer::Text(answer) if agrees(&answer) => Ok(()),
                    UserAnswer::Text(_) | UserAnswer::Declined => {
                        refused(&format!("{what}, and the user declined"))
                    }
                    UserAnswer::Dismissed => refused(&format!(
                        "{what}, and the user closed the question without an answer"
                    )),
                    UserAnswer::NoUser => refused(&format!(
                        "{what} since it was trusted, and no user was available to confirm"
                    )),
                }
            }
        }
    }

    pub(super) fn pins(&self) -> Result<super::Pins, Failure> {
        self.options.trust.store.pins().map_err(|reason| Cause::Refused { reason }.into())
    }

    fn remember(&self, app: &AppId, pin: Pin) -> Result<(), Failure> {
        let AppToolOptions { trust, .. } = &self.options;
        trust.store.save(&app.0, Some(pin)).map_err(|reason| Cause::Refused { reason }.into())
    }
}

/// The failure for an app that offers nothing.
pub(super) fn no_tool_error(app: &AppId, tool: &str) -> Cause {
    let reason = Some("the app offers no tools, or is not installed on this phone".into());
    Cause::AppToolNotFound { app: sanitize(&app.0, 200), tool: sanitize(tool, 200), reason }
}

/// Accepts the app as it is now.
fn accept(pin: &mut Pin, tools: &AppTools) {
    if !tools.certificate.is_empty() {
        pin.certificate.clone_from(&tools.certificate);
    }
    for (name, digest) in digests(tools) {
        let known = pin.accepted.entry(name).or_default();
        known.retain(|one| *one != digest);
        known.push(digest);
        let old = known.len().saturating_sub(VERSIONS);
        known.drain(..old);
    }
}

/// Tools that were not accepted, each with whether it is new. `None` stands for the app itself.
fn changed_tools<'a>(tools: &'a AppTools, pin: &Pin) -> Vec<(Option<&'a AppTool>, bool)> {
    let parts = std::iter::once(None).chain(tools.tools.iter().map(Some));
    let judged = parts.filter_map(|part| {
        let known = pin.accepted.get(&name(tools, part));
        let digest = digest(tools, part);
        match known {
            Some(known) if known.contains(&digest) => None,
            known => Some((part, known.is_none())),
        }
    });
    judged.collect()
}

/// What has changed, as text; `None` if nothing has.
fn changes(tools: &AppTools, pin: &Pin) -> Option<String> {
    let unaccepted = changed_tools(tools, pin);
    // A signer that is readable now may not be the one that was unreadable then.
    let is_signed_anew =
        pin.certificate.is_empty() && !tools.certificate.is_empty() && !pin.accepted.is_empty();
    if unaccepted.is_empty() && !is_signed_anew {
        return None;
    }
    let word = |(part, new): &(Option<&AppTool>, bool)| match (part, new) {
        (None, true) => format!("it now offers tools by {}", tools.by.name()),
        (None, false) => "its description has changed".to_owned(),
        (Some(tool), true) => format!("{} is new", sanitize(&tool.id, 60)),
        (Some(tool), false) => format!("{} has changed", sanitize(&tool.id, 60)),
    };
    let signer = "its signing certificate is readable now and was not before";
    let mut text: Vec<_> = is_signed_anew.then(|| signer.to_owned()).into_iter().collect();
    text.extend(unaccepted.iter().take(NAMED).map(word));
    if unaccepted.len() > NAMED {
        text.push(format!("and {} more have changed", unaccepted.len() - NAMED));
    }
    Some(text.join(", "))
}

/// The question about an app that has changed, with the texts of its tools and arguments as a model
/// would read them.
fn question(tools: &AppTools, pin: &Pin, what: &str) -> Question {
    let mut question = format!(
        "The app {} has changed since its tools were trusted: {what}. The following texts come from the app, not from Thumbwire:\n",
        tools.app
    );
    for (part, _) in changed_tools(tools, pin).into_iter().take(NAMED) {
        let (name, description) = match part {
            None => (&tools.name, &tools.description),
            Some(tool) => (&tool.id, &tool.description),
        };
        let _ = write!(question, "- {}: {}", sanitize(name, 60), quoted(description, SAID));
        for it in part.into_iter().flat_map(|tool| &tool.input).take(ARGUMENTS) {
            let description = quoted(&it.description, OF_AN_ARGUMENT);
            let _ = write!(question, "; argument {}: {description}", sanitize(&it.name, 60));
        }
        question.push('\n');
    }
    question.push_str("Allow its tools from now on?");
    Question::yes_or_no(question)
}

/// The digest of each part of what an app says, by the part's name.
fn digests(tools: &AppTools) -> BTreeMap<String, String> {
    let parts = std::iter::once(None).chain(tools.tools.iter().map(Some));
    parts.map(|part| (name(tools, part), digest(tools, part))).collect()
}

/// The name of a part in a pin: the protocol for the app itself, plus service and id for a tool.
fn name(tools: &AppTools, part: Option<&AppTool>) -> String {
    let by = tools.by.name();
    match part {
        None => by.to_owned(),
        Some(AppTool { id, service: Some(service), .. }) => {
            format!("{by}/{}/{id}", service.class)
        }
        Some(AppTool { id, service: None, .. }) => format!("{by}/{id}"),
    }
}

/// SHA-256 of a part's texts, each prefixed with its length so that none can run into the next.
fn digest(tools: &AppTools, part: Option<&AppTool>) -> String {
    let mut hash = Sha256::new();
    let mut put = |word: &str| {
        hash.update((word.len() as u64).to_be_bytes());
        hash.update(word);
    };
    match part {
        None => {
            put(&tools.name);
            put(&tools.description);
        }
        Some(tool) => {
            put(&tool.id);
            put(&tool.description);
            for list in [&tool.input, &tool.output] {
                put(&list.len().to_string());
                for it in list {
                    let required = if it.required { "required" } else { "" };
                    [&it.name, it.kind, required, &it.description].into_iter().for_each(&mut put);
                }
            }
            let schema =
                tool.schema.clone().map(|schema| sorted(Value::Object(schema)).to_string());
            put(schema.as_deref().unwrap_or_default());
        }
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The value with object members sorted: the order in which a phone prints them means nothing.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let by_name: BTreeMap<_, _> =
                members.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            Value::Object(by_name.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
