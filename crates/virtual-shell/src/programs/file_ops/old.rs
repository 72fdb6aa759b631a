//! Changing files with the programs of toolbox, Android's set of small programs before 6.0: `rm`,
//! `mkdir`, `mv`, `cp` and others. Sources: their files in `system/core/toolbox` of Android 4.4
//! (`cp` is NetBSD's), and a running 4.4.4.
//!
//! A program that fails returns -1 here, which a shell reports as 255.

use super::{Copying, Invocation, copy, remove};
use crate::files::{Error, FileType, Files};
use crate::io::Status;
use crate::programs::getopt::options;

const FAILED: Status = Ok(255);

/// Prints a usage and returns the status of one.
async fn usage(call: &Invocation, text: &str) -> Status {
    call.err(text).await;
    FAILED
}

/// `rm [-rR] [-f] PATH…`
pub(in crate::programs) async fn rm(call: Invocation) -> Status {
    let (errors, letters, paths) = options(&call, "frR");
    call.err(errors.concat()).await;
    if paths.is_empty() {
        return usage(&call, "Usage: rm [-rR] [-f] <target>\n").await;
    }
    let recursive = letters.contains(['r', 'R']);
    let force = letters.contains('f');
    let mut failed = false;
    for path in paths {
        let full = call.path(path);
        let removed = call.system.with(|kernel| {
            // unlink(2) finds a read-only file system before it looks for the file; `rm -r` looks
            // for it first.
            if !recursive {
                kernel.files.permits_changes_beside(&full)?;
            }
            remove(&mut kernel.files, &full, recursive)
        });
        match removed {
            Ok(()) => {}
            Err(Error::NotFound) if force => {}
            Err(reason) => {
                failed = true;
                call.err(format!("rm failed for {path}, {reason}\n")).await;
            }
        }
    }
    match (failed, force) {
        (false, _) => Ok(0),
        (true, true) => Ok(1),
        (true, false) => FAILED,
    }
}

/// `rmdir PATH…`: ends at the first that fails.
pub(in crate::programs) async fn rmdir(call: Invocation) -> Status {
    if call.args.is_empty() {
        return usage(&call, "rmdir <directory>\n").await;
    }
    for path in &call.args {
        let full = call.path(path);
        let removed = call.system.with(|kernel| {
            kernel.files.permits_changes_beside(&full)?;
            match kernel.files.stat(&full, false)?.kind {
                FileType::Directory => kernel.files.remove(&full, true),
                _ => Err(Error::NotADirectory),
            }
        });
        if let Err(reason) = removed {
            call.err(format!("rmdir failed for {path}, {reason}\n")).await;
            return FAILED;
        }
    }
    Ok(0)
}

/// `mkdir [-p] PATH…`: ends at the first that fails. Any other option is a name.
pub(in crate::programs) async fn mkdir(call: Invocation) -> Status {
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let (parents, paths) = match args.as_slice() {
        ["-p" | "--parents", paths @ ..] => (true, paths),
        ["--help", ..] => (false, &[][..]),
        paths => (false, paths),
    };
    if paths.is_empty() {
        return usage(
            &call,
            "mkdir [OPTION] <target>\n    --help           display usage and exit\n    -p, --parents    create parent directories as needed\n",
        )
        .await;
    }
    for path in paths {
        let full = call.path(path);
        let ends = full.match_indices('/').skip(1).map(|(at, _)| at).filter(|_| parents);
        for end in ends.chain([full.len()]) {
            let here = &full[..end];
            let made = call.system.with(|kernel| match kernel.files.stat(here, true) {
                Ok(_) if parents => Ok(()),
                _ => kernel.files.make_directory(here, 0o777 & !call.umask),
            });
            if let Err(reason) = made {
                let named = if parents { here } else { path };
                call.err(format!("mkdir failed for {named}, {reason}\n")).await;
                return FAILED;
            }
        }
    }
    Ok(0)
}

