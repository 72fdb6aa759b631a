//! How a call fails: the document's texts; under `reason` what is behind one that says little, under `next` what the caller
//! can do.
//!
//! A tool that answers with an object answers so here too, with `success: false`, and MCP does not call that an error; one
//! that answers with a list or a string has no place for it, and neither has a call that does not fit its schema: these
//! are errors, whose first line is the document's text.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thumbwire_device::Acted;

use super::action::{ClickControl, LONGEST_NAME, LaunchApp, PressKey, Said, Swipe, Tap, TypeText};
use super::python::{repr, shortened};
use super::{is_passed_over, read};
use crate::action::{Cause, Failure};
use crate::surface::{Misfit, Refusal, Reply, Rule, Why};

/// Tells a failure of a server whose session both servers have.
pub(super) fn refuse(refusal: &Refusal<'_>) -> Reply {
    told(refusal, false)
}

/// Tells a failure of an action server that has its session for itself.
pub(super) fn refuse_alone(refusal: &Refusal<'_>) -> Reply {
    told(refusal, true)
}

fn told(refusal: &Refusal<'_>, alone: bool) -> Reply {
    let failure = match &refusal.why {
        Why::Misfits(misfits) => return misfit(refusal, misfits),
        Why::Failure(failure) => failure,
    };
    if let Some(other) = other_argument(refusal) {
        // The words of Python's jsonschema about a schema that allows no others.
        let other = repr(&other.into());
        return invalid(&format!("Additional properties are not allowed ({other} was unexpected)"));
    }
    let tell = Telling { failure, arguments: refusal.arguments, alone };
    match &*refusal.tool.name {
        "capture_screenshot" => tell.as_error(match failure.cause {
            // The phone was taking it, and it did not arrive.
            Cause::TimedOut { .. } => "Failed to pull screenshot from device",
            _ => "Failed to capture screenshot on device",
        }),
        "get_mobile_app_target_info" => tell.as_error("Failed to get mobile app target info"),
        "get_app_window_controls_target_info" => tell.as_error("Failed to dump UI hierarchy"),
        "get_ui_tree" => {
            let error = "Failed to dump UI hierarchy".to_owned();
            tell.as_object(json!({ "success": false, "error": error, "reason": tell.cause() }))
        }
        "tap" => tell.act::<Tap>(),
        "swipe" => tell.act::<Swipe>(),
        "press_key" => tell.act::<PressKey>(),
        "click_control" => {
            tell.on_control(|call: &ClickControl| &call.control_id, "Failed to click control")
        }
        "type_text" => tell.on_control(|call: &TypeText| &call.control_id, "Failed to type text"),
        "launch_app" => tell.launch(),
        _ => tell.plainly(tell.cause()),
    }
}

/// A failure, to be told in one shape or another.
struct Telling<'a> {
    failure: &'a Failure,
    arguments: &'a Map<String, Value>,
    /// Whether no listing can ever be seen.
    alone: bool,
}

