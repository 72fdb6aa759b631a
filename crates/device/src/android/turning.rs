//! Turning the screen, and turning it back.
//!
//! Android turns by the settings `accelerometer_rotation` (1: the sensor decides) and `user_rotation` (quarter turns
//! while it does not). They outlive whoever set them, so what was set before is kept on the phone: in [`JOURNAL`],
//! written before the screen turns, and taken away when it was turned back. Whoever comes next, from whichever
//! computer, can restore it, however the one before ended. Begin with [`Android::turn`] and [`Android::turn_back`].
//!
//! Not here: whether the screen has really followed, and when it is turned back. That is the caller's matter.

use super::{Android, Line, Said};
use crate::error::excerpt;
use crate::{Error, Orientation, TurnedBy};

/// The journal: one line, [`Journal::to_line`]. The folder belongs to the shell on every Android.
const JOURNAL: &str = "/data/local/tmp/thumbwire-orientation";

const WHAT: &str = "setting the orientation";

impl Android {
    /// Turns the screen for `owner`. What an earlier turn found before it stays in the journal.
    pub(super) async fn turn(&self, orientation: Orientation, owner: &str) -> Result<(), Error> {
        check_owner(owner)?;
        let (journal, display) = tokio::try_join!(self.read_journal(), self.display())?;
        let ours = !matches!(journal, Kept::Turned(_));
        if ours {
            let before = read_hold(&self.ask(settings_command()).await?)?;
            self.keep(&Journal { owner: owner.to_owned(), before }, journal).await?;
        }
        let hold = Hold { sensor: false, rotation: display.rotation_for(orientation) };
        let held = self.hold(hold).await;
        // A phone that takes no order has nothing to be restored.
        if ours && matches!(held, Err(Error::Refused { .. } | Error::Unsupported { .. })) {
            self.ask(forget_command()).await?;
        }
        held
    }

    /// Puts back what was set before the screen was turned, if it was turned by `whom`.
    pub(super) async fn turn_back(&self, whom: TurnedBy<'_>) -> Result<bool, Error> {
        match self.read_journal().await? {
            Kept::Turned(journal) if whom.includes(&journal.owner) => {
                self.hold(journal.before).await?;
                self.ask(forget_command()).await?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    async fn read_journal(&self) -> Result<Kept, Error> {
        self.ask(journal_command()).await.map(|said| read_journal(&said.out))
    }

    /// Writes the journal and reads it back: without it nothing is turned.
    async fn keep(&self, journal: &Journal, found: Kept) -> Result<(), Error> {
        if found == Kept::Unreadable {
            self.ask(forget_command()).await?;
        }
        let said = self.ask(keep_command(journal)?).await?;
        match read_journal(&said.out) {
            // Of two that turn the screen at the same moment, the first is right about what was before.
            Kept::Turned(_) => Ok(()),
            _ => {
                let words = format!("{} {}", said.out.trim(), said.err.trim());
                Err(Error::Failed { what: "keep its former orientation", said: excerpt(words) })
            }
        }
    }

    /// Sets how the screen is held: by its settings or, where those are locked away, by the window manager.
    async fn hold(&self, hold: Hold) -> Result<(), Error> {
        let said = self.ask(hold_command(hold)).await?;
        let Some(complaint) = said.complaint() else { return Ok(()) };
        let words = format!("{}\n{}", said.err, said.out);
        if is_missing(&words) {
            return Err(unsupported());
        }
        if let Some(refusal) = words.lines().find(|line| line.contains("SecurityException")) {
            if self.ask(window_command(hold)).await?.complaint().is_none() {
                return Ok(());
            }
            // Xiaomi and others lock the settings away behind a switch of their own.
            let why = format!(
                "{}; switch on \"USB debugging (Security settings)\" in the phone's developer options",
                excerpt(refusal)
            );
            return Err(Error::Refused { what: WHAT, why });
        }
        Err(Error::Failed { what: "turn the screen", said: complaint })
    }
}

/// How the screen is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hold {
    /// The sensor decides; `rotation` counts once it does not.
    sensor: bool,
    /// Quarter turns from the natural orientation, 0 to 3.
    rotation: u8,
}

impl Hold {
    /// Both values as the settings hold them. A setting that was never made counts as 0, as it does for Android
    /// (`DisplayRotation.updateSettings` in AOSP; `settings get` says "null", capture 029).
    fn read(sensor: &str, rotation: &str) -> Option<Self> {
        let sensor = match sensor {
            "0" | "null" => false,
            "1" => true,
            _ => return None,
        };
        let rotation = match rotation {
            "null" => 0,
            digit => digit.parse().ok().filter(|&turns: &u8| turns < 4 && digit.len() == 1)?,
        };
        Some(Self { sensor, rotation })
    }
}

/// What was before the first turn, and who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Journal {
    owner: String,
    before: Hold,
}

/// What lies in the journal's place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    Nothing,
    /// Something that we did not write, or that was cut.
    Unreadable,
    Turned(Journal),
}

