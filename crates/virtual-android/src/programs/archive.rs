//! `tar`, `gzip`, `gunzip`, `zcat`, with toybox's options and texts.
//!
//! Archives are in the `ustar` format (POSIX, "pax interchange format"); long names have GNU's `L`
//! record before them.

use super::Invocation;
use super::options::{ALL, Failure, Options, Outcome, about};
use crate::files::{FileType, Stat, absolute};
use crate::io::Output;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder, MultiGzDecoder};
use std::io::Read as _;

/// A block of an archive.
const BLOCK: usize = 512;

/// Decompresses, up to a limit.
fn unzipped(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut all = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(ALL)
        .read_to_end(&mut all)
        .map_err(|_| Failure::new("bad magic"))?;
    Ok(all)
}

fn zipped(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut all = Vec::new();
    // Reading from memory does not fail.
    let _ = GzEncoder::new(bytes, Compression::new(level)).read_to_end(&mut all);
    all
}

/// `gzip [-19cdfkt] [FILE…]`, `gunzip`, `zcat`
pub(super) async fn gzip(call: &Invocation) -> Outcome {
    let options = Options::read(
        &call.args,
        "ncdfkt123456789",
        &[("stdout", 'c'), ("decompress", 'd'), ("keep", 'k'), ("force", 'f')],
    )?;
    let unzips = options.has('d') || call.name != "gzip" || options.has('t');
    let to_stdout = options.has('c') || call.name == "zcat";
    let level = options.given().filter_map(|(letter, _)| letter.to_digit(10)).last().unwrap_or(6);
    let mut status = 0;
    for path in options.files() {
        let done = one_file(call, &options, path, unzips, to_stdout, level).await;
        if let Err(Failure::Message(text, _)) = done {
            call.err(format!("{}: {text}\n", call.name)).await;
            status = 1;
        } else {
            done?;
        }
    }
    Ok(status)
}

async fn one_file(
    call: &Invocation,
    options: &Options,
    path: &str,
    unzips: bool,
    to_stdout: bool,
    level: u32,
) -> Outcome {
    let input = call.open(path).map_err(|reason| about(path, reason))?;
    let bytes = input.all(ALL).await;
    let result = if unzips {
        if GzDecoder::new(bytes.as_slice()).header().is_none() {
            return Err(Failure::new(format!("{path}: bad magic")));
        }
        unzipped(&bytes).map_err(|_| Failure::new(format!("{path}: corrupt data")))?
    } else {
        zipped(&bytes, level)
    };
    if options.has('t') {
        return Ok(0);
    }
    if to_stdout || path == "-" {
        call.out(result).await?;
        return Ok(0);
    }
    let target = match unzips {
        false => format!("{path}.gz"),
        true => match path.strip_suffix(".gz") {
            Some(name) => name.to_owned(),
            None => match path.strip_suffix(".tgz") {
                Some(name) => format!("{name}.tar"),
                None => return Err(Failure::new(format!("no .gz: {path}"))),
            },
        },
    };
    let (from, to) = (call.path(path), call.path(&target));
    let done = call.phone.with(|phone| {
        if !options.has('f') && phone.files.stat(&to, true).is_ok() {
            return Err(crate::files::Error::Exists);
        }
        let stat = phone.files.stat(&from, true)?;
        phone.files.write(&to, &result, stat.mode)?;
        phone.files.set_modified(&to, true, stat.modified)?;
        if options.has('k') { Ok(()) } else { phone.files.remove(&from, false) }
    });
    done.map_err(|reason| about(&target, reason))?;
    Ok(0)
}

