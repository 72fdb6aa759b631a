//! What a phone is like before and after a task, and whether that is what was wanted.
//!
//! [`State::of`] reads all that apps keep, settings, and shared storage; [`judge`] holds two of them against what a case wants. Both
//! look into the phone itself: they know no policy, no look and no trace. What changed beside what was wanted counts against whoever did
//! it, except what apps write by themselves ([`BY_ITSELF`]).

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;
use thumbwire_virtual_phone::{Kind, VirtualPhone};

use super::task::Want;

/// What a phone keeps at one moment: a place (a package, `settings`, `files`), a key, a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State(BTreeMap<(String, String), String>);

/// What apps write by themselves while somebody looks around: package, and what the keys begin with.
const BY_ITSELF: [(&str, &str); 4] = [
    ("com.google.android.apps.messaging", "read/"),
    ("com.google.android.apps.messaging", "answer/"),
    ("com.android.chrome", "visit/"),
    ("com.google.android.apps.maps", "recent"),
];

/// Settings that a task could turn by mistake; all that the pages of Settings put.
const SETTINGS: [(&str, &str); 24] = [
    ("global", "airplane_mode_on"),
    ("global", "wifi_on"),
    ("global", "mobile_data"),
    ("global", "bluetooth_on"),
    ("global", "zen_mode"),
    ("global", "low_power"),
    ("global", "auto_time"),
    ("global", "auto_time_zone"),
    ("global", "development_settings_enabled"),
    ("global", "stay_on_while_plugged_in"),
    ("global", "device_name"),
    ("secure", "notification_badging"),
    ("system", "volume_music_speaker"),
    ("system", "volume_ring_speaker"),
    ("system", "volume_alarm_speaker"),
    ("system", "sound_effects_enabled"),
    ("system", "haptic_feedback_enabled"),
    ("system", "status_bar_show_battery_percent"),
    ("system", "screen_brightness"),
    ("system", "screen_brightness_mode"),
    ("system", "screen_off_timeout"),
    ("system", "accelerometer_rotation"),
    ("system", "font_scale"),
    ("system", "user_rotation"),
];

impl State {
    /// What the phone keeps now.
    pub fn of(phone: &VirtualPhone) -> Self {
        let mut all = BTreeMap::new();
        phone.world(|world| {
            let packages: Vec<String> =
                world.packages().iter().map(|manifest| manifest.package.clone()).collect();
            for package in packages {
                for (key, value) in world.kept(&package) {
                    all.insert((package.clone(), key.to_owned()), value.to_owned());
                }
            }
            for (table, name) in SETTINGS {
                if let Some(value) = world.setting(table, name) {
                    all.insert(("settings".into(), format!("{table}/{name}")), value.to_owned());
                }
            }
        });
        for (path, what) in files(phone) {
            all.insert(("files".into(), path), what);
        }
        Self(all)
    }

    /// What is not as it was: place, key, and what stands there now, `None` for nothing.
    fn changes(&self, now: &Self) -> BTreeMap<(String, String), Option<String>> {
        let keys: BTreeSet<_> = self.0.keys().chain(now.0.keys()).collect();
        let changed = keys.into_iter().filter(|key| self.0.get(*key) != now.0.get(*key));
        changed.map(|key| (key.clone(), now.0.get(key).cloned())).collect()
    }
}

