//! What a name means: `command`, `type`, `whence`.

use super::Shell;
use super::compound::Jump;
use crate::files::{FileType, absolute};
use crate::io::{Io, Status};

/// Words of the grammar.
const RESERVED: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "function", "in", "time", "{", "}", "!", "[[",
];

/// Built-ins that POSIX calls special.
pub(super) const SPECIAL: [&str; 15] = [
    ":", ".", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set",
    "shift", "times", "trap", "unset",
];

/// What a name means to the shell.
enum Meaning {
    Word,
    /// With its value.
    Alias(String),
    Function,
    Builtin,
    Special,
    /// With its path.
    Program(String),
    Nothing,
}

fn meaning(shell: &Shell, name: &str) -> Meaning {
    if RESERVED.contains(&name) {
        return Meaning::Word;
    }
    if let Some(value) = shell.aliases.get(name) {
        return Meaning::Alias(value.clone());
    }
    if shell.has_function(name) {
        return Meaning::Function;
    }
    if shell.builtin(name).is_some() {
        return if SPECIAL.contains(&name) { Meaning::Special } else { Meaning::Builtin };
    }
    if name.contains('/') {
        let path = absolute(&shell.cwd, name);
        let stat = shell.system.with(|kernel| kernel.files.stat(&path, true));
        return match stat {
            Ok(stat) if stat.kind == FileType::File && stat.mode & 0o111 != 0 => {
                Meaning::Program(name.to_owned())
            }
            _ => Meaning::Nothing,
        };
    }
    match shell.programs.find(name, &shell.system.userland()) {
        Some(_) => Meaning::Program(format!("/system/bin/{name}")),
        None => Meaning::Nothing,
    }
}

/// The text of `command -v`; `None` for nothing.
fn short(shell: &Shell, name: &str) -> Option<String> {
    match meaning(shell, name) {
        Meaning::Nothing => None,
        Meaning::Program(path) => Some(path),
        Meaning::Alias(value) => Some(format!("alias {name}={}", super::quote(&value, false))),
        _ => Some(name.to_owned()),
    }
}

async fn short_all(shell: &Shell, names: &[String], io: &Io) -> Status {
    let mut status = 0;
    for name in names {
        match short(shell, name) {
            Some(found) => io.stdout.write(format!("{found}\n").as_bytes()).await?,
            None => status = 1,
        }
    }
    Ok(status)
}

/// `type NAME…`
pub(super) async fn r#type(shell: &mut Shell, names: &[String], io: &Io) -> Status {
    let mut status = 0;
    for name in names {
        let what = match meaning(shell, name) {
            Meaning::Word => "is a reserved word".to_owned(),
            Meaning::Alias(value) => {
                format!("is an alias for {}", super::quote(&value, false))
            }
            Meaning::Function => "is a function".to_owned(),
            Meaning::Builtin => "is a shell builtin".to_owned(),
            Meaning::Special => "is a special shell builtin".to_owned(),
            Meaning::Program(path) if name.contains('/') => format!("is {path}"),
            // mksh remembers the place of a program as an alias as soon as it looks for it.
            Meaning::Program(path) => format!("is a tracked alias for {path}"),
            Meaning::Nothing => {
                status = 1;
                "not found".to_owned()
            }
        };
        io.stdout.write(format!("{name} {what}\n").as_bytes()).await?;
    }
    Ok(status)
}

/// `whence [-v] NAME…`
pub(super) async fn whence(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    match args {
        [option, names @ ..] if option == "-v" => r#type(shell, names, io).await,
        names => short_all(shell, names, io).await,
    }
}

/// `command [-pvV] NAME [ARG…]`
pub(super) async fn command(shell: &mut Shell, mut args: &[String], io: &Io) -> Status {
    while let [first, rest @ ..] = args
        && ["command", "-p", "--"].contains(&first.as_str())
    {
        args = rest;
    }
    match args {
        [] => Ok(0),
        [option, names @ ..] if option == "-v" => short_all(shell, names, io).await,
        [option, names @ ..] if option == "-V" => r#type(shell, names, io).await,
        [name, rest @ ..] => match shell.builtin(name) {
            Some(builtin) => {
                let status = (builtin.run)(shell, rest, io).await;
                // It is not special here, so its error ends nothing else.
                if shell.leaving == Some(Jump::Error) {
                    shell.leaving = None;
                }
                status
            }
            None => shell.program(args, io).await,
        },
    }
}
