//! `thumbwire app-tools new`: generates the files that turn an Android app into a tool app, from a
//! TOML file.
//!
//! Start with [`run`]. [`plan`] reads the TOML, [`xml`] and [`kotlin`] generate the files. They go
//! where Android's build expects them below `app/src/main`. Existing files are never overwritten.

mod kotlin;
mod plan;
mod xml;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::super::{CliError, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Definition of the tool: package, class, name, description and capabilities (example in
    /// docs/app-tools.md)
    #[arg(value_name = "TOOL.toml")]
    plan: PathBuf,
    /// Output directory: the `app/src/main` of an Android project
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// Size limit of the TOML file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

pub(super) fn run(arguments: &Arguments) -> Result<u8, CliError> {
    let file = arguments.plan.display();
    let text = read(&arguments.plan)
        .map_err(|reason| CliError::usage(format!("cannot read {file}: {reason}")))?;
    let plan = plan::read(&text)
        .map_err(|reason| CliError::usage(format!("{file}: {}", reason.trim_end())))?;
    let files = files(&plan, &arguments.out);
    let existing: Vec<_> = files.iter().filter(|(file, _)| file.exists()).collect();
    if !existing.is_empty() {
        let names: Vec<_> = existing.iter().map(|(file, _)| file.display().to_string()).collect();
        return Err(CliError::usage(format!(
            "nothing was written: {} already {}. Choose another --out or remove {}",
            names.join(", "),
            if names.len() == 1 { "exists" } else { "exist" },
            if names.len() == 1 { "it" } else { "them" },
        )));
    }
    for (file, text) in &files {
        write(file, text).map_err(|error| {
            CliError::failed(format!("cannot write {}: {error}", file.display()))
        })?;
        print(&format!("{}\n", file.display()))?;
    }
    print(&format!(
        "\nNext: copy the <service> from {MANIFEST} to AndroidManifest.xml, implement the functions in {}.kt, build, and run\n      `thumbwire app-tools lint app.apk`\n",
        plan.class
    ))?;
    Ok(0)
}

/// The file with the manifest entry.
const MANIFEST: &str = "AndroidManifest-tool.xml";

fn files(plan: &plan::Plan, out: &Path) -> Vec<(PathBuf, String)> {
    let sources = out.join("java").join(plan.package.replace('.', "/"));
    vec![
        (out.join("res/xml/mcp_capabilities.xml"), xml::descriptor(plan)),
        (out.join(MANIFEST), xml::declaration(plan)),
        (sources.join(format!("{}.kt", plan.class)), kotlin::service(plan)),
        (sources.join(format!("{}.kt", plan::BASE)), kotlin::base(&plan.package)),
    ]
}

fn read(file: &Path) -> Result<String, String> {
    let mut text = String::new();
    let open = fs::File::open(file).map_err(|error| error.to_string())?;
    let read =
        open.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    match read as u64 > MAX_BYTES {
        true => Err(format!("it is larger than {MAX_BYTES} bytes")),
        false => Ok(text),
    }
}

/// Writes a new file; fails if it exists.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}
