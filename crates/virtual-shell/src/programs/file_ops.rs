//! Changing files: `cp`, `mv`, `rm`, `mkdir`, `touch`, `truncate`, `chmod`, `ln`, `dd`, with
//! toybox's texts. Those of toolbox, which old phones have, are in [`old`].

pub(super) mod old;

use super::Invocation;
use super::clock::parse_time;
use super::options::{ALL, Failure, Options, Outcome, number};
use crate::files::{Error, FileType, Files, Stat};
use crate::io::Status;
use crate::system::Kernel;

/// Maximum depth of a tree that is copied or removed.
const MAX_DEPTH: u32 = 64;

/// `NAME: TEXT`; the status of one failure among several files.
async fn complain(call: &Invocation, text: String) -> i32 {
    call.err(format!("{}: {text}\n", call.name)).await;
    1
}

/// `rm [-fRrv] PATH…`
pub(super) async fn rm(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "fRrv", &[("force", 'f')])?;
    if !options.has('f') {
        options.at_least(1)?;
    }
    let recursive = options.has('r') || options.has('R');
    let mut status = 0;
    for path in &options.rest {
        let full = call.path(path);
        let mut removed = Vec::new();
        let done = call.system.with(|kernel| {
            let mut note = |below: &str, kind| removed.push((format!("{path}{below}"), kind));
            remove_noting(&mut kernel.files, &full, "", recursive, 0, &mut note)
        });
        if options.has('v') {
            for (path, kind) in removed {
                let what = if kind == FileType::Directory { "rmdir" } else { "rm" };
                call.out(format!("{what} '{path}'\n")).await?;
            }
        }
        match done {
            Err(Error::NotFound) if options.has('f') => {}
            Err(reason) => status = complain(call, format!("{path}: {reason}")).await,
            Ok(()) => {}
        }
    }
    Ok(status)
}

/// Removes a file, or with `recursive` a tree.
fn remove(files: &mut Files, path: &str, recursive: bool) -> Result<(), Error> {
    remove_noting(files, path, "", recursive, 0, &mut |_, _| {})
}

/// The same, naming each removed path below `path`.
fn remove_noting(
    files: &mut Files,
    path: &str,
    below: &str,
    recursive: bool,
    depth: u32,
    note: &mut dyn FnMut(&str, FileType),
) -> Result<(), Error> {
    let full = format!("{}{below}", path.trim_end_matches('/'));
    let full = if full.is_empty() { "/" } else { &full };
    let stat = files.stat(full, false)?;
    if stat.kind == FileType::Directory && recursive {
        if depth > MAX_DEPTH {
            return Err(Error::TooManyLinks);
        }
        for (name, _) in files.list(full)? {
            remove_noting(files, path, &format!("{below}/{name}"), true, depth + 1, note)?;
        }
    }
    files.remove(full, recursive)?;
    note(below, stat.kind);
    Ok(())
}

/// `rmdir [-p] PATH…`
pub(super) async fn rmdir(call: &Invocation) -> Outcome {
    let long = [("parents", 'p'), ("ignore-fail-on-non-empty", 'i')];
    let options = Options::read(&call.args, "p", &long)?;
    options.at_least(1)?;
    let mut status = 0;
    for path in &options.rest {
        let mut path = path.as_str();
        loop {
            let full = call.path(path);
            let done = call.system.with(|kernel| match kernel.files.stat(&full, false)?.kind {
                FileType::Directory => kernel.files.remove(&full, true),
                _ => Err(Error::NotADirectory),
            });
            match done {
                Err(Error::NotEmpty) if options.has('i') => break,
                Err(reason) => {
                    status = complain(call, format!("{path}: {reason}")).await;
                    break;
                }
                Ok(()) => {}
            }
            match path.trim_end_matches('/').rsplit_once('/') {
                Some((above, _)) if options.has('p') && !above.is_empty() => path = above,
                _ => break,
            }
        }
    }
    Ok(status)
}

