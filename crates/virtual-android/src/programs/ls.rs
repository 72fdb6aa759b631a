//! Listing files: `ls`, `stat`, `df`, `readlink`, with the texts of toybox, Android's set of small
//! programs since 6.0. Those of toolbox are in [`old`].

mod old;

use super::Invocation;
use super::clock::date_time;
use crate::files::{Error, FileType, Stat, absolute};
use crate::io::Status;

/// Maximum depth of `ls -R`.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Default)]
struct LsOptions {
    long: bool,
    all: bool,
    almost: bool,
    itself: bool,
    recursive: bool,
    classify: bool,
    size_order: bool,
    time_order: bool,
    reverse: bool,
}

/// `ls [-1aAdlFRSrt] [PATH…]`
pub(super) async fn ls(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::ls(call).await;
    }
    let mut snapshot = LsOptions::default();
    let mut paths = Vec::new();
    for arg in &call.args {
        match arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            None => paths.push(arg.as_str()),
            Some(letters) => {
                for letter in letters.chars() {
                    match letter {
                        'l' | 'n' | 'g' | 'o' => snapshot.long = true,
                        'a' => snapshot.all = true,
                        'A' => snapshot.almost = true,
                        'd' => snapshot.itself = true,
                        'R' => snapshot.recursive = true,
                        'F' | 'p' => snapshot.classify = true,
                        'S' => snapshot.size_order = true,
                        't' => snapshot.time_order = true,
                        'r' => snapshot.reverse = true,
                        '1' | 'h' | 'i' | 's' | 'Z' | 'C' | 'x' | 'q' | 'b' | 'f' | 'L' | 'k'
                        | 'm' | 'u' | 'c' => {}
                        other => {
                            call.err(format!("ls: Unknown option '{other}' (see \"ls --help\")\n"))
                                .await;
                            return Ok(1);
                        }
                    }
                }
            }
        }
    }
    if paths.is_empty() {
        paths.push(".");
    }
    let mut status = 0;
    let many = paths.len() > 1 || snapshot.recursive;
    let mut directories = Vec::new();
    let mut plain = Vec::new();
    for path in paths {
        let full = call.path(path);
        // A link given as an argument is followed, except by `ls -l`.
        let follow = !snapshot.long || path.ends_with('/');
        match call.phone.with(|phone| {
            phone.files.stat(&full, follow).or_else(|_| phone.files.stat(&full, false))
        }) {
            Ok(stat) if stat.kind == FileType::Directory && !snapshot.itself => {
                directories.push(path.to_owned())
            }
            Ok(stat) => plain.push((path.to_owned(), stat)),
            Err(reason) => status = call.failed(path, reason).await?,
        }
    }
    if !plain.is_empty() {
        call.out(rows(plain, snapshot, false)).await?;
    }
    directories.reverse();
    while let Some(path) = directories.pop() {
        let full = call.path(&path);
        let listed: Result<_, Error> = call.phone.with(|phone| {
            let mut entries = phone.files.list(&full)?;
            if snapshot.all {
                let here = phone.files.stat(&full, true)?;
                let above =
                    phone.files.stat(&absolute(&full, ".."), true).unwrap_or_else(|_| here.clone());
                entries.extend([(".".to_owned(), here), ("..".to_owned(), above)]);
            } else if !snapshot.almost {
                entries.retain(|(name, _)| !name.starts_with('.'));
            }
            Ok(entries)
        });
        match listed {
            Err(reason) => status = call.failed(&path, reason).await?,
            Ok(entries) => {
                if many {
                    call.out(format!("{path}:\n")).await?;
                }
                if snapshot.recursive && path.matches('/').count() < MAX_DEPTH {
                    let below = entries.iter().filter(|(name, stat)| {
                        stat.kind == FileType::Directory && name != "." && name != ".."
                    });
                    let below: Vec<String> = below
                        .map(|(name, _)| format!("{}/{name}", path.trim_end_matches('/')))
                        .collect();
                    directories.extend(below.into_iter().rev());
                }
                call.out(rows(entries, snapshot, true)).await?;
                if many && !directories.is_empty() {
                    call.out("\n").await?;
                }
            }
        }
    }
    Ok(status)
}

fn rows(mut entries: Vec<(String, Stat)>, look: LsOptions, total: bool) -> String {
    entries.sort_by(|(a, of_a), (b, of_b)| {
        let by = if look.size_order {
            of_b.size.cmp(&of_a.size)
        } else if look.time_order {
            of_b.modified.cmp(&of_a.modified)
        } else {
            std::cmp::Ordering::Equal
        };
        by.then_with(|| a.cmp(b))
    });
    if look.reverse {
        entries.reverse();
    }
    let mut text = String::new();
    if look.long && total {
        let blocks: u64 = entries.iter().map(|(_, stat)| stat.size.div_ceil(4096) * 4).sum();
        text.push_str(&format!("total {blocks}\n"));
    }
    let width = |of: &dyn Fn(&Stat) -> String| {
        entries.iter().map(|(_, stat)| of(stat).len()).max().unwrap_or(0)
    };
    let owners = width(&|stat| user(stat.uid));
    let groups = width(&|stat| user(stat.gid));
    let sizes = width(&|stat| stat.size.to_string());
    for (name, stat) in &entries {
        if look.long {
            let at = date_time(stat.modified);
            text.push_str(&format!(
                "{} 1 {:<owners$} {:<groups$} {:>sizes$} {}-{:02}-{:02} {:02}:{:02} ",
                letters(stat),
                user(stat.uid),
                user(stat.gid),
                stat.size,
                at.year(),
                at.month(),
                at.day(),
                at.hour(),
                at.minute()
            ));
        }
        text.push_str(name);
        if look.classify {
            text.push_str(match stat.kind {
                FileType::Directory => "/",
                FileType::Link => "@",
                FileType::File if stat.mode & 0o111 != 0 => "*",
                _ => "",
            });
        }
        if let (true, Some(target)) = (look.long, &stat.target) {
            text.push_str(&format!(" -> {target}"));
        }
        text.push('\n');
    }
    text
}

