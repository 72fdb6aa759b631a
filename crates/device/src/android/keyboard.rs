//! Types text that has no keys, through a keyboard app on the phone that takes text over adb.
//!
//! Start with [`Android::type_by_keyboard`]: it finds such an app, makes it the phone's keyboard while it types, and
//! restores the phone's own, even if a part fails or the call is cancelled. Text is sent as base64, because Android 4.4
//! garbles characters above U+FFFF in arguments (measured). Text that needs no keyboard app is in `input.rs`.
//!
//! The clipboard is no alternative. No Android we know lets its shell set it (`cmd clipboard` prints "No shell command
//! implementation" on Android 16). The apps that offer it take text as plain arguments and cannot read the previous
//! content to restore it (background apps may not since Android 10).

mod borrowed;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thumbwire_base::lock;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::input::{enter_command, partial_error};
use super::{Android, CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::{AppId, Error, TypingMethod, UntypableText};
use borrowed::BorrowedKeyboard;

/// What a handle knows about the keyboard apps on its phone.
#[derive(Default)]
pub(super) struct KeyboardState {
    /// The app to use; forgotten when it fails.
    found: Mutex<Option<Keyboard>>,
    /// One text at a time, and none until the phone has its own keyboard back.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl KeyboardState {
    /// Waits until the phone has its own keyboard back.
    pub(super) async fn wait_until_restored(&self) {
        drop(self.turn.lock().await);
    }
}

/// A keyboard app that takes text from broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyboard {
    /// Part of openatx's uiautomator2. Its replies tell whether a field took the text, so it is preferred. Source:
    /// `AdbKeyboard.java` of android-uiautomator-server, `_input.py` of uiautomator2.
    Uiautomator2,
    /// senzhk's ADBKeyBoard. It replies `result=0` whether it listens or not. Source: its README and `AdbIME.java`.
    AdbKeyboard,
}

impl Keyboard {
    const ALL: [Self; 2] = [Self::Uiautomator2, Self::AdbKeyboard];

    fn package(self) -> &'static str {
        match self {
            Self::Uiautomator2 => "com.github.uiautomator",
            Self::AdbKeyboard => "com.android.adbkeyboard",
        }
    }

    /// Its input method id.
    fn id(self) -> &'static str {
        match self {
            Self::Uiautomator2 => "com.github.uiautomator/.AdbKeyboard",
            Self::AdbKeyboard => "com.android.adbkeyboard/.AdbIME",
        }
    }

    fn typed_by(self) -> TypingMethod {
        TypingMethod::Keyboard { app: AppId(self.package().into()) }
    }
}

impl Android {
    /// Types text with characters without a key; `odd` are those.
    ///
    /// # Errors
    /// [`Error::Untypable`] if there is none; [`Error::NotReady`] if no field accepts text.
    /// Nothing was typed in either case.
    pub(super) async fn type_by_keyboard(
        &self,
        text: &str,
        odd: &[char],
    ) -> Result<TypingMethod, Error> {
        let turn = Arc::clone(&self.keyboards.turn).lock_owned().await;
        let keyboard = self.find_keyboard(odd).await?;
        let typed = self.type_with(keyboard, text, turn).await;
        if typed.is_err() {
            // It may have been removed or replaced: the next text searches again.
            self.keyboards.remember(None);
        }
        typed.map(|()| keyboard.typed_by())
    }

    /// The keyboard app to use; searched for once.
    pub(super) async fn find_keyboard(&self, odd: &[char]) -> Result<Keyboard, Error> {
        if let Some(keyboard) = self.keyboards.known() {
            return Ok(keyboard);
        }
        let missing = || Error::Untypable(UntypableText::Keyless(odd.to_vec()));
        let keyboard = read_list(&self.ask(list_command()).await?).ok_or_else(missing)?;
        self.keyboards.remember(Some(keyboard));
        Ok(keyboard)
    }

