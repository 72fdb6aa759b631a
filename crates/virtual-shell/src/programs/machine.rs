//! The machine: `hostname`, `nproc`, `free`, `sync`, `clear`, `mount`, `umount`, `tty`, `lsof`.

use super::Invocation;
use super::options::{Failure, Options, Outcome};

/// Memory in KiB, as `/proc/meminfo` of a phone with 4 GiB divides it.
const TOTAL: u64 = 3_826_764;
const FREE: u64 = 412_308;
const SHARED: u64 = 9_216;
const BUFFERS: u64 = 4_312;
const SWAP: u64 = 2_097_148;

/// What is mounted: device, place, type, options.
const MOUNTS: &[[&str; 4]] = &[
    ["/dev/block/dm-0", "/", "ext4", "ro,seclabel,relatime"],
    [
        "tmpfs",
        "/dev",
        "tmpfs",
        "rw,seclabel,nosuid,relatime,size=1913384k,nr_inodes=478346,mode=755",
    ],
    ["devpts", "/dev/pts", "devpts", "rw,seclabel,relatime,mode=600,ptmxmode=000"],
    ["proc", "/proc", "proc", "rw,relatime,gid=3009,hidepid=invisible"],
    ["sysfs", "/sys", "sysfs", "rw,seclabel,relatime"],
    ["selinuxfs", "/sys/fs/selinux", "selinuxfs", "rw,relatime"],
    [
        "tmpfs",
        "/mnt",
        "tmpfs",
        "rw,seclabel,nosuid,nodev,noexec,relatime,size=1913384k,nr_inodes=478346,mode=755,gid=1000",
    ],
    ["/dev/block/dm-2", "/vendor", "ext4", "ro,seclabel,relatime"],
    ["/dev/block/dm-1", "/product", "ext4", "ro,seclabel,relatime"],
    [
        "tmpfs",
        "/apex",
        "tmpfs",
        "rw,seclabel,nosuid,nodev,noexec,relatime,size=1913384k,nr_inodes=478346,mode=755",
    ],
    ["/dev/block/dm-5", "/data", "f2fs", "rw,lazytime,seclabel,nosuid,nodev,noatime"],
    [
        "/dev/fuse",
        "/storage/emulated",
        "fuse",
        "rw,lazytime,nosuid,nodev,noexec,noatime,user_id=0,group_id=0,allow_other",
    ],
];

/// What is mounted on a phone of Android 4.4.
const OLD_MOUNTS: &[[&str; 4]] = &[
    ["rootfs", "/", "rootfs", "ro,relatime"],
    ["tmpfs", "/dev", "tmpfs", "rw,seclabel,nosuid,relatime,mode=755"],
    ["devpts", "/dev/pts", "devpts", "rw,seclabel,relatime,mode=600"],
    ["proc", "/proc", "proc", "rw,relatime"],
    ["sysfs", "/sys", "sysfs", "rw,seclabel,relatime"],
    ["selinuxfs", "/sys/fs/selinux", "selinuxfs", "rw,relatime"],
    ["tmpfs", "/mnt/asec", "tmpfs", "rw,seclabel,relatime,mode=755,gid=1000"],
    ["tmpfs", "/mnt/obb", "tmpfs", "rw,seclabel,relatime,mode=755,gid=1000"],
    ["/dev/block/mmcblk0p22", "/system", "ext4", "ro,seclabel,relatime,data=ordered"],
    ["/dev/block/mmcblk0p23", "/data", "ext4", "rw,seclabel,nosuid,nodev,noatime,data=ordered"],
    [
        "/dev/fuse",
        "/mnt/shell/emulated",
        "fuse",
        "rw,nosuid,nodev,relatime,user_id=1023,group_id=1023,default_permissions,allow_other",
    ],
];

/// `mount`: lists; the shell user may not mount anything.
pub(super) async fn mount(call: &Invocation) -> Outcome {
    let old = !call.userland().toybox;
    let rows = if old { OLD_MOUNTS } else { MOUNTS };
    let operands: Vec<&String> = call.args.iter().filter(|arg| !arg.starts_with('-')).collect();
    if operands.is_empty() {
        for [device, place, kind, options] in rows {
            let text = match old {
                true => format!("{device} {place} {kind} {options} 0 0\n"),
                false => format!("{device} on {place} type {kind} ({options})\n"),
            };
            call.out(text).await?;
        }
        return Ok(0);
    }
    match operands.as_slice() {
        [.., place]
            if operands.len() > 1 || call.args.iter().any(|arg| arg.contains("remount")) =>
        {
            let place = place.as_str();
            if old {
                return Err(Failure::new("Operation not permitted"));
            }
            let device =
                rows.iter().find(|row| row[1] == place).map_or(operands[0].as_str(), |row| row[0]);
            Err(Failure::new(format!("'{device}'->'{place}': Permission denied")))
        }
        [place, ..] => {
            Err(Failure::new(format!("bad /etc/fstab: No such file or directory ({place})")))
        }
        [] => Ok(0),
    }
}

