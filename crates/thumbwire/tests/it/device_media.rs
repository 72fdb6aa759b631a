//! Logs, recordings, files and health through the driver alone, on virtual phones of every release.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::transport::Io;
use thumbwire_adb::{Direct, Transport};
use thumbwire_device::android::Android;
use thumbwire_device::{Device as _, LogEntry, LogFilter, Priority};
use thumbwire_virtual_phone::{Setup, VirtualPhone};

const RELEASES: [&str; 6] = ["4.4", "9", "11", "13", "14", "16"];

/// A wire to a phone.
fn wire(phone: &VirtualPhone) -> Direct {
    let served = phone.clone();
    Direct::with("the virtual phone", move || {
        let io: Box<dyn Io> = Box::new(served.in_memory());
        async move { Ok(io) }
    })
}

/// A virtual phone of that release, and a handle on it.
async fn attached(release: &str) -> (VirtualPhone, Android) {
    let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
    let transport: Arc<dyn Transport> = Arc::new(wire(&phone));
    let device = Android::attach("virtual", transport).await.unwrap();
    (phone, device)
}

/// How many processes of that name the phone has.
async fn running(phone: &VirtualPhone, name: &str) -> usize {
    let said = thumbwire_adb::run(&wire(phone), "ps").await.unwrap().stdout;
    let said = String::from_utf8(said).unwrap();
    said.lines().filter(|line| line.trim_end().ends_with(name)).count()
}

/// Waits until the phone has none of them.
async fn until_ended(phone: &VirtualPhone, name: &str) {
    let ended = async {
        while running(phone, name).await > 0 {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), ended).await;
    assert!(ended.is_ok(), "{name} was left on Android {}", phone.serial());
}

fn everything() -> LogFilter {
    LogFilter { tag: None, priority: Priority::Verbose }
}

fn tagged(tag: &str) -> LogFilter {
    LogFilter { tag: Some(tag.into()), priority: Priority::Verbose }
}

fn messages(entries: &[LogEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.message.as_str()).collect()
}

#[tokio::test]
async fn entries_are_read_as_they_were_written_by_every_release() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        phone.world(|world| {
            world.write_log('I', "Tag", 77, "one");
            world.write_log('W', "two words", 78, "two\nlines");
            world.write_log('E', "it's; reboot", 79, "three: \u{e9}");
            world.write_log('D', "Tag", 77, "four");
        });
        let of = async |filter: LogFilter, most| device.logs(&filter, most).await.unwrap();
        let all = of(everything(), 5).await;
        assert_eq!(messages(&all), ["one", "two", "lines", "three: \u{e9}", "four"], "{release}");
        assert_eq!((all[0].pid, all[0].priority, &*all[0].tag), (77, Priority::Info, "Tag"));
        let today = phone.world(|world| world.unix_time());
        assert!(all[0].time.starts_with("20") && all[0].time.len() == 26, "{}", all[0].time);
        assert!(today > 1_700_000_000);
        assert_eq!(messages(&of(everything(), 1).await), ["four"], "{release}");
        assert_eq!(of(everything(), 0).await, [], "{release}");
        assert_eq!(messages(&of(tagged("Tag"), 1).await), ["four"], "{release}");
        assert_eq!(messages(&of(tagged("Tag"), 9).await), ["one", "four"], "{release}");
        assert_eq!(messages(&of(tagged("two words"), 9).await), ["two", "lines"], "{release}");
        assert_eq!(messages(&of(tagged("it's; reboot"), 9).await), ["three: \u{e9}"], "{release}");
        assert_eq!(messages(&of(tagged("Tag:I *:S"), 9).await), ["one"], "{release}");
        assert_eq!(of(tagged("-c"), 9).await, [], "{release}");
        let errors = LogFilter { tag: None, priority: Priority::Error };
        assert_eq!(messages(&of(errors, 1).await), ["three: \u{e9}"], "{release}");
        device.clear_logs().await.unwrap();
        assert_eq!(of(tagged("Tag"), 9).await, [], "{release}");
        let odd = device.logs(&tagged("Tag:Q"), 9).await.unwrap_err();
        assert!(odd.to_string().contains("Tag:Q"), "{release}: {odd}");
    }
}

#[tokio::test]
async fn a_log_is_followed_from_now_on_and_from_an_entry_on_and_ends_on_the_phone() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        let write = |tag: &str, text: &str| {
            phone.world(|world| world.write_log('I', tag, 77, text));
        };
        write("Tag", "old");
        write("Other", "old");
        let mut from_now = device.follow_logs(&tagged("Tag"), None).await.unwrap();
        write("Other", "not this");
        write("Tag", "one");
        let one = from_now.next().await.unwrap().unwrap();
        assert_eq!(one.message, "one", "{release}");
        write("Tag", "two\nlines");
        for line in ["two", "lines"] {
            assert_eq!(from_now.next().await.unwrap().unwrap().message, line, "{release}");
        }
        let mut from_one = device.follow_logs(&tagged("Tag"), Some(&one)).await.unwrap();
        for line in ["two", "lines"] {
            assert_eq!(from_one.next().await.unwrap().unwrap().message, line, "{release}");
        }
        assert_eq!(running(&phone, "logcat").await, 2, "{release}");
        drop(from_now);
        drop(from_one);
        until_ended(&phone, "logcat").await;
    }
}
