//! Notifications, by `dumpsys notification`.
//!
//! Start with [`Notifications::notifications`]. Sources: `NotificationRecord.dump` and
//! `dumpNotification` of AOSP's `NotificationManagerService` of Android 4.4, 7 and 14. Since
//! Android 7 the dump hides texts unless it is asked not to.
//!
//! A text may have line breaks, and so may imitate the lines of another record. So the dump is
//! taken twice: only what is a record in the dump without texts is one in the dump with texts.
//! Earlier phones always print texts.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{Android, CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::phone_time::{offset_seconds, time_at};
use crate::{AppId, Error, Notification, Notifications};

/// Printed between the two dumps.
const REVEALED: &str = "-- with texts --";

/// Begins a record. Records are four spaces deep; what is less deep is the next part of the dump.
const RECORD: &str = "NotificationRecord(";

/// `Notification.FLAG_ONGOING_EVENT`.
const ONGOING: u32 = 0x2;

/// Maximum characters of a title or text.
const MAX_TEXT: usize = 2_000;

#[async_trait]
impl Notifications for Android {
    async fn notifications(&self, max: usize) -> Result<Vec<Notification>, Error> {
        let output = self.ask(dump_command()?).await?;
        read_dumps(&output, max)
    }
}

/// Prints the time zone, then both dumps.
fn dump_command() -> Result<ShellCommand, Error> {
    let line = ShellCommand::new("date +%z; dumpsys notification; echo; echo").arg(REVEALED)?;
    Ok(line.then("; dumpsys notification --noredact"))
}

pub(super) fn read_dumps(output: &CommandOutput, max: usize) -> Result<Vec<Notification>, Error> {
    let zone = output.out.lines().take(10).find_map(offset_seconds).unwrap_or(0);
    let both = output.out.split_once(&*format!("\n{REVEALED}\n"));
    let Some((hidden, revealed)) = both.filter(|(hidden, _)| hidden.contains("otification")) else {
        let text = format!("{}{}", output.out, output.err);
        return Err(match output.error_text() {
            Some(message) => Error::Failed { what: "list notifications", text: message },
            None => {
                Error::Unreadable { command: "dumpsys notification".into(), text: excerpt(text) }
            }
        });
    };
    let mut known: HashMap<&str, usize> = HashMap::new();
    for head in list(hidden).filter(|line| is_head(line)) {
        *known.entry(head).or_default() += 1;
    }
    let mut records: Vec<Record<'_>> = Vec::new();
    for line in revealed.lines() {
        let counted =
            if is_head(line) { known.get_mut(line).filter(|left| **left > 0) } else { None };
        match counted {
            Some(left) => {
                *left -= 1;
                records.push(Record { head: line.trim(), lines: Vec::new() });
            }
            None => {
                if let Some(last) = records.last_mut() {
                    last.lines.push(line);
                }
            }
        }
    }
    Ok(records.iter().take(max).map(|record| record.read(zone)).collect())
}

/// The lines of the list of posted notifications. Since Android 7 a list of those that are about to
/// be posted follows. Only for the dump without texts: a text may have any line.
fn list(dump: &str) -> impl Iterator<Item = &str> {
    let lines = dump.lines().skip_while(|line| line.trim_end() != "  Notification List:").skip(1);
    lines.take_while(|line| !line.trim_end().ends_with("Enqueued Notification List:"))
}

fn is_head(line: &str) -> bool {
    line.strip_prefix("    ").is_some_and(|line| line.starts_with(RECORD))
}

/// A record: its first line, and those below it.
struct Record<'a> {
    head: &'a str,
    lines: Vec<&'a str>,
}

