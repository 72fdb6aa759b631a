//! What differs between the supported Android releases, in one table.
//!
//! Start with [`RELEASES`]. Each row states only what changed since the previous one. To add a
//! release, add its row; if it behaves in a new way, add a field and check it where it matters.
//! Programs ask [`Release`], never the release number, except to print it.
//!
//! Sources: for 4.4 the recorded Android 4.4.4 (`android-4.4.4` of the captures: 233 commands on a
//! running system), and that release's source code where nothing was recorded; for the others
//! emulators and phones of that release (`shell/**` of the captures, and the reports in the tests
//! of appium and auto-mobile, both Apache-2.0) and AOSP, as noted at each program. Report layouts
//! are in [`formats`]. Features: banners that people published from phones and emulators with 9, 11
//! and 14, and `supported_features` in `transport.cpp` of AOSP's adb.

pub mod formats;
pub mod install_rules;
mod programs;

use formats::{DumpsysFormat, ExceptionFormat, Pixels};
use install_rules::InstallRules;
use thumbwire_virtual_shell::system::Userland;

/// How a release implements the programs that call system services: `am`, `pm`, `input`, `wm`,
/// `settings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Each is a Java program that prints its usage when called wrongly.
    Java,
    /// Each runs `cmd SERVICE`; the service answers.
    Service,
}

/// How a release implements `input`, the last of them to become a `cmd` script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A Java program that first checks the number of its arguments.
    Counting,
    /// A Java program that reads its arguments one by one (`BaseCommand`).
    Program,
    /// A script for `cmd input`, since 12.
    Service,
}

/// One release.
#[derive(Debug)]
pub struct Release {
    /// The name that callers choose it by.
    pub name: &'static str,
    /// Its major version.
    pub major: u32,
    /// `ro.build.version.release`
    pub version: &'static str,
    /// What its shell and the programs of POSIX know of it.
    pub userland: Userland,
    /// `ro.build.id`
    pub build: &'static str,
    /// `ro.build.version.security_patch`, since 6.
    pub security_patch: &'static str,
    /// `ro.build.date.utc`; the text is [`Userland::built`].
    pub built: u64,
    /// `ro.product.cpu.abilist`; its first entry is `ro.product.cpu.abi`.
    pub abis: &'static str,
    /// The lowest target SDK that can be installed; `ro.build.version.min_supported_target_sdk`,
    /// since 8.
    pub least_target: u32,
    /// A typical screen of its time.
    pub pixels: Pixels,
    /// The features adbd announces, in its order, as far as this phone implements them: none before
    /// 7.
    pub features: &'static str,
    /// Whether adbd has `exec:` and `shell,…:`; without them every command runs in a terminal.
    pub raw_shells: bool,
    /// Whether adbd has `reverse:`, since 5.
    pub reverse: bool,
    /// Whether a raw screenshot includes its colour space, since 9.
    pub colour_space: bool,
    /// Whether a screenshot follows the rotation, since 5; before, it is as the panel shows it.
    pub rotated_screenshots: bool,
    /// Whether adbd limits payloads to 4 KiB and checks checksums (protocol 0x01000000).
    pub small_packets: bool,
    /// Whether adbd serves one host at a time over the network.
    pub one_host: bool,
    /// The maximum length of a service name, in bytes.
    pub longest_service: usize,
    /// See [`ToolKind`].
    pub form: ToolKind,
    /// See [`InputKind`].
    pub input: InputKind,
    /// The subcommands of `input`.
    pub input_words: &'static [&'static str],
    /// What a bare `input` prints.
    pub input_usage: &'static str,
    /// Programs that call a service but are Java programs of their own.
    pub java_programs: &'static [&'static str],
    /// See [`ExceptionFormat`].
    pub thrown: ExceptionFormat,
    /// The layout of the system services' reports.
    pub shape: DumpsysFormat,
    /// Its rules for packages.
    pub packages: &'static InstallRules,
    /// The `wm` subcommand that rotates the screen.
    pub wm_rotation: Option<&'static str>,
    /// What a bare `wm` prints.
    pub wm_usage: &'static str,
    /// What `screencap -h` prints.
    pub screencap_usage: &'static str,
    /// Whether `am start -W` reports the launch state, since 10; earlier releases report
    /// `ThisTime`.
    pub launch_state: bool,
    /// Whether `ime` names the user, since 10.
    pub ime_names_user: bool,
    /// Symbolic links in the file tree: path and target.
    pub links: &'static [(&'static str, &'static str)],
    /// Files whose content is the release's own: path and text.
    pub texts: &'static [(&'static str, &'static str)],
    /// The default file of `uiautomator dump`.
    pub dump_file: &'static str,
    /// Whether a dump contains `drawing-order` and `hint`.
    pub drawing_order: bool,
    /// Whether the dots of a password field appear in a dump.
    pub dots_in_dumps: bool,
    /// Whether `uiautomator` crashes on a character outside the BMP.
    pub dump_dies_of_emoji: bool,
    /// Whether Java programs run on Dalvik, which needs a directory for optimized classes.
    pub dalvik: bool,
    /// Whether a writable class file is refused, since 14.
    pub refuses_writable_classes: bool,
}