/// `drwxr-xr-x`
pub(super) fn letters(stat: &Stat) -> String {
    let mut letters: Vec<char> = "-rwxrwxrwx".chars().collect();
    letters[0] = match stat.kind {
        FileType::File => '-',
        FileType::Directory => 'd',
        FileType::Link => 'l',
        FileType::Device => 'c',
    };
    for bit in 0..9 {
        if stat.mode & (0o400 >> bit) == 0 {
            letters[bit + 1] = '-';
        }
    }
    for (bit, place, name) in [(0o4000, 3, 's'), (0o2000, 6, 's'), (0o1000, 9, 't')] {
        if stat.mode & bit != 0 {
            letters[place] = if letters[place] == 'x' { name } else { name.to_ascii_uppercase() };
        }
    }
    letters.into_iter().collect()
}

/// The name of a user or group. Source: `android_filesystem_config.h`.
pub(super) fn user(id: u32) -> String {
    match id {
        0 => "root".to_owned(),
        1000 => "system".to_owned(),
        1007 => "log".to_owned(),
        1015 => "sdcard_rw".to_owned(),
        1028 => "sdcard_r".to_owned(),
        1023 => "media_rw".to_owned(),
        2000 => "shell".to_owned(),
        2001 => "cache".to_owned(),
        9997 => "everybody".to_owned(),
        app @ 10_000.. => format!("u0_a{}", app - 10_000),
        other => other.to_string(),
    }
}

/// `stat [-c FORMAT] FILE…`
pub(super) async fn stat(call: Invocation) -> Status {
    let (mut format, mut paths, mut follow) = (None, Vec::new(), false);
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-c" => format = args.next().cloned(),
            "-L" => follow = true,
            path => paths.push(path),
        }
    }
    if paths.is_empty() {
        call.err("stat: Needs 1 argument\n").await;
        return Ok(1);
    }
    let mut status = 0;
    for path in paths {
        let full = call.path(path);
        match call.phone.with(|phone| phone.files.stat(&full, follow)) {
            Err(reason) => {
                call.err(format!("stat: '{path}': {reason}\n")).await;
                status = 1;
            }
            Ok(stat) => {
                let text = match &format {
                    Some(format) => formatted(format, path, &stat),
                    None => format!(
                        "  File: {path}\n  Size: {}\t Blocks: {}\t IO Blocks: 512\t{}\nAccess: ({:04o}/{})\tUid: ({:>5}/{:>8})\tGid: ({:>5}/{:>8})\nModify: {}\n",
                        stat.size,
                        stat.size.div_ceil(512),
                        described(stat.kind),
                        stat.mode,
                        letters(&stat),
                        stat.uid,
                        user(stat.uid),
                        stat.gid,
                        user(stat.gid),
                        stat.modified
                    ),
                };
                call.out(format!("{}\n", text.trim_end_matches('\n'))).await?;
            }
        }
    }
    Ok(status)
}

fn formatted(format: &str, path: &str, stat: &Stat) -> String {
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push_str(path),
            Some('s') => text.push_str(&stat.size.to_string()),
            Some('a') => text.push_str(&format!("{:o}", stat.mode)),
            Some('A') => text.push_str(&letters(stat)),
            Some('f') => text.push_str(&format!("{:x}", stat.full_mode())),
            Some('u') => text.push_str(&stat.uid.to_string()),
            Some('U') => text.push_str(&user(stat.uid)),
            Some('g') => text.push_str(&stat.gid.to_string()),
            Some('G') => text.push_str(&user(stat.gid)),
            Some('Y') => text.push_str(&stat.modified.to_string()),
            Some('F') => text.push_str(described(stat.kind)),
            Some(other) => text.extend(['%', other]),
            None => text.push('%'),
        }
    }
    text
}

fn described(kind: FileType) -> &'static str {
    match kind {
        FileType::File => "regular file",
        FileType::Directory => "directory",
        FileType::Link => "symbolic link",
        FileType::Device => "character device",
    }
}

/// `readlink [-f] PATH`
pub(super) async fn readlink(call: Invocation) -> Status {
    let Some(path) = call.args.iter().rfind(|arg| !arg.starts_with('-')) else { return Ok(1) };
    let full = call.path(path);
    let target =
        call.phone.with(|phone| phone.files.stat(&full, false)).ok().and_then(|stat| stat.target);
    match (target, call.arg(0) == Some("-f")) {
        (Some(target), _) => call.out(format!("{target}\n")).await.map(|()| 0),
        (None, true) => call.out(format!("{full}\n")).await.map(|()| 0),
        (None, false) => Ok(1),
    }
}

/// `df [PATH]`
pub(super) async fn df(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::df(call).await;
    }
    let (used, all) = call.phone.with(|phone| phone.files.usage());
    let (used, all) = (used.div_ceil(1024), all / 1024);
    call.out(format!(
        "Filesystem     1K-blocks     Used Available Use% Mounted on\n/dev/fuse      {all:>9} {used:>8} {:>9} {:>3}% /storage/emulated\n",
        all - used,
        used * 100 / all.max(1)
    ))
    .await
    .map(|()| 0)
}
