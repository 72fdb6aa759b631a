//! A policy that asks a model: writes the prompt, parses the response, and asks again if it is
//! unusable.
//!
//! Start with [`ModelPolicy`]. The prompt is in `prompt`, the parsing in `reply`. How to talk to a
//! provider, and when to retry a request, is up to the model.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::Value;

use crate::event::AgentEvent;
use crate::model::{Model, ModelResponse, Prompt, PromptPart, ToolSupport, Usage};
use crate::options::{PromptForm, ScreenshotMode};
use crate::policy::decision::{AgentStatus, Decision};
use crate::policy::observation::Observation;
use crate::policy::{
    ButtonQuestion, Judgement, Planning, Policy, PolicyError, PolicyOutput, Rating,
};
use crate::prompt::coordinates::{CoordinateSpace, CoordinateUnit};
use crate::prompt::examples::Examples;
use crate::prompt::knowledge::Knowledge;
use crate::prompt::{self, AnswerStyle, PromptStyle};
use crate::reply::{self, UnusableReply};
use thumbwire_base::{lock, truncate};
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;
use tokio::time::Instant;

/// How often to ask a model again after an unusable answer (UFO's `JSON_PARSING_RETRY`).
const ASKED_AGAIN: u32 = 3;

/// How many answers without a call show that a server drops the functions: models sometimes only
/// talk, but not twice.
const SILENT: u32 = 2;

/// Decides by asking a model. Other models may make the plan and judge claims.
pub struct ModelPolicy {
    model: Arc<dyn Model>,
    planner: Option<Arc<dyn Model>>,
    judge: Option<Arc<dyn Model>>,
    pictures: ScreenshotMode,
    form: PromptForm,
    unit: CoordinateUnit,
    examples: Examples,
    knowledge: Knowledge,
    /// What the model said of buttons in this run.
    ratings: Mutex<HashMap<ButtonQuestion, bool>>,
    /// Whether the planner was asked.
    planned: AtomicBool,
    /// Whether the functions are listed in the prompt, because native calls did not work in this
    /// run.
    lists_functions: AtomicBool,
    /// Whether no pictures are sent, because the server rejected them in this run.
    sends_text_only: AtomicBool,
}

