//! How texts of screens and of a goal are written in a flow: escaped, with parameters, and which of
//! them last.

use thumbwire_base::visible::has_hidden;
use thumbwire_core::trace::REDACTED;

/// Longer texts do not name an element.
const MAX_TEXT: usize = 80;

/// Shorter values are parameters only where they are the whole text.
const MIN_PART: usize = 3;

/// What a flow says of a typed text.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// The text.
    Literal,
    /// A parameter with the text as its default.
    Parameter,
    /// A parameter without a default: the text is a password.
    Secret,
}

/// A typed text, and the name of its parameter.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) value: String,
    kind: Kind,
}

/// The texts that a run typed.
#[derive(Default)]
pub(super) struct Parameters(Vec<Parameter>);

impl Parameters {
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Parameter> {
        self.0.iter().filter(move |one| one.kind == kind)
    }

    /// All but those of one kind.
    pub(super) fn except(&self, kind: Kind) -> impl Iterator<Item = &Parameter> {
        self.0.iter().filter(move |one| one.kind != kind)
    }

    fn named(&self) -> impl Iterator<Item = &Parameter> {
        self.0.iter().filter(|one| one.kind != Kind::Literal)
    }

    /// Adds a value with a name made of these words.
    pub(super) fn add(&mut self, value: &str, words: &str, kind: Kind) {
        /// Names that scripts have already.
        const TAKEN: [&str; 2] = ["", "JSON"];
        if self.0.iter().any(|one| one.value == value) {
            return;
        }
        let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let name: String = words.replace([' ', '-', '.'], "_").chars().filter(is_part).collect();
        let name = name.trim_matches(|c: char| c == '_' || c.is_ascii_digit()).to_uppercase();
        let is_taken = TAKEN.contains(&&*name) || name.starts_with("MAESTRO") || name.len() > 30;
        let base = if is_taken { "TEXT".to_owned() } else { name };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let is_free = |name: &String| !self.named().any(|one| one.name == *name);
        let name = std::iter::once(base.clone()).chain(numbered).find(is_free);
        self.add_named(&name.unwrap_or(base), value, kind);
    }

    /// Adds a value with its name.
    pub(super) fn add_named(&mut self, name: &str, value: &str, kind: Kind) {
        self.0.push(Parameter { name: name.to_owned(), value: value.to_owned(), kind });
    }

    /// A text with parameters for the values in it, and `escape` for the rest.
    fn fill(&self, text: &str, escape: &dyn Fn(&str) -> String) -> String {
        let mut written = String::new();
        let (mut from, mut at) = (0, 0);
        while let Some(next) = text[at..].chars().next() {
            let is_here = |one: &&Parameter| {
                is_word_at(text, at, &one.value)
                    && (one.value.len() >= MIN_PART || one.value == text)
            };
            let found = self.named().filter(is_here).max_by_key(|one| one.value.len());
            let before = &text[from..at];
            match found.filter(|_| !before.ends_with(['\\', '$'])) {
                Some(one) => {
                    written.push_str(&escape(before));
                    written.push_str(&format!("${{{}}}", one.name));
                    at += one.value.len();
                    from = at;
                }
                None => at += next.len_utf8(),
            }
        }
        written + &escape(&text[from..])
    }

    /// A text to type.
    pub(super) fn typed(&self, text: &str) -> String {
        self.fill(text, &|text| text.replace("${", "\\${"))
    }

    /// A text of an element, as a regular expression. A value with characters that mean something
    /// in one is matched only as a whole.
    pub(super) fn pattern(&self, text: &str) -> String {
        let whole = self.named().find(|one| one.value == text);
        if let Some(one) = whole {
            return format!("${{{}}}", one.name);
        }
        let plain = |one: &Parameter| escape(&one.value) == one.value;
        if self.named().any(|one| text.contains(&one.value) && !plain(one)) {
            return escape(text);
        }
        self.fill(text, &escape)
    }

    /// A pattern for texts that contain a value.
    pub(super) fn part(&self, value: &str) -> String {
        let known = self.named().find(|one| one.value == value && escape(value) == value);
        let inside = known.map_or_else(|| escape(value), |one| format!("${{{}}}", one.name));
        format!(".*{inside}.*")
    }

    /// Whether a text will be the same next time: no clock, date or counter.
    pub(super) fn lasts(&self, text: &str) -> bool {
        /// Words of times and dates.
        const TIMES: &str = "mon tue wed thu fri sat sun monday tuesday wednesday thursday friday \
            saturday sunday today tomorrow yesterday now ago am pm morning afternoon evening tonight \
            noon";
        let rest = self.0.iter().fold(text.to_owned(), |rest, one| {
            if has_word(&rest, &one.value) { rest.replace(&one.value, " ") } else { rest }
        });
        let length = text.trim().chars().count();
        let mut words = rest.split(|c: char| !c.is_alphanumeric());
        (2..=MAX_TEXT).contains(&length)
            && !rest.contains(char::is_numeric)
            && !words.any(|word| TIMES.split(' ').any(|time| time == word.to_lowercase()))
            && !text.contains("{{")
            && !self.0.iter().any(|one| one.kind == Kind::Secret && text.contains(&one.value))
            && !text.contains(REDACTED)
            && !text.contains('\n')
            && !has_hidden(text)
    }

    /// The longest of the values that a text has.
    pub(super) fn value_in(&self, text: &str) -> Option<&str> {
        let is_in = |one: &&Parameter| one.value.len() >= MIN_PART && has_word(text, &one.value);
        let found = self.0.iter().filter(|one| one.kind != Kind::Secret).filter(is_in);
        found.map(|one| one.value.as_str()).max_by_key(|value| value.len())
    }
}

/// Whether this is in a text as a word or words.
pub(super) fn has_word(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, _)| is_word_at(text, at, value))
}

fn is_word_at(text: &str, at: usize, value: &str) -> bool {
    let Some(after) = text[at..].strip_prefix(value).filter(|_| !value.is_empty()) else {
        return false;
    };
    let joins = |edge: Option<char>, next: Option<char>| {
        edge.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)
    };
    !joins(value.chars().next(), text[..at].chars().next_back())
        && !joins(value.chars().next_back(), after.chars().next())
}

/// A regular expression for exactly this text.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A text as a string of JavaScript, without `$`, which Maestro would take for another script.
pub(super) fn script_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c == '$' || c.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