/// What adbd announces since Android 12. Omitted, because this phone does not implement them:
/// `apex` (before `abb`), `remount_shell` (after `abb_exec`), `openscreen_mdns`.
const SINCE_12: &str = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,abb,fixed_push_symlink_timestamp,abb_exec,track_app,sendrecv_v2,\
                        sendrecv_v2_brotli,sendrecv_v2_lz4,sendrecv_v2_zstd,sendrecv_v2_dry_run_send";
/// What adbd announces since 14. Omitted: `devicetracker_proto_format`, `devraw`, `app_info` and
/// `server_status` of 16.
const SINCE_14: &str = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,abb,fixed_push_symlink_timestamp,abb_exec,track_app,sendrecv_v2,\
                        sendrecv_v2_brotli,sendrecv_v2_lz4,sendrecv_v2_zstd,sendrecv_v2_dry_run_send,delayed_ack";

/// A text from `words`.
macro_rules! words {
    ($path:literal) => {
        include_str!(concat!("words/", $path))
    };
}

/// The groups of adbd's shell, as `id` prints them on Android 9 (public transcripts of emulators).
const GROUPS_OF_9: &str = "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),\
     3006(net_bw_stats),3009(readproc),3011(uhid)";
/// Plus the two of external storage, new in 11.
const GROUPS_OF_11: &str = "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),1079(ext_obb_rw),\
     3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),3011(uhid)";
/// Plus the one for traces: a Pixel 6, and an Android 15.
const GROUPS_OF_13: &str = "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),1079(ext_obb_rw),\
     3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),3011(uhid),3012(readtracefs)";

/// `_PATH_DEFPATH` of bionic's `paths.h`.
const PATH_SINCE_11: &str = "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:/system/bin:/system/xbin:/odm/bin:\
     /vendor/bin:/vendor/xbin";