impl ModelPolicy {
    /// Asks this model, with the default [`ScreenshotMode`] and [`PromptForm`], the coordinates of
    /// its family, and the built-in examples.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            unit: CoordinateUnit::of_model(&model.name()),
            model,
            planner: None,
            judge: None,
            pictures: ScreenshotMode::default(),
            form: PromptForm::default(),
            examples: Examples::default(),
            knowledge: Knowledge::default(),
            ratings: Mutex::default(),
            planned: AtomicBool::new(false),
            lists_functions: AtomicBool::new(false),
            sends_text_only: AtomicBool::new(false),
        }
    }

    /// Sets which screenshots are sent.
    pub fn with_pictures(self, pictures: ScreenshotMode) -> Self {
        Self { pictures, ..self }
    }

    /// Sets how prompts are written.
    pub fn with_prompt_form(self, form: PromptForm) -> Self {
        Self { form, ..self }
    }

    /// Sets the coordinates that the model reads and writes.
    pub fn with_coordinates(self, unit: CoordinateUnit) -> Self {
        Self { unit, ..self }
    }

    /// Which pictures are sent at present.
    fn pictures(&self) -> ScreenshotMode {
        match self.sends_text_only.load(Ordering::Relaxed) {
            true => ScreenshotMode::None,
            false => self.pictures,
        }
    }

    /// How a prompt about this screen is written.
    fn style(&self, observation: &Observation) -> PromptStyle {
        let pictures = self.pictures();
        // Without pictures, pixels are those of the screen.
        let picture = |size| match pictures {
            ScreenshotMode::None => size,
            _ => self.model.picture_size(size),
        };
        let space = CoordinateSpace::of(self.unit, observation.size, picture);
        PromptStyle { pictures, form: self.form, space, answer: self.answer_style() }
    }

    /// Sets the examples.
    pub fn with_examples(self, examples: Examples) -> Self {
        Self { examples, ..self }
    }

    /// Adds passages of these documents.
    pub fn with_knowledge(self, knowledge: Knowledge) -> Self {
        Self { knowledge, ..self }
    }

    /// Lets another model judge whether the goal is reached.
    pub fn with_judge(self, judge: Arc<dyn Model>) -> Self {
        Self { judge: Some(judge), ..self }
    }

    /// Lets another model make the plan: in the first step, and whenever the run is stuck
    /// ([`Observation::stuck`]).
    pub fn with_planner(self, planner: Arc<dyn Model>) -> Self {
        Self { planner: Some(planner), ..self }
    }

    /// How the model is to answer at present.
    fn answer_style(&self) -> AnswerStyle {
        match self.model.tool_support() {
            ToolSupport::Yes => AnswerStyle::Native,
            ToolSupport::Maybe if !self.lists_functions.load(Ordering::Relaxed) => {
                AnswerStyle::Native
            }
            ToolSupport::No | ToolSupport::Maybe => AnswerStyle::Json,
        }
    }

    /// Writes the prompts of this run without this part from now on.
    fn leave_out(&self, part: PromptPart, reason: String, watch: &dyn EventSink) {
        let flag = match part {
            PromptPart::Tools => &self.lists_functions,
            PromptPart::Pictures => &self.sends_text_only,
        };
        flag.store(true, Ordering::Relaxed);
        AgentEvent::ModelRetried { reason }.send(watch);
    }

    /// A new plan, if there is a planner and one is needed.
    async fn plan(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<(Vec<String>, Planning)>, PolicyError> {
        let Some(planner) = &self.planner else { return Ok(None) };
        let planned = self.planned.swap(true, Ordering::Relaxed);
        let is_first = observation.round == 1 || !planned && observation.previous_plan.is_empty();
        let reason = match &observation.stuck {
            Some(reason) => format!("the agent is stuck: {reason}"),
            None if is_first => "the run starts".to_owned(),
            None => return Ok(None),
        };
        let began = Instant::now();
        AgentEvent::ModelRequested { policy: format!("{} (plan)", planner.name()) }.send(watch);
        let style = self.style(observation);
        let write =
            |pictures| prompt::plan(observation, &PromptStyle { pictures, ..style }, &reason);
        let (pictures, schema) = (style.pictures, prompt::plan_schema());
        let read = |answer: &ModelResponse| Ok(reply::parse_plan(&answer.text, answer.truncated)?);
        let asked =
            ask_without_rejected_pictures(&**planner, pictures, write, &schema, read, call, watch)
                .await;
        let asked = asked.map_err(|failed| {
            let failed = PolicyError::from(failed);
            PolicyError { reason: format!("no plan: {}", failed.reason), ..failed }
        })?;
        let ModelReply { prompt, answer, value, spent, .. } = asked;
        let response = answer.transcript();
        let event = AgentEvent::Planned {
            plan: value.plan.clone(),
            reason: reason.clone(),
            usage: spent.clone(),
            took: began.elapsed(),
        };
        event.send(watch);
        Ok(Some((value.plan, Planning { reason, prompt, response, spent })))
    }

    /// A decision by the model, in this style.
    async fn step(
        &self,
        observation: &Observation,
        answer: AnswerStyle,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<ModelReply<Decision>, Unanswered> {
        let functions = &observation.functions;
        let style = PromptStyle { answer, ..self.style(observation) };
        let examples = self.examples.chosen(&observation.request, functions);
        // Searched with the request alone, so that the passages are the same in every step.
        let documents = self.knowledge.search(&observation.request);
        let prompt = prompt::round(observation, &style, &examples, &documents);
        let schema = prompt::decision_schema(functions);
        let model = &*self.model;
        if answer == AnswerStyle::Json {
            let read = |answer: &ModelResponse| {
                Ok(reply::decision(&answer.text, answer.truncated, functions)?)
            };
            return ask(model, prompt, &schema, read, call, watch).await;
        }
        let plan = &observation.previous_plan;
        let read = |answer: &ModelResponse| reply::native_step(answer, plan, functions);
        let asked = ask(model, prompt, &schema, read, call, watch).await?;
        let pending = asked.value.status == AgentStatus::Continue;
        if !(pending && reply::only_plans(&asked.answer)) {
            return Ok(asked);
        }
        let ModelReply { mut prompt, answer, value: first, spent, unreadable } = asked;
        prompt::go_on(&mut prompt, &answer);
        let read = |answer: &ModelResponse| reply::native_step(answer, &first.plan, functions);
        let mut asked = match ask(model, prompt, &schema, read, call, watch).await {
            Ok(asked) => asked,
            Err(failed) => return Err(failed.after(&spent)),
        };
        asked.value.remember.splice(0..0, first.remember.iter().cloned());
        asked.spent.add(&spent);
        asked.unreadable += unreadable;
        Ok(asked)
    }
}

#[async_trait]
impl Policy for ModelPolicy {
    fn name(&self) -> String {
        let roles = [("plans: ", &self.planner), ("judge: ", &self.judge)];
        let roles = roles.into_iter().filter_map(|(role, model)| Some((role, model.as_ref()?)));
        let roles: Vec<String> =
            roles.map(|(role, model)| format!("{role}{}", model.name())).collect();
        match roles.is_empty() {
            true => self.model.name(),
            false => format!("{} ({})", self.model.name(), roles.join(", ")),
        }
    }

    fn reads_installed_apps(&self) -> bool {
        self.form == PromptForm::Ufo
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let planned = self.plan(observation, call, watch).await?;
        let (plan, planning) = planned.unzip();
        let with_plan = plan.map(|plan| Observation { previous_plan: plan, ..observation.clone() });
        let observation = with_plan.as_ref().unwrap_or(observation);
        let mut spent = planning.as_ref().map(|it| it.spent.clone()).unwrap_or_default();
        let mut unreadable = 0;
        let (asked, space) = loop {
            let space = self.style(observation).space;
            match self.step(observation, self.answer_style(), call, watch).await {
                Err(Unanswered::Without { part, reason, spent: lost, unreadable: silent }) => {
                    self.leave_out(part, reason, watch);
                    spent.add(&lost);
                    unreadable += silent;
                }
                asked => {
                    let asked = asked.map_err(|failed| PolicyError::from(failed.after(&spent)))?;
                    break (asked, space);
                }
            }
        };
        let ModelReply { prompt, answer, value: mut decision, spent: own, .. } = asked;
        unreadable += asked.unreadable;
        spent.add(&own);
        decision.actions.iter_mut().for_each(|call| space.to_screen(call));
        if self.planner.is_some() && decision.plan.is_empty() {
            decision.plan.clone_from(&observation.previous_plan);
        }
        let response = answer.transcript();
        Ok(PolicyOutput { prompt, response, decision, spent, unreadable, planning })
    }

    async fn judge(
        &self,
        observation: &Observation,
        claim: &Decision,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        let model = self.judge.as_ref().unwrap_or(&self.model);
        let schema = prompt::judgement_schema();
        let read =
            |answer: &ModelResponse| Ok(reply::parse_judgement(&answer.text, answer.truncated)?);
        let write = |pictures| prompt::judgement(observation, claim, pictures);
        let pictures = self.pictures();
        let asked =
            ask_without_rejected_pictures(&**model, pictures, write, &schema, read, call, watch)
                .await?;
        let ModelReply { prompt, answer, value, spent, .. } = asked;
        let reply::ParsedJudgement { reached, reason } = value;
        Ok(Some(Judgement { reached, reason, prompt, response: answer.transcript(), spent }))
    }

    async fn rate(
        &self,
        button: &ButtonQuestion,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Rating>, PolicyError> {
        let model = self.judge.as_ref().unwrap_or(&self.model);
        if !model.answers_asides() {
            return Ok(None);
        }
        let known = lock(&self.ratings).get(button).copied();
        if let Some(risky) = known {
            return Ok(Some(Rating { risky, spent: Usage::default() }));
        }
        let schema = prompt::rating_schema();
        let read =
            |answer: &ModelResponse| Ok(reply::parse_rating(&answer.text, answer.truncated)?);
        let asked = ask(&**model, prompt::rating(button), &schema, read, call, watch).await?;
        lock(&self.ratings).insert(button.clone(), asked.value);
        Ok(Some(Rating { risky: asked.value, spent: asked.spent }))
    }
}

/// A usable answer.
struct ModelReply<T> {
    /// The last prompt, including earlier unusable answers.
    prompt: Prompt,
    answer: ModelResponse,
    value: T,
    spent: Usage,
    unreadable: u32,
}

impl<T> ModelReply<T> {
    /// Adds the usage of earlier requests.
    fn after(mut self, earlier: &Usage) -> Self {
        self.spent.add(earlier);
        self
    }
}

/// Why there is no usable answer.
enum Unanswered {
    /// There is none.
    Failed(PolicyError),
    /// This part does not reach the model: the prompt must be written without it.
    Without { part: PromptPart, reason: String, spent: Usage, unreadable: u32 },
}

impl Unanswered {
    /// Adds the usage of earlier requests.
    fn after(mut self, earlier: &Usage) -> Self {
        match &mut self {
            Self::Failed(PolicyError { spent, .. }) | Self::Without { spent, .. } => {
                spent.add(earlier);
            }
        }
        self
    }
}

impl From<Unanswered> for PolicyError {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Failed(failed) => failed,
            // The model was asked again without that part, so this is unreachable in practice.
            Unanswered::Without { reason, spent, .. } => Self { reason, spent, cancelled: false },
        }
    }
}

