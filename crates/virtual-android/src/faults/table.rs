//! The table of faults: name, when it can trigger, what it covers by default, and its parameters.
//!
//! To add one: a row here, its effect in `phone/inject` (or a check where the command is run), a
//! line in `docs/virtual-phone.md`, a test.

/// A kind of fault; [`Row::line`] says what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Offline,
    Unauthorized,
    Slow,
    Disconnect,
    CorruptOutput,
    CorruptPackets,
    DumpNotIdle,
    DumpKilled,
    DumpStale,
    TextLost,
    LayoutShift,
    Keyboard,
    Popup,
    AppCrash,
    Anr,
    DiskFull,
    SecureWindow,
    AdbRestart,
    NoEncoder,
    AutomationBusy,
    NoWindow,
    HelperSlowStart,
    HelperKilled,
    HelperOld,
}

/// A numeric parameter that some faults take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultParam {
    /// Milliseconds.
    Ms,
    /// Byte offset from the start of a connection.
    At,
    /// One in this many.
    Every,
}

impl FaultParam {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ms => "ms",
            Self::At => "at",
            Self::Every => "every",
        }
    }

    /// The maximum value.
    pub(super) fn most(self) -> u64 {
        match self {
            // One day.
            Self::Ms => 86_400_000,
            Self::At => 1 << 40,
            Self::Every => 1 << 30,
        }
    }
}

/// When a fault can trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InjectionPoint {
    /// When a host connects.
    Connecting,
    /// Before a command does anything.
    Before,
    /// While the command runs; the command itself checks.
    During,
    /// After it ended.
    After,
}

/// One row of the table.
pub(super) struct Row {
    pub(super) fault: Fault,
    pub(super) name: &'static str,
    /// What its random numbers derive from instead of the name, so that seeds give the injections
    /// that tests know.
    random_name: Option<&'static str>,
    /// The effect, in one line.
    line: &'static str,
    pub(super) point: InjectionPoint,
    /// The commands it covers: those that contain one of these texts, or all if empty.
    pub(super) on: &'static [&'static str],
    /// Its parameters and their defaults.
    pub(super) numbers: &'static [(FaultParam, u64)],
}

/// Commands that dump the screen, type or touch, on old and new releases.
const DUMP: &[&str] = &["uiautomator dump"];
const TREE: &[&str] = &["uiautomator dump", "helper tree"];
const TYPING: &[&str] =
    &["nput text", "nput keyboard text", "ADB_INPUT", "ADB_KEYBOARD_INPUT", "helper text"];
const INPUT: &[&str] = &[
    "input ",
    "commands.input.Input",
    "helper tap",
    "helper swipe",
    "helper touch",
    "helper key",
    "helper text",
];

