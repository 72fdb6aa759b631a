//! Messages: conversations with bubbles, a text field, and a page for starting a new one.
//!
//! State and events are here; `pages` draws, `conversations` has the initial conversations. Unsent
//! text stays as the conversation's draft. People in `conversations` reply some seconds after a
//! message (`auto_reply`).
//!
//! Preferences: `thread/N/{name}`; `message/N/{thread,from,text}`, `from` being `me` or `them`;
//! `draft/THREAD`; `read/THREAD` (the number of the newest message that was read); `answer/THREAD`
//! (uptime in milliseconds at which the reply arrives).

mod auto_reply;
mod conversations;
mod pages;

use std::time::Duration;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::records::Records;
use crate::packages::{AppIcon, Intent};
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Messages.
pub(crate) struct Messages {
    seed: u64,
    threads: Records<1>,
    messages: Records<3>,
    /// The page above the list.
    page: Option<Page>,
    /// The message of the open dialog.
    held: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Page {
    Talk(usize),
    /// A new conversation and the text of its recipient field.
    New(String),
}

const COMPOSE: &str = "compose_message_text";
const TO: &str = "recipient_text_view";
const LIST: &str = "message_list";

impl BuiltInApp for Messages {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Messages",
        version: "20240223",
        icon: AppIcon { symbol: Icon::Message, fill: theme::PRIMARY, ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.google.android.apps.messaging",
            version_code: 240_223_063,
            activities: &["com.google.android.apps.messaging.ui.ConversationListActivity"],
            has_icon: true,
            permissions: &[
                "READ_SMS",
                "SEND_SMS",
                "RECEIVE_SMS",
                "READ_CONTACTS",
                "POST_NOTIFICATIONS",
            ],
        },
        ios: IosIdentity { bundle_id: "com.apple.MobileSMS" },
    };

    fn new(seed: u64) -> Self {
        let (threads, messages) = conversations::seeded(seed);
        Self {
            seed,
            threads: Records { kind: "thread", fields: ["name"], seeded: threads },
            messages: Records {
                kind: "message",
                fields: ["thread", "from", "text"],
                seeded: messages,
            },
            page: None,
            held: None,
        }
    }
}

impl App for Messages {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let view = match &self.page {
            None => self.list(env),
            Some(Page::Talk(thread)) => self.conversation(env, *thread),
            Some(Page::New(name)) => self.new_conversation(env, name),
        };
        view.dialog(self.held.map(pages::about))
    }

    fn next_wakeup(&self, store: &Preferences, _now: Duration) -> Option<Duration> {
        auto_reply::next(store)
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Alarm => self.receive(context),
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::LongPress(tag) => self.held = tag.value.parse().ok(),
            Event::Text { text, .. } => self.typed(text, context),
            Event::Action { field } if field == TO => self.start_frame(context),
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            Event::Intent(intent) => self.take(&intent, context),
            _ => {}
        }
    }
}

/// One message of a conversation.
struct Message {
    id: usize,
    mine: bool,
    text: String,
}

