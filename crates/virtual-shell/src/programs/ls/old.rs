//! `ls` and `df` of toolbox. Sources: `ls.c` and `df.c` in `system/core/toolbox` of Android 4.4,
//! the captures `019` and `023`, and a running 4.4.4.

use super::{Invocation, letters, user};
use crate::files::{Error, FileType, Stat};
use crate::io::{Abort, Status};
use crate::programs::clock::date_time;

/// Maximum depth of `ls -R`.
const MAX_DEPTH: usize = 64;

/// The letters of `ls`.
#[derive(Clone, Copy, Default)]
struct Options {
    long: bool,
    numeric: bool,
    size: bool,
    recursive: bool,
    itself: bool,
    /// Security labels, which this phone's files do not have.
    label: bool,
    all: bool,
    classify: bool,
    inode: bool,
}

/// `ls [-lnsRdZaFi] [PATH…]`: every letter may come before or after a path; each path is listed in
/// turn.
pub(in crate::programs) async fn ls(call: Invocation) -> Status {
    let (mut options, mut paths) = (Options::default(), Vec::new());
    for arg in &call.args {
        let Some(letters) = arg.strip_prefix('-') else {
            paths.push(arg.as_str());
            continue;
        };
        for letter in letters.chars() {
            match letter {
                'l' => options.long = true,
                'n' => (options.long, options.numeric) = (true, true),
                's' => options.size = true,
                'R' => options.recursive = true,
                'd' => options.itself = true,
                'Z' => options.label = true,
                'a' => options.all = true,
                'F' => options.classify = true,
                'i' => options.inode = true,
                other => {
                    call.err(format!("ls: Unknown option '-{other}'. Aborting.\n")).await;
                    return Ok(1);
                }
            }
        }
    }
    if paths.is_empty() {
        paths.push(".");
    }
    let mut status = 0;
    for path in paths {
        if !listed(&call, path, options).await? {
            status = 1;
        }
    }
    Ok(status)
}

/// Lists one argument; `false` if that failed.
async fn listed(call: &Invocation, path: &str, options: Options) -> Result<bool, Abort> {
    let full = call.path(path);
    // Only a slash at the end follows a link.
    let found = match path {
        "" => Err(Error::NotFound),
        path => call.system.with(|kernel| kernel.files.stat(&full, path.ends_with('/'))),
    };
    match found {
        Err(reason) => {
            call.err(format!("{path}: {reason}\n")).await;
            Ok(false)
        }
        Ok(stat) if stat.kind == FileType::Directory && !options.itself => {
            folder(call, path, options).await
        }
        Ok(stat) => {
            print(call, &full, path, &stat, options).await?;
            Ok(true)
        }
    }
}

/// Lists a folder, and those in it if asked to.
async fn folder(call: &Invocation, path: &str, options: Options) -> Result<bool, Abort> {
    let mut open = vec![path.to_owned()];
    let mut right = true;
    while let Some(path) = open.pop() {
        if options.recursive {
            call.out(format!("\n{path}:\n")).await?;
        }
        let full = call.path(&path);
        let entries = match call.system.with(|kernel| kernel.files.list(&full)) {
            Ok(entries) => entries,
            Err(reason) => {
                call.err(format!("opendir failed, {reason}\n")).await;
                right = false;
                continue;
            }
        };
        let entries: Vec<(String, Stat)> =
            entries.into_iter().filter(|(name, _)| options.all || !name.starts_with('.')).collect();
        if options.size {
            let sum: u64 = entries.iter().map(|(_, stat)| blocks(stat)).sum();
            call.out(format!("total {sum}\n")).await?;
        }
        let below = |name: &str| format!("{}/{name}", path.trim_end_matches('/'));
        for (name, stat) in &entries {
            print(call, &call.path(&below(name)), name, stat, options).await?;
        }
        if options.recursive && path.matches('/').count() < MAX_DEPTH {
            let folders = entries.iter().filter(|(_, stat)| stat.kind == FileType::Directory);
            open.extend(folders.rev().map(|(name, _)| below(name)));
        }
    }
    Ok(right)
}

