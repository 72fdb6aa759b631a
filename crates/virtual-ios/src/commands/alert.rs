//! Alerts: their text and their buttons.

use serde_json::Value;
use thumbwire_webdriver::{ErrorCode, WebDriverError};

use super::{Reply, refuse};
use crate::phone::VirtualIphone;
use crate::touches::Touches;
use crate::tree::{Element, Snapshot};

/// The two ways to answer an alert.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Accept,
    Dismiss,
}

impl Answer {
    /// Whether a button is known to give this answer.
    fn is_given_by(self, button: &Element) -> bool {
        let id = button.view_id.as_str();
        match self {
            Self::Accept => id == "button1" || id.starts_with("permission_allow"),
            Self::Dismiss => id == "button2" || id.starts_with("permission_deny"),
        }
    }
}

impl VirtualIphone {
    /// The texts of the alert in front, one a line.
    pub(super) fn alert_text(&self) -> Reply {
        let (snapshot, alert) = self.open_alert()?;
        let inside = snapshot.descendants(alert).into_iter().map(|at| &snapshot.elements[at]);
        let texts = inside.filter(|element| element.kind == "StaticText" || element.is_field());
        let texts: Vec<&str> =
            texts.filter_map(|text| text.label.as_deref().or(text.value.as_deref())).collect();
        Ok(texts.join("\n").into())
    }

    /// The labels of the buttons of the alert in front.
    pub(super) fn alert_buttons(&self) -> Reply {
        let (snapshot, alert) = self.open_alert()?;
        let labels = buttons(&snapshot, alert);
        Ok(labels.iter().filter_map(|button| button.name()).map(Value::from).collect())
    }

    /// Types into the field of the alert in front.
    pub(super) async fn set_alert_text(&self, text: &str) -> Reply {
        let (snapshot, alert) = self.open_alert()?;
        let mut inside = snapshot.descendants(alert).into_iter().map(|at| &snapshot.elements[at]);
        let Some(field) = inside.find(|element| element.is_field()) else {
            return Err(refuse(
                ErrorCode::UnsupportedOperation,
                "The alert contains no input fields",
            ));
        };
        if !field.focused {
            self.play(Touches::taps(field.bounds.center(), 1)).await;
        }
        self.type_text(text).await?;
        Ok(Value::Null)
    }

    /// Presses a button of the alert in front: the named one, or the one that answers so.
    pub(super) async fn answer_alert(&self, answer: Answer, named: Option<&str>) -> Reply {
        let (snapshot, alert) = self.open_alert()?;
        let buttons = buttons(&snapshot, alert);
        let button = match named {
            Some(name) => buttons.iter().find(|button| button.name() == Some(name)),
            // WebDriverAgent goes by the order only (FBAlert.m); it counts where nothing else
            // tells.
            None => buttons.iter().find(|button| answer.is_given_by(button)).or(match answer {
                Answer::Accept => buttons.last(),
                Answer::Dismiss => buttons.first(),
            }),
        };
        let Some(button) = button else {
            let message = match named {
                Some(name) => format!("Failed to find button with label '{name}' for alert"),
                None => "Failed to find a button to answer the alert".to_owned(),
            };
            return Err(refuse(ErrorCode::InvalidElementState, message));
        };
        let at = button.bounds.center();
        self.play(Touches::taps(at, 1)).await;
        Ok(Value::Null)
    }

    fn open_alert(&self) -> Result<(Snapshot, usize), WebDriverError> {
        let snapshot = self.world(Snapshot::take);
        let alert = snapshot.alert();
        let alert = alert.ok_or_else(|| {
            refuse(
                ErrorCode::NoSuchAlert,
                "An attempt was made to operate on a modal dialog when one was not open",
            )
        })?;
        Ok((snapshot, alert))
    }
}

fn buttons(snapshot: &Snapshot, alert: usize) -> Vec<&Element> {
    let inside = snapshot.descendants(alert).into_iter().map(|at| &snapshot.elements[at]);
    inside.filter(|element| element.kind == "Button").collect()
}
