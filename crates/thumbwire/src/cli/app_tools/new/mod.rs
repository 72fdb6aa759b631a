//! `thumbwire app-tools new`: from a short TOML to the files that make an Android app a tool.
//!
//! Begin with [`run`]. [`plan`] is the TOML, [`xml`] and [`kotlin`] what is made of it. The files lie where Android's build looks for
//! them below `app/src/main`, and none that is there already is touched.

mod kotlin;
mod plan;
mod xml;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::super::{Ended, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What the tool is to be: package, class, name, description and capabilities (docs/app-tools.md has an example)
    #[arg(value_name = "TOOL.toml")]
    plan: PathBuf,
    /// The folder that the files are written into: the `app/src/main` of an Android project
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// The largest plan that is read, in bytes.
const LARGEST: u64 = 1 << 20;

pub(super) fn run(arguments: &Arguments) -> Result<u8, Ended> {
    let place = arguments.plan.display();
    let text =
        read(&arguments.plan).map_err(|why| Ended::usage(format!("cannot read {place}: {why}")))?;
    let plan =
        plan::read(&text).map_err(|why| Ended::usage(format!("{place}: {}", why.trim_end())))?;
    let files = files(&plan, &arguments.out);
    let there: Vec<_> = files.iter().filter(|(file, _)| file.exists()).collect();
    if !there.is_empty() {
        let names: Vec<_> = there.iter().map(|(file, _)| file.display().to_string()).collect();
        return Err(Ended::failed(format!(
            "nothing was written: {} {} there already; choose another --out, or remove {}",
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" },
            if names.len() == 1 { "it" } else { "them" },
        )));
    }
    for (file, text) in &files {
        write(file, text)
            .map_err(|error| Ended::failed(format!("cannot write {}: {error}", file.display())))?;
        print(&format!("{}\n", file.display()))?;
    }
    print(&format!(
        "\nNext: put {MANIFEST}'s <service> into AndroidManifest.xml, fill in the functions of {}.kt, build, and\n      `thumbwire app-tools lint app.apk`\n",
        plan.class
    ))?;
    Ok(0)
}

/// The piece of the manifest.
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
        open.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    match read as u64 > LARGEST {
        true => Err(format!("it is larger than {LARGEST} bytes")),
        false => Ok(text),
    }
}

/// Writes a file that was not there.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}
