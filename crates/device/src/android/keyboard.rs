//! Text that has no keys, through a keyboard app on the phone that takes text over adb.
//!
//! Begin with [`Android::type_by_keyboard`]: it finds such an app, makes it the phone's keyboard for as long as the text
//! takes, and gives the phone its own back, also when a piece fails or the call is dropped half-way. Text goes as
//! base64, because Android 4.4 garbles characters beyond U+FFFF in arguments (measured). What needs no such app is
//! `input.rs`.
//!
//! There is no way by the clipboard: no Android that we know of lets its shell set it (`cmd clipboard` answers "No shell
//! command implementation" on Android 16), and the apps that offer it take text as plain arguments and cannot read, and so
//! not give back, what was on it (apps in the background may not since Android 10).

mod lent;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::input::{enter_command, partly};
use super::{Android, Line, Said};
use crate::error::excerpt;
use crate::{AppId, Error, TypedBy};
use lent::Lent;

/// What a handle knows of the keyboard apps on its phone.
#[derive(Default)]
pub(super) struct Keyboards {
    /// The one that was found; forgotten when it fails.
    found: Mutex<Option<Keyboard>>,
    /// One text at a time, and none before the phone has its own keyboard back.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Keyboards {
    /// Until the phone has its own keyboard.
    pub(super) async fn settle(&self) {
        drop(self.turn.lock().await);
    }
}

/// A keyboard app that takes text from broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyboard {
    /// Comes with openatx's uiautomator2. Its answers tell whether a field took the text, so it is preferred. Source:
    /// `AdbKeyboard.java` of android-uiautomator-server, `_input.py` of uiautomator2.
    Uiautomator2,
    /// senzhk's ADBKeyBoard: `result=0` comes whether it listens or not. Source: its README and `AdbIME.java`.
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

    /// Its id as an input method.
    fn id(self) -> &'static str {
        match self {
            Self::Uiautomator2 => "com.github.uiautomator/.AdbKeyboard",
            Self::AdbKeyboard => "com.android.adbkeyboard/.AdbIME",
        }
    }

    fn typed_by(self) -> TypedBy {
        TypedBy::Keyboard { app: AppId(self.package().into()) }
    }
}

impl Android {
    /// Types text that holds a character without a key, `odd` being the first one.
    ///
    /// # Errors
    /// [`Error::Refused`] by the name of the missing app where there is none; [`Error::NotReady`] where no field takes
    /// text. Nothing was typed in either case.
    pub(super) async fn type_by_keyboard(&self, text: &str, odd: char) -> Result<TypedBy, Error> {
        let turn = Arc::clone(&self.keyboards.turn).lock_owned().await;
        let keyboard = self.find_keyboard(odd).await?;
        let typed = self.type_with(keyboard, text, turn).await;
        if typed.is_err() {
            // It may have been removed, or another one come: the next text looks again.
            self.keyboards.remember(None);
        }
        typed.map(|()| keyboard.typed_by())
    }

    /// The keyboard app to use; looked for once.
    pub(super) async fn find_keyboard(&self, odd: char) -> Result<Keyboard, Error> {
        if let Some(keyboard) = self.keyboards.known() {
            return Ok(keyboard);
        }
        let keyboard = read_list(&self.ask(list_command()).await?).ok_or_else(|| missing(odd))?;
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
            let enabled =
                read_enabled(&self.ask(Line::new("ime enable").word(keyboard.id())?).await?)?;
            // Made before the switch, so that it is undone whatever comes of it.
            let lent =
                Lent::new(Arc::clone(&self.transport), turn, undoing(keyboard, former, enabled)?);
            read_set(&self.ask(Line::new("ime set").word(keyboard.id())?).await?)?;
            Some(lent)
        };
        let typed = self.send(keyboard, text).await;
        if let Some(lent) = lent {
            lent.give_back().await;
        }
        typed
    }

    /// Sends the text, once the keyboard is there, in pieces; a line end is the Enter key.
    async fn send(&self, keyboard: Keyboard, text: &str) -> Result<(), Error> {
        self.until_bound(keyboard).await?;
        let mut sent = 0;
        for (i, line) in text.replace("\r\n", "\n").split('\n').enumerate() {
            if i > 0 {
                let entered = self.order("type", enter_command()).await;
                entered.map_err(|error| partly(error, sent))?;
                sent += 1;
            }
            for piece in pieces(line) {
                let typed = self.commit(keyboard, piece).await;
                typed.map_err(|error| partly(error, sent))?;
                sent += 1;
            }
        }
        Ok(())
    }

    async fn commit(&self, keyboard: Keyboard, piece: &str) -> Result<(), Error> {
        let said = self.ask(commit_command(keyboard, piece, true)?).await?;
        let said = match knows_no_package(&said) {
            true => self.ask(commit_command(keyboard, piece, false)?).await?,
            false => said,
        };
        read_commit(keyboard, &said)
    }

    /// `ime set` answers before the keyboard is bound to the field, and what is sent until then is lost without a word
    /// (measured by others on phones). So the phone is asked until it says so, as fast as it answers.
    async fn until_bound(&self, keyboard: Keyboard) -> Result<(), Error> {
        const LONGEST: Duration = Duration::from_secs(3);
        const MOST: usize = 100;
        let asking = async {
            for _ in 0..MOST {
                let said = self.ask(Line::new("dumpsys input_method")).await?;
                if read_bound(&said.out, keyboard) {
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
                said: format!(
                    "the keyboard {} does not come up: no text field has the focus, or a hardware keyboard keeps it away",
                    keyboard.package()
                ),
            }),
        }
    }
}

