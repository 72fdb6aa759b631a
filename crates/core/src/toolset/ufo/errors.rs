//! Errors with the specification's texts, plus `reason` with details and `next` with what the
//! caller can do.
//!
//! A tool that returns an object reports a failure with `success: false`, which is not an MCP
//! error. A tool that returns a list or a string cannot, and neither can a call that violates its
//! schema: these are MCP errors whose first line is the specification's text.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thumbwire_base::truncate;
use thumbwire_device::SideEffect;

use super::action::{
    ActionText, ClickControlArgs, LaunchAppArgs, MAX_NAME, PressKeyArgs, SwipeArgs, TapArgs,
    TypeTextArgs,
};
use super::python::repr;
use super::{is_passed_over, read_arguments};
use crate::action::{Cause, Failure, NumberedList, what_they_lack};
use crate::toolset::{RejectedCall, RejectionReason, Reply, Rule, SchemaViolation};

/// Renders a failure of a server in a shared session.
pub(super) fn refuse(rejected: &RejectedCall<'_>) -> Reply {
    render(rejected, false)
}

/// Renders a failure of an action server with its own session.
pub(super) fn refuse_alone(rejected: &RejectedCall<'_>) -> Reply {
    render(rejected, true)
}

fn render(rejected: &RejectedCall<'_>, alone: bool) -> Reply {
    let failure = match &rejected.reason {
        RejectionReason::InvalidArguments(violations) => return violation(rejected, violations),
        RejectionReason::Failure(failure) => failure,
    };
    if let Some(other) = other_argument(rejected) {
        // The message of Python's jsonschema for `additionalProperties: false`.
        let other = repr(&other.into());
        return invalid(&format!("Additional properties are not allowed ({other} was unexpected)"));
    }
    let tell = ErrorRenderer { failure, arguments: rejected.arguments, alone };
    match &*rejected.tool.name {
        "capture_screenshot" => tell.as_error(match failure.cause {
            // The screenshot was taken but did not arrive.
            Cause::TimedOut { .. } => "Failed to pull screenshot from device",
            _ => "Failed to capture screenshot on device",
        }),
        "get_mobile_app_target_info" => tell.as_error("Failed to get mobile app target info"),
        "get_app_window_controls_target_info" => tell.as_error("Failed to dump UI hierarchy"),
        "get_ui_tree" => {
            let error = "Failed to dump UI hierarchy".to_owned();
            tell.as_object(json!({ "success": false, "error": error, "reason": tell.cause() }))
        }
        "tap" => tell.act::<TapArgs>(),
        "swipe" => tell.act::<SwipeArgs>(),
        "press_key" => tell.act::<PressKeyArgs>(),
        "click_control" => {
            tell.on_control(|call: &ClickControlArgs| &call.control_id, "Failed to click control")
        }
        "type_text" => {
            tell.on_control(|call: &TypeTextArgs| &call.control_id, "Failed to type text")
        }
        "launch_app" => tell.launch(),
        _ => tell.as_text(tell.cause()),
    }
}

/// Renders a failure in one of several shapes.
struct ErrorRenderer<'a> {
    failure: &'a Failure,
    arguments: &'a Map<String, Value>,
    /// Whether the server runs without the data server and never sees a listing.
    alone: bool,
}

