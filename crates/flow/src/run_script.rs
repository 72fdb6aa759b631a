//! Runs the scripts of a case, and evaluates what a step does when that is known only now.
//!
//! Start with [`CaseRunner::evaluated`].

use std::sync::Arc;

use super::case_runner::{CaseRunner, StepError};
use super::error::SourceLocation;
use super::parse::fill_now;
use super::plan::{FlowStep, Written};
use super::report::FailureKind;
use super::script::{MAX_TIME, ScriptEngine};
use super::script_thread::ScriptThread;

impl CaseRunner<'_> {
    /// The step with the values that its scripts have now; `None` if it is as its file was read.
    pub(super) async fn evaluated(
        &mut self,
        step: &FlowStep,
    ) -> Result<Option<FlowStep>, StepError> {
        let Some(late) = &step.late else { return Ok(None) };
        let late = Arc::clone(late);
        let now = self.script(move |engine| late.now(engine)).await?;
        now.map(Some).map_err(|what| StepError::new(FailureKind::Step, what))
    }

    /// Runs a job with the engine of this case.
    pub(super) async fn script<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut ScriptEngine) -> T + Send + 'static,
    ) -> Result<T, StepError> {
        let failed = |what: String| StepError::new(FailureKind::Step, what);
        if self.state.scripts.is_none() {
            let platform = self.context.platform.name();
            let (parameters, network) =
                (self.context.parameters.clone(), self.context.network.clone());
            let scripts = ScriptThread::start(platform, parameters, network, MAX_TIME);
            self.state.scripts = Some(scripts.map_err(failed)?);
        }
        let Some(scripts) = &self.state.scripts else {
            return Err(failed("there is no JavaScript".into()));
        };
        let copied = self.state.copied.clone();
        let run = scripts.run(move |engine| {
            if let Some(copied) = copied {
                engine.set_copied(&copied);
            }
            (job(engine), engine.take_lines())
        });
        let (done, lines) = tokio::select! {
            done = run => done.map_err(failed)?,
            () = self.context.call.cancelled.cancelled() => return Err(self.over()),
        };
        lines.into_iter().for_each(|line| self.note(format!("console.log: {line}")));
        Ok(done)
    }

    /// Defines parameters for the steps after this one.
    pub(super) async fn define(&mut self, env: &[(String, Written)]) -> Result<(), StepError> {
        let env = env.to_vec();
        let defined = self.script(move |engine| define(&env, engine)).await?;
        defined.map_err(|what| StepError::new(FailureKind::Step, what))
    }

    /// A text with the values that its scripts have now; as it is if they have none.
    pub(super) async fn text_now(&mut self, text: &str, at: &SourceLocation) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        let written = Written { text: text.to_owned(), at: at.clone() };
        let filled = self.script(move |engine| fill_now(&written, true, engine)).await;
        filled.ok().and_then(Result::ok).unwrap_or_else(|| text.to_owned())
    }

    /// Evaluates a text for its effects.
    pub(super) async fn eval_script(&mut self, script: &Written) -> Result<(), StepError> {
        let script = script.clone();
        let done = self.script(move |engine| fill_now(&script, false, engine)).await?;
        done.map(drop).map_err(|what| StepError::new(FailureKind::Step, what))
    }

    /// Runs a file, whose parameters end with it.
    pub(super) async fn run_script(
        &mut self,
        file: &str,
        script: &Arc<str>,
        env: &[(String, Written)],
    ) -> Result<(), StepError> {
        let (script, env) = (Arc::clone(script), env.to_vec());
        let done = self.script(move |engine| {
            engine.enter();
            let done = define(&env, engine).and_then(|()| engine.evaluate(&script).map(drop));
            engine.leave();
            done
        });
        let failed = |what| StepError::new(FailureKind::Step, format!("{file}: {what}"));
        done.await?.map_err(failed)
    }
}

/// Defines parameters. What is undefined stays so: Maestro defines it as the text `undefined`,
/// which its conditions take for false.
fn define(env: &[(String, Written)], engine: &mut ScriptEngine) -> Result<(), String> {
    for (name, written) in env {
        let value = fill_now(written, false, engine)?;
        let is_undefined = value == "undefined" && written.text.starts_with("${");
        engine.define(name, (!is_undefined).then_some(value));
    }
    Ok(())
}
