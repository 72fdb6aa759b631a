//! The screen in the reply to an action: what it changed.

use std::fmt::Write as _;
use std::time::Duration;

use super::reply::{AskedScroll, Reply};
use crate::action::{Direction, Observation};
use crate::snapshot::{Difference, OutlineDetail, Snapshot, content_moved, difference, outline};
use thumbwire_device::Rect;

/// How much of the screen the reply to an action shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ObserveMode {
    /// What changed since the client last saw the screen; the whole list of another screen.
    #[default]
    Diff,
    /// The whole list.
    Full,
    /// Nothing.
    Off,
}

impl ObserveMode {
    /// The mode with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "diff" => Self::Diff,
            "full" => Self::Full,
            "off" => Self::Off,
            _ => return None,
        })
    }
}

/// The most time that reading the screen after an action takes of a call.
pub(super) const OBSERVING: Duration = Duration::from_secs(15);

/// A look that took longer is mentioned, so that nobody blames the action.
const SLOW: Duration = Duration::from_secs(1);

impl AskedScroll {
    /// How far the content moved, and whether it met its end.
    fn result(self, before: &Snapshot, now: &Snapshot, compared: &Difference) -> Option<String> {
        if now.tree.front != before.tree.front {
            return None;
        }
        let moved = content_moved(before, now)?;
        // Another page of a pager, whose dots and bars stay where they are.
        if moved == (0, 0) && *compared != Difference::Nothing {
            return None;
        }
        let (right, down) = moved;
        // Content moves up to show what is below.
        let (moved, side) = match self.direction {
            Direction::Down => (-down, height(now)),
            Direction::Up => (down, height(now)),
            Direction::Right => (-right, width(now)),
            Direction::Left => (right, width(now)),
        };
        let asked = self.distance * f64::from(side);
        let way = self.direction.name();
        Some(match moved {
            ..=0 => format!("Nothing moved: this is the end {way}, or it does not scroll"),
            // A finger moves a few pixels before the content follows.
            moved if f64::from(moved) < asked * 0.75 => {
                format!("Moved {moved} px; the end {way} is reached")
            }
            moved => format!("Moved {moved} px"),
        })
    }
}

fn height(snapshot: &Snapshot) -> i32 {
    screen(snapshot).bottom
}

fn width(snapshot: &Snapshot) -> i32 {
    screen(snapshot).right
}

fn screen(snapshot: &Snapshot) -> Rect {
    snapshot.tree.nodes.first().map_or(Rect::default(), |root| root.bounds)
}

/// The screen as the reply to an action shows it.
pub(super) fn screen_text(
    seen: &Observation,
    mode: ObserveMode,
    scroll: Option<AskedScroll>,
) -> String {
    let mut out = String::new();
    let before = seen.before.as_deref();
    let compared = before.map(|before| difference(before, &seen.now));
    let scrolled = scroll.zip(before.zip(compared.as_ref()));
    let scrolled = scrolled
        .and_then(|(scroll, (before, compared))| scroll.result(before, &seen.now, compared));
    if let Some(result) = &scrolled {
        let _ = writeln!(out, "{result}");
    }
    match (mode, compared) {
        (ObserveMode::Off, _) => {}
        (_, Some(Difference::Nothing)) if scrolled.is_some() => {}
        (_, Some(Difference::Nothing)) => out.push_str("Nothing changed on the screen\n"),
        (ObserveMode::Diff, Some(Difference::Lines(lines))) => {
            let _ = writeln!(out, "{lines}");
        }
        (ObserveMode::Diff, Some(Difference::Whole(list))) => {
            let _ = writeln!(out, "Screen: {list}");
        }
        (ObserveMode::Diff, None) | (ObserveMode::Full, _) => {
            let _ = writeln!(out, "Screen: {}", outline(&seen.now, OutlineDetail::Compact));
        }
    }
    if !seen.settled {
        out.push_str("The screen is still changing\n");
    }
    if seen.took > SLOW {
        let _ = writeln!(out, "(looking took {:.1} s)", seen.took.as_secs_f64());
    }
    out.truncate(out.trim_end().len());
    out
}

impl Reply {
    /// Adds the screen to the text, and to the structured content: some clients show only one of
    /// them.
    pub(super) fn with_screen(mut self, screen: String) -> Self {
        if screen.is_empty() {
            return self;
        }
        if let Some(serde_json::Value::Object(structured)) = &mut self.structured {
            structured.insert("screen".into(), screen.clone().into());
        }
        match self.content.first_mut() {
            Some(super::Content::Text(text)) => {
                text.push('\n');
                text.push_str(&screen);
            }
            _ => self.content.push(super::Content::Text(screen)),
        }
        self
    }
}

#[cfg(test)]
mod tests;
