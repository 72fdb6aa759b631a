//! Terminal output about apps' tools. All text from apps goes through [`sanitize`].

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use super::super::style::{LineStyle, Style};
use super::super::terminal_prompt;
use thumbwire_core::action::{AppTool, AppToolPhase, AppTools, Catalog, Parameter, TrustStatus};

pub(super) use super::super::style::sanitize;

/// Line style for standard output: wrapped and coloured if it is a terminal.
pub(super) fn ink(colours: bool) -> LineStyle {
    let is_terminal = std::io::stdout().is_terminal();
    LineStyle {
        width: is_terminal.then(terminal_prompt::width).flatten(),
        colours: colours && is_terminal,
    }
}

/// All apps, one line per tool.
pub(super) fn list(catalog: &Catalog, style: LineStyle) -> String {
    if catalog.apps.is_empty() {
        return "No app on this phone offers tools.\n".into();
    }
    let mut text = String::new();
    for (at, tools) in catalog.apps.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        head(&mut text, tools, style);
        let signatures: Vec<_> = tools.tools.iter().map(signature).collect();
        // A long signature does not shift the descriptions of the other tools.
        let fits =
            signatures.iter().map(|it| it.chars().count()).filter(|&width| width <= MAX_WIDTH);
        let width = fits.max().unwrap_or(0);
        for (tool, signature) in tools.tools.iter().zip(signatures) {
            let description = vec![(Style::Dim, sanitize(&tool.description))];
            match signature.chars().count() > width {
                true => {
                    text.push_str(
                        &style.lines((Style::Plain, &format!("  {signature}")), &Vec::new()),
                    );
                    text.push_str(
                        &style.lines((Style::Plain, &" ".repeat(width + 4)), &description),
                    );
                }
                false => {
                    let signature = format!("  {signature:width$}  ");
                    text.push_str(&style.lines((Style::Plain, &signature), &description));
                }
            }
        }
        findings(&mut text, tools, style);
    }
    text
}

/// The widest signature that has its description beside it, in columns.
const MAX_WIDTH: usize = 32;

/// One app, with all details of its tools.
pub(super) fn describe(offers: &[Arc<AppTools>], style: LineStyle) -> String {
    let mut text = String::new();
    for (at, tools) in offers.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        head(&mut text, tools, style);
        if !tools.certificate.is_empty() {
            let words = vec![(Style::Dim, tools.certificate.clone())];
            text.push_str(&style.lines((Style::Dim, "  signed by  "), &words));
        }
        for tool in &tools.tools {
            text.push('\n');
            let version = match tool.version.is_empty() {
                true => Vec::new(),
                false => vec![(Style::Dim, format!("· version {}", sanitize(&tool.version)))],
            };
            let signature = format!("  {}  ", signature(tool));
            text.push_str(&style.lines((Style::Bold, &signature), &version));
            text.push_str(&style.lines((Style::Plain, "    "), &plain(&tool.description)));
            values(&mut text, "input", &tool.input, style);
            values(&mut text, "output", &tool.output, style);
        }
        if !tools.complaints.is_empty() {
            text.push('\n');
        }
        findings(&mut text, tools, style);
    }
    text
}

fn head(text: &mut String, tools: &AppTools, style: LineStyle) {
    let words = match tools.trusted {
        TrustStatus::Yes => "allowed",
        TrustStatus::NotAllowed => "not allowed",
        TrustStatus::OtherSigner => "signer changed",
        TrustStatus::Changed(_) => "changed since accepted",
    };
    let tone = if tools.trusted == TrustStatus::Yes { Style::Good } else { Style::Warning };
    let words = vec![
        (Style::Plain, sanitize(&tools.name)),
        (Style::Dim, format!("· version {} · {} ·", tools.version, tools.by.name())),
        (tone, words.to_owned()),
    ];
    let package = format!("{}  ", sanitize(&tools.app.0));
    text.push_str(&style.lines((Style::Bold, &package), &words));
    if let TrustStatus::Changed(what) = &tools.trusted {
        text.push_str(&style.lines((Style::Warning, "  ! "), &plain(what)));
    }
    if !tools.description.is_empty() {
        text.push_str(&style.lines((Style::Plain, "  "), &plain(&tools.description)));
    }
}

fn findings(text: &mut String, tools: &AppTools, style: LineStyle) {
    for one in &tools.complaints {
        let (mark, tone) = if one.fatal { ("✗", Style::Bad) } else { ("!", Style::Warning) };
        let words = vec![
            (tone, format!("{}:", sanitize(&one.rule))),
            (Style::Plain, sanitize(&one.message)),
        ];
        text.push_str(&style.lines((tone, &format!("  {mark} ")), &words));
    }
}

fn values(text: &mut String, what: &str, values: &[Parameter], style: LineStyle) {
    let takes = what == "input";
    let kind = |it: &Parameter| match it.required || !takes {
        true => it.kind.to_owned(),
        false => format!("{}, optional", it.kind),
    };
    let widest = |of: &dyn Fn(&Parameter) -> usize| values.iter().map(of).max().unwrap_or(0);
    let width = widest(&|it| it.name.chars().count());
    let kinds = widest(&|it| kind(it).len());
    for (at, it) in values.iter().enumerate() {
        let what = if at == 0 { what } else { "" };
        let name = sanitize(&it.name);
        let head = format!("    {what:6}  {name:width$}  {:kinds$}  ", kind(it));
        text.push_str(&style.lines((Style::Plain, &head), &plain(&it.description)));
    }
}

/// `id(name, name?)`.
fn signature(tool: &AppTool) -> String {
    let names = tool.input.iter().map(|it| match it.required {
        true => sanitize(&it.name),
        false => format!("{}?", sanitize(&it.name)),
    });
    format!("{}({})", sanitize(&tool.id), names.collect::<Vec<_>>().join(", "))
}

fn plain(text: &str) -> Vec<(Style, String)> {
    vec![(Style::Plain, sanitize(text))]
}

/// The phases with their durations, and the total.
pub(super) fn phases(phases: &[(AppToolPhase, Duration)]) -> String {
    let mut text = String::new();
    for (phase, took) in phases {
        let _ = writeln!(text, "{:>10}  {:>9}", phase.name(), millis(*took));
    }
    let sum = phases.iter().map(|(_, took)| *took).sum();
    let _ = writeln!(text, "{:>10}  {:>9}", "total", millis(sum));
    text
}

/// A duration in milliseconds with one decimal.
pub(in crate::cli) fn millis(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}
