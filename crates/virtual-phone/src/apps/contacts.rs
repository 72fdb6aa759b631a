//! Contacts: a list of people by name, a search, contact pages, and a form to add or edit one.
//!
//! State and events are here; `pages` draws, `people` has the initial contacts.
//!
//! ```text
//!  List ──row──► Detail ──pencil──► Form ──Save──► Detail
//!   ├─ search bar ─► Search ──row──► Detail ──bin──► (confirms) ──► List
//!   └─ + ─────────────────────────► Form ──Save──► Detail       (back: one step; a changed form confirms)
//! ```

mod pages;
mod people;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::records::Records;
use crate::packages::AppIcon;
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Contacts.
pub(crate) struct Contacts {
    people: Records<4>,
    /// Pages above the list; the last one shows.
    pages: Vec<Page>,
    /// The text of the search field.
    query: String,
    asking: Option<OpenDialog>,
}

#[derive(Debug, Clone, PartialEq)]
enum Page {
    Search,
    Detail(usize),
    Form(Form),
}

/// A person being edited; `id` is `None` for a new one.
#[derive(Debug, Clone, Default, PartialEq)]
struct Form {
    id: Option<usize>,
    before: [String; 4],
    now: [String; 4],
}

/// The open dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenDialog {
    Delete(usize),
    Discard,
}

/// A person as the pages show them.
#[derive(Debug, Clone, PartialEq)]
struct Person {
    id: usize,
    /// First name, last name, phone, email.
    texts: [String; 4],
}

impl Person {
    /// First and last name, else whatever is known.
    fn name(&self) -> String {
        let [first, last, phone, email] = self.texts.each_ref().map(|text| text.trim());
        let name = format!("{first} {last}").trim().to_owned();
        [name.as_str(), phone, email, "(No name)"]
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default()
            .to_owned()
    }
}

/// A person as other apps see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    /// Its number, from 1.
    pub id: usize,
    /// First and last name, else whatever is known.
    pub name: String,
    /// Its phone number, or nothing.
    pub phone: String,
    /// Its email address, or nothing.
    pub email: String,
}

/// Everyone in the app that stored these values, by number.
pub(super) fn everyone(seed: u64, store: &Preferences) -> Vec<Contact> {
    let people = Contacts::new(seed).people.all(store).into_iter();
    let public = |(id, texts): (usize, [String; 4])| {
        let person = Person { id: id + 1, texts };
        let name = person.name();
        let [_, _, phone, email] = person.texts;
        Contact { id: person.id, name, phone, email }
    };
    people.map(public).collect()
}

/// Resource ids of the form's fields, which are also the preference names.
const FIELDS: [&str; 4] = ["first_name", "last_name", "phone", "email"];
const SEARCH: &str = "open_search_view_edit_text";
const LIST: &str = "contact_list";

impl BuiltInApp for Contacts {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Contacts",
        version: "4.26.18",
        icon: AppIcon { symbol: Icon::Person, fill: Colour::hex(0x1A73E8), ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.google.android.contacts",
            version_code: 4_260_018,
            activities: &["com.android.contacts.activities.PeopleActivity"],
            has_icon: true,
            permissions: &["READ_CONTACTS", "WRITE_CONTACTS", "CALL_PHONE"],
        },
        ios: IosIdentity { bundle_id: "com.apple.MobileAddressBook" },
    };

    fn new(seed: u64) -> Self {
        Self {
            people: Records { kind: "contact", fields: FIELDS, seeded: people::seeded(seed) },
            pages: Vec::new(),
            query: String::new(),
            asking: None,
        }
    }
}

impl App for Contacts {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let view = match self.pages.last() {
            None => self.list(env),
            Some(Page::Search) => self.search(env),
            Some(Page::Detail(id)) => self.detail(env, *id),
            Some(Page::Form(form)) => pages::form(env, form),
        };
        view.dialog(self.asking.map(pages::question))
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { field, text } => self.typed(&field, text, context),
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            _ => {}
        }
    }
}

