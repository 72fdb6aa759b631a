//! The arguments of `content`, and its complaints about them.

use thumbwire_virtual_android_system::release::{Release, ToolKind};

/// A parsed command.
#[derive(Debug, PartialEq)]
pub(super) struct Command {
    pub(super) uri: Uri,
    pub(super) operation: Operation,
}

/// What to do with the URI.
#[derive(Debug, PartialEq)]
pub(super) enum Operation {
    Query { columns: Option<Vec<String>>, filter: Option<String>, sort: Option<String> },
    Insert { values: Vec<(String, String)> },
    Update { values: Vec<(String, String)>, filter: Option<String> },
    Delete { filter: Option<String> },
    Call { method: String, arg: Option<String>, extras: Vec<(String, String)> },
    Read,
    Write,
    GetType,
}

/// A content URI.
#[derive(Debug, PartialEq)]
pub(super) struct Uri(pub(super) String);

impl Uri {
    /// `settings` of `content://settings/system`; `null` if there is none, as Java prints it.
    pub(super) fn authority(&self) -> &str {
        let rest = self.0.split_once("://").map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or("null")
    }

    /// The parts of its path.
    pub(super) fn path(&self) -> Vec<&str> {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        rest.split('/').skip(1).filter(|part| !part.is_empty()).collect()
    }
}

/// The options that an operation takes.
fn options_of(operation: &str, old: bool) -> Option<&'static [&'static str]> {
    Some(match operation {
        "insert" => &["--bind"],
        "delete" => &["--where"],
        "update" => &["--where", "--bind"],
        "query" => &["--where", "--sort", "--projection"],
        "call" => &["--method", "--arg", "--extra"],
        "read" | "write" | "gettype" if !old => &[],
        _ => return None,
    })
}

impl Command {
    /// Parses the arguments; an error is what follows `[ERROR]`.
    pub(super) fn parse(args: &[String], release: &Release) -> Result<Self, String> {
        let old = release.form == ToolKind::Java;
        let operation = args.first().map_or("null", String::as_str);
        let options = options_of(operation, old)
            .ok_or_else(|| format!("Unsupported operation: {operation}"))?;
        let mut rest = args.iter().skip(1).map(String::as_str);
        let (mut uri, mut filter, mut sort, mut columns) = (None, None, None, None);
        let (mut method, mut arg, mut values) = (None, None, Vec::new());
        while let Some(option) = rest.next() {
            if !options.contains(&option) && option != "--uri" && option != "--user" {
                return Err(format!("Unsupported argument: {option}"));
            }
            if matches!(option, "--bind" | "--extra") {
                values.push(binding(rest.next())?);
                continue;
            }
            let value = rest.next().filter(|value| !value.is_empty() && !value.starts_with("--"));
            let value = value.ok_or_else(|| format!("No value for argument: {option}"))?;
            let text = Some(value.to_owned());
            match option {
                "--uri" => uri = text,
                "--where" => filter = text,
                "--sort" => sort = text,
                "--method" => method = text,
                "--arg" => arg = text,
                "--projection" => {
                    columns = Some(value.split(':').map(|name| name.trim().to_owned()).collect());
                }
                _ => {}
            }
        }
        let uri = uri
            .map(Uri)
            .ok_or("Content provider URI not specified. Did you specify --uri argument?")?;
        if values.is_empty() && matches!(operation, "insert" | "update") {
            return Err("Bindings not specified. Did you specify --bind argument(s)?".to_owned());
        }
        let operation = match operation {
            "insert" => Operation::Insert { values },
            "delete" => Operation::Delete { filter },
            "update" => Operation::Update { values, filter },
            "query" => Operation::Query { columns, filter, sort },
            "read" => Operation::Read,
            "write" => Operation::Write,
            "gettype" => Operation::GetType,
            _ => {
                let method = method.ok_or("Content provider method not specified.")?;
                Operation::Call { method, arg, extras: values }
            }
        };
        Ok(Self { uri, operation })
    }
}

/// `COLUMN:TYPE:VALUE`
fn binding(argument: Option<&str>) -> Result<(String, String), String> {
    let shown = argument.unwrap_or("null");
    let mut parts = shown.splitn(3, ':');
    let (Some(column), Some(kind), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(format!("Binding not well formed: {shown}"));
    };
    let number = || format!("For input string: \"{value}\"");
    let value = match kind {
        "s" => value.to_owned(),
        "b" | "B" => value.eq_ignore_ascii_case("true").to_string(),
        "i" | "I" | "l" | "L" => value.parse::<i64>().map_err(|_| number())?.to_string(),
        "f" | "F" | "d" | "D" => value.parse::<f64>().map_err(|_| number())?.to_string(),
        _ => return Err(format!("Unsupported type: {kind}")),
    };
    Ok((column.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str, release: &str) -> String {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Command::parse(&args, Release::named(release).unwrap()).unwrap_err()
    }

    #[test]
    fn complaints_name_the_argument() {
        for (line, reason) in [
            ("", "Unsupported operation: null"),
            ("frob", "Unsupported operation: frob"),
            ("query", "Content provider URI not specified. Did you specify --uri argument?"),
            ("query --uri", "No value for argument: --uri"),
            ("query --uri --where", "No value for argument: --uri"),
            ("query --uri content://x --frob", "Unsupported argument: --frob"),
            ("query --uri content://x --bind a:s:b", "Unsupported argument: --bind"),
            ("insert --uri content://x --bind name:s", "Binding not well formed: name:s"),
            ("insert --uri content://x --bind", "Binding not well formed: null"),
            ("insert --uri content://x --bind name:q:x", "Unsupported type: q"),
            ("insert --uri content://x --bind name:i:x", "For input string: \"x\""),
            (
                "update --uri content://x",
                "Bindings not specified. Did you specify --bind argument(s)?",
            ),
            ("call --uri content://x", "Content provider method not specified."),
        ] {
            assert_eq!(error(line, "14"), reason, "{line}");
        }
        assert_eq!(error("read --uri content://x", "4.4"), "Unsupported operation: read");
    }

    #[test]
    fn uris_have_an_authority_and_a_path() {
        let uri = Uri("content://settings/system/font_scale?user=0".to_owned());
        assert_eq!((uri.authority(), uri.path()), ("settings", vec!["system", "font_scale"]));
        assert_eq!(Uri("nonsense".to_owned()).authority(), "null");
    }
}
