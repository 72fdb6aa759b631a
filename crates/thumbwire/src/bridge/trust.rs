//! Whose tools may be called.
//!
//! Nothing is allowed by itself: an app is called if the operator's list names it, or if the operator trusted it by name
//! ([`Bridge::trust`]). On the first call it is pinned: its certificate, and a digest of all that it says of each tool. From then on
//! another signer is refused, and a tool that is new or says something else is asked about, because its words stand before a model. An
//! update with the same words passes; so does a tool that is gone.
//!
//! The digest is made of what is shown: what was cut off no model reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};
use thumbwire_device::{AppId, Device};
use thumbwire_mobile_mcp::words::harmless;

use super::store::{MemoryStore, Pin, TrustStore};
use super::{Bridge, BridgeOptions, quoted};
use crate::action::{AppTool, AppTools, Ask, Cause, Failure, Trusted, agrees};

/// How many digests of one tool are remembered: versions of an app on several phones.
const VERSIONS: usize = 4;

/// How many tools a question names.
const NAMED: usize = 5;

/// How much of a tool's words a question has, of how many of its arguments, and how much of theirs: what `surface::bridged` tells a model.
const SAID: usize = 300;
const ARGUMENTS: usize = 32;
const OF_AN_ARGUMENT: usize = 120;

/// Whose tools may be called.
#[derive(Clone)]
pub struct Trust {
    /// Packages by name: `com.example.clock`; all whose names begin so: `com.example.*`; or `*`, all.
    pub allow: Vec<String>,
    /// What is remembered of those that were called.
    pub store: Arc<dyn TrustStore>,
}

impl Default for Trust {
    /// Nobody's, and what is remembered ends with the session.
    fn default() -> Self {
        Self { allow: Vec::new(), store: Arc::new(MemoryStore::default()) }
    }
}

impl Trust {
    /// Whether the operator's list names the app.
    fn allows(&self, app: &AppId) -> bool {
        self.allow.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some("") => true,
            // `com.exam*` would let in what sits beside: only whole segments.
            Some(start) => start.ends_with('.') && app.0.starts_with(start),
            None => app.0 == *pattern,
        })
    }

    /// Whether the app's tools may be called, by what is remembered of it.
    pub(super) fn judge(&self, tools: &AppTools, pin: Option<&Pin>) -> Trusted {
        if !self.allows(&tools.app) && !pin.is_some_and(|pin| pin.allowed) {
            return Trusted::NotAllowed;
        }
        let Some(pin) = pin else { return Trusted::Yes };
        // One that could not be read any more is another one.
        if !pin.certificate.is_empty() && pin.certificate != tools.certificate {
            return Trusted::OtherSigner;
        }
        match changes(tools, pin) {
            None => Trusted::Yes,
            Some(words) => Trusted::Changed(words),
        }
    }
}

impl Bridge {
    /// Trusts an app's tools from now on as they are on this phone: its certificate and its words. Whoever calls this is the operator, or
    /// has asked them.
    ///
    /// # Errors
    /// When the app offers nothing, the phone cannot tell, or it cannot be remembered.
    pub async fn trust(&self, device: &dyn Device, app: &AppId) -> Result<(), Failure> {
        let catalog = self.catalog(device, std::time::Duration::ZERO).await?;
        let mut pin = Pin { allowed: true, ..Pin::default() };
        let mut offers = catalog.apps.iter().filter(|tools| tools.app == *app).peekable();
        if offers.peek().is_none() {
            return Err(nothing(app, "(any)").into());
        }
        for tools in offers {
            agree(&mut pin, tools);
        }
        self.remember(app, pin)
    }

    /// Whether any app's tools may be called, as far as that can be known without a phone.
    pub fn allows_any(&self) -> bool {
        let trusted = || self.pins().is_ok_and(|pins| pins.values().any(|pin| pin.allowed));
        !self.options.trust.allow.is_empty() || trusted()
    }

    /// Sees to it that the app's tools may be called: pins what is new, asks about what has changed.
    pub(super) async fn settled(&self, tools: &AppTools, ask: &dyn Ask) -> Result<(), Failure> {
        let store = &self.options.trust.store;
        let refused = |why| Failure::from(Cause::Refused { why });
        // Once more where another program has changed the pin meanwhile: a question leaves it minutes to do so.
        loop {
            let pins = self.pins()?;
            let known = pins.get(&tools.app.0);
            self.agreed(tools, known, ask).await?;
            let mut pin = known.cloned().unwrap_or_default();
            agree(&mut pin, tools);
            if known == Some(&pin) || store.replace(&tools.app.0, known, pin).map_err(refused)? {
                return Ok(());
            }
        }
    }

