//! The pages of Messages.

use crate::app::DrawContext;
use crate::apps::messages::{COMPOSE, LIST, Message, Messages, TO, colour_of, draft_key};
use crate::theme;
use crate::view::{FieldTraits, View, class, column, frame, row, spacer, text};
use crate::widgets::{
    badge, dialog, empty_state, field, floating_button, icon_button, list, message, page,
    text_button, toolbar,
};
use thumbwire_virtual_screen::icons::Icon;

/// Maximum height of the draft: six lines, in dp.
const MAX_VALUE: f32 = 6.0 * 24.0 + 24.0;
const TOOLBAR: f32 = 64.0;

impl Messages {
    pub(super) fn list(&self, env: &DrawContext<'_>) -> View {
        let head = text("Messages", theme::HEADLINE).pad_each(20.0, 16.0, 20.0, 12.0);
        let mut talks: Vec<_> = self.threads.all(env.store).into_iter().collect();
        let newest = |thread: usize| self.of(env.store, thread).into_iter().next_back();
        talks.sort_by_key(|(id, _)| {
            std::cmp::Reverse(newest(*id).map_or(usize::MAX, |message| message.id))
        });
        let rows: Vec<View> = talks
            .iter()
            .map(|(id, [name])| {
                let newest = newest(*id);
                let unread = newest.as_ref().is_some_and(|last| self.unread(env.store, *id, last));
                let draft = env.store.get(&draft_key(*id));
                conversation(*id, name, newest.as_ref(), draft, unread)
            })
            .collect();
        let body = if rows.is_empty() {
            empty_state(
                Icon::Message,
                "No conversations yet",
                "Once you start one, it shows up here",
            )
        } else {
            list("conversation_list", rows, env).pad_each(0.0, 0.0, 0.0, env.insets.1 + 96.0)
        };
        let add = floating_button(Icon::Message, "Start chat").id("start_chat_fab").on_tap("new");
        let add = add.absolute([None, None, Some(16.0), Some(env.insets.1 + 16.0)]);
        frame([page([head.id("main_action_bar"), body], env).fill_parent(), add]).edge_to_edge()
    }

    pub(super) fn conversation(&self, env: &DrawContext<'_>, thread: usize) -> View {
        let name = self.threads.get(env.store, thread).map(|[name]| name).unwrap_or_default();
        let call = icon_button(Icon::Call, "Call", ("call", &name)).id("action_call");
        let bar = toolbar(&name, [call]);
        let output = self.of(env.store, thread);
        let bubbles = output.iter().map(|message| bubble(message, env.size.0));
        let body = if output.is_empty() {
            empty_state(Icon::Message, &name, "Say hello")
        } else {
            column(bubbles)
                .scrolls()
                .at_end()
                .class(class::LIST)
                .id(LIST)
                .gap(6.0)
                .pad_xy(16.0, 8.0)
                .grow()
        };
        let draft = env.store.get(&draft_key(thread)).unwrap_or_default();
        let many = FieldTraits { multi_line: true, ..FieldTraits::default() };
        let input = field(COMPOSE, draft, "Text message", theme::BODY_LARGE, many);
        // Below the toolbar in a low window; longer text scrolls.
        let room = env.size.1 - env.insets.0 - TOOLBAR - env.insets.1 - 16.0;
        let input = column([input.pad_xy(0.0, 12.0)])
            .scrolls()
            .class(class::LINEAR)
            .max_height(room.clamp(theme::TOUCH, MAX_VALUE))
            .pad_xy(18.0, 0.0)
            .fill(theme::SURFACE_CONTAINER)
            .radius(24.0)
            .grow();
        let ready = !draft.trim().is_empty();
        let send = icon_button(Icon::Send, "Send SMS", "send").id("send_message_button_icon");
        let foot = row([input, send.enabled(ready)]).gap(4.0).fill_width();
        let foot = foot.pad_each(12.0, 8.0, 4.0, env.insets.1 + 8.0).id("compose_message_view");
        page([bar, body, foot], env)
    }

