//! Listing files: `ls`, `stat`, `df`, `readlink`, with the texts of toybox, Android's set of small
//! programs since 6.0. Those of toolbox are in [`old`].

pub(super) mod old;

use super::Invocation;
use super::clock::date_time;
use super::options::{Options, Outcome};
use super::paths::{readable, resolved};
use crate::files::{Error, FileType, Files, Stat, absolute};

/// Maximum depth of `ls -R`.
const MAX_DEPTH: usize = 64;

/// A file to list: its name, what it is, and how many links it has.
struct Entry {
    name: String,
    stat: Stat,
    links: usize,
}

impl Entry {
    /// An entry at a path, with what a link points to if `follow` is set and that is there.
    fn new(files: &Files, path: &str, name: String, follow: bool) -> Result<Self, Error> {
        let own = files.stat(path, false)?;
        let stat = if follow { files.stat(path, true).unwrap_or(own) } else { own };
        // A folder is in itself, and above its folders.
        let links = match stat.kind {
            FileType::Directory => {
                let below = files.list(path).unwrap_or_default();
                2 + below.iter().filter(|(_, stat)| stat.kind == FileType::Directory).count()
            }
            _ => 1,
        };
        Ok(Self { name, stat, links })
    }

    /// KiB on the disk, in blocks of 4.
    fn blocks(&self) -> u64 {
        match self.stat.kind {
            FileType::File | FileType::Directory => self.stat.size.div_ceil(4_096) * 4,
            FileType::Link | FileType::Device => 0,
        }
    }
}

/// `ls [-1ACFHLNRSZabcdfghiklmnopqrstux] [-w COLUMNS] [PATH…]`; `--color` has no effect.
pub(super) async fn ls(call: &Invocation) -> Outcome {
    let long = [("color", 'N'), ("full-time", 'j'), ("show-control-chars", 'N')];
    let options = Options::read(&call.args, "ZgoACFHLNRSabcdfhiklmnpqrstuw:x1", &long)?;
    let has = |letter| options.has(letter);
    let width = usize::try_from(options.number('w')?.unwrap_or(80)).unwrap_or(80);
    let is_long = ['l', 'g', 'o', 'n', 'j'].into_iter().any(has);
    let given = if options.rest.is_empty() { vec![".".to_owned()] } else { options.rest.clone() };
    let mut status = 0;
    let many = given.len() > 1 || has('R');
    let (mut directories, mut plain) = (Vec::new(), Vec::new());
    for path in given {
        let full = call.path(&path);
        // A link given as an argument is followed, except by `ls -l`.
        let follow =
            has('L') || has('H') || path.ends_with('/') || !is_long && !has('d') && !has('F');
        let entry = call.system.with(|kernel| {
            let entry = Entry::new(&kernel.files, &full, path.clone(), follow)?;
            // The name of a link that is listed itself keeps its own kind.
            match entry.stat.kind {
                FileType::Directory => Ok(entry),
                _ => Entry::new(&kernel.files, &full, path.clone(), has('L') || has('H')),
            }
        });
        match entry {
            Ok(entry) if entry.stat.kind == FileType::Directory && !has('d') => {
                directories.push((path, 0));
            }
            Ok(entry) => plain.push(entry),
            Err(reason) => {
                call.err(format!("ls: {path}: {reason}\n")).await;
                status = 1;
            }
        }
    }
    // A title follows an empty line, if something was printed before it.
    let mut printed = !plain.is_empty();
    if printed {
        call.out(listed(plain, &options, width, false)).await?;
    }
    directories.sort();
    directories.reverse();
    while let Some((path, depth)) = directories.pop() {
        let full = call.path(&path);
        let entries = call.system.with(|kernel| {
            let files = &kernel.files;
            let mut names: Vec<String> =
                files.list(&full)?.into_iter().map(|(name, _)| name).collect();
            if !has('A') && !has('a') && !has('f') {
                names.retain(|name| !name.starts_with('.'));
            }
            if has('a') || has('f') {
                names.extend([".".to_owned(), "..".to_owned()]);
            }
            let entries = names.into_iter().map(|name| {
                let path = absolute(&full, &name);
                let parent = || Entry::new(files, &full, "..".to_owned(), true);
                Entry::new(files, &path, name, has('L')).or_else(|_| parent())
            });
            entries.collect::<Result<Vec<Entry>, Error>>()
        });
        let entries = match entries {
            Ok(entries) => entries,
            Err(reason) => {
                call.err(format!("ls: {path}: {reason}\n")).await;
                status = 1;
                continue;
            }
        };
        if many {
            let between = if std::mem::replace(&mut printed, true) { "\n" } else { "" };
            call.out(format!("{between}{path}:\n")).await?;
        }
        if has('R') && depth < MAX_DEPTH {
            let below = entries.iter().filter(|entry| {
                entry.stat.kind == FileType::Directory && entry.name != "." && entry.name != ".."
            });
            let mut below: Vec<(String, usize)> = below
                .map(|entry| (format!("{}/{}", path.trim_end_matches('/'), entry.name), depth + 1))
                .collect();
            below.sort();
            directories.extend(below.into_iter().rev());
        }
        call.out(listed(entries, &options, width, true)).await?;
    }
    Ok(status)
}

