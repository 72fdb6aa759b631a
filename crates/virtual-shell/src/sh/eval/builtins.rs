//! Built-in commands: those that change the shell, or that mksh has built in.
//!
//! Start with [`BUILTINS`], the table. A built-in is one function and one line there. Programs in
//! `/system/bin` are in `programs/`.

use super::{Shell, lookup, options, trap};
use crate::files::{FileType, absolute};
use crate::io::{Io, Status};
use crate::sh::parse::escape;
use futures::future::{BoxFuture, FutureExt};
use std::time::Duration;

type Run = for<'a> fn(&'a mut Shell, &'a [String], &'a Io) -> BoxFuture<'a, Status>;

/// A built-in command.
pub(crate) struct Builtin {
    name: &'static str,
    pub(super) run: Run,
}

/// Every built-in command.
static BUILTINS: &[Builtin] = &[
    Builtin { name: ".", run: |shell, args, io| source(shell, args, io).boxed() },
    Builtin { name: ":", run: |_, _, _| async { Ok(0) }.boxed() },
    Builtin { name: "[", run: |shell, args, io| bracket(shell, args, io).boxed() },
    Builtin {
        name: "break",
        run: |shell, args, io| break_or_continue(shell, args, io, false).boxed(),
    },
    Builtin { name: "cd", run: |shell, args, io| cd(shell, args, io).boxed() },
    Builtin { name: "command", run: |shell, args, io| lookup::command(shell, args, io).boxed() },
    Builtin {
        name: "continue",
        run: |shell, args, io| break_or_continue(shell, args, io, true).boxed(),
    },
    Builtin { name: "echo", run: |_, args, io| echo(args, io).boxed() },
    Builtin { name: "eval", run: |shell, args, io| eval(shell, args, io).boxed() },
    Builtin { name: "exec", run: |shell, args, io| exec(shell, args, io).boxed() },
    Builtin { name: "exit", run: |shell, args, io| exit(shell, args, io).boxed() },
    Builtin { name: "export", run: |shell, args, io| export(shell, args, io).boxed() },
    Builtin { name: "false", run: |_, _, _| async { Ok(1) }.boxed() },
    Builtin { name: "local", run: |shell, args, io| local(shell, args, io).boxed() },
    Builtin { name: "printf", run: |_, args, io| printf(args, io).boxed() },
    Builtin { name: "pwd", run: |shell, _, io| pwd(shell, io).boxed() },
    Builtin { name: "read", run: |shell, args, io| read(shell, args, io).boxed() },
    Builtin { name: "return", run: |shell, args, io| r#return(shell, args, io).boxed() },
    Builtin { name: "set", run: |shell, args, io| options::set(shell, args, io).boxed() },
    Builtin { name: "shift", run: |shell, args, _| shift(shell, args).boxed() },
    Builtin { name: "sleep", run: |shell, args, io| sleep(shell, args, io).boxed() },
    Builtin { name: "test", run: |shell, args, _| test(shell, args).boxed() },
    Builtin { name: "trap", run: |shell, args, io| trap::trap(shell, args, io).boxed() },
    Builtin { name: "true", run: |_, _, _| async { Ok(0) }.boxed() },
    Builtin { name: "type", run: |shell, args, io| lookup::r#type(shell, args, io).boxed() },
    Builtin { name: "ulimit", run: |shell, args, io| options::ulimit(shell, args, io).boxed() },
    Builtin {
        name: "umask",
        // It cannot be changed.
        run: |_, args, io| {
            async {
                if args.is_empty() {
                    io.stdout.write(b"000\n").await?;
                }
                Ok(0)
            }
            .boxed()
        },
    },
    Builtin { name: "unset", run: |shell, args, _| unset(shell, args).boxed() },
    Builtin { name: "wait", run: |shell, args, _| wait(shell, args).boxed() },
    Builtin { name: "whence", run: |shell, args, io| lookup::whence(shell, args, io).boxed() },
];

/// The built-in with that name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// The built-in with that name, if Android also has a program of that name in `/system/bin`
/// (toybox's).
pub(super) fn program(name: &str) -> Option<&'static Builtin> {
    let both = ["[", "echo", "false", "printf", "pwd", "sleep", "test", "true"];
    both.contains(&name).then(|| find(name)).flatten()
}

async fn cd(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let target = args.first().map_or("/", String::as_str);
    let target = if target == "-" {
        shell.parameter("OLDPWD").unwrap_or_default()
    } else {
        target.to_owned()
    };
    let path = absolute(&shell.cwd, &target);
    let found = shell.system.with(|kernel| kernel.files.stat(&path, true));
    let reason = match found {
        Ok(stat) if stat.kind == FileType::Directory => {
            let from = std::mem::replace(&mut shell.cwd, path);
            shell.set("OLDPWD", &from);
            return Ok(0);
        }
        Ok(_) => "Not a directory".to_owned(),
        Err(error) => error.to_string(),
    };
    // mksh prints the whole path and exits with 2.
    shell.print_error(io, &format!("cd: {path}: {reason}")).await;
    Ok(2)
}

async fn pwd(shell: &mut Shell, io: &Io) -> Status {
    io.stdout.write(format!("{}\n", shell.cwd).as_bytes()).await?;
    Ok(0)
}

/// mksh's `echo` interprets backslashes unless given `-E`.
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
    let text = rest.join(" ");
    let mut bytes = text.clone().into_bytes();
    if escapes {
        let ended;
        (bytes, ended) = unescape(&text, Octal::AfterZero);
        newline &= !ended;
    }
    if newline {
        bytes.push(b'\n');
    }
    io.stdout.write(&bytes).await?;
    Ok(0)
}