    pub(super) fn new_conversation(&self, env: &DrawContext<'_>, name: &str) -> View {
        let bar = toolbar("New conversation", []);
        let to = text("To", theme::BODY_LARGE.quiet());
        let hint = "Type a name, phone number, or email";
        let input = field(TO, name, hint, theme::BODY_LARGE, FieldTraits::default()).grow();
        let begin = icon_button(Icon::Check, "Start", "begin").enabled(!name.trim().is_empty());
        let line = row([to, input, begin.id("contact_picker_start")]).gap(12.0).fill_width();
        let line = line.pad_each(20.0, 4.0, 8.0, 4.0).fill(theme::SURFACE_CONTAINER);
        let wanted = name.trim().to_lowercase();
        let known = self.threads.all(env.store).into_iter().map(|(id, [who])| (id, who));
        let known = known.filter(|(_, who)| who.to_lowercase().contains(&wanted));
        let rows = known.map(|(id, who)| {
            let name = text(&who, theme::BODY_LARGE.lines(1)).id("contact_name").grow();
            let avatar =
                badge(Icon::Person, 40.0, colour_of(id), theme::WHITE).hide_from_accessibility();
            row([avatar, name])
                .gap(16.0)
                .pad_xy(20.0, 8.0)
                .min_height(60.0)
                .fill_width()
                .on_tap(("to", &who))
        });
        page([bar, line, list("contact_picker_list", rows, env)], env)
    }
}

/// The actions on a message.
pub(super) fn about(_id: usize) -> View {
    let buttons = [
        text_button("Delete", theme::RED, "delete").id("action_delete"),
        text_button("Copy text", theme::PRIMARY, "copy").id("action_copy"),
    ];
    dialog("Message options", message("Copy its words, or delete it from this phone"), buttons)
}

fn conversation(
    id: usize,
    name: &str,
    newest: Option<&Message>,
    draft: Option<&str>,
    unread: bool,
) -> View {
    let output = newest.map(|message| match message.mine {
        true => format!("You: {}", message.text),
        false => message.text.clone(),
    });
    let snippet = draft.map(|draft| format!("Draft: {draft}")).or(output).unwrap_or_default();
    let (title, below) = match unread {
        true => (theme::TITLE, theme::LABEL_LARGE),
        false => (theme::BODY_LARGE, theme::BODY.quiet()),
    };
    let mut lines = vec![text(name, title.lines(1)).id("conversation_name")];
    if !snippet.is_empty() {
        lines.push(text(snippet, below.lines(2)).id("conversation_snippet"));
    }
    let avatar = badge(Icon::Person, 48.0, colour_of(id), theme::WHITE).hide_from_accessibility();
    let mut parts = vec![avatar, column(lines).gap(2.0).grow()];
    if unread {
        let dot = View::new(class::VIEW, []).size(10.0, 10.0).radius(5.0).fill(theme::PRIMARY);
        parts.push(dot.content_description("Unread").id("unread_badge"));
    }
    row(parts)
        .class(class::GROUP)
        .gap(16.0)
        .pad_xy(16.0, 10.0)
        .min_height(76.0)
        .fill_width()
        .id("conversation_item")
        .on_tap(("talk", id))
}

/// A message: one's own at the right, in the theme's colour.
fn bubble(message: &Message, across: f32) -> View {
    let (fill, ink) = match message.mine {
        true => (theme::PRIMARY, theme::ON_PRIMARY),
        false => (theme::SURFACE_HIGH, theme::ON_SURFACE),
    };
    let words = text(&message.text, theme::BODY_LARGE.colour(ink)).id("message_text");
    let face = column([words]).pad_xy(16.0, 12.0).min_height(theme::TOUCH).fill(fill).radius(20.0);
    let face = face.max_width(across * 0.78).shrinks().class(class::FRAME);
    let face = face.id("message_content").on_long_press(("message", message.id));
    let parts = if message.mine { vec![spacer(), face] } else { vec![face, spacer()] };
    row(parts).fill_width()
}
