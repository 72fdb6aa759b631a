//! Built-in commands: those that change the shell, or that mksh has built in.
//!
//! Start with [`BUILTINS`], the table. A built-in is one function and one line there; those that
//! declare variables are in `declare.rs`, `test` is in `condition.rs`. Programs in `/system/bin`
//! are in `programs/`.

use super::compound::Jump;
use super::getopt::read_options;
use super::{Shell, condition, declare, lookup, options, trap};
use crate::files::{FileType, absolute};
use crate::io::{Descriptor, Io, Status};
use crate::sh::parse::escape;
use futures::future::{BoxFuture, FutureExt};
use std::time::Duration;

type Run = for<'a> fn(&'a mut Shell, &'a [String], &'a Io) -> BoxFuture<'a, Status>;

/// A built-in command.
pub(crate) struct Builtin {
    name: &'static str,
    pub(super) run: Run,
}

/// One row per built-in: name, function, and more arguments for it.
macro_rules! builtins {
    ($($name:literal $run:path $(, $more:expr)*;)*) => {
        &[$(Builtin {
            name: $name,
            run: |shell, args, io| $run(shell, args, io $(, $more)*).boxed(),
        }),*]
    };
}

/// Every built-in command.
#[rustfmt::skip]
static BUILTINS: &[Builtin] = builtins! {
    "." source, true;
    ":" ends_with, 0;
    "[" condition::test, true;
    "alias" declare::alias;
    "break" break_or_continue, false;
    "cd" cd;
    "command" lookup::command;
    "continue" break_or_continue, true;
    "echo" echo;
    "eval" eval;
    "exec" exec;
    "exit" exit;
    "export" declare::declare, "export";
    "false" ends_with, 1;
    "getopts" getopts;
    // An alias of mksh for `alias -t`, which remembers places of programs.
    "hash" ends_with, 0;
    "integer" declare::declare, "integer";
    "let" r#let;
    "local" declare::declare, "local";
    "print" print;
    "pwd" pwd;
    "read" read;
    "readonly" declare::declare, "readonly";
    "return" r#return;
    "set" options::set;
    "shift" shift;
    "sleep" sleep;
    "source" source, false;
    "test" condition::test, false;
    "times" times;
    "trap" trap::trap;
    "true" ends_with, 0;
    "type" lookup::r#type;
    "typeset" declare::declare, "typeset";
    "ulimit" options::ulimit;
    "umask" umask;
    "unalias" declare::unalias;
    "unset" declare::unset;
    "wait" wait;
    "whence" lookup::whence;
};

/// Those whose arguments are assignments, which are not split.
pub(super) const DECLARING: [&str; 5] = ["export", "integer", "local", "readonly", "typeset"];

/// The built-in with that name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// Whether the assignments before a command with that name outlast it.
pub(super) fn keeps_assignments(name: &str) -> bool {
    lookup::SPECIAL.contains(&name) || DECLARING.contains(&name) || name == "source"
}

impl Shell {
    /// Prints a built-in's error. One of a special built-in also ends what runs.
    pub(super) async fn builtin_error(&mut self, io: &Io, name: &str, what: &str) -> Status {
        self.print_error(io, &format!("{name}: {what}")).await;
        if lookup::SPECIAL.contains(&name) {
            self.leaving = Some(Jump::Error);
        }
        Ok(1)
    }
}

/// `times`: the processor's time is not simulated.
async fn times(_: &mut Shell, _: &[String], io: &Io) -> Status {
    io.stdout.write("0m00.00s 0m00.00s\n".repeat(2).as_bytes()).await?;
    Ok(0)
}

async fn ends_with(_: &mut Shell, _: &[String], _: &Io, status: i32) -> Status {
    Ok(status)
}

/// The built-in with that name, if Android also has a program of that name in `/system/bin`
/// (toybox's).
pub(super) fn program(name: &str) -> Option<&'static Builtin> {
    let both = ["[", "echo", "false", "pwd", "sleep", "test", "true"];
    both.contains(&name).then(|| find(name)).flatten()
}

