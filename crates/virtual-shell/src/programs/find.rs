//! `find`, with toybox's expressions and texts.
//!
//! Start with [`find`]: `expression` parses the arguments, [`Walk`] visits the tree without
//! recursion and evaluates the expression for each entry.

mod expression;

use super::Invocation;
use super::launch::launch;
use super::options::{Failure, Outcome};
use crate::files::{FileType, Stat};
use crate::io::Abort;
use expression::{Expression, Search, Test, parse};
use futures::future::{BoxFuture, FutureExt};

/// Maximum bytes of a command line that `-exec … +` builds.
const COMMAND_LINE: usize = 128 << 10;

/// An entry of the tree.
struct Entry {
    path: String,
    stat: Stat,
    depth: usize,
    /// Its contents were visited (`-depth`).
    visited: bool,
}

struct Walk<'a> {
    call: &'a Invocation,
    search: &'a Search,
    /// The paths collected for each `-exec … +`.
    collected: Vec<Vec<String>>,
    status: i32,
    /// Set by `-prune` for the current entry, and by `-quit`.
    pruned: bool,
    quit: bool,
    /// The length of the argument that the current path starts with.
    root: usize,
}

/// `find [-HL] [PATH…] [EXPRESSION]`
pub(super) async fn find(call: &Invocation) -> Outcome {
    let search = parse(call)?;
    let mut walk = Walk {
        call,
        search: &search,
        collected: vec![Vec::new(); search.commands.len()],
        status: 0,
        pruned: false,
        quit: false,
        root: 0,
    };
    for path in &search.paths {
        walk.tree(path).await?;
        if walk.quit {
            break;
        }
    }
    for nth in 0..search.commands.len() {
        walk.run_collected(nth).await?;
    }
    Ok(walk.status)
}

