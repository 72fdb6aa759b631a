//! Verified typing: the field gets the focus, is cleared until it is empty, and is read back.
//!
//! Start with [`AttachedDevice::type_text`]. A tree takes seconds on a slow phone, so at most one
//! is read before the keys and one after them where the keyboard reports the rest ([`Editor`]):
//! which field has the focus, its hint, the cursor. [`judge`], a pure function, compares the
//! field's content with what it should hold. Lost and misplaced characters are repaired once, if
//! the previous content is known for certain. How text reaches the phone is up to the driver.

#[cfg(test)]
mod tests;

use std::time::Duration;

use thumbwire_device::{
    ByteString, Editor, EditorSize, Key, Node, Platform, SideEffect, Tree, TreeDetail,
    TypingMethod, text_field,
};
use tokio::time::Instant;

use super::attached_device::AttachedDevice;
use super::target::AimedFor;
use crate::action::{Cause, Failure, Outcome, Readback, TapResult, Target, TextInput, TypeResult};

/// How often a field is erased before giving up.
const ERASURES: usize = 6;

/// How many characters are erased in a field that hides its length.
const UNTOLD: usize = 64;

/// How many characters of a field that cannot be cleared are quoted in the error.
const TOLD: usize = 300;

impl AttachedDevice {
    /// Types as one action: nothing else acts on the phone in between.
    pub(super) async fn type_text(
        &self,
        typing: &TextInput,
        deadline: Instant,
    ) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        self.refuse_if_guarded().await?;
        self.refuse_if_too_long(&typing.text, deadline).await?;
        let typing = &submitted_apart(typing);
        // A typing error says itself whether text was typed; the steps around it are added here.
        let acted = |failure| Failure { side_effect: self.acted(), ..failure };
        // Refuse unsupported text before tapping or erasing anything.
        if let Some(editing) = self.device.facets().text {
            editing.check_text(&typing.text).await.map_err(|error| self.failed(&error))?;
        }
        let prepared = if typing.into.is_some() || typing.clear {
            self.prepare(typing).await.map_err(acted)?
        } else {
            PreparedField {
                into: None,
                tapped: false,
                before: self.focused_field(typing).await?,
                cleared: Readback::Same,
                at_end: false,
                replaced: None,
            }
        };
        let untouched = self.acted() == SideEffect::None;
        let by = match &prepared.replaced {
            Some(by) => Ok(by.clone()),
            None if typing.text.is_empty() => Ok(TypingMethod::Keys),
            None => self.act(self.device.type_text(&typing.text)).await,
        };
        let by = by.map_err(|failure| if untouched { failure } else { acted(failure) })?;
        let (into, tapped) = (prepared.into.clone(), prepared.tapped);
        let field = self.finish(typing, prepared).await.map_err(acted)?;
        Ok(Outcome::Typed(TypeResult { by, field, into, tapped }))
    }

    /// Before typing: taps and clears the field.
    async fn prepare(&self, typing: &TextInput) -> Result<PreparedField, Failure> {
        let (into, tapped, field, editor) = match &typing.into {
            Some(target) => {
                let FocusedField { hit, tapped, field, editor } =
                    self.focus(target, typing.tap_focused).await?;
                (Some(hit), tapped, field, editor)
            }
            None => {
                let field = self.field().await?.ok_or_else(|| no_focus("clear"))?;
                let editor = self.editor_of(&field).await;
                (None, false, field, editor)
            }
        };
        let mut before = FieldBefore::of(&field);
        if let Some(editor) = &editor
            && editor.shows_hint(&field)
        {
            before.holds.clear();
        }
        let mut cleared = Readback::Same;
        let at_end = typing.into.is_some() || typing.clear;
        let mut replaced = None;
        if typing.clear {
            replaced = self.replace_text(&typing.text).await?;
        }
        if replaced.is_some() {
            before.holds.clear();
            before.is_empty = true;
        } else if typing.clear {
            let holds = std::mem::take(&mut before.holds);
            before.is_empty = true;
            cleared = match self.clear_at_end(&field, &holds, editor.as_ref()).await? {
                true => Readback::Same,
                false => self.clear(field).await?,
            };
        } else if typing.into.is_some() {
            self.move_to_end(&field, &before.holds, editor.as_ref()).await?;
        }
        Ok(PreparedField { into, tapped, before: Some(before), cleared, at_end, replaced })
    }

    /// Replaces what the field has in one step, if the phone can.
    async fn replace_text(&self, text: &str) -> Result<Option<TypingMethod>, Failure> {
        let Some(editing) = self.device.facets().text else { return Ok(None) };
        let before = self.acted();
        let replaced = self.act(editing.replace_text(text)).await?;
        if replaced.is_none() && before == SideEffect::None {
            self.forget_acts();
        }
        Ok(replaced)
    }

    /// Moves the cursor to the end of the field's text, unless the keyboard says that it is there.
    async fn move_to_end(
        &self,
        field: &Node,
        holds: &str,
        editor: Option<&Editor>,
    ) -> Result<(), Failure> {
        let is_at_end = editor.is_some_and(|editor| editor.cursor == Some(utf16_len(holds)));
        if is_at_end || (holds.is_empty() && !field.flags.password) {
            return Ok(());
        }
        let size = size_of(holds, editor);
        self.act(async { self.device.text_editing()?.delete_at_end(size, 0).await }).await
    }

    /// Deletes all text from its end. `true` if the keyboard says afterwards that the field is
    /// empty; `false` if it does not say, or something is left.
    async fn clear_at_end(
        &self,
        field: &Node,
        holds: &str,
        editor: Option<&Editor>,
    ) -> Result<bool, Failure> {
        // A cursor that the keyboard reports at 0 proves nothing if nothing was there to delete.
        let Some(editor) = editor else { return Ok(false) };
        let delete = async |many: usize| {
            let size = size_of(holds, Some(editor));
            self.act(async { self.device.text_editing()?.delete_at_end(size, many).await }).await
        };
        let mut many = holds.chars().count();
        if holds.is_empty() && field.flags.password {
            // Its length shows in the cursor's place at the end.
            delete(0).await?;
            let Some(at) = self.cursor_of(editor).await else { return Ok(false) };
            many = at;
        }
        if many > 0 {
            delete(many).await?;
        }
        Ok(self.cursor_of(editor).await == Some(0))
    }

    /// Where the cursor is now, if the keyboard is still connected to this editor.
    async fn cursor_of(&self, editor: &Editor) -> Option<usize> {
        let now = self.device.facets().text?.editor().await.ok().flatten()?;
        now.is_same(editor).then_some(now.cursor)?
    }

    /// Refuses a text that takes longer to type than the call may take: half a text helps nobody.
    async fn refuse_if_too_long(&self, text: &str, deadline: Instant) -> Result<(), Failure> {
        /// What reading the field before and after takes.
        const AROUND: Duration = Duration::from_secs(5);
        let Some(editing) = self.device.facets().text else { return Ok(()) };
        let needed = editing.typing_time(text).await.map_err(|error| self.failed(&error))?;
        let left = deadline.saturating_duration_since(Instant::now()).saturating_sub(AROUND);
        if needed <= left {
            return Ok(());
        }
        let characters = text.chars().count();
        let part = left.as_secs_f64() / needed.as_secs_f64();
        let fits = ((characters as f64 * part * 0.8) as usize).max(1);
        Err(Cause::TypingTooLong { characters, needed, left, fits }.into())
    }

    /// After typing: reads the field back and submits it.
    async fn finish(
        &self,
        typing: &TextInput,
        prepared: PreparedField,
    ) -> Result<Readback, Failure> {
        let field = match typing.text.as_str() {
            "" => prepared.cleared,
            text => self.read_back(text, prepared.before, prepared.at_end).await?,
        };
        if typing.submit {
            self.act(self.device.type_text("\n")).await?;
        }
        Ok(field)
    }

    /// Gives the target the focus, and returns the field that has it afterwards. A field that has
    /// it already is tapped only if `tap_focused`: that moves the cursor into its text.
    async fn focus(&self, target: &Target, tap_focused: bool) -> Result<FocusedField, Failure> {
        let hit = self.aim(target, AimedFor::Text).await?;
        let meant = &hit.snapshot.tree.nodes[hit.node];
        if text_field::is_text_field(meant) && meant.flags.focused && !tap_focused {
            let editor = self.editor_of(meant).await;
            let field = meant.clone();
            return Ok(FocusedField { hit, tapped: false, field, editor });
        }
        self.tap_at(target, &hit).await?;
        if let Some(editor) = self.editor_after_tap(&hit).await? {
            let field = hit.snapshot.tree.nodes[hit.node].clone();
            return Ok(FocusedField { hit, tapped: true, field, editor: Some(editor) });
        }
        // Reading the tree also gives the field time: text typed while it opens loses its beginning
        // (reported for phones with Android 14).
        let mut tree = self.tree_for_typing().await?;
        let missed = has_missed(&hit, &tree);
        let focused = text_field::focused(&tree).map(|at| tree.nodes.swap_remove(at));
        let reason = match focused {
            Some(field)
                if !missed && (field.bounds.contains(hit.at) || !was_focused(&hit, &field)) =>
            {
                let editor = self.editor_of(&field).await;
                return Ok(FocusedField { hit, tapped: true, field, editor });
            }
            Some(_) => "a tap on it left the focus in another field",
            None => "a tap on it did not focus a text field",
        };
        let cause =
            Cause::ElementNotFound { sought: target.to_string(), reason: Some(reason.into()) };
        Err(Failure { cause, side_effect: SideEffect::Possible })
    }

    /// The editor that the keyboard is connected to after a tap, if it certainly is the target.
    /// Closes a popup that the tap opened, such as one that suggests spellings: it would take the
    /// keys.
    async fn editor_after_tap(&self, hit: &TapResult) -> Result<Option<Editor>, Failure> {
        let tree = &hit.snapshot.tree;
        let meant = &tree.nodes[hit.node];
        if !text_field::is_text_field(meant) {
            return Ok(None);
        }
        let alike = |node: &&Node| text_field::is_text_field(node) && node.id == meant.id;
        let only = !meant.id.is_empty() && tree.nodes.iter().filter(alike).count() == 1;
        let mut editor = self.editor_of(meant).await;
        if editor.as_ref().is_some_and(|editor| editor.popup) {
            self.act(self.device.press(Key::Back)).await?;
            editor = self.editor_of(meant).await;
        }
        Ok(editor.filter(|editor| only && !editor.popup))
    }

    /// The editor that the keyboard is connected to, if it may be this field.
    async fn editor_of(&self, field: &Node) -> Option<Editor> {
        let editing = self.device.facets().text?;
        match editing.editor().await {
            Ok(editor) => editor.filter(|editor| editor.may_be(field)),
            Err(error) => {
                tracing::debug!("cannot read the state of the keyboard: {error}");
                None
            }
        }
    }

    /// What the focused field holds, if that is known without a look: if a snapshot since the last
    /// action shows it. Its age does not matter: fields seldom change by themselves, and if this
    /// one did, the later content matches neither.
    ///
    /// # Errors
    /// If no field has the focus: the keys would go nowhere, or to shortcuts of the app.
    async fn focused_field(&self, typing: &TextInput) -> Result<Option<FieldBefore>, Failure> {
        if let Some((look, true)) = self.last_snapshot()
            && let Some(at) = text_field::focused(&look.tree)
        {
            let node = &look.tree.nodes[at];
            return Ok((!node.flags.password).then(|| FieldBefore::of(node)));
        }
        // Drivers of iPhones refuse it themselves.
        let is_refused = self.identity().platform == Platform::Android && !typing.blind;
        if !is_refused || typing.text.is_empty() {
            return Ok(None);
        }
        if let Some(editing) = self.device.facets().text
            && let Ok(Some(_)) = editing.editor().await
        {
            return Ok(None);
        }
        let Ok(tree) = self.tree_for_typing().await else { return Ok(None) };
        match text_field::focused(&tree) {
            Some(at) => Ok(Some(FieldBefore::of(&tree.nodes[at]))),
            // A field that an app draws itself is not in the tree, but has a keyboard.
            None if tree.keyboard.is_some() => Ok(None),
            None => Err(no_focus("type")),
        }
    }

    /// The field that has focus now.
    async fn field(&self) -> Result<Option<Node>, Failure> {
        let mut tree = self.tree_for_typing().await?;
        Ok(text_field::focused(&tree).map(|at| tree.nodes.swap_remove(at)))
    }

    /// The current tree. It is the next snapshot, too: who looks after typing needs no further
    /// dump. A failed read is retried once, because giving up typing halfway costs the caller more.
    async fn tree_for_typing(&self) -> Result<Tree, Failure> {
        let _turn = self.look_turn().await?;
        let snapshot = match self.snapshot_exclusive(TreeDetail::Full).await {
            Err(Failure { cause: Cause::NotReady { .. } | Cause::DeviceError { .. }, .. }) => {
                self.snapshot_exclusive(TreeDetail::Full).await
            }
            other => other,
        };
        snapshot.map(|snapshot| snapshot.tree.clone())
    }

    /// Erases until the field reads empty. [`Readback::Differs`] if some text remains that is most
    /// likely the hint: the platform does not say.
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
                return Err(Failure { side_effect: SideEffect::Possible, ..no_focus("clear") });
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

    /// Checks the result of typing `text`, and repairs a loss once if the previous content is
    /// known.
    async fn read_back(
        &self,
        text: &str,
        before: Option<FieldBefore>,
        at_end: bool,
    ) -> Result<Readback, Failure> {
        let Some(mut now) = self.field_if_given().await? else { return Ok(Readback::NoField) };
        if now.flags.password {
            return self.read_back_hidden(text, &now, before.as_ref()).await;
        }
        // If focus moved on to another field, its previous content is unknown.
        let before = before.filter(|before| before.is_of(&now)).map(|before| before.holds);
        let mut verdict = judge(text, before.as_deref(), &contents(&now), at_end);
        if matches!(verdict, Verdict::NothingTyped | Verdict::Lost { .. }) {
            // A look that is late would have the text typed twice.
            let later = self.field_if_given().await?;
            let Some(later) = later else { return Ok(Readback::NoField) };
            now = later;
            verdict = judge(text, before.as_deref(), &contents(&now), at_end);
        }
        let again = match verdict {
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
        Ok(match judge(text, before.as_deref(), &contents(&now), at_end) {
            Verdict::Same => Readback::Corrected,
            _ => Readback::Differs { shows: now.text.into() },
        })
    }

    /// A field that hides its text still shows by the cursor how many characters are before it.
    /// Fewer than were typed: some were lost. They are typed again, if the field was empty before.
    async fn read_back_hidden(
        &self,
        text: &str,
        field: &Node,
        before: Option<&FieldBefore>,
    ) -> Result<Readback, Failure> {
        let was_empty = before.is_some_and(|before| before.is_of(field) && before.is_empty);
        let Some(editor) = self.editor_of(field).await else { return Ok(Readback::Hidden) };
        let length = utf16_len(text);
        match editor.cursor {
            // At 0 it may have taken the text and be ready for the next, as a field for a PIN.
            Some(0) if !was_empty => Ok(Readback::Hidden),
            Some(cursor) if cursor < length && !text.contains('\n') => {
                if !was_empty {
                    return Ok(Readback::Differs { shows: format!("{cursor} hidden characters") });
                }
                self.clear_at_end(field, "", Some(&editor)).await?;
                self.act(self.device.type_text(text)).await?;
                match self.cursor_of(&editor).await {
                    Some(cursor) if cursor == length => Ok(Readback::Corrected),
                    Some(cursor) => {
                        Ok(Readback::Differs { shows: format!("{cursor} hidden characters") })
                    }
                    None => Ok(Readback::Hidden),
                }
            }
            _ => Ok(Readback::Hidden),
        }
    }

    /// As [`AttachedDevice::field`], but an unreadable screen does not hide that the text was
    /// typed.
    async fn field_if_given(&self) -> Result<Option<Node>, Failure> {
        match self.field().await {
            Err(failure) if !matches!(failure.cause, Cause::DeviceNotConnected { .. }) => Ok(None),
            other => other,
        }
    }
}