/// `tar [-cxtvzO] [-f FILE] [-C FOLDER] [--exclude PATTERN] [NAME…]`
pub(super) async fn tar(call: &Invocation) -> Outcome {
    let mut args = call.args.clone();
    // The first argument needs no `-`.
    if let Some(first) = args.first_mut()
        && !first.starts_with('-')
    {
        first.insert(0, '-');
    }
    let options = Options::read(
        &args,
        "cxtvzOf:C:T:X:pojmhkaZJ",
        &[
            ("create", 'c'),
            ("extract", 'x'),
            ("list", 't'),
            ("verbose", 'v'),
            ("gzip", 'z'),
            ("file", 'f'),
            ("directory", 'C'),
            ("to-stdout", 'O'),
            ("exclude", 'X'),
        ],
    )?;
    let folder = options.values('C').fold(call.cwd.clone(), |cwd, folder| absolute(&cwd, folder));
    let stat = call.phone.with(|phone| phone.files.stat(&folder, true));
    if stat.is_err_and(|_| true) {
        let folder = options.value('C').unwrap_or(".");
        return Err(Failure::new(format!("chdir '{folder}': No such file or directory")));
    }
    let file = options.value('f').unwrap_or("-");
    if options.has('c') {
        if options.rest.is_empty() {
            return Err(Failure::new("empty archive"));
        }
        return create(call, &options, &folder, file).await;
    }
    if !options.has('x') && !options.has('t') {
        return Err(Failure::Usage("Needs -txc".into()));
    }
    let input = call.open(file).map_err(|reason| about(file, reason))?;
    let mut bytes = input.all(ALL).await;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        bytes = unzipped(&bytes)?;
    }
    extract(call, &options, &folder, &bytes).await
}

async fn create(call: &Invocation, options: &Options, folder: &str, file: &str) -> Outcome {
    let (mut archive, mut status) = (Vec::new(), 0);
    let mut open: Vec<String> = options.rest.iter().rev().cloned().collect();
    while let Some(name) = open.pop() {
        tokio::task::coop::consume_budget().await;
        if options
            .values('X')
            .any(|excluded| name == excluded || name.rsplit('/').next() == Some(excluded))
        {
            continue;
        }
        let path = absolute(folder, &name);
        let found = call.phone.with(|phone| {
            let stat = phone.files.stat(&path, false)?;
            let bytes = match stat.kind {
                FileType::File => phone.files.read(&path)?.as_ref().to_vec(),
                _ => Vec::new(),
            };
            let below = match stat.kind {
                FileType::Directory => phone.files.list(&path)?,
                _ => Vec::new(),
            };
            Ok::<_, crate::files::Error>((stat, bytes, below))
        });
        let (stat, bytes, below) = match found {
            Ok(found) => found,
            Err(reason) => {
                call.err(format!("tar: {name}: {reason}\n")).await;
                status = 1;
                continue;
            }
        };
        let folder = stat.kind == FileType::Directory;
        let shown = name.trim_start_matches('/');
        let shown =
            if folder { format!("{}/", shown.trim_end_matches('/')) } else { shown.to_owned() };
        if options.has('v') {
            call.err(format!("{shown}\n")).await;
        }
        let parent = name.trim_end_matches('/').to_owned();
        open.extend(below.into_iter().rev().map(|(name, _)| format!("{parent}/{name}")));
        if archive.len() + bytes.len() > ALL as usize {
            return Err(Failure::new("out of memory"));
        }
        header(&mut archive, &shown, &stat);
        padded(&mut archive, &bytes);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    if options.has('z') || file.ends_with(".gz") || file.ends_with(".tgz") {
        archive = zipped(&archive, 6);
    }
    let output = match file {
        "-" => call.io.stdout.clone(),
        path => call.create(path).map_err(|reason| about(path, reason))?,
    };
    output.write(&archive).await?;
    Ok(status)
}

fn padded(archive: &mut Vec<u8>, bytes: &[u8]) {
    archive.extend(bytes);
    archive.resize(archive.len().next_multiple_of(BLOCK), 0);
}

fn header(archive: &mut Vec<u8>, name: &str, stat: &Stat) {
    if name.len() > 99 {
        let mut long = stat.clone();
        (long.kind, long.size, long.target) = (FileType::File, name.len() as u64 + 1, None);
        block(archive, "././@LongLink", &long, b'L');
        padded(archive, &[name.as_bytes(), &[0]].concat());
    }
    let kind = match stat.kind {
        FileType::Directory => b'5',
        FileType::Link => b'2',
        FileType::Device => b'3',
        FileType::File => b'0',
    };
    block(archive, name, stat, kind);
}

fn block(archive: &mut Vec<u8>, name: &str, stat: &Stat, kind: u8) {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, most: usize, bytes: &[u8]| {
        let length = bytes.len().min(most);
        block[at..at + length].copy_from_slice(&bytes[..length]);
    };
    let size = if stat.kind == FileType::File { stat.size } else { 0 };
    put(0, 100, name.as_bytes());
    put(100, 8, format!("{:07o}", stat.mode & 0o7777).as_bytes());
    put(108, 8, format!("{:07o}", stat.uid).as_bytes());
    put(116, 8, format!("{:07o}", stat.gid).as_bytes());
    put(124, 12, format!("{size:011o}").as_bytes());
    put(136, 12, format!("{:011o}", stat.modified).as_bytes());
    put(148, 8, b"        ");
    put(156, 1, &[kind]);
    put(157, 100, stat.target.as_deref().unwrap_or_default().as_bytes());
    put(257, 8, b"ustar  \0");
    put(265, 32, super::ls::user(stat.uid).as_bytes());
    put(297, 32, super::ls::user(stat.gid).as_bytes());
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    archive.extend(block);
}

/// An entry of an archive.
struct Entry<'a> {
    name: String,
    target: String,
    kind: u8,
    mode: u32,
    uid: u64,
    gid: u64,
    modified: u64,
    bytes: &'a [u8],
}