impl Journal {
    /// `thumbwire-orientation 1 OWNER SENSOR ROTATION end`: 1 is the version of this line.
    fn to_line(&self) -> String {
        let Self { owner, before: Hold { sensor, rotation } } = self;
        format!("{HEAD} {owner} {} {rotation} {END}", u8::from(*sensor))
    }
}

const HEAD: &str = "thumbwire-orientation 1";
/// By which a line that was cut shows.
const END: &str = "end";

/// Nothing in the file is believed but values that the settings can have.
fn read_journal(said: &str) -> Kept {
    let line = said.trim();
    if line.is_empty() {
        return Kept::Nothing;
    }
    let read = || {
        let line = line.strip_prefix(HEAD)?.strip_suffix(END)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [owner, sensor, rotation] = words[..] else { return None };
        check_owner(owner).ok()?;
        Some(Journal { owner: owner.into(), before: Hold::read(sensor, rotation)? })
    };
    // Without shell v2, `cat` says on the same stream that there is no such file.
    if line.contains("No such file") {
        return Kept::Nothing;
    }
    read().map_or(Kept::Unreadable, Kept::Turned)
}

/// An owner's name is one short word, in the shell as in the journal.
fn check_owner(owner: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !owner.is_empty() && owner.len() <= 64 && owner.chars().all(plain) {
        return Ok(());
    }
    let why = format!("{:?} is no name for who turns the screen", excerpt(owner));
    Err(Error::Refused { what: WHAT, why })
}

/// The one command that costs an attach something: it starts no Java.
fn journal_command() -> Line {
    Line::new("cat").then(JOURNAL).then("2>/dev/null")
}

fn keep_command(journal: &Journal) -> Result<Line, Error> {
    let line = Line::new("[ -s").then(JOURNAL).then("] || echo").word(&journal.to_line())?;
    Ok(line.then(">").then(JOURNAL).then("; cat").then(JOURNAL))
}

fn forget_command() -> Line {
    Line::new("rm -f").then(JOURNAL)
}

fn settings_command() -> Line {
    Line::new("settings get system accelerometer_rotation; settings get system user_rotation")
}

fn read_hold(said: &Said) -> Result<Hold, Error> {
    let words: Vec<&str> = said.out.split_whitespace().collect();
    if let [sensor, rotation] = words[..]
        && let Some(hold) = Hold::read(sensor, rotation)
    {
        return Ok(hold);
    }
    let all = format!("{} {}", said.out, said.err);
    if is_missing(&all) {
        return Err(unsupported());
    }
    Err(Error::Unreadable { command: settings_command().as_str().into(), said: excerpt(all) })
}

/// Android has `settings` since 4.2. A shell says "settings: not found", newer ones "settings: inaccessible or not found".
fn is_missing(said: &str) -> bool {
    said.lines().any(|line| line.contains("settings: ") && line.contains("not found"))
}

/// The quarter turns first, so that the screen turns once, when the sensor is switched off.
fn hold_command(Hold { sensor, rotation }: Hold) -> Line {
    Line::new("settings put system user_rotation")
        .number(rotation)
        .then("&& settings put system accelerometer_rotation")
        .number(u8::from(sensor))
}

