//! The phone's state before and after a task, and whether the task succeeded.
//!
//! [`PhoneState::of`] reads everything that apps store, settings, and shared storage; [`judge`]
//! compares two states with a case's success conditions. Both read the phone itself and know no
//! policy, snapshot or trace. Any other change counts as a failure, except what apps write by
//! themselves ([`BY_ITSELF`]).

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::phone::EvalPhone;
use super::task::SuccessCondition;

/// What a phone stores at one moment: location (a package, `settings`, `files`), key, value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneState(BTreeMap<(String, String), String>);

/// What apps write by themselves while somebody browses them: package and key prefix.
const BY_ITSELF: [(&str, &str); 4] = [
    ("com.google.android.apps.messaging", "read/"),
    ("com.google.android.apps.messaging", "answer/"),
    ("com.android.chrome", "visit/"),
    ("com.google.android.apps.maps", "recent"),
];

/// Settings that a task could change by mistake: all that the Settings pages can write.
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

impl PhoneState {
    /// The phone's current state.
    pub fn of(phone: &EvalPhone) -> Self {
        let mut all = BTreeMap::new();
        phone.world(|world| {
            let packages: Vec<String> =
                world.packages().iter().map(|manifest| manifest.package.clone()).collect();
            for package in packages {
                for (key, value) in world.preferences(&package) {
                    all.insert((package.clone(), key.to_owned()), value.to_owned());
                }
            }
            for (table, name) in SETTINGS {
                if let Some(value) = world.setting(table, name) {
                    all.insert(("settings".into(), format!("{table}/{name}")), value.to_owned());
                }
            }
        });
        for (path, what) in phone.files() {
            all.insert(("files".into(), path), what);
        }
        Self(all)
    }

    /// The differences to `now`: location, key and the new value, `None` if removed.
    pub(super) fn changes(&self, now: &Self) -> BTreeMap<(String, String), Option<String>> {
        let keys: BTreeSet<_> = self.0.keys().chain(now.0.keys()).collect();
        let changed = keys.into_iter().filter(|key| self.0.get(*key) != now.0.get(*key));
        changed.map(|key| (key.clone(), now.0.get(key).cloned())).collect()
    }
}

/// Checks that the success conditions hold and nothing else changed.
///
/// # Errors
/// The reason why the task failed.
pub fn judge(
    before: &PhoneState,
    phone: &EvalPhone,
    answer: &str,
    wants: &[SuccessCondition],
) -> Result<(), String> {
    let mut changes = before.changes(&PhoneState::of(phone));
    for want in wants {
        check_all(want, &mut changes, phone, answer)
            .map_err(|reason| format!("{reason}: {want:?}"))?;
    }
    changes.retain(|key, _| !is_by_itself(key));
    match changes.into_iter().next() {
        None => Ok(()),
        Some(((location, key), Some(value))) => {
            Err(format!("unexpected change: {key} = {value:?} in {location}"))
        }
        Some(((location, key), None)) => {
            Err(format!("unexpected change: {key} was removed from {location}"))
        }
    }
}

/// Whether an app writes this by itself while somebody browses it: location and key.
pub(super) fn is_by_itself((location, key): &(String, String)) -> bool {
    BY_ITSELF.iter().any(|(package, prefix)| location == package && key.starts_with(prefix))
}

type Changes = BTreeMap<(String, String), Option<String>>;

/// Checks one condition against the changes, and removes the changes that it explains.
fn check_all(
    want: &SuccessCondition,
    changes: &mut Changes,
    phone: &EvalPhone,
    answer: &str,
) -> Result<(), String> {
    let missing = |yes: bool, words: &str| if yes { Ok(()) } else { Err(words.to_owned()) };
    match want {
        SuccessCondition::AppValues(package, pairs) => {
            let bound = BTreeMap::new();
            let used = fit(package, pairs, changes, &bound).ok_or("the app did not store it")?;
            used.into_iter().for_each(|key| drop(changes.remove(&key)));
            Ok(())
        }
        SuccessCondition::RecordRemoved(package, record) => {
            let gone = ((*package).to_owned(), format!("{record}/gone"));
            missing(changes.get(&gone).is_some_and(Option::is_some), "it is still there")?;
            let prefix = format!("{record}/");
            changes.retain(|(location, key), _| !(location == package && key.starts_with(&prefix)));
            Ok(())
        }
        SuccessCondition::ValueAbsent(package, key) => {
            let gone = changes.remove(&((*package).to_owned(), key.clone()));
            missing(gone == Some(None), "the app still stores it")
        }
        SuccessCondition::Setting(table, name, value) => {
            let key = ("settings".to_owned(), format!("{table}/{name}"));
            let now = phone.world(|world| world.setting(table, name).map(str::to_owned));
            changes.remove(&key);
            missing(now.as_ref() == Some(value), "the setting has another value")
        }
        SuccessCondition::Folder(path) => {
            let made = changes.remove(&("files".to_owned(), path.clone()));
            missing(made.flatten().as_deref() == Some("folder"), "the folder was not created")
        }
        SuccessCondition::NoFile(path) => {
            let gone = changes.remove(&("files".to_owned(), path.clone()));
            missing(gone == Some(None), "the file still exists")
        }
        SuccessCondition::AppInForeground(package) => {
            let front = phone.world(|world| world.foreground().package);
            missing(front == *package, "another app is in the foreground")
        }
        SuccessCondition::Granted(package, permission) => {
            let granted = phone.world(|world| world.granted(package, permission));
            missing(granted, "the permission is not granted")
        }
        SuccessCondition::Clipboard(text) => {
            let copied = phone.world(|world| world.clipboard() == Some(text));
            missing(copied, "the clipboard has other content")
        }
        SuccessCondition::Answer(words) => {
            missing(answer_contains(answer, words), "the answer does not contain it")
        }
    }
}