/// `mkdir [-pv] [-m MODE] PATH…`
pub(super) async fn mkdir(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "vpm:", &[("parent", 'p'), ("parents", 'p')])?;
    options.at_least(1)?;
    let mode = match options.value('m') {
        Some(text) => changed(0o777, text, true, call.umask).ok_or_else(|| bad_mode(text))?,
        None => 0o777 & !call.umask,
    };
    let mut status = 0;
    for path in &options.rest {
        let parts = path.trim_end_matches('/').match_indices('/').map(|(at, _)| at);
        let parts = parts.filter(|at| options.has('p') && *at > 0).chain([path.len()]);
        let mut failure = None;
        for end in parts {
            let (part, last) = (&path[..end], end == path.len());
            let full = call.path(part);
            let mode = if last { mode } else { 0o777 & !call.umask };
            let made = call.system.with(|kernel| match kernel.files.make_directory(&full, mode) {
                Err(Error::Exists) if options.has('p') => {
                    match kernel.files.stat(&full, true)?.kind {
                        FileType::Directory => Ok(false),
                        _ if last => Err(Error::Exists),
                        _ => Err(Error::NotADirectory),
                    }
                }
                made => made.map(|()| true),
            });
            match made {
                Ok(true) if options.has('v') => {
                    call.err(format!("mkdir: created directory '{part}'\n")).await;
                }
                Ok(_) => {}
                Err(reason) => {
                    failure = Some(reason);
                    break;
                }
            }
        }
        if let Some(reason) = failure {
            status = complain(call, format!("'{path}': {reason}")).await;
        }
    }
    Ok(status)
}

/// `touch [-acfhm] [-d TIME] [-t TIME] [-r FILE] PATH…`
pub(super) async fn touch(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "acd:fmr:t:h", &[("no-create", 'c'), ("date", 'd')])?;
    options.at_least(1)?;
    let now = call.system.with(|kernel| kernel.unix_time());
    let mut time = now;
    if let Some(text) = options.value('d').or(options.value('t')) {
        let given = match options.has('d') {
            true => parse_time(text, now),
            false => super::clock::compact_time(text, now),
        };
        time = given.ok_or_else(|| Failure::new(format!("bad date {text}")))?;
    } else if let Some(path) = options.value('r') {
        let full = call.path(path);
        let stat = call.system.with(|kernel| kernel.files.stat(&full, true));
        time =
            stat.map_err(|reason| Failure::new(format!("Can't stat {path}: {reason}")))?.modified;
    }
    // Files have no time of their last access here.
    let accessed_only = options.has('a') && !options.has('m');
    let mut status = 0;
    for path in &options.rest {
        let full = call.path(path);
        let touched = call.system.with(|kernel| {
            let files = &mut kernel.files;
            if files.stat(&full, !options.has('h')) == Err(Error::NotFound) {
                if options.has('c') {
                    return Ok(());
                }
                files.open_to_write(&full, 0o666 & !call.umask, true)?;
            } else if accessed_only {
                return Ok(());
            }
            files.set_modified(&full, !options.has('h'), time)
        });
        if let Err(reason) = touched {
            status = complain(call, format!("'{path}': {reason}")).await;
        }
    }
    Ok(status)
}

/// `truncate [-c] -s SIZE FILE…`, with a size such as `10k`, `+5` or `-5`.
pub(super) async fn truncate(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "s:c", &[])?;
    options.at_least(1)?;
    let text = options.value('s').ok_or_else(|| Failure::Usage("Needs -s".into()))?;
    let (sign, digits) = match text.strip_prefix(['+', '-', '<', '>']) {
        Some(digits) => (text.chars().next(), digits),
        None => (None, text),
    };
    let amount = number(digits)?;
    let mut status = 0;
    for path in &options.rest {
        let full = call.path(path);
        let done = call.system.with(|kernel| {
            let files = &mut kernel.files;
            if files.stat(&full, true) == Err(Error::NotFound) {
                if options.has('c') {
                    return Ok(());
                }
                files.open_to_write(&full, 0o666 & !call.umask, true)?;
            }
            let mode = files.stat(&full, true)?.mode;
            let mut contents = files.read(&full)?.as_ref().to_vec();
            let old = contents.len() as u64;
            let size = match sign {
                None => amount,
                Some('+') => old.saturating_add(amount),
                Some('-') => old.saturating_sub(amount),
                Some('<') => old.min(amount),
                Some(_) => old.max(amount),
            };
            if size > ALL {
                return Err(Error::NoSpace);
            }
            contents.resize(size as usize, 0);
            files.write(&full, &contents, mode)
        });
        if let Err(reason) = done {
            status = complain(call, format!("{path}: {reason}")).await;
        }
    }
    Ok(status)
}