    async fn type_with(
        &self,
        keyboard: Keyboard,
        text: &str,
        turn: OwnedMutexGuard<()>,
    ) -> Result<(), Error> {
        let former = read_selected(&self.ask(selected_command()).await?);
        let lent = if former.as_deref() == Some(keyboard.id()) {
            None
        } else {
            let enabled = read_enabled(
                &self.ask(ShellCommand::new("ime enable").arg(keyboard.id())?).await?,
            )?;
            // Created before the switch, so that the switch is undone in any case.
            let lent = BorrowedKeyboard::new(
                Arc::clone(&self.transport),
                turn,
                undoing(keyboard, former, enabled)?,
            );
            read_set(&self.ask(ShellCommand::new("ime set").arg(keyboard.id())?).await?)?;
            Some(lent)
        };
        let typed = self.send(keyboard, text).await;
        if let Some(lent) = lent {
            lent.give_back().await;
        }
        typed
    }

    /// Sends the text in parts once the keyboard is ready; a line break is the Enter key.
    async fn send(&self, keyboard: Keyboard, text: &str) -> Result<(), Error> {
        self.until_bound(keyboard).await?;
        let mut sent = 0;
        for (i, line) in text.replace("\r\n", "\n").split('\n').enumerate() {
            if i > 0 {
                let entered = self.run_silent("type", enter_command()).await;
                entered.map_err(|error| partial_error(error, sent))?;
                sent += 1;
            }
            for piece in pieces(line) {
                let typed = self.commit(keyboard, piece).await;
                typed.map_err(|error| partial_error(error, sent))?;
                sent += 1;
            }
        }
        Ok(())
    }

    async fn commit(&self, keyboard: Keyboard, piece: &str) -> Result<(), Error> {
        let output = self.ask(commit_command(keyboard, piece, true)?).await?;
        let output = match knows_no_package(&output) {
            true => self.ask(commit_command(keyboard, piece, false)?).await?,
            false => output,
        };
        read_commit(keyboard, &output)
    }

    /// `ime set` returns before the keyboard is bound to the field, and text sent until then is lost silently (measured
    /// by others on phones). So we poll the phone until it reports the binding.
    async fn until_bound(&self, keyboard: Keyboard) -> Result<(), Error> {
        const LONGEST: Duration = Duration::from_secs(3);
        const MOST: usize = 100;
        let asking = async {
            for _ in 0..MOST {
                let output = self.ask(ShellCommand::new("dumpsys input_method")).await?;
                if read_bound(&output.out, keyboard) {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        match timeout(LONGEST, asking).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Err(error)) => Err(error),
            Ok(Ok(false)) | Err(_) => Err(Error::NotReady {
                what: "type",
                text: format!(
                    "the keyboard {} does not appear: no text field has the focus, or a hardware keyboard suppresses it",
                    keyboard.package()
                ),
            }),
        }
    }
}

impl KeyboardState {
    fn known(&self) -> Option<Keyboard> {
        *lock(&self.found)
    }