/// `free [-bkmght]`
pub(super) async fn free(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "htgmkb", &[])?;
    let unit = |kib: u64| {
        let bytes = kib << 10;
        match options.given().last().map(|(letter, _)| letter) {
            Some('h') => {
                let mut value = bytes as f64;
                let mut nth = 0;
                while value >= 1_000.0 && nth < 3 {
                    value /= 1_024.0;
                    nth += 1;
                }
                let unit = ["", "K", "M", "G"][nth];
                if value < 10.0 && nth > 0 {
                    format!("{value:.1}{unit}")
                } else {
                    format!("{value:.0}{unit}")
                }
            }
            Some('g') => (bytes >> 30).to_string(),
            Some('m') => (bytes >> 20).to_string(),
            Some('k') => kib.to_string(),
            _ => bytes.to_string(),
        }
    };
    let used = TOTAL - FREE;
    let row = |values: &[u64]| {
        values.iter().map(|value| format!("{:>12}", unit(*value))).collect::<String>()
    };
    let mut text = "\t\ttotal        used        free      shared     buffers\n".to_owned();
    text.push_str(&format!(
        "Mem:       {}\n",
        row(&[TOTAL, used, FREE, SHARED, BUFFERS]).trim_start_matches(' ')
    ));
    let (left, right) = (unit(used - BUFFERS), unit(FREE + BUFFERS));
    text.push_str(&format!("-/+ buffers/cache:      {left:>11} {right:>11}\n"));
    text.push_str(&format!("Swap:      {}\n", row(&[SWAP, 0, SWAP]).trim_start_matches(' ')));
    call.out(text).await?;
    Ok(0)
}

/// `nproc [--all]`
pub(super) async fn nproc(call: &Invocation) -> Outcome {
    Options::read(&call.args, "a", &[("all", 'a')])?;
    call.out("8\n").await?;
    Ok(0)
}

/// `sync`: nothing waits to be written.
pub(super) async fn sync(_: &Invocation) -> Outcome {
    Ok(0)
}

/// `clear`
pub(super) async fn clear(call: &Invocation) -> Outcome {
    call.out("\x1b[2J\x1b[H").await?;
    Ok(0)
}

/// `lsof [-lt] [-p PID,…] [FILE…]`: the shell user sees only its own programs, and of these the
/// folder, the program and the standard streams.
pub(super) async fn lsof(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "lp:t", &[])?;
    let wanted: Option<Vec<&str>> = options.value('p').map(|list| list.split(',').collect());
    let mut text = String::new();
    for row in call.system.processes().iter().filter(|row| row.ours()) {
        let pid = row.pid.to_string();
        if wanted.as_ref().is_some_and(|wanted| !wanted.contains(&pid.as_str()))
            || !options.rest.is_empty()
        {
            continue;
        }
        if options.has('t') {
            text.push_str(&format!("{pid}\n"));
            continue;
        }
        let name: String = row.name().chars().take(9).collect();
        let files = [
            ("cwd", "DIR", "/"),
            ("rtd", "DIR", "/"),
            ("txt", "REG", "/system/bin/toybox"),
            ("0", "CHR", "/dev/null"),
            ("1", "unix", "socket"),
            ("2", "unix", "socket"),
        ];
        for (fd, kind, path) in files {
            text.push_str(&format!(
                "{name:<9} {pid:>5} {:>10} {fd:>4} {kind:>9} {:>18} {:>9} {:>10} {path}\n",
                "shell", "", "", ""
            ));
        }
    }
    if !options.has('t') && !text.is_empty() {
        let title = format!(
            "{:<9} {:>5} {:>10} {:>4} {:>9} {:>18} {:>9} {:>10} {}\n",
            "COMMAND", "PID", "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF", "NODE", "NAME"
        );
        text.insert_str(0, &title);
    }
    call.out(text).await?;
    Ok(0)
}
