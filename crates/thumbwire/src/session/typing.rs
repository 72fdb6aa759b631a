//! Typing that is looked after: the field is aimed at, cleared until it reads empty, and read back.
//!
//! Begin with [`Attached::type_text`]. What a field shows afterwards is compared with what it should hold by [`judge`], a
//! pure function; characters that were lost are repaired once, where it is known for certain what the field held before.
//! By which way the text reaches the phone is the driver's matter.

#[cfg(test)]
mod tests;

use thumbwire_device::{Acted, Detail, Error, Node, Tree, TypedBy, field};

use super::attached::Attached;
use crate::action::{Cause, Failure, Hit, Outcome, Readback, Target, Typed, Typing};

/// How often a field is erased before it is given up.
const ERASURES: usize = 6;

/// How many characters are erased from a field that does not tell how many it holds.
const UNTOLD: usize = 64;

/// How many characters of a field that cannot be cleared are told.
const TOLD: usize = 300;

impl Attached {
    /// Types, as one turn: nothing else acts on the phone in between.
    pub(super) async fn type_text(&self, typing: &Typing) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        // An error says by itself whether it was typed; what happened before and after that is told here.
        let acted = |failure| Failure { acted: self.acted(), ..failure };
        let prepared = if typing.into.is_some() || typing.clear {
            // Nothing is tapped or erased for the sake of a text that would be refused afterwards.
            self.device.check_text(&typing.text).await.map_err(|error| self.failed(&error))?;
            self.prepare(typing).await.map_err(acted)?
        } else {
            Prepared { into: None, before: self.listed(), cleared: Readback::Same }
        };
        let untouched = self.acted() == Acted::No;
        let by = match typing.text.is_empty() {
            true => Ok(TypedBy::Keys),
            false => self.act(self.device.type_text(&typing.text)).await,
        };
        let by = by.map_err(|failure| if untouched { failure } else { acted(failure) })?;
        let into = prepared.into.clone();
        let field = self.finish(typing, prepared).await.map_err(acted)?;
        Ok(Outcome::Typed(Typed { by, field, into }))
    }

    /// What comes before the text: the field is tapped and cleared.
    async fn prepare(&self, typing: &Typing) -> Result<Prepared, Failure> {
        let (into, field) = match &typing.into {
            Some(target) => {
                let (hit, field) = self.focus(target).await?;
                (Some(hit), field)
            }
            None => (None, self.field().await?.ok_or_else(nothing_to_clear)?),
        };
        let mut before = Before::of(&field);
        let mut cleared = Readback::Same;
        if typing.clear {
            before.holds.clear();
            cleared = self.clear(field).await?;
        }
        Ok(Prepared { into, before: Some(before), cleared })
    }

    /// What comes after the text: the field is read back and sent off.
    async fn finish(&self, typing: &Typing, prepared: Prepared) -> Result<Readback, Failure> {
        let field = match typing.text.as_str() {
            "" => prepared.cleared,
            text => self.read_back(text, prepared.before).await?,
        };
        if typing.submit {
            self.act(self.device.type_text("\n")).await?;
        }
        Ok(field)
    }

    /// Taps on the target and gives the field that has the focus then. The look also gives the field time: what is typed
    /// while it comes up loses its beginning (reported of phones with Android 14).
    async fn focus(&self, target: &Target) -> Result<(Hit, Node), Failure> {
        let hit = self.tap_on(target).await?;
        let mut tree = self.tree_for_typing().await?;
        let missed = has_missed(&hit, &tree);
        let focused = field::focused(&tree).map(|at| tree.nodes.swap_remove(at));
        let why = match focused {
            Some(node)
                if !missed && (node.bounds.contains(hit.at) || !was_focused(&hit, &node)) =>
            {
                return Ok((hit, node));
            }
            Some(_) => "a tap on it left the focus in another field",
            None => "a tap on it gave no text field the focus",
        };
        let cause = Cause::ElementNotFound { sought: target.to_string(), why: Some(why.into()) };
        Err(Failure { cause, acted: Acted::Maybe })
    }

    /// What the field with the focus holds, if a listing since the last act tells it. How old that is does not matter: the
    /// content of a field seldom changes by itself, and where it did, what shows afterwards fits neither.
    fn listed(&self) -> Option<Before> {
        let (look, unacted) = self.last_look()?;
        let node = &look.tree.nodes[field::focused(&look.tree)?];
        (unacted && !node.flags.password).then(|| Before::of(node))
    }

    /// The field that has the focus now.
    async fn field(&self) -> Result<Option<Node>, Failure> {
        let mut tree = self.tree_for_typing().await?;
        Ok(field::focused(&tree).map(|at| tree.nodes.swap_remove(at)))
    }

    /// The screen now. The caller's listing stays as it is. What cannot be read just now is asked for once more: a text given up
    /// half-way costs whoever asked more than that.
    async fn tree_for_typing(&self) -> Result<Tree, Failure> {
        let _turn = self.screen.looking.lock().await;
        let tree = match self.device.tree(Detail::Full).await {
            Err(Error::NotReady { .. } | Error::Failed { .. }) => {
                self.device.tree(Detail::Full).await
            }
            told => told,
        };
        tree.map_err(|error| self.failed(&error))
    }

    /// Erases until the field reads empty. [`Readback::Differs`] where something goes on showing that is most likely its
    /// hint: the platform does not say.
    async fn clear(&self, mut now: Node) -> Result<Readback, Failure> {
        let mut unmoved = 0;
        for _ in 0..ERASURES {
            let untold = now.text.is_empty() && now.flags.password;
            if now.text.is_empty() && !untold {
                return Ok(Readback::Same);
            }
            let many = if untold { UNTOLD } else { now.text.chars().count() };
            self.act(self.device.erase(many)).await?;
            if untold {
                return Ok(Readback::Hidden);
            }
            if field::shows_hint(&now) {
                // Erased all the same: somebody may have typed just what the hint says.
                return Ok(Readback::Same);
            }
            let Some(then) = self.field().await? else {
                return Err(Failure { acted: Acted::Maybe, ..nothing_to_clear() });
            };
            if then.text.is_empty() || field::shows_hint(&then) {
                return Ok(Readback::Same);
            }
            if then.text == now.text {
                unmoved += 1;
                if unmoved == 2
                    && then.hint.is_empty()
                    && then.flags.enabled
                    && !then.flags.password
                {
                    return Ok(Readback::Differs { shows: then.text });
                }
            } else if !is_part(&then.text, &now.text) {
                // Erasing brings nothing forth but a hint.
                return Ok(Readback::Same);
            }
            now = then;
        }
        let shows = match now.flags.password {
            true => format!("{} characters", now.text.chars().count()),
            false => format!("{:?}", now.text.chars().take(TOLD).collect::<String>()),
        };
        let said = format!("the field was erased {ERASURES} times and still shows {shows}");
        Err(Failure { cause: Cause::PhoneFailed { said }, acted: Acted::Maybe })
    }

    /// Looks at what came of typing `text`, and repairs a loss once where it is known what the field held before.
    async fn read_back(&self, text: &str, before: Option<Before>) -> Result<Readback, Failure> {
        let Some(now) = self.field_if_told().await? else { return Ok(Readback::NoField) };
        if now.flags.password {
            return Ok(Readback::Hidden);
        }
        // Of another field, to which the focus went on, nothing is known.
        let before = before.filter(|before| before.is_of(&now)).map(|before| before.holds);
        let again = match judge(text, before.as_deref(), &contents(&now)) {
            Verdict::Same => return Ok(Readback::Same),
            Verdict::Elsewhere => return Ok(Readback::NoField),
            Verdict::Differs => return Ok(Readback::Differs { shows: now.text }),
            Verdict::NothingCame => text.to_owned(),
            Verdict::Lost { whole } => {
                self.clear(now).await?;
                whole
            }
        };
        self.act(self.device.type_text(&again)).await?;
        let Some(now) = self.field_if_told().await? else { return Ok(Readback::NoField) };
        Ok(match judge(text, before.as_deref(), &contents(&now)) {
            Verdict::Same => Readback::Repaired,
            _ => Readback::Differs { shows: now.text },
        })
    }

    /// As [`Attached::field`]; a screen that cannot be read costs nobody the news that the text was typed.
    async fn field_if_told(&self) -> Result<Option<Node>, Failure> {
        match self.field().await {
            Err(failure) if !matches!(failure.cause, Cause::DeviceNotConnected { .. }) => Ok(None),
            told => told,
        }
    }
}