impl Messages {
    /// `sms:` and `smsto:` URIs open the conversation with that number; `thread:` is for our own
    /// notifications.
    fn take(&mut self, intent: &Intent, context: &mut AppContext<'_>) {
        let data = intent.data.as_deref().unwrap_or_default();
        let Some((scheme, number)) = data.split_once(':') else { return };
        if let ("thread", Ok(thread)) = (scheme, number.parse()) {
            self.held = None;
            context.unfocus();
            return self.open(thread, context);
        }
        let number = number.split('?').next().unwrap_or_default();
        let body = intent.extras.iter().find(|(key, _)| key == "sms_body");
        self.held = None;
        self.page = Some(Page::New(number.to_owned()));
        self.start_frame(context);
        if let (Some(Page::Talk(thread)), Some((_, body))) = (&self.page, body) {
            context.store.set(&draft_key(*thread), body);
        }
    }

    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        let number = tag.value.parse::<usize>().ok();
        match tag.name {
            "talk" => {
                if let Some(thread) = number {
                    self.open(thread, context);
                }
            }
            "new" => {
                self.page = Some(Page::New(String::new()));
                context.focus(TO);
            }
            "to" => {
                self.page = Some(Page::New(tag.value.clone()));
                self.start_frame(context);
            }
            "begin" => self.start_frame(context),
            "send" => self.send(context),
            "copy" => {
                let message = self.held.take().and_then(|id| self.messages.get(context.store, id));
                if let Some([_, _, text]) = message {
                    context.copy(text);
                    context.toast("Message copied");
                }
            }
            "delete" => {
                if let Some(id) = self.held.take() {
                    self.messages.remove(context.store, id);
                    context.toast("Message deleted");
                }
            }
            "call" => context.toast(format!("Calling {}", tag.value)),
            "back" => self.back(context),
            _ => {}
        }
    }

    fn open(&mut self, thread: usize, context: &mut AppContext<'_>) {
        if let Some(last) = self.of(context.store, thread).last() {
            context.store.set(&read_key(thread), last.id.to_string());
        }
        self.page = Some(Page::Talk(thread));
        context.dismiss(thread.to_string());
        context.scroll_to_top(LIST);
    }

    fn typed(&mut self, text: String, context: &mut AppContext<'_>) {
        match &mut self.page {
            Some(Page::New(name)) => *name = text,
            Some(Page::Talk(thread)) if text.is_empty() => {
                context.store.remove(&draft_key(*thread))
            }
            Some(Page::Talk(thread)) => context.store.set(&draft_key(*thread), text),
            None => {}
        }
    }

    /// Opens the conversation with the named person, or creates it.
    fn start_frame(&mut self, context: &mut AppContext<'_>) {
        let Some(Page::New(name)) = &self.page else { return };
        let name = name.trim().to_owned();
        if name.is_empty() {
            return;
        }
        let known = self.threads.all(context.store);
        let known = known.into_iter().find(|(_, [who])| who.eq_ignore_ascii_case(&name));
        let thread = known.map(|(id, _)| id);
        match thread.or_else(|| self.threads.put(context.store, None, &[name])) {
            Some(thread) => {
                self.open(thread, context);
                context.focus(COMPOSE);
            }
            None => context.toast("No room for more conversations"),
        }
    }

    fn send(&mut self, context: &mut AppContext<'_>) {
        let Some(Page::Talk(thread)) = self.page else { return };
        let text = context.store.get(&draft_key(thread)).unwrap_or_default().trim().to_owned();
        if text.is_empty() {
            return;
        }
        let message = [thread.to_string(), "me".to_owned(), text];
        match self.messages.put(context.store, None, &message) {
            Some(id) => {
                context.store.set(&read_key(thread), id.to_string());
                context.store.remove(&draft_key(thread));
                context.scroll_to_top(LIST);
                self.expect_answer(thread, id, context);
            }
            None => context.toast("No room for more messages"),
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        if self.held.take().is_some() {
            return;
        }
        context.unfocus();
        if self.page.take().is_none() {
            context.finish();
        }
    }

    /// The messages of a conversation, oldest first.
    fn of(&self, store: &Preferences, thread: usize) -> Vec<Message> {
        let thread = thread.to_string();
        let all = self.messages.all(store).into_iter().filter(|(_, [whose, ..])| *whose == thread);
        all.map(|(id, [_, from, text])| Message { id, mine: from == "me", text }).collect()
    }

    /// Whether the newest message of a conversation is unread.
    fn unread(&self, store: &Preferences, thread: usize, newest: &Message) -> bool {
        let seen = store.get(&read_key(thread)).and_then(|id| id.parse::<usize>().ok());
        // The initial messages are read, with some exceptions.
        let came_with = self.messages.seeded.len();
        let seen = seen.map(|seen| seen.saturating_add(1));
        let seen =
            seen.unwrap_or(if conversations::UNREAD.contains(&thread) { 0 } else { came_with });
        !newest.mine && newest.id >= seen
    }
}

fn draft_key(thread: usize) -> String {
    format!("draft/{thread}")
}

fn read_key(thread: usize) -> String {
    format!("read/{thread}")
}

/// The avatar colour of a conversation.
fn colour_of(thread: usize) -> Colour {
    const COLOURS: [u32; 5] = [0x188038, 0xA142F4, 0x1A73E8, 0xB06000, 0xD01884];
    Colour::hex(COLOURS[thread % COLOURS.len()])
}