/// Whether focus went to a field other than the target, although the target is still there: a
/// screen that moves between snapshot and tap puts a neighbour under the finger. A search bar that
/// gives way to its page's field is gone by then.
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

/// A single line that ends with Enter is typed first, and submitted after it was read back: then
/// the field may be gone.
fn submitted_apart(typing: &TextInput) -> TextInput {
    match typing.text.strip_suffix('\n') {
        Some(text) if !typing.submit && !text.is_empty() && !text.contains(['\n', '\r']) => {
            TextInput { text: text.to_owned(), submit: true, ..typing.clone() }
        }
        _ => typing.clone(),
    }
}

fn no_focus(act: &str) -> Failure {
    Cause::NoFocusedField { act: act.to_owned() }.into()
}

/// A field that got or has the focus.
struct FocusedField {
    /// The target.
    hit: TapResult,
    tapped: bool,
    /// The field that has the focus now: the target, or one that it opened.
    field: Node,
    editor: Option<Editor>,
}

/// What is known about the field before the text is sent.
struct PreparedField {
    into: Option<TapResult>,
    tapped: bool,
    before: Option<FieldBefore>,
    cleared: Readback,
    /// Whether the cursor was moved to the end of the text.
    at_end: bool,
    /// How the text has already replaced what the field had.
    replaced: Option<TypingMethod>,
}

