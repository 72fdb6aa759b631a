//! The faults by name: when each has its chance, what it strikes unless a rule says otherwise, and what can be set.
//!
//! To add one: a row here, what it does in `befall` (or a question where the command is played), a line in `docs/faults.md`, a test.

use super::rule::Number;

/// What may go wrong; [`Row::line`] says what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Offline,
    Unauthorized,
    Slow,
    Cut,
    Garbage,
    GarbagePackets,
    DumpNotIdle,
    DumpKilled,
    DumpStale,
    TextLost,
    TargetMoved,
    Keyboard,
    Popup,
    AppCrash,
    Anr,
    DiskFull,
    SecureWindow,
    AdbRestart,
}

/// When a fault has its chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// As a host connects.
    Connecting,
    /// Before a command does anything.
    Before,
    /// While it runs: the command itself asks.
    During,
    /// Once it has ended.
    After,
}

/// A fault's row.
pub(super) struct Row {
    pub(super) fault: Fault,
    pub(super) name: &'static str,
    /// What happens, in one line.
    line: &'static str,
    pub(super) moment: Moment,
    /// What it strikes: commands with one of these in their words; all where there is none.
    pub(super) on: &'static [&'static str],
    /// Its numbers, and what they are unless the rule says otherwise.
    pub(super) numbers: &'static [(Number, u64)],
}

/// What looks at the screen's tree, types or touches, in the words of old and new phones.
const DUMP: &[&str] = &["uiautomator dump"];
const TYPING: &[&str] = &["nput text", "nput keyboard text", "ADB_INPUT", "ADB_KEYBOARD_INPUT"];
const INPUT: &[&str] = &["input ", "commands.input.Input"];

pub(super) static TABLE: &[Row] = &[
    Row {
        fault: Fault::Offline,
        name: "offline",
        line: "the phone falls silent for ms: nothing passes, connections stay, new ones are not greeted",
        moment: Moment::Before,
        on: &[],
        numbers: &[(Number::Ms, 10_000)],
    },
    Row {
        fault: Fault::Unauthorized,
        name: "unauthorized",
        line: "the phone has forgotten all keys and asks its owner about this host",
        moment: Moment::Connecting,
        on: &[],
        numbers: &[],
    },
    Row {
        fault: Fault::Slow,
        name: "slow",
        line: "a command takes ms longer, really",
        moment: Moment::Before,
        on: &[],
        numbers: &[(Number::Ms, 3_000)],
    },
    Row {
        fault: Fault::Cut,
        name: "cut",
        line: "the connection drops once the phone has sent `at` bytes over it",
        moment: Moment::Connecting,
        on: &[],
        numbers: &[(Number::At, 4_096)],
    },
    Row {
        fault: Fault::Garbage,
        name: "garbage",
        line: "of each `every` bytes that a command prints one is another",
        moment: Moment::During,
        on: &[],
        numbers: &[(Number::Every, 64)],
    },
    Row {
        fault: Fault::GarbagePackets,
        name: "garbage-packets",
        line: "the byte number `at` that the phone sends over a connection is another: a broken packet",
        moment: Moment::Connecting,
        on: &[],
        numbers: &[(Number::At, 4_096)],
    },
    Row {
        fault: Fault::DumpNotIdle,
        name: "dump-not-idle",
        line: "uiautomator waits 10 s, says \"could not get idle state\", ends with status 0 and writes nothing",
        moment: Moment::During,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::DumpKilled,
        name: "dump-killed",
        line: "uiautomator is killed (status 137) when half of the dump is written",
        moment: Moment::During,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::DumpStale,
        name: "dump-stale",
        line: "uiautomator gives the screen that was dumped before, when another is shown",
        moment: Moment::During,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::TextLost,
        name: "text-lost",
        line: "each `every`-th character of a typed text is lost",
        moment: Moment::Before,
        on: TYPING,
        numbers: &[(Number::Every, 3)],
    },
    Row {
        fault: Fault::TargetMoved,
        name: "target-moved",
        line: "after a look a banner comes or goes at the top of the app, and all else moves",
        moment: Moment::After,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::Keyboard,
        name: "keyboard",
        line: "after a look a field takes the focus, and the keyboard comes up over what lies there",
        moment: Moment::After,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::Popup,
        name: "popup",
        line: "after a look an alert stands before the app, which gets no touch until somebody answers it",
        moment: Moment::After,
        on: DUMP,
        numbers: &[],
    },
    Row {
        fault: Fault::AppCrash,
        name: "app-crash",
        line: "the app in front crashes as it is touched",
        moment: Moment::Before,
        on: INPUT,
        numbers: &[],
    },
    Row {
        fault: Fault::Anr,
        name: "anr",
        line: "the app in front no longer answers as it is touched, and a dialog says so",
        moment: Moment::Before,
        on: INPUT,
        numbers: &[],
    },
    Row {
        fault: Fault::DiskFull,
        name: "disk-full",
        line: "there is no space left on the phone, until something is deleted",
        moment: Moment::Before,
        on: &[],
        numbers: &[],
    },
    Row {
        fault: Fault::SecureWindow,
        name: "secure-window",
        line: "the app in front becomes secure: pictures of it are black",
        moment: Moment::Before,
        on: &["screencap", "framebuffer"],
        numbers: &[],
    },
    Row {
        fault: Fault::AdbRestart,
        name: "adb-restart",
        line: "all connections are cut at once, as when the host's adb server restarts; new ones are taken",
        moment: Moment::Before,
        on: &[],
        numbers: &[],
    },
];

impl Fault {
    pub(super) fn row(self) -> &'static Row {
        // Each fault has its row, as a test says.
        TABLE.iter().find(|row| row.fault == self).unwrap_or(&TABLE[0])
    }

    /// Its name in rules.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// The one of that name, or of its British spelling.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = if name == "unauthorised" { "unauthorized" } else { name };
        TABLE.iter().find(|row| row.name == name).map(|row| row.fault)
    }
}

/// All faults, a line each: name, numbers with what they are by default, and what happens.
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
    fn each_fault_has_one_row() {
        for row in TABLE {
            assert_eq!(TABLE.iter().filter(|other| other.fault == row.fault).count(), 1);
            assert_eq!(Fault::named(row.name), Some(row.fault));
        }
    }
}
