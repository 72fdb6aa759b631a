//! Tries each operation of the helper on a phone: what it did, how long it took, and what stays
//! there.

use std::time::Duration;

use thumbwire_core::providers::DeviceProviders;
use thumbwire_device::{HelperTrial, OperationTrial, TrialResult};
use tokio::time::timeout;

use super::setup::{Finding, Severity};

/// Timeout for all operations. Their first start on Android 4.4 compiles the system's classes.
const LIMIT: Duration = Duration::from_secs(180);

/// Tries the helper on the phone with this id.
pub async fn try_helper(phones: &DeviceProviders, id: &str) -> Vec<Finding> {
    let subject = format!("helper on {id}");
    let problem = |text: String| vec![Finding::new(&subject, Severity::Problem, text)];
    let device = match phones.open(id).await {
        Ok(device) => device,
        Err(failure) => return problem(failure.cause.to_string()),
    };
    let trial = match device.facets().helper {
        Some(helper) => timeout(LIMIT, helper.try_helper()).await,
        None => return problem("there is none for this platform".into()),
    };
    let findings = match trial {
        Ok(Ok(trial)) => findings(&trial),
        Ok(Err(error)) => problem(error.to_string()),
        Err(_) => problem(format!("not done after {} s", LIMIT.as_secs())),
    };
    device.restore_borrowed().await;
    device.disconnect().await;
    findings
}

fn findings(trial: &HelperTrial) -> Vec<Finding> {
    let variants = trial.variants.iter().map(|variant| {
        let (name, text) = variant.split_once(": ").unwrap_or((variant, ""));
        Finding::ok(name, text)
    });
    let left = trial.left.iter().map(|left| {
        let severity = if left.is_expected { Severity::Ok } else { Severity::Problem };
        Finding::new("left on the phone", severity, &left.what)
    });
    variants.chain(trial.operations.iter().map(finding)).chain(left).collect()
}

fn finding(trial: &OperationTrial) -> Finding {
    let (severity, text) = match &trial.result {
        TrialResult::Passed(text) => (Severity::Ok, text),
        TrialResult::Skipped(text) => (Severity::Note, text),
        TrialResult::Failed(text) => (Severity::Problem, text),
    };
    let mut detail = format!("{} ms: {text}", trial.took.as_millis());
    if let Some((command, took)) = trial.shell {
        detail += &format!("; `{command}`: {} ms", took.as_millis());
    }
    Finding::new(trial.op, severity, detail)
}
