//! Which app a name means: the name that the launcher shows, or a part of an id.
//!
//! Start with [`meant`]. Any app may call itself "Settings", in letters that look alike or between
//! invisible ones. So names are compared as they are shown, and a name that several apps have, or
//! may have, is refused with their ids.

use thumbwire_base::sanitize;
use thumbwire_base::visible::without_hidden;
use thumbwire_device::{App, AppId};

use super::labels::LabelledApp;
use crate::action::{Cause, Label};

/// How many apps a refusal names.
const MAX_NAMED: usize = 10;

/// The maximum length of a name, in characters.
const MAX_LENGTH: usize = 100;

/// The apps to try, the most likely first; empty if none fits.
///
/// 1. The app with that id.
/// 2. The one app with that label, ignoring case. If several have it, the one whose case matches
///    too, but never a user's app if one of the system has the label.
/// 3. Apps with the name as a whole part of their ids, between dots.
/// 4. The one app in whose name it is contained.
/// 5. Apps in whose ids it is contained.
///
/// Of ids: the user's own apps before those of the system, then the phone's order.
///
/// # Errors
/// [`Cause::AmbiguousApp`].
pub(super) fn meant<'a>(
    name: &str,
    installed: &'a [App],
    labels: &'a [LabelledApp],
) -> Result<Vec<&'a AppId>, Cause> {
    let is_system = |app: &AppId| installed.iter().any(|it| it.id == *app && it.system);
    let given = sanitize(name, MAX_LENGTH);
    let shown = without_hidden(&given);
    let word = shown.to_lowercase();
    let by_id = match_id(&name.to_lowercase(), installed);
    if let Some((IdMatch::Whole, app)) = by_id.first() {
        return Ok(vec![app]);
    }
    let called: Vec<&LabelledApp> =
        labels.iter().filter(|it| lower(it).as_deref() == Some(&*word)).collect();
    if !called.is_empty() {
        // An app whose name is unknown may have this one.
        let may_be = |it: &&LabelledApp| it.label.text().is_none() && has_segment(&it.app, &word);
        let all: Vec<&LabelledApp> =
            called.iter().copied().chain(labels.iter().filter(may_be)).collect();
        if let [only] = *all {
            return Ok(vec![&only.app]);
        }
        let exact: Vec<_> =
            all.iter().copied().filter(|it| seen(it).as_deref() == Some(&*shown)).collect();
        return match *exact {
            [one] if is_system(&one.app) || !all.iter().any(|it| is_system(&it.app)) => {
                Ok(vec![&one.app])
            }
            _ => Err(ambiguous(name, &all)),
        };
    }
    let (segments, parts): (Vec<_>, Vec<_>) =
        by_id.into_iter().partition(|(fit, _)| *fit == IdMatch::Segment);
    let mut apps: Vec<&AppId> = segments.into_iter().map(|(_, app)| app).collect();
    if apps.is_empty() && !word.is_empty() {
        let contains = |it: &&LabelledApp| lower(it).is_some_and(|label| label.contains(&word));
        let partly: Vec<&LabelledApp> = labels.iter().filter(contains).collect();
        match *partly {
            [] => {}
            [one] => return Ok(vec![&one.app]),
            _ => return Err(ambiguous(name, &partly)),
        }
    }
    apps.extend(parts.into_iter().map(|(_, app)| app));
    Ok(apps)
}

/// The refusal of an id that is not installed, if apps call themselves so.
pub(super) fn called(id: &str, labels: &[LabelledApp]) -> Option<Cause> {
    let word = without_hidden(&sanitize(id, MAX_LENGTH)).to_lowercase();
    let called: Vec<&LabelledApp> =
        labels.iter().filter(|it| lower(it).as_deref() == Some(&*word)).collect();
    (!called.is_empty()).then(|| ambiguous(id, &called))
}

fn lower(app: &LabelledApp) -> Option<String> {
    seen(app).map(|label| label.to_lowercase())
}

/// The label as a person sees it.
fn seen(app: &LabelledApp) -> Option<String> {
    app.label.text().map(|label| without_hidden(label).into_owned())
}

fn ambiguous(name: &str, apps: &[&LabelledApp]) -> Cause {
    let shown = |it: &&LabelledApp| match &it.label {
        Label::Text(label) => format!("{} (\"{}\")", it.app, label.replace('"', "\\\"")),
        Label::Unreadable | Label::NotRead => format!("{} (its name is unknown)", it.app),
    };
    let mut candidates: Vec<String> = apps.iter().take(MAX_NAMED).map(shown).collect();
    if apps.len() > MAX_NAMED {
        candidates.push(format!("and {} more", apps.len() - MAX_NAMED));
    }
    Cause::AmbiguousApp { name: name.to_owned(), candidates }
}

/// How well an id fits a name; better ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum IdMatch {
    Whole,
    Segment,
    Part,
}