impl Keyboards {
    fn known(&self) -> Option<Keyboard> {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, keyboard: Option<Keyboard>) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = keyboard;
    }
}

fn missing(odd: char) -> Error {
    let why = format!(
        "{} (U+{:04X}) has no key on the phone's keyboard and would be lost; install a keyboard app that takes text over \
         adb (ADB Keyboard, com.android.adbkeyboard, or uiautomator2's com.github.uiautomator), or type only printable \
         ASCII and line ends",
        odd.escape_debug(),
        u32::from(odd)
    );
    Error::Refused { what: "text", why }
}

/// All input methods, one id a line; known since Android 1.5 (`Ime.java`).
fn list_command() -> Line {
    Line::new("ime list -a -s")
}

fn read_list(said: &Said) -> Option<Keyboard> {
    let there: Vec<&str> = said.out.lines().map(str::trim).collect();
    Keyboard::ALL.into_iter().find(|keyboard| there.contains(&keyboard.id()))
}

fn selected_command() -> Line {
    Line::new("settings get secure default_input_method")
}

/// Reads the selected input method; `None` where none is, or the phone has no `settings` (before Android 4.2).
fn read_selected(said: &Said) -> Option<String> {
    let id = said.out.trim();
    let is_id = id.contains('/') && !id.contains(char::is_whitespace);
    (is_id && said.complaint().is_none()).then(|| id.to_owned())
}

/// What gives the phone its own keyboard back, in order.
fn undoing(keyboard: Keyboard, former: Option<String>, enabled: bool) -> Result<Vec<Line>, Error> {
    let mut undo = Vec::new();
    if let Some(former) = &former {
        undo.push(Line::new("ime set").word(former)?);
    }
    // A phone that had none selected chooses another one by itself when ours may not be.
    if enabled || former.is_none() {
        undo.push(Line::new("ime disable").word(keyboard.id())?);
    }
    Ok(undo)
}

/// Reads `ime enable`: whether the method was not enabled before. Phones say so in words that end in "for user #0" on
/// newer ones; a refusal may come with status 0.
fn read_enabled(said: &Said) -> Result<bool, Error> {
    match (said.out.contains(": now enabled"), said.out.contains(": already enabled")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(refused(said)),
    }
}

/// Reads `ime set`.
fn read_set(said: &Said) -> Result<(), Error> {
    let selected = said
        .out
        .lines()
        .any(|line| line.starts_with("Input method ") && line.contains(" selected"));
    if selected { Ok(()) } else { Err(refused(said)) }
}

/// Nothing was typed so far.
fn refused(said: &Said) -> Error {
    let words = if said.err.trim().is_empty() { &said.out } else { &said.err };
    Error::NotReady { what: "switch to the keyboard app", said: excerpt(words) }
}

/// Reads `dumpsys input_method`: whether the keyboard holds a field, and shows. The name of the selected method changes
/// before it is bound, so that alone says nothing.
fn read_bound(said: &str, keyboard: Keyboard) -> bool {
    let is = |name: &str, value: &str| said.contains(&format!("{name}={value}"));
    let shown = is("mInputShown", "true") || !said.contains("mInputShown=");
    is("mCurId", keyboard.id()) && is("mBoundToMethod", "true") && shown
}

/// Bytes of text in one command: as base64 they stay below the 1,024 bytes that old phones take for a service's name.
const PIECE: usize = 600;

/// Cuts a line into pieces of whole characters.
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

/// One piece, to the keyboard app alone where `addressed`: any app may listen for the same action, and the text may be a
/// password.
fn commit_command(keyboard: Keyboard, piece: &str, addressed: bool) -> Result<Line, Error> {
    let mut line = Line::new("am broadcast");
    if addressed {
        line = line.then("-p").word(keyboard.package())?;
    }
    let line = match keyboard {
        Keyboard::Uiautomator2 => line.then("-a ADB_KEYBOARD_INPUT_TEXT --es text"),
        Keyboard::AdbKeyboard => line.then("-a ADB_INPUT_B64 --es msg"),
    };
    line.word(&STANDARD.encode(piece))
}

/// Whether `am` does not know `-p`: its usage on Android 4.4 does not name it. Nothing was sent then.
fn knows_no_package(said: &Said) -> bool {
    // The usage may stand before it, so that no excerpt will do.
    [&said.out, &said.err].into_iter().any(|words| words.contains("Unknown option: -p"))
}

