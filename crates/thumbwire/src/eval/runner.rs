//! Many attempts, several at a time, each on a phone of its own.
//!
//! Each thread has its own runtime, on which time is held where it can be: a wait then takes no time, and the same seeds give the same
//! scores, however many run beside each other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::task::Task;
use super::trial::{Manner, Score, Trial, Who};

/// What is to be attempted.
#[derive(Clone)]
pub struct Plan {
    /// Which tasks.
    pub tasks: Vec<Task>,
    /// With which seeds.
    pub seeds: Vec<u64>,
    /// How; each task is attempted with each seed in each manner.
    pub manners: Vec<Manner>,
    /// So many at a time.
    pub jobs: usize,
}

impl Plan {
    /// How many attempts that makes.
    pub fn attempts(&self) -> usize {
        self.tasks.len() * self.seeds.len() * self.manners.len()
    }

    /// Attempts all of it. `told` hears of each as it ends, with the place of its manner. Gives the scores by manner, in the order of
    /// tasks and seeds.
    ///
    /// # Errors
    /// When an attempt could not be begun.
    pub fn run(&self, told: &(dyn Fn(usize, &Score) + Sync)) -> Result<Vec<Vec<Score>>, String> {
        let yardsticks = Yardsticks::default();
        let next = AtomicUsize::new(0);
        let scores: Mutex<Vec<(usize, Score)>> = Mutex::default();
        let failed: Mutex<Option<String>> = Mutex::default();
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= self.attempts() || lock(&failed).is_some() {
                    return;
                }
                let (manner, task, seed) = self.attempt(place);
                let trial = |oracle| Trial { task, seed, manner: &self.manners[manner], oracle };
                let score = yardsticks.of(task, seed).and_then(|oracle| alone(&trial(oracle)));
                match score {
                    Ok(score) => {
                        told(manner, &score);
                        lock(&scores).push((place, score));
                    }
                    Err(why) => {
                        lock(&failed).get_or_insert(why);
                    }
                }
            }
        };
        thread::scope(|scope| {
            (0..self.jobs.max(1)).for_each(|_| drop(scope.spawn(work)));
        });
        if let Some(why) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(why);
        }
        let mut scores = scores.into_inner().unwrap_or_else(PoisonError::into_inner);
        scores.sort_by_key(|(place, _)| *place);
        let mut by_manner: Vec<Vec<Score>> = self.manners.iter().map(|_| Vec::new()).collect();
        for (place, score) in scores {
            by_manner[self.attempt(place).0].push(score);
        }
        Ok(by_manner)
    }

    /// The attempt at that place: its manner's place, its task, its seed.
    fn attempt(&self, place: usize) -> (usize, Task, u64) {
        let each = self.tasks.len() * self.seeds.len();
        let inside = place % each;
        (place / each, self.tasks[inside / self.seeds.len()], self.seeds[inside % self.seeds.len()])
    }
}

/// How many acts the oracle takes, by task and seed; found out once.
#[derive(Default)]
struct Yardsticks(Mutex<HashMap<(&'static str, u64), u32>>);

impl Yardsticks {
    fn of(&self, task: Task, seed: u64) -> Result<u32, String> {
        let key = (task.name, seed);
        if let Some(known) = lock(&self.0).get(&key) {
            return Ok(*known);
        }
        let manner = Manner::of(Who::Oracle);
        let score = alone(&Trial { task, seed, manner: &manner, oracle: 0 })?;
        if !score.success {
            return Err(format!(
                "the oracle of {} fails with seed {seed}: {}",
                task.name, score.why
            ));
        }
        lock(&self.0).insert(key, score.steps);
        Ok(score.steps)
    }
}

/// An attempt on a runtime of its own.
fn alone(trial: &Trial<'_>) -> Result<Score, String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(trial.manner.holds_time()).build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    let score = runtime.block_on(trial.run());
    runtime.shutdown_background();
    score
}

/// A panic elsewhere leaves nothing half changed here.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
