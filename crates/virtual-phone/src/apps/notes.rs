//! Notes: cards with excerpts, and an editor with a title and a multi-line body.
//!
//! Text is saved as it is typed; leaving the editor only deletes an empty note. The newest note
//! comes first, unless a card was dragged: long-press it and drop it on another one to take that
//! one's place.
//!
//! `tool` is what it offers to other programs, `functions` what it offers to the system.
//!
//! Preferences: `note/N/{title,body}`, `order` (note numbers separated by commas).

mod functions;
mod tool;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::records::Records;
use crate::apps::tools;
use crate::functions::{AppFunction, FunctionArgs};
use crate::packages::AppIcon;
use crate::rng::SplitMix64;
use crate::services::{ServiceOutcome, ServiceStart};
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, Tag, View, class, column, frame, row, spacer, text};
use crate::widgets::{
    dialog, empty_state, field, floating_button, icon_button, list, message, page, text_button,
};
use serde_json::Value;
use thumbwire_virtual_screen::icons::Icon;

/// The state of Notes.
pub(crate) struct Notes {
    notes: Records<2>,
    editor: Option<Editor>,
    /// Whether the dialog for deleting the open note is shown.
    asking: bool,
    /// The note being dragged.
    carried: Option<usize>,
}

/// The open note; `id` is `None` while it is empty.
#[derive(Debug, Clone, Default, PartialEq)]
struct Editor {
    id: Option<usize>,
    title: String,
    body: String,
}

/// The preference for the custom order: note numbers separated by commas.
const ORDER: &str = "order";
/// Maximum notes in it.
const MAX_COUNT: usize = 200;
const TITLE: &str = "editable_title";
const BODY: &str = "edit_note_text";

impl BuiltInApp for Notes {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Notes",
        version: "5.3.1",
        icon: AppIcon { symbol: Icon::Note, fill: Colour::hex(0xFBBC04), ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.android.notes",
            version_code: 50_301,
            activities: &["com.android.notes.NotesActivity"],
            has_icon: true,
            permissions: &[],
        },
        ios: IosIdentity { bundle_id: "com.apple.mobilenotes" },
    };

    fn new(seed: u64) -> Self {
        let notes = Records { kind: "note", fields: ["title", "body"], seeded: seeded(seed) };
        Self { notes, editor: None, asking: false, carried: None }
    }
}

impl App for Notes {
    fn view(&self, env: &DrawContext<'_>) -> View {
        match &self.editor {
            None => self.cards(env),
            Some(editor) => edit(env, editor).dialog(self.asking.then(question)),
        }
    }

    fn options_menu(&self) -> Vec<(&'static str, Tag)> {
        match &self.editor {
            None => vec![("New note", "new".into())],
            Some(_) => vec![("Delete note", "delete".into()), ("All notes", "back".into())],
        }
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        let carried = self.carried.take();
        match event {
            Event::DragStarted(tag) => self.carried = tag.value.parse().ok(),
            Event::Drop(_, onto) => {
                let onto = onto.and_then(|onto| onto.value.parse().ok());
                if let (Some(what), Some(onto)) = (carried, onto) {
                    self.move_before(what, onto, context.store);
                }
            }
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { field, text } => self.typed(&field, text, context),
            Event::Back => self.back(context),
            Event::Action { .. } => context.unfocus(),
            _ => {}
        }
    }

    fn on_start_command(
        &mut self,
        start: &ServiceStart<'_>,
        context: &mut AppContext<'_>,
    ) -> ServiceOutcome {
        match start.class {
            tool::SERVICE => tools::answer(tool::NotesTool { notes: self, context }, start),
            _ => ServiceOutcome::no_answer(),
        }
    }

    fn functions(&self) -> &'static [AppFunction] {
        &functions::FUNCTIONS
    }

    fn call(
        &mut self,
        id: &str,
        args: &FunctionArgs,
        context: &mut AppContext<'_>,
    ) -> Result<Value, String> {
        self.do_function(id, args, context)
    }
}

