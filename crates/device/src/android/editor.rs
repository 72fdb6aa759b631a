//! What the input method knows about the text field with the focus: a tenth of a second instead of
//! a dump's seconds.
//!
//! `dumpsys input_method` has the state of the app that is being typed into: its field, the field's
//! hint, and the selection. A dump on a phone before Android 14 does not distinguish a hint from a
//! text, and none says where the cursor is.

use super::windows::{braced, title};
use super::{Android, CommandOutput, ShellCommand};
use crate::{Editor, Error};

/// Prints the state of the input method, then the windows.
fn editor_command() -> ShellCommand {
    ShellCommand::new("dumpsys input_method; dumpsys window windows")
}

impl Android {
    pub(super) async fn read_editor(&self) -> Result<Option<Editor>, Error> {
        let CommandOutput { out, .. } = self.ask(editor_command()).await?;
        Ok(read_editor(&out))
    }
}

/// Parses the report; `None` if no field is connected, or the phone does not print the client's
/// state.
///
/// The client's part (`InputMethodManager.dump`) comes first: `mServedView=CLASS{hash FLAGS BOUNDS
/// #id app:id/NAME}`, the `EditorInfo` with `inputType`, `hintText` and `packageName`, and
/// `mCursorSelStart`. The keyboard's own copy follows.
pub(super) fn read_editor(text: &str) -> Option<Editor> {
    let start = text.find("Input method client state")?;
    let client = &text[start..];
    let end = client.find("Input method service state").unwrap_or(client.len());
    let client = &client[..end];
    let value = |key: &str| {
        client.lines().find_map(|line| {
            let at = line.find(key)?;
            let before = line[..at].chars().next_back();
            before.is_none_or(char::is_whitespace).then(|| line[at + key.len()..].trim_end())
        })
    };
    let word = |key: &str| value(key).and_then(|value| value.split_whitespace().next());
    let served = value("mServedView=")?;
    let (_, view) = served.split_once('{')?;
    let view = view.trim_end_matches('}');
    let mut words = view.split(' ').skip(1);
    // `VFED..CL .F....I.`: the second word begins with `.F` if the view has the focus.
    let (_, state) = (words.next()?, words.next()?);
    if !state.contains('F') {
        return None;
    }
    let id = words.find_map(|word| word.split_once(":id/")).map_or("", |(_, name)| name);
    let input_type = word("inputType=")?.strip_prefix("0x")?;
    let input_type = u32::from_str_radix(input_type, 16).ok()?;
    let number = |key: &str| word(key)?.parse::<usize>().ok();
    let cursor = match (number("mCursorSelStart="), number("mCursorSelEnd=")) {
        (Some(start), Some(end)) if start == end => Some(start),
        _ => None,
    };
    let hint = value("hintText=").and_then(|text| text.split(" label=").next());
    let popup = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("mCurrentFocus="))
        .find_map(braced)
        .is_some_and(|window| title(window).starts_with("PopupWindow:"));
    Some(Editor {
        package: word("packageName=").unwrap_or_default().to_owned(),
        id: id.to_owned(),
        hint: hint.filter(|hint| *hint != "null").unwrap_or_default().to_owned(),
        cursor,
        multi_line: input_type & TYPE_TEXT_FLAG_MULTI_LINE != 0
            && input_type & TYPE_MASK_CLASS == TYPE_CLASS_TEXT,
        popup,
    })
}

/// `android.text.InputType`
const TYPE_MASK_CLASS: u32 = 0xf;
const TYPE_CLASS_TEXT: u32 = 1;
const TYPE_TEXT_FLAG_MULTI_LINE: u32 = 0x2_0000;

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys as Android 4.4.4 prints them for a field of Messaging.
    const REPORT: &str = "Current Input Method Manager state:\r\n  mCurId=com.android.inputmethod.latin/.LatinIME\r\n \r\nInput method client state for android.view.inputmethod.InputMethodManager@9670f698:\r\n  mServedView=android.widget.EditText{9658da70 VFED..CL .F....I. 12,0-378,112 #7f0e0016 app:id/embedded_text_editor}\r\n  mCurrentTextBoxAttribute:\r\n    inputType=0x2c041 imeOptions=0x44000004 privateImeOptions=null\r\n    initialSelStart=0 initialSelEnd=0 initialCapsMode=0x2000\r\n    hintText=Type message label=null\r\n    packageName=com.android.mms fieldId=2131623958 fieldName=null\r\n  mCursorSelStart=57 mCursorSelEnd=57 mCursorCandStart=0 mCursorCandEnd=57\r\n \r\nInput method service state for com.android.inputmethod.latin.LatinIME@965928e0:\r\n    hintText=Other label=null\r\n";

    #[test]
    fn field_hint_and_cursor_are_read() {
        let editor = read_editor(REPORT).unwrap();
        let expected = Editor {
            package: "com.android.mms".into(),
            id: "embedded_text_editor".into(),
            hint: "Type message".into(),
            cursor: Some(57),
            multi_line: true,
            popup: false,
        };
        assert_eq!(editor, expected);
        let single = REPORT.replace("0x2c041", "0x81").replace("SelEnd=57", "SelEnd=60");
        let editor = read_editor(&single).unwrap();
        assert_eq!((editor.multi_line, editor.cursor), (false, None), "a selection has no cursor");
    }

    #[test]
    fn no_field_is_nothing() {
        assert_eq!(read_editor(&REPORT.replace(".F....I.", "......I.")), None);
        assert_eq!(read_editor("Can't find service: input_method\r\n"), None);
        let none =
            REPORT.split("  mServedView").next().unwrap().to_owned() + "  mServedView=null\r\n";
        assert_eq!(read_editor(&none), None);
    }

    #[test]
    fn popup_over_the_field_is_noticed() {
        let text = format!("{REPORT}  mCurrentFocus=Window{{7 u0 PopupWindow:41f0a8}}\r\n");
        assert!(read_editor(&text).unwrap().popup);
    }
}
