//! The app functions of Notes: creating a note, and finding notes.

use serde_json::{Value, json};

use crate::app::AppContext;
use crate::apps::notes::Notes;
use crate::functions::{AppFunction, FunctionArgs, ObjectType, Parameter, ValueType};

const CREATE: &str = "com.android.notes.NotesFunctions#createNote";
const FIND: &str = "com.android.notes.NotesFunctions#findNotes";

static NOTE: ObjectType = ObjectType {
    name: "com.android.notes.Note",
    members: &[("id", ValueType::Int), ("title", ValueType::Text), ("content", ValueType::Text)],
};

pub(super) static FUNCTIONS: [AppFunction; 2] = [
    AppFunction {
        id: CREATE,
        description: "Writes a new note.",
        parameters: &[
            Parameter {
                name: "title",
                description: "The first line of the note.",
                kind: ValueType::Text,
                required: true,
            },
            Parameter {
                name: "content",
                description: "What stands below the title.",
                kind: ValueType::Text,
                required: false,
            },
        ],
        returns: ValueType::Object(&NOTE),
    },
    AppFunction {
        id: FIND,
        description: "Finds the notes in which some words stand; all of them without words.",
        parameters: &[Parameter {
            name: "query",
            description: "Words of the title or of the content, in any case.",
            kind: ValueType::Text,
            required: false,
        }],
        returns: ValueType::List(&NOTE),
    },
];

impl Notes {
    pub(super) fn do_function(
        &mut self,
        id: &str,
        args: &FunctionArgs,
        context: &mut AppContext<'_>,
    ) -> Result<Value, String> {
        if id == CREATE {
            let title = args.text("title").unwrap_or_default().trim().to_owned();
            let content = args.text("content").unwrap_or_default().to_owned();
            if title.is_empty() && content.trim().is_empty() {
                return Err("A note must say something".to_owned());
            }
            let put = self.notes.put(context.store, None, &[title.clone(), content.clone()]);
            let id = put.ok_or("There is no room for more notes")?;
            return Ok(json!({ "id": id, "title": title, "content": content }));
        }
        let words = args.text("query").unwrap_or_default().to_lowercase();
        let found = self
            .all(context.store)
            .into_iter()
            .filter(|(_, texts)| texts.iter().any(|text| text.to_lowercase().contains(&words)));
        let shown = found
            .map(|(id, [title, content])| json!({ "id": id, "title": title, "content": content }));
        Ok(shown.collect())
    }
}
