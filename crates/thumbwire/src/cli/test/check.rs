//! `thumbwire test --check`: what is known of flows without a phone.

use crate::cli::flow_files::ReadFlows;
use crate::cli::live::counted;
use crate::cli::{CliError, print};

/// Prints the cases, what may go wrong, and what is wrong. Exit code 2 if something is wrong.
pub(super) fn report(read: &ReadFlows, parameters: &[(String, String)]) -> Result<u8, CliError> {
    let (mut text, mut cases) = (String::new(), 0);
    for flow in &read.flows {
        text.push_str(&format!("{}\n", flow.file));
        for case in &flow.cases {
            text.push_str(&format!("  {}\n", case.name));
            cases += 1;
        }
    }
    let mut warnings: Vec<String> = Vec::new();
    for (name, _) in parameters {
        if !read.flows.iter().any(|flow| flow.uses_parameter(name)) {
            warnings.push(format!("nothing uses --param {name}"));
        }
    }
    for warning in read.flows.iter().flat_map(|flow| flow.warnings()) {
        let warning = format!("{}: {}", warning.at, warning.what);
        // Several flows may run the same file.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    for (title, lines) in [("Warnings", &warnings), ("Errors", &read.errors)] {
        if !lines.is_empty() {
            text.push_str(&format!("\n{title}:\n{}\n", lines.join("\n")));
        }
    }
    let skipped = match read.skipped {
        0 => String::new(),
        skipped => format!(" · {} with other tags", counted(skipped, "flow")),
    };
    text.push_str(&format!(
        "\n{} in {}{skipped} · {} · {}\n",
        counted(cases, "case"),
        counted(read.flows.len(), "flow"),
        counted(warnings.len(), "warning"),
        counted(read.errors.len(), "error")
    ));
    print(&text)?;
    Ok(if read.errors.is_empty() { 0 } else { 2 })
}