impl ErrorRenderer<'_> {
    /// An MCP error: what failed, why, and the next move, one line each.
    fn as_error(&self, failed: &str) -> Reply {
        let (reason, next) = (self.cause(), self.next());
        Reply::error(match next {
            Some(next) => format!("{failed}\n{reason}\nNext: {next}"),
            None => format!("{failed}\n{reason}"),
        })
    }

    fn as_object(&self, mut object: Value) -> Reply {
        if let Cause::StaleReference { reason: Some(reason), .. } = &self.failure.cause {
            object["reason"] = reason.as_str().into();
        }
        if let Some(next) = self.next() {
            object["next"] = next.into();
        }
        Reply::json(object)
    }

    fn as_text(&self, error: String) -> Reply {
        self.as_object(json!({ "success": false, "error": error }))
    }

    /// The original server's reply to a command that the phone rejected.
    fn act<A: ActionText + DeserializeOwned>(&self) -> Reply {
        let action = self.call::<A>().map(|call| call.action_text()).unwrap_or_default();
        let (action, error) = (truncate(&action, 2 * MAX_NAME), self.cause());
        self.as_object(json!({ "success": false, "action": action, "output": "", "error": error }))
    }

    fn on_control<A: DeserializeOwned>(&self, id: fn(&A) -> &String, failed: &str) -> Reply {
        let id = self.call::<A>().map(|call| truncate(id(&call), MAX_NAME)).unwrap_or_default();
        self.as_text(match &self.failure.cause {
            Cause::StaleReference { .. } => format!(
                "Control with ID '{id}' not found. Please call get_app_window_controls_target_info first."
            ),
            Cause::ElementNotFound { reason: Some(reason), .. } => format!("{failed}: {reason}"),
            _ => format!("{failed}: {}", self.cause()),
        })
    }

    fn launch(&self) -> Reply {
        let Some(call) = self.call::<LaunchAppArgs>() else { return self.as_text(self.cause()) };
        let name = truncate(call.package(), MAX_NAME);
        let error = match &self.failure.cause {
            Cause::StaleReference { none: true, .. } => {
                "App cache is empty. Please call get_mobile_app_target_info first.".into()
            }
            Cause::StaleReference { number, .. } => {
                let number = truncate(number, MAX_NAME);
                format!("App with ID '{number}' not found in cached app list.")
            }
            // The session rejects an empty name as invalid.
            Cause::AppNotFound { .. } | Cause::InvalidArgument { .. } if call.is_bare_word() => {
                format!("No app found with name containing '{name}'. Try using full package name.")
            }
            _ => {
                let message = format!("Failed to launch {name}");
                let mut out = json!({ "success": false, "message": message });
                out["package_name"] = name.into();
                out["output"] = "".into();
                out["error"] = self.cause().into();
                return self.as_object(out);
            }
        };
        self.as_text(error)
    }

    /// The tool's arguments; `None` if they cannot be parsed.
    fn call<A: DeserializeOwned>(&self) -> Option<A> {
        read_arguments(self.arguments.clone()).ok()
    }

    fn cause(&self) -> String {
        truncate(&self.failure.cause.to_string(), 5 * MAX_NAME)
    }

    /// What the caller can do, unless the error says it. These servers have no tools that list or
    /// select phones: the phone is set when they start.
    fn next(&self) -> Option<String> {
        const ALONE: &str = "this action server runs alone and cannot see lists made in another process; \
                             `thumbwire serve --ufo` serves both over one session";
        Some(match &self.failure.cause {
            Cause::InvalidArgument { .. } => return None,
            Cause::StaleReference { .. } if self.alone => ALONE.into(),
            Cause::StaleReference { list: NumberedList::Apps, none: false, .. } => {
                "call get_mobile_app_target_info again and use an id from it".into()
            }
            // The error text names the tool to call.
            Cause::StaleReference { .. } => return None,
            Cause::AppNotFound { .. } => {
                "call get_mobile_app_target_info with include_system_apps and choose a package"
                    .into()
            }
            Cause::ElementNotFound { .. } => {
                "call get_app_window_controls_target_info again and use a control from it".into()
            }
            Cause::DeviceNotConnected { .. } if self.failure.side_effect == SideEffect::None => {
                "check that the phone is on and reachable; the next call reconnects".into()
            }
            Cause::NoDeviceChosen { devices } if devices.is_empty() => {
                "connect a phone, or start the server with `--device virtual`".into()
            }
            Cause::NoDeviceChosen { devices } if what_they_lack(devices).is_some() => {
                self.failure.next_step()
            }
            Cause::NoDeviceChosen { devices } => {
                let ids: Vec<&str> = devices.iter().map(|phone| phone.id.as_str()).collect();
                let ids = truncate(&ids.join(", "), MAX_NAME);
                format!("start the server with `--device ID`; connected: {ids}")
            }
            _ => self.failure.next_step(),
        })
    }
}

/// The first unknown argument. A call with one is always refused before it runs.
fn other_argument<'a>(rejected: &RejectedCall<'a>) -> Option<&'a str> {
    let properties = rejected.tool.schema.get("properties").and_then(Value::as_object);
    let known = |name: &str| properties.is_some_and(|all| all.contains_key(name));
    let mut given = rejected.arguments.keys().map(String::as_str);
    given.find(|name| !known(name) && !is_passed_over(name))
}

/// The message of Python's jsonschema. Of several violations it reports a missing argument first,
/// else the last one by name (`jsonschema.exceptions.best_match`; recorded: x and y both wrong, y
/// reported).
fn violation(rejected: &RejectedCall<'_>, violations: &[SchemaViolation]) -> Reply {
    let missing = violations.iter().find(|violation| violation.value.is_none());
    let last = || violations.iter().max_by_key(|violation| &violation.argument);
    let out =
        missing.or_else(last).map(|violation| render_violation(violation, &rejected.tool.schema));
    invalid(&out.unwrap_or_default())
}

/// The original's schemas have only required arguments and types, and one `anyOf`.
fn render_violation(violation: &SchemaViolation, schema: &Map<String, Value>) -> String {
    let SchemaViolation { argument, value, rule } = violation;
    let property = schema.get("properties").and_then(|all| all.get(argument));
    match (value, rule) {
        (None, _) => format!("{} is a required property", repr(&argument.as_str().into())),
        (Some(value), _) if property.is_some_and(|it| it.get("anyOf").is_some()) => {
            format!("{} is not valid under any of the given schemas", repr(value))
        }
        (Some(value), Rule::Type(kind)) => format!("{} is not of type '{kind}'", repr(value)),
        _ => violation.to_string(),
    }
}

fn invalid(reason: &str) -> Reply {
    Reply::error(format!("Input validation error: {reason}"))
}