/// The syntax of octal escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Octal {
    /// `\0101`; `\c` only suppresses the trailing newline.
    AfterZero,
    /// `\101`; `\c` ends all output.
    Plain,
}

/// Resolves C escapes; the flag says whether there was a `\c`.
fn unescape(text: &str, octal: Octal) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(text.len());
    let put = |out: &mut Vec<u8>, c: char| out.extend(c.encode_utf8(&mut [0; 4]).bytes());
    let mut stopped = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            put(&mut out, c);
            continue;
        }
        match chars.next() {
            None => out.push(b'\\'),
            Some('c') => {
                stopped = true;
                if octal == Octal::Plain {
                    break;
                }
            }
            Some(kind @ ('0'..='7' | 'x'))
                if kind < '1' || kind == 'x' || octal == Octal::Plain =>
            {
                let (radix, digits) = if kind == 'x' { (16, 2) } else { (8, 3) };
                let (mut value, mut taken) = (0, 0);
                if octal == Octal::Plain && kind != 'x' {
                    (value, taken) = (kind.to_digit(8).unwrap_or(0), 1);
                }
                while taken < digits {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                    value = value * radix + digit;
                    taken += 1;
                    chars.next();
                }
                out.push(value as u8);
            }
            Some(c) => match escape(c) {
                Some(meant) => put(&mut out, meant),
                None => {
                    out.push(b'\\');
                    put(&mut out, c);
                }
            },
        }
    }
    (out, stopped)
}

async fn printf(args: &[String], io: &Io) -> Status {
    let [format, values @ ..] = args else {
        io.stderr.write(b"printf: Needs 1 argument\n").await?;
        return Ok(1);
    };
    let mut values = values;
    let mut text = Vec::new();
    loop {
        let before = values.len();
        let ended = formatted(format, &mut values, &mut text);
        // A format that consumes no argument is written once.
        if ended || values.is_empty() || values.len() == before || text.len() > 1 << 20 {
            break;
        }
    }
    io.stdout.write(&text).await?;
    Ok(0)
}

/// Writes the format once; `true` if `\c` ended it.
fn formatted(format: &str, values: &mut &[String], text: &mut Vec<u8>) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (mut unescaped, ended) = unescape(&rest[..at], Octal::Plain);
        text.append(&mut unescaped);
        if ended {
            return true;
        }
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !"-0 +#123456789.".contains(c)).unwrap_or(rest.len());
        let (options, after) = rest.split_at(end);
        let Some(kind) = after.chars().next() else {
            text.push(b'%');
            return false;
        };
        rest = &after[kind.len_utf8()..];
        if kind == '%' {
            text.push(b'%');
            continue;
        }
        let value = match values.split_first() {
            Some((value, more)) => {
                *values = more;
                value.as_str()
            }
            None => "",
        };
        let sizes = options.trim_start_matches(['-', '0', '+', ' ', '#']);
        let (width, precision) = sizes.split_once('.').unwrap_or((sizes, ""));
        let width = width.parse().unwrap_or(0).min(4096);
        let number = integer(value);
        let shown = match kind {
            'd' | 'i' | 'u' => number.to_string(),
            'x' => format!("{number:x}"),
            'X' => format!("{number:X}"),
            'o' => format!("{number:o}"),
            'c' => value.chars().take(1).collect(),
            'b' => {
                let (mut bytes, ended) = unescape(value, Octal::AfterZero);
                text.append(&mut bytes);
                if ended {
                    return true;
                }
                continue;
            }
            _ if sizes.contains('.') => {
                value.chars().take(precision.parse().unwrap_or(0)).collect()
            }
            _ => value.to_owned(),
        };
        let padded = if options.starts_with('-') {
            format!("{shown:<width$}")
        } else if options.starts_with('0') && "diuxXo".contains(kind) {
            let (sign, digits) = shown.split_at(usize::from(shown.starts_with('-')));
            format!("{sign}{digits:0>width$}", width = width.saturating_sub(sign.len()))
        } else {
            format!("{shown:>width$}")
        };
        text.extend(padded.bytes());
    }
    let (mut unescaped, ended) = unescape(rest, Octal::Plain);
    text.append(&mut unescaped);
    ended
}