/// `touch [-alm] [-t TIME] FILE`: one file. It prints nothing about one that cannot be created.
pub(in crate::programs) async fn touch(call: Invocation) -> Status {
    let (mut path, mut time) = (None, None);
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let right = match arg.strip_prefix('-') {
            Some("a" | "l" | "m") => true,
            Some("t") => {
                time = args.next();
                time.is_some()
            }
            Some(_) => false,
            None => path.replace(arg).is_none(),
        };
        if !right {
            call.err("touch: usage: touch [-alm] [-t YYYYMMDD[.hhmmss]] <file>\n").await;
            return Ok(1);
        }
    }
    let Some(path) = path else {
        call.err("touch: no file specified\n").await;
        return Ok(1);
    };
    let full = call.path(path);
    let given = time.and_then(super::super::clock::given_time);
    let touched = call.system.with(|kernel| {
        if kernel.files.stat(&full, true) == Err(Error::NotFound) {
            kernel.files.open_to_write(&full, 0o666 & !call.umask, true)?;
        }
        let time = given.unwrap_or(kernel.unix_time());
        kernel.files.set_modified(&full, true, time)
    });
    if touched.is_err() { FAILED } else { Ok(0) }
}

/// `chmod [-R] MODE FILE…`, with an octal mode.
pub(in crate::programs) async fn chmod(call: Invocation) -> Status {
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let (recursive, args) = match args.as_slice() {
        ["-R" | "--recursive", rest @ ..] => (true, rest),
        all => (false, all),
    };
    let ([mode, paths @ ..], true) = (args, args.len() > 1) else {
        return usage(
            &call,
            "Usage: chmod [OPTION] <MODE> <FILE>\n  -R, --recursive         change files and directories recursively\n  --help                  display this help and exit\n",
        )
        .await;
    };
    let Some(mode) = u32::from_str_radix(mode, 8).ok().filter(|mode| *mode <= 0o7777) else {
        call.err("Bad mode\n").await;
        return FAILED;
    };
    let mut status = Ok(0);
    for path in paths {
        let full = call.path(path);
        let mut files = vec![full];
        while let Some(file) = files.pop() {
            let changed = call.system.with(|kernel| {
                if recursive && kernel.files.stat(&file, true)?.kind == FileType::Directory {
                    let below = kernel.files.list(&file)?.into_iter();
                    files.extend(below.map(|(name, _)| format!("{file}/{name}")));
                }
                kernel.files.set_mode(&file, mode).map_err(|reason| match reason {
                    Error::Denied => Error::NotPermitted,
                    other => other,
                })
            });
            if let Err(reason) = changed {
                call.err(format!("Unable to chmod {path}: {reason}\n")).await;
                status = FAILED;
            }
        }
    }
    status
}

/// `ln [-s] TARGET NAME`: this phone has no hard links, as on a file system without them.
pub(in crate::programs) async fn ln(call: Invocation) -> Status {
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let (symbolic, args) = match args.as_slice() {
        ["-s", rest @ ..] => (true, rest),
        all => (false, all),
    };
    let [target, path] = args else {
        return usage(&call, "ln [-s] <target> <name>\n").await;
    };
    let full = call.path(path);
    let linked = call.system.with(|kernel| match symbolic {
        _ if !symbolic && mount(&call.path(target)) != mount(&full) => Err(Error::CrossDevice),
        true if mount(&full) != SHARED_STORAGE => kernel.files.link(&full, target),
        _ => Err(Error::NotPermitted),
    });
    match linked {
        Ok(()) => Ok(0),
        Err(reason) => usage(&call, &format!("link failed {reason}\n")).await,
    }
}

/// Shared storage, a file system of its own (FUSE).
const SHARED_STORAGE: &str = "/storage/emulated";

/// The file system of a path.
fn mount(path: &str) -> &'static str {
    let shared = ["/sdcard", "/mnt/sdcard", SHARED_STORAGE];
    let is_below = |folder: &str| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if shared.into_iter().any(is_below) {
        return SHARED_STORAGE;
    }
    ["/system", "/data", "/cache", "/dev", "/proc", "/sys"]
        .into_iter()
        .find(|folder| is_below(folder))
        .unwrap_or("/")
}

