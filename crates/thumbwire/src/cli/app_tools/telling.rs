//! How what apps offer is told to a person. All of an app's own words go through [`harmless`].

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use super::super::live::{Ink, Tone};
use super::super::terminal;
use crate::action::{AppTool, AppTools, Catalog, Parameter, Phase, Trusted};

pub(super) use super::super::live::harmless;

/// How lines are set on standard output: wrapped and coloured where it is a terminal.
pub(super) fn ink(colours: bool) -> Ink {
    let there = std::io::stdout().is_terminal();
    Ink { width: there.then(terminal::width).flatten(), colours: colours && there }
}

/// All apps, a line a tool.
pub(super) fn list(catalog: &Catalog, ink: Ink) -> String {
    if catalog.apps.is_empty() {
        return "No app on this phone offers anything to programs.\n".into();
    }
    let mut text = String::new();
    for (at, tools) in catalog.apps.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        head(&mut text, tools, ink);
        let signatures: Vec<_> = tools.tools.iter().map(signature).collect();
        // A tool with many arguments does not push the others' words away.
        let fits = signatures.iter().map(|it| it.chars().count()).filter(|&width| width <= WIDEST);
        let width = fits.max().unwrap_or(0);
        for (tool, signature) in tools.tools.iter().zip(signatures) {
            let says = vec![(Tone::Dim, harmless(&tool.description))];
            match signature.chars().count() > width {
                true => {
                    text.push_str(&lines(ink, &format!("  {signature}"), Tone::Plain, &Vec::new()));
                    text.push_str(&lines(ink, &" ".repeat(width + 4), Tone::Plain, &says));
                }
                false => {
                    let signature = format!("  {signature:width$}  ");
                    text.push_str(&lines(ink, &signature, Tone::Plain, &says));
                }
            }
        }
        complaints(&mut text, tools, ink);
    }
    text
}

/// The widest call that has its words beside it, in columns.
const WIDEST: usize = 32;

/// One app, with all that it says of each tool.
pub(super) fn describe(offers: &[Arc<AppTools>], ink: Ink) -> String {
    let mut text = String::new();
    for (at, tools) in offers.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        head(&mut text, tools, ink);
        if !tools.certificate.is_empty() {
            let words = vec![(Tone::Dim, tools.certificate.clone())];
            text.push_str(&lines(ink, "  signed by  ", Tone::Dim, &words));
        }
        for tool in &tools.tools {
            text.push('\n');
            text.push_str(&lines(ink, &format!("  {}", signature(tool)), Tone::Bold, &Vec::new()));
            text.push_str(&lines(ink, "    ", Tone::Plain, &plain(&tool.description)));
            values(&mut text, "takes", &tool.input, ink);
            values(&mut text, "gives", &tool.output, ink);
        }
        if !tools.complaints.is_empty() {
            text.push('\n');
        }
        complaints(&mut text, tools, ink);
    }
    text
}

fn head(text: &mut String, tools: &AppTools, ink: Ink) {
    let words = match tools.trusted {
        Trusted::Yes => "may be called",
        Trusted::NotAllowed => "not allowed",
        Trusted::OtherSigner => "signed by somebody else than before",
        Trusted::Changed(_) => "changed since it was agreed to",
    };
    let tone = if tools.trusted == Trusted::Yes { Tone::Good } else { Tone::Heed };
    let words = vec![
        (Tone::Plain, harmless(&tools.name)),
        (Tone::Dim, format!("· version {} · {} ·", tools.version, tools.by.name())),
        (tone, words.to_owned()),
    ];
    let package = format!("{}  ", harmless(&tools.app.0));
    text.push_str(&lines(ink, &package, Tone::Bold, &words));
    if let Trusted::Changed(what) = &tools.trusted {
        text.push_str(&lines(ink, "  ! ", Tone::Heed, &plain(what)));
    }
    if !tools.description.is_empty() {
        text.push_str(&lines(ink, "  ", Tone::Plain, &plain(&tools.description)));
    }
}

fn complaints(text: &mut String, tools: &AppTools, ink: Ink) {
    for one in &tools.complaints {
        let (mark, tone) = if one.fatal { ("✗", Tone::Bad) } else { ("!", Tone::Heed) };
        let words =
            vec![(tone, format!("{}:", harmless(&one.rule))), (Tone::Plain, harmless(&one.says))];
        text.push_str(&lines(ink, &format!("  {mark} "), tone, &words));
    }
}

fn values(text: &mut String, what: &str, values: &[Parameter], ink: Ink) {
    let takes = what == "takes";
    let kind = |it: &Parameter| match it.required || !takes {
        true => it.kind.to_owned(),
        false => format!("{}, optional", it.kind),
    };
    let widest = |of: &dyn Fn(&Parameter) -> usize| values.iter().map(of).max().unwrap_or(0);
    let width = widest(&|it| it.name.chars().count());
    let kinds = widest(&|it| kind(it).len());
    for (at, it) in values.iter().enumerate() {
        let what = if at == 0 { what } else { "" };
        let name = harmless(&it.name);
        let head = format!("    {what:5}  {name:width$}  {:kinds$}  ", kind(it));
        text.push_str(&lines(ink, &head, Tone::Plain, &plain(&it.description)));
    }
}

/// `id(name, name?)`.
fn signature(tool: &AppTool) -> String {
    let names = tool.input.iter().map(|it| match it.required {
        true => harmless(&it.name),
        false => format!("{}?", harmless(&it.name)),
    });
    format!("{}({})", harmless(&tool.id), names.collect::<Vec<_>>().join(", "))
}

fn plain(text: &str) -> Vec<(Tone, String)> {
    vec![(Tone::Plain, harmless(text))]
}

fn lines(ink: Ink, head: &str, tone: Tone, words: &Vec<(Tone, String)>) -> String {
    let lines = ink.set(&(tone, head.to_owned()), words);
    lines.iter().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// The parts of a piece of work with their times, and the sum.
pub(super) fn phases(phases: &[(Phase, Duration)]) -> String {
    let mut text = String::new();
    for (phase, took) in phases {
        let _ = writeln!(text, "{:>10}  {:>9}", phase.name(), millis(*took));
    }
    let sum = phases.iter().map(|(_, took)| *took).sum();
    let _ = writeln!(text, "{:>10}  {:>9}", "together", millis(sum));
    text
}

/// A time, as a person compares it.
pub(in crate::cli) fn millis(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}
