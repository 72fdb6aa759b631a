//! Rotates the screen and restores the previous rotation.
//!
//! Android rotates by the settings `accelerometer_rotation` (1: the sensor decides) and
//! `user_rotation` (quarter turns when it does not). They outlive the program that set them, so the
//! previous values are stored on the phone in [`JOURNAL`]: written before the screen rotates,
//! removed after it was restored. Any later session, from any computer, can restore it, however the
//! earlier one ended. Start with the `impl` of [`DisplayControl`].
//!
//! Not here: whether the screen has really rotated, and when to restore it. That is up to the
//! caller.

use async_trait::async_trait;

use super::{Android, CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::{DisplayControl, Error, Foreground, Orientation, RotationOwner};

/// The journal: one line, see [`Journal::to_line`]. The folder is writable for the shell on every
/// Android.
const JOURNAL: &str = "/data/local/tmp/thumbwire-orientation";

const WHAT: &str = "setting the orientation";

#[async_trait]
impl DisplayControl for Android {
    async fn orientation(&self) -> Result<Orientation, Error> {
        self.display().await.map(|display| display.orientation())
    }

    /// Values stored by an earlier rotation stay in the journal.
    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error> {
        check_owner(owner)?;
        let (journal, display) = tokio::try_join!(self.read_journal(), self.display())?;
        let ours = !matches!(journal, StoredJournal::Turned(_));
        if ours {
            let before = read_hold(&self.ask(settings_command()).await?)?;
            self.write_journal(&Journal { owner: owner.to_owned(), before }, journal).await?;
        }
        let hold = RotationSettings { sensor: false, rotation: display.rotation_for(orientation) };
        let held = self.hold(hold).await;
        // If the phone rejected the change, there is nothing to restore.
        if ours && matches!(held, Err(Error::Refused { .. } | Error::Unsupported { .. })) {
            self.ask(forget_command()).await?;
        }
        held
    }

    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error> {
        match self.read_journal().await? {
            StoredJournal::Turned(journal) if turned.includes(&journal.owner) => {
                self.hold(journal.before).await?;
                self.ask(forget_command()).await?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    async fn unlock(&self) -> Result<Foreground, Error> {
        self.unlock_screen().await
    }
}

impl Android {
    async fn read_journal(&self) -> Result<StoredJournal, Error> {
        self.ask(journal_command()).await.map(|output| read_journal(&output.out))
    }

    /// Writes the journal and reads it back: without it, nothing is rotated.
    async fn write_journal(&self, journal: &Journal, found: StoredJournal) -> Result<(), Error> {
        if found == StoredJournal::Unreadable {
            self.ask(forget_command()).await?;
        }
        let output = self.ask(keep_command(journal)?).await?;
        match read_journal(&output.out) {
            // If two sessions rotate at the same moment, the first one's journal is right.
            StoredJournal::Turned(_) => Ok(()),
            _ => {
                let text = format!("{} {}", output.out.trim(), output.err.trim());
                Err(Error::Failed { what: "store its previous orientation", text: excerpt(text) })
            }
        }
    }

    /// Sets the rotation through the settings or, if those are locked, through the window manager.
    async fn hold(&self, hold: RotationSettings) -> Result<(), Error> {
        self.release_ui_automation().await;
        let output = self.ask(hold_command(hold)).await?;
        let Some(complaint) = output.error_text() else { return Ok(()) };
        let text = format!("{}\n{}", output.err, output.out);
        if is_missing(&text) {
            return Err(unsupported());
        }
        // Xiaomi and others protect the settings with an extra switch.
        let is_kept = text.contains("SecurityException");
        if is_kept && self.ask(window_command(hold)).await?.error_text().is_none() {
            return Ok(());
        }
        let failed = Error::Failed { what: "rotate the screen", text: complaint };
        self.explained(&output, Err(failed)).await
    }
}

/// The rotation settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RotationSettings {
    /// The sensor decides; `rotation` applies when it does not.
    sensor: bool,
    /// Quarter turns from the natural orientation, 0 to 3.
    rotation: u8,
}

impl RotationSettings {
    /// Parses both settings. A setting that was never made counts as 0, as in Android
    /// (`DisplayRotation.updateSettings` in AOSP; `settings get` prints "null", capture 029).
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

/// The settings before the first rotation, and who rotated.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Journal {
    owner: String,
    before: RotationSettings,
}

/// Content of the journal file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum StoredJournal {
    Nothing,
    /// Something we did not write, or a truncated line.
    Unreadable,
    Turned(Journal),
}

impl Journal {
    /// `thumbwire-orientation 1 OWNER SENSOR ROTATION end`; 1 is the version of this format.
    fn to_line(&self) -> String {
        let Self { owner, before: RotationSettings { sensor, rotation } } = self;
        format!("{HEAD} {owner} {} {rotation} {END}", u8::from(*sensor))
    }
}

const HEAD: &str = "thumbwire-orientation 1";
/// Reveals a truncated line.
const END: &str = "end";

/// Accepts only values that the settings can have.
fn read_journal(text: &str) -> StoredJournal {
    if text.trim().is_empty() {
        return StoredJournal::Nothing;
    }
    let read = || {
        let mut lines = text.lines().map(str::trim).filter(|line| line.starts_with(HEAD));
        let line = lines
            .next()
            .filter(|_| lines.next().is_none())?
            .strip_prefix(HEAD)?
            .strip_suffix(END)?;
        let text: Vec<&str> = line.split_whitespace().collect();
        let [owner, sensor, rotation] = text[..] else { return None };
        check_owner(owner).ok()?;
        Some(Journal { owner: owner.into(), before: RotationSettings::read(sensor, rotation)? })
    };
    // Without shell v2, `cat` prints its error on the same stream, and so may others.
    if text.contains("No such file") {
        return StoredJournal::Nothing;
    }
    read().map_or(StoredJournal::Unreadable, StoredJournal::Turned)
}

/// An owner's name is one short word, both in the shell and in the journal.
fn check_owner(owner: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !owner.is_empty() && owner.len() <= 64 && owner.chars().all(plain) {
        return Ok(());
    }
    let reason = format!("{} is not a valid owner name", excerpt(owner));
    Err(Error::Refused { what: WHAT, reason })
}

/// The only command that slows down attaching; it starts no Java process.
fn journal_command() -> ShellCommand {
    ShellCommand::new("cat").then(JOURNAL).then("2>/dev/null")
}

fn keep_command(journal: &Journal) -> Result<ShellCommand, Error> {
    let line = ShellCommand::new("[ -s").then(JOURNAL).then("] || echo").arg(&journal.to_line())?;
    Ok(line.then(">").then(JOURNAL).then("; cat").then(JOURNAL))
}

fn forget_command() -> ShellCommand {
    ShellCommand::new("rm -f").then(JOURNAL)
}

fn settings_command() -> ShellCommand {
    ShellCommand::new(
        "settings get system accelerometer_rotation; settings get system user_rotation",
    )
}

fn read_hold(output: &CommandOutput) -> Result<RotationSettings, Error> {
    let is_value = |line: &&str| *line == "null" || line.parse::<u8>().is_ok();
    let values: Vec<&str> = output.out.lines().map(str::trim).filter(is_value).collect();
    if let [sensor, rotation] = values[..]
        && let Some(hold) = RotationSettings::read(sensor, rotation)
    {
        return Ok(hold);
    }
    let all = format!("{} {}", output.out, output.err);
    if is_missing(&all) {
        return Err(unsupported());
    }
    Err(Error::Unreadable { command: settings_command().as_str().into(), text: excerpt(all) })
}

/// Android has `settings` since 4.2. A shell prints "settings: not found", newer ones "settings:
/// inaccessible or not found".
fn is_missing(text: &str) -> bool {
    text.lines().any(|line| line.contains("settings: ") && line.contains("not found"))
}

/// Sets the quarter turns first, so that the screen rotates only once, when the sensor is turned
/// off.
fn hold_command(RotationSettings { sensor, rotation }: RotationSettings) -> ShellCommand {
    ShellCommand::new("settings put system user_rotation")
        .number(rotation)
        .then("&& settings put system accelerometer_rotation")
        .number(u8::from(sensor))
}

/// The window manager may write the same settings. The command is `user-rotation` since Android 12
/// and was `set-user-rotation` in 10 and 11 (`WindowManagerShellCommand` in AOSP).
fn window_command(hold: RotationSettings) -> ShellCommand {
    if hold.sensor {
        return ShellCommand::new("wm user-rotation free || wm set-user-rotation free");
    }
    ShellCommand::new("wm user-rotation lock")
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
        Journal { owner: owner.into(), before: RotationSettings { sensor, rotation } }
    }

    #[test]
    fn journal_round_trips_and_a_truncated_one_is_rejected() {
        let line = journal("a1-b2", true, 3).to_line();
        assert_eq!(line, "thumbwire-orientation 1 a1-b2 1 3 end");
        for kept in 1..line.len() {
            assert_eq!(read_journal(&line[..kept]), StoredJournal::Unreadable, "{}", &line[..kept]);
        }
        let through_a_terminal = format!("{line}\r\n");
        assert_eq!(
            read_journal(&through_a_terminal),
            StoredJournal::Turned(journal("a1-b2", true, 3))
        );
    }

    #[test]
    fn invalid_journals_are_rejected() {
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
            assert_eq!(read_journal(line), StoredJournal::Unreadable, "{line:?}");
        }
        let missing = "/system/bin/sh: cat: /data/local/tmp/thumbwire-orientation: No such file or directory\r\n";
        for nothing in ["", "\r\n", missing] {
            assert_eq!(read_journal(nothing), StoredJournal::Nothing, "{nothing:?}");
        }
    }

    #[test]
    fn settings_are_parsed() {
        let read = |out: &str| {
            read_hold(&CommandOutput { out: out.into(), err: String::new(), status: None })
        };
        assert_eq!(read("1\n0\n").unwrap(), RotationSettings { sensor: true, rotation: 0 });
        assert_eq!(read("0\r\n3\r\n").unwrap(), RotationSettings { sensor: false, rotation: 3 });
        assert_eq!(read("null\nnull\n").unwrap(), RotationSettings { sensor: false, rotation: 0 });
        let old = read("/system/bin/sh: settings: not found\r\n").unwrap_err();
        assert!(matches!(old, Error::Unsupported { .. }), "{old}");
        let invalid = read("Killed\n").unwrap_err();
        assert!(invalid.to_string().contains("Killed"), "{invalid}");
    }

    #[test]
    fn commands_match() {
        let hold = RotationSettings { sensor: false, rotation: 1 };
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