/// The entries as printed; `total` adds the sum of their blocks to long lists.
fn listed(mut entries: Vec<Entry>, options: &Options, width: usize, total: bool) -> String {
    let has = |letter| options.has(letter);
    if !has('f') {
        entries.sort_by(|a, b| {
            let by = match () {
                () if has('S') => b.stat.size.cmp(&a.stat.size),
                () if has('t') => b.stat.modified.cmp(&a.stat.modified),
                () => std::cmp::Ordering::Equal,
            };
            by.then_with(|| a.name.cmp(&b.name))
        });
        if has('r') {
            entries.reverse();
        }
    }
    let is_long = ['l', 'g', 'o', 'n', 'j'].into_iter().any(has);
    let rows = cells(&entries, options, is_long);
    let mut text = String::new();
    if total && (is_long || has('s')) {
        let sum: u64 = entries.iter().map(Entry::blocks).sum();
        let sum = if has('h') { readable(sum << 10) } else { sum.to_string() };
        text = format!("total {sum}\n");
    }
    if has('m') && !is_long {
        let mut column = 0;
        for (nth, row) in rows.iter().enumerate() {
            let last = nth + 1 == rows.len();
            if column > 0 && column + row.len() + 2 > width {
                text.push('\n');
                column = 0;
            } else if column > 0 {
                text.push(' ');
            }
            text += row;
            text.push_str(if last { "" } else { "," });
            column += row.len() + 2;
        }
        if !rows.is_empty() {
            text.push('\n');
        }
        return text;
    }
    let columns = if is_long || has('1') || !has('C') && !has('x') { 1 } else { rows.len() };
    text + &in_columns(&rows, columns, width, has('x'))
}

