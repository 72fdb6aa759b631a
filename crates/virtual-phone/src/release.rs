//! What differs between the releases of Android that the phone can be, in one table.
//!
//! Begin at [`RELEASES`]. Each row tells only what changed since the one before. To add a release, add its row; where it needs a manner
//! that no row has yet, add a field, and ask it where the manner is shown. Programs ask [`Release`], never the number of a release,
//! except to print it.
//!
//! Sources: for 4.4 the recorded Android 4.4.4 (`android-4.4.4` of the captures: 233 commands on a running system) and what the sources of
//! that release say where nothing was recorded; for the others emulators and phones of that release (`shell/**` of the captures, and the
//! reports that the tests of appium and auto-mobile hold, both Apache-2.0) and AOSP, as said beside each program. How reports are laid out
//! stands in [`shapes`]. Features: banners that people have shown of phones and emulators with 9, 11 and 14, and `supported_features` in
//! `transport.cpp` of AOSP's adb.

pub(crate) mod shapes;

use crate::packages::ways::{self, Ways};
use shapes::{Pixels, Shape, Thrown};

/// How a release makes the programs that ask system services: `am`, `pm`, `input`, `wm`, `settings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each is a Java program of its own, which prints its usage when it is asked wrongly.
    Java,
    /// Each is a word for `cmd SERVICE`; the service answers.
    Service,
}

/// How a release makes `input`, which was the last of them to become a word for `cmd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A Java program that looks at the number of its arguments before anything else.
    Counting,
    /// A Java program that takes its arguments one by one (`BaseCommand`).
    Program,
    /// A word for `cmd input`, since 12.
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
    /// `ro.build.date`, and the same in seconds.
    pub(crate) built: (&'static str, u64),
    /// `uname -r`
    pub(crate) kernel: &'static str,
    /// `ro.product.cpu.abilist`, the first of which is `ro.product.cpu.abi`.
    pub(crate) abis: &'static str,
    /// The oldest API level that apps may be made for; `ro.build.version.min_supported_target_sdk`, since 8.
    pub(crate) least_target: u32,
    /// A screen as phones had it then.
    pub(crate) pixels: Pixels,
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
    /// See [`Input`].
    pub(crate) input: Input,
    /// What `input` can be told to do.
    pub(crate) input_words: &'static [&'static str],
    /// What a bare `input` prints.
    pub(crate) input_usage: &'static str,
    /// Programs that ask a service, as a Java program of their own.
    pub(crate) java_programs: &'static [&'static str],
    /// See [`Thrown`].
    pub(crate) thrown: Thrown,
    /// How the reports of the system's services are laid out.
    pub(crate) shape: Shape,
    /// What it does otherwise about packages.
    pub(crate) packages: &'static Ways,
    /// What `id` says behind `groups=`.
    pub(crate) groups: &'static str,
    /// The word of `wm` that turns the screen.
    pub(crate) wm_rotation: Option<&'static str>,
    /// What a bare `wm` prints.
    pub(crate) wm_usage: &'static str,
    /// What `screencap -h` prints.
    pub(crate) screencap_usage: &'static str,
    /// Whether `am start -W` tells how the activity was launched, since 10; before it told `ThisTime`.
    pub(crate) launch_state: bool,
    /// Whether `ime` names the user it speaks of, since 10.
    pub(crate) ime_names_user: bool,
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
    /// Whether a dump tells `drawing-order` and `hint` of each node.
    pub(crate) drawing_order: bool,
    /// Whether a password field's dots stand in a dump.
    pub(crate) dots_in_dumps: bool,
    /// Whether `uiautomator` dies of a character beyond the basic plane.
    pub(crate) dump_dies_of_emoji: bool,
    /// Whether files are listed by toybox, which came with 6, or by the older toolbox.
    pub(crate) toybox: bool,
    /// Whether Java programs run by Dalvik, which wants a place for classes that it optimised.
    pub(crate) dalvik: bool,
    /// Whether a class file that can be written is refused, since 14.
    pub(crate) refuses_writable_classes: bool,
}

/// What adbd announces from Android 12 on. Left out, because this phone does not serve it: `apex` (before `abb`), `remount_shell` (after
/// `abb_exec`), `openscreen_mdns`.
const SINCE_12: &str = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,abb,fixed_push_symlink_timestamp,abb_exec,track_app,sendrecv_v2,\
                        sendrecv_v2_brotli,sendrecv_v2_lz4,sendrecv_v2_zstd,sendrecv_v2_dry_run_send";
