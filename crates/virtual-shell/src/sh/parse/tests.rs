//! Tests of the parser with valid and invalid texts.

use super::*;
use crate::sh::ast::Piece;

fn parse(text: &str) -> Result<Script, SyntaxError> {
    super::parse(text, &Aliases::default())
}

/// The words of every simple command, with `$…` pieces shown as `<…>`.
fn words(text: &str) -> Vec<Vec<String>> {
    let script = parse(text).expect(text);
    let mut all = Vec::new();
    for item in &script.0 {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)) {
            for stage in &pipeline.stages {
                if let Command::Simple { words, .. } = &stage.what {
                    all.push(words.iter().map(shown).collect());
                }
            }
        }
    }
    all
}

fn shown(word: &Word) -> String {
    word.0
        .iter()
        .map(|piece| match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Parameter { name, .. } => format!("<{name}>"),
            Piece::Command { .. } => "<command>".into(),
            Piece::Arithmetic { .. } => "<arithmetic>".into(),
        })
        .collect()
}

#[test]
fn quoting_gives_exactly_these_arguments() {
    for (text, expected) in [
        ("echo 'a  b' \"c  d\" e\\ f", vec![vec!["echo", "a  b", "c  d", "e f"]]),
        ("a;b&&c||d|e", vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"], vec!["e"]]),
        ("input text 'it'\\''s'", vec![vec!["input", "text", "it's"]]),
        (
            "x '; reboot #' \"$(id)\" `id` $HOME ${a}b",
            vec![vec!["x", "; reboot #", "<command>", "<command>", "<HOME>", "<a>b"]],
        ),
        ("echo a#b #c ; d\ne", vec![vec!["echo", "a#b"], vec!["e"]]),
        ("echo \"\\$x \\a \\\" \\\\\" '\\n'", vec![vec!["echo", "$x \\a \" \\", "\\n"]]),
        ("a \\\n b", vec![vec!["a", "b"]]),
        ("echo '' \"\"", vec![vec!["echo", "", ""]]),
        ("echo $ $% \"$\"", vec![vec!["echo", "$", "$%", "$"]]),
        ("echo $'a\\n\\x41\\101\\''", vec![vec!["echo", "a\nAA'"]]),
        ("echo $((1 + (2))) {a,b}", vec![vec!["echo", "<arithmetic>", "{a,b}"]]),
        ("echo a\0; reboot", vec![vec!["echo", "a"]]),
        ("A=1 B='x y' cmd z=1", vec![vec!["cmd", "z=1"]]),
        ("cmd 2>/dev/null >out 2>&1 <in arg 12", vec![vec!["cmd", "arg", "12"]]),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn here_documents_begin_on_the_next_line() {
    for (text, end) in [
        ("cat <<E", "open"),
        ("cat <<E\nx", "open"),
        ("cat <<E\nx\n E\n", "open"),
        ("cat <<E\nx\nE\n", ""),
        ("cat <<-E\nx\n\tE", ""),
        ("cat <<E 'a\nb'\nx\nE", ""),
        ("cat <<E # it's\nx\nE", ""),
    ] {
        let open = matches!(parse(text), Err(SyntaxError::Incomplete(_)));
        assert_eq!(open, end == "open", "{text:?}: {:?}", parse(text).err());
    }
    let many = format!("cat {}\n{}", "<<E ".repeat(300), "x\nE\n".repeat(300));
    assert!(parse(&many).is_err(), "each is cut out of the text");
}

#[test]
fn redirections_name_their_descriptor() {
    let script = parse("x 2>&1 >>log <in").expect("parsed");
    let found: Vec<_> = script.0[0].first.stages[0]
        .redirects
        .iter()
        .map(|r| (r.fd, r.mode, shown(&r.target)))
        .collect();
    assert_eq!(
        found,
        [
            (2, Mode::Copy, "1".to_owned()),
            (1, Mode::Append, "log".to_owned()),
            (0, Mode::Read, "in".to_owned())
        ]
    );
}

#[test]
fn unsupported_syntax_is_refused_by_name() {
    for (text, name) in
        [("coproc x", "'coproc'"), ("reboot |& x", "'|&'"), ("x <(reboot)", "process substitution")]
    {
        let refusal = parse(text).expect_err(text);
        assert!(refusal.to_string().contains(name), "{text}: {refusal}");
        assert_eq!(refusal.status(), 2, "{text}");
    }
}

#[test]
fn syntax_errors_are_refused() {
    for text in [
        ")", "a )", "a;;b", "| a", "a | | b", "&& a", "()", "{ }", "fi", "echo (a)", "a > ",
        "a >;b", "${", "echo `(`", "}", "! ",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    for text in ["echo 'a", "echo \"a", "echo \"$(\"", "(a", "{ a;", "echo $((1", "a &&", "a |"] {
        assert!(matches!(parse(text), Err(SyntaxError::Incomplete(_))), "{text}");
    }
    assert_eq!(parse("echo 'x").expect_err("open").to_string(), "no closing quote");
}

#[test]
fn a_hundred_thousand_open_parentheses_fail_fast() {
    for bracket in [
        "if ",
        "while ",
        "until ",
        "for x do ",
        "case x in x) ",
        "f() { ",
        "f() ",
        "(",
        "( ",
        "$(",
        "\"$(",
        "{ ",
        "`\\`",
        "${x-",
        "$((",
        "! ",
        "[[ ( ",
        "[[ ! ",
        "${x%",
        "${x//a/",
        "cat <<a\n",
        "cat <<a <<a ",
        "function f ",
        "select x in y; do ",
        "((",
        "a=(",
        "${a[",
        "${a[$((",
    ] {
        assert!(parse(&bracket.repeat(100_000)).is_err(), "{bracket}");
    }
}

#[test]
fn a_hundred_thousand_open_indices_parse_fast() {
    for text in ["a[", "a[\n", "a[b]\n", "a[;"] {
        assert!(parse(&text.repeat(100_000)).is_ok(), "{text}");
    }
}

#[test]
fn lines_are_read_one_by_one() {
    let aliases = Aliases::new([("ll".to_owned(), "ls -l".to_owned())].into());
    let mut parser =
        Parser::new("a; b &\nll ll\n\ncat <<E\nx\nE\nc\nif", 0, &aliases).expect("short");
    let mut read = Vec::new();
    let error = loop {
        match parser.next_line(&aliases) {
            Ok(Some(line)) => read.push((line.0.len(), parser.line())),
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!(read, [(2, 1), (1, 2), (1, 6), (1, 7)]);
    assert_eq!(error.as_deref(), Some("syntax error: unmatched 'if'"));
    let own = Aliases::new([("ls".to_owned(), "ls -a".to_owned())].into());
    let script = super::parse("ls ls", &own).expect("it does not stand for itself");
    let Command::Simple { words, .. } = &script.0[0].first.stages[0].what else { panic!("simple") };
    assert_eq!(words.iter().map(shown).collect::<Vec<_>>(), ["ls", "-a", "ls"]);
}

#[test]
fn arrays_and_arithmetic_are_told_from_words() {
    let first = |text: &str| parse(text).expect(text).0[0].first.stages[0].what.clone();
    assert!(matches!(first("((x = 1))"), Command::Arithmetic(_)));
    assert!(matches!(first("((echo a); echo b)"), Command::Subshell(_)));
    for (text, assigned) in
        [("a=(1 2)", 1), ("a[i + 1]=x", 1), ("a[x", 0), ("a[1] x", 0), ("a+=b c=", 2), ("1a=x", 0)]
    {
        let Command::Simple { assignments, .. } = first(text) else { panic!("{text}") };
        assert_eq!(assignments.len(), assigned, "{text}");
    }
}
