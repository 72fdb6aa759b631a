//! What differs between the releases of Android that the phone can be, in one table.
//!
//! Begin at [`RELEASES`]. To add a release, add its row; where it needs a manner that no row has yet, add a field, and ask it where the
//! manner is shown. Programs ask [`Release`], never the number of a release, except to print it.
//!
//! Sources: for 4.4 the recorded Android 4.4.4 (`android-4.4.4` of the captures: 233 commands on a running system) and what the sources of
//! that release say where nothing was recorded; for 14 those named beside each program. Features: banners that people have shown of phones and emulators with 9, 11 and 14, and
//! `supported_features` in `transport.cpp` of AOSP's adb.

/// How a release makes the programs that ask system services: `am`, `pm`, `input`, `wm`, `settings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each is a Java program of its own, which prints its usage when it is asked wrongly.
    Java,
    /// Each is a word for `cmd SERVICE`; the service answers.
    Service,
}

/// One release.
#[derive(Debug)]
pub(crate) struct Release {
    /// How callers choose it.
    pub(crate) name: &'static str,
    /// Its first number.
    pub(crate) major: u32,
    /// `ro.build.version.release`
    pub(crate) version: &'static str,
    /// `ro.build.id`
    pub(crate) build: &'static str,
    /// `ro.build.version.security_patch`, which there is since 6.
    pub(crate) security_patch: &'static str,
    /// What `date` calls the zone.
    pub(crate) utc: &'static str,
    /// What adbd announces, in its order and as far as this phone serves it: nothing before 7.
    pub(crate) features: &'static str,
    /// Whether adbd has `exec:` and `shell,…:`; without them each command runs in a terminal.
    pub(crate) raw_shells: bool,
    /// Whether adbd leads places on the phone to its hosts (`reverse:`, since 5).
    pub(crate) reverse: bool,
    /// Whether a raw capture names its colour space, since 9.
    pub(crate) colour_space: bool,
    /// Whether adbd takes no payload above 4 KiB and wants sums (protocol 0x01000000).
    pub(crate) small_packets: bool,
    /// The longest name of a service that is taken, in bytes.
    pub(crate) longest_service: usize,
    /// Programs of ours that it has not.
    pub(crate) missing: &'static [&'static str],
    /// Scripts that hand their arguments on as `$*` without quotes: a space in one makes two, and a `*` becomes file names.
    pub(crate) splitting: &'static [&'static str],
    /// See [`Form`].
    pub(crate) form: Form,
    /// What the shell says of a program that is not there.
    pub(crate) not_found: &'static str,
    /// `$PATH`
    pub(crate) path: &'static str,
    /// Whether the prompt begins with the user's name.
    pub(crate) prompt_names_user: bool,
    /// Links in the file tree, path and target.
    pub(crate) links: &'static [(&'static str, &'static str)],
    /// Where `uiautomator dump` writes when no file is named.
    pub(crate) dump_file: &'static str,
    /// Whether a password field's dots stand in a dump.
    pub(crate) dots_in_dumps: bool,
    /// Whether `uiautomator` dies of a character beyond the basic plane.
    pub(crate) dump_dies_of_emoji: bool,
    /// Whether files are listed by toybox, which came with 6, or by the older toolbox.
    pub(crate) toybox: bool,
}

/// What adbd announces from Android 12 on. Left out, because this phone does not serve it: `apex` (before `abb`), `remount_shell`,
/// `track_app` (after `abb_exec`), `openscreen_mdns`; and `devicetracker_proto_format`, `devraw`, `app_info`, `server_status` of 16.
const SINCE_12: &str = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,abb,fixed_push_symlink_timestamp,abb_exec,sendrecv_v2,\
                        sendrecv_v2_brotli,sendrecv_v2_lz4,sendrecv_v2_zstd,sendrecv_v2_dry_run_send";

