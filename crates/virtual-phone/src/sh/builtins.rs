//! Commands that the shell carries out itself, because they change it or because mksh does.
//!
//! Begin at [`BUILTINS`], the table. A built-in is one function and one line there. Programs that are files of `/system/bin` live in
//! `programs/`.

use super::eval::Shell;
use super::io::{Io, Status};
use super::parse::escape;
use crate::files::{Kind, absolute};
use crate::programs;
use futures::future::{BoxFuture, FutureExt};
use std::time::Duration;

type Run = for<'a> fn(&'a mut Shell, &'a [String], &'a Io) -> BoxFuture<'a, Status>;

/// A command of the shell's own.
pub(crate) struct Builtin {
    name: &'static str,
    pub(super) run: Run,
}

/// Every built-in command.
static BUILTINS: &[Builtin] = &[
    Builtin { name: ".", run: |shell, args, io| source(shell, args, io).boxed() },
    Builtin { name: ":", run: |_, _, _| async { Ok(0) }.boxed() },
    Builtin { name: "[", run: |shell, args, io| bracket(shell, args, io).boxed() },
    Builtin { name: "cd", run: |shell, args, io| cd(shell, args, io).boxed() },
    Builtin { name: "command", run: |shell, args, io| command(shell, args, io).boxed() },
    Builtin { name: "echo", run: |_, args, io| echo(args, io).boxed() },
    Builtin { name: "eval", run: |shell, args, io| eval(shell, args, io).boxed() },
    Builtin { name: "exec", run: |shell, args, io| exec(shell, args, io).boxed() },
    Builtin { name: "exit", run: |shell, args, io| exit(shell, args, io).boxed() },
    Builtin { name: "export", run: |shell, args, io| export(shell, args, io).boxed() },
    Builtin { name: "false", run: |_, _, _| async { Ok(1) }.boxed() },
    Builtin { name: "printf", run: |_, args, io| printf(args, io).boxed() },
    Builtin { name: "pwd", run: |shell, _, io| pwd(shell, io).boxed() },
    Builtin { name: "read", run: |shell, args, io| read(shell, args, io).boxed() },
    Builtin { name: "set", run: |shell, args, io| set(shell, args, io).boxed() },
    Builtin { name: "shift", run: |shell, args, _| shift(shell, args).boxed() },
    Builtin { name: "sleep", run: |shell, args, io| sleep(shell, args, io).boxed() },
    Builtin { name: "test", run: |shell, args, _| test(shell, args).boxed() },
    Builtin { name: "true", run: |_, _, _| async { Ok(0) }.boxed() },
    Builtin { name: "type", run: |shell, args, io| r#type(shell, args, io).boxed() },
    Builtin {
        name: "umask",
        run: |_, _, io| async { io.stdout.write(b"000\n").await.map(|()| 0) }.boxed(),
    },
    Builtin { name: "unset", run: |shell, args, _| unset(shell, args).boxed() },
    Builtin { name: "wait", run: |_, _, _| async { Ok(0) }.boxed() },
];

/// The built-in of that name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

async fn cd(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let target = args.first().map_or("/", String::as_str);
    let target = if target == "-" {
        shell.parameter("OLDPWD").unwrap_or_default()
    } else {
        target.to_owned()
    };
    let path = absolute(&shell.cwd, &target);
    let found = shell.phone.with(|phone| phone.files.stat(&path, true));
    let why = match found {
        Ok(stat) if stat.kind == Kind::Directory => {
            let from = std::mem::replace(&mut shell.cwd, path);
            shell.set("OLDPWD", &from);
            return Ok(0);
        }
        Ok(_) => "Not a directory".to_owned(),
        Err(error) => error.to_string(),
    };
    // mksh names the whole path; its status is 2.
    shell.complain(io, &format!("cd: {path}: {why}")).await;
    Ok(2)
}

async fn pwd(shell: &mut Shell, io: &Io) -> Status {
    io.stdout.write(format!("{}\n", shell.cwd).as_bytes()).await?;
    Ok(0)
}

/// mksh's `echo` reads backslashes unless told `-E`.
async fn echo(args: &[String], io: &Io) -> Status {
    let (mut newline, mut escapes, mut rest) = (true, true, args);
    while let [option, more @ ..] = rest {
        let letters = option.strip_prefix('-').unwrap_or_default();
        if letters.is_empty() || !letters.chars().all(|c| "neE".contains(c)) {
            break;
        }
        for letter in letters.chars() {
            match letter {
                'n' => newline = false,
                letter => escapes = letter == 'e',
            }
        }
        rest = more;
    }
    let mut text = rest.join(" ");
    if escapes {
        let (unescaped, ended) = unescape(&text);
        text = unescaped;
        newline &= !ended;
    }
    if newline {
        text.push('\n');
    }
    io.stdout.write(text.as_bytes()).await?;
    Ok(0)
}

/// C's escapes resolved; the flag tells that `\c` ended the text.
fn unescape(text: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            None => out.push('\\'),
            Some('c') => return (out, true),
            Some(kind @ ('0' | 'x')) => {
                let (radix, digits) = if kind == 'x' { (16, 2) } else { (8, 3) };
                let mut value = 0;
                for _ in 0..digits {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                    value = value * radix + digit;
                    chars.next();
                }
                out.extend(char::from_u32(value));
            }
            Some(c) => match escape(c) {
                Some(meant) => out.push(meant),
                None => out.extend(['\\', c]),
            },
        }
    }
    (out, false)
}