/// Parses a C integer: decimal, `0x` hexadecimal, `0` octal; 0 for anything else.
fn integer(text: &str) -> i64 {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let value = match (digits.strip_prefix("0x"), digits.strip_prefix('0')) {
        (Some(hex), _) => i64::from_str_radix(hex, 16),
        (_, Some(octal)) if !octal.is_empty() => i64::from_str_radix(octal, 8),
        _ => digits.parse(),
    };
    value.unwrap_or(0).saturating_mul(sign)
}

async fn exit(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let status = match args.first().map(|arg| arg.parse::<i32>()) {
        None => shell.status,
        Some(Ok(status)) => status & 0xff,
        Some(Err(_)) => {
            shell.print_error(io, &format!("exit: {}: bad number", args[0])).await;
            1
        }
    };
    shell.exit = Some(status);
    Ok(status)
}

/// `break [N]` and `continue [N]`. No effect outside a loop.
async fn break_or_continue(shell: &mut Shell, args: &[String], io: &Io, again: bool) -> Status {
    let name = if again { "continue" } else { "break" };
    match args.first().map(|arg| arg.parse::<u32>()) {
        None => shell.leave_loops(1, again),
        Some(Ok(loops)) if loops > 0 => shell.leave_loops(loops, again),
        Some(_) => {
            shell.print_error(io, &format!("{name}: {}: bad value", args[0])).await;
            return Ok(1);
        }
    }
    Ok(0)
}

async fn r#return(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let status = match args.first().map(|arg| arg.parse::<i32>()) {
        None => shell.status,
        Some(Ok(status)) => status & 0xff,
        Some(Err(_)) => {
            shell.print_error(io, &format!("return: {}: bad number", args[0])).await;
            1
        }
    };
    shell.leave_function(status);
    Ok(status)
}