impl Telling<'_> {
    /// An error of MCP: what failed, why, and the next move, a line each.
    fn as_error(&self, failed: &str) -> Reply {
        let (why, next) = (self.cause(), self.next());
        Reply::error(match next {
            Some(next) => format!("{failed}\n{why}\nNext: {next}"),
            None => format!("{failed}\n{why}"),
        })
    }

    fn as_object(&self, mut object: Value) -> Reply {
        if let Cause::NotListed { why: Some(why), .. } = &self.failure.cause {
            object["reason"] = why.as_str().into();
        }
        if let Some(next) = self.next() {
            object["next"] = next.into();
        }
        Reply::json(object)
    }

    fn plainly(&self, error: String) -> Reply {
        self.as_object(json!({ "success": false, "error": error }))
    }

    /// As the original tells of an order that the phone did not carry out.
    fn act<A: Said + DeserializeOwned>(&self) -> Reply {
        let action = self.call::<A>().map(|call| call.said()).unwrap_or_default();
        let (action, error) = (shortened(&action, 2 * LONGEST_NAME), self.cause());
        self.as_object(json!({ "success": false, "action": action, "output": "", "error": error }))
    }

    fn on_control<A: DeserializeOwned>(&self, id: fn(&A) -> &String, failed: &str) -> Reply {
        let id =
            self.call::<A>().map(|call| shortened(id(&call), LONGEST_NAME)).unwrap_or_default();
        self.plainly(match &self.failure.cause {
            Cause::NotListed { .. } => format!(
                "Control with ID '{id}' not found. Please call get_app_window_controls_target_info first."
            ),
            Cause::ElementNotFound { why: Some(why), .. } => format!("{failed}: {why}"),
            _ => format!("{failed}: {}", self.cause()),
        })
    }

    fn launch(&self) -> Reply {
        let Some(call) = self.call::<LaunchApp>() else { return self.plainly(self.cause()) };
        let name = shortened(call.package(), LONGEST_NAME);
        let error = match &self.failure.cause {
            Cause::NotListed { none: true, .. } => {
                "App cache is empty. Please call get_mobile_app_target_info first.".into()
            }
            Cause::NotListed { number, .. } => {
                let number = shortened(number, LONGEST_NAME);
                format!("App with ID '{number}' not found in cached app list.")
            }
            // An empty name is no argument for the session.
            Cause::AppNotFound { .. } | Cause::InvalidArgument { .. } if call.is_a_word() => {
                format!("No app found with name containing '{name}'. Try using full package name.")
            }
            _ => {
                let message = format!("Failed to launch {name}");
                let mut told = json!({ "success": false, "message": message });
                told["package_name"] = name.into();
                told["output"] = "".into();
                told["error"] = self.cause().into();
                return self.as_object(told);
            }
        };
        self.plainly(error)
    }

    /// The tool's arguments; `None` where they could not be read.
    fn call<A: DeserializeOwned>(&self) -> Option<A> {
        read(self.arguments.clone().into()).ok()
    }

    fn cause(&self) -> String {
        shortened(&self.failure.cause.to_string(), 5 * LONGEST_NAME)
    }

    /// What the caller can do, where the error does not say it by itself. It has no tool that lists or chooses phones: its
    /// server was started with one.
    fn next(&self) -> Option<String> {
        const ALONE: &str = "this action server runs alone and sees no listing of another process; \
                             `thumbwire serve --ufo` hosts both servers over one session";
        Some(match &self.failure.cause {
            Cause::InvalidArgument { .. } => return None,
            Cause::NotListed { .. } if self.alone => ALONE.into(),
            Cause::NotListed { list: "apps", none: false, .. } => {
                "call get_mobile_app_target_info again and choose from what it gives".into()
            }
            // The error names the tool to call.
            Cause::NotListed { .. } => return None,
            Cause::AppNotFound { .. } => {
                "call get_mobile_app_target_info with include_system_apps and choose a package"
                    .into()
            }
            Cause::ElementNotFound { .. } => {
                "call get_app_window_controls_target_info again and choose from what it shows"
                    .into()
            }
            Cause::DeviceNotConnected { .. } if self.failure.acted == Acted::No => {
                "check that the phone is on and can be reached; the next call reconnects by itself"
                    .into()
            }
            Cause::NoDeviceChosen { there } if there.is_empty() => {
                "plug a phone in, or start the server with `--device virtual`".into()
            }
            Cause::NoDeviceChosen { there } => {
                let ids: Vec<&str> = there.iter().map(|phone| phone.id.as_str()).collect();
                let ids = shortened(&ids.join(", "), LONGEST_NAME);
                format!("start the server with `--device ID`; there are: {ids}")
            }
            _ => self.failure.next_move(),
        })
    }
}

/// The first argument that the tool does not have. Such a call is always refused: nothing was done.
fn other_argument<'a>(refusal: &Refusal<'a>) -> Option<&'a str> {
    let properties = refusal.tool.schema.get("properties").and_then(Value::as_object);
    let known = |name: &str| properties.is_some_and(|all| all.contains_key(name));
    let mut given = refusal.arguments.keys().map(String::as_str);
    given.find(|name| !known(name) && !is_passed_over(name))
}

/// The words of Python's jsonschema. Of several misfits it tells a missing argument first, and of wrong ones the last by
/// name (`jsonschema.exceptions.best_match`; recorded: x and y both wrong, y told).
fn misfit(refusal: &Refusal<'_>, misfits: &[Misfit]) -> Reply {
    let missing = misfits.iter().find(|misfit| misfit.value.is_none());
    let last = || misfits.iter().max_by_key(|misfit| &misfit.argument);
    let told = missing.or_else(last).map(|misfit| words(misfit, &refusal.tool.schema));
    invalid(&told.unwrap_or_default())
}

/// The original's schemas ask for arguments to be there and for their types; one has alternatives.
fn words(misfit: &Misfit, schema: &Map<String, Value>) -> String {
    let Misfit { argument, value, rule } = misfit;
    let property = schema.get("properties").and_then(|all| all.get(argument));
    match (value, rule) {
        (None, _) => format!("{} is a required property", repr(&argument.as_str().into())),
        (Some(value), _) if property.is_some_and(|it| it.get("anyOf").is_some()) => {
            format!("{} is not valid under any of the given schemas", repr(value))
        }
        (Some(value), Rule::Type(kind)) => format!("{} is not of type '{kind}'", repr(value)),
        _ => misfit.to_string(),
    }
}

fn invalid(why: &str) -> Reply {
    Reply::error(format!("Input validation error: {why}"))
}
