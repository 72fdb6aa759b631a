//! The helper's op `apps`: the launcher's apps with their labels, which no shell command prints.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;

use super::Operation;
use super::frame::Header;
use crate::android::Android;
use crate::app_name::is_package_name;
use crate::error::excerpt;
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
    /// The apps that the launcher shows, with their labels. `None` if no helper tells them.
    ///
    /// # Errors
    /// Only if the phone is lost.
    pub(in crate::android) async fn labelled_apps(&self) -> Result<Option<LauncherApps>, Error> {
        match self.ask_helper(APPS, Header::new()).await.and_then(read) {
            Ok(apps) => Ok(Some(apps)),
            Err(error @ (Error::NotConnected { .. } | Error::Unauthorized { .. })) => Err(error),
            Err(error) => {
                tracing::debug!("no labels by the helper: {error}");
                Ok(None)
            }
        }
    }
}

/// One entry of the launcher. An app may have several.
#[derive(Deserialize)]
struct Entry {
    package: String,
    label: Option<String>,
}

fn read(output: Header) -> Result<LauncherApps, Error> {
    let mut output = output;
    let entries = output.remove("apps").unwrap_or_default();
    let entries: Vec<Entry> = serde_json::from_value(entries).map_err(|error| {
        Error::Unreadable { command: APPS.op.into(), text: excerpt(error.to_string()) }
    })?;
    let mut known = HashSet::new();
    let first =
        |entry: &Entry| is_package_name(&entry.package) && known.insert(entry.package.clone());
    let apps = entries.into_iter().filter(first).map(|Entry { package, label }| LauncherApp {
        app: AppId(package),
        label: LauncherLabel::Text(label.unwrap_or_default()),
    });
    Ok(LauncherApps { language: String::new(), apps: apps.collect() })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(value: Value) -> Result<Vec<(String, LauncherLabel)>, Error> {
        let apps = read(value.as_object().unwrap().clone())?.apps;
        Ok(apps.into_iter().map(|it| (it.app.0, it.label)).collect())
    }

    #[test]
    fn app_has_the_label_of_its_first_entry() {
        let entry = |package: &str, label: Value| json!({ "package": package, "activity": "a.B", "label": label });
        let entries = json!({ "apps": [
            entry("a.b", "Mail".into()), entry("a.b", "More".into()), entry("c.d", Value::Null), entry("; reboot", "x".into()),
        ] });
        let text = |label: &str| LauncherLabel::Text(label.into());
        let expected = [("a.b".to_owned(), text("Mail")), ("c.d".to_owned(), text(""))];
        assert_eq!(of(entries).unwrap(), expected);
        for odd in [
            json!({}),
            json!({ "apps": [5] }),
            json!({ "apps": [{ "package": "a.b", "label": 5 }] }),
        ] {
            assert!(matches!(of(odd), Err(Error::Unreadable { .. })));
        }
    }
}
