//! The screen as a client knows it that reads nothing but replies: the list, changed line by line
//! by the differences that follow.

use regex_lite::Regex;
use thumbwire_eval::script::ScriptTarget;

/// A line of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// `button`, `field`, `switch`; empty for texts and rows.
    pub(crate) role: String,
    /// The texts in quotes, without escapes.
    pub(crate) texts: Vec<String>,
    /// `[on]` or `[checked]`.
    pub(crate) checked: bool,
    /// The ref.
    pub(crate) id: Option<String>,
    /// All of it.
    whole: String,
}

impl Line {
    fn parse(line: &str) -> Self {
        let line = line.trim();
        let mut parsed = Self { whole: line.to_owned(), ..Self::default() };
        let mut rest = line;
        while !rest.is_empty() {
            let word = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (text, length) = unquote(quoted);
                    parsed.texts.push(text);
                    &rest[..length + 1]
                }
                None => rest.split(' ').next().unwrap_or(rest),
            };
            let is_role = rest.len() == line.len() && word.chars().all(char::is_alphabetic);
            if is_role {
                parsed.role = word.to_owned();
            } else if is_ref(word) {
                parsed.id = Some(word.to_owned());
            }
            parsed.checked |= ["[on]", "[checked]"].contains(&word);
            rest = rest[word.len()..].trim_start();
        }
        parsed
    }

    fn of_node(node: &str) -> Self {
        let value = |name: &str| {
            let (_, rest) = node.split_once(&format!(" {name}=\""))?;
            let (value, _) = rest.split_once('"')?;
            let plain = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            Some(plain.replace("&#10;", "\n").replace("&amp;", "&"))
        };
        let class = value("class").unwrap_or_default();
        let role = match class.rsplit('.').next().unwrap_or_default() {
            "EditText" => "field",
            "Switch" | "CheckBox" | "RadioButton" => "switch",
            _ => "",
        };
        Self {
            role: role.into(),
            texts: ["text", "content-desc", "hint"].iter().filter_map(|name| value(name)).collect(),
            checked: node.contains(" checked=\"true\""),
            id: value("ref"),
            whole: node.to_owned(),
        }
    }

    pub(crate) fn is_field(&self) -> bool {
        self.role == "field"
    }

    pub(crate) fn is_switch(&self) -> bool {
        ["switch", "checkbox", "radio"].contains(&self.role.as_str())
    }

    /// Whether a difference means it by this: a ref, or the start of a line without one.
    fn is_called(&self, name: &str) -> bool {
        match (&self.id, name.strip_suffix('…')) {
            (Some(id), _) => id == name,
            (None, Some(start)) => self.whole.starts_with(start),
            (None, None) => self.whole == name,
        }
    }
}

fn is_ref(word: &str) -> bool {
    word.strip_prefix('e').is_some_and(|digits| digits.parse::<u32>().is_ok())
}

/// The text up to the closing quote, and where the rest starts.
fn unquote(quoted: &str) -> (String, usize) {
    let (mut text, mut escaped) = (String::new(), false);
    for (at, char) in quoted.char_indices() {
        match (escaped, char) {
            (true, 'n') => text.push('\n'),
            (true, other) => text.push(other),
            (false, '\\') => {}
            (false, '"') => return (text, at + 1),
            (false, other) => text.push(other),
        }
        escaped = !escaped && char == '\\';
    }
    panic!("no closing quote: {quoted}");
}

/// The lines in order.
#[derive(Debug, Default)]
pub(crate) struct Screen(pub(crate) Vec<Line>);

impl Screen {
    /// Reads the answer to a look, whose first line names the app.
    pub(crate) fn replace(&mut self, list: &str) {
        self.0 = list.lines().skip(1).map(Line::parse).collect();
    }

    /// Reads the XML form, in which each node is a line of its own. A text inside a row takes taps
    /// for the row.
    pub(crate) fn replace_by_xml(&mut self, xml: &str) {
        self.0 = xml.lines().filter(|line| line.contains("<node ")).map(Line::of_node).collect();
    }

