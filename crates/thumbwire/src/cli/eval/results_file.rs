//! The file of results: written after each attempt, so that an evaluation that ends early can be
//! resumed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use thumbwire_base::files;

use super::super::CliError;
use thumbwire_eval::results::{EvalResults, EvalSetup};
use thumbwire_eval::{Meter, Score};

/// Results, and the file that they are written to, if any.
pub(super) struct ResultsFile {
    path: Option<PathBuf>,
    results: EvalResults,
    /// How many attempts were added.
    added: usize,
    written: Option<Instant>,
    /// How long the last write took.
    took: Duration,
}

/// A write may take this share of the time: a file grows with each attempt.
const SHARE: u32 = 20;

impl ResultsFile {
    /// New results; without a path they are not written. Replaces a file, unless it can be resumed.
    pub(super) fn new(path: Option<&Path>, setup: EvalSetup) -> Result<Self, CliError> {
        let earlier = path.and_then(|path| Some((path, read(path).ok()?)));
        if let Some((path, earlier)) = earlier
            && (1..earlier.planned).contains(&earlier.attempts.len())
        {
            return Err(CliError::usage(format!(
                "{path} has {} of {} attempts of an evaluation that ended early. Continue it with `--resume {path}`, or remove the file",
                earlier.attempts.len(),
                earlier.planned,
                path = path.display(),
            )));
        }
        let started = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Ok(Self::with(path.map(Path::to_owned), EvalResults::new(setup, started)))
    }

    /// The results of an earlier evaluation with the same setup.
    pub(super) fn resume(path: &Path, setup: &EvalSetup) -> Result<Self, CliError> {
        let results = read(path)?;
        results.continues(setup).map_err(|reason| {
            CliError::usage(format!("cannot resume {}: {reason}", path.display()))
        })?;
        Ok(Self::with(Some(path.to_owned()), results))
    }

    fn with(path: Option<PathBuf>, results: EvalResults) -> Self {
        Self { path, results, added: 0, written: None, took: Duration::ZERO }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(super) fn results(&self) -> &EvalResults {
        &self.results
    }

    pub(super) fn added(&self) -> usize {
        self.added
    }

    /// Sets how many attempts are still to come.
    pub(super) fn plan(&mut self, missing: usize) {
        self.results.planned = self.results.attempts.len() + missing;
        self.results.stopped = None;
    }

    /// Adds an attempt and writes the file.
    pub(super) fn add(&mut self, score: Score, meter: &Meter) -> Result<(), CliError> {
        self.results.attempts.push(score);
        self.added += 1;
        let due = self.written.is_none_or(|written| written.elapsed() >= self.took * SHARE);
        if due { self.write(meter) } else { Ok(()) }
    }

    /// Writes the file once more; `stopped` says why the evaluation is not finished.
    pub(super) fn finish(
        &mut self,
        stopped: Option<String>,
        meter: &Meter,
    ) -> Result<(), CliError> {
        self.results.stopped = stopped;
        self.write(meter)
    }

    fn write(&mut self, meter: &Meter) -> Result<(), CliError> {
        let Some(path) = &self.path else { return Ok(()) };
        let began = Instant::now();
        self.results.set_spent(&meter.spent());
        write(path, &self.results.to_json())?;
        self.took = began.elapsed();
        self.written = Some(Instant::now());
        Ok(())
    }
}

/// The largest file of results, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a file of results.
pub(super) fn read(path: &Path) -> Result<EvalResults, CliError> {
    let wrong = |error: String| {
        CliError::usage(format!("cannot read the results in {}: {error}", path.display()))
    };
    let text = files::read_text(path, MAX_BYTES).map_err(|error| wrong(error.to_string()))?;
    EvalResults::parse(&text).map_err(wrong)
}

/// Writes JSON to a file, which is always whole: it is replaced at once.
pub(super) fn write(path: &Path, json: &Value) -> Result<(), CliError> {
    files::write(path, format!("{json:#}\n").as_bytes())
        .map_err(|error| CliError::failed(format!("cannot write {}: {error}", path.display())))
}