impl Notes {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "open" => self.open(tag.value.parse().ok(), context),
            "new" => {
                self.editor = Some(Editor::default());
                context.scroll_to_top("editor_scroll");
                context.focus(BODY);
            }
            "delete" => self.asking = true,
            "no" => self.asking = false,
            "yes" => {
                self.asking = false;
                if let Some(id) = self.editor.take().and_then(|editor| editor.id) {
                    self.notes.remove(context.store, id);
                }
                context.unfocus();
                context.toast("Note deleted");
            }
            "back" => self.back(context),
            _ => {}
        }
    }

    fn open(&mut self, id: Option<usize>, context: &mut AppContext<'_>) {
        let Some(id) = id else { return };
        let Some([title, body]) = self.notes.get(context.store, id) else { return };
        self.editor = Some(Editor { id: Some(id), title, body });
        context.scroll_to_top("editor_scroll");
    }

    fn typed(&mut self, field: &str, text: String, context: &mut AppContext<'_>) {
        let Some(editor) = &mut self.editor else { return };
        match field {
            TITLE => editor.title = text,
            _ => editor.body = text,
        }
        let texts = [editor.title.clone(), editor.body.clone()];
        match self.notes.put(context.store, editor.id, &texts) {
            Some(id) => editor.id = Some(id),
            None => context.toast("No room for more notes"),
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        if std::mem::take(&mut self.asking) {
            return;
        }
        context.unfocus();
        let Some(editor) = self.editor.take() else {
            context.finish();
            return;
        };
        if editor.title.trim().is_empty() && editor.body.trim().is_empty() {
            if let Some(id) = editor.id {
                self.notes.remove(context.store, id);
            }
            context.toast("Empty note discarded");
        }
    }

    fn cards(&self, env: &DrawContext<'_>) -> View {
        let notes = self.all(env.store);
        let heading = text("Notes", theme::HEADLINE).pad_each(20.0, 16.0, 20.0, 12.0);
        let body = if notes.is_empty() {
            empty_state(Icon::Note, "No notes yet", "Notes that you add show up here")
        } else {
            // Cards alternate between columns, so that short ones leave no gaps.
            let columns = if env.wide() { 3 } else { 2 };
            let stack = |first: usize| {
                let notes = notes.iter().skip(first).step_by(columns);
                column(notes.map(|note| card(note, self.carried))).gap(10.0).grow()
            };
            let stacks = row((0..columns).map(stack)).gap(10.0).pad_xy(16.0, 4.0).align_start();
            list("notes_grid", [stacks.fill_width()], env).pad_each(
                0.0,
                0.0,
                0.0,
                env.insets.1 + 96.0,
            )
        };
        let add = floating_button(Icon::Add, "New note")
            .id("new_note_button")
            .on_tap("new")
            .absolute([None, None, Some(16.0), Some(env.insets.1 + 16.0)]);
        frame([page([heading.id("notes_title"), body], env).fill_parent(), add]).edge_to_edge()
    }

    /// All notes with their numbers: those with a custom place in that order, preceded by the
    /// others, newest first.
    fn all(&self, store: &Preferences) -> Vec<(usize, [String; 2])> {
        let put = store.get(ORDER).unwrap_or_default().split(',');
        let put: Vec<usize> = put.take(MAX_COUNT).filter_map(|id| id.parse().ok()).collect();
        let mut notes = self.notes.all(store);
        notes.reverse();
        // `None` sorts first, and the sort is stable.
        notes.sort_by_key(|(id, _)| put.iter().position(|put| put == id));
        notes
    }

    /// Moves a note to another one's place.
    fn move_before(&self, what: usize, onto: usize, store: &mut Preferences) {
        let mut ids: Vec<usize> = self.all(store).into_iter().map(|(id, _)| id).collect();
        let place = |ids: &[usize], id| ids.iter().position(|known| *known == id);
        let (Some(from), Some(to)) = (place(&ids, what), place(&ids, onto)) else { return };
        let what = ids.remove(from);
        ids.insert(to, what);
        let ids: Vec<String> = ids.iter().take(MAX_COUNT).map(usize::to_string).collect();
        store.set(ORDER, ids.join(","));
    }
}

/// A note's card.
fn card((id, [title, body]): &(usize, [String; 2]), carried: Option<usize>) -> View {
    let mut lines = Vec::new();
    if !title.is_empty() {
        lines.push(text(title, theme::TITLE.lines(2)).id("index_note_title"));
    }
    if !body.is_empty() {
        let body = text(body, theme::BODY.quiet().lines(8));
        lines.push(body.id("index_note_text_description"));
    }
    let up = carried == Some(*id);
    column(lines)
        .class(class::GROUP)
        .gap(6.0)
        .pad(16.0)
        .min_height(theme::TOUCH)
        .fill(if up { theme::PRIMARY_CONTAINER } else { theme::SURFACE })
        .elevation(if up { 6.0 } else { 0.0 })
        .selected(up)
        .border(1.0, theme::OUTLINE_VARIANT)
        .radius(14.0)
        .id("browse_note")
        .on_tap(("open", id))
        .draggable(("note", id))
        .drop_target(("note", id))
}

fn edit(env: &DrawContext<'_>, editor: &Editor) -> View {
    let bar = row([
        icon_button(Icon::ArrowBack, "Navigate up", "back"),
        spacer(),
        icon_button(Icon::Delete, "Delete note", "delete").id("menu_delete"),
    ])
    .pad_xy(4.0, 4.0)
    .fill_width()
    .id("toolbar");
    let next = FieldTraits { action: ImeAction::Next, ..FieldTraits::default() };
    let title = field(TITLE, &editor.title, "Title", theme::HEADLINE, next);
    let many = FieldTraits { multi_line: true, ..FieldTraits::default() };
    // The body fills the page even when short, so that a tap anywhere there focuses it.
    let rest = (env.size.1 - env.insets.0 - env.insets.1 - 148.0).max(theme::TOUCH);
    let body = field(BODY, &editor.body, "Note", theme::BODY_LARGE, many).min_height(rest);
    let content = column([title, body])
        .gap(8.0)
        .scrolls()
        .id("editor_scroll")
        .pad_each(20.0, 4.0, 20.0, env.insets.1 + 8.0)
        .grow();
    page([bar, content], env)
}

fn question() -> View {
    let buttons = [
        text_button("Cancel", theme::PRIMARY, "no").id("android:id/button2"),
        text_button("Delete", theme::PRIMARY, "yes").id("android:id/button1"),
    ];
    dialog("Delete note?", message("It cannot be brought back"), buttons)
}

/// The initial notes, in an order that the seed decides.
fn seeded(seed: u64) -> Vec<[String; 2]> {
    let mut notes = [
        ["Shopping", "Milk\nBread\nTomatoes\nCoffee beans\nOlive oil"],
        ["Books to read", "The Left Hand of Darkness\nMiddlemarch\nA Psalm for the Wild-Built"],
        ["Wi-Fi at the cabin", "Network: Pinewood\nAsk Olga for the password"],
        ["", "Water the plants on Thursday"],
        ["Pancakes", "2 eggs, 250 ml milk, 150 g flour, a pinch of salt.\nRest for 20 minutes."],
        [
            "Ideas for the trip",
            "Ferry to the island\nMuseum in the afternoon\nDinner by the harbour",
        ],
    ];
    SplitMix64::new(seed, "notes").shuffle(&mut notes);
    notes.map(|note| note.map(str::to_owned)).to_vec()
}
