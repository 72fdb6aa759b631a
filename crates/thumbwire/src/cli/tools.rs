//! `thumbwire tools`

use clap::ValueEnum as _;
use serde_json::json;

use super::{Ended, SurfaceName, print};
use crate::agent::task;
use crate::surface::{Surface, manual};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Tell what this tool takes and answers
    name: Option<String>,
    /// Which tools [default: mobile; for a tool by name and for the page, all]
    #[arg(long, value_enum)]
    surface: Option<SurfaceName>,
    /// Print what a client is told of them
    #[arg(long)]
    json: bool,
    /// Print the page that documents them
    #[arg(long, conflicts_with_all = ["json", "name"])]
    markdown: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<u8, Ended> {
    if arguments.markdown {
        print(&manual::markdown(&surfaces(arguments.surface)))?;
        return Ok(0);
    }
    if let Some(name) = &arguments.name {
        return one(name, arguments);
    }
    let name = arguments.surface.unwrap_or(SurfaceName::Mobile);
    if arguments.json {
        // What a client is told of a server without a model.
        let surface = name.surface();
        let tools: Vec<_> = surface.tools.iter().map(|tool| tool.to_json()).collect();
        print(&format!("{}\n", json!({ "tools": tools })))?;
        return Ok(0);
    }
    for tool in &with_task(name).tools {
        let line = tool.description.lines().next().unwrap_or_default();
        print(&format!("{}\n    {line}\n", manual::call_form(tool)))?;
    }
    Ok(0)
}

/// Tells one tool; of several surfaces that have it, each.
fn one(name: &str, arguments: &Arguments) -> Result<u8, Ended> {
    let surfaces = surfaces(arguments.surface);
    let all = surfaces.iter().filter_map(|surface| Some((surface.name, surface.tool(name)?)));
    let all: Vec<_> = all.collect();
    for (surface, tool) in &all {
        if arguments.json {
            print(&format!("{}\n", tool.to_json()))?;
        } else if all.len() == 1 {
            print(&manual::help(tool))?;
        } else {
            print(&format!("{surface}: {}", manual::help(tool)))?;
        }
    }
    match all.is_empty() {
        true => {
            Err(Ended::usage(format!("no tool is called {name:?}; `thumbwire tools` lists them")))
        }
        false => Ok(0),
    }
}

/// The surface of that name, or all.
fn surfaces(named: Option<SurfaceName>) -> Vec<Surface> {
    let names = named.map_or_else(|| SurfaceName::value_variants().to_vec(), |name| vec![name]);
    names.into_iter().map(with_task).collect()
}

/// The surface, with the tool that `mobile` has where the operator named a model.
fn with_task(name: SurfaceName) -> Surface {
    let mut surface = name.surface();
    if matches!(name, SurfaceName::Mobile) {
        surface.tools.push(task::for_the_manual(super::serve::TASK));
    }
    surface
}