fn is_folder(files: &Files, path: &str) -> bool {
    files.stat(path, true).is_ok_and(|stat| stat.kind == FileType::Directory)
}

/// `mv SOURCE… TARGET`: has no options and ends at the first that fails.
pub(in crate::programs) async fn mv(call: Invocation) -> Status {
    let Some((to, from)) = call.args.split_last().filter(|(_, from)| !from.is_empty()) else {
        return usage(&call, "USAGE: mv <source...> <destination>\n").await;
    };
    let target = call.path(to);
    for path in from {
        let source = call.path(path);
        let moved = call.system.with(|kernel| {
            let target = match is_folder(&kernel.files, &target) {
                true => {
                    let name = path.rsplit('/').next().unwrap_or_default();
                    format!("{}/{name}", target.trim_end_matches('/'))
                }
                false => target.clone(),
            };
            // rename(2): the file systems first, then whether they can be written, then the names.
            if mount(&source) != mount(&target) {
                return Err(Error::CrossDevice);
            }
            kernel.files.permits_changes_beside(&target)?;
            kernel.files.rename(&source, &target)
        });
        if let Err(reason) = moved {
            return usage(&call, &format!("failed on '{path}' - {reason}\n")).await;
        }
    }
    Ok(0)
}

const CP_USAGE: &str = "\
usage: cp [-R [-H | -L | -P]] [-f | -i] [-alNpv] src target
       cp [-R [-H | -L | -P]] [-f | -i] [-alNpv] src1 ... srcN directory
";

/// `cp [-R] [-f] SOURCE… TARGET`
pub(in crate::programs) async fn cp(call: Invocation) -> Status {
    let (errors, letters, args) = options(&call, "HLNPRafilprv");
    if let Some(first) = errors.first() {
        call.err(format!("{first}{CP_USAGE}")).await;
        return Ok(1);
    }
    let Some((to, from)) = args.split_last().filter(|(_, from)| !from.is_empty()) else {
        call.err(CP_USAGE).await;
        return Ok(1);
    };
    let target = call.path(to);
    let into = call.system.with(|kernel| is_folder(&kernel.files, &target));
    if from.len() > 1 && !into {
        call.err(CP_USAGE).await;
        return Ok(1);
    }
    let recursive = letters.contains(['R', 'r', 'a']);
    let mut status = 0;
    for path in from {
        let source = call.path(path);
        let name = source.rsplit('/').next().unwrap_or_default();
        let (target, shown) = match into {
            true => (
                format!("{}/{name}", target.trim_end_matches('/')),
                format!("{}/{name}", to.trim_end_matches('/')),
            ),
            false => (target.clone(), to.clone()),
        };
        let problem = call.system.with(|kernel| {
            let is_there = kernel.files.stat(&source, true);
            match is_there {
                Err(reason) => return Some(format!("{path}: {reason}")),
                Ok(stat) if stat.kind == FileType::Directory && !recursive => {
                    return Some(format!("{path} is a directory (not copied)."));
                }
                Ok(_) if source == target => {
                    return Some(format!("{shown} and {path} are identical (not copied)."));
                }
                Ok(_) => {}
            }
            let how = Copying { recursive, ..Copying::PLAIN };
            let stat = kernel.files.stat(&source, true);
            stat.and_then(|stat| {
                copy(&mut kernel.files, &source, &target, &stat, how, 0, &mut Vec::new())
            })
            .err()
            .map(|reason| format!("{shown}: {reason}"))
        });
        if let Some(problem) = problem {
            call.err(format!("cp: {problem}\n")).await;
            status = 1;
        } else if letters.contains('v') {
            call.out(format!("{path} -> {shown}\n")).await?;
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::{SHARED_STORAGE, mount};

    #[test]
    fn shared_storage_is_one_file_system_under_all_its_names() {
        for path in ["/sdcard", "/sdcard/a", "/storage/emulated/0/b", "/mnt/sdcard/c"] {
            assert_eq!(mount(path), SHARED_STORAGE, "{path}");
        }
        assert_eq!(["/data/local", "/datax", "/sys"].map(mount), ["/data", "/", "/sys"]);
    }
}
