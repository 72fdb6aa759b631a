//! Finding elements, and what is asked of one or done to it.

use serde_json::{Value, json};
use thumbwire_virtual_phone::Point;
use thumbwire_webdriver::{
    ElementCommand, ElementId, ErrorCode, Locator, OLD_ELEMENT_KEY, WebDriverError,
};

use super::screen::encoded;
use super::{Reply, refuse, resolve};
use crate::latency;
use crate::locate::{attribute, find_all};
use crate::phone::{State, VirtualIphone};
use crate::touches::{Touches, round};
use crate::tree::Snapshot;

impl VirtualIphone {
    pub(super) async fn element_command(&self, command: ElementCommand) -> Reply {
        match command {
            ElementCommand::Find { locator } => self.find_one(None, &locator).await,
            ElementCommand::FindAll { locator } => {
                self.find(None, &locator).await.map(Value::Array)
            }
            ElementCommand::FindInside { element, locator } => {
                self.find_one(Some(&element), &locator).await
            }
            ElementCommand::FindAllInside { element, locator } => {
                self.find(Some(&element), &locator).await.map(Value::Array)
            }
            ElementCommand::VisibleCells { element } => self.with(|phone| {
                let snapshot = Snapshot::take(&mut phone.world);
                let at = resolve(phone, &snapshot, &element)?;
                let cells = snapshot.descendants(at).into_iter();
                let cells = cells.filter(|at| snapshot.elements[*at].kind == "Cell");
                cells.map(|at| reference(phone, &snapshot, at)).collect()
            }),
            ElementCommand::Active => self.with(|phone| {
                let snapshot = Snapshot::take(&mut phone.world);
                let at = snapshot.focused_field();
                let at = at.ok_or_else(|| {
                    refuse(
                        ErrorCode::NoSuchElement,
                        "unable to find an element with keyboard focus",
                    )
                })?;
                reference(phone, &snapshot, at)
            }),
            ElementCommand::Click { element } => {
                let at = self.element(&element)?.bounds.center();
                self.play(Touches::taps(at, 1)).await;
                Ok(Value::Null)
            }
            ElementCommand::Clear { element } => self.clear(&element).await,
            ElementCommand::SetValue { element, text, .. } => {
                self.set_value(&element, &text.0).await
            }
            ElementCommand::Text { element } => {
                let element = self.element(&element)?;
                let text = match element.kind {
                    "Switch" | "Slider" | "PickerWheel" => element.value,
                    _ if element.is_field() => element.value,
                    _ => element.label.or(element.value),
                };
                Ok(text.or(element.identifier).unwrap_or_default().into())
            }
            ElementCommand::Attribute { element, name }
            | ElementCommand::Property { element, name } => self.ask(&element, |snapshot, at| {
                attribute(snapshot, at, &name).map_or(Value::Null, |value| value.to_json())
            }),
            ElementCommand::Name { element } => {
                Ok(format!("XCUIElementType{}", self.element(&element)?.kind).into())
            }
            ElementCommand::Displayed { element } => Ok(self.element(&element)?.visible.into()),
            ElementCommand::Enabled { element } => Ok(self.element(&element)?.enabled.into()),
            ElementCommand::Selected { element } => Ok(self.element(&element)?.selected.into()),
            ElementCommand::Rect { element } => self.ask(&element, |snapshot, at| {
                let rect = snapshot.points(at);
                json!({ "x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height })
            }),
            ElementCommand::Size { element } => self.ask(&element, |snapshot, at| {
                let rect = snapshot.points(at);
                json!({ "width": rect.width, "height": rect.height })
            }),
            ElementCommand::Location { element } => self.ask(&element, |snapshot, at| {
                let rect = snapshot.points(at);
                json!({ "x": rect.x, "y": rect.y })
            }),
            ElementCommand::Screenshot { element } => {
                let bounds = self.element(&element)?.bounds;
                self.run_work(latency::SCREENSHOT).await;
                let frame = self.with(|phone| phone.world.capture());
                let part = frame.cropped(&bounds);
                encoded(&part.ok_or_else(|| {
                    refuse(ErrorCode::UnableToCaptureScreen, "the element is outside the screen")
                })?)
            }
            ElementCommand::Accessible { element } => Ok(self.element(&element)?.accessible.into()),
            ElementCommand::AccessibilityContainer { element } => {
                self.ask(&element, |snapshot, at| {
                    attribute(snapshot, at, "accessibilityContainer")
                        .map_or(Value::Null, |value| Value::from(value.to_text() == "true"))
                })
            }
        }
    }

    fn ask(&self, element: &ElementId, ask: impl FnOnce(&Snapshot, usize) -> Value) -> Reply {
        self.with(|phone| {
            let snapshot = Snapshot::take(&mut phone.world);
            let at = resolve(phone, &snapshot, element)?;
            Ok(ask(&snapshot, at))
        })
    }

    async fn find_one(&self, inside: Option<&ElementId>, locator: &Locator) -> Reply {
        let found = self.find(inside, locator).await?;
        found.into_iter().next().ok_or_else(|| {
            let message = format!(
                "unable to find an element using '{}', value '{}'",
                locator.using.as_str(),
                thumbwire_base::truncate(&locator.value, 500)
            );
            refuse(ErrorCode::NoSuchElement, message)
        })
    }

    async fn find(
        &self,
        inside: Option<&ElementId>,
        locator: &Locator,
    ) -> Result<Vec<Value>, WebDriverError> {
        let snapshot = self.snapshot().await;
        self.with(|phone| {
            let root = inside.map(|id| resolve(phone, &snapshot, id)).transpose()?.unwrap_or(0);
            let found = find_all(&snapshot, root, locator)?;
            found.into_iter().map(|at| reference(phone, &snapshot, at)).collect()
        })
    }

    async fn clear(&self, element: &ElementId) -> Reply {
        self.focus(element, "cleared").await?;
        self.with(|phone| phone.world.replace_text(""));
        self.run_work(latency::KEY).await;
        Ok(Value::Null)
    }

    async fn set_value(&self, id: &ElementId, text: &str) -> Reply {
        let element = self.element(id)?;
        match element.kind {
            "Slider" => {
                let part: Option<f64> =
                    text.trim().parse().ok().filter(|part| (0.0..=1.0).contains(part));
                let part = part.ok_or_else(|| {
                    refuse(ErrorCode::InvalidArgument, "Value of slider should be in 0..1 range")
                })?;
                let bounds = element.bounds;
                let x = bounds.left + round(f64::from(bounds.width() - 1) * part);
                self.play(Touches::taps(Point { x, y: bounds.center().y }, 1)).await;
                Ok(Value::Null)
            }
            _ => {
                self.focus(id, "typed into").await?;
                self.type_text(text).await?;
                Ok(Value::Null)
            }
        }
    }

    /// Gives a field the keyboard.
    async fn focus(&self, id: &ElementId, purpose: &str) -> Result<(), WebDriverError> {
        let element = self.element(id)?;
        if !element.is_field() || !element.enabled {
            let message =
                format!("The element '{}' cannot be {purpose}: it cannot be edited", element.kind);
            return Err(refuse(ErrorCode::InvalidElementState, message));
        }
        if !element.focused {
            self.play(Touches::taps(element.bounds.center(), 1)).await;
        }
        Ok(())
    }
}

/// An element as clients get it: its id under both keys, and the attributes that the settings ask
/// for.
fn reference(phone: &mut State, snapshot: &Snapshot, at: usize) -> Reply {
    let Some(session) = &mut phone.session else {
        return Err(refuse(ErrorCode::InvalidSessionId, "Session does not exist"));
    };
    let element = &snapshot.elements[at];
    let id = session.remember(element.key());
    let id = id.ok_or_else(|| refuse(ErrorCode::UnknownError, "the element cannot be named"))?;
    let mut reference = id.to_reference();
    reference[OLD_ELEMENT_KEY] = id.as_str().into();
    if session.settings.get("shouldUseCompactResponses") == Some(&Value::Bool(false)) {
        let wanted = session
            .settings
            .get("elementResponseAttributes")
            .and_then(Value::as_str)
            .unwrap_or_default();
        for name in wanted.split(',').map(str::trim) {
            let value = match name {
                "text" => element.label.clone().or_else(|| element.value.clone()).map(Value::from),
                name => attribute(snapshot, at, name).map(|value| value.to_json()),
            };
            if let Some(value) = value {
                reference[name] = value;
            }
        }
    }
    Ok(reference)
}
