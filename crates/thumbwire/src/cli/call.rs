//! `thumbwire call`

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::ValueEnum as _;
use serde_json::{Map, Value};
use thumbwire_base::files;
use thumbwire_core::session::SessionOptions;

use super::log_flag::LogFlag;
use super::{
    CliError, DeviceFlags, PHONES, ScreenshotSize, ToolsetName, app_tools, exit_code, leasing,
    open_session, print, print_error,
};
use crate::config::Config;
use thumbwire_core::action::Call;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Name of the tool; see `thumbwire tools` and `thumbwire tools NAME`
    tool: String,
    /// Arguments, as a JSON object
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    #[command(flatten)]
    device: DeviceFlags,
    /// Size of screenshots: `full`, the pixels of the longer side, or `auto` for what vision models
    /// look at. All coordinates are pixels of the screenshot [default: full]
    #[arg(long, value_name = "SIZE", help_heading = PHONES)]
    screenshot_size: Option<ScreenshotSize>,
    #[command(flatten)]
    allow: app_tools::AllowFlags,
    /// Toolset of the tool
    #[arg(short = 't', long, value_name = "TOOLSET", value_enum, default_value = "mobile")]
    toolset: ToolsetName,
    /// Directory whose files may be sent to the phone
    #[arg(long, value_name = "DIR", default_value = ".")]
    input: PathBuf,
    /// Print the whole result as JSON
    #[arg(short, long)]
    json: bool,
    /// Directory for images; files that the tool saves go to `assets/`, `logs/` and `files/` in it
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    pub(super) log: LogFlag,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    ScreenshotSize::check(arguments.screenshot_size, arguments.toolset)?;
    let toolset = arguments.toolset.toolset();
    let Some(tool) = toolset.tool(&arguments.tool) else {
        return Err(CliError::usage(not_there(&arguments.tool)));
    };
    let given = parse_arguments(&arguments.arguments)?;
    let config = &arguments.device.sources.applied_to(config)?;
    let options = SessionOptions {
        files: Some(ArtifactStore::new(&arguments.out)),
        input_files: Some(InputFolder::new(&arguments.input)),
        app_tools: arguments.allow.options(config)?,
        keep_orientation: true,
        ..leasing(config, "thumbwire call").await?
    };
    let session = open_session(config, arguments.device, arguments.screenshot_size, options)?;
    let call = Call::with_timeout(tool.budget_for(&given));
    let reply = toolset.answer(tool, given, call, &session).await;
    session.end().await;
    if arguments.json {
        print(&format!("{}\n", reply.to_json()))?;
    } else {
        print_reply(&reply.to_json(), &tool.name, &arguments.out)?;
    }
    Ok(reply.cause.as_ref().map_or(u8::from(reply.is_error), exit_code))
}

/// Reads the arguments of a tool.
pub(super) fn parse_arguments(text: &str) -> Result<Map<String, Value>, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::usage(format!(
            "invalid arguments: expected one JSON object such as '{{\"x\": 1}}': {error}"
        ))
    })
}

/// The error for a tool that this toolset lacks. Names the toolsets that have it.
fn not_there(tool: &str) -> String {
    let toolsets = ToolsetName::value_variants().iter().map(|name| name.toolset());
    let others = toolsets.filter(|toolset| toolset.tool(tool).is_some());
    let others: Vec<_> = others.map(|toolset| format!("`--toolset {}`", toolset.name)).collect();
    match others.is_empty() {
        #[cfg(feature = "agent")]
        true if tool == thumbwire_agent::run_task::NAME => {
            format!("{tool:?} needs a model. Use `thumbwire run GOAL --model …` instead")
        }
        true => format!("unknown tool {tool:?}. Run `thumbwire tools` to list them"),
        false => format!("{tool:?} belongs to another toolset; add {}", others.join(" or ")),
    }
}

/// Prints the texts of a tool result, those of an error to standard error, and writes its images to
/// a folder.
pub(super) fn print_reply(reply: &Value, tool: &str, out: &Path) -> Result<(), CliError> {
    print_text(reply)?;
    for (format, bytes) in images(reply) {
        let file = out.join(format!("{tool}.{format}"));
        let written = files::make_folder(out).and_then(|()| files::write(&file, &bytes));
        written.map_err(|error| {
            CliError::failed(format!("cannot write {}: {error}", file.display()))
        })?;
        print(&format!("{} ({} bytes)\n", file.display(), bytes.len()))?;
    }
    Ok(())
}

/// Prints the texts of a tool result. They name the files that the tool has saved; links to them
/// are for clients elsewhere.
pub(super) fn print_text(reply: &Value) -> Result<(), CliError> {
    for text in content(reply).filter_map(|part| part["text"].as_str()) {
        match reply["isError"] == true {
            true => print_error(text),
            false => print(&format!("{text}\n"))?,
        }
    }
    Ok(())
}

/// The images of a tool result, each with the name of its format.
pub(super) fn images(reply: &Value) -> impl Iterator<Item = (String, Vec<u8>)> {
    content(reply).filter(|part| part["type"] == "image").filter_map(|part| {
        let format = part["mimeType"].as_str()?.strip_prefix("image/")?;
        Some((format.to_owned(), STANDARD.decode(part["data"].as_str()?).ok()?))
    })
}

fn content(reply: &Value) -> impl Iterator<Item = &Value> {
    reply["content"].as_array().into_iter().flatten()
}