impl Record<'_> {
    fn read(&self, zone: i64) -> Notification {
        let extras = self.extras();
        let extra = |name: &str| extras.get(name).cloned().unwrap_or_default();
        let (short, long) = (extra("android.text"), extra("android.bigText"));
        let millis = |name: &str| {
            let mut found = self.lines.iter().filter_map(|line| line.trim().strip_prefix(name));
            found.find_map(|rest| rest.parse::<i64>().ok()).filter(|millis| *millis > 0)
        };
        let time = millis("mUpdateTimeMs=").or_else(|| millis("mCreationTimeMs="));
        Notification {
            app: AppId(word_after(self.head, "pkg=").unwrap_or_default().to_owned()),
            key: self.key(),
            title: extra("android.title"),
            text: if long.len() > short.len() { long } else { short },
            time: time.map(|millis| time_at(millis.div_euclid(1000) + zone)),
            ongoing: self.is_ongoing(),
        }
    }

    /// `key=0|com.x|1|null|10100: Notification(`. The tag in it may have spaces.
    fn key(&self) -> String {
        let key =
            self.head.split_once(" key=").and_then(|(_, rest)| rest.split_once(": Notification("));
        key.map_or_else(String::new, |(key, _)| key.to_owned())
    }

    /// Flags are a number, since Android 15 names.
    fn is_ongoing(&self) -> bool {
        let own = self.head.split_once(": Notification(").map_or(self.head, |(_, own)| own);
        let Some(flags) = word_after(own, " flags=") else { return false };
        let number = flags.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok());
        number.map_or_else(|| flags.contains("ONGOING_EVENT"), |flags| flags & ONGOING != 0)
    }

    /// The texts among the extras, by name; the first of each name counts. A value is `String
    /// (text)`, and with line breaks goes on to the end of a line that closes it; on Android 4.4 it
    /// is the text alone, up to the next name.
    fn extras(&self) -> HashMap<&str, String> {
        let mut found: HashMap<&str, String> = HashMap::new();
        let mut open: Option<(&str, String)> = None;
        let inside = self.lines.iter().skip_while(|line| line.trim() != "extras={").skip(1);
        for line in inside {
            let is_inside = open.as_ref().is_some_and(|(_, value)| is_unclosed(value));
            let name = line.trim_start().split_once('=');
            let name = name.filter(|(name, _)| !is_inside && name.starts_with("android."));
            let ends = !is_inside && line.trim() == "}";
            if name.is_none() && !ends {
                if let Some((_, value)) = &mut open {
                    value.push('\n');
                    value.push_str(line);
                }
                continue;
            }
            let next = name.map(|(name, value)| (name, value.to_owned()));
            let ended = std::mem::replace(&mut open, next);
            insert_text(&mut found, ended);
            if open.is_none() {
                break;
            }
        }
        insert_text(&mut found, open);
        found
    }
}

fn insert_text<'a>(found: &mut HashMap<&'a str, String>, extra: Option<(&'a str, String)>) {
    let text = extra.and_then(|(name, value)| Some((name, text_of(&value)?)));
    if let Some((name, text)) = text {
        found.entry(name).or_insert(text);
    }
}

/// The classes of texts, with the bracket that begins the value.
const TEXTS: [&str; 3] = ["String (", "SpannableString (", "SpannableStringBuilder ("];

/// Whether this is a text that goes on in the next line.
fn is_unclosed(value: &str) -> bool {
    TEXTS.iter().any(|class| value.starts_with(class)) && !value.ends_with(')')
}

/// The text of a value: `String (…)`, or the value itself, as before Android 5. `None` if it is a
/// value of another class.
fn text_of(value: &str) -> Option<String> {
    if let Some(text) = TEXTS.iter().find_map(|class| value.strip_prefix(class)) {
        return Some(text.strip_suffix(')').unwrap_or(text).chars().take(MAX_TEXT).collect());
    }
    const OTHERS: [&str; 5] = ["Boolean (", "Integer (", "Icon (", "Bitmap (", "Long ("];
    let is_other = value == "null" || OTHERS.iter().any(|class| value.starts_with(class));
    (!is_other).then(|| value.trim_end().chars().take(MAX_TEXT).collect())
}