/// Whether an answer contains the expected text. 125 or 25.5 do not contain 25, and an answer that
/// dumps the whole screen contains nothing.
fn answer_contains(answer: &str, words: &str) -> bool {
    /// Longer than any reasonable answer to a single question, in characters.
    const MAX_CHARS: usize = 400;
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (answer, words) = (flat(answer), flat(words));
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let goes_on = |edge: Option<char>, [next, further]: [Option<char>; 2]| {
        let parted = matches!(next, Some('.' | ',' | ':'));
        is_digit(edge) && (is_digit(next) || (parted && is_digit(further)))
    };
    answer.chars().count() <= MAX_CHARS
        && answer.match_indices(&words).any(|(at, found)| {
            let mut before = answer[..at].chars().rev();
            let mut after = answer[at + found.len()..].chars();
            !goes_on(found.chars().next(), [before.next(), before.next()])
                && !goes_on(found.chars().next_back(), [after.next(), after.next()])
        })
}

/// Matches these keys and values with distinct changes, for any values of their placeholders.
fn fit(
    package: &str,
    pairs: &[(String, String)],
    changes: &Changes,
    bound: &BTreeMap<String, String>,
) -> Option<Vec<(String, String)>> {
    let Some(((key, value), rest)) = pairs.split_first() else { return Some(Vec::new()) };
    for ((location, found), now) in changes {
        let (true, Some(now)) = (location == package, now) else { continue };
        let fits = bind(key, found, bound).and_then(|bound| bind(value, now, &bound));
        let Some(bound) = fits else { continue };
        if let Some(mut used) = fit(package, rest, changes, &bound) {
            used.push((location.clone(), found.clone()));
            return Some(used);
        }
    }
    None
}

/// The values of the placeholders in a pattern, if the text matches it.
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
    use thumbwire_virtual_phone::Platform;

    use super::*;

    const NOTES: &str = "com.android.notes";

    fn after(change: impl FnOnce(&EvalPhone), wants: &[SuccessCondition]) -> Result<(), String> {
        let phone = EvalPhone::new(Platform::Android, 1);
        let before = PhoneState::of(&phone);
        change(&phone);
        judge(&before, &phone, "It takes 25 minutes.", wants)
    }

    fn keep(phone: &EvalPhone, key: &str, value: &str) {
        phone.world(|world| assert!(world.set_preference(NOTES, key, Some(value))));
    }

    fn note(title: &str, body: &str) -> SuccessCondition {
        let pairs = [("note/<n>/title", title), ("note/<n>/body", body)];
        SuccessCondition::AppValues(
            NOTES,
            pairs.map(|(key, value)| (key.into(), value.into())).into(),
        )
    }

    #[test]
    fn exact_result_without_other_changes_succeeds() {
        let write = |phone: &EvalPhone| {
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
        assert_eq!(too_much, Err(format!("unexpected change: note/0/gone = \"yes\" in {NOTES}")));
    }

    #[test]
    fn title_and_body_must_belong_to_one_note() {
        let torn = |phone: &EvalPhone| {
            keep(phone, "note/8/title", "Milk");
            keep(phone, "note/9/body", "two");
        };
        assert!(after(torn, &[note("Milk", "two")]).is_err());
    }

    #[test]
    fn answer_must_contain_the_expected_text() {
        assert_eq!(after(|_| {}, &[SuccessCondition::Answer("25 minutes".into())]), Ok(()));
        assert!(after(|_| {}, &[SuccessCondition::Answer("26".into())]).is_err());
        // Near misses, and a list of all numbers.
        for (answer, contained) in [
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
            assert_eq!(answer_contains(answer, "25"), contained, "{answer}");
        }
        let all: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        assert!(!answer_contains(&all.join(" "), "25"));
    }
}
