//! The folders, links, devices and texts of a fresh phone, as `ls -l` shows them on Android 14.
//! Just a table and its reader.

use super::{Body, Contents, Files, Id, Node, ROOT, SHELL, SpecialFile};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Group of shared storage (`AID_MEDIA_RW`).
pub(super) const SHARED: u32 = 1023;

/// Path, mode, uid, gid, read-only. Modes as `ls -ld` shows them on Android 14.
const DIRECTORIES: &[(&str, u32, u32, u32, bool)] = &[
    ("/system", 0o755, 0, 0, true),
    ("/system/bin", 0o751, 0, SHELL, true),
    ("/system/app", 0o755, 0, 0, true),
    ("/system/etc", 0o755, 0, 0, true),
    ("/vendor", 0o755, 0, SHELL, true),
    ("/product", 0o755, 0, 0, true),
    ("/apex", 0o755, 0, 0, true),
    ("/dev", 0o755, 0, 0, true),
    ("/proc", 0o555, 0, 0, true),
    ("/proc/net", 0o555, 0, 0, true),
    ("/proc/self", 0o555, SHELL, SHELL, true),
    ("/proc/self/fd", 0o500, SHELL, SHELL, true),
    ("/mnt", 0o755, 0, 1000, true),
    ("/storage", 0o755, 0, SHARED - 8, true),
    ("/storage/self", 0o755, 0, 0, true),
    ("/storage/emulated", 0o755, 0, 0, true),
    ("/data", 0o771, 1000, 1000, false),
    ("/data/app", 0o771, 1000, 1000, false),
    ("/data/data", 0o771, 1000, 1000, false),
    ("/data/user", 0o711, 1000, 1000, false),
    ("/data/local", 0o751, 0, 0, false),
    ("/data/local/tmp", 0o771, SHELL, SHELL, false),
    ("/data/tombstones", 0o771, 1000, 1000, false),
    ("/storage/emulated/0", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/Alarms", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/Android", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/DCIM", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/Documents", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/Download", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/Movies", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/Music", 0o2770, 10_063, SHARED, false),
    ("/storage/emulated/0/Pictures", 0o2770, 10_063, SHARED, false),
];

const LINKS: &[(&str, &str)] = &[
    ("/sdcard", "/storage/emulated/0"),
    ("/storage/self/primary", "/storage/emulated/0"),
    ("/etc", "/system/etc"),
    ("/data/user/0", "/data/data"),
];

const DEVICES: &[(&str, SpecialFile)] = &[
    ("/dev/null", SpecialFile::Null),
    ("/dev/zero", SpecialFile::Zero),
    ("/dev/tty", SpecialFile::Stdout),
    ("/dev/stdin", SpecialFile::Stdin),
    ("/dev/stdout", SpecialFile::Stdout),
    ("/dev/stderr", SpecialFile::Stderr),
    ("/proc/self/fd/0", SpecialFile::Stdin),
    ("/proc/self/fd/1", SpecialFile::Stdout),
    ("/proc/self/fd/2", SpecialFile::Stderr),
];

const TEXTS: &[(&str, &str)] = &[
    // It is written when it is read.
    ("/proc/uptime", ""),
    ("/proc/version", "Linux version 6.1.0-virtual (thumbwire@memory) #1 SMP PREEMPT\n"),
    (
        "/proc/cpuinfo",
        "processor\t: 0\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd evtstrm aes\nCPU architecture: 8\n\nHardware\t: Virtual\n",
    ),
    (
        "/proc/meminfo",
        "MemTotal:        8046640 kB\nMemFree:         4012344 kB\nMemAvailable:    5630212 kB\n",
    ),
    (
        "/proc/net/unix",
        "Num       RefCount Protocol Flags    Type St Inode Path\n\
         0000000000000000: 00000002 00000000 00010000 0001 01 11223 /dev/socket/adbd\n\
         0000000000000000: 00000002 00000000 00010000 0001 01 11245 /dev/socket/logd\n",
    ),
    ("/system/etc/hosts", "127.0.0.1       localhost\n::1             ip6-localhost\n"),
];

pub(super) fn populate<'a>(
    files: &mut Files,
    programs: impl IntoIterator<Item = &'a str>,
    links: &[(&str, &'a str)],
    texts: &[(&str, &str)],
) {
    let node = |body, mode, uid, gid, read_only, modified| Node {
        body,
        mode,
        uid,
        gid,
        modified,
        read_only,
    };
    let now = files.now;
    let is_linked =
        |name: &str| links.iter().any(|(path, _)| path.strip_prefix("/system/bin/") == Some(name));
    for &(path, mode, uid, gid, read_only) in DIRECTORIES {
        place(files, path, node(Body::Directory(BTreeMap::new()), mode, uid, gid, read_only, now));
    }
    for &(path, target) in LINKS.iter().chain(links) {
        // Programs belong to the shell's group.
        let gid = if path.starts_with("/system/bin/") { SHELL } else { 0 };
        place(files, path, node(Body::Link(target.to_owned()), 0o777, 0, gid, true, now));
    }
    for &(path, special) in DEVICES {
        place(files, path, node(Body::Special(special), 0o666, 0, 0, true, now));
    }
    let kept = TEXTS.iter().filter(|(path, _)| texts.iter().all(|(other, _)| other != path));
    for &(path, text) in kept.chain(texts) {
        let body = Body::File(Contents(Arc::new(text.as_bytes().to_vec())));
        place(files, path, node(body, 0o444, 0, 0, true, now));
    }
    // Its programs, except those that are links to another one.
    let multicall = links.iter().filter(|(path, _)| path.starts_with("/system/bin/"));
    let multicall: BTreeSet<&str> = multicall.map(|(_, target)| *target).collect();
    let own = programs.into_iter().filter(|name| !is_linked(name) && !multicall.contains(name));
    for name in own.chain(multicall.iter().copied()) {
        let body = Body::File(Contents(Arc::new(b"\x7fELF\x02\x01\x01".to_vec())));
        place(files, &format!("/system/bin/{name}"), node(body, 0o755, 0, SHELL, true, now));
    }
}

fn place(files: &mut Files, path: &str, node: Node) {
    let mut parent: Id = ROOT;
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some(name) = parts.pop() else { return };
    for part in parts {
        if let Ok(Some(id)) = files.entries(parent).map(|entries| entries.get(part).copied()) {
            parent = id;
        }
    }
    files.used += match &node.body {
        Body::File(contents) => contents.0.len() as u64,
        _ => 0,
    };
    files.put(parent, name.to_owned(), node);
}
