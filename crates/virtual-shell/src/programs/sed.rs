//! `sed`, with toybox's options and texts.
//!
//! Start with [`sed`]: `parse` turns the script into a flat list of commands, `run` applies them to
//! each line. Not supported: back references inside a pattern (in a replacement they work).

mod parse;
mod run;

use super::Invocation;
use super::options::{Failure, Options, Outcome, about};
use super::regex::Matcher;
use run::Editor;

/// Where a command applies.
enum Address {
    Line(u64),
    Last,
    /// `None` is the pattern that matched last.
    Pattern(Option<Matcher>),
    /// `+N`, only as the second address.
    More(u64),
}

/// A part of a replacement.
enum Part {
    Text(String),
    /// `&` is group 0.
    Group(usize),
}

struct Substitution {
    /// `None` is the pattern that matched last.
    pattern: Option<Matcher>,
    parts: Vec<Part>,
    all: bool,
    print: bool,
    /// The first match that is replaced, from 1.
    nth: usize,
    file: Option<usize>,
}

enum Action {
    /// `{`: skips to this command if it does not apply.
    Block(usize),
    /// `}` and `:label`
    Nothing,
    /// `a`, `i`, `c`
    Append(String),
    Insert(String),
    Change(String),
    /// `b`, `t` and `T`: to this command.
    Branch(char, usize),
    Substitute(Box<Substitution>),
    /// `y`
    Translate(Vec<(char, char)>),
    Read(String),
    /// `w`: to this file of [`Script::files`].
    Write(usize),
    Quit(i32),
    /// The other letters.
    Letter(char),
}

struct Command {
    from: Option<Address>,
    to: Option<Address>,
    not: bool,
    action: Action,
}

/// A parsed script.
struct Script {
    commands: Vec<Command>,
    /// The files that `w` writes.
    files: Vec<String>,
    /// Whether it asks for the last line.
    asks_last: bool,
}

/// `sed [-inrszE] [-e SCRIPT]… [-f FILE]… [SCRIPT] [FILE…]`
pub(super) async fn sed(call: &Invocation) -> Outcome {
    if call.arg(0) == Some("--version") {
        call.out("This is not GNU sed version 9.0\n").await?;
        return Ok(0);
    }
    let long = [
        ("expression", 'e'),
        ("file", 'f'),
        ("in-place", 'i'),
        ("quiet", 'n'),
        ("silent", 'n'),
        ("regexp-extended", 'E'),
        ("null-data", 'z'),
        ("separate", 's'),
    ];
    let mut options = Options::read(&call.args, "i;nrEsze:f:u", &long)?;
    let mut texts: Vec<String> = options.values('e').map(str::to_owned).collect();
    for path in options.values('f') {
        let input = call.open(path).map_err(|reason| about(path, reason))?;
        let text = input.all(super::options::LINE).await;
        texts.push(String::from_utf8_lossy(&text).trim_end_matches('\n').to_owned());
    }
    if texts.is_empty() {
        if options.rest.is_empty() {
            return Err(Failure::new("no pattern"));
        }
        texts.push(options.rest.remove(0));
    }
    let script = parse::parse(&texts.join("\n"), options.has('E') || options.has('r'))?;
    let in_place = options.value('i').map(str::to_owned);
    if in_place.is_some() && options.rest.is_empty() {
        return Err(Failure::new("-i on stdin"));
    }
    let mut editor = Editor::new(call, &script, options.has('n'), options.has('z')).await?;
    let paths: Vec<String> = options.files().into_iter().map(str::to_owned).collect();
    if in_place.is_none() && !options.has('s') {
        return editor.edit(&paths).await;
    }
    let mut status = 0;
    for path in paths {
        let Some(suffix) = &in_place else {
            status = editor.edit(&[path]).await?;
            continue;
        };
        let full = call.path(&path);
        let before = call.system.with(|kernel| {
            let stat = kernel.files.stat(&full, true)?;
            kernel.files.read(&full).map(|contents| (stat, contents))
        });
        let (stat, old) = match before {
            Ok(before) => before,
            Err(reason) => {
                call.err(format!("sed: {path}: {reason}\n")).await;
                status = 1;
                continue;
            }
        };
        editor.collect();
        status = editor.edit(std::slice::from_ref(&path)).await?;
        let new = editor.collected();
        let written = call.system.with(|kernel| {
            if !suffix.is_empty() {
                kernel.files.write(&format!("{full}{suffix}"), old.as_ref(), stat.mode)?;
            }
            kernel.files.write(&full, &new, stat.mode)
        });
        written.map_err(|reason| about(&path, reason))?;
    }
    Ok(status)
}