async fn cd(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let operands = match read_options(args, "LP") {
        Ok((_, operands)) => operands,
        Err(what) => return shell.builtin_error(io, "cd", &what).await,
    };
    let back = operands.first().is_some_and(|arg| arg == "-");
    let target = match (operands.first(), shell.parameter("OLDPWD")) {
        (None, _) => "/".to_owned(),
        (Some(_), Some(old)) if back => old,
        (Some(_), None) if back => {
            shell.builtin_error(io, "cd", "no OLDPWD").await?;
            return Ok(2);
        }
        (Some(target), _) => target.clone(),
    };
    let path = absolute(&shell.cwd, &target);
    let found = shell.system.with(|kernel| kernel.files.stat(&path, true));
    let reason = match found {
        Ok(stat) if stat.kind == FileType::Directory => {
            let from = std::mem::replace(&mut shell.cwd, path);
            let failed = match shell.set("OLDPWD", &from) {
                Ok(()) => 0,
                Err(error) => shell.fail(error, io).await,
            };
            if back {
                io.stdout.write(format!("{}\n", shell.cwd).as_bytes()).await?;
            }
            return Ok(failed);
        }
        Ok(_) => "Not a directory".to_owned(),
        Err(error) => error.to_string(),
    };
    // mksh prints the whole path and exits with 2.
    shell.print_error(io, &format!("cd: {path}: {reason}")).await;
    Ok(2)
}

async fn pwd(shell: &mut Shell, _: &[String], io: &Io) -> Status {
    io.stdout.write(format!("{}\n", shell.cwd).as_bytes()).await?;
    Ok(0)
}

/// mksh's `echo` interprets backslashes unless given `-E`.
async fn echo(_: &mut Shell, args: &[String], io: &Io) -> Status {
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
    io.stdout.write(&printed(&rest.join(" "), escapes, newline)).await?;
    Ok(0)
}

/// `print [-nrR] [-u FD] [--] [ARG…]`
async fn print(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let (given, mut rest) = match read_options(args, "elnRru,") {
        Ok(read) => read,
        Err(what) => return shell.builtin_error(io, "print", &what).await,
    };
    let mut output = io.stdout.clone();
    let (mut newline, mut escapes, mut joint) = (true, true, " ");
    for (letter, value) in given {
        match letter {
            'n' => newline = false,
            'l' => joint = "\n",
            'e' => escapes = true,
            'u' => {
                match value.parse().ok().and_then(|fd| io.get(fd)).and_then(Descriptor::output) {
                    Some(chosen) => output = chosen,
                    None => {
                        let what = format!("-u{value}: bad file descriptor");
                        return shell.builtin_error(io, "print", &what).await;
                    }
                }
            }
            _ => escapes = false,
        }
    }
    if rest.first().is_some_and(|arg| arg == "-") {
        rest = &rest[1..];
    }
    output.write(&printed(&rest.join(joint), escapes, newline)).await?;
    Ok(0)
}

fn printed(text: &str, escapes: bool, newline: bool) -> Vec<u8> {
    let (mut bytes, ended) = match escapes {
        true => unescape(text),
        false => (text.as_bytes().to_vec(), false),
    };
    if newline && !ended {
        bytes.push(b'\n');
    }
    bytes
}

