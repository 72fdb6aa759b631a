//! `test` and `[`, and the operators that `[[` shares with them.
//!
//! Start with [`test`]. As in POSIX, up to four arguments have a fixed meaning; more are an
//! expression of `!`, `( )`, `-a` and `-o`.

use super::Shell;
use crate::files::{Error, FileType, absolute};
use crate::io::{Io, Status};
use crate::sh::parse::{BINARY, UNARY};

/// Maximum nesting of parentheses and negations.
const MAX_DEPTH: u32 = 64;

/// `test EXPRESSION`, or `[ EXPRESSION ]`.
pub(super) async fn test(shell: &mut Shell, args: &[String], io: &Io, bracket: bool) -> Status {
    let (name, args) = match args.split_last() {
        _ if !bracket => ("test", args),
        Some((last, args)) if last == "]" => ("[", args),
        _ => {
            shell.print_error(io, "[: missing ]").await;
            return Ok(2);
        }
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match (Test { shell, name, args: &args, depth: 0 }).decide() {
        Ok(holds) => Ok(i32::from(!holds)),
        Err(why) => {
            shell.print_error(io, &why).await;
            Ok(2)
        }
    }
}

/// A condition with one operand.
pub(super) fn unary(shell: &Shell, operator: &str, operand: &str) -> bool {
    let path = absolute(&shell.cwd, operand);
    let stat = |follow| shell.system.with(|kernel| kernel.files.stat(&path, follow)).ok();
    let is = |kind| stat(true).is_some_and(|stat| stat.kind == kind);
    match operator {
        "-n" => !operand.is_empty(),
        "-z" => operand.is_empty(),
        "-e" => stat(true).is_some(),
        "-f" => is(FileType::File),
        "-d" => is(FileType::Directory),
        "-c" => is(FileType::Device),
        "-L" | "-h" => stat(false).is_some_and(|stat| stat.kind == FileType::Link),
        "-s" => stat(true).is_some_and(|stat| stat.size > 0),
        "-x" => stat(true).is_some_and(|stat| stat.mode & 0o111 != 0),
        "-r" => matches!(
            shell.system.with(|kernel| kernel.files.open_to_read(&path)),
            Ok(_) | Err(Error::IsADirectory)
        ),
        "-w" => stat(true).is_some_and(|stat| stat.mode & 0o222 != 0),
        // Nothing here is a terminal, a pipe or a block device.
        _ => false,
    }
}

/// A condition with two operands.
pub(super) fn binary(
    shell: &mut Shell,
    left: &str,
    operator: &str,
    right: &str,
) -> Result<bool, String> {
    let stat = |path: &str| {
        let path = absolute(&shell.cwd, path);
        shell.system.with(|kernel| kernel.files.stat(&path, true)).ok()
    };
    // A file that is missing is older than any other.
    let time = |path| stat(path).map(|stat| stat.modified);
    Ok(match operator {
        "=" | "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        ">" => left > right,
        "-nt" => time(left) > time(right),
        "-ot" => time(left) < time(right),
        "-ef" => {
            let inode = |path| stat(path).map(|stat| stat.inode);
            inode(left).is_some() && inode(left) == inode(right)
        }
        _ => {
            let left = crate::sh::arithmetic::evaluate(left, shell)?;
            let right = crate::sh::arithmetic::evaluate(right, shell)?;
            match operator {
                "-eq" => left == right,
                "-ne" => left != right,
                "-lt" => left < right,
                "-le" => left <= right,
                "-gt" => left > right,
                _ => left >= right,
            }
        }
    })
}

fn is_binary(word: Option<&&str>) -> bool {
    word.is_some_and(|word| BINARY.contains(word) || ["<", ">"].contains(word))
}

fn is_unary(word: Option<&&str>) -> bool {
    word.is_some_and(|word| UNARY.contains(word))
}

/// The arguments of `test` that are left.
struct Test<'a> {
    shell: &'a mut Shell,
    name: &'a str,
    args: &'a [&'a str],
    depth: u32,
}

impl<'a> Test<'a> {
    fn decide(mut self) -> Result<bool, String> {
        match self.args {
            [] => Ok(false),
            [one] => Ok(!one.is_empty()),
            ["!", one] => Ok(one.is_empty()),
            [operator, operand] if UNARY.contains(operator) => {
                Ok(unary(self.shell, operator, operand))
            }
            [left, operator, right] if is_binary(Some(operator)) => {
                binary(self.shell, left, operator, right)
            }
            [left, "-a", right] => Ok(!left.is_empty() && !right.is_empty()),
            [left, "-o", right] => Ok(!left.is_empty() || !right.is_empty()),
            ["!", rest @ ..] if rest.len() < 4 => {
                Test { args: rest, ..self }.decide().map(|holds| !holds)
            }
            ["(", rest @ .., ")"] if rest.len() < 3 => Test { args: rest, ..self }.decide(),
            _ => {
                let holds = self.any()?;
                match self.args {
                    [] => Ok(holds),
                    _ => Err(self.wrong(Some(0), "unexpected operator/operand")),
                }
            }
        }
    }

    fn any(&mut self) -> Result<bool, String> {
        let mut holds = self.all()?;
        while self.take("-o") {
            holds |= self.all()?;
        }
        Ok(holds)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut holds = self.negated()?;
        while self.take("-a") {
            holds &= self.negated()?;
        }
        Ok(holds)
    }

    fn negated(&mut self) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong(None, "nested too deeply"));
        }
        let holds =
            if self.args.len() > 1 && self.take("!") { !self.negated()? } else { self.primary()? };
        self.depth -= 1;
        Ok(holds)
    }

    fn primary(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let holds = self.any()?;
            return match self.take(")") {
                true => Ok(holds),
                false => Err(self.wrong(Some(0), "missing )")),
            };
        }
        if self.args.len() > 1 && !is_binary(self.args.get(1)) && is_unary(self.args.first()) {
            let [operator, operand, rest @ ..] = self.args else { return Ok(false) };
            self.args = rest;
            return Ok(unary(self.shell, operator, operand));
        }
        match self.args {
            [] => Err(self.wrong(None, "expression expected")),
            [left, operator, rest @ ..] if is_binary(Some(operator)) => match rest {
                [right, rest @ ..] => {
                    self.args = rest;
                    binary(self.shell, left, operator, right)
                }
                [] => Err(self.wrong(Some(1), "missing second argument")),
            },
            [word, rest @ ..] => {
                self.args = rest;
                Ok(!word.is_empty())
            }
        }
    }

    fn take(&mut self, word: &str) -> bool {
        match self.args {
            [first, rest @ ..] if *first == word => {
                self.args = rest;
                true
            }
            _ => false,
        }
    }

    fn wrong(&self, at: Option<usize>, what: &str) -> String {
        match at.and_then(|at| self.args.get(at)) {
            Some(word) => format!("{}: {word}: {what}", self.name),
            None => format!("{}: {what}", self.name),
        }
    }
}
