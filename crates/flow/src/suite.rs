//! The result of a run of flows as the suite of its report page.

use thumbwire_core::trace::report::{self, Suite, SuiteRun};

use super::report::{CaseResult, Report, Verdict};
use super::run::full_name;

/// Describes the run for [`suite_page`](thumbwire_core::trace::report::suite_page). Attempts
/// without a trace are not in it.
pub fn suite(report: &Report) -> Suite {
    let phone = |phone: &super::report::Phone| match phone.device.as_deref() {
        Some(id) if id != phone.model => format!("{} ({id}), {}", phone.model, phone.os_version),
        _ => format!("{}, {}", phone.model, phone.os_version),
    };
    let mut notes = Vec::new();
    if report.out_of_time {
        notes.push("The run timed out before all cases ran.".to_owned());
    }
    if report.out_of_phones {
        notes.push("No phone was left for some cases.".to_owned());
    }
    let names: Vec<&str> = report.flows.iter().map(|flow| flow.name.as_str()).collect();
    let title = match names.as_slice() {
        [] => "Flows".to_owned(),
        names if names.len() <= 4 => names.join(", "),
        [first, second, rest @ ..] => format!("{first}, {second} and {} more flows", rest.len()),
        [name] => (*name).to_owned(),
    };
    Suite {
        version: 1,
        title,
        started: report.started.clone(),
        duration_ms: millis(report.took),
        phones: report.phones.iter().map(phone).collect(),
        notes,
        runs: report.cases.iter().map(|result| run(report, result)).collect(),
    }
}

fn run(report: &Report, result: &CaseResult) -> SuiteRun {
    let flow = &report.flows[result.flow];
    let case = &flow.cases[result.case];
    let folders = result.attempts.iter().filter_map(|attempt| attempt.trace.as_ref()?.file_name());
    let last = result.attempts.last();
    SuiteRun {
        name: full_name(flow, case),
        place: format!("{}:{}", case.at.file(), case.at.line),
        verdict: match result.verdict() {
            Verdict::Passed => report::Verdict::Passed,
            Verdict::Flaky => report::Verdict::Flaky,
            Verdict::Failed => report::Verdict::Failed,
            Verdict::Skipped => report::Verdict::Skipped,
        },
        text: result
            .skipped
            .as_ref()
            .map(|reason| format!("Skipped: {reason}"))
            .unwrap_or_default(),
        duration_ms: last.map(|attempt| millis(attempt.took)).unwrap_or_default(),
        attempts: folders.map(|name| name.to_string_lossy().into_owned()).collect(),
        page: None,
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
