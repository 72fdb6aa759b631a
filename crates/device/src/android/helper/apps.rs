//! The helper's op `apps`: the launcher's apps with their labels, which no shell command prints.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;

use super::Operation;
use super::frame::Header;
use crate::android::Android;
use crate::app_name::is_package_name;
use crate::{AppId, Error, LauncherApp, LauncherApps, LauncherLabel};

/// How long a list of a hundred apps may take on a slow phone.
const LIMIT: Duration = Duration::from_secs(5);

const APPS: Operation = Operation {
    op: "apps",
    needs: "labels",
    what: "list the launcher's apps",
    limit: LIMIT,
    acts: false,
    left_to_shell: &[],
};

impl Android {
    /// The apps that the launcher shows, with their labels. `None` if no helper reports them.
    ///
    /// # Errors
    /// Only if the phone is lost.
    pub(in crate::android) async fn labelled_apps(&self) -> Result<Option<LauncherApps>, Error> {
        match self.ask_helper(APPS, Header::new()).await {
            Ok(reply) => Ok(Some(launcher_apps(reply))),
            Err(error @ (Error::NotConnected { .. } | Error::Unauthorized { .. })) => Err(error),
            Err(error) => {
                tracing::debug!("no labels by the helper: {error}");
                Ok(None)
            }
        }
    }
}

#[derive(Deserialize)]
struct AppsReply {
    apps: Vec<Entry>,
}

/// One entry of the launcher. An app may have several.
#[derive(Deserialize)]
struct Entry {
    package: String,
    label: Option<String>,
}

fn launcher_apps(reply: AppsReply) -> LauncherApps {
    let mut known = HashSet::new();
    let first =
        |entry: &Entry| is_package_name(&entry.package) && known.insert(entry.package.clone());
    let apps = reply.apps.into_iter().filter(first).map(|Entry { package, label }| LauncherApp {
        app: AppId(package),
        label: LauncherLabel::Text(label.unwrap_or_default()),
    });
    LauncherApps { language: String::new(), apps: apps.collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(value: Value) -> Result<Vec<(String, LauncherLabel)>, Error> {
        let reply = APPS.read(value.as_object().unwrap().clone())?;
        Ok(launcher_apps(reply).apps.into_iter().map(|it| (it.app.0, it.label)).collect())
    }

    #[test]
    fn app_has_the_label_of_its_first_entry() {
        let entry = |package: &str, label: Value| json!({ "package": package, "label": label });
        let entries = json!({ "apps": [
            entry("a.b", "Mail".into()), entry("a.b", "More".into()), entry("c.d", Value::Null), entry("; reboot", "x".into()),
        ] });
        let text = |label: &str| LauncherLabel::Text(label.into());
        let expected = [("a.b".to_owned(), text("Mail")), ("c.d".to_owned(), text(""))];
        assert_eq!(of(entries).unwrap(), expected);
        for invalid in [
            json!({}),
            json!({ "apps": [5] }),
            json!({ "apps": [{ "package": "a.b", "label": 5 }] }),
        ] {
            assert!(matches!(of(invalid), Err(Error::Unreadable { .. })));
        }
    }
}