pub(super) static TABLE: &[Row] = &[
    Row {
        fault: Fault::Offline,
        name: "offline",
        random_name: None,
        line: "the phone falls silent for `ms`: no data passes, connections stay open, new ones get no answer",
        point: InjectionPoint::Before,
        on: &[],
        numbers: &[(FaultParam::Ms, 10_000)],
    },
    Row {
        fault: Fault::Unauthorized,
        name: "unauthorized",
        random_name: None,
        line: "the phone forgets all keys and asks its owner to allow this host",
        point: InjectionPoint::Connecting,
        on: &[],
        numbers: &[],
    },
    Row {
        fault: Fault::Slow,
        name: "slow",
        random_name: None,
        line: "a command starts `ms` later, in real time",
        point: InjectionPoint::Before,
        on: &[],
        numbers: &[(FaultParam::Ms, 3_000)],
    },
    Row {
        fault: Fault::Disconnect,
        name: "disconnect",
        random_name: Some("cut"),
        line: "the connection drops after the phone has sent `at` bytes",
        point: InjectionPoint::Connecting,
        on: &[],
        numbers: &[(FaultParam::At, 4_096)],
    },
    Row {
        fault: Fault::CorruptOutput,
        name: "corrupt-output",
        random_name: Some("garbage"),
        line: "one in `every` bytes of a command's output is corrupted",
        point: InjectionPoint::During,
        on: &[],
        numbers: &[(FaultParam::Every, 64)],
    },
    Row {
        fault: Fault::CorruptPackets,
        name: "corrupt-packets",
        random_name: Some("garbage-packets"),
        line: "byte number `at` that the phone sends over a connection is corrupted, breaking a packet",
        point: InjectionPoint::Connecting,
        on: &[],
        numbers: &[(FaultParam::At, 4_096)],
    },
    Row {
        fault: Fault::DumpNotIdle,
        name: "dump-not-idle",
        random_name: None,
        line: "uiautomator waits 10 s, prints \"could not get idle state\", exits with 0 and writes nothing",
        point: InjectionPoint::During,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::DumpKilled,
        name: "dump-killed",
        random_name: None,
        line: "uiautomator is killed (status 137) after writing half of the dump",
        point: InjectionPoint::During,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::DumpStale,
        name: "dump-stale",
        random_name: None,
        line: "uiautomator returns the previous dump although the screen has changed",
        point: InjectionPoint::During,
        on: TREE,
        numbers: &[],
    },
    Row {
        fault: Fault::TextLost,
        name: "text-lost",
        random_name: None,
        line: "every `every`-th character of typed text is lost",
        point: InjectionPoint::Before,
        on: TYPING,
        numbers: &[(FaultParam::Every, 3)],
    },
    Row {
        fault: Fault::LayoutShift,
        name: "layout-shift",
        random_name: Some("target-moved"),
        line: "after a dump, a banner appears or disappears at the top of the app and everything else moves",
        point: InjectionPoint::After,
        on: TREE,
        numbers: &[],
    },
    Row {
        fault: Fault::Keyboard,
        name: "keyboard",
        random_name: None,
        line: "after a dump, a field takes the focus and the keyboard covers what is below",
        point: InjectionPoint::After,
        on: TREE,
        numbers: &[],
    },
    Row {
        fault: Fault::Popup,
        name: "popup",
        random_name: None,
        line: "after a dump, an alert covers the app and blocks its touches until it is answered",
        point: InjectionPoint::After,
        on: TREE,
        numbers: &[],
    },
    Row {
        fault: Fault::AppCrash,
        name: "app-crash",
        random_name: None,
        line: "the app in front crashes when it is touched",
        point: InjectionPoint::Before,
        on: INPUT,
        numbers: &[],
    },
    Row {
        fault: Fault::Anr,
        name: "anr",
        random_name: None,
        line: "the app in front stops responding when it is touched, and a dialog says so",
        point: InjectionPoint::Before,
        on: INPUT,
        numbers: &[],
    },
    Row {
        fault: Fault::DiskFull,
        name: "disk-full",
        random_name: None,
        line: "the phone has no space left until something is deleted",
        point: InjectionPoint::Before,
        on: &[],
        numbers: &[],
    },
    Row {
        fault: Fault::SecureWindow,
        name: "secure-window",
        random_name: None,
        line: "the app in front becomes secure: screenshots of it are black",
        point: InjectionPoint::Before,
        on: &["screencap", "framebuffer", "helper shot"],
        numbers: &[],
    },
    Row {
        fault: Fault::AdbRestart,
        name: "adb-restart",
        random_name: None,
        line: "all connections are cut, as when the host's adb server restarts; new ones are accepted",
        point: InjectionPoint::Before,
        on: &[],
        numbers: &[],
    },
    Row {
        fault: Fault::NoEncoder,
        name: "no-encoder",
        random_name: None,
        line: "screenrecord finds no video encoder: it says so for two sizes, ends at once and leaves an empty file",
        point: InjectionPoint::During,
        on: &["screenrecord"],
        numbers: &[],
    },
    Row {
        fault: Fault::AutomationBusy,
        name: "automation-busy",
        random_name: None,
        line: "another tool holds UiAutomation for `ms` when the helper needs it",
        point: InjectionPoint::During,
        on: &["helper automation"],
        numbers: &[(FaultParam::Ms, 5_000)],
    },
    Row {
        fault: Fault::NoWindow,
        name: "no-window",
        random_name: None,
        line: "no window gives its nodes to the helper for `ms`, as while one app replaces another",
        point: InjectionPoint::During,
        on: &["helper tree"],
        numbers: &[(FaultParam::Ms, 500)],
    },
    Row {
        fault: Fault::HelperSlowStart,
        name: "helper-slow-start",
        random_name: None,
        line: "the helper takes `ms` to start, in real time",
        point: InjectionPoint::During,
        on: &["helper start"],
        numbers: &[(FaultParam::Ms, 10_000)],
    },
    Row {
        fault: Fault::HelperKilled,
        name: "helper-killed",
        random_name: None,
        line: "the helper's process is killed (status 137) before it does what it was asked",
        point: InjectionPoint::During,
        on: &["helper "],
        numbers: &[],
    },
    Row {
        fault: Fault::HelperOld,
        name: "helper-old",
        random_name: None,
        line: "the helper that starts is an older one, which only calls apps and lists them",
        point: InjectionPoint::During,
        on: &["helper start"],
        numbers: &[],
    },
];

impl Fault {
    pub(super) fn row(self) -> &'static Row {
        // A test checks that every fault has a row.
        TABLE.iter().find(|row| row.fault == self).unwrap_or(&TABLE[0])
    }

    /// All faults that can trigger at that point, in the order of the table.
    pub(crate) fn all_at(point: InjectionPoint) -> impl Iterator<Item = Self> {
        TABLE.iter().filter(move |row| row.point == point).map(|row| row.fault)
    }

    /// Its name in rules.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// The name that its random numbers derive from.
    pub(super) fn random_name(self) -> &'static str {
        let row = self.row();
        row.random_name.unwrap_or(row.name)
    }

    /// The fault with that name, or with its British spelling.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = if name == "unauthorised" { "unauthorized" } else { name };
        TABLE.iter().find(|row| row.name == name).map(|row| row.fault)
    }
}

/// All faults, one per line: name, parameters with their defaults, and effect.
pub fn list() -> String {
    let named = |row: &Row| {
        let numbers =
            row.numbers.iter().map(|(number, value)| format!("{}={value}", number.name()));
        let numbers: Vec<String> = numbers.collect();
        let colon = if numbers.is_empty() { "" } else { ":" };
        format!("{}{colon}{}", row.name, numbers.join(","))
    };
    let width = TABLE.iter().map(|row| named(row).len()).max().unwrap_or(0);
    TABLE.iter().map(|row| format!("{:width$}  {}\n", named(row), row.line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_one_row() {
        for row in TABLE {
            assert_eq!(TABLE.iter().filter(|other| other.fault == row.fault).count(), 1);
            assert_eq!(Fault::named(row.name), Some(row.fault));
        }
    }
}