/// The window manager writes the same settings by its own right. The word has been `user-rotation` since Android 12
/// and was `set-user-rotation` in 10 and 11 (`WindowManagerShellCommand` in AOSP).
fn window_command(hold: Hold) -> Line {
    if hold.sensor {
        return Line::new("wm user-rotation free || wm set-user-rotation free");
    }
    Line::new("wm user-rotation lock")
        .number(hold.rotation)
        .then("|| wm set-user-rotation lock")
        .number(hold.rotation)
}

fn unsupported() -> Error {
    Error::Unsupported { what: WHAT, platform: crate::Platform::Android }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(owner: &str, sensor: bool, rotation: u8) -> Journal {
        Journal { owner: owner.into(), before: Hold { sensor, rotation } }
    }

    #[test]
    fn a_journal_reads_back_and_a_cut_one_is_not_believed() {
        let line = journal("a1-b2", true, 3).to_line();
        assert_eq!(line, "thumbwire-orientation 1 a1-b2 1 3 end");
        for kept in 1..line.len() {
            assert_eq!(read_journal(&line[..kept]), Kept::Unreadable, "{}", &line[..kept]);
        }
        let through_a_terminal = format!("{line}\r\n");
        assert_eq!(read_journal(&through_a_terminal), Kept::Turned(journal("a1-b2", true, 3)));
    }

    #[test]
    fn what_stands_in_the_journal_is_not_believed_blindly() {
        for line in [
            "thumbwire-orientation 1 a 2 0 end",
            "thumbwire-orientation 1 a 1 4 end",
            "thumbwire-orientation 1 a 1 -1 end",
            "thumbwire-orientation 1 a 1 +1 end",
            "thumbwire-orientation 1 a 1 0 0 end",
            "thumbwire-orientation 1 a;reboot 1 0 end",
            "thumbwire-orientation 2 a 1 0 end",
            "thumbwire-orientation 1 a 1 0 end\nthumbwire-orientation 1 a 1 0 end",
            "\u{0}\u{fffd}",
        ] {
            assert_eq!(read_journal(line), Kept::Unreadable, "{line:?}");
        }
        let missing = "/system/bin/sh: cat: /data/local/tmp/thumbwire-orientation: No such file or directory\r\n";
        for nothing in ["", "\r\n", missing] {
            assert_eq!(read_journal(nothing), Kept::Nothing, "{nothing:?}");
        }
    }

    #[test]
    fn settings_are_read_as_phones_print_them() {
        let read =
            |out: &str| read_hold(&Said { out: out.into(), err: String::new(), status: None });
        assert_eq!(read("1\n0\n").unwrap(), Hold { sensor: true, rotation: 0 });
        assert_eq!(read("0\r\n3\r\n").unwrap(), Hold { sensor: false, rotation: 3 });
        assert_eq!(read("null\nnull\n").unwrap(), Hold { sensor: false, rotation: 0 });
        let old = read("/system/bin/sh: settings: not found\r\n").unwrap_err();
        assert!(matches!(old, Error::Unsupported { .. }), "{old}");
        let odd = read("Killed\n").unwrap_err();
        assert!(odd.to_string().contains("Killed"), "{odd}");
    }

    #[test]
    fn the_commands_are_these() {
        let hold = Hold { sensor: false, rotation: 1 };
        assert_eq!(
            hold_command(hold).as_str(),
            "settings put system user_rotation 1 && settings put system accelerometer_rotation 0"
        );
        assert_eq!(
            window_command(hold).as_str(),
            "wm user-rotation lock 1 || wm set-user-rotation lock 1"
        );
        assert_eq!(
            keep_command(&journal("x", true, 0)).unwrap().as_str(),
            "[ -s /data/local/tmp/thumbwire-orientation ] || echo 'thumbwire-orientation 1 x 1 0 end' > /data/local/tmp/thumbwire-orientation ; cat /data/local/tmp/thumbwire-orientation"
        );
    }
}