    /// That the app may be called as it is, by what is remembered of it or by a person who was asked.
    async fn agreed(
        &self,
        tools: &AppTools,
        known: Option<&Pin>,
        ask: &dyn Ask,
    ) -> Result<(), Failure> {
        let refused = |why: &str| {
            Err(Cause::AppNotTrusted { app: tools.app.0.clone(), why: why.into() }.into())
        };
        match self.options.trust.judge(tools, known) {
            Trusted::Yes => Ok(()),
            Trusted::NotAllowed => refused("the operator has not allowed the app"),
            Trusted::OtherSigner => refused(
                "it is signed by somebody else than when it was first used; an app of the same name may have taken its place",
            ),
            Trusted::Changed(what) => {
                let nothing = Pin::default();
                match ask.ask(&question(tools, known.unwrap_or(&nothing), &what)).await {
                    Some(answer) if agrees(&answer) => Ok(()),
                    Some(_) => refused(&format!("{what}, and the person said no")),
                    None => refused(&format!(
                        "{what} since it was agreed to, and nobody was there to agree again"
                    )),
                }
            }
        }
    }

    pub(super) fn pins(&self) -> Result<super::Pins, Failure> {
        self.options.trust.store.pins().map_err(|why| Cause::Refused { why }.into())
    }

    fn remember(&self, app: &AppId, pin: Pin) -> Result<(), Failure> {
        let BridgeOptions { trust, .. } = &self.options;
        trust.store.keep(&app.0, Some(pin)).map_err(|why| Cause::Refused { why }.into())
    }
}

/// The refusal for an app that offers nothing.
pub(super) fn nothing(app: &AppId, tool: &str) -> Cause {
    let why = Some("this app offers nothing to programs, or is not on this phone".into());
    Cause::AppToolNotFound { app: harmless(&app.0, 200), tool: harmless(tool, 200), why }
}

/// Takes the app as it is now for what was agreed to.
fn agree(pin: &mut Pin, tools: &AppTools) {
    if !tools.certificate.is_empty() {
        pin.certificate.clone_from(&tools.certificate);
    }
    for (name, digest) in digests(tools) {
        let known = pin.agreed.entry(name).or_default();
        known.retain(|one| *one != digest);
        known.push(digest);
        let old = known.len().saturating_sub(VERSIONS);
        known.drain(..old);
    }
}

/// What is offered that was not agreed to: each tool with whether it is new.
fn unagreed<'a>(tools: &'a AppTools, pin: &Pin) -> Vec<(Option<&'a AppTool>, bool)> {
    let parts = std::iter::once(None).chain(tools.tools.iter().map(Some));
    let judged = parts.filter_map(|part| {
        let known = pin.agreed.get(&name(tools, part));
        let digest = digest(tools, part);
        match known {
            Some(known) if known.contains(&digest) => None,
            known => Some((part, known.is_none())),
        }
    });
    judged.collect()
}

/// What has changed, in words; `None` where nothing has.
fn changes(tools: &AppTools, pin: &Pin) -> Option<String> {
    let unagreed = unagreed(tools, pin);
    // Whoever is readable now need not be who was not.
    let is_signed_anew =
        pin.certificate.is_empty() && !tools.certificate.is_empty() && !pin.agreed.is_empty();
    if unagreed.is_empty() && !is_signed_anew {
        return None;
    }
    let word = |(part, new): &(Option<&AppTool>, bool)| match (part, new) {
        (None, true) => format!("it offers tools by {} now", tools.by.name()),
        (None, false) => "it says something else of itself".to_owned(),
        (Some(tool), true) => format!("{} is new", harmless(&tool.id, 60)),
        (Some(tool), false) => format!("{} says something else of itself", harmless(&tool.id, 60)),
    };
    let signer = "who signed it can be told now, and could not be";
    let mut words: Vec<_> = is_signed_anew.then(|| signer.to_owned()).into_iter().collect();
    words.extend(unagreed.iter().take(NAMED).map(word));
    if unagreed.len() > NAMED {
        words.push(format!("and {} more have changed", unagreed.len() - NAMED));
    }
    Some(words.join(", "))
}

/// What a person is asked about an app that has changed: the words as a model would read them, those of its arguments too.
fn question(tools: &AppTools, pin: &Pin, what: &str) -> String {
    let mut question = format!(
        "The app {} has changed since its tools were agreed to: {what}. In its own words, which are no words of ours:\n",
        tools.app
    );
    for (part, _) in unagreed(tools, pin).into_iter().take(NAMED) {
        let (name, says) = match part {
            None => (&tools.name, &tools.description),
            Some(tool) => (&tool.id, &tool.description),
        };
        let _ = write!(question, "- {} says {}", harmless(name, 60), quoted(says, SAID));
        for it in part.into_iter().flat_map(|tool| &tool.input).take(ARGUMENTS) {
            let says = quoted(&it.description, OF_AN_ARGUMENT);
            let _ = write!(question, "; of its argument {} {says}", harmless(&it.name, 60));
        }
        question.push('\n');
    }
    question.push_str("May its tools be called from now on?");
    question
}

/// The digest of each part of what an app says, by its name.
fn digests(tools: &AppTools) -> BTreeMap<String, String> {
    let parts = std::iter::once(None).chain(tools.tools.iter().map(Some));
    parts.map(|part| (name(tools, part), digest(tools, part))).collect()
}

/// How a part is called in a pin: the protocol, for what the app says of itself, and for a tool its service and its id.
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

/// SHA-256 of a part's words. Each is hashed with its length before it, so that none can slide into the next.
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

/// The same value with the members of each object by name: the order in which a phone prints them says nothing.
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
