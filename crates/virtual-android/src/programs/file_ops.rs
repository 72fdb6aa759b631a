//! Changing files: `cp`, `mv`, `rm`, `mkdir`, `touch`, `chmod`, `ln`, `dd`, with toybox's texts.
//! Those of toolbox, which old phones have, are in [`old`].

mod old;

use super::Invocation;
use crate::files::{Error, FileType};
use crate::io::Status;

/// Maximum depth of a tree that is copied or removed.
const MAX_DEPTH: u32 = 64;

/// The option letters, and the other arguments.
fn options(call: &Invocation) -> (String, Vec<&str>) {
    let (mut letters, mut rest) = (String::new(), Vec::new());
    let mut args = call.args.iter().map(String::as_str);
    // toybox accepts options after the paths too.
    while let Some(arg) = args.next() {
        match arg.strip_prefix('-') {
            Some("-") => {
                rest.extend(args);
                break;
            }
            Some(more) if !more.is_empty() => letters.push_str(more),
            _ => rest.push(arg),
        }
    }
    (letters, rest)
}

async fn needs(call: &Invocation, arguments: u32) -> Status {
    let plural = if arguments == 1 { "" } else { "s" };
    call.err(format!(
        "{}: Needs {arguments} argument{plural} (see \"{} --help\")\n",
        call.name, call.name
    ))
    .await;
    Ok(1)
}

/// `rm [-rf] PATH…`
pub(super) async fn rm(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::rm(call).await;
    }
    let (letters, paths) = options(&call);
    let recursive = letters.contains(['r', 'R']);
    let force = letters.contains('f');
    if paths.is_empty() && !force {
        return needs(&call, 1).await;
    }
    let mut status = 0;
    for path in paths {
        let full = call.path(path);
        match call.phone.with(|phone| remove(&mut phone.files, &full, recursive, 0)) {
            Err(Error::NotFound) if force => {}
            Err(reason) => status = call.failed(path, reason).await?,
            Ok(()) => {}
        }
    }
    Ok(status)
}

fn remove(
    files: &mut crate::files::Files,
    path: &str,
    recursive: bool,
    depth: u32,
) -> Result<(), Error> {
    let stat = files.stat(path, false)?;
    if stat.kind == FileType::Directory && recursive {
        if depth > MAX_DEPTH {
            return Err(Error::TooManyLinks);
        }
        for (name, _) in files.list(path)? {
            remove(files, &format!("{}/{name}", path.trim_end_matches('/')), true, depth + 1)?;
        }
    }
    files.remove(path, recursive)
}

/// `rmdir PATH…`
pub(super) async fn rmdir(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::rmdir(call).await;
    }
    let mut status = 0;
    for path in options(&call).1 {
        let full = call.path(path);
        let done = call.phone.with(|phone| match phone.files.stat(&full, false)?.kind {
            FileType::Directory => phone.files.remove(&full, true),
            _ => Err(Error::NotADirectory),
        });
        if let Err(reason) = done {
            status = call.failed(path, reason).await?;
        }
    }
    Ok(status)
}

/// `mkdir [-p] [-m MODE] PATH…`
pub(super) async fn mkdir(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::mkdir(call).await;
    }
    let (letters, mut paths) = options(&call);
    let mode = if letters.contains('m') && !paths.is_empty() {
        u32::from_str_radix(paths.remove(0), 8).unwrap_or(0o777)
    } else {
        0o777
    };
    if paths.is_empty() {
        return needs(&call, 1).await;
    }
    let mut status = 0;
    for path in paths {
        let full = call.path(path);
        let made = call.phone.with(|phone| {
            if !letters.contains('p') {
                return phone.files.make_directory(&full, mode);
            }
            let ends = full.match_indices('/').skip(1).map(|(at, _)| at).chain([full.len()]);
            for end in ends {
                match phone.files.make_directory(&full[..end], mode) {
                    Ok(()) | Err(Error::Exists) => {}
                    Err(reason) => return Err(reason),
                }
            }
            match phone.files.stat(&full, true)?.kind {
                FileType::Directory => Ok(()),
                _ => Err(Error::Exists),
            }
        });
        if let Err(reason) = made {
            call.err(format!("mkdir: '{path}': {reason}\n")).await;
            status = 1;
        }
    }
    Ok(status)
}

/// `touch [-c] PATH…`
pub(super) async fn touch(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::touch(call).await;
    }
    let (letters, paths) = options(&call);
    if paths.is_empty() {
        return needs(&call, 1).await;
    }
    let mut status = 0;
    for path in paths {
        let full = call.path(path);
        let touched = call.phone.with(|phone| {
            let now = phone.files.now;
            match phone.files.set_modified(&full, true, now) {
                Err(Error::NotFound) if letters.contains('c') => Ok(()),
                Err(Error::NotFound) => phone.files.open_to_write(&full, 0o666, true).map(drop),
                other => other,
            }
        });
        if let Err(reason) = touched {
            call.err(format!("touch: '{path}': {reason}\n")).await;
            status = 1;
        }
    }
    Ok(status)
}