/// Whether the focus went to another field than the one that was meant, which is still there: a screen that moves between look and tap
/// puts its neighbour under the finger. A search bar that makes way for its page's field is gone by then.
fn has_missed(hit: &Hit, now: &Tree) -> bool {
    let meant = &hit.look.tree.nodes[hit.node];
    let is_meant = |node: &Node| (&node.id, &node.class) == (&meant.id, &meant.class);
    let focused = field::focused(now).map(|at| &now.nodes[at]);
    field::takes_text(meant)
        && !meant.id.is_empty()
        && focused.is_some_and(|node| !is_meant(node))
        && now.nodes.iter().any(is_meant)
}

/// Whether the field had the focus already in the look by which the tap was aimed.
fn was_focused(hit: &Hit, now: &Node) -> bool {
    let tree = &hit.look.tree;
    field::focused(tree).map(|at| &tree.nodes[at]).is_some_and(|then| {
        (&then.id, &then.class, then.bounds) == (&now.id, &now.class, now.bounds)
    })
}

fn nothing_to_clear() -> Failure {
    let why =
        "no text field has the focus, so there is none to clear; name the field or tap on it first";
    Cause::Refused { why: why.into() }.into()
}

/// What is known of the field when the text goes out.
struct Prepared {
    into: Option<Hit>,
    before: Option<Before>,
    cleared: Readback,
}