/// The length in the unit in which Android counts the cursor's place.
fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

fn size_of(holds: &str, editor: Option<&Editor>) -> EditorSize {
    let lines = editor.map_or_else(|| holds.contains('\n'), |editor| editor.multi_line);
    if lines { EditorSize::Lines(holds.chars().count()) } else { EditorSize::OneLine }
}

/// What an editor says about a field of a tree.
trait EditorField {
    fn may_be(&self, field: &Node) -> bool;
    fn is_same(&self, other: &Editor) -> bool;
    fn shows_hint(&self, field: &Node) -> bool;
}

impl EditorField for Editor {
    /// Whether app and resource id match. Several fields may have the same.
    fn may_be(&self, field: &Node) -> bool {
        let id = field.id.split_once(":id/").map_or("", |(_, name)| name);
        self.package == *field.package && self.id == id
    }

    fn is_same(&self, other: &Editor) -> bool {
        (&self.package, &self.id) == (&other.package, &other.id)
    }

    /// Whether the field's text is its hint: on phones before Android 14 a tree does not
    /// distinguish the two.
    fn shows_hint(&self, field: &Node) -> bool {
        !self.hint.is_empty() && *field.text == self.hint && matches!(self.cursor, None | Some(0))
    }
}

/// What a field held before typing.
struct FieldBefore {
    id: ByteString,
    class: ByteString,
    holds: String,
    /// Whether it certainly held nothing, also if it hides its text.
    is_empty: bool,
}

