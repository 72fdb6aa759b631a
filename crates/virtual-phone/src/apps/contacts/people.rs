//! The initial contacts. First names are fixed; the seed decides family names and numbers.

use crate::rng::SplitMix64;

const FIRST: [&str; 22] = [
    "Aisha", "Alan", "Beatriz", "Carlos", "Chloe", "Daniel", "Elena", "Emma", "Felix", "Grace",
    "Hiro", "Isabel", "James", "Kavya", "Liam", "Maya", "Noah", "Olga", "Priya", "Sofia", "Tom",
    "Zoë",
];
const LAST: [&str; 22] = [
    "Anderson", "Becker", "Chen", "Dubois", "Evans", "Fischer", "García", "Hughes", "Ivanova",
    "Johnson", "Kim", "Lopez", "Martin", "Nakamura", "O'Brien", "Patel", "Quinn", "Rossi",
    "Schmidt", "Taylor", "Wagner", "Young",
];

/// First name, last name, phone and email of everybody. Numbers are from the range reserved for
/// fiction (555-0100 to 555-0199).
pub(super) fn seeded(seed: u64) -> Vec<[String; 4]> {
    let mut chance = SplitMix64::new(seed, "contacts");
    let mut last = LAST;
    chance.shuffle(&mut last);
    let mut numbers: Vec<u32> = (100..200).collect();
    chance.shuffle(&mut numbers);
    let areas = [212, 312, 415, 503, 617];
    let people = FIRST.iter().zip(last).zip(numbers);
    people
        .map(|((first, last), number)| {
            let area = areas[chance.below(areas.len() as u64) as usize];
            let plain = |name: &str| {
                let letters = name.to_lowercase().replace('í', "i").replace('ë', "e");
                letters.replace('\'', "")
            };
            let phone = format!("({area}) 555-0{number}");
            let mail = format!("{}.{}@example.com", plain(first), plain(last));
            [(*first).to_owned(), last.to_owned(), phone, mail]
        })
        .collect()
}
