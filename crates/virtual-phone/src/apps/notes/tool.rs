//! The app tools of Notes: adding a note and finding notes.

use crate::app::AppContext;
use crate::apps::notes::Notes;
use crate::apps::tools::{MAX_LINES, contains_words, text, values};
use serde_json::json;
use thumbwire_mobile_mcp::{Descriptor, Output, Tool, Values};

/// The service that replies.
pub(super) const SERVICE: &str = "com.android.notes.ToolService";
/// Maximum characters of a note that arrives through the service.
const MAX_LENGTH: usize = 20_000;

/// Notes, during one call.
pub(super) struct NotesTool<'a, 'r> {
    pub(super) notes: &'a mut Notes,
    pub(super) context: &'a mut AppContext<'r>,
}

impl Tool for NotesTool<'_, '_> {
    fn descriptor(&self) -> &Descriptor {
        self.context.descriptor
    }

    fn call(&mut self, capability: &str, arguments: &Values) -> Result<Output, String> {
        match capability {
            "add_note" => self.add(text(arguments, "title"), text(arguments, "text")),
            "find_notes" => Ok(self.find(text(arguments, "words"))),
            other => Err(format!("Unknown capability ID: {other:.80}")),
        }
    }
}

impl NotesTool<'_, '_> {
    fn add(&mut self, title: &str, body: &str) -> Result<Output, String> {
        if title.trim().is_empty() && body.trim().is_empty() {
            return Err("A note needs a title or a text.".to_owned());
        }
        if title.chars().count() + body.chars().count() > MAX_LENGTH {
            return Err(format!("A note has no more than {MAX_LENGTH} characters."));
        }
        let texts = [title.to_owned(), body.to_owned()];
        let number = self.notes.notes.put(self.context.store, None, &texts);
        let number = number.ok_or("There is no room for more notes.")?;
        Ok(Output {
            values: values([("number", json!(number))]),
            message: "Note added.".to_owned(),
        })
    }

    fn find(&self, text: &str) -> Output {
        let notes = self.notes.all(self.context.store);
        let found: Vec<_> = notes
            .iter()
            .filter(|(_, [title, body])| contains_words(&format!("{title}\n{body}"), text))
            .collect();
        let lines = found.iter().take(MAX_LINES).map(|(number, [title, body])| {
            let first = body.lines().next().unwrap_or_default();
            format!("{number}: {title:.80} | {first:.80}")
        });
        let lines = lines.collect::<Vec<_>>().join("\n");
        let values = values([("count", json!(found.len())), ("notes", json!(lines))]);
        Output { values, ..Output::default() }
    }
}