/// And from 14 on; left out `devicetracker_proto_format`, `devraw`, `app_info` and `server_status` of 16.
const SINCE_14: &str = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,abb,fixed_push_symlink_timestamp,abb_exec,track_app,sendrecv_v2,\
                        sendrecv_v2_brotli,sendrecv_v2_lz4,sendrecv_v2_zstd,sendrecv_v2_dry_run_send,delayed_ack";

/// A text of `programs/words`.
macro_rules! words {
    ($path:literal) => {
        include_str!(concat!("programs/words/", $path))
    };
}

/// The groups of adbd's shell, as `id` of an Android 9 gives them (public transcripts of emulators).
const GROUPS_OF_9: &str = "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),\
     3006(net_bw_stats),3009(readproc),3011(uhid)";
/// With the two of external storage, which came with 11.
const GROUPS_OF_11: &str = "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),1079(ext_obb_rw),\
     3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),3011(uhid)";
/// And with that of traces: a Pixel 6, and an Android 15.
const GROUPS_OF_13: &str = "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),1079(ext_obb_rw),\
     3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),3011(uhid),3012(readtracefs)";

/// `_PATH_DEFPATH` of bionic's `paths.h`.
const PATH_SINCE_11: &str = "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:/system/bin:/system/xbin:/odm/bin:\
     /vendor/bin:/vendor/xbin";

/// All releases, oldest first.
static RELEASES: [Release; 6] =
    [ANDROID_4_4, ANDROID_9, ANDROID_11, ANDROID_13, ANDROID_14, ANDROID_16];

const ANDROID_4_4: Release = Release {
    name: "4.4",
    major: 4,
    version: "4.4.4",
    build: "KTU84Q",
    security_patch: "",
    built: ("Tue Jul  1 12:00:00 UTC 2014", 1_404_216_000),
    kernel: "3.4.0-virtual",
    abis: "armeabi-v7a,armeabi",
    least_target: 0,
    pixels: Pixels { width: 480, height: 800, density: 240 },
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
    input: Input::Counting,
    input_words: &["text", "keyevent", "tap", "swipe", "press", "roll"],
    input_usage: words!("android-4.4/input.txt"),
    java_programs: &["am", "ime", "input", "pm", "settings", "wm"],
    thrown: Thrown::Unnamed,
    shape: Shape::Four,
    packages: &ways::OF_4,
    groups: "1003(graphics),1004(input),1007(log),1009(mount),1011(adb),1015(sdcard_rw),1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats)",
    wm_rotation: None,
    wm_usage: words!("android-4.4/wm.txt"),
    screencap_usage: words!("android-9/screencap.txt"),
    launch_state: false,
    ime_names_user: false,
    not_found: "not found",
    path: "/sbin:/vendor/bin:/system/sbin:/system/bin:/system/xbin",
    prompt_names_user: true,
    links: &[("/storage/emulated/legacy", "/storage/emulated/0"), ("/d", "/sys/kernel/debug")],
    dump_file: "/storage/emulated/legacy/window_dump.xml",
    drawing_order: false,
    dots_in_dumps: false,
    dump_dies_of_emoji: true,
    toybox: false,
    dalvik: true,
    refuses_writable_classes: false,
};

const ANDROID_9: Release = Release {
    name: "9",
    major: 9,
    version: "9",
    build: "PQ3A.190801.002",
    security_patch: "2019-08-05",
    built: ("Thu Aug  1 12:00:00 UTC 2019", 1_564_660_800),
    kernel: "4.9.124-virtual",
    abis: "arm64-v8a,armeabi-v7a,armeabi",
    least_target: 17,
    pixels: Pixels { width: 1080, height: 2160, density: 440 },
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
    input: Input::Program,
    input_words: &["text", "keyevent", "tap", "swipe", "draganddrop", "press", "roll"],
    input_usage: words!("android-9/input.txt"),
    java_programs: &["input"],
    shape: Shape::Nine,
    packages: &ways::SINCE_9,
    groups: GROUPS_OF_9,
    wm_usage: words!("android-9/wm.txt"),
    path: "/sbin:/system/sbin:/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
    prompt_names_user: false,
    links: &[("/d", "/sys/kernel/debug")],
    dump_file: "/sdcard/window_dump.xml",
    dots_in_dumps: true,
    dump_dies_of_emoji: false,
    toybox: true,
    dalvik: false,
    ..ANDROID_4_4
};

