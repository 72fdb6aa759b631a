//! Runs many attempts in parallel, each on its own phone.
//!
//! Each thread has its own runtime, with a paused clock where possible. So waits take no real time,
//! and the same seeds give the same scores regardless of parallelism.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use thumbwire_base::lock;
use thumbwire_virtual_phone::Platform;

use super::meter::Meter;
use super::task::Task;
use super::trial::{PolicyChoice, Score, Trial, TrialOptions};

/// The attempts to run.
#[derive(Clone)]
pub struct Plan {
    /// Tasks to run.
    pub tasks: Vec<Task>,
    /// Seeds to run each task with.
    pub seeds: Vec<u64>,
    /// Options; each task is run with each seed and each of these.
    pub options: Vec<TrialOptions>,
    /// Number of parallel attempts.
    pub jobs: usize,
}

impl Plan {
    /// Total number of attempts.
    pub fn attempts(&self) -> usize {
        self.tasks.len() * self.seeds.len() * self.options.len()
    }

    /// Runs the attempts that are `wanted`, by task and seed, until the meter ends the evaluation.
    /// Calls `on_score` when an attempt ends, with the index of its options. Returns the scores by
    /// options, in the order of tasks and seeds; attempts that did not end have none.
    ///
    /// # Errors
    /// If an attempt could not be started.
    pub fn run(
        &self,
        meter: &Arc<Meter>,
        wanted: &(dyn Fn(&Task, u64) -> bool + Sync),
        on_score: &(dyn Fn(usize, &Score) + Sync),
    ) -> Result<Vec<Vec<Score>>, String> {
        let oracle_costs = OracleCosts::default();
        let next = AtomicUsize::new(0);
        let scores: Mutex<Vec<(usize, Score)>> = Mutex::default();
        let failed: Mutex<Option<String>> = Mutex::default();
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let ends = meter.over().is_some() || lock(&failed).is_some();
                if index >= self.attempts() || ends {
                    return;
                }
                let (option, task, seed) = self.attempt(index);
                if !wanted(&task, seed) {
                    continue;
                }
                let trial = |oracle| Trial { task, seed, options: &self.options[option], oracle };
                let score = oracle_costs
                    .of(task, seed, &self.options[option])
                    .and_then(|oracle| run_isolated(&trial(oracle), meter));
                match score {
                    Ok(None) => {}
                    Ok(Some(score)) => {
                        on_score(option, &score);
                        lock(&scores).push((index, score));
                    }
                    Err(reason) => {
                        lock(&failed).get_or_insert(reason);
                    }
                }
            }
        };
        thread::scope(|scope| {
            (0..self.jobs.max(1)).for_each(|_| drop(scope.spawn(work)));
        });
        if let Some(reason) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(reason);
        }
        let mut scores = scores.into_inner().unwrap_or_else(PoisonError::into_inner);
        scores.sort_by_key(|(index, _)| *index);
        let mut by_options: Vec<Vec<Score>> = self.options.iter().map(|_| Vec::new()).collect();
        for (index, score) in scores {
            by_options[self.attempt(index).0].push(score);
        }
        Ok(by_options)
    }

    /// The attempt with this index: index of its options, task, seed.
    fn attempt(&self, index: usize) -> (usize, Task, u64) {
        let each = self.tasks.len() * self.seeds.len();
        let inside = index % each;
        (index / each, self.tasks[inside / self.seeds.len()], self.seeds[inside % self.seeds.len()])
    }
}

/// How many actions the oracle takes, by task, seed and platform; cached.
#[derive(Default)]
struct OracleCosts(Mutex<HashMap<(&'static str, u64, Platform), u32>>);

impl OracleCosts {
    /// The oracle's actions for an attempt with these options; zero for the oracle itself, which
    /// measures them.
    fn of(&self, task: Task, seed: u64, options: &TrialOptions) -> Result<u32, String> {
        if matches!(options.policy, PolicyChoice::Oracle) {
            return Ok(0);
        }
        let platform = options.platform;
        let key = (task.name, seed, platform);
        if let Some(known) = lock(&self.0).get(&key) {
            return Ok(*known);
        }
        let options = TrialOptions { platform, ..TrialOptions::of(PolicyChoice::Oracle) };
        let trial = Trial { task, seed, options: &options, oracle: 0 };
        let score = run_isolated(&trial, &Arc::default())?
            .ok_or_else(|| format!("oracle of task {} was interrupted", task.name))?;
        if !score.success {
            return Err(format!(
                "oracle of task {} failed with seed {seed}: {}",
                task.name, score.reason
            ));
        }
        lock(&self.0).insert(key, score.steps);
        Ok(score.steps)
    }
}

/// Runs an attempt on its own runtime.
fn run_isolated(trial: &Trial<'_>, meter: &Arc<Meter>) -> Result<Option<Score>, String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(trial.options.holds_time()).build();
    let runtime = runtime.map_err(|error| format!("cannot create a tokio runtime: {error}"))?;
    let score = runtime.block_on(trial.run(meter));
    runtime.shutdown_background();
    score
}
