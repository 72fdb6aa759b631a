//! A flow's file, command by command, so that commands can be left out and added while comments and
//! quotes stay as they are.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Value, json};
use thumbwire_core::yaml::to_yaml;

use crate::plan::Flow;

/// The key by which a command scrolls on until an element is in the middle.
pub(super) const CENTERING: &str = "centerElement: true";

/// A command of the flow: it keeps its number when others come and go.
pub(super) type CommandId = usize;

/// A flow's file.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// The lines before the commands.
    header: String,
    /// The spaces before each command's dash.
    indent: String,
    /// Each with its lines and the comments above it.
    commands: Vec<(CommandId, String)>,
    next: CommandId,
}

impl Document {
    /// Splits the text of a flow's file.
    ///
    /// # Errors
    /// If its commands are not a list with a line for each.
    pub(super) fn read(text: &str, flow: &Flow) -> Result<Self, String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let first = lines.iter().rposition(|line| line.trim_end() == "---").map_or(0, |at| at + 1);
        let body = &lines[first..];
        let dash = body.iter().find_map(|line| line.split_once("- "));
        let indent = dash.map_or("", |(indent, _)| indent).to_owned();
        let begins =
            |line: &str| line.strip_prefix(&*indent).is_some_and(|rest| rest.starts_with("- "));
        let mut commands: Vec<(CommandId, String)> = Vec::new();
        let (mut header, mut comments) = (lines[..first].concat(), String::new());
        for line in body {
            comments.push_str(line);
            if line.trim_start().starts_with('#') {
                continue;
            }
            let lines = std::mem::take(&mut comments);
            match commands.last_mut() {
                _ if begins(line) => commands.push((commands.len(), lines)),
                Some((_, command)) => command.push_str(&lines),
                None => header.push_str(&lines),
            }
        }
        if let Some((_, last)) = commands.last_mut() {
            last.push_str(&comments);
            let end = if last.ends_with('\n') { "" } else { "\n" };
            last.push_str(end);
        }
        let next = commands.len();
        let document = Self { header, indent, commands, next };
        let steps = flow.cases.iter().flat_map(|case| &case.steps);
        let known: BTreeSet<CommandId> =
            steps.filter_map(|step| document.at(step.at.line)).collect();
        if next > 0 && known.len() == next && flow.cases.len() == 1 {
            return Ok(document);
        }
        let what = "a proof needs a flow with one case, and each command on a line of its own \
                    that begins with `- `";
        Err(what.into())
    }

    pub(super) fn text(&self) -> String {
        let commands = self.commands.iter().map(|(_, text)| text.as_str());
        std::iter::once(self.header.as_str()).chain(commands).collect()
    }

    /// The commands, in order.
    pub(super) fn commands(&self) -> Vec<CommandId> {
        self.commands.iter().map(|(id, _)| *id).collect()
    }

    /// The lines of the commands, counted from 1.
    fn all_lines(&self) -> impl Iterator<Item = (CommandId, Range<u32>)> {
        let count = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        self.commands.iter().scan(count(&self.header) + 1, move |line, (id, text)| {
            let first = *line;
            *line = first.saturating_add(count(text));
            Some((*id, first..*line))
        })
    }

    /// The lines of a command; `None` if it was left out.
    pub(super) fn lines(&self, id: CommandId) -> Option<Range<u32>> {
        self.all_lines().find(|(one, _)| *one == id).map(|(_, lines)| lines)
    }

    /// The command on a line.
    pub(super) fn at(&self, line: u32) -> Option<CommandId> {
        self.all_lines().find(|(_, lines)| lines.contains(&line)).map(|(id, _)| id)
    }

    /// A command's place in the list, counted from 1, and its first line.
    pub(super) fn describe(&self, id: CommandId) -> (usize, String) {
        let at = self.commands.iter().position(|(one, _)| *one == id).unwrap_or_default();
        let lines = self.commands.get(at).map_or("", |(_, text)| text).lines().map(str::trim);
        let first = lines.into_iter().find(|line| !line.starts_with('#')).unwrap_or_default();
        (at + 1, first.trim_start_matches("- ").to_owned())
    }

    /// Adds, before a tap or a check, scrolling to its element. `None` for other commands, and
    /// for what the last command added.
    pub(super) fn scrolling_to(&self, id: CommandId) -> Option<(Self, CommandId)> {
        const NAMES: [&str; 4] = ["tapOn:", "doubleTapOn:", "longPressOn:", "assertVisible:"];
        let at = self.commands.iter().position(|(one, _)| *one == id)?;
        let is_there = |before: usize| self.commands[before].1.contains("scrollUntilVisible:");
        if at.checked_sub(1).is_some_and(is_there) {
            return None;
        }
        let indent = &self.indent;
        let lines = self.commands[at].1.lines().filter(|line| !line.trim().starts_with('#'));
        let mut lines = lines.filter_map(|line| line.strip_prefix(indent.as_str()));
        let command = lines.next()?.strip_prefix("- ")?.trim_start();
        let element = NAMES.iter().find_map(|name| command.strip_prefix(name))?;
        let mut text = format!("{indent}- scrollUntilVisible:\n{indent}    element:{element}\n");
        lines.for_each(|line| text.push_str(&format!("{indent}    {line}\n")));
        let mut document = self.clone();
        document.commands.insert(at, (self.next, text));
        document.next += 1;
        Some((document, self.next))
    }

    /// With more time for a command that scrolls until an element is visible. `None` for others.
    pub(super) fn with_more_time(&self, id: CommandId) -> Option<Self> {
        const TIMEOUT: &str = "timeout: 120000";
        let mut document = self.clone();
        let (_, text) = document.commands.iter_mut().find(|(one, _)| *one == id)?;
        if !text.contains("- scrollUntilVisible:") || text.contains("timeout:") {
            return None;
        }
        let lines = text.trim_end();
        *text = match lines.strip_suffix('}') {
            Some(map) => format!("{}, {TIMEOUT} }}\n", map.trim_end()),
            None => format!("{lines}\n{}    {TIMEOUT}\n", self.indent),
        };
        Some(document)
    }

    /// Without scrolling on until the element is in the middle. `None` for a command that does not.
    pub(super) fn without_centering(&self, id: CommandId) -> Option<Self> {
        let mut document = self.clone();
        let (_, text) = document.commands.iter_mut().find(|(one, _)| *one == id)?;
        let lines = text.split_inclusive('\n').filter(|line| line.trim() != CENTERING);
        let shorter = lines.collect::<String>().replace(&format!(", {CENTERING}"), "");
        let is_shorter = shorter != *text;
        *text = shorter;
        is_shorter.then_some(document)
    }

    /// With another line in its header.
    pub(super) fn with_header(&self, line: &str) -> Self {
        let (keys, end) = match self.header.rfind("---") {
            Some(at) => self.header.split_at(at),
            None => (self.header.as_str(), ""),
        };
        Self { header: format!("{keys}{line}\n{end}"), ..self.clone() }
    }

    pub(super) fn without(&self, id: CommandId) -> Self {
        let mut document = self.clone();
        document.commands.retain(|(one, _)| *one != id);
        document
    }

    /// Adds a command beside another one. `None` if that was left out.
    pub(super) fn with(&self, new: &Value, position: Position) -> Option<(Self, CommandId)> {
        let (id, after) = match position {
            Position::Before(id) => (id, 0),
            Position::After(id) => (id, 1),
        };
        let at = self.commands.iter().position(|(one, _)| *one == id)? + after;
        let mut document = self.clone();
        let lines = to_yaml(&json!([new]));
        let text = lines.lines().map(|line| format!("{}{line}\n", self.indent)).collect();
        document.commands.insert(at, (self.next, text));
        document.next += 1;
        Some((document, self.next))
    }
}

