//! The pages of Contacts.

use crate::app::DrawContext;
use crate::apps::contacts::{Contacts, FIELDS, Form, LIST, OpenDialog, Person, SEARCH};
use crate::theme;
use crate::theme::{Colour, TextAppearance};
use crate::view::{FieldTraits, ImeAction, View, class, column, frame, icon, row, spacer, text};
use crate::widgets::{
    dialog, empty_state, field, floating_button, icon_button, list, list_row, message, page, pill,
    search_bar, search_toolbar, text_button,
};
use thumbwire_virtual_screen::icons::Icon;

impl Contacts {
    pub(super) fn list(&self, env: &DrawContext<'_>) -> View {
        let bar = search_bar("Search contacts")
            .margin(16.0, 8.0, 16.0, 8.0)
            .id("open_search_bar")
            .on_tap("search");
        let people = self.found(env.store, "");
        let mut initial = None;
        let rows = people.iter().map(|person| {
            let letter = first_letter(&person.name());
            let new = initial.replace(letter.clone()) != Some(letter.clone());
            let head = text(letter, theme::TITLE.colour(theme::PRIMARY).centered());
            let head = if new {
                head.id("header")
            } else {
                View::new(class::VIEW, []).hide_from_accessibility()
            };
            row([head.width(24.0), person_row(person).grow()])
                .pad_each(12.0, 0.0, 0.0, 0.0)
                .fill_width()
        });
        let body = if people.is_empty() {
            empty_state(Icon::Person, "No contacts yet", "People that you add show up here")
        } else {
            list(LIST, rows, env).pad_each(0.0, 0.0, 0.0, env.insets.1 + 96.0)
        };
        let add = floating_button(Icon::Add, "Create contact")
            .id("floating_action_button")
            .on_tap("create")
            .absolute([None, None, Some(16.0), Some(env.insets.1 + 16.0)]);
        frame([page([bar, body], env).fill_parent(), add]).edge_to_edge()
    }

    pub(super) fn search(&self, env: &DrawContext<'_>) -> View {
        let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
        let input = field(SEARCH, &self.query, "Search contacts", theme::BODY_LARGE, traits);
        let mut parts = vec![icon_button(Icon::ArrowBack, "Back", "back"), input.grow()];
        if !self.query.is_empty() {
            let clear = icon_button(Icon::Close, "Clear text", "clear");
            parts.push(clear.id("open_search_view_clear_button"));
        }
        let bar = search_toolbar(parts).id("open_search_view_toolbar");
        let found = self.found(env.store, &self.query);
        let body = if found.is_empty() {
            empty_state(Icon::Search, "No contacts found", "Check the spelling, or try a number")
        } else {
            list("search_results", found.iter().map(person_row), env)
        };
        page([bar, body], env)
    }

    pub(super) fn detail(&self, env: &DrawContext<'_>, id: usize) -> View {
        let back = icon_button(Icon::ArrowBack, "Navigate up", "back");
        let Some(person) = self.person(env.store, id) else {
            let gone = empty_state(Icon::Person, "No such contact", "It may have been deleted");
            return page([row([back]).pad_xy(4.0, 4.0), gone], env);
        };
        let [_, _, phone, email] = &person.texts;
        let bar = row([
            back,
            spacer(),
            icon_button(Icon::Edit, "Edit contact", ("edit", id)).id("menu_edit"),
            icon_button(Icon::Delete, "Delete contact", ("delete", id)).id("menu_delete"),
        ])
        .pad_xy(4.0, 4.0)
        .fill_width()
        .id("toolbar");
        let head = column([
            avatar(&person, 112.0).align_self_center(),
            text(person.name(), theme::HEADLINE.centered()).id("large_title"),
        ])
        .gap(16.0)
        .pad_xy(24.0, 8.0);
        let (mut verbs, mut facts) = (Vec::new(), Vec::new());
        if !phone.is_empty() {
            verbs.push(verb(Icon::Call, "Call", ("call", phone)).id("verb_call"));
            verbs.push(verb(Icon::Message, "Text", ("text", phone)).id("verb_text"));
            let row = list_row(Icon::Call, phone, "Mobile").class(class::GROUP);
            facts.push(row.min_height(72.0).id("phone_row").on_tap(("call", phone)));
        }
        if !email.is_empty() {
            verbs.push(verb(Icon::Email, "Email", ("mail", email)).id("verb_email"));
            let row = list_row(Icon::Email, email, "Personal").class(class::GROUP);
            facts.push(row.min_height(72.0).id("email_row").on_tap(("mail", email)));
        }
        let mut parts = vec![head, row(verbs).gap(12.0).pad_xy(24.0, 16.0).fill_width()];
        if facts.is_empty() {
            parts.push(text("No phone number or email", theme::BODY.quiet().centered()));
        } else {
            let card = column(facts).fill(theme::SURFACE_CONTAINER).radius(20.0);
            parts.push(card.margin(16.0, 4.0, 16.0, 0.0).id("contact_info_card"));
        }
        page([bar, list("contact_page", parts, env)], env)
    }
}