/// The entry at the start of the bytes, and the bytes after it; `None` at the end of the archive.
fn entry(bytes: &[u8]) -> Result<Option<(Entry<'_>, &[u8])>, Failure> {
    let Some((block, rest)) = bytes.split_at_checked(BLOCK) else { return Ok(None) };
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let text = |at: usize, length: usize| {
        let field = &block[at..at + length];
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(length);
        String::from_utf8_lossy(&field[..end]).into_owned()
    };
    let octal =
        |at: usize, length: usize| u64::from_str_radix(text(at, length).trim(), 8).unwrap_or(0);
    let sum: u32 = block
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
        .sum();
    if &block[257..262] != b"ustar" || u64::from(sum) != octal(148, 8) {
        return Err(Failure::new("bad header"));
    }
    let prefix = if block[263] == b'0' { text(345, 155) } else { String::new() };
    let name = if prefix.is_empty() { text(0, 100) } else { format!("{prefix}/{}", text(0, 100)) };
    let size = octal(124, 12) as usize;
    let Some((data, _)) = rest.split_at_checked(size) else {
        return Err(Failure::new("short read"));
    };
    let rest = rest.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
    let entry = Entry {
        name,
        target: text(157, 100),
        kind: block[156],
        mode: octal(100, 8) as u32,
        uid: octal(108, 8),
        gid: octal(116, 8),
        modified: octal(136, 12),
        bytes: data,
    };
    Ok(Some((entry, rest)))
}