impl Contacts {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        let id = tag.value.parse::<usize>().unwrap_or(usize::MAX);
        match tag.name {
            "search" | "clear" => {
                self.query.clear();
                self.pages.retain(|page| *page != Page::Search);
                self.pages.push(Page::Search);
                context.focus(SEARCH);
            }
            "person" => {
                context.unfocus();
                self.pages.push(Page::Detail(id));
                context.scroll_to_top("contact_page");
            }
            "create" => self.write(None, context),
            "edit" => self.write(Some(id), context),
            "save" => self.save(context),
            "delete" => self.asking = Some(OpenDialog::Delete(id)),
            "yes" => self.agreed(context),
            "no" => self.asking = None,
            "call" => context.toast(format!("Calling {}", tag.value)),
            "text" => context.toast(format!("Texting {}", tag.value)),
            "mail" => context.toast(format!("Writing to {}", tag.value)),
            "back" => self.back(context),
            _ => {}
        }
    }

    fn typed(&mut self, field: &str, text: String, context: &mut AppContext<'_>) {
        match self.pages.last_mut() {
            Some(Page::Search) => {
                self.query = text;
                context.scroll_to_top("search_results");
            }
            Some(Page::Form(form)) => {
                if let Some(at) = FIELDS.iter().position(|name| *name == field) {
                    form.now[at] = text;
                }
            }
            _ => {}
        }
    }

    /// Opens the form.
    fn write(&mut self, id: Option<usize>, context: &mut AppContext<'_>) {
        let texts = id.and_then(|id| self.people.get(context.store, id)).unwrap_or_default();
        self.pages.push(Page::Form(Form { id, before: texts.clone(), now: texts }));
        context.scroll_to_top("contact_editor");
        context.focus(FIELDS[0]);
    }

    fn save(&mut self, context: &mut AppContext<'_>) {
        let Some(Page::Form(form)) = self.pages.last().cloned() else { return };
        context.unfocus();
        let texts = form.now.map(|text| text.trim().to_owned());
        let Some(id) = self.people.put(context.store, form.id, &texts) else {
            context.toast("No room for more contacts");
            return;
        };
        self.pages.pop();
        if self.pages.last() != Some(&Page::Detail(id)) {
            self.pages.push(Page::Detail(id));
        }
        context.toast(format!("{} saved", Person { id, texts }.name()));
    }

    /// The user confirmed the dialog.
    fn agreed(&mut self, context: &mut AppContext<'_>) {
        match self.asking.take() {
            Some(OpenDialog::Delete(id)) => {
                self.people.remove(context.store, id);
                self.pages.retain(|page| *page != Page::Detail(id));
                context.toast("Contact deleted");
            }
            Some(OpenDialog::Discard) => {
                self.pages.pop();
                context.unfocus();
            }
            None => {}
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        if self.asking.take().is_some() {
            return;
        }
        context.unfocus();
        match self.pages.last() {
            Some(Page::Form(form)) if form.now != form.before => {
                self.asking = Some(OpenDialog::Discard)
            }
            Some(_) => drop(self.pages.pop()),
            None => context.finish(),
        }
    }

    fn person(&self, store: &Preferences, id: usize) -> Option<Person> {
        Some(Person { id, texts: self.people.get(store, id)? })
    }

    /// People whose texts contain these words, by name.
    fn found(&self, store: &Preferences, text: &str) -> Vec<Person> {
        let wanted = text.trim().to_lowercase();
        let all = self.people.all(store).into_iter().map(|(id, texts)| Person { id, texts });
        let mut found: Vec<Person> = all
            .filter(|person| {
                let texts = format!("{} {}", person.name(), person.texts.join(" "));
                texts.to_lowercase().contains(&wanted)
            })
            .collect();
        found.sort_by_key(|person| (person.name().to_lowercase(), person.id));
        found
    }
}
