//! `docs/tools.md`, written from the rows of all tools.

use std::path::Path;

use serde_json::Value;
use thumbwire_agent::{ask_secret, run_task};
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::reference::{self, Argument};
use thumbwire_core::toolset::{ObserveMode, Tool, Toolset, android, ufo};
use thumbwire_test_support::assert_golden;

#[test]
fn docs_tools_md_is_current() {
    let mut mobile = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::ALL);
    mobile.tools.push(run_task::for_the_manual());
    mobile.tools.push(ask_secret::for_the_manual());
    let toolsets = [mobile, android::toolset(), ufo::data(), ufo::standalone_action()];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    assert_golden(&file, &page(&toolsets));
}

/// The page of these toolsets.
fn page(toolsets: &[Toolset]) -> String {
    let mut page = String::from(HEAD);
    for toolset in toolsets {
        page.push_str(&chapter(toolset));
    }
    page
}

const HEAD: &str = "\
# Tools

Written from the rows of the tools; a test fails when this page is out of date, and `just bless` rewrites it.

Each tool is *read-only* (changes nothing), *idempotent* (repeating a call changes nothing more), *additive* (each call adds a file or a
recording) or *destructive* (each call acts again, and may be irreversible, as any tap can be). The annotations in MCP's `tools/list` say
the same. The time is the timeout of a call. What follows \"returns\" is the structured content of a successful result. Tools of
`mobile` that act return what they did as `done`, and what it changed on the screen as `screen` (`serve --observe`), beside other
fields. The others return text or an image.
";

/// What most tools that act return.
const DONE: &str = "{done: string, screen?: string}";

/// Before the tools of the MCP App.
const IN_CHAT: &str = "
The following tools are listed only to clients that show MCP Apps. The model sees the first one; the app calls the others
([the phone in the chat](mcp-clients.md#the-phone-in-the-chat)).
";

fn chapter(toolset: &Toolset) -> String {
    let Toolset { name, server, tools, nested, .. } = toolset;
    // The last two come with `--model` and `--studio`, as they say.
    let needs_flag = |tool: &Tool| {
        let others = [run_task::for_the_manual().name, ask_secret::for_the_manual().name];
        ToolGroup::flag_of(&tool.name).is_some() || others.contains(&tool.name)
    };
    let served: Vec<&Tool> = tools.iter().filter(|tool| !needs_flag(tool)).collect();
    let read: usize = served.iter().map(|tool| tool.read_by_models()).sum();
    let listed: usize = served.iter().map(|tool| tool.to_json().to_string().len()).sum();
    let others = match tools.len() - served.len() {
        0 => String::new(),
        count => format!(" {count} more need a flag of `serve`, which they name."),
    };
    let nested = nested.map_or(String::new(), |nested| {
        format!(" Clients may also put all arguments inside one object, `{nested}`.")
    });
    let mut chapter = format!(
        "\n## `{name}`\n\n{} tools of the server \"{server}\". A model reads {read} bytes of them; `tools/list` has {listed} bytes.{others}{nested}\n",
        served.len()
    );
    for tool in tools {
        chapter.push_str(&section(tool));
    }
    if !toolset.ui_tools.is_empty() {
        chapter.push_str(IN_CHAT);
    }
    for tool in &toolset.ui_tools {
        chapter.push_str(&section(tool));
    }
    chapter
}

fn section(tool: &Tool) -> String {
    let mut section = format!("\n### `{}`\n\n{}\n", tool.name, tool.description);
    let arguments = reference::arguments(&tool.schema);
    if !arguments.is_empty() {
        section.push_str("\n| argument | type | default | |\n|---|---|---|---|\n");
    }
    for Argument { name, kind, default, description } in arguments {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let (kind, description) = (cell(&kind), cell(&description));
        section.push_str(&format!("| `{name}` | {kind} | {default} | {description} |\n"));
    }
    let shape = tool.output.as_ref().map(|schema| (schema, reference::short_form(schema)));
    // The head of the page tells it once.
    let says_more = |shape: &str| !["{done: string}", DONE].contains(&shape);
    let answers = shape.filter(|(_, shape)| says_more(shape)).map(|(schema, shape)| {
        // A bare `object` says nothing; its description may.
        let words = schema.get("description").and_then(Value::as_str);
        let words = words.filter(|_| shape == "object").map(|words| format!(": {words}"));
        format!("; returns `{shape}`{}", words.unwrap_or_default())
    });
    section.push_str(&format!("\n{}{}\n", reference::manner(tool), answers.unwrap_or_default()));
    section
}