/// Everything in shared storage, with bounds on depth and number.
fn files(phone: &VirtualPhone) -> BTreeMap<String, String> {
    const DEEPEST: usize = 8;
    const MOST: usize = 1_000;
    phone.files(|files| {
        let mut found = BTreeMap::new();
        let mut open = vec![("/sdcard".to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            for (name, stat) in files.list(&folder).unwrap_or_default() {
                let path = format!("{folder}/{name}");
                let is_folder = stat.kind == Kind::Directory;
                if is_folder && depth < DEEPEST && found.len() < MOST {
                    open.push((path.clone(), depth + 1));
                }
                let what = if is_folder { "folder".into() } else { format!("{} B", stat.size) };
                found.insert(path, what);
            }
        }
        found
    })
}

/// Whether what was wanted came of it, and nothing else: why not, in words.
///
/// # Errors
/// When it did not.
pub fn judge(
    before: &State,
    phone: &VirtualPhone,
    answer: &str,
    wants: &[Want],
) -> Result<(), String> {
    let mut changes = before.changes(&State::of(phone));
    for want in wants {
        held(want, &mut changes, phone, answer).map_err(|why| format!("{why}: {want:?}"))?;
    }
    changes.retain(|(place, key), _| {
        !BY_ITSELF.iter().any(|(package, prefix)| place == package && key.starts_with(prefix))
    });
    match changes.into_iter().next() {
        None => Ok(()),
        Some(((place, key), Some(value))) => {
            Err(format!("nobody wanted {key} = {value:?} in {place}"))
        }
        Some(((place, key), None)) => Err(format!("nobody wanted {key} gone from {place}")),
    }
}

type Changes = BTreeMap<(String, String), Option<String>>;

/// Holds one want against what changed, and takes away what it explains.
fn held(
    want: &Want,
    changes: &mut Changes,
    phone: &VirtualPhone,
    answer: &str,
) -> Result<(), String> {
    let missing = |yes: bool, words: &str| if yes { Ok(()) } else { Err(words.to_owned()) };
    match want {
        Want::Kept(package, pairs) => {
            let bound = BTreeMap::new();
            let used = fit(package, pairs, changes, &bound).ok_or("it is not kept")?;
            used.into_iter().for_each(|key| drop(changes.remove(&key)));
            Ok(())
        }
        Want::Gone(package, record) => {
            let gone = ((*package).to_owned(), format!("{record}/gone"));
            missing(changes.get(&gone).is_some_and(Option::is_some), "it is still there")?;
            let prefix = format!("{record}/");
            changes.retain(|(place, key), _| !(place == package && key.starts_with(&prefix)));
            Ok(())
        }
        Want::Absent(package, key) => {
            let gone = changes.remove(&((*package).to_owned(), key.clone()));
            missing(gone == Some(None), "it is still kept")
        }
        Want::Setting(table, name, value) => {
            let key = ("settings".to_owned(), format!("{table}/{name}"));
            let now = phone.world(|world| world.setting(table, name).map(str::to_owned));
            changes.remove(&key);
            missing(now.as_ref() == Some(value), "the setting stands otherwise")
        }
        Want::Folder(path) => {
            let made = changes.remove(&("files".to_owned(), path.clone()));
            missing(made.flatten().as_deref() == Some("folder"), "there is no such new folder")
        }
        Want::NoFile(path) => {
            let gone = changes.remove(&("files".to_owned(), path.clone()));
            missing(gone == Some(None), "the file is still there")
        }
        Want::Front(package) => {
            let front = phone.world(|world| world.foreground().package);
            missing(front == *package, "another app is in front")
        }
        Want::Granted(package, permission) => {
            let granted = phone.world(|world| world.granted(package, permission));
            missing(granted, "the permission is not given")
        }
        Want::Clipboard(text) => {
            let copied = phone.world(|world| world.clipboard() == Some(text));
            missing(copied, "something else was copied, or nothing")
        }
        Want::Answer(words) => missing(tells(answer, words), "the answer does not hold it"),
    }
}

/// Whether an answer tells it. 25 is not told by 125 or 25.5, and nothing is told by all that stands on a screen.
fn tells(answer: &str, words: &str) -> bool {
    /// More than anybody says who is asked for one thing, in characters.
    const LONGEST: usize = 400;
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (answer, words) = (flat(answer), flat(words));
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let goes_on = |edge: Option<char>, [next, further]: [Option<char>; 2]| {
        let parted = matches!(next, Some('.' | ',' | ':'));
        is_digit(edge) && (is_digit(next) || (parted && is_digit(further)))
    };
    answer.chars().count() <= LONGEST
        && answer.match_indices(&words).any(|(at, found)| {
            let mut before = answer[..at].chars().rev();
            let mut after = answer[at + found.len()..].chars();
            !goes_on(found.chars().next(), [before.next(), before.next()])
                && !goes_on(found.chars().next_back(), [after.next(), after.next()])
        })
}

/// The changes that these keys and values fit, one each, whatever stands for their names.
fn fit(
    package: &str,
    pairs: &[(String, String)],
    changes: &Changes,
    bound: &BTreeMap<String, String>,
) -> Option<Vec<(String, String)>> {
    let Some(((key, value), rest)) = pairs.split_first() else { return Some(Vec::new()) };
    for ((place, found), now) in changes {
        let (true, Some(now)) = (place == package, now) else { continue };
        let fits = bind(key, found, bound).and_then(|bound| bind(value, now, &bound));
        let Some(bound) = fits else { continue };
        if let Some(mut used) = fit(package, rest, changes, &bound) {
            used.push((place.clone(), found.clone()));
            return Some(used);
        }
    }
    None
}

/// What the names in a pattern stand for, where the text fits it.
fn bind(
    pattern: &str,
    text: &str,
    bound: &BTreeMap<String, String>,
) -> Option<BTreeMap<String, String>> {
    let (mut regex, mut names, mut rest) = (String::from("(?s)^"), Vec::new(), pattern);
    while let Some((before, (name, after))) =
        rest.split_once('<').and_then(|(before, rest)| Some((before, rest.split_once('>')?)))
    {
        regex.push_str(&regex_lite::escape(before));
        match bound.get(name) {
            Some(known) => regex.push_str(&regex_lite::escape(known)),
            None => {
                names.push(name.to_owned());
                regex.push_str("([^/]*)");
            }
        }
        rest = after;
    }
    regex.push_str(&regex_lite::escape(rest));
    regex.push('$');
    let found = Regex::new(&regex).ok()?.captures(text)?;
    let mut bound = bound.clone();
    for (at, name) in names.into_iter().enumerate() {
        bound.insert(name, found.get(at + 1)?.as_str().to_owned());
    }
    Some(bound)
}

#[cfg(test)]
mod tests {
    use thumbwire_virtual_phone::Setup;

    use super::*;

    const NOTES: &str = "com.android.notes";

    fn after(change: impl FnOnce(&VirtualPhone), wants: &[Want]) -> Result<(), String> {
        let phone = VirtualPhone::new(Setup::default());
        let before = State::of(&phone);
        change(&phone);
        judge(&before, &phone, "It takes 25 minutes.", wants)
    }

    fn keep(phone: &VirtualPhone, key: &str, value: &str) {
        phone.world(|world| assert!(world.keep(NOTES, key, Some(value))));
    }

    fn note(title: &str, body: &str) -> Want {
        let pairs = [("note/<n>/title", title), ("note/<n>/body", body)];
        Want::Kept(NOTES, pairs.map(|(key, value)| (key.into(), value.into())).into())
    }

    #[test]
    fn what_was_wanted_and_nothing_else_is_a_success() {
        let write = |phone: &VirtualPhone| {
            keep(phone, "note/9/title", "Milk");
            keep(phone, "note/9/body", "two");
        };
        assert_eq!(after(write, &[note("Milk", "two")]), Ok(()));
        assert!(after(write, &[note("Milk", "three")]).is_err());
        assert!(after(|_| {}, &[note("Milk", "two")]).is_err());
        let too_much = after(
            |phone| {
                write(phone);
                keep(phone, "note/0/gone", "yes");
            },
            &[note("Milk", "two")],
        );
        assert_eq!(too_much, Err(format!("nobody wanted note/0/gone = \"yes\" in {NOTES}")));
    }

    #[test]
    fn title_and_body_must_be_those_of_one_note() {
        let torn = |phone: &VirtualPhone| {
            keep(phone, "note/8/title", "Milk");
            keep(phone, "note/9/body", "two");
        };
        assert!(after(torn, &[note("Milk", "two")]).is_err());
    }

    #[test]
    fn an_answer_must_hold_what_was_asked() {
        assert_eq!(after(|_| {}, &[Want::Answer("25 minutes".into())]), Ok(()));
        assert!(after(|_| {}, &[Want::Answer("26".into())]).is_err());
        // Near misses, and all numbers there are.
        for (answer, told) in [
            ("25", true),
            ("25g, or so", true),
            ("It is 25.", true),
            ("125", false),
            ("250 g", false),
            ("1.25", false),
            ("25.5 g", false),
            ("1,25", false),
            ("It was 125, now it is 25", true),
        ] {
            assert_eq!(tells(answer, "25"), told, "{answer}");
        }
        let all: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        assert!(!tells(&all.join(" "), "25"));
    }
}
