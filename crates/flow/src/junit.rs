//! Writes a run of flows as a JUnit file: a test suite per flow, a test case per case.
//!
//! Cases that failed before they passed have `flakyFailure`s, those that kept failing have
//! `rerunFailure`s, as written by Maven Surefire and nextest. The file follows the schema of
//! Jenkins' xUnit plugin (`junit-10.xsd`). Problems outside of the app (a lost phone, a run that
//! timed out) are errors, not failures.

use quick_junit::{
    NonSuccessKind, Property, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite,
};
use thumbwire_base::visible::{visible, visible_lines};

use super::plan::Flow;
use super::report::{Attempt, CaseFailure, CaseResult, Report};

/// The maximum number of log lines below a failure.
const MAX_LINES: usize = 40;

/// Properties of a flow that say what its cases are called in the file. From Maestro's
/// `JUnitTestSuiteReporter`, which has them for test cases; the schema has them for suites only.
const RESERVED: [&str; 2] = ["junitId", "junitClassname"];

/// The file's content.
///
/// # Errors
/// If the library cannot write it.
pub fn junit(report: &Report) -> Result<String, SerializeError> {
    let mut out = quick_junit::Report::new("thumbwire");
    out.set_time(report.took);
    for (at, flow) in report.flows.iter().enumerate() {
        let result: Vec<&CaseResult> =
            report.cases.iter().filter(|result| result.flow == at).collect();
        if result.is_empty() {
            continue;
        }
        let mut suite = TestSuite::new(&*flow.name);
        let attempts = || result.iter().flat_map(|result| &result.attempts);
        suite.timestamp = attempts().map(|one| &one.started).min().and_then(|at| at.parse().ok());
        suite.set_time(attempts().map(|attempt| attempt.took).sum());
        suite.add_property(Property::new("file", &*flow.file));
        let others = flow.properties.iter().filter(|(name, _)| !RESERVED.contains(&&**name));
        for (name, value) in others {
            suite.add_property(Property::new(&**name, &**value));
        }
        if !flow.tags.is_empty() {
            suite.add_property(Property::new("tags", flow.tags.join(", ")));
        }
        for phone in &report.phones {
            let out = format!("{}, {}, Android {}", phone.name(), phone.model, phone.os_version);
            suite.add_property(Property::new("phone", out));
        }
        suite.add_test_cases(result.into_iter().map(|result| case(report, result)));
        out.add_test_suite(suite);
    }
    let text = out.to_string()?;
    // The schema has `skipped` on suites, but not on the root element, which comes first.
    let skipped: usize = out.test_suites.iter().map(|suite| suite.skipped).sum();
    Ok(text.replacen(&format!(" skipped=\"{skipped}\""), "", 1))
}

fn case(report: &Report, result: &CaseResult) -> TestCase {
    let flow = &report.flows[result.flow];
    let Some((last, earlier)) = result.attempts.split_last() else {
        let mut status = TestCaseStatus::skipped();
        status.set_message(result.skipped.as_deref().unwrap_or_default());
        let mut case = TestCase::new(&*flow.cases[result.case].name, status);
        case.set_classname(class_name(flow));
        return case;
    };
    let mut status = match &last.failed {
        None => TestCaseStatus::success(),
        Some(failed) => {
            let mut status = TestCaseStatus::non_success(kind(failed));
            status.set_message(visible(&failed.what)).set_type(failed.kind.name());
            status.set_description(failure_text(failed));
            status
        }
    };
    status.add_reruns(earlier.iter().filter_map(|one| rerun(report, one)));
    let mut case = TestCase::new(&*flow.cases[result.case].name, status);
    case.set_classname(class_name(flow)).set_time(last.took);
    case.set_system_out(output_text(report, last));
    case
}

/// What groups the cases of a flow.
fn class_name(flow: &Flow) -> &str {
    let named = flow.properties.iter().find(|(name, _)| name == "junitClassname");
    named.map_or(&flow.name, |(_, value)| value)
}

/// The phone, the trace, the notes and the end of the log. The schema has no properties for test
/// cases.
fn output_text(report: &Report, attempt: &Attempt) -> String {
    let phone = report.phones.get(attempt.phone).map(|phone| format!("phone: {}", phone.name()));
    let trace = attempt.trace.as_ref().map(|trace| format!("trace: {}", trace.display()));
    let picture = attempt.failed.as_ref().and_then(|failed| failed.picture.as_ref());
    // Jenkins ("JUnit Attachments") and GitLab show the file named in this line next to the case.
    let picture = picture.map(|picture| format!("[[ATTACHMENT|{}]]", picture.display()));
    let log = attempt.failed.iter().flat_map(|failed| &failed.log);
    let kept = [phone, trace, picture].into_iter().flatten();
    let notes = attempt.notes.iter().chain(log).map(|line| foreign(line));
    let lines = kept.chain(notes);
    lines.map(|line| format!("{line}\n")).collect()
}

fn rerun(report: &Report, attempt: &Attempt) -> Option<TestRerun> {
    let failed = attempt.failed.as_ref()?;
    let mut rerun = TestRerun::new(kind(failed));
    rerun.set_message(visible(&failed.what)).set_type(failed.kind.name());
    rerun.set_stack_trace(failure_text(failed));
    rerun.set_system_out(output_text(report, attempt));
    Some(rerun)
}

/// A line that an app may have written, with its invisible characters shown. It cannot name a file
/// to attach.
fn foreign(line: &str) -> String {
    visible_lines(line).replace("[[", "[ [")
}

/// The library drops tabs, which indent the frames of a stack trace.
fn failure_text(failed: &CaseFailure) -> String {
    let lines = failed.lines(MAX_LINES, true);
    let text = lines.map(|(indent, line)| format!("{:indent$}{line}\n", ""));
    visible_lines(&text.collect::<String>()).replace('\t', "    ")
}

fn kind(failed: &CaseFailure) -> NonSuccessKind {
    if failed.kind.is_of_the_app() { NonSuccessKind::Failure } else { NonSuccessKind::Error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_line_hides_nothing_and_attaches_nothing() {
        let line = "E App: \u{202e}x\u{1b}[2J [[ATTACHMENT|/etc/passwd]]";
        assert_eq!(foreign(line), "E App: \\u{202e}x\\u{1b}[2J [ [ATTACHMENT|/etc/passwd]]");
    }
}
