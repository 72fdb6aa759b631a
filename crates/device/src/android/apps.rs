//! Apps: which there are, starting and ending them, and which one has the focus.

use super::{Android, Line, Said, display};
use crate::error::excerpt;
use crate::{App, AppId, Error, Foreground};

/// Starts an app at its launcher entry. `monkey` finds that entry on every Android; `am start` needs its name.
pub(super) fn launch_command(app: &AppId) -> Result<Line, Error> {
    // Without `--pct-syskeys 0`, Android 4.4's monkey gives up on a phone that has no hardware keys.
    Ok(Line::new("monkey --pct-syskeys 0 -p")
        .word(&app.0)?
        .then("-c android.intent.category.LAUNCHER 1"))
}

/// Whether an app can have that name. The script `monkey` of phones before Android 7 splits its arguments at blanks, so what
/// could be more than one is not given to it. Source: `PackageParser.validateName`.
pub(super) fn is_a_name(app: &AppId) -> bool {
    !app.0.is_empty() && app.0.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
}

/// Reads what `monkey` said: it tells of success by "Events injected: 1" and ends with status 0 on old phones
/// whatever happened.
pub(super) fn read_launch(app: &AppId, said: &Said) -> Result<String, Error> {
    let all = format!("{}\n{}", said.out, said.err);
    if all.contains("No activities found to run") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    match all.lines().any(|line| line.trim() == "Events injected: 1") {
        true => Ok(said.out.clone()),
        false => Err(Error::Failed { what: "start the app", said: excerpt(all) }),
    }
}

/// Ends an app. Android says nothing, whether it ran or not and even whether it is there; so the way to its package
/// is asked for along with it.
pub(super) fn stop_command(app: &AppId) -> Result<Line, Error> {
    Line::new("pm path").word(&app.0)?.then("; am force-stop").word(&app.0)
}

/// Reads what both said: an app that has no package is not there.
pub(super) fn read_stop(app: &AppId, said: &Said) -> Result<(), Error> {
    let packages = said.out.lines().filter(|line| line.trim().starts_with("package:"));
    match (packages.count(), said.complaint()) {
        (0, _) => Err(Error::NoSuchApp { app: app.0.clone() }),
        (_, Some(said)) => Err(Error::Failed { what: "stop the app", said }),
        _ => Ok(()),
    }
}

/// Has an app forget all that it keeps.
pub(super) fn clear_command(app: &AppId) -> Result<Line, Error> {
    Line::new("pm clear").word(&app.0)
}

/// Reads what `pm clear` said: "Success", or "Failed", which old phones follow by status 0 (`Pm.java`, `runClear`). It fails for an app
/// that is not there, and for one that may not be cleared.
pub(super) fn read_clear(app: &AppId, said: &Said) -> Result<(), Error> {
    if said.out.lines().any(|line| line.trim() == "Success") {
        return Ok(());
    }
    let words = format!("{}{}", said.out, said.err);
    if matches!(words.trim(), "Failed" | "Error: unknown package") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    Err(Error::Failed { what: "clear the app's data", said: excerpt(words) })
}

/// Gives an app a permission, or takes it away.
pub(super) fn permit_command(app: &AppId, permission: &str, granted: bool) -> Result<Line, Error> {
    Line::new(if granted { "pm grant" } else { "pm revoke" }).word(&app.0)?.word(permission)
}

/// Reads what `pm grant` or `pm revoke` said: nothing where it is done, else an exception's trace.
pub(super) fn read_permit(app: &AppId, permission: &str, said: &Said) -> Result<(), Error> {
    let Some(complaint) = said.complaint().or_else(|| said.unexpected()) else { return Ok(()) };
    let words = format!("{}{}", said.out, said.err);
    if words.contains("Unknown package") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    let reasons = [
        ("Unknown permission", "the phone knows no such permission"),
        ("has not requested permission", "the app does not ask for it"),
        ("not a changeable permission type", "it is given when the app is installed"),
    ];
    match reasons.iter().find(|(mark, _)| words.contains(mark)) {
        Some((_, why)) => {
            let why = format!("{permission}: {why}");
            Err(Error::Refused { what: "changing the permission", why })
        }
        None => Err(Error::Failed { what: "change the permission", said: complaint }),
    }
}

