//! Verified typing: the field is tapped, cleared until it reads empty, and read back.
//!
//! Begin with [`AttachedDevice::type_text`]. [`judge`], a pure function, compares the field's content with what it should
//! hold. Lost characters are repaired once, if the previous content is known for certain. How text reaches the phone is
//! up to the driver.

#[cfg(test)]
mod tests;

use thumbwire_device::{
    ByteString, Error, Node, SideEffect, Tree, TreeDetail, TypingMethod, text_field,
};

use super::attached_device::AttachedDevice;
use crate::action::{Cause, Failure, Outcome, Readback, TapResult, Target, TextInput, TypeResult};

/// How often a field is erased before giving up.
const ERASURES: usize = 6;

/// How many characters are erased in a field that hides its length.
const UNTOLD: usize = 64;

/// How many characters of a field that cannot be cleared are quoted in the error.
const TOLD: usize = 300;

impl AttachedDevice {
    /// Types as one action: nothing else acts on the phone in between.
    pub(super) async fn type_text(&self, typing: &TextInput) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        // A typing error says itself whether text was typed; the steps around it are added here.
        let acted = |failure| Failure { side_effect: self.acted(), ..failure };
        let prepared = if typing.into.is_some() || typing.clear {
            // Refuse unsupported text before tapping or erasing anything.
            if let Some(editing) = self.device.facets().text_editing {
                editing.check_text(&typing.text).await.map_err(|error| self.failed(&error))?;
            }
            self.prepare(typing).await.map_err(acted)?
        } else {
            PreparedField { into: None, before: self.listed(), cleared: Readback::Same }
        };
        let untouched = self.acted() == SideEffect::None;
        let by = match typing.text.is_empty() {
            true => Ok(TypingMethod::Keys),
            false => self.act(self.device.type_text(&typing.text)).await,
        };
        let by = by.map_err(|failure| if untouched { failure } else { acted(failure) })?;
        let into = prepared.into.clone();
        let field = self.finish(typing, prepared).await.map_err(acted)?;
        Ok(Outcome::Typed(TypeResult { by, field, into }))
    }

    /// Before typing: taps and clears the field.
    async fn prepare(&self, typing: &TextInput) -> Result<PreparedField, Failure> {
        let (into, field) = match &typing.into {
            Some(target) => {
                let (hit, field) = self.focus(target).await?;
                (Some(hit), field)
            }
            None => (None, self.field().await?.ok_or_else(nothing_to_clear)?),
        };
        let mut before = FieldBefore::of(&field);
        let mut cleared = Readback::Same;
        if typing.clear {
            before.holds.clear();
            cleared = self.clear(field).await?;
        }
        Ok(PreparedField { into, before: Some(before), cleared })
    }

    /// After typing: reads the field back and submits it.
    async fn finish(
        &self,
        typing: &TextInput,
        prepared: PreparedField,
    ) -> Result<Readback, Failure> {
        let field = match typing.text.as_str() {
            "" => prepared.cleared,
            text => self.read_back(text, prepared.before).await?,
        };
        if typing.submit {
            self.act(self.device.type_text("\n")).await?;
        }
        Ok(field)
    }

    /// Taps the target and returns the field that has focus afterwards. Reading the tree also gives the field time:
    /// text typed while it opens loses its beginning (reported for phones with Android 14).
    async fn focus(&self, target: &Target) -> Result<(TapResult, Node), Failure> {
        let hit = self.tap_on(target).await?;
        let mut tree = self.tree_for_typing().await?;
        let missed = has_missed(&hit, &tree);
        let focused = text_field::focused(&tree).map(|at| tree.nodes.swap_remove(at));
        let reason = match focused {
            Some(node)
                if !missed && (node.bounds.contains(hit.at) || !was_focused(&hit, &node)) =>
            {
                return Ok((hit, node));
            }
            Some(_) => "a tap on it left the focus in another field",
            None => "a tap on it did not focus a text field",
        };
        let cause =
            Cause::ElementNotFound { sought: target.to_string(), reason: Some(reason.into()) };
        Err(Failure { cause, side_effect: SideEffect::Possible })
    }

    /// What the focused field holds, if a snapshot since the last action shows it. Its age does not matter: fields
    /// seldom change by themselves, and if this one did, the later content matches neither.
    fn listed(&self) -> Option<FieldBefore> {
        let (look, unacted) = self.last_snapshot()?;
        let node = &look.tree.nodes[text_field::focused(&look.tree)?];
        (unacted && !node.flags.password).then(|| FieldBefore::of(node))
    }

    /// The field that has focus now.
    async fn field(&self) -> Result<Option<Node>, Failure> {
        let mut tree = self.tree_for_typing().await?;
        Ok(text_field::focused(&tree).map(|at| tree.nodes.swap_remove(at)))
    }

    /// The current tree. Refs stay as they are. A failed read is retried once, because giving up typing halfway costs
    /// the caller more.
    async fn tree_for_typing(&self) -> Result<Tree, Failure> {
        let _turn = self.screen.looking.lock().await;
        let tree = match self.device.tree(TreeDetail::Full).await {
            Err(Error::NotReady { .. } | Error::Failed { .. }) => {
                self.device.tree(TreeDetail::Full).await
            }
            told => told,
        };
        tree.map_err(|error| self.failed(&error))
    }

    /// Erases until the field reads empty. [`Readback::Differs`] if some text remains that is most likely the hint: the
    /// platform does not say.
    async fn clear(&self, mut now: Node) -> Result<Readback, Failure> {
        let mut unmoved = 0;
        for _ in 0..ERASURES {
            let untold = now.text.is_empty() && now.flags.password;
            if now.text.is_empty() && !untold {
                return Ok(Readback::Same);
            }
            let many = if untold { UNTOLD } else { now.text.chars().count() };
            let erasing = async { self.device.text_editing()?.delete_around_cursor(many).await };
            self.act(erasing).await?;
            if untold {
                return Ok(Readback::Hidden);
            }
            if text_field::is_showing_hint(&now) {
                // Erase anyway: the user may have typed the same text as the hint.
                return Ok(Readback::Same);
            }
            let Some(then) = self.field().await? else {
                return Err(Failure { side_effect: SideEffect::Possible, ..nothing_to_clear() });
            };
            if then.text.is_empty() || text_field::is_showing_hint(&then) {
                return Ok(Readback::Same);
            }
            if then.text == now.text {
                unmoved += 1;
                if unmoved == 2
                    && then.hint.is_empty()
                    && then.flags.enabled
                    && !then.flags.password
                {
                    return Ok(Readback::Differs { shows: then.text.into() });
                }
            } else if !is_part(&then.text, &now.text) {
                // After erasing, only a hint can appear as new text.
                return Ok(Readback::Same);
            }
            now = then;
        }
        let shows = match now.flags.password {
            true => format!("{} characters", now.text.chars().count()),
            false => format!("{:?}", now.text.chars().take(TOLD).collect::<String>()),
        };
        let output =
            format!("cannot clear the field: after {ERASURES} attempts it still shows {shows}");
        Err(Failure {
            cause: Cause::DeviceError { text: output },
            side_effect: SideEffect::Possible,
        })
    }

    /// Checks the result of typing `text`, and repairs a loss once if the previous content is known.
    async fn read_back(
        &self,
        text: &str,
        before: Option<FieldBefore>,
    ) -> Result<Readback, Failure> {
        let Some(now) = self.field_if_given().await? else { return Ok(Readback::NoField) };
        if now.flags.password {
            return Ok(Readback::Hidden);
        }
        // If focus moved on to another field, its previous content is unknown.
        let before = before.filter(|before| before.is_of(&now)).map(|before| before.holds);
        let again = match judge(text, before.as_deref(), &contents(&now)) {
            Verdict::Same => return Ok(Readback::Same),
            Verdict::WrongField => return Ok(Readback::NoField),
            Verdict::Differs => return Ok(Readback::Differs { shows: now.text.into() }),
            Verdict::NothingTyped => text.to_owned(),
            Verdict::Lost { whole } => {
                self.clear(now).await?;
                whole
            }
        };
        self.act(self.device.type_text(&again)).await?;
        let Some(now) = self.field_if_given().await? else { return Ok(Readback::NoField) };
        Ok(match judge(text, before.as_deref(), &contents(&now)) {
            Verdict::Same => Readback::Corrected,
            _ => Readback::Differs { shows: now.text.into() },
        })
    }

    /// As [`AttachedDevice::field`], but an unreadable screen does not hide that the text was typed.
    async fn field_if_given(&self) -> Result<Option<Node>, Failure> {
        match self.field().await {
            Err(failure) if !matches!(failure.cause, Cause::DeviceNotConnected { .. }) => Ok(None),
            told => told,
        }
    }
}

