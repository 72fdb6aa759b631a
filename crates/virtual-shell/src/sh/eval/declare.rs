//! Built-ins that declare variables and aliases: `typeset`, `local`, `export`, `readonly`,
//! `integer`, `unset`, `alias`, `unalias`.

use super::getopt::read_options;
use super::{Case, Declared, Shell, Variable, quote};
use crate::io::{Io, Status};
use std::sync::Arc;

/// `typeset [-gilprux] [NAME[=VALUE]…]`; `local`, `export`, `readonly` and `integer` are names for
/// parts of it. In functions all but `export` and `readonly` hide the outer variable.
pub(super) async fn declare(shell: &mut Shell, args: &[String], io: &Io, name: &str) -> Status {
    let (given, names) = match read_options(args, "gilprux") {
        Ok(read) => read,
        Err(what) => return shell.builtin_error(io, name, &what).await,
    };
    let mut declared = Declared {
        exported: name == "export",
        read_only: name == "readonly",
        integer: name == "integer",
        case: None,
    };
    let (mut hides, mut prints) = (!declared.exported && !declared.read_only, false);
    for (letter, _) in given {
        match letter {
            'g' => hides = false,
            'i' => declared.integer = true,
            'l' => declared.case = Some(Case::Lower),
            'p' => prints = true,
            'r' => declared.read_only = true,
            'u' => declared.case = Some(Case::Upper),
            _ => declared.exported = true,
        }
    }
    if names.is_empty() || prints {
        return list(shell, names, io, name, declared, prints || name == "typeset").await;
    }
    for arg in names {
        let (variable, value) =
            arg.split_once('=').map_or((arg.as_str(), None), |(name, value)| (name, Some(value)));
        let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        if !variable.starts_with(letter)
            || !variable.chars().all(|c| letter(c) || c.is_ascii_digit())
        {
            return shell.builtin_error(io, name, &format!("{arg}: is not an identifier")).await;
        }
        if hides {
            shell.make_local(variable);
        }
        let old = shell.element(variable, 0).map(str::to_owned);
        let value = match value {
            Some(value) => Some(value.to_owned()),
            // What it has already takes the new form.
            None => old.filter(|_| declared.integer || declared.case.is_some()),
        };
        shell.declare(variable, Declared { read_only: false, ..declared });
        if let Some(value) = value
            && let Err(error) = shell.set(variable, &value)
        {
            return Ok(shell.fail(error, io).await);
        }
        shell.declare(variable, declared);
    }
    Ok(0)
}

/// Prints declarations: with `full` as commands, or else only names.
async fn list(
    shell: &Shell,
    names: &[String],
    io: &Io,
    command: &str,
    wanted: Declared,
    full: bool,
) -> Status {
    let mut text = String::new();
    for (name, variable) in shell.variables.all() {
        let fits = match names {
            [] => variable.declared.and(wanted) == variable.declared,
            names => names.iter().any(|chosen| chosen == name),
        };
        if !fits {
            continue;
        }
        if !full {
            text += &format!("{name}\n");
            continue;
        }
        let letters = match command {
            "export" | "readonly" => String::new(),
            _ => variable.declared.letters(),
        };
        let command = if ["export", "readonly"].contains(&command) { command } else { "typeset" };
        if variable.is_array() {
            text += &format!("set -A {name}\n");
        }
        for line in values(name, variable) {
            text += &format!("{command} {letters}{line}\n");
        }
        if variable.elements.is_empty() {
            text += &format!("{command} {letters}{name}\n");
        }
    }
    io.stdout.write(text.as_bytes()).await?;
    Ok(0)
}

/// `NAME=VALUE`, for each element of an array.
pub(super) fn values(name: &str, variable: &Variable) -> Vec<String> {
    let index = |index: &u32| match variable.is_array() {
        true => format!("[{index}]"),
        false => String::new(),
    };
    let elements = variable.elements.iter();
    elements.map(|(at, value)| format!("{name}{}={}", index(at), quote(value, false))).collect()
}

/// `unset [-fv] NAME…`
pub(super) async fn unset(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let (given, names) = match read_options(args, "fv") {
        Ok(read) => read,
        Err(what) => return shell.builtin_error(io, "unset", &what).await,
    };
    let mut status = 0;
    for name in names {
        if given.iter().any(|(letter, _)| *letter == 'f') {
            status |= i32::from(!shell.forget_function(name));
            continue;
        }
        let (variable, index) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            Some((variable, index)) => (variable, Some(index).filter(|index| *index != "*")),
            None => (name.as_str(), None),
        };
        if shell.is_read_only(variable) {
            shell.print_error(io, &format!("read-only: {variable}")).await;
            status = 1;
        } else if let Some(index) = index {
            match shell.calculate(index) {
                Ok(index) => {
                    Arc::make_mut(&mut shell.variables).remove_element(variable, index as u32);
                }
                Err(error) => return Ok(shell.fail(error, io).await),
            }
        } else {
            shell.forget(variable);
        }
    }
    Ok(status)
}

/// `alias [-p] [NAME[=VALUE]…]`
pub(super) async fn alias(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let (given, names) = match read_options(args, "p") {
        Ok(read) => read,
        Err(what) => return shell.builtin_error(io, "alias", &what).await,
    };
    let command = if given.is_empty() { "" } else { "alias " };
    let shown = |name: &str, value: &str| {
        format!("{command}{}={}\n", quote(name, false), quote(value, false))
    };
    let (mut text, mut status) = (String::new(), 0);
    if names.is_empty() {
        text.extend(shell.aliases.iter().map(|(name, value)| shown(name, value)));
    }
    for arg in names {
        match (arg.split_once('='), shell.aliases.get(arg)) {
            (Some((name, value)), _) => {
                Arc::make_mut(&mut shell.aliases).insert(name.to_owned(), value.to_owned());
            }
            (None, Some(value)) => text += &shown(arg, value),
            (None, None) => {
                text += &format!("{arg} alias not found\n");
                status = 1;
            }
        }
    }
    io.stdout.write(text.as_bytes()).await?;
    Ok(status)
}

/// `unalias [-a] [NAME…]`
pub(super) async fn unalias(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let (given, names) = match read_options(args, "a") {
        Ok(read) => read,
        Err(what) => return shell.builtin_error(io, "unalias", &what).await,
    };
    if !given.is_empty() {
        shell.aliases = Arc::default();
    }
    let aliases = Arc::make_mut(&mut shell.aliases);
    let missing = names.iter().filter(|name| aliases.remove(*name).is_none()).count();
    Ok(i32::from(missing > 0))
}
