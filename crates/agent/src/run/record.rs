//! MEMORY_UPDATE: the step's memory item, and the step's record in the trace.

use serde_json::{Value, json};
use thumbwire_core::trace::format::{AgentStep, CallRecord, StoredSnapshot};

use super::step::StepInProgress;
use crate::event::log_sink::name;

/// The file of the run with the memory items, one a line.
const MEMORY_FILE: &str = "memory.jsonl";

/// Writes the step's memory item (UFO's `AppMemoryUpdateStrategy`, "Memory Structure").
pub(crate) fn remember(step: &StepInProgress<'_>) {
    let thought = step.decision().map(|decision| &decision.thought);
    let path = |file: &Option<String>| file.as_deref().map(|file| step.path(file));
    let call =
        |call: &CallRecord| json!({ "function": call.function, "arguments": call.arguments });
    let result = |call: &CallRecord| json!({ "success": call.success, "message": call.message });
    let item = json!({
        "round": step.number,
        "request": step.request,
        "thought": thought,
        "action": one_or_list(step.calls.iter().map(call).collect()),
        "result": one_or_list(step.calls.iter().map(result).collect()),
        "screenshots": {
            "clean": path(&step.screen.clean_file),
            "annotated": path(&step.screen.annotated_file),
        },
        "controls": step.screen.rows,
        "status": step.status,
        // The specification's format: 2025-11-14T10:30:45.
        "timestamp": (step.options.clock)().strftime("%Y-%m-%dT%H:%M:%S").to_string(),
    });
    step.writer.append(MEMORY_FILE, &item);
}

/// Null for none, the value itself for one, a list for several. The specification has one action
/// per step; ours may have any number.
fn one_or_list(mut values: Vec<Value>) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.remove(0),
        _ => values.into(),
    }
}

/// The step's record in the trace. Saves the step's files.
pub(crate) fn record(step: &mut StepInProgress<'_>) -> AgentStep {
    let number = step.number;
    let snapshot = step.screen.state.controls.as_ref().and_then(|controls| {
        let stored = serde_json::to_vec(&StoredSnapshot::from(&*controls.snapshot)).ok()?;
        step.writer.keep(format!("snapshot_step{number}.json"), &stored)
    });
    let (clean, annotated) = (step.screen.clean_file.clone(), step.screen.annotated_file.clone());
    let images = [(&step.screen.clean, &clean), (&step.screen.annotated, &annotated)];
    let known: Vec<_> = images
        .iter()
        .filter_map(|(image, file)| Some((image.as_ref()?, file.as_deref()?)))
        .collect();
    let decided = step.output.is_some();
    let output = step.output.take().unwrap_or_default();
    let prompt = decided.then(|| {
        step.writer.keep_prompt(format!("prompt_step{number}.json"), &output.prompt, &known)
    });
    let response = decided.then(|| {
        step.writer.keep(format!("response_step{number}.txt"), output.response.as_bytes())
    });
    if let Some(planning) = &output.planning {
        let stem = format!("plan_step{number}");
        step.writer.keep_prompt(format!("{stem}_prompt.json"), &planning.prompt, &known);
        step.writer.keep(format!("{stem}_response.txt"), planning.response.as_bytes());
    }
    let actions = [step.actions_before + 1, step.writer.action_count()];
    let decision = output.decision;
    AgentStep {
        step: number,
        at_ms: step.writer.0.as_ref().map_or(0, |recorder| recorder.at_ms(step.began)),
        duration_ms: u64::try_from(step.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        action_range: (actions[0] <= actions[1]).then_some(actions),
        screenshot: clean,
        annotated,
        snapshot,
        prompt: prompt.flatten(),
        response: response.flatten(),
        app: step.screen.state.app.clone(),
        screen: step.screen.state.screen.clone(),
        feedback: step.feedback.clone(),
        decided,
        thought: decision.thought,
        comment: decision.comment,
        plan: decision.plan,
        remember: decision.remember,
        actions: step.calls.clone(),
        status: name(step.status).into(),
        result: decision.result,
        judgement: step.judgement.clone(),
        usage: step.spent.clone(),
        timings: step.timings.clone(),
        failures: step.failures.clone(),
    }
}