/// What adbd gives to its shells, and mksh to its scripts.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("ANDROID_DATA", "/data"),
    ("ANDROID_ROOT", "/system"),
    ("EXTERNAL_STORAGE", "/sdcard"),
    ("HOME", "/"),
    ("HOSTNAME", "vp"),
    ("LOGNAME", "shell"),
    ("SHELL", "/bin/sh"),
    ("TMPDIR", "/data/local/tmp"),
    ("USER", "shell"),
];
/// `export -p` of a running 4.4.4: init's variables, and none of a user. Omitted is what names open
/// files.
const ENVIRONMENT_OF_4: &[(&str, &str)] = &[
    ("ANDROID_ASSETS", "/system/app"),
    ("ANDROID_BOOTLOGO", "1"),
    ("ANDROID_DATA", "/data"),
    ("ANDROID_ROOT", "/system"),
    ("ANDROID_STORAGE", "/storage"),
    ("ASEC_MOUNTPOINT", "/mnt/asec"),
    (
        "BOOTCLASSPATH",
        "/system/framework/core.jar:/system/framework/conscrypt.jar:/system/framework/okhttp.jar:/system/framework/core-junit.jar:\
         /system/framework/bouncycastle.jar:/system/framework/ext.jar:/system/framework/framework.jar:/system/framework/framework2.jar:\
         /system/framework/telephony-common.jar:/system/framework/voip-common.jar:/system/framework/mms-common.jar:\
         /system/framework/android.policy.jar:/system/framework/services.jar:/system/framework/apache-xml.jar:\
         /system/framework/webviewchromium.jar",
    ),
    ("EMULATED_STORAGE_SOURCE", "/mnt/shell/emulated"),
    ("EMULATED_STORAGE_TARGET", "/storage/emulated"),
    ("EXTERNAL_STORAGE", "/storage/emulated/legacy"),
    ("LD_LIBRARY_PATH", "/vendor/lib:/system/lib"),
    ("LOOP_MOUNTPOINT", "/mnt/obb"),
    ("USER_ID", "2000"),
];

/// All releases, oldest first.
static RELEASES: [Release; 6] =
    [ANDROID_4_4, ANDROID_9, ANDROID_11, ANDROID_13, ANDROID_14, ANDROID_16];

const ANDROID_4_4: Release = Release {
    name: "4.4",
    major: 4,
    version: "4.4.4",
    userland: Userland {
        kernel: "3.4.0-virtual",
        utc: "GMT",
        only_programs: Some(programs::OF_4_4),
        missing_programs: &[],
        // The captures `158` and `416`: `input text 'a b&c'` came to two arguments.
        splitting: &["input", "monkey", "wm"],
        groups: "1003(graphics),1004(input),1007(log),1009(mount),1011(adb),1015(sdcard_rw),1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats)",
        not_found: "not found",
        path: "/sbin:/vendor/bin:/system/sbin:/system/bin:/system/xbin",
        environment: ENVIRONMENT_OF_4,
        prompt_names_user: true,
        built: "Tue Jul  1 12:00:00 UTC 2014",
        toybox: false,
        toybox_version: "0.7.6-android",
        toybox_0_8: false,
        outside_toybox: programs::NOT_TOYBOX,
        utf8: false,
        ksh_version: None,
        named_limits: false,
    },
    build: "KTU84Q",
    security_patch: "",
    built: 1_404_216_000,
    abis: "armeabi-v7a,armeabi",
    least_target: 0,
    pixels: Pixels { width: 480, height: 800, density: 240 },
    features: "",
    raw_shells: false,
    reverse: false,
    colour_space: false,
    rotated_screenshots: false,
    small_packets: true,
    one_host: true,
    // `smart_socket_enqueue` in the adb of that time: the adb server refuses longer ones. This
    // phone refuses them itself, so that the limit shows without the server.
    longest_service: 1_024,
    form: ToolKind::Java,
    input: InputKind::Counting,
    input_words: &["text", "keyevent", "tap", "swipe", "press", "roll"],
    input_usage: words!("android-4.4/input.txt"),
    java_programs: &["am", "ime", "input", "pm", "settings", "wm"],
    thrown: ExceptionFormat::Unnamed,
    shape: DumpsysFormat::Android4,
    packages: &install_rules::OF_4,
    wm_rotation: None,
    wm_usage: words!("android-4.4/wm.txt"),
    screencap_usage: words!("android-9/screencap.txt"),
    launch_state: false,
    ime_names_user: false,
    // The small programs are toolbox, by their names.
    links: &[
        ("/storage/emulated/legacy", "/storage/emulated/0"),
        ("/d", "/sys/kernel/debug"),
        ("/system/bin/sh", "mksh"),
        ("/system/bin/cat", "toolbox"),
        ("/system/bin/chmod", "toolbox"),
        ("/system/bin/cp", "toolbox"),
        ("/system/bin/date", "toolbox"),
        ("/system/bin/dd", "toolbox"),
        ("/system/bin/df", "toolbox"),
        ("/system/bin/getprop", "toolbox"),
        ("/system/bin/id", "toolbox"),
        ("/system/bin/ifconfig", "toolbox"),
        ("/system/bin/kill", "toolbox"),
        ("/system/bin/ln", "toolbox"),
        ("/system/bin/log", "toolbox"),
        ("/system/bin/ls", "toolbox"),
        ("/system/bin/mkdir", "toolbox"),
        ("/system/bin/mv", "toolbox"),
        ("/system/bin/printenv", "toolbox"),
        ("/system/bin/ps", "toolbox"),
        ("/system/bin/readlink", "toolbox"),
        ("/system/bin/rm", "toolbox"),
        ("/system/bin/rmdir", "toolbox"),
        ("/system/bin/setprop", "toolbox"),
        ("/system/bin/touch", "toolbox"),
        ("/system/bin/uptime", "toolbox"),
    ],
    texts: &[
        ("/proc/version", words!("android-4.4/version.txt")),
        ("/proc/cpuinfo", words!("android-4.4/cpuinfo.txt")),
        ("/proc/meminfo", words!("android-4.4/meminfo.txt")),
    ],
    dump_file: "/storage/emulated/legacy/window_dump.xml",
    drawing_order: false,
    dots_in_dumps: false,
    dump_dies_of_emoji: true,
    dalvik: true,
    refuses_writable_classes: false,
};

