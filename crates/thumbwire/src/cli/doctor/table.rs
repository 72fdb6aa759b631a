//! The report as a table: for a terminal, and as Markdown with several phones side by side.

use crate::cli::style::{LineStyle, Style, sanitize};
use crate::doctor::{CheckResult, Finding, PhoneSummary, Report, Severity, Verdict};

/// The table for a terminal.
pub(super) fn terminal(report: &Report, width: usize, colours: bool) -> String {
    let style = LineStyle { width: Some(width), colours };
    let mut lines = header(report);
    let tools = report.results.iter().map(|result| result.tool.len()).max().unwrap_or(0);
    let mut toolset = "";
    for result in &report.results {
        if result.toolset != toolset {
            toolset = &result.toolset;
            lines.push(String::new());
            lines.push(style.painted(Style::Bold, toolset));
        }
        let (verdict, time) = (result.verdict.name(), time(result));
        let head = format!("  {verdict:7}  {:tools$}  {time:>14}  ", result.tool);
        let tone = match result.verdict {
            Verdict::Passed => Style::Plain,
            Verdict::Failed => Style::Bad,
            Verdict::Skipped => Style::Dim,
        };
        lines.extend(style.set(&(tone, head), &vec![(tone, words(result))]));
    }
    lines.push(String::new());
    lines.push(summary(report));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What was found about this computer and its phones, for a terminal.
pub(super) fn setup(findings: &[Finding], width: usize, colours: bool) -> String {
    let style = LineStyle { width: Some(width), colours };
    let mut lines = vec![format!(
        "thumbwire {} doctor: this computer and its phones",
        env!("CARGO_PKG_VERSION")
    )];
    for Finding { subject, severity, detail, fix } in findings {
        let tone = match severity {
            Severity::Ok => Style::Plain,
            Severity::Note => Style::Warning,
            Severity::Problem => Style::Bad,
        };
        let head = (tone, format!("  {:7}  ", severity.name()));
        let words = format!("{}: {}", sanitize(subject), sanitize(detail));
        lines.extend(style.set(&head, &vec![(tone, words)]));
        let next = fix.iter().flat_map(|fix| {
            let head = (Style::Plain, format!("  {:7}  Next: ", ""));
            style.set(&head, &vec![(Style::Plain, sanitize(fix))])
        });
        lines.extend(next);
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn header(report: &Report) -> Vec<String> {
    let which = if report.full { "all tools" } else { "tools that change nothing" };
    vec![
        format!("thumbwire {} doctor: {which}", report.thumbwire),
        format!("phone    {}", phone(&report.phone)),
        format!("reached  {}", report.phone.transport),
    ]
}

fn phone(phone: &PhoneSummary) -> String {
    let PhoneSummary { manufacturer, model, platform, os_version, api_level, screen, .. } = phone;
    let api = api_level.map_or(String::new(), |level| format!(" (API {level})"));
    sanitize(&format!("{manufacturer} {model}, {platform} {os_version}{api}, {screen} pixels"))
}

/// How long the call took, and the tool's timeout.
fn time(result: &CheckResult) -> String {
    let budget = result.budget_ms / 1000;
    result.took_ms.map_or_else(String::new, |took| format!("{} of {budget:3} s", seconds(took)))
}

#[expect(clippy::cast_precision_loss, reason = "no call takes so long")]
fn seconds(ms: u64) -> String {
    format!("{:.1} s", ms as f64 / 1000.0)
}

/// What was checked, and what came of it.
fn words(result: &CheckResult) -> String {
    let (checked, detail) = (&result.checked, sanitize(&result.detail));
    match result.verdict {
        Verdict::Skipped => detail,
        _ if detail.is_empty() => checked.clone(),
        Verdict::Passed => format!("{checked} ({detail})"),
        Verdict::Failed => format!("{checked}: {detail}"),
    }
}

fn summary(report: &Report) -> String {
    let [passed, failed, skipped] =
        [Verdict::Passed, Verdict::Failed, Verdict::Skipped].map(|verdict| report.count(verdict));
    let (all, seconds) = (report.results.len(), report.seconds);
    format!("{all} tools: {passed} passed, {failed} failed, {skipped} skipped, in {seconds:.0} s")
}

/// The reports side by side, in Markdown: one row per tool, one column per phone, and below what
/// did not pass.
pub(super) fn markdown(reports: &[Report]) -> String {
    let mut page = String::from("| toolset | tool | what is checked | timeout |");
    for report in reports {
        page.push_str(&format!(" {} |", cell(&column(report))));
    }
    page.push_str("\n|---|---|---|---|");
    page.push_str(&"---|".repeat(reports.len()));
    page.push('\n');
    let mut rows: Vec<&CheckResult> = Vec::new();
    for result in reports.iter().flat_map(|report| &report.results) {
        if !rows.iter().any(|row| is_same(row, result)) {
            rows.push(result);
        }
    }
    for row in rows {
        let (checked, budget) = (cell(&row.checked), row.budget_ms / 1000);
        let budget = if budget > 0 { format!("{budget} s") } else { String::new() };
        page.push_str(&format!("| {} | `{}` | {checked} | {budget} |", row.toolset, row.tool));
        for report in reports {
            let result = report.results.iter().find(|result| is_same(result, row));
            page.push_str(&format!(" {} |", result.map_or_else(String::new, outcome)));
        }
        page.push('\n');
    }
    for report in reports {
        page.push_str(&format!("\n{}: {}.\n", column(report), summary(report)));
        let others = report.results.iter().filter(|result| result.verdict != Verdict::Passed);
        let others: Vec<String> = others
            .map(|result| {
                let verdict = result.verdict.name();
                format!("* `{}` {verdict}: {}\n", result.tool, sanitize(&result.detail))
            })
            .collect();
        if !others.is_empty() {
            page.push('\n');
        }
        page.push_str(&others.concat());
    }
    page
}

fn is_same(one: &CheckResult, other: &CheckResult) -> bool {
    (&one.toolset, &one.tool) == (&other.toolset, &other.tool)
}

fn column(report: &Report) -> String {
    let PhoneSummary { model, platform, os_version, transport, .. } = &report.phone;
    sanitize(&format!("{model}, {platform} {os_version}, {transport}"))
}

fn outcome(result: &CheckResult) -> String {
    let verdict = match result.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "**failed**",
        Verdict::Skipped => "*skipped*",
    };
    match result.took_ms {
        Some(took) => format!("{verdict}, {}", seconds(took)),
        None => verdict.to_owned(),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(model: &str, verdict: Verdict, detail: &str) -> Report {
        let result = |tool: &str, verdict, detail: &str, took_ms| CheckResult {
            toolset: "mobile".into(),
            tool: tool.into(),
            verdict,
            checked: "the field holds the text".into(),
            detail: detail.into(),
            took_ms,
            budget_ms: 60_000,
        };
        let phone = PhoneSummary {
            manufacturer: "Acme".into(),
            model: model.into(),
            platform: "Android".into(),
            os_version: "14".into(),
            api_level: Some(34),
            screen: "1080x2400".into(),
            transport: "adb server".into(),
        };
        Report {
            thumbwire: "1.2.3".into(),
            phone,
            full: true,
            seconds: 61.4,
            results: vec![
                result("mobile_type", verdict, detail, Some(13_460)),
                result("mobile_run_task", Verdict::Skipped, "needs a model", None),
            ],
        }
    }

    #[test]
    fn the_table_fits_its_width_and_no_text_moves_the_cursor() {
        let broken = report("One\x1b[2J", Verdict::Failed, &"it shows another text ".repeat(9));
        let table = terminal(&broken, 100, false);
        assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
        assert!(!table.contains('\x1b') && table.contains("13.5 s of  60 s"), "{table}");
        assert!(table.ends_with("2 tools: 0 passed, 1 failed, 1 skipped, in 61 s\n"), "{table}");
    }
}
