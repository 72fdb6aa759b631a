//! Addresses, opened by `am start` as a link in an app would be.

use async_trait::async_trait;

use super::apps::is_not_started;
use super::services::component;
use super::{Android, CommandOutput, ShellCommand};
use crate::app_name::is_package_name;
use crate::error::excerpt;
use crate::link_address::{encode_link, no_app_opens};
use crate::{AppId, Error, Links};

#[async_trait]
impl Links for Android {
    /// Before Android 7 there is no command for it.
    async fn app_for_link(&self, address: &str) -> Result<Option<AppId>, Error> {
        let command = resolve_command(&encode_link(address)?, self.user().await?)?;
        if self.legacy.is_some() {
            return Ok(None);
        }
        read_resolved(address, &self.ask(command).await?)
    }

    async fn open_link(&self, address: &str) -> Result<Option<AppId>, Error> {
        let command = open_command(&encode_link(address)?, self.user().await?)?;
        let output = self.ask(command).await?;
        self.explained(&output, read_open(address, &output)).await
    }
}

/// Asks which activity an address would start. `am start` considers only activities of the category
/// DEFAULT.
fn resolve_command(address: &str, user: Option<u32>) -> Result<ShellCommand, Error> {
    let resolve = ShellCommand::new("cmd package resolve-activity --brief").for_user(user);
    resolve.then("-a android.intent.action.VIEW -c android.intent.category.DEFAULT -d").arg(address)
}

/// Parses `resolve-activity --brief`: a line with priorities and `app/.Class`, or `No activity
/// found`.
fn read_resolved(address: &str, output: &CommandOutput) -> Result<Option<AppId>, Error> {
    let lines = || output.out.lines().map(str::trim);
    if lines().any(|line| line == "No activity found") {
        return Err(no_app_opens(address));
    }
    Ok(lines()
        .rev()
        .filter_map(component)
        .map(|found| found.app)
        .find(|app| is_package_name(&app.0)))
}

/// Opens an address and waits until its app is drawn.
fn open_command(address: &str, user: Option<u32>) -> Result<ShellCommand, Error> {
    let start = ShellCommand::new("am start -W").for_user(user);
    start.then("-a android.intent.action.VIEW -d").arg(address)
}

/// Parses `am start -W`: `Starting: Intent {…}`, then either an error or lines such as `Status: ok`
/// and `Activity: app/.Class`.
fn read_open(address: &str, output: &CommandOutput) -> Result<Option<AppId>, Error> {
    let all = format!("{}\n{}", output.out, output.err);
    // The first line has the address in it.
    let lines: Vec<&str> =
        all.lines().map(str::trim).filter(|line| !line.starts_with("Starting: ")).collect();
    if lines.iter().any(|line| line.contains("unable to resolve Intent")) {
        return Err(no_app_opens(address));
    }
    let app = lines.iter().find_map(|line| line.strip_prefix("Activity: ")?.split_once('/'));
    let is_refused = lines.iter().any(|line| is_not_started(line));
    if !is_refused && lines.iter().any(|line| line.starts_with("Status: ")) {
        return Ok(app.map(|(app, _)| AppId(app.to_owned())));
    }
    Err(Error::Failed { what: "open the address", text: excerpt(lines.join("\n")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(out: &str) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status: Some(0) }
    }

    #[test]
    fn address_is_one_argument() {
        let command = |address: &str| {
            let line = open_command(&encode_link(address).unwrap(), Some(0)).unwrap();
            line.as_str()
                .strip_prefix("am start -W --user 0 -a android.intent.action.VIEW -d ")
                .map(str::to_owned)
        };
        assert_eq!(command("https://a.b/?q=1&r=2").unwrap(), "'https://a.b/?q=1&r=2'");
        assert_eq!(command("https://a.b/';reboot #").unwrap(), r"'https://a.b/'\'';reboot%20#'");
        assert_eq!(command("geo:0,0?q=Caf\u{e9}").unwrap(), "'geo:0,0?q=Caf%C3%A9'");
        assert_eq!(command("my-app+x.1://go").unwrap(), "'my-app+x.1://go'");
    }

    #[test]
    fn app_for_an_address_is_the_one_that_the_phone_resolves() {
        let read = |out: &str| read_resolved("geo:0,0", &output(out));
        let head = "priority=0 preferredOrder=0 match=0x208000 specificIndex=-1 isDefault=true\n";
        let app = |name: &str| Some(AppId(name.into()));
        let maps =
            format!("{head}com.google.android.apps.maps/com.google.android.maps.MapsActivity\n");
        assert_eq!(read(&maps).unwrap(), app("com.google.android.apps.maps"));
        // With several apps, the system's chooser.
        let chooser = format!("{head}android/com.android.internal.app.ResolverActivity\r\n");
        assert_eq!(read(&chooser).unwrap(), app("android"));
        let nothing = read("No activity found\n");
        assert!(matches!(nothing, Err(Error::Refused { reason, .. }) if reason.contains("no app")));
        for unclear in ["", "cmd: Can't find service: package\n", "Error: bad/option\n"] {
            assert_eq!(read(unclear).unwrap(), None, "{unclear}");
        }
    }

    #[test]
    fn answer_names_the_app() {
        let read = |out: &str| read_open("https://a", &output(out));
        let opened = "Starting: Intent { act=android.intent.action.VIEW dat=https://a/... }\nStatus: ok\nLaunchState: COLD\nActivity: com.android.chrome/com.google.android.apps.chrome.Main\nTotalTime: 12\nComplete\n";
        assert_eq!(read(opened).unwrap(), Some(AppId("com.android.chrome".into())));
        let known = "Starting: Intent { dat=https://a/... }\r\nWarning: Activity not started, intent has been delivered to currently running top-most instance.\r\nStatus: ok\r\n";
        assert_eq!(read(known).unwrap(), None);
        let nothing = "Starting: Intent { dat=tel:xx }\nError: Activity not started, unable to resolve Intent { act=android.intent.action.VIEW dat=tel:xx flg=0x10000000 }\n";
        assert!(
            matches!(read(nothing), Err(Error::Refused { reason, .. }) if reason.contains("no app"))
        );
        let kept = "Starting: Intent { dat=https://a/... }\nWarning: Activity not started because the  current activity is being kept for the user.\nStatus: ok\n";
        assert!(matches!(read(kept), Err(Error::Failed { .. })));
        let denied = read("Starting: Intent { dat=Status: ok }\njava.lang.SecurityException: x\n");
        assert!(matches!(denied, Err(Error::Failed { text, .. }) if text.contains("Security")));
    }
}
