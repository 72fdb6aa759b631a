//! Automatic replies in conversations: when and what.

use std::time::Duration;

use crate::app::{AppContext, Preferences};
use crate::apps::messages::{LIST, Messages, Page, conversations, read_key};
use crate::rng::SplitMix64;

const ANSWER: &str = "answer/";

/// Replies; the seed and the message decide which.
const ANSWERS: [&str; 8] = [
    "Sounds good!",
    "OK, thanks for letting me know",
    "Let me check and get back to you",
    "Haha, yes",
    "On my way",
    "Can we talk about it tonight?",
    "Perfect, see you then",
    "Sure, why not?",
];

/// Time until a reply, in milliseconds: the minimum, and the range above it.
const TAKES: (u64, u64) = (8_000, 12_000);

/// The uptime of the next reply.
pub(super) fn next(store: &Preferences) -> Option<Duration> {
    let due = store.keys(ANSWER).filter_map(|key| store.get(key)?.parse().ok());
    due.min().map(Duration::from_millis)
}

impl Messages {
    /// A message was sent: schedules a reply if the person replies at all.
    pub(super) fn expect_answer(
        &self,
        thread: usize,
        message: usize,
        context: &mut AppContext<'_>,
    ) {
        let name = self.threads.get(context.store, thread).map(|[name]| name);
        if name.is_some_and(|name| conversations::answers(&name)) {
            let mut chance = SplitMix64::new(self.seed, &format!("answer time {message}"));
            let now = u64::try_from(context.now.as_millis()).unwrap_or(u64::MAX);
            let at = now.saturating_add(TAKES.0 + chance.below(TAKES.1));
            context.store.set(&format!("{ANSWER}{thread}"), at.to_string());
        }
    }

    /// Delivers the replies that are due: a bubble if the conversation is open, else a
    /// notification.
    pub(super) fn receive(&mut self, context: &mut AppContext<'_>) {
        let keys: Vec<String> = context.store.keys(ANSWER).map(str::to_owned).collect();
        for key in keys {
            let at = context.store.get(&key).and_then(|at| at.parse().ok());
            if at.is_some_and(|at| Duration::from_millis(at) > context.now) {
                continue;
            }
            context.store.remove(&key);
            let Some(thread) = key.strip_prefix(ANSWER).and_then(|id| id.parse().ok()) else {
                continue;
            };
            self.take_in(thread, context);
        }
    }

    fn take_in(&mut self, thread: usize, context: &mut AppContext<'_>) {
        let Some([name]) = self.threads.get(context.store, thread) else { return };
        let count = self.of(context.store, thread).len();
        let mut chance = SplitMix64::new(self.seed, &format!("answer {thread} {count}"));
        let text = ANSWERS[chance.below(ANSWERS.len() as u64) as usize];
        let message = [thread.to_string(), "them".to_owned(), text.to_owned()];
        let Some(id) = self.messages.put(context.store, None, &message) else { return };
        if context.in_front && self.page == Some(Page::Talk(thread)) {
            context.store.set(&read_key(thread), id.to_string());
            context.scroll_to_top(LIST);
        } else {
            context.notify(thread.to_string(), &name, text, Some(format!("thread:{thread}")));
        }
    }
}
