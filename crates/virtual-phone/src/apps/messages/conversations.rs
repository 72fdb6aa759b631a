//! The initial conversations.

use crate::rng::SplitMix64;

/// A conversation: the person, and who said what.
type SeededConversation = (&'static str, &'static [(&'static str, &'static str)]);

const TALKS: [SeededConversation; 6] = [
    (
        "Emma Hughes",
        &[
            ("them", "Are we still on for dinner tonight?"),
            ("me", "Yes! 19:30 at the usual place"),
            ("them", "Perfect. I will book a table for four"),
            ("me", "Olga comes a little later"),
            ("them", "Fine, see you there"),
        ],
    ),
    (
        "Zoë García",
        &[
            ("them", "¿Vienes mañana a la oficina?"),
            ("me", "Sí, a las nueve"),
            ("them", "Estupendo. Trae el informe, por favor"),
        ],
    ),
    ("(212) 555-0148", &[("them", "Your code is 402 913. It is valid for 10 minutes.")]),
    (
        "Нина Иванова",
        &[
            ("them", "Привет! Как дела?"),
            ("me", "Хорошо, спасибо"),
            ("them", "Созвонимся в субботу?"),
        ],
    ),
    (
        "Parcel Service",
        &[
            ("them", "Your parcel 7731 is on its way. It arrives on Thursday between 9 and 12."),
            ("them", "Your parcel 7731 was left with your neighbour Quinn."),
        ],
    ),
    (
        "Book club",
        &[
            ("them", "Next time: Middlemarch, chapters 1 to 12"),
            ("me", "That is a lot for one month :)"),
            (
                "them",
                "We can say 1 to 8 as well. What do the others think? I would be happy with either, as long as everybody has read it before we meet.",
            ),
        ],
    ),
];

/// Conversations with an unread message after the first boot.
pub(super) const UNREAD: [usize; 2] = [0, 2];

/// Whether that contact replies: people do, machines do not.
pub(super) fn answers(name: &str) -> bool {
    const MACHINES: [&str; 2] = ["(212) 555-0148", "Parcel Service"];
    TALKS.iter().any(|(known, _)| *known == name) && !MACHINES.contains(&name)
}

/// The people and their messages; the seed decides the order.
pub(super) fn seeded(seed: u64) -> (Vec<[String; 1]>, Vec<[String; 3]>) {
    let mut talks = TALKS;
    SplitMix64::new(seed, "messages").shuffle(&mut talks);
    let threads = talks.iter().map(|(name, _)| [(*name).to_owned()]).collect();
    let output = talks.iter().enumerate().rev().flat_map(|(thread, (_, said))| {
        said.iter()
            .map(move |(from, text)| [thread.to_string(), (*from).to_owned(), (*text).to_owned()])
    });
    (threads, output.collect())
}
