//! `thumbwire call`

use std::fs;
use std::path::PathBuf;

use clap::ValueEnum as _;
use serde_json::{Map, Value};
use thumbwire_device::Image;

use super::{Device, Ended, SurfaceName, app_tools, exit_code, print, session};
use crate::action::Call;
use crate::agent::task;
use crate::config::Config;
use crate::keep::Keep;
use crate::surface::{Content, Reply};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The tool's name; `thumbwire tools` lists them, `thumbwire tools NAME` tells what one takes
    tool: String,
    /// Its arguments, a JSON object
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    #[command(flatten)]
    device: Device,
    #[command(flatten)]
    allow: app_tools::Allow,
    /// Which tools
    #[arg(long, value_enum, default_value = "mobile")]
    surface: SurfaceName,
    /// Print the whole result as JSON
    #[arg(long)]
    json: bool,
    /// Where pictures are written; what a tool saves lies in its folders `assets/` and `logs/`
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let surface = arguments.surface.surface();
    let Some(tool) = surface.tool(&arguments.tool) else {
        return Err(Ended::usage(not_there(&arguments.tool)));
    };
    let given: Map<String, Value> =
        serde_json::from_str(&arguments.arguments).map_err(|error| {
            Ended::usage(format!(
                "the arguments must be one JSON object such as '{{\"x\": 1}}': {error}"
            ))
        })?;
    let apps = arguments.allow.options(config)?;
    let session = session(config, arguments.device).leaving_screens();
    let session = session.with_files(Keep::new(&arguments.out)).with_bridge(apps);
    let reply = surface.answer(tool, given, Call::within(tool.budget), &session).await;
    session.end().await;
    if arguments.json {
        print(&format!("{}\n", reply.to_json()))?;
    } else {
        tell(&reply, &tool.name, &arguments.out)?;
    }
    Ok(reply.cause.as_ref().map_or(u8::from(reply.is_error), exit_code))
}

/// What is wrong with a tool's name that the surface does not have: one of another surface needs to be asked for there.
fn not_there(tool: &str) -> String {
    let surfaces = SurfaceName::value_variants().iter().map(|name| name.surface());
    let others = surfaces.filter(|surface| surface.tool(tool).is_some());
    let others: Vec<_> = others.map(|surface| format!("`--surface {}`", surface.name)).collect();
    match others.is_empty() {
        true if tool == task::NAME => {
            format!("{tool:?} needs a model; `thumbwire run GOAL --model …` does what it does")
        }
        true => format!("no tool is called {tool:?}; `thumbwire tools` lists them"),
        false => format!("{tool:?} is a tool of another surface: add {}", others.join(" or ")),
    }
}

fn tell(reply: &Reply, tool: &str, out: &std::path::Path) -> Result<(), Ended> {
    for part in &reply.content {
        match part {
            Content::Text(text) if reply.is_error => eprintln!("{text}"),
            Content::Text(text) => print(&format!("{text}\n"))?,
            Content::Picture(Image { format, bytes }) => {
                let file = out.join(format!("{tool}.{}", format.name()));
                let written = fs::create_dir_all(out).and_then(|()| fs::write(&file, bytes));
                written.map_err(|error| {
                    Ended::failed(format!("cannot write {}: {error}", file.display()))
                })?;
                print(&format!("{} ({} bytes)\n", file.display(), bytes.len()))?;
            }
        }
    }
    Ok(())
}