/// The rows in as many columns as fit, down or across.
fn in_columns(rows: &[String], most: usize, width: usize, across: bool) -> String {
    let mut columns = most.max(1);
    let place = |nth: usize, columns: usize| match across {
        true => (nth / columns, nth % columns),
        false => {
            let height = rows.len().div_ceil(columns);
            (nth % height, nth / height)
        }
    };
    let mut widths;
    loop {
        widths = vec![0; columns];
        for (nth, row) in rows.iter().enumerate() {
            let at = place(nth, columns).1;
            widths[at] = widths[at].max(row.chars().count());
        }
        if columns == 1 || widths.iter().map(|width| width + 2).sum::<usize>() <= width {
            break;
        }
        columns -= 1;
    }
    let mut lines = vec![String::new(); rows.len().div_ceil(columns)];
    for (nth, row) in rows.iter().enumerate() {
        let (line, column) = place(nth, columns);
        let indent: usize = widths[..column].iter().map(|width| width + 2).sum();
        let padded = format!("{:<indent$}{row}", lines[line]);
        lines[line] = padded;
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The text of each entry, with its columns aligned.
fn cells(entries: &[Entry], options: &Options, is_long: bool) -> Vec<String> {
    let has = |letter| options.has(letter);
    let size = |bytes: u64| if has('h') { readable(bytes) } else { bytes.to_string() };
    let owner = |id: u32| if has('n') { id.to_string() } else { user(id) };
    type Cell<'a> = (bool, bool, &'a dyn Fn(&Entry) -> String);
    let (own, group) = (|it: &Entry| owner(it.stat.uid), |it: &Entry| owner(it.stat.gid));
    // Whether the cell is shown, whether it is right-aligned, and its text.
    let columns: [Cell<'_>; 8] = [
        (has('i'), true, &|it| it.stat.inode.to_string()),
        (has('s'), true, &|it| size_of_blocks(it.blocks(), has('h'))),
        (is_long, false, &|it| letters(&it.stat)),
        (is_long, true, &|it| it.links.to_string()),
        (is_long && !has('g'), false, &own),
        (is_long && !has('o'), false, &group),
        // The files of this phone have no labels.
        (has('Z'), false, &|_| "?".to_owned()),
        (is_long, true, &|it| size(it.stat.size)),
    ];
    let mut rows = vec![String::new(); entries.len()];
    for (_, right, text) in columns.iter().filter(|(shown, ..)| *shown) {
        let texts: Vec<String> = entries.iter().map(text).collect();
        let width = texts.iter().map(String::len).max().unwrap_or(0);
        for (row, text) in rows.iter_mut().zip(texts) {
            *row += &if *right { format!("{text:>width$} ") } else { format!("{text:<width$} ") };
        }
    }
    let exact = has('j') || options.given().filter(|(letter, _)| *letter == 'l').count() > 1;
    for (row, entry) in rows.iter_mut().zip(entries) {
        if is_long {
            let format = if exact { "%F %T.000000000 +0000" } else { "%F %H:%M" };
            *row += &format!("{} ", date_time(entry.stat.modified).strftime(format));
        }
        *row += &shown(&entry.name, has('b'), has('q'));
        let target = entry.stat.target.as_ref().filter(|_| is_long);
        if has('F') && target.is_none() || has('p') && entry.stat.kind == FileType::Directory {
            *row += match entry.stat.kind {
                FileType::Directory => "/",
                FileType::Link => "@",
                FileType::File if entry.stat.mode & 0o111 != 0 => "*",
                _ => "",
            };
        }
        if let Some(target) = target {
            *row += &format!(" -> {target}");
        }
    }
    rows
}

fn size_of_blocks(blocks: u64, human: bool) -> String {
    if human { readable(blocks << 10) } else { blocks.to_string() }
}

/// A name with escapes (`-b`), or with `?` for what cannot be printed (`-q`).
fn shown(name: &str, escapes: bool, marks: bool) -> String {
    if !escapes && !marks {
        return name.to_owned();
    }
    let mut shown = String::new();
    for c in name.chars() {
        match c {
            c if c.is_control() && marks => shown.push('?'),
            '\n' => shown += "\\n",
            '\t' => shown += "\\t",
            ' ' if escapes => shown += "\\ ",
            '\\' if escapes => shown += "\\\\",
            c if c.is_control() => shown += &format!("\\{:03o}", u32::from(c)),
            c => shown.push(c),
        }
    }
    shown
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

/// `stat [-Lt] [-c FORMAT] FILE…`
pub(super) async fn stat(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "c:Lt", &[("format", 'c')])?;
    options.at_least(1)?;
    let terse = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %o";
    let usual = "  File: %N\n  Size: %s\t Blocks: %b\t IO Blocks: %B\t %F\nDevice: %Dh/%dd\t Inode: %i\t Links: \
                 %h\t Device type: %t,%T\nAccess: (0%a/%A)\tUid: (%5u/%8U)\tGid: (%5g/%8G)\nAccess: %x\nModify: \
                 %y\nChange: %z";
    let format = options.value('c').unwrap_or(if options.has('t') { terse } else { usual });
    let mut status = 0;
    for path in &options.rest {
        let full = call.path(path);
        let entry = call.system.with(|kernel| {
            let entry = Entry::new(&kernel.files, &full, path.clone(), options.has('L'))?;
            let followed = options.has('L') && kernel.files.stat(&full, true).is_err();
            if followed { Err(Error::NotFound) } else { Ok(entry) }
        });
        match entry {
            Err(reason) => {
                call.err(format!("stat: '{path}': {reason}\n")).await;
                status = 1;
            }
            Ok(entry) => call.out(format!("{}\n", formatted(format, &entry))).await?,
        }
    }
    Ok(status)
}

/// The number of the device that holds all files, which this phone does not have: that of `/data`
/// on a Pixel.
const DEVICE: u32 = 0xfe2d;

fn formatted(format: &str, entry: &Entry) -> String {
    let stat = &entry.stat;
    let (mut text, mut rest) = (String::new(), format);
    let at = date_time(stat.modified).strftime("%F %T.000000000 +0000").to_string();
    while let Some((before, after)) = rest.split_once('%') {
        text += before;
        let end = after.find(|c: char| !"-0123456789".contains(c)).unwrap_or(after.len());
        let (sizes, after) = after.split_at(end);
        let Some(letter) = after.chars().next() else {
            text.push('%');
            return text;
        };
        rest = &after[letter.len_utf8()..];
        let value = match letter {
            'a' => format!("{:o}", stat.mode),
            'A' => letters(stat),
            'b' => (entry.blocks() * 2).to_string(),
            'B' => "512".to_owned(),
            'd' => DEVICE.to_string(),
            'D' => format!("{DEVICE:x}"),
            'f' => format!("{:x}", stat.full_mode()),
            'F' => described(stat).to_owned(),
            'g' => stat.gid.to_string(),
            'G' => user(stat.gid),
            'h' => entry.links.to_string(),
            'i' => stat.inode.to_string(),
            'n' => entry.name.clone(),
            'N' => match &stat.target {
                Some(target) => format!("{} -> '{target}'", entry.name),
                None => entry.name.clone(),
            },
            'o' => "4096".to_owned(),
            's' => stat.size.to_string(),
            't' | 'T' => "0".to_owned(),
            'u' => stat.uid.to_string(),
            'U' => user(stat.uid),
            'x' | 'y' | 'z' => at.clone(),
            'X' | 'Y' | 'Z' => stat.modified.to_string(),
            '%' => "%".to_owned(),
            _ => "?".to_owned(),
        };
        let width = sizes.trim_start_matches('-').parse::<usize>().unwrap_or(0).min(4_096);
        text += &match sizes.starts_with('-') {
            true => format!("{value:<width$}"),
            false => format!("{value:>width$}"),
        };
    }
    text + rest
}

fn described(stat: &Stat) -> &'static str {
    match stat.kind {
        FileType::File if stat.size == 0 => "regular empty file",
        FileType::File => "regular file",
        FileType::Directory => "directory",
        FileType::Link => "symbolic link",
        FileType::Device => "character device",
    }
}