async fn printf(args: &[String], io: &Io) -> Status {
    let [format, values @ ..] = args else {
        io.stderr.write(b"printf: Needs 1 argument\n").await?;
        return Ok(1);
    };
    let mut values = values;
    let mut text = String::new();
    loop {
        let before = values.len();
        let ended = formatted(format, &mut values, &mut text);
        // A format that takes no value is written once.
        if ended || values.is_empty() || values.len() == before || text.len() > 1 << 20 {
            break;
        }
    }
    io.stdout.write(text.as_bytes()).await?;
    Ok(0)
}

/// Writes the format once; `true` when `\c` ended it.
fn formatted(format: &str, values: &mut &[String], text: &mut String) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (unescaped, ended) = unescape(&rest[..at]);
        text.push_str(&unescaped);
        if ended {
            return true;
        }
        rest = &rest[at + 1..];
        let flags = rest.find(|c: char| !"-0 +#123456789.".contains(c)).unwrap_or(rest.len());
        let (options, after) = rest.split_at(flags);
        let Some(kind) = after.chars().next() else {
            text.push('%');
            return false;
        };
        rest = &after[kind.len_utf8()..];
        if kind == '%' {
            text.push('%');
            continue;
        }
        let value = match values.split_first() {
            Some((value, more)) => {
                *values = more;
                value.as_str()
            }
            None => "",
        };
        let number = value.trim().parse::<i64>().unwrap_or(0);
        let shown = match kind {
            'd' | 'i' | 'u' => number.to_string(),
            'x' => format!("{number:x}"),
            'X' => format!("{number:X}"),
            'o' => format!("{number:o}"),
            'c' => value.chars().take(1).collect(),
            'b' => unescape(value).0,
            _ => value.to_owned(),
        };
        let width: usize = options
            .trim_start_matches(['-', '0', '+', ' ', '#'])
            .split('.')
            .next()
            .and_then(|n| n.parse().ok())
            .unwrap_or(0);
        let width = width.min(4096);
        if options.starts_with('-') {
            text.push_str(&format!("{shown:<width$}"));
        } else if options.starts_with('0') {
            text.push_str(&format!("{shown:0>width$}"));
        } else {
            text.push_str(&format!("{shown:>width$}"));
        }
    }
    let (unescaped, ended) = unescape(rest);
    text.push_str(&unescaped);
    ended
}

async fn exit(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let status = match args.first().map(|arg| arg.parse::<i32>()) {
        None => shell.status,
        Some(Ok(status)) => status & 0xff,
        Some(Err(_)) => {
            shell.complain(io, &format!("exit: {}: bad number", args[0])).await;
            1
        }
    };
    shell.exit = Some(status);
    Ok(status)
}