/// The form for a new or existing person.
pub(super) fn form(env: &DrawContext<'_>, form: &Form) -> View {
    let title = if form.id.is_some() { "Edit contact" } else { "Create contact" };
    let empty = form.now.iter().all(|text| text.trim().is_empty());
    let (fill, ink) = if empty {
        (theme::SURFACE_HIGH, theme::OUTLINE)
    } else {
        (theme::PRIMARY, theme::ON_PRIMARY)
    };
    let bar = row([
        icon_button(Icon::Close, "Cancel", "back"),
        text(title, theme::TITLE_LARGE.lines(1)).id("toolbar_title").grow(),
        pill(None, "Save", fill, ink, "save").id("toolbar_button").enabled(!empty),
    ])
    .gap(4.0)
    .pad_each(4.0, 4.0, 16.0, 4.0)
    .height(64.0)
    .fill_width()
    .id("toolbar");
    let signs = [Some(Icon::Person), None, Some(Icon::Phone), Some(Icon::Email)];
    let hints = ["First name", "Last name", "Phone", "Email"];
    let rows = FIELDS.iter().enumerate().map(|(at, id)| {
        let action = if at + 1 < FIELDS.len() { ImeAction::Next } else { ImeAction::Done };
        let traits = FieldTraits { action, ..FieldTraits::default() };
        let input = field(id, &form.now[at], hints[at], theme::BODY_LARGE, traits).grow();
        let framed = row([input]).pad_xy(16.0, 4.0).height(58.0).grow();
        let framed = framed.radius(12.0).border(1.0, theme::OUTLINE);
        let sign = match signs[at] {
            Some(sign) => icon(sign, 24.0, theme::ON_SURFACE_VARIANT),
            None => View::new(class::VIEW, []).size(24.0, 24.0),
        };
        row([sign.hide_from_accessibility(), framed]).gap(16.0).pad_xy(20.0, 8.0).fill_width()
    });
    page([bar, list("contact_editor", rows, env)], env)
}

/// The dialog for a question.
pub(super) fn question(asking: OpenDialog) -> View {
    let (title, words, no, yes) = match asking {
        OpenDialog::Delete(_) => (
            "Delete contact?",
            "This contact will be permanently deleted from your phone",
            "Cancel",
            "Delete",
        ),
        OpenDialog::Discard => {
            ("Discard changes?", "What you wrote will not be saved", "Keep editing", "Discard")
        }
    };
    let buttons = [
        text_button(no, theme::PRIMARY, "no").id("android:id/button2"),
        text_button(yes, theme::PRIMARY, "yes").id("android:id/button1"),
    ];
    dialog(title, message(words), buttons)
}

fn person_row(person: &Person) -> View {
    let name = text(person.name(), theme::BODY_LARGE.lines(1)).id("cliv_name_textview").grow();
    row([avatar(person, 40.0), name])
        .class(class::GROUP)
        .gap(16.0)
        .pad_xy(16.0, 8.0)
        .min_height(60.0)
        .fill_width()
        .on_tap(("person", person.id))
}

/// A round button with its label below.
fn verb(symbol: Icon, label: &str, tag: (&'static str, &String)) -> View {
    let style = theme::ON_SECONDARY_CONTAINER;
    let face = row([icon(symbol, 24.0, style)]).height(52.0).fill_width().justify_center();
    let face = face.fill(theme::SECONDARY_CONTAINER).radius(26.0);
    let word = text(label, theme::LABEL.quiet().centered());
    column([face.hide_from_accessibility(), word.hide_from_accessibility()])
        .class(class::BUTTON)
        .gap(6.0)
        .grow()
        .dump_text(label)
        .on_tap(tag)
}

/// The person's initial on their colour.
fn avatar(person: &Person, size: f32) -> View {
    const COLOURS: [u32; 7] =
        [0x1A73E8, 0x188038, 0xB06000, 0xA142F4, 0xD01884, 0x007B83, 0xC5221F];
    let fill = Colour::hex(COLOURS[person.id % COLOURS.len()]);
    let style = TextAppearance { size: size * 0.45, line: size * 0.6, ..theme::TITLE };
    let letter = text(first_letter(&person.name()), style.colour(theme::WHITE).centered());
    row([letter.hide_from_accessibility()])
        .class(class::IMAGE)
        .size(size, size)
        .justify_center()
        .fill(fill)
        .radius(size / 2.0)
        .hide_from_accessibility()
}

/// The letter under which a name is listed; `#` if it does not start with a letter.
fn first_letter(name: &str) -> String {
    let first = name.chars().next().filter(|first| first.is_alphabetic());
    first.map_or_else(|| "#".to_owned(), |first| first.to_uppercase().collect())
}