fn bad_mode(text: &str) -> Failure {
    Failure::new(format!("bad mode '{text}'"))
}

/// `chmod [-fRv] MODE PATH…`, with an octal mode or `[ugoa]*[+-=][rwxXst]*,…`.
pub(super) async fn chmod(call: &Invocation) -> Outcome {
    // `-x` is a mode here, not an option.
    let is_option = |arg: &&String| {
        arg.len() > 1 && arg.starts_with('-') && arg[1..].chars().all(|c| "vfR".contains(c))
    };
    let (given, rest): (Vec<&String>, Vec<&String>) = call.args.iter().partition(is_option);
    let has = |letter| given.iter().any(|arg| arg.contains(letter));
    let [change, paths @ ..] = rest.as_slice() else { return Err(Failure::needs(2)) };
    if paths.is_empty() {
        return Err(Failure::needs(2));
    }
    changed(0, change, false, call.umask).ok_or_else(|| bad_mode(change))?;
    let mut status = 0;
    let mut left: Vec<(String, bool)> =
        paths.iter().rev().map(|path| ((*path).clone(), true)).collect();
    while let Some((path, given)) = left.pop() {
        let full = call.path(&path);
        let stat = match call.system.with(|kernel| kernel.files.stat(&full, given)) {
            Ok(stat) => stat,
            Err(reason) => {
                status = complain(call, format!("{path}: {reason}")).await;
                continue;
            }
        };
        // Links below are left alone.
        if stat.kind == FileType::Link {
            continue;
        }
        let is_directory = stat.kind == FileType::Directory;
        let mode = changed(stat.mode, change, is_directory, call.umask).unwrap_or(stat.mode);
        match call.system.with(|kernel| kernel.files.set_mode(&full, mode)) {
            Err(reason) if !has('f') => {
                status = complain(call, format!("'{path}' to {mode:04o}: {reason}")).await;
            }
            Err(_) => status = 1,
            Ok(()) if has('v') => call.out(format!("chmod '{path}' to {change}\n")).await?,
            Ok(()) => {}
        }
        if has('R') && is_directory && full.matches('/').count() <= MAX_DEPTH as usize {
            let below = call.system.with(|kernel| kernel.files.list(&full)).unwrap_or_default();
            let base = path.trim_end_matches('/');
            left.extend(below.into_iter().rev().map(|(name, _)| (format!("{base}/{name}"), false)));
        }
    }
    Ok(status)
}

/// A mode after a change: toybox's `string_to_mode`.
fn changed(before: u32, change: &str, is_directory: bool, umask: u32) -> Option<u32> {
    if change.starts_with(|c: char| c.is_ascii_digit()) {
        return u32::from_str_radix(change, 8).ok().filter(|mode| *mode <= 0o7777);
    }
    let mut mode = before;
    for part in change.split(',') {
        let at = part.find(['+', '-', '='])?;
        let (who, rest) = part.split_at(at);
        let (operator, what) = rest.split_at(1);
        let mut mask = 0;
        for c in who.chars() {
            mask |= match c {
                'u' => 0o4700,
                'g' => 0o2070,
                'o' => 0o1007,
                'a' => 0o7777,
                _ => return None,
            };
        }
        let mask = if mask == 0 { 0o7777 & !umask } else { mask };
        let mut bits = 0;
        for c in what.chars() {
            bits |= match c {
                'r' => 0o444,
                'w' => 0o222,
                'x' => 0o111,
                'X' if is_directory || mode & 0o111 != 0 => 0o111,
                'X' => 0,
                's' => 0o6000,
                't' => 0o1000,
                // The bits that another has.
                'u' | 'g' | 'o' if what.len() == 1 => {
                    let shift = ["o", "g", "u"].iter().position(|who| *who == what)? * 3;
                    (mode >> shift & 7) * 0o111
                }
                _ => return None,
            };
        }
        // The sticky bit belongs to nobody.
        let mask = mask | bits & 0o1000;
        mode = match operator {
            "+" => mode | bits & mask,
            "-" => mode & !(bits & mask),
            // Which clears the bits that belong to nobody, too.
            _ => mode & !(mask | 0o7000) | bits & mask,
        };
    }
    Some(mode)
}