const ANDROID_9: Release = Release {
    name: "9",
    major: 9,
    version: "9",
    userland: Userland {
        kernel: "4.9.124-virtual",
        utc: "UTC",
        only_programs: None,
        missing_programs: programs::MISSING_IN_9,
        splitting: &[],
        groups: GROUPS_OF_9,
        path: "/sbin:/system/sbin:/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
        environment: ENVIRONMENT,
        prompt_names_user: false,
        built: "Thu Aug  1 12:00:00 UTC 2019",
        toybox: true,
        utf8: true,
        ksh_version: Some("@(#)MIRBSD KSH R59 2020/10/31 Android"),
        ..ANDROID_4_4.userland
    },
    build: "PQ3A.190801.002",
    security_patch: "2019-08-05",
    built: 1_564_660_800,
    abis: "arm64-v8a,armeabi-v7a,armeabi",
    least_target: 17,
    pixels: Pixels { width: 1080, height: 2160, density: 440 },
    features: "cmd,stat_v2,shell_v2",
    raw_shells: true,
    reverse: true,
    colour_space: true,
    rotated_screenshots: true,
    small_packets: false,
    one_host: false,
    longest_service: usize::MAX,
    form: ToolKind::Service,
    input: InputKind::Program,
    input_words: &["text", "keyevent", "tap", "swipe", "draganddrop", "press", "roll"],
    input_usage: words!("android-9/input.txt"),
    java_programs: &["input"],
    shape: DumpsysFormat::Nine,
    packages: &install_rules::SINCE_9,
    wm_usage: words!("android-9/wm.txt"),
    links: &[("/d", "/sys/kernel/debug")],
    texts: &[],
    dump_file: "/sdcard/window_dump.xml",
    dots_in_dumps: true,
    dump_dies_of_emoji: false,
    dalvik: false,
    ..ANDROID_4_4
};

const ANDROID_11: Release = Release {
    name: "11",
    major: 11,
    version: "11",
    userland: Userland {
        kernel: "4.14.117-virtual",
        missing_programs: programs::MISSING_SINCE_10,
        groups: GROUPS_OF_11,
        not_found: "inaccessible or not found",
        path: PATH_SINCE_11,
        built: "Fri Oct  1 12:00:00 UTC 2021",
        toybox_version: "0.8.3-android",
        toybox_0_8: true,
        named_limits: true,
        ..ANDROID_9.userland
    },
    build: "RQ3A.211001.001",
    security_patch: "2021-10-01",
    built: 1_633_089_600,
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
    thrown: ExceptionFormat::InOs,
    shape: DumpsysFormat::Eleven,
    packages: &install_rules::SINCE_11,
    wm_rotation: Some("set-user-rotation"),
    wm_usage: words!("android-11/wm.txt"),
    screencap_usage: words!("android-11/screencap.txt"),
    launch_state: true,
    ime_names_user: true,
    links: &[("/bin", "/system/bin")],
    ..ANDROID_9
};