    fn remember(&self, keyboard: Option<Keyboard>) {
        *lock(&self.found) = keyboard;
    }
}

/// Prints all input method ids, one per line; supported since Android 1.5 (`Ime.java`).
fn list_command() -> ShellCommand {
    ShellCommand::new("ime list -a -s")
}

fn read_list(output: &CommandOutput) -> Option<Keyboard> {
    let there: Vec<&str> = output.out.lines().map(str::trim).collect();
    Keyboard::ALL.into_iter().find(|keyboard| there.contains(&keyboard.id()))
}

fn selected_command() -> ShellCommand {
    ShellCommand::new("settings get secure default_input_method")
}

/// Parses the selected input method; `None` if there is none or the phone has no `settings` (before Android 4.2).
fn read_selected(output: &CommandOutput) -> Option<String> {
    let id = output.out.trim();
    let is_id = id.contains('/') && !id.contains(char::is_whitespace);
    (is_id && output.error_text().is_none()).then(|| id.to_owned())
}

/// Commands that restore the phone's own keyboard, in order.
fn undoing(
    keyboard: Keyboard,
    former: Option<String>,
    enabled: bool,
) -> Result<Vec<ShellCommand>, Error> {
    let mut undo = Vec::new();
    if let Some(former) = &former {
        undo.push(ShellCommand::new("ime set").arg(former)?);
    }
    // A phone that had none selected chooses another one by itself once ours is disabled.
    if enabled || former.is_none() {
        undo.push(ShellCommand::new("ime disable").arg(keyboard.id())?);
    }
    Ok(undo)
}

/// Parses `ime enable`: whether the input method was disabled before. On newer phones the message ends in "for user
/// #0"; an error may come with status 0.
fn read_enabled(output: &CommandOutput) -> Result<bool, Error> {
    match (output.out.contains(": now enabled"), output.out.contains(": already enabled")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(refused(output)),
    }
}

/// Parses `ime set`.
fn read_set(output: &CommandOutput) -> Result<(), Error> {
    let selected = output
        .out
        .lines()
        .any(|line| line.starts_with("Input method ") && line.contains(" selected"));
    if selected { Ok(()) } else { Err(refused(output)) }
}

/// Nothing has been typed.
fn refused(output: &CommandOutput) -> Error {
    let text = if output.err.trim().is_empty() { &output.out } else { &output.err };
    Error::NotReady { what: "switch to the keyboard app", text: excerpt(text) }
}

/// Parses `dumpsys input_method`: whether the keyboard is bound to a field and visible. The selected input method
/// changes before it is bound, so its name alone proves nothing.
fn read_bound(text: &str, keyboard: Keyboard) -> bool {
    let is = |name: &str, value: &str| text.contains(&format!("{name}={value}"));
    let shown = is("mInputShown", "true") || !text.contains("mInputShown=");
    is("mCurId", keyboard.id()) && is("mBoundToMethod", "true") && shown
}

/// Bytes of text per command: as base64 they stay below the 1,024 bytes that old phones accept as a service name.
const PIECE: usize = 600;

/// Splits a line into parts of whole characters.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Sends one part; to the keyboard app alone if `addressed`: any app may listen for the same action, and the text may
/// be a password.
fn commit_command(keyboard: Keyboard, piece: &str, addressed: bool) -> Result<ShellCommand, Error> {
    let mut line = ShellCommand::new("am broadcast");
    if addressed {
        line = line.then("-p").arg(keyboard.package())?;
    }
    let line = match keyboard {
        Keyboard::Uiautomator2 => line.then("-a ADB_KEYBOARD_INPUT_TEXT --es text"),
        Keyboard::AdbKeyboard => line.then("-a ADB_INPUT_B64 --es msg"),
    };
    line.arg(&STANDARD.encode(piece))
}

/// Whether `am` does not support `-p`: on Android 4.4 its usage does not list it. Then nothing was sent.
fn knows_no_package(output: &CommandOutput) -> bool {
    // The usage may come first, so an excerpt is not enough.
    [&output.out, &output.err].into_iter().any(|words| words.contains("Unknown option: -p"))
}

/// Parses `am broadcast`. Its output may contain the intent but no extras, so the text is not repeated.
fn read_commit(keyboard: Keyboard, output: &CommandOutput) -> Result<(), Error> {
    let completed =
        output.out.lines().find_map(|line| line.trim().strip_prefix("Broadcast completed: "));
    let (Some(completed), None) = (completed, output.error_text()) else {
        let text = output.error_text().unwrap_or_else(|| excerpt(&output.out));
        return Err(Error::Failed { what: "type", text });
    };
    match keyboard {
        Keyboard::AdbKeyboard => Ok(()),
        // `Activity.RESULT_OK`; if there is no field to take the text, the data is the action.
        Keyboard::Uiautomator2 if completed == "result=-1" => Ok(()),
        Keyboard::Uiautomator2 => Err(Error::NotReady {
            what: "type",
            text: format!("no text field accepted it ({completed})"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn output(out: &str, err: &str, status: Option<i32>) -> CommandOutput {
        CommandOutput { out: out.into(), err: err.into(), status }
    }

    #[test]
    fn replying_keyboard_is_preferred() {
        let both = "com.android.inputmethod.latin/.LatinIME\r\ncom.android.adbkeyboard/.AdbIME\r\ncom.github.uiautomator/.AdbKeyboard\r\n";
        assert_eq!(read_list(&output(both, "", None)), Some(Keyboard::Uiautomator2));
        let one = "com.android.adbkeyboard/.AdbIME\n";
        assert_eq!(read_list(&output(one, "", Some(0))), Some(Keyboard::AdbKeyboard));
        let none = "com.android.adbkeyboard.other/.AdbIME\n";
        assert_eq!(read_list(&output(none, "", Some(0))), None);
    }

    #[test]
    fn ime_output_of_old_and_new_phones_is_parsed() {
        // `Ime.java` of Android 4.4, then `InputMethodManagerService.java` of Android 14.
        for (words, newly) in [
            ("Input method a/.B: now enabled\r\n", true),
            ("Input method a/.B: already enabled for user #0\n", false),
        ] {
            assert_eq!(read_enabled(&output(words, "", None)).unwrap(), newly);
        }
        let unknown = "Unknown input method a/.B cannot be enabled for user #0\n";
        for refusal in [output(unknown, "", Some(0)), output("", unknown, Some(255))] {
            let error = read_enabled(&refusal).unwrap_err();
            assert!(error.to_string().contains("cannot be enabled"), "{error}");
        }
        assert!(read_set(&output("Input method a/.B selected\r\n", "", None)).is_ok());
        assert!(read_set(&output("Input method a/.B selected for user #0\n", "", Some(0))).is_ok());
        let unknown = "Unknown input method a/.B cannot be selected for user #0\n";
        assert!(read_set(&output("", unknown, Some(255))).is_err());
        assert!(read_set(&output("Error: Unknown id: a/.B\r\n", "", None)).is_err());
        assert_eq!(read_selected(&output("a/.B\r\n", "", None)).as_deref(), Some("a/.B"));
        assert_eq!(read_selected(&output("null\n", "", Some(0))), None);
        assert_eq!(
            read_selected(&output("/system/bin/sh: settings: not found\r\n", "", None)),
            None
        );
    }

    #[test]
    fn keyboard_is_ready_when_bound_and_visible() {
        let id = Keyboard::AdbKeyboard.id();
        let dump = |id: &str, bound, shown| {
            format!(
                "  mCurId={id} mHaveConnect=true mBoundToMethod={bound}\r\n  mShowForced=false mInputShown={shown}\r\n"
            )
        };
        assert!(read_bound(&dump(id, true, true), Keyboard::AdbKeyboard));
        for not in [dump(id, false, true), dump(id, true, false), dump("a/.B", true, true)] {
            assert!(!read_bound(&not, Keyboard::AdbKeyboard), "{not}");
        }
    }

    #[test]
    fn text_is_sent_as_base64_to_one_app() {
        let line = commit_command(Keyboard::AdbKeyboard, "é漢😀", true).unwrap();
        let expected =
            "am broadcast -p 'com.android.adbkeyboard' -a ADB_INPUT_B64 --es msg 'w6nmvKLwn5iA'";
        assert_eq!(line.as_str(), expected);
    }

    #[test]
    fn missing_package_option_is_recognized() {
        let usage = format!(
            "usage: am [subcommand] [options]\r\n{}\r\nError: Unknown option: -p\r\n",
            "x".repeat(9_000)
        );
        assert!(knows_no_package(&output(&usage, "", None)));
        assert!(!knows_no_package(&output("Broadcast completed: result=0\r\n", "", None)));
    }

    #[test]
    fn only_a_success_reply_counts_as_typed() {
        let done = |text: &str| {
            output(&format!("Broadcasting: Intent {{ act=X }}\r\n{text}\r\n"), "", None)
        };
        let (silent, answers) = (Keyboard::AdbKeyboard, Keyboard::Uiautomator2);
        assert!(read_commit(silent, &done("Broadcast completed: result=0")).is_ok());
        assert!(read_commit(answers, &done("Broadcast completed: result=-1")).is_ok());
        for not in ["result=0", "result=-1, data=\"ADB_KEYBOARD_INPUT_TEXT\""] {
            let error =
                read_commit(answers, &done(&format!("Broadcast completed: {not}"))).unwrap_err();
            assert!(matches!(error, Error::NotReady { .. }), "{error}");
        }
        assert!(read_commit(silent, &done("")).is_err());
    }

    proptest! {
        #[test]
        fn parts_contain_all_text_and_fit_a_service_name(line in "[a\u{e9}\u{6f22}\u{1f600}]{0,900}") {
            let pieces = pieces(&line);
            prop_assert_eq!(pieces.concat(), line.as_str());
            for piece in pieces {
                let command = commit_command(Keyboard::Uiautomator2, piece, true).unwrap();
                prop_assert!(command.as_str().len() < 1_000);
            }
        }
    }
}