/// Whether focus went to a field other than the target, although the target is still there: a screen that moves between
/// snapshot and tap puts a neighbour under the finger. A search bar that gives way to its page's field is gone by then.
fn has_missed(hit: &TapResult, now: &Tree) -> bool {
    let meant = &hit.snapshot.tree.nodes[hit.node];
    let is_meant = |node: &Node| (&node.id, &node.class) == (&meant.id, &meant.class);
    let focused = text_field::focused(now).map(|at| &now.nodes[at]);
    text_field::is_text_field(meant)
        && !meant.id.is_empty()
        && focused.is_some_and(|node| !is_meant(node))
        && now.nodes.iter().any(is_meant)
}

/// Whether the field already had focus in the snapshot that the tap was based on.
fn was_focused(hit: &TapResult, now: &Node) -> bool {
    let tree = &hit.snapshot.tree;
    text_field::focused(tree).map(|at| &tree.nodes[at]).is_some_and(|then| {
        (&then.id, &then.class, then.bounds) == (&now.id, &now.class, now.bounds)
    })
}

fn nothing_to_clear() -> Failure {
    let reason = "cannot clear: no text field has focus. Name the field or tap it first";
    Cause::Refused { reason: reason.into() }.into()
}

/// What is known about the field before the text is sent.
struct PreparedField {
    into: Option<TapResult>,
    before: Option<FieldBefore>,
    cleared: Readback,
}