async fn export(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    if args.is_empty() {
        let listed: String = shell
            .listed(true)
            .iter()
            .map(|(name, value)| format!("export {name}={value}\n"))
            .collect();
        io.stdout.write(listed.as_bytes()).await?;
    }
    for arg in args {
        let (name, value) =
            arg.split_once('=').map_or((arg.as_str(), None), |(name, value)| (name, Some(value)));
        shell.export(name);
        if let Some(value) = value {
            shell.set(name, value);
        }
    }
    Ok(0)
}

async fn unset(shell: &mut Shell, args: &[String]) -> Status {
    args.iter().for_each(|name| shell.unset(name));
    Ok(0)
}

/// `set -- a b` sets the positional parameters; options (`-e`, `-x`) are taken and change nothing.
async fn set(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    if args.is_empty() {
        let listed: String =
            shell.listed(false).iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        io.stdout.write(listed.as_bytes()).await?;
    }
    match args.iter().position(|arg| arg == "--") {
        Some(at) => shell.positional = args[at + 1..].to_vec(),
        None if args.first().is_some_and(|arg| !arg.starts_with(['-', '+'])) => {
            shell.positional = args.to_vec()
        }
        None => {}
    }
    Ok(0)
}

async fn shift(shell: &mut Shell, args: &[String]) -> Status {
    let by = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(1_usize);
    if by > shell.positional.len() {
        return Ok(1);
    }
    shell.positional.drain(..by);
    Ok(0)
}

async fn eval(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    Ok(Box::pin(shell.run(&args.join(" "), io)).await)
}

async fn exec(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    if args.is_empty() {
        return Ok(0);
    }
    let status = Box::pin(shell.program(args, io)).await?;
    shell.exit = Some(status);
    Ok(status)
}

async fn source(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let path = absolute(&shell.cwd, args.first().map_or("", String::as_str));
    let read = shell.phone.with(|phone| phone.files.read(&path));
    match read {
        Ok(contents) => {
            eval(shell, &[String::from_utf8_lossy(contents.as_ref()).into_owned()], io).await
        }
        Err(error) => {
            shell
                .complain(io, &format!(".: {}: {error}", args.first().map_or("", String::as_str)))
                .await;
            Ok(1)
        }
    }
}

async fn command(shell: &mut Shell, mut args: &[String], io: &Io) -> Status {
    while let [first, rest @ ..] = args
        && first == "command"
    {
        args = rest;
    }
    match args {
        [option, name, ..] if option == "-v" => {
            let found = if find(name).is_some() {
                name.clone()
            } else if programs::find(name).is_some() {
                format!("/system/bin/{name}")
            } else {
                return Ok(1);
            };
            io.stdout.write(format!("{found}\n").as_bytes()).await?;
            Ok(0)
        }
        [] => Ok(0),
        [name, rest @ ..] => match find(name) {
            Some(builtin) => (builtin.run)(shell, rest, io).await,
            None => shell.program(args, io).await,
        },
    }
}

async fn r#type(_: &mut Shell, args: &[String], io: &Io) -> Status {
    let mut status = 0;
    for name in args {
        let what = if find(name).is_some() {
            "is a shell builtin".to_owned()
        } else if programs::find(name).is_some() {
            format!("is /system/bin/{name}")
        } else {
            status = 1;
            "not found".to_owned()
        };
        io.stdout.write(format!("{name} {what}\n").as_bytes()).await?;
    }
    Ok(status)
}

async fn read(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let line = io.stdin.line(1 << 20).await;
    let status = i32::from(line.is_none());
    let line = String::from_utf8_lossy(&line.unwrap_or_default()).into_owned();
    let mut rest = line.trim_matches([' ', '\t']);
    if names.is_empty() {
        shell.set("REPLY", rest);
    }
    for (nth, name) in names.iter().enumerate() {
        let (value, more) = if nth + 1 == names.len() {
            (rest, "")
        } else {
            rest.split_once([' ', '\t']).unwrap_or((rest, ""))
        };
        shell.set(name, value);
        rest = more.trim_start_matches([' ', '\t']);
    }
    Ok(status)
}