const ANDROID_13: Release = Release {
    name: "13",
    major: 13,
    version: "13",
    userland: Userland {
        kernel: "5.10.157-virtual",
        groups: GROUPS_OF_13,
        built: "Fri Sep  1 12:00:00 UTC 2023",
        toybox_version: "0.8.6-android",
        ..ANDROID_11.userland
    },
    build: "TQ3A.230901.001",
    security_patch: "2023-09-01",
    built: 1_693_569_600,
    abis: "arm64-v8a",
    pixels: Pixels { width: 1080, height: 2400, density: 420 },
    features: SINCE_12,
    input: InputKind::Service,
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
    thrown: ExceptionFormat::InModules,
    shape: DumpsysFormat::Thirteen,
    packages: &install_rules::SINCE_12,
    wm_rotation: Some("user-rotation"),
    wm_usage: words!("android-14/wm.txt"),
    ..ANDROID_11
};

const ANDROID_14: Release = Release {
    name: "14",
    major: 14,
    version: "14",
    userland: Userland {
        kernel: "6.1.0-virtual",
        built: "Thu Oct  5 12:00:00 UTC 2023",
        ..ANDROID_13.userland
    },
    build: "UP1A.231005.007",
    security_patch: "2023-10-05",
    built: 1_696_507_200,
    least_target: 28,
    features: SINCE_14,
    input_usage: words!("android-14/input.txt"),
    shape: DumpsysFormat::Fourteen,
    packages: &install_rules::SINCE_14,
    screencap_usage: words!("android-14/screencap.txt"),
    drawing_order: true,
    refuses_writable_classes: true,
    ..ANDROID_13
};

const ANDROID_16: Release = Release {
    name: "16",
    major: 16,
    version: "16",
    userland: Userland {
        kernel: "6.6.57-virtual",
        built: "Thu Jun  5 12:00:00 UTC 2025",
        toybox_version: "0.8.11-android",
        ..ANDROID_14.userland
    },
    build: "BP2A.250605.031.A2",
    security_patch: "2025-06-05",
    built: 1_749_124_800,
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
    shape: DumpsysFormat::Sixteen,
    screencap_usage: words!("android-16/screencap.txt"),
    ..ANDROID_14
};

impl Release {
    /// The row for a major release: its own, else the next older one, else the oldest.
    pub fn of(major: u32) -> &'static Self {
        let [oldest, ..] = &RELEASES;
        RELEASES.iter().rfind(|release| release.major <= major).unwrap_or(oldest)
    }

    /// The row with that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        RELEASES.iter().find(|release| release.name == name)
    }

    /// All names, oldest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        RELEASES.iter().map(|release| release.name)
    }
}

/// The API level of a major release. Source: developer.android.com, "Codenames, tags, and build
/// numbers".
pub fn sdk(android: u32) -> u32 {
    match android {
        0..=4 => 19,
        5 => 22,
        6 => 23,
        7 => 25,
        8 => 27,
        9 => 28,
        10 => 29,
        11 => 30,
        12 => 32,
        newer => newer + 20,
    }
}

#[cfg(test)]
mod tests {
    use super::{RELEASES, Release};

    #[test]
    fn input_usage_lists_its_subcommands() {
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
    fn unlisted_release_behaves_like_the_older_one() {
        assert!(RELEASES.is_sorted_by_key(|release| release.major));
        let of = |major| Release::of(major).name;
        assert_eq!([of(2), of(8), of(9), of(12), of(20)], ["4.4", "4.4", "9", "11", "16"]);
    }
}