/// What a field held before typing.
struct FieldBefore {
    id: ByteString,
    class: ByteString,
    holds: String,
}

impl FieldBefore {
    fn of(node: &Node) -> Self {
        Self { id: node.id.clone(), class: node.class.clone(), holds: contents(node) }
    }

    fn is_of(&self, node: &Node) -> bool {
        (&self.id, &self.class) == (&node.id, &node.class)
    }
}

/// What a field holds, as far as its node shows.
fn contents(node: &Node) -> String {
    if text_field::is_showing_hint(node) { String::new() } else { node.text.replace("\r\n", "\n") }
}

/// What happened to the text.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// The field holds it.
    Same,
    /// The field did not change.
    NothingTyped,
    /// Some characters are missing; with them the field would hold `whole`.
    Lost { whole: String },
    /// A line end submitted it, or it went into another field.
    WrongField,
    /// The field holds something else: the app changed it, or its previous content is unknown.
    Differs,
}

/// Compares what a field shows with the typed text. `before` is what it held, or its hint if the platform does not tell
/// the two apart; `None` if unknown.
fn judge(text: &str, before: Option<&str>, shows: &str) -> Verdict {
    let text = &*text.replace("\r\n", "\n");
    let times = |inside: &str| inside.matches(text).count();
    let lines = text.contains('\n');
    let there = match before {
        None => times(shows) > 0,
        Some("") => shows == text,
        Some(before) => shows == text || times(shows) > times(before),
    };
    match before {
        _ if there => Verdict::Same,
        _ if lines => Verdict::WrongField,
        None => Verdict::Differs,
        Some(before) if shows == before => Verdict::NothingTyped,
        Some(before) => match inserted(before, shows) {
            // Typing again would lose or submit the previous content, so leave it.
            Some(_) if !before.chars().all(|char| matches!(char, ' '..='~')) => Verdict::Differs,
            Some((at, came)) if is_part(came, text) => {
                let (head, tail) = before.split_at(at);
                Verdict::Lost { whole: format!("{head}{text}{tail}") }
            }
            // The previous content was a hint.
            None if is_part(shows, text) => Verdict::Lost { whole: text.to_owned() },
            _ => Verdict::Differs,
        },
    }
}

/// The position and text of a single insertion that turns `before` into `after`; `None` if there is none.
fn inserted<'a>(before: &str, after: &'a str) -> Option<(usize, &'a str)> {
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b);
    let at: usize = same.map(|(char, _)| char.len_utf8()).sum();
    let result = after[at..].strip_suffix(&before[at..])?;
    Some((at, result))
}

/// Whether `part` is `whole` with some characters removed.
fn is_part(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|char| rest.any(|one| one == char))
}