impl Walk<'_> {
    async fn tree(&mut self, path: &str) -> Result<(), Failure> {
        self.root = path.len();
        let full = self.call.path(path);
        let follow = self.search.follow || self.search.follow_arguments || path.ends_with('/');
        let found = self.call.system.with(|kernel| {
            kernel.files.stat(&full, follow).or_else(|_| kernel.files.stat(&full, false))
        });
        let stat = match found {
            Ok(stat) => stat,
            Err(reason) => {
                self.call.err(format!("find: '{path}': {reason}\n")).await;
                self.status = 1;
                return Ok(());
            }
        };
        let mut open = vec![Entry { path: path.to_owned(), stat, depth: 0, visited: false }];
        while let Some(mut entry) = open.pop() {
            tokio::task::coop::consume_budget().await;
            let folder = entry.stat.kind == FileType::Directory;
            let enters = folder && entry.depth < self.search.max_depth;
            let first = self.search.contents_first && enters && !entry.visited;
            self.pruned = false;
            if !first && entry.depth >= self.search.min_depth {
                self.evaluate(&entry).await?;
                if self.quit {
                    return Ok(());
                }
            }
            if !enters || self.pruned || entry.visited {
                continue;
            }
            let (path, depth) = (entry.path.clone(), entry.depth + 1);
            if first {
                entry.visited = true;
                open.push(entry);
            }
            let full = self.call.path(&path);
            let listed = self.call.system.with(|kernel| {
                let entries = kernel.files.list(&full)?;
                let followed = |(name, stat): (String, Stat)| {
                    let path = format!("{full}/{name}");
                    let stat = match self.search.follow {
                        true => kernel.files.stat(&path, true).unwrap_or(stat),
                        false => stat,
                    };
                    (name, stat)
                };
                Ok::<_, crate::files::Error>(entries.into_iter().map(followed).collect::<Vec<_>>())
            });
            match listed {
                Ok(entries) => open.extend(entries.into_iter().rev().map(|(name, stat)| {
                    let path = format!("{}/{name}", path.trim_end_matches('/'));
                    Entry { path, stat, depth, visited: false }
                })),
                Err(reason) => {
                    self.call.err(format!("find: {path}: {reason}\n")).await;
                    self.status = 1;
                }
            }
        }
        Ok(())
    }

    async fn evaluate(&mut self, entry: &Entry) -> Result<(), Failure> {
        let search = self.search;
        self.holds(&search.expression, entry).await?;
        Ok(())
    }

    fn holds<'b>(
        &'b mut self,
        expression: &'b Expression,
        entry: &'b Entry,
    ) -> BoxFuture<'b, Result<bool, Failure>> {
        async move {
            match expression {
                Expression::All(parts) => {
                    for part in parts {
                        if !self.holds(part, entry).await? || self.quit {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                }
                Expression::Any(parts) => {
                    for part in parts {
                        if self.holds(part, entry).await? || self.quit {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                }
                Expression::Not(part) => Ok(!self.holds(part, entry).await?),
                Expression::Test(test) => self.test(test, entry).await,
            }
        }
        .boxed()
    }

    async fn test(&mut self, test: &Test, entry: &Entry) -> Result<bool, Failure> {
        let name = entry.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let name = if name.is_empty() { entry.path.as_str() } else { name };
        Ok(match test {
            Test::Name(pattern) => pattern.matches(name),
            Test::Path(pattern) => pattern.matches(&entry.path),
            Test::Type(kinds) => kinds.contains(&entry.stat.kind),
            Test::Size(amount, unit) => amount.holds(entry.stat.size.div_ceil(*unit)),
            Test::Age(amount, unit) => {
                let now = self.call.system.with(|kernel| kernel.unix_time());
                amount.holds(now.saturating_sub(entry.stat.modified) / unit)
            }
            Test::Newer(than) => entry.stat.modified > *than,
            Test::Mode(kind, mode) => match kind {
                '-' => entry.stat.mode & mode == *mode,
                '/' => *mode == 0 || entry.stat.mode & mode != 0,
                _ => entry.stat.mode & 0o7777 == *mode,
            },
            Test::Empty => match entry.stat.kind {
                FileType::File => entry.stat.size == 0,
                FileType::Directory => {
                    let full = self.call.path(&entry.path);
                    self.call
                        .system
                        .with(|kernel| kernel.files.list(&full))
                        .is_ok_and(|list| list.is_empty())
                }
                _ => false,
            },
            Test::Executable => entry.stat.mode & 0o111 != 0,
            Test::User(id) => entry.stat.uid == *id,
            Test::Group(id) => entry.stat.gid == *id,
            Test::Inode(amount) => amount.holds(entry.stat.inode),
            Test::Constant(value) => *value,
            Test::Prune => {
                self.pruned = true;
                true
            }
            Test::Quit => {
                self.quit = true;
                true
            }
            Test::Print(end) => {
                self.call.out(format!("{}{end}", entry.path)).await?;
                true
            }
            Test::Format(format) => {
                let text = self.formatted(format, entry, name);
                self.call.out(text).await?;
                true
            }
            Test::Delete => {
                if entry.path == "." {
                    return Ok(true);
                }
                let full = self.call.path(&entry.path);
                let removed = self.call.system.with(|kernel| kernel.files.remove(&full, true));
                if let Err(reason) = removed {
                    self.call.err(format!("find: {}: {reason}\n", entry.path)).await;
                    self.status = 1;
                }
                true
            }
            Test::Run(nth) => self.run(*nth, entry).await?,
        })
    }

    async fn run(&mut self, nth: usize, entry: &Entry) -> Result<bool, Failure> {
        let command = &self.search.commands[nth];
        if command.collects {
            self.collected[nth].push(entry.path.clone());
            let size: usize = self.collected[nth].iter().map(|path| path.len() + 1).sum();
            if size > COMMAND_LINE {
                self.run_collected(nth).await?;
            }
            return Ok(true);
        }
        let (mut call, mut path) = (self.call.clone(), entry.path.clone());
        if command.in_folder {
            let (folder, name) = path.rsplit_once('/').unwrap_or((".", &path));
            (call.cwd, path) =
                (call.path(if folder.is_empty() { "/" } else { folder }), format!("./{name}"));
        }
        let argv: Vec<String> =
            command.words.iter().map(|word| word.replace("{}", &path)).collect();
        Ok(self.start(&call, &argv).await? == 0)
    }

    async fn run_collected(&mut self, nth: usize) -> Result<(), Failure> {
        let paths = std::mem::take(&mut self.collected[nth]);
        if paths.is_empty() {
            return Ok(());
        }
        let mut argv = self.search.commands[nth].words.clone();
        argv.pop();
        argv.extend(paths);
        if self.start(self.call, &argv).await? != 0 {
            self.status = 1;
        }
        Ok(())
    }

    async fn start(&self, call: &Invocation, argv: &[String]) -> Result<i32, Failure> {
        let mut io = call.io.detached();
        io.set(0, None);
        Ok(match launch(call, argv, None, &io).await {
            Err(Abort::Killed(signal)) => signal.status(),
            other => other?,
        })
    }

    fn formatted(&self, format: &str, entry: &Entry, name: &str) -> String {
        let (mut text, stat) = (String::new(), &entry.stat);
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            match (c, c == '%' || c == '\\') {
                (c, false) => text.push(c),
                ('\\', _) => match chars.next() {
                    Some('0') => text.push('\0'),
                    Some(letter) => {
                        let known = u8::try_from(letter).ok().and_then(super::format::escape);
                        text.push(known.map_or(letter, char::from));
                    }
                    None => text.push('\\'),
                },
                (_, _) => {
                    let shown = match chars.next() {
                        Some('b') => (stat.size.div_ceil(512)).to_string(),
                        Some('f') => name.to_owned(),
                        Some('g') => (super::ls::user(stat.gid)).to_string(),
                        Some('G') => (stat.gid).to_string(),
                        Some('i') => (stat.inode).to_string(),
                        Some('l') => (stat.target.as_deref().unwrap_or_default()).to_string(),
                        Some('m') => format!("{:o}", stat.mode),
                        Some('M') => (super::ls::letters(stat)).to_string(),
                        Some('p') => (entry.path).to_string(),
                        Some('P') => entry.path[self.root.min(entry.path.len())..]
                            .trim_start_matches('/')
                            .to_owned(),
                        Some('s') => (stat.size).to_string(),
                        Some('T') => {
                            chars.next();
                            format!("{}.0000000000", stat.modified)
                        }
                        Some('u') => (super::ls::user(stat.uid)).to_string(),
                        Some('U') => (stat.uid).to_string(),
                        Some('%') => "%".to_owned(),
                        Some(other) => format!("%{other}"),
                        None => "%".to_owned(),
                    };
                    text.push_str(&shown);
                }
            }
        }
        text
    }
}
