//! Failures in this dialect: the document's text, then what more is known, then the next move.

use std::borrow::Cow;

use crate::action::{Cause, Failure};
use crate::surface::{Refusal, Reply, Why};

pub(super) fn refuse(refusal: &Refusal<'_>) -> Reply {
    Reply::error(match &refusal.why {
        Why::Failure(failure) => words(failure),
        Why::Misfits(misfits) => {
            // One thing at a time: the next call tells the rest.
            let why = misfits.first().map_or_else(String::new, ToString::to_string);
            words(&Cause::InvalidArgument { why }.into())
        }
    })
}

/// A failure in this dialect: the document's text, and on a line of its own the next move.
pub fn words(failure: &Failure) -> String {
    let said = match &failure.cause {
        Cause::DeviceNotConnected { device, why } => {
            format!("Device not connected: {}\n{why}", shortened(device, LONGEST_NAME))
        }
        Cause::DeviceNotReady { device, state } => {
            let (device, state) = (shortened(device, LONGEST_NAME), shortened(state, LONGEST_NAME));
            format!("Device not connected: {device}\nits state is {state}")
        }
        Cause::DeviceNotAuthorized { device } => {
            format!("Refused: the phone {device} does not trust this computer yet")
        }
        Cause::NoDeviceChosen { there } if there.is_empty() => {
            "Refused: no device is chosen and none is attached".into()
        }
        Cause::NoDeviceChosen { there } => {
            let list: Vec<_> =
                there.iter().map(|phone| format!("{} ({})", phone.id, phone.state)).collect();
            format!("Refused: no device is chosen; attached are: {}", list.join(", "))
        }
        Cause::AppNotFound { app } => format!("App not found: {}", shortened(app, LONGEST_NAME)),
        Cause::AppToolNotFound { app, tool, why } => {
            let why = why.as_ref().map_or(String::new(), |why| format!("\n{why}"));
            let (tool, app) = (shortened(tool, LONGEST_NAME), shortened(app, LONGEST_NAME));
            format!("App tool not found: {tool} of {app}{why}")
        }
        Cause::AppNotTrusted { app, why } => {
            let app = shortened(app, LONGEST_NAME);
            format!("Refused: the tools of {app} may not be called: {why}")
        }
        Cause::Unheard { what, why } => {
            let what = shortened(what, LONGEST_NAME);
            format!("Refused: the answer to {what} cannot be heard: {why}")
        }
        Cause::ElementNotFound { sought, why } => {
            let why = why.as_ref().map_or(String::new(), |why| format!("\n{why}"));
            format!("Element not found: {}{why}", shortened(sought, LONGEST_NAME))
        }
        Cause::NoSuchIndex { .. }
        | Cause::NotListed { .. }
        | Cause::NoSuchRecording { .. }
        | Cause::NoSuchMonitor { .. }
        | Cause::BadFileName { .. } => {
            format!("Invalid argument: {}", shortened(&failure.cause.to_string(), LONGEST_NAME))
        }
        Cause::TimedOut { what, after } => {
            let (what, after) = (shortened(what, LONGEST_NAME), after.as_secs_f64().round());
            format!("Operation timed out: {what} after {after} s")
        }
        Cause::PlatformNotSupported { what, platform } => {
            format!("Platform not supported: {what} on {platform}")
        }
        Cause::InvalidArgument { why } => format!("Invalid argument: {why}"),
        Cause::Refused { why } => format!("Refused: {why}"),
        Cause::InBackground { .. } | Cause::TooMany { .. } => format!("Refused: {}", failure.cause),
        Cause::NotReady { said } | Cause::PhoneFailed { said } => format!("Refused: {said}"),
        Cause::Cancelled => "Refused: the call was cancelled".into(),
    };
    format!("{said}\nNext: {}", failure.next_move())
}

/// A name in a message is cut there: a caller may have sent a book, and a phone may show one.
const LONGEST_NAME: usize = 200;

/// The text, or so many characters of it and a mark.
pub(super) fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use thumbwire_device::Acted;

    use super::*;

    #[test]
    fn no_message_grows_with_what_a_caller_sent() {
        let book = || "b".repeat(1_000_000);
        let causes = [
            Cause::DeviceNotConnected { device: book(), why: "gone".into() },
            Cause::DeviceNotReady { device: book(), state: book() },
            Cause::AppNotFound { app: book() },
            Cause::ElementNotFound { sought: book(), why: None },
            Cause::TimedOut { what: book(), after: Duration::from_secs(1) },
        ];
        for cause in causes {
            assert!(words(&Failure { cause, acted: Acted::No }).len() < 1000);
        }
    }
}
