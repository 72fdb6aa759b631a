//! Lists joined by `&&` and `||`, and pipelines: futures joined by in-memory pipes.

use super::super::ast::{AndOr, Command, Item, Pipeline, Stage, TimeFormat};
use super::variables::Variable;
use super::{Shell, WEIGHT};
use crate::io::{Descriptor, Input, Io, pipe};
use futures::future::join_all;
use std::sync::Arc;

impl Shell {
    pub(super) async fn item(&mut self, item: &Item, io: &Io) {
        let tested = self.tested;
        self.tested = tested || !item.rest.is_empty() || item.first.negated;
        self.pipeline(&item.first, io).await;
        for (nth, (joint, pipeline)) in item.rest.iter().enumerate() {
            if self.exit.is_some() || self.leaving.is_some() {
                self.tested = tested;
                return;
            }
            if (self.status == 0) == (*joint == AndOr::And) {
                let last = nth + 1 == item.rest.len();
                self.tested = tested || !last || pipeline.negated;
                self.pipeline(pipeline, io).await;
            }
        }
        let failed = !self.tested && self.status != 0 && self.exit.is_none();
        self.tested = tested;
        if failed {
            let last = item.rest.last().map_or(&item.first, |(_, last)| last);
            // A failure inside a compound command was noticed there.
            let simple =
                |stage: &Stage| matches!(stage.what, Command::Simple { .. } | Command::Subshell(_));
            if last.stages.len() > 1 || last.stages.iter().all(simple) {
                self.run_error_trap(io).await;
            }
            if self.strict && self.exit.is_none() {
                self.exit = Some(self.status);
            }
        }
    }

    pub(super) async fn pipeline(&mut self, pipeline: &Pipeline, io: &Io) {
        let start =
            pipeline.timed.map(|format| (format, self.system.with(|kernel| kernel.uptime())));
        self.stages(pipeline, io).await;
        if let Some((format, start)) = start {
            let now = self.system.with(|kernel| kernel.uptime());
            let took = now.saturating_sub(start);
            let (minutes, seconds) = (took.as_secs() / 60, took.as_secs() % 60);
            let hundredths = took.subsec_millis() / 10;
            // The processor's time is not simulated.
            let text = match format {
                TimeFormat::Mksh => format!(
                    "{minutes:>5}m{seconds:02}.{hundredths:02}s real {0:>5}m00.00s user {0:>5}m00.00s system\n",
                    0
                ),
                TimeFormat::Posix => {
                    let seconds = took.as_secs();
                    format!("real {seconds:>3}.{hundredths:02}\nuser   0.00\nsys    0.00\n")
                }
            };
            let _ = io.stderr.write(text.as_bytes()).await;
        }
    }

    pub(super) async fn stages(&mut self, pipeline: &Pipeline, io: &Io) {
        self.status = if let [only] = pipeline.stages.as_slice() {
            self.stage(only, io.clone()).await
        } else {
            let mut stdin = io.stdin.clone();
            let mut running = Vec::with_capacity(pipeline.stages.len());
            for (nth, stage) in pipeline.stages.iter().enumerate() {
                let (stdout, next) = if nth + 1 == pipeline.stages.len() {
                    (io.stdout.clone(), Input::empty())
                } else {
                    pipe()
                };
                let mut io = io.detached();
                io.set(0, Some(Descriptor::Read(std::mem::replace(&mut stdin, next))));
                io.set(1, Some(Descriptor::Write(stdout)));
                let mut shell = match self.subshell() {
                    Ok(shell) => shell,
                    Err(error) => {
                        self.fail(error, &io).await;
                        return;
                    }
                };
                shell.depth += WEIGHT;
                running.push(async move {
                    // A stage that redirects its output must not hold the pipe.
                    let compound = !matches!(stage.what, Command::Simple { .. });
                    let held = (compound && stage.redirects.is_empty()).then(|| io.clone());
                    shell.status = shell.stage(stage, io).await;
                    match held {
                        Some(io) => shell.finish(&io).await,
                        None => shell.exit.unwrap_or(shell.status),
                    }
                });
            }
            let statuses = join_all(running).await;
            let elements = (0..).zip(statuses.iter().map(i32::to_string)).collect();
            let variable = Variable { elements, ..Variable::default() };
            Arc::make_mut(&mut self.variables).insert("PIPESTATUS", variable);
            let failed = statuses.iter().rfind(|status| **status != 0 && self.option("pipefail"));
            failed.or(statuses.last()).copied().unwrap_or(0)
        };
        if pipeline.negated && self.exit.is_none() && self.leaving.is_none() {
            self.status = i32::from(self.status == 0);
        }
    }

    pub(super) async fn stage(&mut self, stage: &Stage, mut io: Io) -> i32 {
        match &stage.what {
            // Boxed as what it awaits: nested commands are nested polls, whose frames add up.
            Command::Simple { .. } => Box::pin(self.simple(stage, io)).await,
            what => {
                self.exec_pid = None;
                let plain = io.clone();
                match self.redirect(&stage.redirects, &mut io).await {
                    Ok(()) => {
                        // What is redirected is no longer held.
                        drop(plain);
                        self.compound(what, &io).await
                    }
                    Err(error) => self.fail(error, &plain).await,
                }
            }
        }
    }
}
