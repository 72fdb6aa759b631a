//! Names and places of files: `basename`, `dirname`, `realpath`, `mktemp`, `du`, with toybox's
//! texts.

use super::Invocation;
use super::options::{Failure, Options, Outcome};
use crate::files::{FileType, absolute};

/// `basename NAME [SUFFIX]`, `basename [-a] [-s SUFFIX] NAME…`
pub(super) async fn basename(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "+as:", &[])?;
    options.at_least(1)?;
    let many = options.has('a') || options.has('s');
    if !many && options.rest.len() > 2 {
        return Err(Failure::new("too many args"));
    }
    let suffix = options.value('s').or(options.rest.get(1).filter(|_| !many).map(String::as_str));
    let names = if many { options.rest.as_slice() } else { &options.rest[..1] };
    for name in names {
        let trimmed = name.trim_end_matches('/');
        let mut last = trimmed.rsplit('/').next().unwrap_or_default();
        if trimmed.is_empty() {
            last = if name.is_empty() { "." } else { "/" };
        }
        let last = match suffix.and_then(|suffix| last.strip_suffix(suffix)) {
            Some(shorter) if !shorter.is_empty() => shorter,
            _ => last,
        };
        call.out(format!("{last}\n")).await?;
    }
    Ok(0)
}

/// `dirname PATH…`
pub(super) async fn dirname(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "", &[])?;
    options.at_least(1)?;
    for path in &options.rest {
        let folder = match path.trim_end_matches('/').rsplit_once('/') {
            Some((folder, _)) => folder.trim_end_matches('/'),
            None if path.starts_with('/') => "",
            None => ".",
        };
        call.out(format!("{}\n", if folder.is_empty() { "/" } else { folder })).await?;
    }
    Ok(0)
}

/// The path without links; the last part need not exist.
pub(super) fn resolved(call: &Invocation, path: &str) -> Result<String, crate::files::Error> {
    let mut left: Vec<String> = call
        .path(path)
        .split('/')
        .rev()
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    let (mut here, mut links) = (String::new(), 0);
    while let Some(part) = left.pop() {
        let next = absolute(if here.is_empty() { "/" } else { &here }, &part);
        let stat = call.system.with(|kernel| kernel.files.stat(&next, false));
        match stat {
            Ok(stat) => match stat.target {
                Some(target) => {
                    links += 1;
                    if links > 40 {
                        return Err(crate::files::Error::TooManyLinks);
                    }
                    if target.starts_with('/') {
                        here.clear();
                    }
                    left.extend(
                        target.split('/').rev().filter(|part| !part.is_empty()).map(str::to_owned),
                    );
                }
                None => here = if next == "/" { String::new() } else { next },
            },
            Err(crate::files::Error::NotFound) if left.is_empty() => here = next,
            Err(reason) => return Err(reason),
        }
    }
    Ok(if here.is_empty() { "/".to_owned() } else { here })
}

/// `realpath PATH…`
pub(super) async fn realpath(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "", &[])?;
    options.at_least(1)?;
    let mut status = 0;
    for path in &options.rest {
        match resolved(call, path) {
            Ok(path) => call.out(format!("{path}\n")).await?,
            Err(reason) => {
                call.err(format!("realpath: {path}: {reason}\n")).await;
                status = 1;
            }
        }
    }
    Ok(status)
}

/// `mktemp [-dqut] [-p FOLDER] [TEMPLATE]`
pub(super) async fn mktemp(call: &Invocation) -> Outcome {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let options = Options::read(
        &call.args,
        "uqd;p:t",
        &[("tmpdir", 'p'), ("directory", 'd'), ("dry-run", 'u'), ("quiet", 'q')],
    )?;
    options.at_most(1)?;
    let template = options.rest.first().map_or("tmp.XXXXXXXXXX", String::as_str);
    let given = !options.rest.is_empty();
    let folder = match (options.value('p'), given && !options.has('t')) {
        (Some(folder), _) => Some(folder.to_owned()),
        (None, true) => None,
        (None, false) => {
            let env =
                call.env.iter().find(|(name, _)| name == "TMPDIR").map(|(_, value)| value.clone());
            Some(env.unwrap_or_else(|| "/data/local/tmp".to_owned()))
        }
    };
    let marks = template.len() - template.trim_end_matches('X').len();
    if marks < 3 {
        return Err(Failure::new("need XXX"));
    }
    let start = &template[..template.len() - marks];
    // The same numbers on every run: nothing of the phone is random.
    let mut seed = call.system.with(|kernel| kernel.uptime().as_nanos() as u64)
        ^ u64::from(call.running.pid) << 32;
    for _ in 0..100 {
        let mut name = start.to_owned();
        for _ in 0..marks {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            name.push(char::from(LETTERS[(seed >> 33) as usize % LETTERS.len()]));
        }
        let path = match &folder {
            Some(folder) => format!("{}/{name}", folder.trim_end_matches('/')),
            None => name,
        };
        let full = call.path(&path);
        let made = call.system.with(|kernel| {
            if kernel.files.stat(&full, false).is_ok() {
                return Err(crate::files::Error::Exists);
            }
            match (options.has('u'), options.has('d')) {
                (true, _) => Ok(()),
                (_, true) => kernel.files.make_directory(&full, 0o700),
                _ => kernel.files.open_to_write(&full, 0o600, false).map(drop),
            }
        });
        match made {
            Ok(()) => {
                call.out(format!("{path}\n")).await?;
                return Ok(0);
            }
            Err(crate::files::Error::Exists) => {}
            Err(_) if options.has('q') => return Ok(1),
            Err(reason) => {
                let what = if options.has('d') { "directory" } else { "file" };
                let shown = match &folder {
                    Some(folder) => format!("{}/{template}", folder.trim_end_matches('/')),
                    None => template.to_owned(),
                };
                return Err(Failure::new(format!("Failed to create {what} {shown}: {reason}")));
            }
        }
    }
    Err(Failure::new("File exists"))
}