/// `ln -s [-fnv] [-t FOLDER] TARGET… [PATH]`; hard links are not supported.
pub(super) async fn ln(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "t:Tvnfs", &[])?;
    options.at_least(1)?;
    let mut targets = options.rest.clone();
    let to = match options.value('t') {
        Some(folder) => folder.to_owned(),
        None if targets.len() == 1 => ".".to_owned(),
        None => targets.pop().unwrap_or_default(),
    };
    let follows = !options.has('n') && !options.has('T');
    let is_folder = |kernel: &Kernel| {
        let stat = kernel.files.stat(&call.path(&to), follows);
        stat.is_ok_and(|stat| stat.kind == FileType::Directory)
    };
    let into = call.system.with(|kernel| is_folder(kernel));
    let mut status = 0;
    for target in targets {
        let name = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let path = match into {
            true => format!("{}/{name}", to.trim_end_matches('/')),
            false => to.clone(),
        };
        let full = call.path(&path);
        let linked = call.system.with(|kernel| {
            // Shared storage (FUSE over f2fs) has no links.
            if !options.has('s') || full.starts_with("/sdcard/") || full.starts_with("/storage/") {
                return Err(Error::Denied);
            }
            if options.has('f') && kernel.files.stat(&full, false).is_ok() {
                kernel.files.remove(&full, false)?;
            }
            kernel.files.link(&full, &target)
        });
        match linked {
            Ok(()) if options.has('v') => call.out(format!("'{path}' -> '{target}'\n")).await?,
            Ok(()) => {}
            Err(reason) => {
                let kind = if options.has('s') { "symbolic" } else { "hard" };
                let what =
                    format!("cannot create {kind} link from '{target}' to '{path}': {reason}");
                status = complain(call, what).await;
            }
        }
    }
    Ok(status)
}

/// `cp [-adfHLnPpRrTuv] [-t FOLDER] FROM… TO`
pub(super) async fn cp(call: &Invocation) -> Outcome {
    let long = [("preserve", 'p'), ("remove-destination", 'F'), ("archive", 'a')];
    let options = Options::read(&call.args, "aRHLPprduvnFft:T", &long)?;
    transfer(call, &options, false).await
}

/// `mv [-fnTv] [-t FOLDER] FROM… TO`
pub(super) async fn mv(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "vnfFt:T", &[("verbose", 'v')])?;
    transfer(call, &options, true).await
}

/// The last part of a path.
fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