fn match_id<'a>(word: &str, apps: &'a [App]) -> Vec<(IdMatch, &'a AppId)> {
    let fit = |app: &'a App| {
        let id = app.id.0.to_lowercase();
        let fit = if id == word {
            IdMatch::Whole
        } else if has_segment(&app.id, word) {
            IdMatch::Segment
        } else if id.contains(word) {
            IdMatch::Part
        } else {
            return None;
        };
        Some((fit, app.system, &app.id))
    };
    let mut found: Vec<_> = apps.iter().filter_map(fit).collect();
    found.sort_by_key(|&(fit, system, _)| (fit, system));
    found.into_iter().map(|(fit, _, id)| (fit, id)).collect()
}

fn has_segment(app: &AppId, word: &str) -> bool {
    app.0.to_lowercase().split('.').any(|segment| segment == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(id: &str, system: bool) -> App {
        App { id: AppId(id.into()), system }
    }

    fn labelled(id: &str, label: &str) -> LabelledApp {
        let label = match label {
            "?" => Label::NotRead,
            label => Label::Text(label.into()),
        };
        LabelledApp { app: AppId(id.into()), label }
    }

    /// System apps are those of `com.android`.
    fn find(name: &str, apps: &[(&str, &str)]) -> Result<Vec<String>, Vec<String>> {
        let installed: Vec<_> =
            apps.iter().map(|(id, _)| app(id, id.starts_with("com.android"))).collect();
        let labels = apps.iter().filter(|(_, label)| !label.is_empty());
        let labels: Vec<_> = labels.map(|(id, label)| labelled(id, label)).collect();
        match meant(name, &installed, &labels) {
            Ok(apps) => Ok(apps.into_iter().map(|app| app.0.clone()).collect()),
            Err(Cause::AmbiguousApp { candidates, .. }) => Err(candidates),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn found(ids: &[&str]) -> Result<Vec<String>, Vec<String>> {
        Ok(ids.iter().map(|&id| id.to_owned()).collect())
    }

    const PHONE: &[(&str, &str)] = &[
        ("com.android.settings", "Settings"),
        ("com.android.vending", "Play Store"),
        ("com.google.android.apps.maps", "Maps"),
        ("com.google.android.deskclock", "Clock"),
        ("com.android.providers.contacts", ""),
        ("com.android.contacts", "People"),
        ("org.example.player", "K-9 Player"),
        ("com.booking", "Booking.com"),
    ];

    #[test]
    fn name_in_the_launcher_wins_over_parts_of_ids() {
        for (name, expected) in [
            ("Settings", "com.android.settings"),
            ("  clock ", "com.google.android.deskclock"),
            ("PEOPLE", "com.android.contacts"),
            ("store", "com.android.vending"),
            ("k-9", "org.example.player"),
            ("booking.com", "com.booking"),
            ("com.android.VENDING", "com.android.vending"),
            ("deskcl", "com.google.android.deskclock"),
        ] {
            assert_eq!(find(name, PHONE), found(&[expected]), "{name}");
        }
        let providers = ["com.android.providers.contacts", "com.android.contacts"];
        assert_eq!(find("contacts", PHONE), found(&providers));
        assert_eq!(find("nothing", PHONE), found(&[]));
        // Whole parts of ids before parts of names, parts of names before other parts of ids.
        assert_eq!(find("maps", &[("a.maps", "Trails"), ("b.c", "Mapsy")]), found(&["a.maps"]));
        assert_eq!(find("tra", &[("a.train", "X"), ("b.c", "Trails")]), found(&["b.c"]));
        let several = find("play", PHONE).unwrap_err();
        assert_eq!(
            several,
            ["com.android.vending (\"Play Store\")", "org.example.player (\"K-9 Player\")"]
        );
    }

    #[test]
    fn app_with_the_name_of_another_is_not_started_for_it() {
        let system = ("com.android.settings", "Settings");
        let both = |name, label| find(name, &[("com.evil", label), system]);
        for label in ["Settings", "settings", "SETTINGS"] {
            for name in ["settings", "SETTINGS"] {
                assert!(both(name, label).is_err(), "{name} {label}");
            }
        }
        assert!(both("Settings", "Settings").is_err());
        // The case tells them apart, and the system's app is the one that fits.
        assert_eq!(both("Settings", "settings"), found(&["com.android.settings"]));
        // Names are compared without invisible characters.
        let hidden = sanitize("Set\u{200b}tings\u{202e}", 60);
        assert!(both("Settings", &hidden).is_err());
        // The real one's name could not be read.
        let unread = find("Settings", &[("com.evil", "Settings"), ("com.android.settings", "?")]);
        assert!(unread.unwrap_err()[1].contains("its name is unknown"));
        let other = find("Pay", &[("com.pay", "Pay"), ("com.android.settings", "?")]);
        assert_eq!(other, found(&["com.pay"]));
        // An app that calls itself like an id.
        let id = [("com.evil", "com.android.settings"), system];
        assert_eq!(find("com.android.settings", &id), found(&["com.android.settings"]));
        let labels = [labelled("com.evil", "com.bank")];
        let Some(Cause::AmbiguousApp { candidates, .. }) = called("com.bank", &labels) else {
            panic!("it is refused")
        };
        assert_eq!(candidates, ["com.evil (\"com.bank\")"]);
        assert_eq!(called("com.other", &labels), None);
    }
}