/// All releases, oldest first.
static RELEASES: [Release; 6] = [
    Release {
        name: "4.4",
        major: 4,
        version: "4.4.4",
        build: "KTU84Q",
        security_patch: "",
        utc: "GMT",
        features: "",
        raw_shells: false,
        reverse: false,
        colour_space: false,
        small_packets: true,
        // `smart_socket_enqueue` in the adb of those days: the adb server refuses longer ones. This phone refuses them itself, so that
        // it does not take the server to find out.
        longest_service: 1_024,
        // `ALL_TOOLS` of that release's toolbox, and the captures `022`: no `cmd`.
        missing: &[
            "base64", "cmd", "env", "head", "killall", "md5sum", "pgrep", "pidof", "pkill", "stat",
            "tail", "uname", "wc", "which", "whoami",
        ],
        // The captures `158` and `416`: `input text 'a b&c'` came to two arguments.
        splitting: &["input", "monkey", "wm"],
        form: Form::Java,
        not_found: "not found",
        path: "/sbin:/vendor/bin:/system/sbin:/system/bin:/system/xbin",
        prompt_names_user: true,
        links: &[("/storage/emulated/legacy", "/storage/emulated/0"), ("/d", "/sys/kernel/debug")],
        dump_file: "/storage/emulated/legacy/window_dump.xml",
        dots_in_dumps: false,
        dump_dies_of_emoji: true,
        toybox: false,
    },
    Release {
        name: "9",
        major: 9,
        version: "9",
        build: "PQ3A.190801.002",
        security_patch: "2019-08-05",
        utc: "UTC",
        features: "cmd,stat_v2,shell_v2",
        raw_shells: true,
        reverse: true,
        colour_space: true,
        small_packets: false,
        longest_service: usize::MAX,
        missing: &[],
        splitting: &[],
        form: Form::Service,
        not_found: "not found",
        path: "/sbin:/system/sbin:/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
        prompt_names_user: false,
        links: &[("/bin", "/system/bin")],
        dump_file: "/sdcard/window_dump.xml",
        dots_in_dumps: true,
        dump_dies_of_emoji: false,
        toybox: true,
    },
    Release {
        name: "11",
        major: 11,
        version: "11",
        build: "RQ3A.211001.001",
        security_patch: "2021-10-01",
        utc: "UTC",
        features: "sendrecv_v2_brotli,sendrecv_v2,abb_exec,fixed_push_mkdir,fixed_push_symlink_timestamp,abb,shell_v2,cmd,ls_v2,stat_v2",
        raw_shells: true,
        reverse: true,
        colour_space: true,
        small_packets: false,
        longest_service: usize::MAX,
        missing: &[],
        splitting: &[],
        form: Form::Service,
        not_found: "inaccessible or not found",
        path: "/product/bin:/apex/com.android.runtime/bin:/system/bin:/vendor/bin",
        prompt_names_user: false,
        links: &[("/bin", "/system/bin")],
        dump_file: "/sdcard/window_dump.xml",
        dots_in_dumps: true,
        dump_dies_of_emoji: false,
        toybox: true,
    },
    Release {
        name: "13",
        major: 13,
        version: "13",
        build: "TQ3A.230901.001",
        security_patch: "2023-09-01",
        utc: "UTC",
        features: SINCE_12,
        raw_shells: true,
        reverse: true,
        colour_space: true,
        small_packets: false,
        longest_service: usize::MAX,
        missing: &[],
        splitting: &[],
        form: Form::Service,
        not_found: "inaccessible or not found",
        path: "/product/bin:/apex/com.android.runtime/bin:/system/bin:/vendor/bin",
        prompt_names_user: false,
        links: &[("/bin", "/system/bin")],
        dump_file: "/sdcard/window_dump.xml",
        dots_in_dumps: true,
        dump_dies_of_emoji: false,
        toybox: true,
    },
    Release {
        name: "14",
        major: 14,
        version: "14",
        build: "UP1A.231005.007",
        security_patch: "2023-10-05",
        utc: "UTC",
        features: SINCE_12,
        raw_shells: true,
        reverse: true,
        colour_space: true,
        small_packets: false,
        longest_service: usize::MAX,
        missing: &[],
        splitting: &[],
        form: Form::Service,
        not_found: "inaccessible or not found",
        path: "/product/bin:/apex/com.android.runtime/bin:/system/bin:/vendor/bin",
        prompt_names_user: false,
        links: &[("/bin", "/system/bin")],
        dump_file: "/sdcard/window_dump.xml",
        dots_in_dumps: true,
        dump_dies_of_emoji: false,
        toybox: true,
    },
    Release {
        name: "16",
        major: 16,
        version: "16",
        build: "BP2A.250605.031.A2",
        security_patch: "2025-06-05",
        utc: "UTC",
        features: SINCE_12,
        raw_shells: true,
        reverse: true,
        colour_space: true,
        small_packets: false,
        longest_service: usize::MAX,
        missing: &[],
        splitting: &[],
        form: Form::Service,
        not_found: "inaccessible or not found",
        path: "/product/bin:/apex/com.android.runtime/bin:/system/bin:/vendor/bin",
        prompt_names_user: false,
        links: &[("/bin", "/system/bin")],
        dump_file: "/sdcard/window_dump.xml",
        dots_in_dumps: true,
        dump_dies_of_emoji: false,
        toybox: true,
    },
];

impl Release {
    /// The row for a major release: its own, or that of the newest one before it, or the oldest.
    pub(crate) fn of(major: u32) -> &'static Self {
        let [oldest, ..] = &RELEASES;
        RELEASES.iter().rfind(|release| release.major <= major).unwrap_or(oldest)
    }

    /// The row of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        RELEASES.iter().find(|release| release.name == name)
    }

    /// The names of all rows, oldest first.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        RELEASES.iter().map(|release| release.name)
    }

    /// Whether this release has that program of ours.
    pub(crate) fn has(&self, program: &str) -> bool {
        !self.missing.contains(&program)
    }
}

#[cfg(test)]
mod tests {
    use super::{RELEASES, Release};

    #[test]
    fn a_release_between_two_rows_has_the_manners_of_the_older_one() {
        assert!(RELEASES.is_sorted_by_key(|release| release.major));
        let of = |major| Release::of(major).name;
        assert_eq!([of(2), of(8), of(9), of(12), of(20)], ["4.4", "4.4", "9", "11", "16"]);
    }
}