async fn transfer(call: &Invocation, options: &Options, moving: bool) -> Outcome {
    options.at_least(1)?;
    let mut from = options.rest.clone();
    let to = match options.value('t') {
        Some(folder) => folder.to_owned(),
        None if from.len() < 2 => return Err(Failure::new("Needs 2 arguments")),
        None => from.pop().unwrap_or_default(),
    };
    let target = call.path(&to);
    let kind = call.system.with(|kernel| kernel.files.stat(&target, true).map(|stat| stat.kind));
    let into = kind == Ok(FileType::Directory);
    if (from.len() > 1 || options.has('t')) && !into {
        return Err(Failure::new(format!("'{to}' not directory")));
    }
    if options.has('T') && into {
        return Err(Failure::new(format!("'{to}' is a directory")));
    }
    let recursive = ['r', 'R', 'a'].iter().any(|letter| options.has(*letter));
    let keeps_links = ['P', 'd', 'a'].iter().any(|letter| options.has(*letter))
        || recursive && !options.has('H') && !options.has('L');
    let copying = Copying {
        recursive,
        follows: !keeps_links,
        follows_below: options.has('L'),
        keeps_time: options.has('a') || options.has('p'),
        umask: if options.has('a') || options.has('p') { 0 } else { call.umask },
    };
    let mut status = 0;
    for path in &from {
        let source = call.path(path);
        let name = last_part(&source);
        let (target, shown) = match into {
            true => (
                format!("{}/{name}", target.trim_end_matches('/')),
                format!("{}/{name}", to.trim_end_matches('/')),
            ),
            false => (target.clone(), to.clone()),
        };
        let stat = |path: &str, follow| call.system.with(|kernel| kernel.files.stat(path, follow));
        let source_stat = match stat(&source, !moving && copying.follows) {
            Ok(stat) => stat,
            Err(reason) => {
                status = complain(call, format!("bad '{path}': {reason}")).await;
                continue;
            }
        };
        let before = stat(&target, true).ok();
        if before.is_some() && options.has('n')
            || options.has('u')
                && before.as_ref().is_some_and(|it| it.modified >= source_stat.modified)
        {
            continue;
        }
        if before.as_ref().is_some_and(|before| before.inode == source_stat.inode) {
            if !moving {
                status = complain(call, format!("'{path}' is '{shown}'")).await;
            }
            continue;
        }
        if recursive && target.starts_with(&format!("{source}/")) {
            status = complain(call, format!("'{shown}' is '{path}'")).await;
            continue;
        }
        if source_stat.kind == FileType::Directory && !moving {
            if before.as_ref().is_some_and(|before| before.kind != FileType::Directory) {
                status = complain(call, format!("dir at '{}'", last_part(path))).await;
                continue;
            }
            if !recursive {
                let text = format!("Skipped dir '{}': {}", last_part(&shown), Error::NotFound);
                status = complain(call, text).await;
                continue;
            }
        }
        let mut copied = Vec::new();
        let done = call.system.with(|kernel| match moving {
            true => kernel.files.rename(&source, &target),
            false => {
                copy(&mut kernel.files, &source, &target, &source_stat, copying, 0, &mut copied)
            }
        });
        if options.has('v') {
            for below in copied {
                call.out(format!(
                    "cp '{path}{}'\n",
                    below.strip_prefix(&source).unwrap_or_default()
                ))
                .await?;
            }
        }
        if let Err(reason) = done {
            let text = match moving {
                true => format!("bad '{path}': {reason}"),
                false => format!("{shown}: {reason}"),
            };
            status = complain(call, text).await;
        }
    }
    Ok(status)
}

/// How trees are copied.
#[derive(Clone, Copy)]
struct Copying {
    recursive: bool,
    /// Whether links that are given are followed, and those below them.
    follows: bool,
    follows_below: bool,
    keeps_time: bool,
    /// The permissions that copies do not get.
    umask: u32,
}

impl Copying {
    /// Everything, with links followed.
    const PLAIN: Self =
        Self { recursive: true, follows: true, follows_below: true, keeps_time: false, umask: 0 };
}

/// Copies a file, or a tree, and lists what was copied.
fn copy(
    files: &mut Files,
    from: &str,
    to: &str,
    stat: &Stat,
    how: Copying,
    depth: u32,
    copied: &mut Vec<String>,
) -> Result<(), Error> {
    copied.push(from.to_owned());
    if let Some(target) = stat.target.as_ref().filter(|_| stat.kind == FileType::Link) {
        return files.link(to, target);
    }
    if stat.kind != FileType::Directory {
        let contents = files.read(from)?;
        files.write(to, contents.as_ref(), stat.mode & !how.umask)?;
    } else {
        if !how.recursive {
            return Err(Error::IsADirectory);
        }
        if depth > MAX_DEPTH || to.starts_with(&format!("{from}/")) {
            return Err(Error::Invalid);
        }
        match files.make_directory(to, stat.mode & !how.umask) {
            Ok(()) | Err(Error::Exists) => {}
            Err(reason) => return Err(reason),
        }
        for (name, stat) in files.list(from)? {
            let below = format!("{from}/{name}");
            let stat = if how.follows_below { files.stat(&below, true)? } else { stat };
            copy(files, &below, &format!("{to}/{name}"), &stat, how, depth + 1, copied)?;
        }
    }
    if how.keeps_time {
        files.set_modified(to, true, stat.modified)?;
    }
    Ok(())
}

