//! The same acts as calls of the MCP tools, in Python.

use serde_json::{Value, json};
use thumbwire_core::action::Action;
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::{Gesture, Point};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolCall {
    tool: &'static str,
    arguments: Value,
}

impl ToolCall {
    /// The call that does what a person did on this screen; `None` if no tool does it.
    pub(super) fn of(action: &Action, screen: Option<&Snapshot>) -> Option<Self> {
        let call = |tool, arguments| Some(Self { tool, arguments });
        match action {
            Action::Touch(Gesture::Tap { at }) => match screen.and_then(|it| text_at(it, *at)) {
                Some(text) => call("mobile_tap_element", json!({ "text": text })),
                None => call("mobile_tap", json!({ "x": at.x, "y": at.y })),
            },
            Action::Touch(Gesture::DoubleTap { at }) => {
                call("mobile_double_tap", json!({ "x": at.x, "y": at.y }))
            }
            Action::Touch(Gesture::LongPress { at, held }) => {
                let seconds = held.as_secs_f64();
                call("mobile_long_press", json!({ "x": at.x, "y": at.y, "duration": seconds }))
            }
            Action::Touch(Gesture::Swipe { from, to, duration }) => {
                let mut arguments = ends(*from, *to);
                arguments["duration"] = json!(duration.as_secs_f64());
                call("mobile_swipe", arguments)
            }
            Action::Touch(Gesture::Drag { from, to, .. }) => call("mobile_drag", ends(*from, *to)),
            Action::Type(input) => call("mobile_type_keys", json!({ "text": input.text })),
            Action::Press(key) => call("mobile_key", json!({ "key": key.name().to_lowercase() })),
            Action::SetOrientation(orientation) => {
                call("mobile_set_orientation", json!({ "orientation": orientation }))
            }
            Action::OpenUrl(url) => call("mobile_open_url", json!({ "url": url })),
            _ => None,
        }
    }

    /// A check that an element with this text is there.
    pub(super) fn check(text: &str) -> Self {
        Self { tool: "mobile_wait_for", arguments: json!({ "text": text }) }
    }
}

fn ends(from: Point, to: Point) -> Value {
    json!({ "start_x": from.x, "start_y": from.y, "end_x": to.x, "end_y": to.y })
}

/// The text of the innermost element at a point, if no other visible one has it.
fn text_at(screen: &Snapshot, point: Point) -> Option<&str> {
    let nodes = &screen.tree.nodes;
    let is_visible = |&at: &usize| !screen.shown(at).is_empty() && screen.covered_by(at).is_none();
    let visible: Vec<usize> = (0..nodes.len()).filter(is_visible).collect();
    let area = |&at: &usize| {
        let rect = screen.shown(at);
        i64::from(rect.right - rect.left) * i64::from(rect.bottom - rect.top)
    };
    let under = visible.iter().copied().filter(|&at| screen.shown(at).contains(point));
    let texts = |at: usize| [&*nodes[at].text, &*nodes[at].description];
    let hit = under.min_by_key(area)?;
    let text = texts(hit).into_iter().find(|text| !text.trim().is_empty())?;
    let same = visible.iter().filter(|&&at| texts(at).contains(&text)).count();
    (same == 1).then_some(text)
}

/// A program that makes these calls with the official SDK.
pub(super) fn program(device: &str, calls: &[ToolCall]) -> String {
    let server = json!(["serve", "--device", device]);
    let mut text = format!(
        "# Needs `pip install mcp`, and thumbwire on the PATH.\n\
         import asyncio\n\n\
         from mcp import ClientSession, StdioServerParameters\n\
         from mcp.client.stdio import stdio_client\n\n\n\
         async def main():\n    \
         server = StdioServerParameters(command=\"thumbwire\", args={server})\n    \
         async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as phone:\n        \
         await phone.initialize()\n\n        \
         async def call(tool, **arguments):\n            \
         result = await phone.call_tool(tool, arguments)\n            \
         if result.isError:\n                \
         raise SystemExit(f\"{{tool}}: {{result.content[0].text}}\")\n\n"
    );
    for ToolCall { tool, arguments } in calls {
        let arguments = arguments.as_object().into_iter().flatten();
        // A string of JSON is one of Python.
        let arguments: String =
            arguments.map(|(name, value)| format!(", {name}={value}")).collect();
        text.push_str(&format!("        await call(\"{tool}\"{arguments})\n"));
    }
    text.push_str("\n\nasyncio.run(main())\n");
    text
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_core::action::TextInput;
    use thumbwire_device::{Node, Rect, Tree};

    use super::*;

    #[test]
    fn a_tap_is_named_by_its_text_only_if_that_is_alone() {
        let node = |left: i32, text: &str| {
            let bounds = Rect { left, top: 0, right: left + 100, bottom: 100 };
            Node { text: text.into(), bounds, ..Node::default() }
        };
        let nodes = vec![node(0, "Save"), node(100, "Row"), node(200, "Row")];
        let snapshot =
            Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1));
        let tap = |x: i32| Action::Touch(Gesture::Tap { at: Point { x, y: 50 } });
        let calls = [tap(50), tap(150), Action::Type(TextInput::of("a \"b\"\nü"))];
        let calls = calls.iter().filter_map(|action| ToolCall::of(action, Some(&snapshot)));
        let calls: Vec<ToolCall> = calls.chain([ToolCall::check("Done")]).collect();
        let text = program("virtual", &calls);
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| line.starts_with("await call")).collect();
        assert_eq!(
            lines,
            [
                r#"await call("mobile_tap_element", text="Save")"#,
                r#"await call("mobile_tap", x=150, y=50)"#,
                r#"await call("mobile_type_keys", text="a \"b\"\nü")"#,
                r#"await call("mobile_wait_for", text="Done")"#,
            ]
        );
    }
}