/// `readlink [-efmnq] PATH…`
pub(super) async fn readlink(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "nqmef", &[("canonicalize", 'f')])?;
    options.at_least(1)?;
    let whole = ['m', 'e', 'f'].iter().any(|letter| options.has(*letter));
    let mut status = 0;
    for path in &options.rest {
        let full = call.path(path);
        let stat = |follow| call.system.with(|kernel| kernel.files.stat(&full, follow));
        let target = match whole {
            false => stat(false).ok().and_then(|stat| stat.target),
            true if options.has('e') && stat(true).is_err() => None,
            true => match resolved(call, path) {
                Ok(path) => Some(path),
                Err(_) => options.has('m').then(|| full.clone()),
            },
        };
        match target {
            Some(target) => {
                call.out(format!("{target}{}", if options.has('n') { "" } else { "\n" })).await?;
            }
            None => status = 1,
        }
    }
    Ok(status)
}

/// `df [-HPahik] [PATH…]`: everything is on one file system.
pub(super) async fn df(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "HPkhiat:", &[])?;
    let (used, all) = call.system.with(|kernel| kernel.files.usage());
    let human = options.has('h') || options.has('H');
    let size = |bytes: u64| if human { readable(bytes) } else { (bytes / 1_024).to_string() };
    let titles = match human {
        true => ["Filesystem", "Size", "Used", "Avail", "Use%", "Mounted on"],
        false => ["Filesystem", "1K-blocks", "Used", "Available", "Use%", "Mounted on"],
    };
    let row = [
        "/dev/fuse".to_owned(),
        size(all),
        size(used),
        size(all.saturating_sub(used)),
        format!("{}%", (used * 100).div_ceil(all.max(1))),
        "/storage/emulated".to_owned(),
    ];
    let mut rows = vec![titles.map(str::to_owned)];
    let (mut status, mut errors) = (0, String::new());
    for path in &options.rest {
        let full = call.path(path);
        match call.system.with(|kernel| kernel.files.stat(&full, true)) {
            Ok(_) => rows.push(row.clone()),
            Err(reason) => {
                errors += &format!("df: '{path}': {reason}\n");
                status = 1;
            }
        }
    }
    if options.rest.is_empty() {
        rows.push(row);
    }
    let least = if human { [14, 5, 4, 5, 4, 0] } else { [14, 9, 4, 9, 4, 0] };
    let widths: [usize; 6] = std::array::from_fn(|at| {
        rows.iter().map(|row| row[at].len()).max().unwrap_or(0).max(least[at])
    });
    for [name, all, used, free, share, place] in rows {
        let [first, second, third, fourth, fifth, _] = widths;
        call.out(format!(
            "{name:<first$} {all:>second$} {used:>third$} {free:>fourth$} {share:>fifth$} {place}\n"
        ))
        .await?;
    }
    call.err(errors).await;
    Ok(status)
}
