//! `thumbwire tools`

use clap::ValueEnum as _;
use serde_json::json;

use super::{CliError, ToolsetName, print};
use thumbwire_core::toolset::{Toolset, mobile, reference};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Show what this tool takes and returns
    name: Option<String>,
    /// Toolset to list [default: mobile; with NAME, all]
    #[arg(short = 't', long, value_name = "TOOLSET", value_enum)]
    toolset: Option<ToolsetName>,
    /// Print the tools as JSON, as MCP clients see them
    #[arg(short, long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<u8, CliError> {
    if let Some(name) = &arguments.name {
        return one(name, arguments);
    }
    let name = arguments.toolset.unwrap_or(ToolsetName::Mobile);
    if arguments.json {
        // As a server lists them that is started without `--allow` and without a model.
        let toolset = match name {
            ToolsetName::Mobile => mobile::toolset(),
            name => name.toolset(),
        };
        let tools: Vec<_> = toolset.tools.iter().map(|tool| tool.to_json()).collect();
        print(&format!("{}\n", json!({ "tools": tools })))?;
        return Ok(0);
    }
    for tool in &with_task(name).tools {
        let line = tool.description.lines().next().unwrap_or_default();
        print(&format!("{}\n    {line}\n", reference::call_form(tool)))?;
    }
    Ok(0)
}

/// Prints the help of one tool, once for each toolset that has it.
fn one(name: &str, arguments: &Arguments) -> Result<u8, CliError> {
    let toolsets = toolsets(arguments.toolset);
    let all = toolsets.iter().filter_map(|toolset| Some((toolset.name, toolset.tool(name)?)));
    let all: Vec<_> = all.collect();
    for (toolset, tool) in &all {
        if arguments.json {
            print(&format!("{}\n", tool.to_json()))?;
        } else if all.len() == 1 {
            print(&reference::help(tool))?;
        } else {
            print(&format!("{toolset}: {}", reference::help(tool)))?;
        }
    }
    match all.is_empty() {
        true => Err(CliError::usage(format!(
            "unknown tool {name:?}. Run `thumbwire tools` to list them"
        ))),
        false => Ok(0),
    }
}

/// The named toolset, or all of them.
fn toolsets(named: Option<ToolsetName>) -> Vec<Toolset> {
    let names = named.map_or_else(|| ToolsetName::value_variants().to_vec(), |name| vec![name]);
    names.into_iter().map(with_task).collect()
}

/// The toolset; `mobile` includes `mobile_run_task`, which it has when a model is configured.
fn with_task(name: ToolsetName) -> Toolset {
    #[cfg_attr(not(feature = "agent"), expect(unused_mut, reason = "only the agent adds a tool"))]
    let mut toolset = name.toolset();
    #[cfg(feature = "agent")]
    if matches!(name, ToolsetName::Mobile) {
        toolset.tools.push(thumbwire_agent::run_task::for_the_manual());
        toolset.tools.push(thumbwire_agent::ask_secret::for_the_manual());
    }
    toolset
}