    /// Reads the reply of an action.
    pub(crate) fn read(&mut self, reply: &str) {
        if let Some((_, list)) = reply.split_once("\nScreen: ") {
            return self.replace(list);
        }
        // What is gone comes last in a reply, and may read like what is new.
        for gone in reply.lines().filter_map(|line| line.strip_prefix("- ")) {
            let words = gone.split(' ');
            let names = if words.clone().all(is_ref) { words.collect() } else { vec![gone.trim()] };
            for name in names {
                if let Some(at) = self.called(name) {
                    self.0.remove(at);
                }
            }
        }
        let mut next = self.0.len();
        for line in reply.lines() {
            if line == "first:" {
                next = 0;
            } else if let Some(name) = line.strip_prefix("after ") {
                let at = self.called(name.trim_end_matches(':'));
                next = at.map_or(self.0.len(), |at| at + 1);
            } else if let Some(new) = line.strip_prefix("+ ") {
                self.0.insert(next, Line::parse(new));
                next += 1;
            } else if let Some(changed) = line.strip_prefix("~ ") {
                let changed = Line::parse(changed);
                let at = self.0.iter().position(|line| line.id == changed.id);
                self.0[at.unwrap_or_else(|| panic!("unknown: {line}"))] = changed;
            } else if let Some((old, new)) = line.split_once(" -> ") {
                let at = self.called(old).unwrap_or_else(|| panic!("unknown: {line}"));
                self.0[at] = Line::parse(new);
            }
        }
    }

    fn called(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|line| line.is_called(name))
    }

    /// The line that a target of the suite means. The list has no places, so "beside" is the next
    /// line below, as a value follows its label, or else the next one above.
    pub(crate) fn find(&self, aim: &ScriptTarget) -> Option<usize> {
        match aim {
            ScriptTarget::Or(one, other) => self.find(one).or_else(|| self.find(other)),
            ScriptTarget::SameRow(what, other) => {
                let beside = self.find(other)?;
                self.all(what).into_iter().min_by_key(|&at| (at < beside, at.abs_diff(beside)))
            }
            _ => self.all(aim).first().copied(),
        }
    }

    fn all(&self, aim: &ScriptTarget) -> Vec<usize> {
        let all = |fits: &dyn Fn(&Line) -> bool| -> Vec<usize> {
            let lines = self.0.iter().enumerate();
            lines.filter(|(_, line)| fits(line)).map(|(at, _)| at).collect()
        };
        match aim {
            ScriptTarget::Text(words) => {
                all(&|line| line.texts.contains(words) && !line.is_field())
            }
            ScriptTarget::Pattern(pattern) => {
                let pattern = Regex::new(pattern).unwrap();
                all(&|line| line.texts.iter().any(|text| pattern.is_match(text)))
            }
            ScriptTarget::Field(place) => {
                all(&Line::is_field).into_iter().skip(*place).take(1).collect()
            }
            ScriptTarget::SameRow(..) | ScriptTarget::Or(..) => {
                self.find(aim).into_iter().collect()
            }
        }
    }

    /// The switch that the target is, or the nearest one.
    pub(crate) fn switch(&self, aim: &ScriptTarget) -> Option<&Line> {
        let at = self.find(aim)?;
        let switches = self.0.iter().enumerate().filter(|(_, line)| line.is_switch());
        // A switch follows its label.
        let nearest = switches.min_by_key(|(other, _)| (other.abs_diff(at), *other < at));
        nearest.map(|(_, line)| line)
    }

    /// The ref of what takes a tap on the target.
    pub(crate) fn id(&self, aim: &ScriptTarget) -> Option<&str> {
        self.0[self.find(aim)?].id.as_deref()
    }
}

#[test]
fn differences_lead_to_the_list_that_a_look_gives() {
    let mut screen = Screen::default();
    screen.read(
        "Tapped\nScreen: app .Main\nfield \"Name\" = \"a \\\"b\\\"\" e1\n\"A\"\nswitch \"B\" e3\n\"X\"\nimage \"Y y\"\n\"Z\" e5",
    );
    let change = "Tapped\nafter e1:\n+ \"N\"\n~ switch \"B\" [on] e3\n\"A\" -> \"C\" e4\n- e5\n- \"X\"\n- image \"Y…\n";
    screen.read(change);
    let mut looked = Screen::default();
    looked.replace(
        "app .Main\nfield \"Name\" = \"a \\\"b\\\"\" e1\n\"N\"\n\"C\" e4\nswitch \"B\" [on] e3",
    );
    assert_eq!(screen.0, looked.0);
    assert_eq!(screen.0[0].texts, ["Name", "a \"b\""]);
    assert!(screen.switch(&ScriptTarget::Text("B".into())).unwrap().checked);
}