/// A folder that `du` adds up: its path, its bytes so far, and the entries that are left.
type OpenFolder = (String, u64, Vec<(String, FileType, u64)>);

/// `du [-achkmsx] [-d DEPTH] [PATH…]`, in KiB.
pub(super) async fn du(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "d:hmlcaHKkLsxb", &[])?;
    let depth =
        if options.has('s') { 0 } else { options.number('d')?.map_or(usize::MAX, |n| n as usize) };
    let human = options.has('h');
    let show = |bytes: u64| match (human, options.has('m'), options.has('b')) {
        (true, ..) => readable(bytes),
        (_, true, _) => bytes.div_ceil(1 << 20).to_string(),
        (.., true) => bytes.to_string(),
        _ => (bytes / 1_024).to_string(),
    };
    let (mut status, mut total) = (0, 0);
    let paths = if options.rest.is_empty() { vec![".".to_owned()] } else { options.rest.clone() };
    for path in paths {
        // The folders on the way down to the current entry.
        let mut open: Vec<OpenFolder> = Vec::new();
        let full = call.path(&path);
        let stat = match call.system.with(|kernel| kernel.files.stat(&full, false)) {
            Ok(stat) => stat,
            Err(reason) => {
                call.err(format!("du: {path}: {reason}\n")).await;
                status = 1;
                continue;
            }
        };
        let mut next = Some((path.clone(), stat.kind, stat.size));
        loop {
            tokio::task::coop::consume_budget().await;
            if let Some((name, kind, size)) = next.take() {
                let blocks =
                    if kind == FileType::Directory { 4_096 } else { size.next_multiple_of(4_096) };
                let mut below = Vec::new();
                if kind == FileType::Directory {
                    let full = call.path(&name);
                    match call.system.with(|kernel| kernel.files.list(&full)) {
                        Ok(list) => {
                            let parent = name.trim_end_matches('/');
                            below.extend(list.into_iter().rev().map(|(name, stat)| {
                                (format!("{parent}/{name}"), stat.kind, stat.size)
                            }));
                        }
                        Err(reason) => {
                            call.err(format!("du: {name}: {reason}\n")).await;
                            status = 1;
                        }
                    }
                    open.push((name, blocks, below));
                } else {
                    if open.is_empty() || options.has('a') && open.len() <= depth {
                        call.out(format!("{}\t{name}\n", show(blocks))).await?;
                    }
                    match open.last_mut() {
                        Some((_, sum, _)) => *sum += blocks,
                        None => total += blocks,
                    }
                }
            }
            let Some((_, _, left)) = open.last_mut() else { break };
            next = left.pop();
            if next.is_none()
                && let Some((name, sum, _)) = open.pop()
            {
                if open.len() <= depth {
                    call.out(format!("{}\t{name}\n", show(sum))).await?;
                }
                match open.last_mut() {
                    Some((_, above, _)) => *above += sum,
                    None => total += sum,
                }
            }
        }
    }
    if options.has('c') {
        call.out(format!("{}\ttotal\n", show(total))).await?;
    }
    Ok(status)
}

/// `4.0K`
pub(super) fn readable(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1_000.0 && unit < 4 {
        value /= 1_024.0;
        unit += 1;
    }
    match unit {
        0 => bytes.to_string(),
        _ if value < 10.0 => format!("{value:.1}{}", ["", "K", "M", "G", "T"][unit]),
        _ => format!("{value:.0}{}", ["", "K", "M", "G", "T"][unit]),
    }
}
