//! Which known name was probably meant by an unknown one.

use strsim::osa_distance;

/// The known name that is most like `name`: one differs from the other in few characters, `name` is
/// a part of it, or goes on after it. `None` if none is alike.
pub(super) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    /// A longer name than any argument is not worth a comparison.
    const MAX_LENGTH: usize = 64;
    let is_short = name.len() <= MAX_LENGTH;
    let rated =
        known.filter(|_| is_short).filter_map(|known| Some((distance(name, known)?, known)));
    // Of equals the first.
    rated.min_by_key(|(distance, _)| *distance).map(|(_, known)| known.to_owned())
}

/// How unlike two names are; `None` if they have nothing to do with each other.
fn distance(name: &str, known: &str) -> Option<usize> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let (name, known) = (plain(name), plain(known));
    // Lists show refs, and other servers name elements so.
    if known == "elementid" && ["ref", "uid", "selector", "locator"].contains(&&*name) {
        return Some(0);
    }
    let edits = osa_distance(&name, &known);
    if edits <= name.len().min(known.len()) / 3 {
        return Some(edits);
    }
    // `id` is short for `element_id`, but `sessionId` is no long form of `id`.
    let is_part = name.len() >= 2 && known.contains(&name);
    (is_part || known.len() >= 2 && name.starts_with(&known)).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_and_shortened_names_are_recognized() {
        let known = ["text", "element_id", "element_text", "clear", "x"];
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(closest(name, known.into_iter()).as_deref(), expected, "{name}");
        };
        check("txt", Some("text"));
        check("elementId", Some("element_id"));
        check("elment_text", Some("element_text"));
        check("id", Some("element_id"));
        check("ref", Some("element_id"));
        check("clear_existing", Some("clear"));
        check("CLEAR", Some("clear"));
        check("submit", None);
        check("session_text", None);
        check("y", None);
        check("", None);
        check(&"text".repeat(1000), None);
    }
}