/// `dd [if=FILE] [of=FILE] [bs=N] [count=N] [skip=N] [iflag=count_bytes,skip_bytes]
/// [status=none|noxfer]`, up to 64 MiB.
///
/// Toybox's, and on Android 4.4 that of NetBSD, which has neither `iflag` nor `status` (`dd.c` of
/// `system/core/toolbox`).
pub(super) async fn dd(call: Invocation) -> Status {
    let request = match DdOptions::read(&call.args, call.userland().toybox) {
        Ok(request) => request,
        Err(reason) => {
            call.err(format!("{reason}\n")).await;
            return Ok(1);
        }
    };
    let input = match call.open(request.from) {
        Ok(input) => input,
        Err(reason) => return call.failed(request.from, reason).await,
    };
    let output = match request.to.map(|path| call.create(path)).transpose() {
        Ok(output) => output.unwrap_or_else(|| call.io.stdout.clone()),
        Err(reason) => return call.failed(request.to.unwrap_or_default(), reason).await,
    };
    let bytes = input.all(request.skip.saturating_add(request.count)).await;
    let start = usize::try_from(request.skip).unwrap_or(usize::MAX);
    let bytes = bytes.get(start..).unwrap_or_default();
    output.write(bytes).await?;
    if request.summary {
        let (length, block) = (bytes.len() as u64, request.block.max(1));
        let records = format!("{}+{}", length / block, u8::from(!length.is_multiple_of(block)));
        let sum = match call.userland().toybox {
            true => format!("{length} bytes copied"),
            // As if it took a millisecond: this phone's programs take their time as a whole.
            false => {
                format!("{length} bytes transferred in 0.001 secs ({} bytes/sec)", length * 1_000)
            }
        };
        call.err(format!("{records} records in\n{records} records out\n{sum}\n")).await;
    }
    Ok(0)
}

/// The options of `dd`.
struct DdOptions<'a> {
    from: &'a str,
    to: Option<&'a str>,
    block: u64,
    /// Bytes to skip, and maximum bytes to copy.
    skip: u64,
    count: u64,
    /// Whether it prints a summary.
    summary: bool,
}

impl<'a> DdOptions<'a> {
    /// The error is the message to print.
    fn read(args: &'a [String], toybox: bool) -> Result<Self, String> {
        const MAX_COUNT: u64 = 64 << 20;
        let (mut from, mut to, mut block, mut summary) = ("-", None, 512_u64, true);
        let (mut count, mut skip, mut flags) = (None, 0_u64, "");
        for arg in args {
            let unknown = |name: &str| match toybox {
                true => format!("dd: bad arg '{arg}'"),
                false => format!("unknown operand {name}"),
            };
            let (name, value) = arg.split_once('=').ok_or_else(|| unknown(arg))?;
            match (name, scaled(value)) {
                ("if", _) => from = value,
                ("of", _) => to = Some(value),
                ("bs", Some(n)) => block = n,
                ("count", Some(n)) => count = Some(n),
                ("skip", Some(n)) => skip = n,
                ("conv", _) => {}
                ("oflag", _) if toybox => {}
                ("iflag", _) if toybox => flags = value,
                ("status", _) if toybox => summary = value != "none",
                _ => return Err(unknown(name)),
            }
        }
        let unit = |flag| if flags.split(',').any(|one| one == flag) { 1 } else { block };
        let count = count.map_or(MAX_COUNT, |count: u64| count.saturating_mul(unit("count_bytes")));
        let skip = skip.saturating_mul(unit("skip_bytes"));
        Ok(Self { from, to, block, skip, count: count.min(MAX_COUNT), summary })
    }
}

/// A number with a size suffix.
fn scaled(value: &str) -> Option<u64> {
    let (digits, scale) = match value.as_bytes().last() {
        Some(b'k' | b'K') => (&value[..value.len() - 1], 1 << 10),
        Some(b'm' | b'M') => (&value[..value.len() - 1], 1 << 20),
        _ => (value, 1),
    };
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(scale))
}