/// `chmod MODE PATH…`, with an octal mode or `[ugoa]*[+-=][rwx]*`.
pub(super) async fn chmod(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::chmod(call).await;
    }
    // `-x` is a mode here, not an option.
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let args = match args.as_slice() {
        ["-f" | "-v", rest @ ..] => rest,
        all => all,
    };
    let [mode, paths @ ..] = args else { return needs(&call, 2).await };
    let mut status = 0;
    for path in paths {
        let full = call.path(path);
        let Ok(before) = call.phone.with(|phone| phone.files.stat(&full, true)) else {
            status = call.failed(path, Error::NotFound).await?;
            continue;
        };
        let Some(mode) = changed(before.mode, mode) else {
            call.err(format!("chmod: bad mode '{mode}'\n")).await;
            return Ok(1);
        };
        if let Err(reason) = call.phone.with(|phone| phone.files.set_mode(&full, mode)) {
            call.err(format!("chmod: '{path}' to {mode:o}: {reason}\n")).await;
            status = 1;
        }
    }
    Ok(status)
}

fn changed(before: u32, change: &str) -> Option<u32> {
    if let Ok(mode) = u32::from_str_radix(change, 8) {
        return (mode <= 0o7777).then_some(mode);
    }
    let at = change.find(['+', '-', '='])?;
    let (who, rest) = change.split_at(at);
    let (operator, what) = rest.split_at(1);
    let mut bits = 0;
    for c in what.chars() {
        bits |= match c {
            'r' => 0o444,
            'w' => 0o222,
            'x' | 'X' => 0o111,
            _ => return None,
        };
    }
    let mut mask = 0;
    for c in who.chars() {
        mask |= match c {
            'u' => 0o700,
            'g' => 0o070,
            'o' => 0o007,
            'a' => 0o777,
            _ => return None,
        };
    }
    let mask = if mask == 0 { 0o777 } else { mask };
    Some(match operator {
        "+" => before | (bits & mask),
        "-" => before & !(bits & mask),
        _ => (before & !mask) | (bits & mask),
    })
}

/// `ln -s TARGET PATH`; hard links are not supported.
pub(super) async fn ln(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::ln(call).await;
    }
    let (letters, args) = options(&call);
    let ([target, path], true) = (args.as_slice(), letters.contains('s')) else {
        return needs(&call, 2).await;
    };
    let full = call.path(path);
    let linked = call.phone.with(|phone| {
        // Shared storage (FUSE over f2fs) has no links.
        if full.starts_with("/sdcard/") || full.starts_with("/storage/") {
            Err(Error::Denied)
        } else {
            phone.files.link(&full, target)
        }
    });
    match linked {
        Ok(()) => Ok(0),
        Err(reason) => {
            call.err(format!(
                "ln: cannot create symbolic link from '{target}' to '{path}': {reason}\n"
            ))
            .await;
            Ok(1)
        }
    }
}

/// `cp [-rf] FROM… TO`
pub(super) async fn cp(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::cp(call).await;
    }
    transfer(&call, false).await
}

/// `mv [-f] FROM… TO`
pub(super) async fn mv(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::mv(call).await;
    }
    transfer(&call, true).await
}

async fn transfer(call: &Invocation, moving: bool) -> Status {
    let (letters, args) = options(call);
    let Some((to, from)) = args.split_last().filter(|(_, from)| !from.is_empty()) else {
        return needs(call, 2).await;
    };
    let target = call.path(to);
    let into = call
        .phone
        .with(|phone| phone.files.stat(&target, true))
        .is_ok_and(|stat| stat.kind == FileType::Directory);
    if from.len() > 1 && !into {
        call.err(format!("{}: '{to}' not directory\n", call.name)).await;
        return Ok(1);
    }
    let recursive = moving || letters.contains(['r', 'R', 'a']);
    let mut status = 0;
    for path in from {
        let source = call.path(path);
        let name = source.rsplit('/').next().unwrap_or_default();
        let target =
            if into { format!("{}/{name}", target.trim_end_matches('/')) } else { target.clone() };
        let done = call.phone.with(|phone| {
            if source == target {
                return Err(Error::Invalid);
            }
            if moving {
                phone.files.rename(&source, &target)
            } else {
                copy(&mut phone.files, &source, &target, recursive, 0)
            }
        });
        match done {
            Ok(()) => {}
            Err(Error::IsADirectory) if !recursive => {
                call.err(format!("cp: Skipped dir '{path}'\n")).await;
                status = 1;
            }
            Err(reason) => {
                call.err(format!("{}: '{path}': {reason}\n", call.name)).await;
                status = 1;
            }
        }
    }
    Ok(status)
}

fn copy(
    files: &mut crate::files::Files,
    from: &str,
    to: &str,
    recursive: bool,
    depth: u32,
) -> Result<(), Error> {
    let stat = files.stat(from, true)?;
    if stat.kind != FileType::Directory {
        let contents = files.read(from)?;
        return files.write(to, contents.as_ref(), stat.mode);
    }
    if !recursive {
        return Err(Error::IsADirectory);
    }
    if depth > MAX_DEPTH || to.starts_with(&format!("{from}/")) {
        return Err(Error::Invalid);
    }
    match files.make_directory(to, stat.mode) {
        Ok(()) | Err(Error::Exists) => {}
        Err(reason) => return Err(reason),
    }
    for (name, _) in files.list(from)? {
        copy(files, &format!("{from}/{name}"), &format!("{to}/{name}"), true, depth + 1)?;
    }
    Ok(())
}

/// `dd [if=FILE] [of=FILE] [bs=N] [count=N] [skip=N] [iflag=count_bytes,skip_bytes]
/// [status=none|noxfer]`, up to 64 MiB.
///
/// Toybox's, and on Android 4.4 that of NetBSD, which has neither `iflag` nor `status` (`dd.c` of
/// `system/core/toolbox`).
pub(super) async fn dd(call: Invocation) -> Status {
    let request = match DdOptions::read(&call.args, call.release().toybox) {
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
        let sum = match call.release().toybox {
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
