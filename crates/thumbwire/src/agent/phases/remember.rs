//! MEMORY_UPDATE: what is remembered of the round, and the line that the story has of it.

use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;

use super::super::context::one_or_list;
use super::super::log::name;
use super::super::round::Round;
use super::{Broken, Strategy};
use crate::trace::format::{self, Carried, StoredLook};

/// `AppMemoryUpdateStrategy`.
pub(super) struct Update;

#[async_trait]
impl Strategy for Update {
    fn name(&self) -> &'static str {
        "AppMemoryUpdateStrategy"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec![
            "parsed_response",
            "execution_result",
            "action_info",
            "clean_screenshot_url",
            "annotated_screenshot_url",
        ]
    }

    fn gives(&self) -> Vec<&'static str> {
        vec!["memory"]
    }

    fn fails_fast(&self) -> bool {
        false
    }

    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        let action = |carried: &Carried| json!({ "function": carried.function, "arguments": carried.arguments });
        let result =
            |carried: &Carried| json!({ "success": carried.success, "message": carried.message });
        let context = &mut round.context;
        context.memory = Some(json!({
            "round": round.number,
            "request": context.request,
            "thought": context.thought,
            "action": one_or_list(round.carried.iter().map(action).collect()),
            "result": one_or_list(round.carried.iter().map(result).collect()),
            "screenshots": {
                "clean": context.clean_screenshot_path,
                "annotated": context.annotated_screenshot_path,
            },
            "controls": context.current_controls,
            "status": round.status,
            // The document's form: 2025-11-14T10:30:45.
            "timestamp": (round.options.clock)().strftime("%Y-%m-%dT%H:%M:%S").to_string(),
        }));
        Ok(())
    }
}

/// The round as the story has it, its files kept.
pub(in super::super) fn line(round: &mut Round<'_>) -> format::Round {
    let number = round.number;
    let file = |path: &Option<String>| Some(path.as_deref()?.rsplit('/').next()?.to_owned());
    let clean = file(&round.context.clean_screenshot_path);
    let annotated = file(&round.context.annotated_screenshot_path);
    let look = round.screen.scene.controls.as_ref().and_then(|controls| {
        let stored = serde_json::to_vec(&StoredLook::from(&*controls.look)).ok()?;
        round.story.keep(format!("look_step{number}.json"), &stored)
    });
    let thinking = round.thinking.take().unwrap_or_default();
    let pictures = [(&round.screen.clean, &clean), (&round.screen.marked, &annotated)];
    let known: Vec<_> = pictures
        .iter()
        .filter_map(|(image, file)| Some((image.as_ref()?, file.as_deref()?)))
        .collect();
    let decided = round.context.parsed_response.is_some();
    let prompt = decided.then(|| {
        round.story.keep_prompt(format!("prompt_step{number}.json"), &thinking.prompt, &known)
    });
    let response = decided.then(|| {
        round.story.keep(format!("response_step{number}.txt"), thinking.response.as_bytes())
    });
    let steps = (round.steps_before + 1, round.story.steps());
    let at_ms = round.story.0.as_ref().map_or(0, |recorder| recorder.at_ms(round.began));
    let decision = thinking.decision;
    format::Round {
        round: number,
        at_ms,
        took_ms: u64::try_from((Instant::now() - round.began).as_millis()).unwrap_or(u64::MAX),
        steps: (steps.0 <= steps.1).then_some([steps.0, steps.1]),
        clean,
        annotated,
        look,
        prompt: prompt.flatten(),
        response: response.flatten(),
        app: round.screen.scene.app.clone(),
        observations: round.observations.clone(),
        thought: decision.thought,
        comment: decision.comment,
        plan: decision.plan,
        remember: decision.remember,
        actions: round.carried.clone(),
        status: name(round.status).into(),
        result: decision.result,
        judged: round.judged.clone(),
        spent: format::Cost::from(&round.spent),
        timings: round.timings.clone(),
        failures: round.failures.clone(),
        memory: round.context.memory.clone().unwrap_or_default(),
    }
}