/// `wait [PID…]`: waits for background commands of this shell; the status is that of the last one
/// named.
async fn wait(shell: &mut Shell, args: &[String]) -> Status {
    if args.is_empty() {
        shell.wait_for_all().await;
        return Ok(0);
    }
    let mut status = 127;
    for arg in args {
        status = match arg.parse() {
            Ok(pid) => shell.wait_for(pid).await.unwrap_or(127),
            Err(_) => 127,
        };
    }
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

/// `local NAME[=VALUE]…`: hides variables until the function ends.
async fn local(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    for arg in args {
        if arg.starts_with('-') {
            shell.print_error(io, &format!("local: {arg}: unknown option")).await;
            return Ok(1);
        }
        let (name, value) =
            arg.split_once('=').map_or((arg.as_str(), None), |(name, value)| (name, Some(value)));
        // Outside of functions it sets a variable, as in mksh.
        shell.make_local(name);
        if let Some(value) = value {
            shell.set(name, value);
        }
    }
    Ok(0)
}

async fn unset(shell: &mut Shell, args: &[String]) -> Status {
    if let [option, names @ ..] = args
        && option == "-f"
    {
        let gone = names.iter().filter(|name| shell.forget_function(name)).count();
        return Ok(i32::from(gone < names.len()));
    }
    args.iter().for_each(|name| shell.forget(name));
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
    Ok(Box::pin(shell.evaluate(&args.join(" "), io)).await)
}

async fn exec(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    if args.is_empty() {
        return Ok(0);
    }
    // It is the same process with the same number (execve(2)); a background job's differs from
    // `$$`.
    shell.exec_pid.get_or_insert(shell.pid);
    if find(&args[0]).is_none() {
        shell.traps.forget_exit();
    }
    let status = Box::pin(shell.program(args, io)).await?;
    shell.exit = Some(status);
    Ok(status)
}

async fn source(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let path = absolute(&shell.cwd, args.first().map_or("", String::as_str));
    let read = shell.system.with(|kernel| kernel.files.read(&path));
    match read {
        Ok(contents) => {
            eval(shell, &[String::from_utf8_lossy(contents.as_ref()).into_owned()], io).await
        }
        Err(error) => {
            shell
                .print_error(
                    io,
                    &format!(".: {}: {error}", args.first().map_or("", String::as_str)),
                )
                .await;
            Ok(1)
        }
    }
}

/// `read [-r] [NAME…]`: splits a line at `$IFS`; the last name gets the rest. Without `-r` a
/// backslash quotes the next character.
async fn read(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let raw = args.iter().any(|arg| arg == "-r");
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let (line, ended) = io.stdin.ended_line(1 << 20).await;
    let line = String::from_utf8_lossy(&line).into_owned();
    // Each character, and whether it separates.
    let separators = shell.separators();
    let mut chars = Vec::new();
    let mut source = line.chars();
    while let Some(c) = source.next() {
        if c == '\\' && !raw {
            chars.extend(source.next().map(|c| (c, false)));
        } else {
            chars.push((c, separators.contains(c)));
        }
    }
    let blank = |&(c, separates): &(char, bool)| separates && " \t".contains(c);
    let mut rest = chars.as_slice();
    let reply = "REPLY".to_owned();
    let names = if names.is_empty() { vec![&reply] } else { names };
    for (nth, name) in names.iter().enumerate() {
        while rest.first().is_some_and(blank) {
            rest = &rest[1..];
        }
        let end = if nth + 1 == names.len() {
            rest.iter().rposition(|c| !blank(c)).map_or(0, |last| last + 1)
        } else {
            rest.iter().position(|(_, separates)| *separates).unwrap_or(rest.len())
        };
        shell.set(name, &rest[..end].iter().map(|(c, _)| *c).collect::<String>());
        rest = &rest[end..];
        while rest.first().is_some_and(blank) {
            rest = &rest[1..];
        }
        if rest.first().is_some_and(|(_, separates)| *separates) {
            rest = &rest[1..];
        }
    }
    Ok(i32::from(!ended))
}

/// Sleeps in phone time; see [`System::sleep`](crate::system::System::sleep).
async fn sleep(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let mut total = Duration::ZERO;
    let is_builtin = !shell.system.userland().toybox;
    if is_builtin && args.len() != 1 {
        shell.print_error(io, "sleep: syntax error").await;
        return Ok(1);
    }
    for arg in args {
        if is_builtin && (arg.is_empty() || arg.parse::<f64>().is_err() || arg.starts_with('-')) {
            shell.print_error(io, &format!("sleep: syntax error: Invalid argument '{arg}'")).await;
            return Ok(1);
        }
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
    shell.system.sleep(total).await;
    Ok(0)
}

async fn bracket(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    match args.split_last() {
        Some((last, rest)) if last == "]" => test(shell, rest).await,
        _ => {
            shell.print_error(io, "[: missing ]").await;
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

/// Evaluates a condition; `None` if it is invalid. `-a` and `-o` combine, `!` negates.
pub(super) fn holds(shell: &Shell, args: &[String]) -> Option<bool> {
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
        shell.system.with(|kernel| kernel.files.stat(&path, follow)).ok()
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Some(match args.as_slice() {
        [] => false,
        [value] => !value.is_empty(),
        ["!", value] => value.is_empty(),
        ["-n", value] => !value.is_empty(),
        ["-z", value] => value.is_empty(),
        ["-e", path] => stat(path, true).is_some(),
        ["-f", path] => stat(path, true).is_some_and(|stat| stat.kind == FileType::File),
        ["-d", path] => stat(path, true).is_some_and(|stat| stat.kind == FileType::Directory),
        ["-L" | "-h", path] => stat(path, false).is_some_and(|stat| stat.kind == FileType::Link),
        ["-s", path] => stat(path, true).is_some_and(|stat| stat.size > 0),
        ["-x", path] => stat(path, true).is_some_and(|stat| stat.mode & 0o111 != 0),
        ["-r", path] => shell
            .system
            .with(|kernel| kernel.files.open_to_read(&absolute(&shell.cwd, path)))
            .is_ok(),
        ["-w", path] => stat(path, true).is_some_and(|stat| stat.mode & 0o222 != 0),
        [left, "=" | "==", right] => left == right,
        [left, "!=", right] => left != right,
        [left, "<", right] => left < right,
        [left, ">", right] => left > right,
        [left, "-nt" | "-ot", right] => {
            let time = |path| stat(path, true).map(|stat| stat.modified);
            let (first, second) = match args[1] {
                "-nt" => (time(left), time(right)),
                _ => (time(right), time(left)),
            };
            // A file that is missing is older than any other.
            first > second
        }
        [left, "-ef", right] => {
            let inode = |path| stat(path, true).map(|stat| stat.inode);
            inode(left).is_some() && inode(left) == inode(right)
        }
        // Nothing here is a terminal.
        ["-t", _] => false,
        ["(", inner @ .., ")"] => {
            let inner: Vec<String> = inner.iter().map(ToString::to_string).collect();
            holds(shell, &inner)?
        }
        ["!", rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
            !holds(shell, &rest)?
        }
        [left, operator, right] => {
            let number = |text: &str| {
                let variable = |name: &str| shell.parameter(name).unwrap_or_default();
                crate::sh::arithmetic::evaluate(text, &variable).ok()
            };
            let (left, right) = (number(left)?, number(right)?);
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