/// Asks, and if the server rejects pictures, asks without them.
async fn ask_without_rejected_pictures<T>(
    model: &dyn Model,
    pictures: ScreenshotMode,
    write: impl Fn(ScreenshotMode) -> Prompt,
    schema: &Value,
    read: impl Fn(&ModelResponse) -> Result<T, UnusableReply>,
    call: &Call,
    watch: &dyn EventSink,
) -> Result<ModelReply<T>, Unanswered> {
    let asked = ask(model, write(pictures), schema, &read, call, watch).await;
    let Err(Unanswered::Without { reason, spent, .. }) = asked else { return asked };
    AgentEvent::ModelRetried { reason }.send(watch);
    match ask(model, write(ScreenshotMode::None), schema, &read, call, watch).await {
        Ok(asked) => Ok(asked.after(&spent)),
        Err(failed) => Err(failed.after(&spent)),
    }
}

/// Asks, and asks again if the answer is unusable.
async fn ask<T>(
    model: &dyn Model,
    mut prompt: Prompt,
    schema: &Value,
    read: impl Fn(&ModelResponse) -> Result<T, UnusableReply>,
    call: &Call,
    watch: &dyn EventSink,
) -> Result<ModelReply<T>, Unanswered> {
    let mut spent = Usage::default();
    let (mut unreadable, mut silent) = (0, 0);
    let falls_back = !prompt.tools.is_empty() && model.tool_support() == ToolSupport::Maybe;
    loop {
        let on_text = |text: &str| AgentEvent::ModelText(text.to_owned()).send(watch);
        let answer = match model.complete(&prompt, Some(schema), call, &on_text).await {
            Ok(answer) => answer,
            Err(unanswered) => {
                spent.add(&unanswered.usage);
                let reason = unanswered.reason;
                if let Some(part) = unanswered.rejected.filter(|part| prompt.has(*part)) {
                    let reason = match part {
                        PromptPart::Tools => format!(
                            "functions are listed in the prompt from now on, because the server rejected native calls ({reason})"
                        ),
                        PromptPart::Pictures => format!(
                            "no screenshots are sent from now on, because the server rejected them ({reason})"
                        ),
                    };
                    return Err(Unanswered::Without { part, reason, spent, unreadable });
                }
                let cancelled = unanswered.cancelled;
                return Err(Unanswered::Failed(PolicyError { reason, spent, cancelled }));
            }
        };
        spent.add(&answer.usage);
        let unusable = match read(&answer) {
            Ok(value) => return Ok(ModelReply { prompt, answer, value, spent, unreadable }),
            Err(unusable) => unusable,
        };
        let wrong = &unusable.wrong;
        if call.cancelled.is_cancelled() {
            return Err(Unanswered::Failed(PolicyError {
                reason: "the call was cancelled".into(),
                spent,
                cancelled: true,
            }));
        }
        if let Some(reason) = given_up(model, &answer, wrong, unreadable) {
            return Err(Unanswered::Failed(PolicyError { reason, spent, cancelled: false }));
        }
        unreadable += 1;
        silent = if unusable.silent { silent + 1 } else { 0 };
        if falls_back && silent == SILENT {
            let reason = format!(
                "functions are listed in the prompt from now on, because {} did not call any natively",
                model.name()
            );
            let part = PromptPart::Tools;
            return Err(Unanswered::Without { part, reason, spent, unreadable });
        }
        AgentEvent::ModelRetried { reason: wrong.clone() }.send(watch);
        prompt::repair(&mut prompt, &answer, &unusable);
    }
}

/// Why the model is not asked again.
fn given_up(
    model: &dyn Model,
    answer: &ModelResponse,
    wrong: &str,
    unreadable: u32,
) -> Option<String> {
    let name = model.name();
    if answer.refused {
        let text = truncate(answer.text.trim(), 300);
        let text = text.trim_end_matches('.');
        return Some(format!(
            "{name} refused to answer: {text}. Rephrase the goal, or use another model"
        ));
    }
    (unreadable == ASKED_AGAIN).then(|| {
        format!(
            "none of {} answers from {name} could be used; the last one: {wrong}. Try another model, or --json-schema",
            unreadable + 1,
        )
    })
}

#[cfg(test)]
mod tests;
