//! Random texts to type.

use thumbwire_core::random;

use super::plan::RandomText;

const FIRST_NAMES: [&str; 16] = [
    "Ada", "Alan", "Barbara", "Donald", "Edsger", "Frances", "Grace", "Hedy", "Ken", "Leslie",
    "Linus", "Margaret", "Niklaus", "Radia", "Sophie", "Tony",
];

const LAST_NAMES: [&str; 16] = [
    "Allen", "Baker", "Carter", "Davis", "Evans", "Fisher", "Green", "Hughes", "Irving", "Jones",
    "Keller", "Lewis", "Moore", "Norris", "Owens", "Parker",
];

const CITIES: [&str; 16] = [
    "Athens", "Bergen", "Cairo", "Dublin", "Essen", "Florence", "Geneva", "Hanoi", "Istanbul",
    "Kyoto", "Lima", "Madrid", "Nairobi", "Oslo", "Porto", "Quito",
];

const COUNTRIES: [&str; 16] = [
    "Austria", "Brazil", "Chile", "Denmark", "Egypt", "Finland", "Greece", "Hungary", "Iceland",
    "Japan", "Kenya", "Latvia", "Mexico", "Norway", "Oman", "Peru",
];

const COLORS: [&str; 16] = [
    "azure", "beige", "black", "blue", "brown", "coral", "gold", "green", "indigo", "ivory",
    "lime", "olive", "orange", "pink", "red", "teal",
];

/// A random text of this kind.
///
/// # Errors
/// A message, if the system provides no random bytes.
pub(super) fn random_text(kind: RandomText) -> Result<String, String> {
    let of = |names: &[&'static str; 16]| {
        Ok::<_, String>(names[usize::from(random::bytes::<1>()?[0] % 16)])
    };
    let characters = |many: u32, among: &[u8]| {
        (0..many)
            .map(|_| {
                let number = usize::from(u16::from_le_bytes(random::bytes::<2>()?));
                Ok(char::from(among[number % among.len()]))
            })
            .collect::<Result<String, String>>()
    };
    Ok(match kind {
        RandomText::Letters(many) => characters(many, b"abcdefghijklmnopqrstuvwxyz")?,
        // No leading zero, which a number would lose.
        RandomText::Digits(many) => {
            let first = characters(many.min(1), b"123456789")?;
            first + &characters(many.saturating_sub(1), b"0123456789")?
        }
        RandomText::Email => {
            let name = of(&FIRST_NAMES)?.to_lowercase();
            format!("{name}.{}@example.com", characters(6, b"0123456789")?)
        }
        RandomText::PersonName => format!("{} {}", of(&FIRST_NAMES)?, of(&LAST_NAMES)?),
        RandomText::City => of(&CITIES)?.to_owned(),
        RandomText::Country => of(&COUNTRIES)?.to_owned(),
        RandomText::Color => of(&COLORS)?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_texts_have_their_form_and_differ() {
        let letters = |kind| random_text(kind).unwrap();
        let (one, other) = (letters(RandomText::Letters(30)), letters(RandomText::Letters(30)));
        assert!(one != other && one.len() == 30, "{one} {other}");
        assert!(one.bytes().all(|byte| byte.is_ascii_lowercase()), "{one}");
        for _ in 0..20 {
            let number = letters(RandomText::Digits(9));
            assert!(number.parse::<u32>().is_ok_and(|number| number >= 100_000_000), "{number}");
        }
        assert!(letters(RandomText::Email).ends_with("@example.com"));
        assert_eq!(letters(RandomText::PersonName).split(' ').count(), 2);
        assert_eq!(letters(RandomText::Letters(0)), "");
    }
}