/// What a field held before something was typed into it.
struct Before {
    id: String,
    class: String,
    holds: String,
}

impl Before {
    fn of(node: &Node) -> Self {
        Self { id: node.id.clone(), class: node.class.clone(), holds: contents(node) }
    }

    fn is_of(&self, node: &Node) -> bool {
        (&self.id, &self.class) == (&node.id, &node.class)
    }
}

/// What a field holds, as far as its node tells.
fn contents(node: &Node) -> String {
    if field::shows_hint(node) { String::new() } else { node.text.replace("\r\n", "\n") }
}

/// What became of a text.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It stands there.
    Same,
    /// The field is as it was.
    NothingCame,
    /// Some of its characters are missing; with them, the field would hold `whole`.
    Lost { whole: String },
    /// It was sent off by a line end, or into another field.
    Elsewhere,
    /// Something else stands there: the app changed it, or what stood there before is not known.
    Differs,
}

/// Compares what a field shows with the text that was typed into it. `before` is what it held, or its hint where the
/// platform does not tell the two apart; `None` where that is not known.
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
        _ if lines => Verdict::Elsewhere,
        None => Verdict::Differs,
        Some(before) if shows == before => Verdict::NothingCame,
        Some(before) => match inserted(before, shows) {
            // Typed again it would be lost, or sent off: it stays as it is.
            Some(_) if !before.chars().all(|char| matches!(char, ' '..='~')) => Verdict::Differs,
            Some((at, came)) if is_part(came, text) => {
                let (head, tail) = before.split_at(at);
                Verdict::Lost { whole: format!("{head}{text}{tail}") }
            }
            // What stood there before was a hint.
            None if is_part(shows, text) => Verdict::Lost { whole: text.to_owned() },
            _ => Verdict::Differs,
        },
    }
}

/// Where in `before` something was put in so that it became `after`, and what; `None` where more than that happened.
fn inserted<'a>(before: &str, after: &'a str) -> Option<(usize, &'a str)> {
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b);
    let at: usize = same.map(|(char, _)| char.len_utf8()).sum();
    let came = after[at..].strip_suffix(&before[at..])?;
    Some((at, came))
}

/// Whether `part` is what stays of `whole` when some of its characters are left out.
fn is_part(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|char| rest.any(|one| one == char))
}