impl Android {
    pub(super) async fn read_apps(&self) -> Result<Vec<App>, Error> {
        let (user, system) =
            tokio::try_join!(self.ask(list_command(false)), self.ask(list_command(true)))?;
        let mut apps = read_list(&user, false)?;
        apps.extend(read_list(&system, true)?);
        Ok(apps)
    }
}

fn list_command(system: bool) -> Line {
    Line::new(if system { "pm list packages -s" } else { "pm list packages -3" })
}

/// Reads `pm list packages`: a line `package:NAME` each.
fn read_list(said: &Said, system: bool) -> Result<Vec<App>, Error> {
    let apps: Vec<App> = said
        .out
        .lines()
        .filter_map(|line| line.trim().strip_prefix("package:"))
        .map(|name| App { id: AppId(name.into()), system })
        .collect();
    // A phone without apps of a kind says nothing at all.
    match said.complaint().or_else(|| said.unexpected()) {
        Some(said) if apps.is_empty() => Err(Error::Failed { what: "list its apps", said }),
        _ => Ok(apps),
    }
}

/// The window that has the focus.
pub(super) fn focus_command() -> Line {
    // Not filtered on the phone: old ones have no `grep`.
    Line::new("dumpsys window")
}

/// Reads the focus: `mCurrentFocus=Window{hash u0 PACKAGE/ACTIVITY}`, or `null` while windows change; then the
/// focused app's record says who it will be. Since Android 10 each display has a focus of its own
/// (`DisplayContent.dump` in AOSP); the built-in one's is meant.
pub(super) fn read_focus(said: &str) -> Result<Option<Foreground>, Error> {
    let built_in = display::section(said).filter(|part| part.contains("mCurrentFocus="));
    let said = built_in.unwrap_or(said);
    let component = |marker: &str| {
        said.lines().filter(|line| line.contains(marker)).find_map(|line| {
            line.split([' ', '{', '}'])
                .find_map(|word| word.split_once('/').filter(|(package, _)| package.contains('.')))
        })
    };
    if !said.contains("mCurrentFocus") && !said.contains("mFocusedApp") {
        let command = focus_command().as_str().to_owned();
        return Err(Error::Unreadable { command, said: excerpt(said) });
    }
    let focus = component("mCurrentFocus=").or_else(|| component("mFocusedApp="));
    Ok(focus.map(|(package, activity)| {
        let screen = match activity.strip_prefix('.') {
            Some(_) => format!("{package}{activity}"),
            None => activity.to_owned(),
        };
        Foreground { app: AppId(package.into()), screen }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(out: &str, status: i32) -> Said {
        Said { out: out.into(), err: String::new(), status: Some(status) }
    }

    #[test]
    fn an_app_name_is_one_argument_whatever_it_holds() {
        let line = launch_command(&AppId("com.x; reboot".into())).unwrap();
        let expected =
            "monkey --pct-syskeys 0 -p 'com.x; reboot' -c android.intent.category.LAUNCHER 1";
        assert_eq!(line.as_str(), expected);
    }

    #[test]
    fn monkeys_words_are_told_apart() {
        let app = AppId("com.x".into());
        let started = "  bash arg: -p\n  bash arg: com.x\nEvents injected: 1\n## Network stats: elapsed time=14ms\n";
        assert!(read_launch(&app, &said(started, 0)).is_ok());
        let missing = "** No activities found to run, monkey aborted.\n";
        let error = read_launch(&app, &said(missing, 252)).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
        let error = read_launch(&app, &said("** SYSTEM_SERVER has crashed.", 1)).unwrap_err();
        assert!(error.to_string().contains("SYSTEM_SERVER"), "{error}");
    }

    #[test]
    fn an_app_that_is_not_there_is_not_stopped_in_silence() {
        let app = AppId("com.x".into());
        assert!(read_stop(&app, &said("package:/data/app/com.x/base.apk\r\n", 0)).is_ok());
        let error = read_stop(&app, &said("", 0)).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
    }

    #[test]
    fn an_app_that_could_not_be_cleared_is_told() {
        let app = AppId("com.x".into());
        assert!(read_clear(&app, &said("Success\r\n", 0)).is_ok());
        // Android 4.4 ends with status 0 all the same.
        let error = read_clear(&app, &said("Failed\n", 0)).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
        let error = read_clear(&app, &said("java.lang.SecurityException: no", 255)).unwrap_err();
        assert!(error.to_string().contains("SecurityException"), "{error}");
    }

    #[test]
    fn a_permission_that_cannot_change_is_refused_with_its_reason() {
        let app = AppId("com.x".into());
        let read = |words: &str| read_permit(&app, "android.permission.CAMERA", &said(words, 255));
        assert!(read_permit(&app, "p", &said("", 0)).is_ok());
        let unknown = read("java.lang.IllegalArgumentException: Unknown package: com.x");
        assert!(matches!(unknown, Err(Error::NoSuchApp { .. })));
        for (words, why) in [
            ("java.lang.IllegalArgumentException: Unknown permission: p", "no such permission"),
            (
                "java.lang.SecurityException: Package com.x has not requested permission p",
                "does not ask",
            ),
            (
                "java.lang.SecurityException: Permission p requested by com.x is not a changeable permission type",
                "installed",
            ),
        ] {
            let error = read(words).unwrap_err();
            assert!(
                matches!(&error, Error::Refused { why: told, .. } if told.contains(why)),
                "{error}"
            );
        }
        assert!(matches!(read("java.lang.RuntimeException: x"), Err(Error::Failed { .. })));
    }

    fn focus(said: &str) -> Option<(String, String)> {
        read_focus(said).unwrap().map(|focus| (focus.app.0, focus.screen))
    }

    #[test]
    fn the_focus_is_read_as_phones_print_it() {
        let plain = "  mCurrentFocus=Window{41b3 u0 com.android.calculator2/com.android.calculator2.Calculator}\n  mFocusedApp=AppWindowToken{41 token=Token{41 ActivityRecord{41 u0 com.android.calculator2/.Calculator t3}}}\n";
        let calculator =
            ("com.android.calculator2".into(), "com.android.calculator2.Calculator".into());
        assert_eq!(focus(plain), Some(calculator));
        let changing =
            "  mCurrentFocus=null\r\n  mFocusedApp=ActivityRecord{9f u0 com.x/.Main t12}\r\n";
        assert_eq!(focus(changing), Some(("com.x".into(), "com.x.Main".into())));
        // Android 13 prints a brace too many.
        let braced = "  mCurrentFocus=null\n  mFocusedApp=ActivityRecord{9f u0 com.x/.Main} t12}\n";
        assert_eq!(focus(braced), Some(("com.x".into(), "com.x.Main".into())));
        assert_eq!(focus("  mCurrentFocus=null\n  mFocusedApp=null\n"), None);
        assert_eq!(focus("  mCurrentFocus=Window{7 u0 NotificationShade}\n"), None);
        assert!(read_focus("dumpsys: not found").is_err());
    }

    #[test]
    fn of_several_displays_the_focus_of_the_built_in_one_is_meant() {
        // The order is that of a car with several displays.
        let said = |focus: &str| {
            format!(
                "  Display: mDisplayId=8 (organized)\n  mCurrentFocus=Window{{1 u0 com.cluster/com.cluster.Dials}}\n  Display: mDisplayId=0 (organized)\n  mCurrentFocus={focus}\n  Display: mDisplayId=9\n  mFocusedApp=ActivityRecord{{9f u0 com.rear/.Main t12}}\n"
            )
        };
        let map = Some(("com.map".into(), "com.map.Main".into()));
        assert_eq!(focus(&said("Window{2 u0 com.map/com.map.Main}")), map);
        assert_eq!(focus(&said("null")), None);
        // Before Android 10 there is one, behind all displays.
        let one = "  Display: mDisplayId=0\n  Display: mDisplayId=8\n  mCurrentFocus=Window{2 u0 com.map/com.map.Main}\n";
        assert_eq!(focus(one), map);
    }
}