/// Resolves C escapes, octal ones as `\0101`; the flag says whether there was a `\c`.
fn unescape(text: &str) -> (Vec<u8>, bool) {
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
            Some('c') => stopped = true,
            Some(kind @ ('0' | 'x')) => {
                let (radix, digits) = if kind == 'x' { (16, 2) } else { (8, 3) };
                let mut value = 0;
                for _ in 0..digits {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                    value = value * radix + digit;
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
async fn wait(shell: &mut Shell, args: &[String], _: &Io) -> Status {
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

async fn shift(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let by = match args.first().map(|arg| shell.calculate(arg)) {
        None => 1,
        Some(Ok(by)) => by,
        Some(Err(error)) => return Ok(shell.fail(error, io).await),
    };
    match usize::try_from(by) {
        Ok(by) if by <= shell.positional.len() => drop(shell.positional.drain(..by)),
        Ok(_) => return shell.builtin_error(io, "shift", "nothing to shift").await,
        Err(_) => return shell.builtin_error(io, "shift", &format!("bad number: {by}")).await,
    }
    Ok(0)
}

async fn eval(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    shell.status = 0;
    Ok(Box::pin(shell.evaluate(&args.join(" "), None, io)).await)
}

/// `let EXPRESSION…`: fails if the last one is 0.
async fn r#let(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    if args.is_empty() {
        return shell.builtin_error(io, "let", "missing argument").await;
    }
    let mut value = 0;
    for arg in args {
        match shell.calculate(arg) {
            Ok(result) => value = result,
            Err(error) => {
                shell.fail(error, io).await;
                shell.leaving = None;
                return Ok(2);
            }
        }
    }
    Ok(i32::from(value == 0))
}

async fn exec(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let args = if args.first().is_some_and(|arg| arg == "--") { &args[1..] } else { args };
    let Some(name) = args.first() else { return Ok(0) };
    // It is the same process with the same number (execve(2)); a background job's differs from
    // `$$`.
    shell.exec_pid.get_or_insert(shell.pid);
    if find(name).is_none() {
        shell.traps.forget_exit();
    }
    let status = Box::pin(shell.program(args, io)).await?;
    shell.exit = Some(status);
    Ok(status)
}

/// `. FILE [ARG…]` and `source`: runs a file in this shell. `.` looks for a name without `/` in
/// `$PATH` only.
async fn source(shell: &mut Shell, args: &[String], io: &Io, dot: bool) -> Status {
    let name = if dot { "." } else { "source" };
    let Some((file, arguments)) = args.split_first() else {
        return shell.builtin_error(io, name, "missing argument").await;
    };
    let path = match dot && !file.contains('/') {
        true => format!("/system/bin/{file}"),
        false => absolute(&shell.cwd, file),
    };
    let contents = match shell.system.with(|kernel| kernel.files.read(&path)) {
        Ok(contents) => String::from_utf8_lossy(contents.as_ref()).into_owned(),
        Err(error) => return shell.builtin_error(io, name, &format!("{file}: {error}")).await,
    };
    let outer = (!arguments.is_empty())
        .then(|| std::mem::replace(&mut shell.positional, arguments.to_vec()));
    shell.status = 0;
    shell.calls += 1;
    Box::pin(shell.evaluate(&contents, Some(file), io)).await;
    shell.calls -= 1;
    shell.has_returned();
    if let Some(outer) = outer {
        shell.positional = outer;
    }
    Ok(shell.status)
}

/// `umask [-S] [MODE]`; only octal modes.
async fn umask(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let (given, rest) = match read_options(args, "S") {
        Ok(read) => read,
        Err(what) => return shell.builtin_error(io, "umask", &what).await,
    };
    match rest.first() {
        Some(mode) => match u32::from_str_radix(mode, 8) {
            Ok(mode) => shell.umask = mode & 0o777,
            Err(_) => return shell.builtin_error(io, "umask", "bad number").await,
        },
        None if given.is_empty() => {
            // C's `%#3.3o`
            let zero = if shell.umask > 0o77 { "0" } else { "" };
            io.stdout.write(format!("{zero}{:03o}\n", shell.umask).as_bytes()).await?;
        }
        None => {
            let allowed = |shift: u32| {
                let bits = !shell.umask >> shift & 7;
                let letters = [(4, 'r'), (2, 'w'), (1, 'x')].into_iter();
                letters.filter(|(bit, _)| bits & bit != 0).map(|(_, c)| c).collect::<String>()
            };
            let text = format!("u={},g={},o={}\n", allowed(6), allowed(3), allowed(0));
            io.stdout.write(text.as_bytes()).await?;
        }
    }
    Ok(0)
}

/// `getopts OPTIONS NAME [ARG…]`: the next option of the arguments, or of the parameters.
async fn getopts(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let [known, name, rest @ ..] = args else {
        let missing = if args.is_empty() { "options" } else { "name" };
        return shell.builtin_error(io, "getopts", &format!("{missing}: missing argument")).await;
    };
    let (silent, known) = match known.strip_prefix(':') {
        Some(known) => (true, known),
        None => (false, known.as_str()),
    };
    let arguments = if rest.is_empty() { shell.positional.as_slice() } else { rest };
    let argument = |number: usize| arguments.get(number.wrapping_sub(1));
    let (mut number, mut place) = shell.getopts;
    let letter_at = |number: usize, place| argument(number)?.chars().nth(place);
    // Inside of an argument, its number was counted already.
    let mut letter = match place {
        0 => None,
        place => letter_at(number.wrapping_sub(1), place),
    };
    if letter.is_none() {
        place = 1;
        let starts = argument(number).is_some_and(|argument| argument.starts_with('-'));
        letter = letter_at(number, 1).filter(|_| starts);
        let ends = argument(number).is_some_and(|argument| argument == "--");
        if letter.is_none() || ends {
            shell.getopts = (number + usize::from(ends), 0);
            return option_found(shell, io, name, "?", None, 1).await;
        }
        number += 1;
    }
    let letter = letter.unwrap_or_default();
    place += 1;
    let known_at = known.find(letter).filter(|_| letter != ':');
    let takes_value = known_at.is_some_and(|at| known[at + letter.len_utf8()..].starts_with(':'));
    let attached: Option<String> = argument(number - 1)
        .map(|argument| argument.chars().skip(place).collect())
        .filter(|text: &String| !text.is_empty());
    let (mut value, mut wrong) = (None, known_at.is_none().then_some("unknown option"));
    if takes_value {
        place = 0;
        value = attached;
        if value.is_none() {
            value = argument(number).cloned();
            match value {
                Some(_) => number += 1,
                None => wrong = Some("requires an argument"),
            }
        }
    }
    shell.getopts = (number, place);
    match wrong {
        None => option_found(shell, io, name, &letter.to_string(), value, 0).await,
        Some(_) if silent => {
            let found = if takes_value { ":" } else { "?" };
            option_found(shell, io, name, found, Some(letter.to_string()), 0).await
        }
        Some(what) => {
            shell.print_error(io, &format!("-{letter}: {what}")).await;
            option_found(shell, io, name, "?", None, 0).await
        }
    }
}

async fn option_found(
    shell: &mut Shell,
    io: &Io,
    name: &str,
    found: &str,
    value: Option<String>,
    status: i32,
) -> Status {
    shell.forget("OPTARG");
    let mut set = shell.set(name, found);
    if let Some(value) = value {
        set = set.and_then(|()| shell.set("OPTARG", &value));
    }
    match set {
        Ok(()) => Ok(status),
        Err(error) => Ok(shell.fail(error, io).await),
    }
}

/// `read [-Ars] [-d END] [-nN COUNT] [-t SECONDS] [-u FD] [NAME…]`: splits a line at `$IFS`; the
/// last name gets the rest. Without `-r` a backslash quotes the next character.
async fn read(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let (given, names) = match read_options(args, "Ad:N:n:rst:u,") {
        Ok(read) => read,
        Err(what) => return shell.builtin_error(io, "read", &what).await.map(|_| 2),
    };
    let has = |letter| given.iter().any(|(known, _)| *known == letter);
    let value = |letter| given.iter().find(|(known, _)| *known == letter).map(|(_, value)| *value);
    let mut input = io.stdin.clone();
    if let Some(fd) = value('u') {
        match fd.parse().ok().and_then(|fd| io.get(fd)).and_then(Descriptor::input) {
            Some(chosen) => input = chosen,
            None => {
                let what = format!("-u: {fd}: bad file descriptor");
                return shell.builtin_error(io, "read", &what).await.map(|_| 2);
            }
        }
    }
    let number = |letter| value(letter).and_then(|value| value.parse::<u64>().ok());
    let end = value('d').map_or(b'\n', |end| end.bytes().next().unwrap_or(0));
    let line = async {
        if let Some(count) = number('N') {
            let bytes = input.all(count).await;
            return (bytes.clone(), bytes.len() as u64 == count);
        }
        if let Some(count) = number('n') {
            let bytes = input.at_most(count).await;
            return (bytes.clone(), !bytes.is_empty());
        }
        let mut line = Vec::new();
        loop {
            let (part, ended) = input.until(end, super::LINE).await;
            line.extend(part);
            let open = line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
            if !(ended && open && !has('r')) || line.len() as u64 > super::LINE {
                return (line, ended);
            }
            // A backslash at the end continues the line.
            line.pop();
        }
    };
    let limit = value('t').and_then(|text| text.parse().ok());
    let (line, status) = match limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok()) {
        // Only what is there already.
        Some(Duration::ZERO) => match line.now_or_never() {
            Some((line, ended)) => (line, i32::from(!ended)),
            None => (Vec::new(), 142),
        },
        None => {
            let (line, ended) = line.await;
            (line, i32::from(!ended))
        }
        Some(limit) => tokio::select! {
            biased;
            (line, ended) = line => (line, i32::from(!ended)),
            // 128 + SIGALRM
            () = shell.system.sleep(limit) => (Vec::new(), 142),
        },
    };
    let line = String::from_utf8_lossy(&line).replace('\0', "");
    // Each character, and whether it separates.
    let separators = shell.separators();
    let mut chars = Vec::new();
    let mut source = line.chars();
    while let Some(c) = source.next() {
        if c == '\\' && !has('r') {
            chars.extend(source.next().map(|c| (c, false)));
        } else {
            chars.push((c, separators.contains(c)));
        }
    }
    let mut rest = chars.as_slice();
    let reply = ["REPLY".to_owned()];
    let names = if names.is_empty() { &reply } else { names };
    let mut set = Ok(());
    if has('A') {
        let mut values = Vec::new();
        while !rest.is_empty() {
            values.push(field(&mut rest, false));
        }
        set = shell.assign_array(&names[0], &values, false);
    } else {
        for (nth, name) in names.iter().enumerate() {
            let value = field(&mut rest, nth + 1 == names.len());
            set = set.and_then(|()| shell.set(name, &value));
        }
    }
    match set {
        Ok(()) => Ok(status),
        Err(error) => Ok(shell.fail(error, io).await),
    }
}

/// Takes the next field of a line, or all of it but the blanks around it.
fn field(rest: &mut &[(char, bool)], last: bool) -> String {
    let blank = |&(c, separates): &(char, bool)| separates && " \t\n".contains(c);
    let after_blanks = |text: &[(char, bool)]| text.iter().position(|c| !blank(c));
    let text = &rest[after_blanks(rest).unwrap_or(rest.len())..];
    let end = match last {
        true => text.iter().rposition(|c| !blank(c)).map_or(0, |last| last + 1),
        false => text.iter().position(|(_, separates)| *separates).unwrap_or(text.len()),
    };
    let (value, behind) = text.split_at(end);
    let mut behind = &behind[after_blanks(behind).unwrap_or(behind.len())..];
    if behind.first().is_some_and(|(_, separates)| *separates) {
        behind = &behind[1..];
    }
    *rest = behind;
    value.iter().map(|(c, _)| *c).collect()
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
                io.stderr.write(format!("sleep: Not a number '{arg}'\n").as_bytes()).await?;
                return Ok(1);
            }
        }
    }
    if args.is_empty() {
        let help = match shell.system.userland().toybox_0_8 {
            false => "",
            true => " (see \"sleep --help\")",
        };
        io.stderr.write(format!("sleep: Needs 1 argument{help}\n").as_bytes()).await?;
        return Ok(1);
    }
    shell.system.sleep(total).await;
    Ok(0)
}
