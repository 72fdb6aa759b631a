//! `set -o`: the shell's options, and `ulimit`.
//!
//! Only `errexit`, `nounset`, `xtrace`, `noglob`, `allexport` and `pipefail` have an effect; the
//! others are listed as on a phone.

use super::{Shell, declare};
use crate::io::{Io, Status};
use std::collections::BTreeSet;
use std::sync::Arc;

/// mksh's options with their letters, in its order.
const OPTIONS: [(&str, char); 36] = [
    ("allexport", 'a'),
    ("asis", ' '),
    ("bgnice", ' '),
    ("braceexpand", ' '),
    ("emacs", ' '),
    ("errexit", 'e'),
    ("gmacs", ' '),
    ("ignoreeof", ' '),
    ("inherit-xtrace", ' '),
    ("interactive", 'i'),
    ("keyword", 'k'),
    ("login", 'l'),
    ("markdirs", 'X'),
    ("monitor", 'm'),
    ("noclobber", 'C'),
    ("noexec", 'n'),
    ("noglob", 'f'),
    ("nohup", ' '),
    ("nolog", ' '),
    ("notify", 'b'),
    ("nounset", 'u'),
    ("physical", ' '),
    ("pipefail", ' '),
    ("posix", ' '),
    ("privileged", 'p'),
    ("restricted", 'r'),
    ("sh", ' '),
    ("stdin", 's'),
    ("trackall", 'h'),
    ("utf8-mode", 'U'),
    ("verbose", 'v'),
    ("vi", ' '),
    ("vi-esccomplete", ' '),
    ("vi-tabcomplete", ' '),
    ("viraw", ' '),
    ("xtrace", 'x'),
];

/// Options that are on from the start but that `set +o` does not mention.
const QUIET: [&str; 5] = ["emacs", "inherit-xtrace", "nohup", "trackall", "vi-tabcomplete"];