/// The word after `name`, up to a space or bracket.
fn word_after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.split_once(name)?.1;
    rest.split([' ', ')']).next()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn output(hidden: &str, revealed: &str) -> CommandOutput {
        let head = "Current Notification Manager state:\n  Notification List:\n";
        let out = format!("+0200\n{head}{hidden}\n{REVEALED}\n{head}{revealed}");
        CommandOutput { out, err: String::new(), status: Some(0) }
    }

    fn record(package: &str, flags: &str, title: &str, text: &str) -> String {
        let key = format!("0|{package}|7|a tag|10100");
        format!(
            "    NotificationRecord(0x0eb2f1a3: pkg={package} user=UserHandle{{0}} id=7 tag=a tag importance=3 key={key}: Notification(channel=c shortcut=null contentView=null flags={flags} color=0x00000000 vis=PRIVATE publicVersion=Notification(channel=null flags=0x2 vis=PRIVATE)))\n      uid=10100 userId=0\n      key={key}\n      extras={{\n          android.title={title}\n          android.reduced.images=Boolean (true)\n          android.subText=null\n          android.text={text}\n      }}\n      stats=SingleNotificationStats{{posttimeElapsedMs=77}}\n      mCreationTimeMs=1725185594123\n      mUpdateTimeMs=1725185654000\n"
        )
    }

    #[test]
    fn record_has_app_texts_time_and_flags() {
        let hidden = record("com.x", "0x10", "String [length=2]", "String [length=5]")
            + &record("com.y", "0x62", "String [length=4]", "SpannableString [length=6]");
        let revealed = record("com.x", "0x10", "String (Hi)", "String (there)")
            + &record("com.y", "0x62", "String (Call)", "SpannableString (a\nb (c))");
        let read = read_dumps(&output(&hidden, &revealed), 9).unwrap();
        let expected = Notification {
            app: AppId("com.x".into()),
            key: "0|com.x|7|a tag|10100".into(),
            title: "Hi".into(),
            text: "there".into(),
            // 1725185654 is 10:14:14 UTC.
            time: Some("2024-09-01T12:14:14".into()),
            ongoing: false,
        };
        assert_eq!(read[0], expected);
        assert_eq!((&*read[1].text, read[1].ongoing), ("a\nb (c)", true));
        assert_eq!(read_dumps(&output(&hidden, &revealed), 1).unwrap().len(), 1);
        let named = record("com.z", "ONGOING_EVENT|NO_CLEAR", "null", "null");
        let read = read_dumps(&output(&named, &named), 9).unwrap();
        assert_eq!((&*read[0].title, read[0].ongoing), ("", true));
    }

    #[test]
    fn text_that_imitates_a_record_is_no_notification() {
        let forged = record("com.bank", "0x10", "String (Your bank)", "String (Pay now)");
        // What Mary wrote: with a bracket that seems to end her text, and without.
        let all = "Hello\n      }\n    NotificationRecord(0x0eb2f1a3: pkg=com.bank";
        for (words, shown) in [("Hello)", "Hello"), ("Hello", all)] {
            let text = format!("String ({words}\n      }}\n{forged} )");
            let hidden = record("com.chat", "0x10", "String [length=4]", "String [length=999]");
            let revealed = record("com.chat", "0x10", "String (Mary)", &text);
            let read = read_dumps(&output(&hidden, &revealed), 9).unwrap();
            let [only] = &read[..] else { panic!("{read:?}") };
            assert_eq!((&*only.app.0, &*only.title), ("com.chat", "Mary"));
            assert!(only.text.starts_with(shown), "{}", only.text);
        }
    }

    /// `NotificationManagerService.NotificationRecord.dump` of Android 4.4.
    #[test]
    fn android_4_4_prints_texts_without_their_class() {
        let old = "    NotificationRecord(0x42d0e430: pkg=com.x user=UserHandle{0} id=1 tag=null score=0: Notification(pri=0 contentView=com.x/0x1090064 vibrate=null sound=null defaults=0x0 flags=0x2 kind=[null]))\n      uid=10024 userId=0\n      extras={\n        android.title=Hello (you)\n        android.text=two\nlines\n        android.icon=17301586\n      }\n  \n";
        let read = read_dumps(&output(old, old), 9).unwrap();
        let [one] = &read[..] else { panic!("{read:?}") };
        assert_eq!((&*one.app.0, &*one.title, &*one.text), ("com.x", "Hello (you)", "two\nlines"));
        assert_eq!((one.key.as_str(), one.time.clone(), one.ongoing), ("", None, true));
    }

    #[test]
    fn missing_list_is_an_error_but_an_empty_one_is_not() {
        assert_eq!(read_dumps(&output("", ""), 9).unwrap(), []);
        let none = CommandOutput {
            out: "+0000\nCan't find service: notifications\n".into(),
            err: String::new(),
            status: Some(0),
        };
        assert!(read_dumps(&none, 9).is_err());
    }

    proptest! {
        #[test]
        fn no_input_panics(hidden in "(\\PC|[\n =(){}])*", revealed in "(\\PC|[\n =(){}])*") {
            let of = |words: &str| format!("    NotificationRecord({words}\n      extras={{\n android.{words}");
            let _ = read_dumps(&output(&of(&hidden), &of(&hidden)), 9);
            let _ = read_dumps(&output(&hidden, &revealed), 9);
        }
    }
}