const ANDROID_11: Release = Release {
    name: "11",
    major: 11,
    version: "11",
    build: "RQ3A.211001.001",
    security_patch: "2021-10-01",
    built: ("Fri Oct  1 12:00:00 UTC 2021", 1_633_089_600),
    kernel: "4.14.117-virtual",
    least_target: 23,
    pixels: Pixels { width: 1080, height: 2340, density: 440 },
    features: "sendrecv_v2_brotli,sendrecv_v2,abb_exec,fixed_push_mkdir,fixed_push_symlink_timestamp,abb,shell_v2,cmd,ls_v2,stat_v2",
    input_words: &[
        "text",
        "keyevent",
        "tap",
        "swipe",
        "draganddrop",
        "press",
        "roll",
        "motionevent",
    ],
    input_usage: words!("android-11/input.txt"),
    thrown: Thrown::InOs,
    shape: Shape::Eleven,
    packages: &ways::SINCE_11,
    groups: GROUPS_OF_11,
    wm_rotation: Some("set-user-rotation"),
    wm_usage: words!("android-11/wm.txt"),
    screencap_usage: words!("android-11/screencap.txt"),
    launch_state: true,
    ime_names_user: true,
    not_found: "inaccessible or not found",
    path: PATH_SINCE_11,
    links: &[("/bin", "/system/bin")],
    ..ANDROID_9
};

const ANDROID_13: Release = Release {
    name: "13",
    major: 13,
    version: "13",
    build: "TQ3A.230901.001",
    security_patch: "2023-09-01",
    built: ("Fri Sep  1 12:00:00 UTC 2023", 1_693_569_600),
    kernel: "5.10.157-virtual",
    abis: "arm64-v8a",
    pixels: Pixels { width: 1080, height: 2400, density: 420 },
    features: SINCE_12,
    input: Input::Service,
    input_words: &[
        "text",
        "keyevent",
        "tap",
        "swipe",
        "draganddrop",
        "press",
        "roll",
        "motionevent",
        "keycombination",
    ],
    input_usage: words!("android-13/input.txt"),
    java_programs: &[],
    thrown: Thrown::InModules,
    shape: Shape::Thirteen,
    packages: &ways::SINCE_12,
    groups: GROUPS_OF_13,
    wm_rotation: Some("user-rotation"),
    wm_usage: words!("android-14/wm.txt"),
    ..ANDROID_11
};

const ANDROID_14: Release = Release {
    name: "14",
    major: 14,
    version: "14",
    build: "UP1A.231005.007",
    security_patch: "2023-10-05",
    built: ("Thu Oct  5 12:00:00 UTC 2023", 1_696_507_200),
    kernel: "6.1.0-virtual",
    least_target: 28,
    features: SINCE_14,
    input_usage: words!("android-14/input.txt"),
    shape: Shape::Fourteen,
    packages: &ways::SINCE_14,
    screencap_usage: words!("android-14/screencap.txt"),
    drawing_order: true,
    refuses_writable_classes: true,
    ..ANDROID_13
};

const ANDROID_16: Release = Release {
    name: "16",
    major: 16,
    version: "16",
    build: "BP2A.250605.031.A2",
    security_patch: "2025-06-05",
    built: ("Thu Jun  5 12:00:00 UTC 2025", 1_749_124_800),
    kernel: "6.6.57-virtual",
    pixels: Pixels { width: 1080, height: 2424, density: 420 },
    input_words: &[
        "text",
        "keyevent",
        "tap",
        "swipe",
        "draganddrop",
        "press",
        "roll",
        "scroll",
        "motionevent",
        "keycombination",
    ],
    input_usage: words!("android-16/input.txt"),
    shape: Shape::Sixteen,
    screencap_usage: words!("android-16/screencap.txt"),
    ..ANDROID_14
};

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
    fn what_input_can_be_told_stands_in_its_usage() {
        for release in &RELEASES {
            for word in release.input_words {
                assert!(
                    release.input_usage.contains(&format!("      {word} "))
                        || release.input_usage.contains(&format!("      {word}\n")),
                    "{}: {word}",
                    release.name
                );
            }
        }
    }

    #[test]
    fn a_release_between_two_rows_has_the_manners_of_the_older_one() {
        assert!(RELEASES.is_sorted_by_key(|release| release.major));
        let of = |major| Release::of(major).name;
        assert_eq!([of(2), of(8), of(9), of(12), of(20)], ["4.4", "4.4", "9", "11", "16"]);
    }
}
