//! MEMORY_UPDATE: the step's memory item, and its record in the trace.

use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;

use super::super::context::one_or_list;
use super::super::log_sink::name;
use super::super::step::StepInProgress;
use super::{Strategy, StrategyError};
use thumbwire_core::trace::format::{self, CallRecord, StoredSnapshot};

/// `AppMemoryUpdateStrategy`.
pub(super) struct MemoryUpdate;

#[async_trait]
impl Strategy for MemoryUpdate {
    fn name(&self) -> &'static str {
        "AppMemoryUpdateStrategy"
    }

    fn dependencies(&self) -> Vec<&'static str> {
        vec![
            "parsed_response",
            "execution_result",
            "action_info",
            "clean_screenshot_url",
            "annotated_screenshot_url",
        ]
    }

    fn provides(&self) -> Vec<&'static str> {
        vec!["memory"]
    }

    fn fail_fast(&self) -> bool {
        false
    }

    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        let action = |carried: &CallRecord| json!({ "function": carried.function, "arguments": carried.arguments });
        let result = |carried: &CallRecord| json!({ "success": carried.success, "message": carried.message });
        let context = &mut step.context;
        context.memory = Some(json!({
            "round": step.number,
            "request": context.request,
            "thought": context.thought,
            "action": one_or_list(step.carried.iter().map(action).collect()),
            "result": one_or_list(step.carried.iter().map(result).collect()),
            "screenshots": {
                "clean": context.clean_screenshot_path,
                "annotated": context.annotated_screenshot_path,
            },
            "controls": context.current_controls,
            "status": step.status,
            // The specification's format: 2025-11-14T10:30:45.
            "timestamp": (step.options.clock)().strftime("%Y-%m-%dT%H:%M:%S").to_string(),
        }));
        Ok(())
    }
}

/// The step's record in the trace. Saves the step's files.
pub(in super::super) fn line(step: &mut StepInProgress<'_>) -> format::AgentStep {
    let number = step.number;
    let file = |path: &Option<String>| Some(path.as_deref()?.rsplit('/').next()?.to_owned());
    let clean = file(&step.context.clean_screenshot_path);
    let annotated = file(&step.context.annotated_screenshot_path);
    let snapshot = step.screen.screen.controls.as_ref().and_then(|controls| {
        let stored = serde_json::to_vec(&StoredSnapshot::from(&*controls.snapshot)).ok()?;
        step.writer.keep(format!("snapshot_step{number}.json"), &stored)
    });
    let thinking = step.thinking.take().unwrap_or_default();
    let pictures = [(&step.screen.clean, &clean), (&step.screen.marked, &annotated)];
    let known: Vec<_> = pictures
        .iter()
        .filter_map(|(image, file)| Some((image.as_ref()?, file.as_deref()?)))
        .collect();
    let decided = step.context.parsed_response.is_some();
    let prompt = decided.then(|| {
        step.writer.keep_prompt(format!("prompt_step{number}.json"), &thinking.prompt, &known)
    });
    let response = decided.then(|| {
        step.writer.keep(format!("response_step{number}.txt"), thinking.response.as_bytes())
    });
    if let Some(planning) = &thinking.planning {
        let stem = format!("plan_step{number}");
        step.writer.keep_prompt(format!("{stem}_prompt.json"), &planning.prompt, &known);
        step.writer.keep(format!("{stem}_response.txt"), planning.response.as_bytes());
    }
    let actions = (step.steps_before + 1, step.writer.action_count());
    let at_ms = step.writer.0.as_ref().map_or(0, |recorder| recorder.at_ms(step.began));
    let decision = thinking.decision;
    format::AgentStep {
        step: number,
        at_ms,
        duration_ms: u64::try_from((Instant::now() - step.began).as_millis()).unwrap_or(u64::MAX),
        action_range: (actions.0 <= actions.1).then_some([actions.0, actions.1]),
        screenshot: clean,
        annotated,
        snapshot,
        prompt: prompt.flatten(),
        response: response.flatten(),
        app: step.screen.screen.app.clone(),
        feedback: step.observations.clone(),
        thought: decision.thought,
        comment: decision.comment,
        plan: decision.plan,
        remember: decision.remember,
        actions: step.carried.clone(),
        status: name(step.status).into(),
        result: decision.result,
        judgement: step.judged.clone(),
        usage: format::UsageRecord::from(&step.spent),
        timings: step.timings.clone(),
        failures: step.failures.clone(),
        memory: step.context.memory.clone().unwrap_or_default(),
    }
}
