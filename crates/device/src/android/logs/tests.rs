//! Unit tests of lines, years and filters; recorded logs are read in `tests/it/logs.rs`.

use proptest::prelude::*;

use super::entry::{Date, Reader, read_date};
use super::*;

fn filter(tag: Option<&str>, priority: Priority) -> LogFilter {
    LogFilter { tag: tag.map(str::to_owned), priority }
}

const SEPTEMBER: Date = Date { year: 2024, month: 9, day: 1 };

fn read(line: &str) -> Option<LogEntry> {
    Reader::until(SEPTEMBER).read(line)
}

#[test]
fn line_becomes_an_entry_with_the_year() {
    let entry =
        read("09-01 12:13:14.123   328   342 I ActivityManager: Memory class: 192").unwrap();
    let expected = LogEntry {
        time: "2024-09-01T12:13:14.123000".into(),
        priority: Priority::Info,
        tag: "ActivityManager".into(),
        pid: 328,
        tid: 342,
        message: "Memory class: 192".into(),
    };
    assert_eq!(entry, expected);
}

#[test]
fn tags_may_contain_anything() {
    let check = |rest: &str, tag: &str, message: &str| {
        let entry = read(&format!("09-01 12:13:14.123456 1 10234 W {rest}")).unwrap();
        assert_eq!((&*entry.tag, &*entry.message), (tag, message), "{rest:?}");
    };
    check("A       : b", "A", "b");
    check("MARs:ActiveTrafficFilter: filter : x", "MARs:ActiveTrafficFilter", "filter : x");
    check("two words: b", "two words", "b");
    check("        : b", "", "b");
    check("Tag     : ", "Tag", "");
    check("Tag     :", "Tag", "");
    check("Tag     :   indented", "Tag", "  indented");
}

#[test]
fn other_lines_are_skipped() {
    for line in [
        "",
        "--------- beginning of main",
        "--------- beginning of /dev/log/system",
        "09-01 12:13:14.123",
        "09-01 12:13:14.123  1  2 Q Tag: x",
        "09-01 12:13:14.123  1  2 II Tag: x",
        "09-01 12:13:14.123  1  x I Tag: x",
        "09-01 12:13:14.123  1  2 I no end of a tag",
        "13-01 12:13:14.123  1  2 I Tag: x",
        "09-01 25:13:14.123  1  2 I Tag: x",
        "09-01 12:13:14.1\u{e9}3  1  2 I Tag: x",
        "D/Vold    (  103): Volume",
        "\tat com.example.Main(Main.kt:1)",
    ] {
        assert_eq!(read(line), None, "{line:?}");
    }
}

#[test]
fn year_is_the_latest_that_fits_the_day() {
    let check = |reader: Reader, day: &str, year: &str| {
        let entry = reader.read(&format!("{day} 00:00:00.000 1 1 I T: x")).unwrap();
        assert_eq!(&entry.time[..4], year, "{day}");
    };
    let date = |text: &str| read_date(text).unwrap();
    let january = Reader::until(date("2025-01-02T08:00:00"));
    for (day, year) in [("01-02", "2025"), ("12-31", "2024"), ("01-03", "2025"), ("02-01", "2024")]
    {
        check(january, day, year);
    }
    // Midnight passed after the date was read.
    let december = Reader::until(date("2024-12-31"));
    for (day, year) in [("01-01", "2025"), ("12-31", "2024"), ("12-01", "2024"), ("02-29", "2024")]
    {
        check(december, day, year);
    }
    check(Reader::until(date("2025-02-28")), "03-01", "2025");
    // The log may be silent for a long time.
    let since = Reader::since(date("2024-11-20"));
    for (day, year) in [("11-20", "2024"), ("12-31", "2024"), ("01-09", "2025"), ("11-01", "2024")]
    {
        check(since, day, year);
    }
    for text in ["", "soon", "2024-09", "2024-13-01", "2024-09-01 12:00", "24-09-01T12:00"] {
        assert_eq!(read_date(text), None, "{text:?}");
    }
}

#[test]
fn filter_becomes_quoted_arguments_and_no_option() {
    let check = |tag: Option<&str>, priority: Priority, expected: &str| {
        let line = with_rules(ShellCommand::new("logcat"), &filter(tag, priority)).unwrap();
        assert_eq!(line.as_str(), format!("logcat{expected}"), "{tag:?}");
    };
    check(None, Priority::Verbose, "");
    check(Some(""), Priority::Verbose, "");
    check(None, Priority::Warn, " -- '*:W'");
    check(Some("*"), Priority::Error, " -- '*:E'");
    check(Some("Tag"), Priority::Verbose, " -- 'Tag:V' '*:S'");
    check(Some("it's; reboot"), Priority::Info, " -- '*:I'");
    check(Some("a;b"), Priority::Info, " -- 'a;b:I' '*:S'");
    check(Some("-c"), Priority::Info, " -- '-c:I' '*:S'");
    check(Some("ActivityManager:I  *:S"), Priority::Verbose, " -- 'ActivityManager:I' '*:S'");
    check(Some("-c x:V $(reboot)"), Priority::Verbose, " -- '-c' 'x:V' '$(reboot)'");
    assert!(with_rules(ShellCommand::new("logcat"), &filter(Some("a\0"), Priority::Info)).is_err());
    // The phone counts only if it does not filter.
    let dump = |filter: &LogFilter| dump_command(filter, 7).unwrap().as_str().to_owned();
    assert!(dump(&filter(None, Priority::Verbose)).ends_with("threadtime -t 7"));
    assert!(dump(&filter(None, Priority::Info)).ends_with("threadtime -- '*:I'"));
}

#[test]
fn chunks_of_any_length_become_bounded_lines() {
    let mut lines = Lines::default();
    lines.push(b"on");
    assert_eq!(lines.next(), None);
    lines.push(b"e\r\r\n\ntwo \xff\nrest");
    let all: Vec<_> = std::iter::from_fn(|| lines.next()).collect();
    assert_eq!(all, ["one", "", "two \u{fffd}"]);
    assert_eq!((lines.rest(), lines.rest()), (Some("rest".into()), None));
    lines.push(&vec![b'x'; MAX_LINE + 5]);
    lines.push(b"\nnext\n");
    assert_eq!(lines.next().map(|line| line.len()), Some(MAX_LINE));
    assert_eq!(lines.next().as_deref(), Some("next"));
}

proptest! {
    #[test]
    fn no_line_panics(line in ".{0,80}", month in 0..14_u32, day in 0..33_u32) {
        let _ = read(&line);
        let _ = read(&format!("{month:02}-{day:02} 12:13:14.123  1  2 I {line}"));
        let _ = read_date(&line);
    }
}

#[test]
fn cut_log_gives_what_was_read_with_a_note() {
    let reader = Reader::until(read_date("2024-09-01T12:13:14").unwrap());
    let entry = reader.read("09-01 12:13:14.123  1  2 E Tag: one").unwrap();
    let cut = || Error::Failed { what: "read the log", text: "read: unexpected EOF!".into() };
    let entries = with_note(vec![entry.clone()], Some(cut())).unwrap();
    assert_eq!(entries[0], entry);
    let [_, note] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((&*note.tag, note.priority), ("thumbwire", Priority::Warn));
    assert!(note.message.contains("cut off") && note.message.contains("unexpected EOF"));
    assert!(with_note(Vec::new(), Some(cut())).is_err());
    assert_eq!(with_note(vec![entry.clone()], None).unwrap(), [entry]);
}
