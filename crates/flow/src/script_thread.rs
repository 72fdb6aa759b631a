//! A thread for the scripts of one case: what a script does not end by itself ends neither the run
//! nor its time limit.
//!
//! Start with [`ScriptThread::run`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use thumbwire_base::lock;

use super::script::{Parameters, ScriptEngine, ScriptNetwork};

/// How much later than a script's own limit it is given up: some functions of the engine do not
/// look at the limit.
const GRACE: Duration = Duration::from_secs(3);

/// The stack of the thread. Scripts may use half a megabyte of it.
const STACK: usize = 4 << 20;

type Job = Box<dyn FnOnce(&mut ScriptEngine) + Send>;

/// The thread; it ends after its last job once this is dropped.
pub(super) struct ScriptThread {
    jobs: mpsc::Sender<Job>,
    deadline: Arc<Mutex<Instant>>,
    max_time: Duration,
    /// Whether a script did not end.
    given_up: AtomicBool,
}

impl ScriptThread {
    /// Starts the thread and an engine on it. The scripts of a step have `max_time`.
    ///
    /// # Errors
    /// Why there is no engine.
    pub(super) fn start(
        platform: &'static str,
        parameters: Parameters,
        network: Option<Arc<dyn ScriptNetwork>>,
        max_time: Duration,
    ) -> Result<Self, String> {
        let (jobs, received) = mpsc::channel::<Job>();
        let (started, result) = mpsc::sync_channel(1);
        let work = move || match ScriptEngine::new(platform, parameters, network)
            .map(|engine| engine.with_time(max_time))
        {
            Err(error) => drop(started.send(Err(error))),
            Ok(mut engine) => {
                // The one who started it waits.
                let _ = started.send(Ok(engine.deadline()));
                while let Ok(job) = received.recv() {
                    job(&mut engine);
                }
            }
        };
        let thread = thread::Builder::new().name("script".into()).stack_size(STACK);
        thread.spawn(work).map_err(|error| format!("cannot start a thread: {error}"))?;
        let deadline = result.recv().map_err(|_| "JavaScript has ended".to_owned())??;
        Ok(Self { jobs, deadline, max_time, given_up: AtomicBool::new(false) })
    }

    /// Runs a job with the engine.
    ///
    /// # Errors
    /// If it takes too long.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut ScriptEngine) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (sender, result) = mpsc::sync_channel(1);
        let deadline = Arc::clone(&self.deadline);
        // What the script before it left is over.
        *lock(&deadline) = Instant::now() + self.max_time;
        let job: Job = Box::new(move |engine| {
            engine.begin();
            drop(sender.send(job(engine)));
        });
        let ended = || "an earlier script did not end".to_owned();
        if self.given_up.load(Ordering::SeqCst) || self.jobs.send(job).is_err() {
            return Err(ended());
        }
        let waits = move || {
            loop {
                match result.recv_timeout(GRACE) {
                    Err(RecvTimeoutError::Timeout) if Instant::now() < *lock(&deadline) + GRACE => {
                    }
                    done => return done.ok(),
                }
            }
        };
        // A blocking task: a paused clock stands still meanwhile.
        let done = tokio::task::spawn_blocking(waits).await.map_err(|_| ended())?;
        done.ok_or_else(|| {
            self.given_up.store(true, Ordering::SeqCst);
            "the script did not end and was given up".into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(max_time: Duration) -> ScriptThread {
        ScriptThread::start("ios", Parameters::new(), None, max_time).unwrap()
    }

    #[tokio::test]
    async fn jobs_share_one_engine() {
        let scripts = start(Duration::from_secs(30));
        scripts.run(|engine| engine.evaluate("output.n = 5").map(drop)).await.unwrap().unwrap();
        let seen = scripts.run(|engine| engine.evaluate("output.n + maestro.platform")).await;
        assert_eq!(format!("{seen:?}"), "Ok(Ok(Text(\"5ios\")))");
    }

    /// Some functions of the engine never look at the clock.
    #[tokio::test]
    async fn scripts_that_cannot_be_stopped_are_given_up() {
        let scripts = start(Duration::from_millis(100));
        let endless = "new Array(2 ** 32 - 1).join('')";
        let seen = scripts.run(move |engine| engine.evaluate(endless).is_ok()).await;
        assert_eq!(seen, Err("the script did not end and was given up".into()));
        let seen = scripts.run(|engine| engine.evaluate("1").is_ok()).await;
        assert_eq!(seen, Err("an earlier script did not end".into()));
    }
}
