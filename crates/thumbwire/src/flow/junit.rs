//! A run of flows as a JUnit file, which every CI reads: a suite a flow, a test case a case.
//!
//! Cases that failed first and then passed carry `flakyFailure`s, those that went on failing `rerunFailure`s, as Maven's Surefire and
//! nextest write them. What stood around the app (a phone that was lost, a run whose time was over) is an error, not a failure.

use quick_junit::{
    NonSuccessKind, Property, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite,
};

use super::report::{Attempt, Failed, Report, Tried};
use super::tell::details;

/// How many lines of a log stand below a failure.
const MOST_LINES: usize = 40;

/// The file's text.
///
/// # Errors
/// When the library cannot write it.
pub fn junit(report: &Report) -> Result<String, SerializeError> {
    let mut told = quick_junit::Report::new("thumbwire");
    told.timestamp = report.started.parse().ok();
    told.set_time(report.took);
    for (at, flow) in report.flows.iter().enumerate() {
        let tried: Vec<&Tried> = report.tried.iter().filter(|tried| tried.flow == at).collect();
        if tried.is_empty() {
            continue;
        }
        let mut suite = TestSuite::new(&*flow.name);
        let attempts = || tried.iter().flat_map(|tried| &tried.attempts);
        suite.timestamp = attempts().map(|one| &one.started).min().and_then(|at| at.parse().ok());
        suite.set_time(attempts().map(|attempt| attempt.took).sum());
        suite.add_property(Property::new("file", &*flow.file));
        for phone in &report.phones {
            let told = format!("{}, {}, Android {}", phone.name(), phone.model, phone.os_version);
            suite.add_property(Property::new("phone", told));
        }
        suite.add_test_cases(tried.into_iter().map(|tried| case(report, tried)));
        told.add_test_suite(suite);
    }
    told.to_string()
}

fn case(report: &Report, tried: &Tried) -> TestCase {
    let flow = &report.flows[tried.flow];
    let Some((last, earlier)) = tried.attempts.split_last() else {
        let mut status = TestCaseStatus::skipped();
        status.set_message(tried.skipped.as_deref().unwrap_or_default());
        let mut case = TestCase::new(&*flow.cases[tried.case].name, status);
        case.set_classname(&*flow.name);
        return case;
    };
    let mut status = match &last.failed {
        None => TestCaseStatus::success(),
        Some(failed) => {
            let mut status = TestCaseStatus::non_success(kind(failed));
            status.set_message(&*failed.what).set_type(failed.kind.name());
            status.set_description(details(failed, "", MOST_LINES));
            status
        }
    };
    status.add_reruns(earlier.iter().filter_map(rerun));
    let mut case = TestCase::new(&*flow.cases[tried.case].name, status);
    case.set_classname(&*flow.name).set_time(last.took);
    case.timestamp = last.started.parse().ok();
    if let Some(phone) = report.phones.get(last.phone) {
        case.add_property(Property::new("phone", phone.name()));
    }
    if let Some(app) = &flow.cases[tried.case].app {
        case.add_property(Property::new("app", &*app.0));
    }
    if let Some(story) = &last.story {
        case.add_property(Property::new("trace", story.display().to_string()));
    }
    let out = said(last);
    if !out.is_empty() {
        case.set_system_out(out);
    }
    case
}

/// What was noted, and the end of the log.
fn said(attempt: &Attempt) -> String {
    let log = attempt.failed.iter().flat_map(|failed| &failed.log);
    attempt.noted.iter().chain(log).map(|line| format!("{line}\n")).collect()
}

fn rerun(attempt: &Attempt) -> Option<TestRerun> {
    let failed = attempt.failed.as_ref()?;
    let mut rerun = TestRerun::new(kind(failed));
    rerun.set_message(&*failed.what).set_type(failed.kind.name()).set_time(attempt.took);
    rerun.timestamp = attempt.started.parse().ok();
    rerun.set_stack_trace(details(failed, "", MOST_LINES));
    let out = said(attempt);
    if !out.is_empty() {
        rerun.set_system_out(out);
    }
    Some(rerun)
}

fn kind(failed: &Failed) -> NonSuccessKind {
    if failed.kind.is_of_the_app() { NonSuccessKind::Failure } else { NonSuccessKind::Error }
}