async fn extract(call: &Invocation, options: &Options, folder: &str, mut bytes: &[u8]) -> Outcome {
    let (mut long, mut status, mut found) = (None, 0, vec![false; options.rest.len()]);
    while let Some((mut entry, rest)) = entry(bytes)? {
        tokio::task::coop::consume_budget().await;
        bytes = rest;
        if entry.kind == b'L' {
            long = Some(String::from_utf8_lossy(entry.bytes).trim_end_matches('\0').to_owned());
            continue;
        }
        if let Some(name) = long.take() {
            entry.name = name;
        }
        if entry.kind == b'x' || entry.kind == b'g' {
            continue;
        }
        let plain = entry.name.trim_end_matches('/');
        let wanted = options.rest.iter().position(|name| {
            let name = name.trim_end_matches('/');
            plain == name || plain.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        });
        match wanted {
            Some(nth) => found[nth] = true,
            None if !options.rest.is_empty() => continue,
            None => {}
        }
        if options.has('t') {
            list(call, options, &entry).await?;
            continue;
        }
        if options.has('v') {
            call.err(format!("{}\n", entry.name)).await;
        }
        if options.has('O') {
            call.out(entry.bytes).await?;
            continue;
        }
        // Nothing is written outside of the folder.
        let path = absolute(folder, entry.name.trim_start_matches('/'));
        if path != folder && !path.starts_with(&format!("{}/", folder.trim_end_matches('/'))) {
            call.err(format!("tar: '{}' not under '{folder}'\n", entry.name)).await;
            status = 1;
            continue;
        }
        if let Err(reason) = write(call, &entry, &path).await? {
            call.err(format!("tar: {}: {reason}\n", entry.name)).await;
            status = 1;
        }
    }
    for (name, _) in options.rest.iter().zip(found).filter(|(_, found)| !found) {
        call.err(format!("tar: '{name}' not in archive\n")).await;
        status = 1;
    }
    Ok(status)
}

async fn list(call: &Invocation, options: &Options, entry: &Entry<'_>) -> Result<(), Failure> {
    if !options.has('v') {
        call.out(format!("{}\n", entry.name)).await?;
        return Ok(());
    }
    let (kind, target) = match entry.kind {
        b'5' => (FileType::Directory, None),
        b'2' => (FileType::Link, Some(format!(" -> {}", entry.target))),
        b'3' => (FileType::Device, None),
        _ => (FileType::File, None),
    };
    let stat = Stat {
        inode: 0,
        kind,
        mode: entry.mode,
        uid: entry.uid as u32,
        gid: entry.gid as u32,
        size: entry.bytes.len() as u64,
        modified: entry.modified,
        target: None,
    };
    let owner = format!("{}/{}", super::ls::user(stat.uid), super::ls::user(stat.gid));
    let at = super::clock::date_time(entry.modified);
    let time = format!(
        "{}-{:02}-{:02} {:02}:{:02}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute()
    );
    let letters = super::ls::letters(&stat);
    let target = target.unwrap_or_default();
    call.out(format!("{letters} {owner} {:>9} {time} {}{target}\n", stat.size, entry.name)).await?;
    Ok(())
}

async fn write(
    call: &Invocation,
    entry: &Entry<'_>,
    path: &str,
) -> Result<Result<(), crate::files::Error>, Failure> {
    use crate::files::Error;
    let opened = call.phone.with(|phone| {
        let files = &mut phone.files;
        // Folders above it that the archive does not contain.
        for (end, _) in path.match_indices('/').skip(1) {
            if files.stat(&path[..end], true).is_err() {
                files.make_directory(&path[..end], 0o755)?;
            }
        }
        match entry.kind {
            b'5' => match files.make_directory(path, entry.mode) {
                Ok(()) | Err(Error::Exists) => Ok(None),
                Err(reason) => Err(reason),
            },
            b'2' => {
                let _ = files.remove(path, false);
                files.link(path, &entry.target).map(|()| None)
            }
            b'3' | b'4' => Err(Error::Denied),
            _ => {
                let _ = files.remove(path, false);
                files.open_to_write(path, entry.mode, false).map(Some)
            }
        }
    });
    let opened = match opened {
        Ok(opened) => opened,
        Err(reason) => return Ok(Err(reason)),
    };
    if let Some(crate::files::OpenTarget::File(id)) = opened {
        Output::File(call.phone.clone(), id).write(entry.bytes).await?;
        let set = call.phone.with(|phone| phone.files.set_modified(path, true, entry.modified));
        return Ok(set);
    }
    Ok(Ok(()))
}
