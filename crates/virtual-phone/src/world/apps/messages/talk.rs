//! Whom the phone has talked to, and what was said.

use crate::world::chance::Chance;

/// A conversation: with whom, and who said what.
type Talk = (&'static str, &'static [(&'static str, &'static str)]);

const TALKS: [Talk; 6] = [
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

/// Conversations whose newest message was not seen yet, on a phone just switched on.
pub(super) const UNREAD: [usize; 2] = [0, 2];

/// Whether somebody reads what is sent to that name: people do, machines do not.
pub(super) fn answers(name: &str) -> bool {
    const MACHINES: [&str; 2] = ["(212) 555-0148", "Parcel Service"];
    TALKS.iter().any(|(known, _)| *known == name) && !MACHINES.contains(&name)
}

/// Who, and who said what to whom; the seed decides who stands where.
pub(super) fn seeded(seed: u64) -> (Vec<[String; 1]>, Vec<[String; 3]>) {
    let mut talks = TALKS;
    Chance::new(seed, "messages").shuffle(&mut talks);
    let threads = talks.iter().map(|(name, _)| [(*name).to_owned()]).collect();
    let said = talks.iter().enumerate().rev().flat_map(|(thread, (_, said))| {
        said.iter()
            .map(move |(from, text)| [thread.to_string(), (*from).to_owned(), (*text).to_owned()])
    });
    (threads, said.collect())
}
