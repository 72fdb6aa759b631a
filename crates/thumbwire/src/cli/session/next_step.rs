//! The next step of a failed call, for a caller who has commands and no tools.

use thumbwire_core::action::Cause;
use thumbwire_core::toolset::{Content, Reply};

/// The reply with the next step that a person at a shell can take, where the one for MCP clients
/// names tools and arguments.
pub(super) fn in_words_of_the_shell(mut reply: Reply) -> Reply {
    let Some(next) = reply.cause.as_ref().and_then(next_step) else { return reply };
    if let Some(Content::Text(text)) = reply.content.first_mut() {
        let lines = text.lines().map(|line| match line.starts_with("Next: ") {
            true => format!("Next: {next}"),
            false => line.to_owned(),
        });
        *text = lines.collect::<Vec<_>>().join("\n");
    }
    reply
}

/// `None` where the words for MCP clients fit.
fn next_step(cause: &Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::ElementNotFound { .. } => "`thumbwire look` shows what is on the screen",
        Cause::StaleReference { .. } => "`thumbwire look`, and use a ref of the new list",
        Cause::NoDeviceChosen { devices } if devices.is_empty() => {
            "connect a phone, or try the built-in one: add `--device virtual`"
        }
        Cause::NoDeviceChosen { .. } => {
            "add `--device ID`; `thumbwire devices` lists the phones and what they lack"
        }
        Cause::DeviceNotConnected { .. } => "`thumbwire devices` lists the phones that are there",
        Cause::AppNotFound { .. } => "`thumbwire session call mobile_list_apps` lists the apps",
        Cause::Locked(_) => "`thumbwire session call mobile_unlock`, then try again",
        Cause::InvalidArgument { .. } => "correct it, and try again",
        Cause::NoFocusedField { .. } => "tap a field first, or name it with `--into`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_next_step_is_replaced() {
        let cause = Cause::ElementNotFound { sought: "\"Mapps\"".into(), reason: None };
        let text = "Element not found: \"Mapps\"\nNext: get the tree again\nScreen: Home";
        let reply = Reply { cause: Some(cause), ..Reply::error(text) };
        let Some(Content::Text(text)) = in_words_of_the_shell(reply).content.pop() else {
            panic!("a text")
        };
        assert_eq!(
            text,
            "Element not found: \"Mapps\"\nNext: `thumbwire look` shows what is on the screen\n\
             Screen: Home"
        );
        let busy = Reply { cause: Some(Cause::NoInputFolder), ..Reply::error("Next: x") };
        assert_eq!(in_words_of_the_shell(busy.clone()), busy);
    }
}