/// Where a new command goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position {
    Before(CommandId),
    After(CommandId),
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const FLOW: &str = "appId: a.b # the app\n---\n- launchApp\n\n# The title\n# is a field\n\
        - tapOn:\n    id: 'title'\n- inputText: |\n    - Milk\n# end\n- back\n# no more";

    fn document(text: &str) -> Result<Document, String> {
        let files = |_: &Path| Ok(text.to_owned());
        Document::read(text, &crate::read("flow.yaml", &<_>::default(), &files).unwrap())
    }

    #[test]
    fn a_document_keeps_comments_and_quotes() {
        let whole = document(FLOW).unwrap();
        assert_eq!(whole.text(), format!("{FLOW}\n"));
        assert_eq!(whole.describe(1), (2, "tapOn:".into()));
        assert_eq!([3, 5, 7, 8, 10, 12].map(|line| whole.at(line)), [0, 1, 1, 1, 2, 3].map(Some));
        let without = whole.without(1);
        let extended = without.with(&json!({ "assertVisible": "Milk" }), Position::Before(2));
        let (extended, id) = extended.unwrap();
        assert_eq!(
            extended.text(),
            "appId: a.b # the app\n---\n- launchApp\n\n- assertVisible: Milk\n- inputText: |\n\
             \x20   - Milk\n# end\n- back\n# no more\n"
        );
        assert_eq!((extended.lines(id), extended.lines(1)), (Some(5..6), None));
        assert!(extended.with(&json!("back"), Position::After(1)).is_none());
        assert!(document(&extended.text()).is_ok());
        let scrolling = whole.scrolling_to(1).unwrap().0;
        let scroll = "\n- scrollUntilVisible:\n    element:\n        id: 'title'\n# The title\n";
        assert!(scrolling.text().contains(scroll), "{}", scrolling.text());
        assert!(scrolling.scrolling_to(1).is_none() && whole.scrolling_to(3).is_none());
        let (scrolling, id) = whole.scrolling_to(1).unwrap();
        let slow = scrolling.with_more_time(id).unwrap();
        assert!(slow.text().contains("id: 'title'\n    timeout: 120000\n"), "{}", slow.text());
        assert!(slow.with_more_time(id).is_none() && whole.with_more_time(1).is_none());
        let centering = "- scrollUntilVisible:\n    element: A\n    centerElement: true\n\
            - scrollUntilVisible: { element: A, centerElement: true }\n- back\n";
        let centering = document(&format!("appId: a.b\n---\n{centering}")).unwrap();
        let shorter = centering.without_centering(0).unwrap().without_centering(1).unwrap().text();
        assert!(shorter.ends_with(
            "- scrollUntilVisible:\n    element: A\n- scrollUntilVisible: { element: A }\n- back\n"
        ));
        assert!(centering.without_centering(2).is_none());
        let with_key = whole.with_header("timeout: 5000").text();
        assert!(with_key.starts_with("appId: a.b # the app\ntimeout: 5000\n---\n- launchApp\n"));
    }

    #[test]
    fn a_flow_with_several_cases_or_commands_on_a_line_is_refused() {
        for text in [
            "appId: a.b\n---\n[launchApp, back]\n",
            "appId: a.b\n---\n- case: { name: a, commands: [back] }\n\
             - case: { name: b, commands: [back] }\n",
        ] {
            assert!(document(text).unwrap_err().contains("one case"), "{text}");
        }
        assert!(document("appId: a.b\n---\n  - launchApp\n  - back\n").is_ok());
    }
}