/// Sleeping is what the phone's clock does; see `VirtualPhone::take`.
async fn sleep(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let mut total = Duration::ZERO;
    for arg in args {
        let (digits, unit) = match arg.strip_suffix(['s', 'm', 'h', 'd']) {
            Some(digits) => (digits, arg.chars().last()),
            None => (arg.as_str(), None),
        };
        let scale = match unit {
            Some('m') => 60.0,
            Some('h') => 3_600.0,
            Some('d') => 86_400.0,
            _ => 1.0,
        };
        match digits.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n * scale).ok()) {
            Some(more) => total = total.saturating_add(more),
            None => {
                io.stderr.write(format!("sleep: Unknown suffix '{arg}'\n").as_bytes()).await?;
                return Ok(1);
            }
        }
    }
    if args.is_empty() {
        io.stderr.write(b"sleep: Needs 1 argument\n").await?;
        return Ok(1);
    }
    shell.phone.take(total).await;
    Ok(0)
}

async fn bracket(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    match args.split_last() {
        Some((last, rest)) if last == "]" => test(shell, rest).await,
        _ => {
            shell.complain(io, "[: missing ]").await;
            Ok(2)
        }
    }
}

async fn test(shell: &mut Shell, args: &[String]) -> Status {
    Ok(match holds(shell, args) {
        Some(true) => 0,
        Some(false) => 1,
        None => 2,
    })
}

/// Whether a condition holds; `None` when it cannot be understood. `-a` and `-o` join, `!` turns round.
fn holds(shell: &Shell, args: &[String]) -> Option<bool> {
    // Each `!` and `-a` is one call deeper.
    if args.len() > 64 {
        return None;
    }
    for (word, any) in [("-o", true), ("-a", false)] {
        if args.len() > 3
            && let Some(at) = args.iter().position(|arg| arg == word)
        {
            let (left, right) = (holds(shell, &args[..at])?, holds(shell, &args[at + 1..])?);
            return Some(if any { left || right } else { left && right });
        }
    }
    let stat = |path: &str, follow| {
        let path = absolute(&shell.cwd, path);
        shell.phone.with(|phone| phone.files.stat(&path, follow)).ok()
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Some(match args.as_slice() {
        [] => false,
        [value] => !value.is_empty(),
        ["!", value] => value.is_empty(),
        ["-n", value] => !value.is_empty(),
        ["-z", value] => value.is_empty(),
        ["-e", path] => stat(path, true).is_some(),
        ["-f", path] => stat(path, true).is_some_and(|stat| stat.kind == Kind::File),
        ["-d", path] => stat(path, true).is_some_and(|stat| stat.kind == Kind::Directory),
        ["-L" | "-h", path] => stat(path, false).is_some_and(|stat| stat.kind == Kind::Link),
        ["-s", path] => stat(path, true).is_some_and(|stat| stat.size > 0),
        ["-x", path] => stat(path, true).is_some_and(|stat| stat.mode & 0o111 != 0),
        ["-r", path] => {
            shell.phone.with(|phone| phone.files.open_to_read(&absolute(&shell.cwd, path))).is_ok()
        }
        ["-w", path] => stat(path, true).is_some_and(|stat| stat.mode & 0o222 != 0),
        ["!", rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
            !holds(shell, &rest)?
        }
        [left, "=" | "==", right] => left == right,
        [left, "!=", right] => left != right,
        [left, operator, right] => {
            let (left, right) =
                (left.trim().parse::<i64>().ok()?, right.trim().parse::<i64>().ok()?);
            match *operator {
                "-eq" => left == right,
                "-ne" => left != right,
                "-lt" => left < right,
                "-le" => left <= right,
                "-gt" => left > right,
                "-ge" => left >= right,
                _ => return None,
            }
        }
        _ => return None,
    })
}