impl FieldBefore {
    fn of(node: &Node) -> Self {
        let (id, class, holds) = (node.id.clone(), node.class.clone(), contents(node));
        let is_empty = holds.is_empty() && !node.flags.password;
        Self { id, class, holds, is_empty }
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

/// Compares what a field shows with the typed text. `before` is what it held, or its hint if the
/// platform does not tell the two apart; `None` if unknown. `at_end`: the text belongs at the end,
/// not where the cursor was.
fn judge(text: &str, before: Option<&str>, shows: &str, at_end: bool) -> Verdict {
    let text = &*text.replace("\r\n", "\n");
    let lines = text.contains('\n');
    let is_typed = match before {
        None => shows.contains(text),
        Some("") => shows == text,
        Some(before) if at_end => shows == text || shows.strip_prefix(before) == Some(text),
        Some(before) => shows == text || is_inserted(text, before, shows),
    };
    match before {
        _ if is_typed => Verdict::Same,
        _ if lines => Verdict::WrongField,
        None => Verdict::Differs,
        Some(before) if shows == before => Verdict::NothingTyped,
        Some(before) => match inserted(before, shows) {
            // Typing again would lose or submit the previous content, so leave it.
            Some(_) if !before.chars().all(|char| matches!(char, ' '..='~')) => Verdict::Differs,
            Some((_, came)) if at_end && is_part(came, text) => {
                Verdict::Lost { whole: format!("{before}{text}") }
            }
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

/// Whether `after` is `before` with this text inserted at some place.
fn is_inserted(text: &str, before: &str, after: &str) -> bool {
    after.len() == before.len() + text.len()
        && after
            .match_indices(text)
            .any(|(at, _)| before.strip_prefix(&after[..at]) == Some(&after[at + text.len()..]))
}

/// The position and text of a single insertion that turns `before` into `after`; `None` if there is
/// none.
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