/// The options that are on.
#[derive(Clone)]
pub(in crate::sh) struct ShellOptions(Arc<BTreeSet<&'static str>>);

impl ShellOptions {
    /// As they are when a shell starts; 4.4's did not assume UTF-8.
    pub(super) fn new(utf8: bool) -> Self {
        let on = QUIET.into_iter().chain(["braceexpand"]).chain(utf8.then_some("utf8-mode"));
        Self(Arc::new(on.collect()))
    }
}

impl Shell {
    pub(in crate::sh) fn option(&self, name: &str) -> bool {
        if name == "errexit" { self.strict } else { self.options.0.contains(name) }
    }

    /// Switches an option; `false` if there is none of that name.
    fn set_option(&mut self, name: &str, on: bool) -> bool {
        if name == ".reset" {
            let kept = self.options.0.contains("utf8-mode");
            self.options = ShellOptions::new(kept);
            self.strict = false;
            return true;
        }
        let Some((name, _)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            return false;
        };
        let options = Arc::make_mut(&mut self.options.0);
        match (*name, on) {
            ("errexit", on) => self.strict = on,
            (name, true) => drop(options.insert(name)),
            (name, false) => drop(options.remove(name)),
        }
        true
    }

    /// Switches an option by its letter; `false` if there is none.
    pub(crate) fn set_option_letter(&mut self, letter: char, on: bool) -> bool {
        match OPTIONS.iter().find(|(_, known)| *known == letter && letter != ' ') {
            Some((name, _)) => self.set_option(name, on),
            None => false,
        }
    }

    /// `$-`
    pub(super) fn option_letters(&self) -> String {
        // `h`, `U` and `c` come last.
        let order = |letter: &char| matches!(letter, 'h' | 'U');
        let mut letters: Vec<char> = OPTIONS
            .iter()
            .filter(|(name, letter)| *letter != ' ' && self.option(name))
            .map(|(_, letter)| *letter)
            .collect();
        letters.sort_by_key(order);
        letters.push('c');
        letters.into_iter().collect()
    }

    fn option_table(&self) -> String {
        const ROWS: usize = 9;
        let mut text = "Current option settings\n".to_owned();
        for row in 0..ROWS {
            let cells: Vec<String> = OPTIONS
                .iter()
                .skip(row)
                .step_by(ROWS)
                .map(|(name, _)| {
                    format!("{name:<14} {:<3}", if self.option(name) { "on" } else { "off" })
                })
                .collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    fn option_command(&self) -> String {
        let on = OPTIONS.iter().filter(|(name, _)| self.option(name) && !QUIET.contains(name));
        let on: String = on.map(|(name, _)| format!(" -o {name}")).collect();
        format!("set -o .reset{on}\n")
    }
}

/// `set [-+aefnuvx]… [-+o [NAME]]… [--] [ARG…]`
pub(super) async fn set(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    if args.is_empty() {
        let values = shell.variables.all().flat_map(|(name, it)| declare::values(name, it));
        let listed: String = values.map(|line| line + "\n").collect();
        io.stdout.write(listed.as_bytes()).await?;
        return Ok(0);
    }
    if let [option, rest @ ..] = args
        && ["-A", "+A"].contains(&option.as_str())
    {
        let Some((name, values)) = rest.split_first() else {
            return shell.builtin_error(io, "set", "-A: requires an argument").await;
        };
        return match shell.assign_array(name, values, option == "+A") {
            Ok(()) => Ok(0),
            Err(error) => Ok(shell.fail(error, io).await),
        };
    }
    let mut rest = args;
    while let [first, more @ ..] = rest {
        let (on, letters) = match (first.strip_prefix('-'), first.strip_prefix('+')) {
            (Some("-"), _) => {
                shell.positional = more.to_vec();
                return Ok(0);
            }
            (Some(""), _) => {
                if !more.is_empty() {
                    shell.positional = more.to_vec();
                }
                return Ok(0);
            }
            (Some(letters), _) => (true, letters),
            (_, Some(letters)) => (false, letters),
            _ => {
                shell.positional = rest.to_vec();
                return Ok(0);
            }
        };
        rest = more;
        for letter in letters.chars() {
            let known = match (letter, rest) {
                ('o', [name, more @ ..]) => {
                    rest = more;
                    if shell.set_option(name, on) {
                        continue;
                    }
                    return wrong(shell, io, name).await;
                }
                ('o', []) => {
                    let text = if on { shell.option_table() } else { shell.option_command() };
                    io.stdout.write(text.as_bytes()).await?;
                    true
                }
                (letter, _) => shell.set_option_letter(letter, on),
            };
            if !known {
                return wrong(shell, io, &format!("-{letter}")).await;
            }
        }
    }
    Ok(0)
}

/// A wrong option of a special built-in ends the shell.
async fn wrong(shell: &mut Shell, io: &Io, option: &str) -> Status {
    shell.builtin_error(io, "set", &format!("{option}: unknown option")).await
}

/// Letter, name and value of each limit of a process.
const LIMITS: [(char, &str, &str); 15] = [
    ('t', "time(cpu-seconds)", "unlimited"),
    ('f', "file(blocks)", "unlimited"),
    ('c', "coredump(blocks)", "0"),
    ('d', "data(KiB)", "unlimited"),
    ('s', "stack(KiB)", "8192"),
    ('l', "lockedmem(KiB)", "65536"),
    ('n', "nofiles(descriptors)", "32768"),
    ('p', "processes", "13526"),
    ('i', "sigpending", "13526"),
    ('q', "msgqueue(bytes)", "819200"),
    ('e', "maxnice", "40"),
    ('r', "maxrtprio", "0"),
    ('m', "resident-set(KiB)", "unlimited"),
    ('v', "address-space(KiB)", "unlimited"),
    ('x', "filelocks", "unlimited"),
];

/// `ulimit [-aHS] [-LETTER] [VALUE]`: nothing here is limited by it, so a lower value is only
/// remembered.
pub(super) async fn ulimit(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let (mut letter, mut all, mut value) = ('f', false, None);
    for arg in args {
        let Some(letters) = arg.strip_prefix('-') else {
            value = Some(arg);
            continue;
        };
        for given in letters.chars() {
            match given {
                'a' => all = true,
                'H' | 'S' => {}
                given if LIMITS.iter().any(|(known, ..)| *known == given) => letter = given,
                given => {
                    shell.print_error(io, &format!("ulimit: -{given}: unknown option")).await;
                    let usage = "ulimit: usage: ulimit [-acdefHilmnpqrSstvx] [value]";
                    shell.print_error(io, usage).await;
                    return Ok(1);
                }
            }
        }
    }
    let current = |shell: &Shell, letter: char, default: &str| {
        shell.limits.get(&letter).cloned().unwrap_or_else(|| default.to_owned())
    };
    if all {
        let named = shell.system.userland().named_limits;
        let mut text = String::new();
        for (letter, name, default) in LIMITS {
            let value = current(shell, letter, default);
            text.push_str(&match named {
                true => format!("-{letter}: {name:<20}  {value}\n"),
                false => format!("{name:<20} {value}\n"),
            });
        }
        io.stdout.write(text.as_bytes()).await?;
        return Ok(0);
    }
    let Some((_, name, default)) = LIMITS.iter().find(|(known, ..)| *known == letter) else {
        return Ok(1);
    };
    let before = current(shell, letter, default);
    let Some(value) = value else {
        io.stdout.write(format!("{before}\n").as_bytes()).await?;
        return Ok(0);
    };
    let number = |text: &str| if text == "unlimited" { Some(u64::MAX) } else { text.parse().ok() };
    match (number(value), number(&before)) {
        (Some(new), Some(most)) if new <= most => {
            Arc::make_mut(&mut shell.limits).insert(letter, value.clone());
            Ok(0)
        }
        (Some(_), _) => {
            shell.print_error(io, &format!("ulimit: {value} exceeds allowable {name} limit")).await;
            Ok(1)
        }
        (None, _) => {
            shell.print_error(io, &format!("ulimit: invalid {name} limit: {value}")).await;
            Ok(1)
        }
    }
}