/// Reads what `am broadcast` said. Its words may hold the intent, but no extras: nothing of the text is repeated.
fn read_commit(keyboard: Keyboard, said: &Said) -> Result<(), Error> {
    let completed =
        said.out.lines().find_map(|line| line.trim().strip_prefix("Broadcast completed: "));
    let (Some(completed), None) = (completed, said.complaint()) else {
        let words = said.complaint().unwrap_or_else(|| excerpt(&said.out));
        return Err(Error::Failed { what: "type", said: words });
    };
    match keyboard {
        Keyboard::AdbKeyboard => Ok(()),
        // `Activity.RESULT_OK`, and as data the action where no field is there to take the text.
        Keyboard::Uiautomator2 if completed == "result=-1" => Ok(()),
        Keyboard::Uiautomator2 => Err(Error::NotReady {
            what: "type",
            said: format!("no text field took it ({completed})"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(out: &str, err: &str, status: Option<i32>) -> Said {
        Said { out: out.into(), err: err.into(), status }
    }

    #[test]
    fn the_keyboard_that_answers_is_preferred() {
        let both = "com.android.inputmethod.latin/.LatinIME\r\ncom.android.adbkeyboard/.AdbIME\r\ncom.github.uiautomator/.AdbKeyboard\r\n";
        assert_eq!(read_list(&said(both, "", None)), Some(Keyboard::Uiautomator2));
        let one = "com.android.adbkeyboard/.AdbIME\n";
        assert_eq!(read_list(&said(one, "", Some(0))), Some(Keyboard::AdbKeyboard));
        let none = "com.android.adbkeyboard.other/.AdbIME\n";
        assert_eq!(read_list(&said(none, "", Some(0))), None);
    }

    #[test]
    fn words_of_old_and_new_phones_are_read() {
        // `Ime.java` of Android 4.4, then `InputMethodManagerService.java` of Android 14.
        for (words, newly) in [
            ("Input method a/.B: now enabled\r\n", true),
            ("Input method a/.B: already enabled for user #0\n", false),
        ] {
            assert_eq!(read_enabled(&said(words, "", None)).unwrap(), newly);
        }
        let unknown = "Unknown input method a/.B cannot be enabled for user #0\n";
        for refusal in [said(unknown, "", Some(0)), said("", unknown, Some(255))] {
            let error = read_enabled(&refusal).unwrap_err();
            assert!(error.to_string().contains("cannot be enabled"), "{error}");
        }
        assert!(read_set(&said("Input method a/.B selected\r\n", "", None)).is_ok());
        assert!(read_set(&said("Input method a/.B selected for user #0\n", "", Some(0))).is_ok());
        let unknown = "Unknown input method a/.B cannot be selected for user #0\n";
        assert!(read_set(&said("", unknown, Some(255))).is_err());
        assert!(read_set(&said("Error: Unknown id: a/.B\r\n", "", None)).is_err());
        assert_eq!(read_selected(&said("a/.B\r\n", "", None)).as_deref(), Some("a/.B"));
        assert_eq!(read_selected(&said("null\n", "", Some(0))), None);
        assert_eq!(read_selected(&said("/system/bin/sh: settings: not found\r\n", "", None)), None);
    }

    #[test]
    fn a_keyboard_is_ready_when_it_is_bound_and_shows() {
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
    fn text_goes_as_base64_to_one_app() {
        let line = commit_command(Keyboard::AdbKeyboard, "é漢😀", true).unwrap();
        let expected =
            "am broadcast -p 'com.android.adbkeyboard' -a ADB_INPUT_B64 --es msg 'w6nmvKLwn5iA'";
        assert_eq!(line.as_str(), expected);
    }

    #[test]
    fn a_phone_that_cannot_name_the_app_is_known_by_its_words() {
        let usage = format!(
            "usage: am [subcommand] [options]\r\n{}\r\nError: Unknown option: -p\r\n",
            "x".repeat(9_000)
        );
        assert!(knows_no_package(&said(&usage, "", None)));
        assert!(!knows_no_package(&said("Broadcast completed: result=0\r\n", "", None)));
    }

    #[test]
    fn only_an_answer_that_says_so_counts_as_typed() {
        let done = |words: &str| {
            said(&format!("Broadcasting: Intent {{ act=X }}\r\n{words}\r\n"), "", None)
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
        fn pieces_hold_all_of_the_text_and_fit_into_a_service_name(line in "[a\u{e9}\u{6f22}\u{1f600}]{0,900}") {
            let pieces = pieces(&line);
            prop_assert_eq!(pieces.concat(), line.as_str());
            for piece in pieces {
                let command = commit_command(Keyboard::Uiautomator2, piece, true).unwrap();
                prop_assert!(command.as_str().len() < 1_000);
            }
        }
    }
}