/// Prints one file. A long row has only the last part of its name.
async fn print(
    call: &Invocation,
    full: &str,
    name: &str,
    stat: &Stat,
    options: Options,
) -> Result<(), Abort> {
    if options.label {
        // The kernel has no labels for them, so the program prints nothing.
        return Ok(());
    }
    let inode = match options.inode {
        true => format!("{:>8} ", stat.inode),
        false => String::new(),
    };
    if options.long {
        let name = name.rsplit('/').next().unwrap_or_default();
        return call.out(format!("{inode}{}", row(name, stat, options.numeric))).await;
    }
    let size = match options.size {
        true => format!("{} ", blocks(stat)),
        false => String::new(),
    };
    let mut kind = String::new();
    if options.classify {
        kind.push(letter(stat));
        if stat.kind == FileType::Link {
            match call.system.with(|kernel| kernel.files.stat(full, true)) {
                Ok(target) => kind.push(letter(&target)),
                Err(reason) => {
                    call.err(format!("stat '{full}' failed: {reason}\n")).await;
                    kind.push('?');
                }
            }
        }
        kind.push(' ');
    }
    call.out(format!("{inode}{size}{kind}{name}\n")).await
}

/// The size in KiB, in blocks of 4.
fn blocks(stat: &Stat) -> u64 {
    stat.size.div_ceil(4_096) * 4
}

fn letter(stat: &Stat) -> char {
    match stat.kind {
        FileType::File => '-',
        FileType::Directory => 'd',
        FileType::Link => 'l',
        FileType::Device => 'c',
    }
}

/// A row of `ls -l`: `listfile_long`. Only files have a size; a device has its numbers.
fn row(name: &str, stat: &Stat, numeric: bool) -> String {
    let at = date_time(stat.modified).strftime("%Y-%m-%d %H:%M").to_string();
    let owner = |id: u32| if numeric { id.to_string() } else { user(id) };
    let size = match stat.kind {
        FileType::File => format!("{:>8}", stat.size),
        // The numbers of `/dev/null`; this phone's devices are all of that kind.
        FileType::Device => format!("{:>3}, {:>3}", 1, 3),
        FileType::Directory | FileType::Link => " ".repeat(8),
    };
    let target = stat.target.as_ref().map_or_else(String::new, |target| format!(" -> {target}"));
    format!(
        "{} {:<8} {:<8} {size} {at} {name}{target}\n",
        letters(stat),
        owner(stat.uid),
        owner(stat.gid)
    )
}

/// Mounted file systems beside `/data`: path, total and used bytes, block size. The capture
/// `023-df` without the vendor's; memory and the system partition are those of the phone that
/// [`crate::files`] describes.
const MOUNTS: [(&str, u64, u64, u32); 6] = [
    ("/dev", 503 << 20, 128 << 10, 4_096),
    ("/mnt/asec", 503 << 20, 0, 4_096),
    ("/mnt/obb", 503 << 20, 0, 4_096),
    ("/system", 384 << 20, 168 << 20, 4_096),
    ("/cache", 55 << 20, 15 << 10, 1_024),
    ("/mnt/shell/emulated", 0, 0, 4_096),
];

/// `df [PATH…]`: a path's row has the figures of its file system. There are no options.
pub(in crate::programs) async fn df(call: Invocation) -> Status {
    let (used, all) = call.system.with(|kernel| kernel.files.usage());
    let size = |bytes: u64| match bytes {
        0..0x10_0000 => format!("{:.1}K", bytes as f64 / 1_024.0),
        0x10_0000..0x4000_0000 => format!("{:.1}M", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1}G", bytes as f64 / 1_073_741_824.0),
    };
    // Shared storage is a folder of `/data`.
    let figures = |path: &str| {
        let below = |(folder, ..): &&(&str, u64, u64, u32)| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match MOUNTS.iter().find(below) {
            Some(&(_, all, used, block)) if all > 0 => (all, used, block),
            _ => (all, used, 4_096),
        }
    };
    let row = |path: &str, full: &str| {
        let (all, used, block) = figures(full);
        format!(
            "{path:<20}{:>9}{:>9}{:>9}   {block}\n",
            size(all),
            size(used),
            size(all.saturating_sub(used))
        )
    };
    call.out("Filesystem               Size     Used     Free   Blksize\n").await?;
    if call.args.is_empty() {
        let (before, after) = MOUNTS.split_at(4);
        let paths = before.iter().map(|mount| mount.0).chain(["/data"]);
        let rows: String =
            paths.chain(after.iter().map(|mount| mount.0)).map(|path| row(path, path)).collect();
        return call.out(rows).await.map(|()| 0);
    }
    let mut status = 0;
    for path in &call.args {
        let full = call.path(path);
        match call.system.with(|kernel| kernel.files.stat(&full, true)) {
            Ok(_) => call.out(row(path, &full)).await?,
            Err(reason) => {
                call.err(format!("{path}: {reason}\n")).await;
                status = 1;
            }
        }
    }
    Ok(status)
}
