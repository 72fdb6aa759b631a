//! `thumbwire test --prove FLOW`: runs a flow on fresh virtual phones until it is known what it
//! proves.
//!
//! The clock of a run stands still while the phone works, so waiting takes no time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use thumbwire_agent::{RedactedPerform, Vault};
use thumbwire_base::{files, lock};
use thumbwire_core::action::Call;
use thumbwire_core::event::NoEvents;
use thumbwire_core::providers::VIRTUAL;
use thumbwire_eval::{EvalPhone, TaskEnv, TimeMode, faults};
use thumbwire_flow::{
    Attempt, Conditions, Flow, FlowRunner, FreshPhones, Options, ProofError, Prover, proof_text,
};
use thumbwire_virtual_android::{Profile, Setup, VirtualPhone};

use super::{Arguments, ScriptHosts, refused};
use crate::cli::flow_files::{FlowFolders, absolute, lines};
use crate::cli::run_goal::FOREVER;
use crate::cli::{CliError, model_flags, print, print_error, run_setup};
use crate::config::Config;

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct ProofFlags {
    /// Run one flow many times on fresh virtual phones, with faults and with mutated apps: tell
    /// which mutants nobody notices, which steps prove nothing, and which checks are missing
    #[arg(long, conflicts_with_all = ["check", "junit", "retries", "update_goldens"], help_heading = PROOF)]
    pub(super) prove: bool,
    /// Write the shortest flow that proves as much, with the checks that were missing, to a new
    /// file
    #[arg(long, value_name = "FILE", requires = "prove", help_heading = PROOF)]
    write_flow: Option<PathBuf>,
    /// Runs without faults, and with each kind of fault
    #[arg(long, value_name = "N", requires = "prove", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100), help_heading = PROOF)]
    runs: u32,
    /// Kinds of faults, separated by commas; `thumbwire phone --fault list` lists all
    #[arg(long, value_name = "KINDS", requires = "prove", value_delimiter = ',', default_values = faults::PASSING, value_parser = fault, help_heading = PROOF)]
    faults: Vec<String>,
    /// Runs after which no other version of the flow is tried
    #[arg(long, value_name = "N", requires = "prove", default_value_t = 1000, help_heading = PROOF)]
    max_runs: usize,
    /// Print the result as JSON
    #[arg(short, long, requires = "prove", help_heading = PROOF)]
    json: bool,
}

const PROOF: &str = "Proof";

fn fault(text: &str) -> Result<String, String> {
    let is_kind = faults::kinds().iter().any(|kind| kind == text);
    is_kind.then(|| text.to_owned()).ok_or_else(|| "no such kind of fault".to_owned())
}

/// Proves the only flow. Exit code 0 if it is proved, else 1.
pub(super) fn run(
    arguments: &Arguments,
    flows: &[Flow],
    folders: &FlowFolders,
    config: &Config,
) -> Result<u8, CliError> {
    let ([flow], [file]) = (flows, arguments.flows.as_slice()) else {
        return Err(CliError::usage("--prove takes the file of one flow"));
    };
    if arguments.device.iter().any(|device| device != VIRTUAL) {
        return Err(CliError::usage("--prove runs on fresh virtual phones; leave out --device"));
    }
    let flags = &arguments.proof;
    let parameters = arguments.files.parameters();
    let cannot_read = |error| CliError::usage(format!("cannot read {}: {error}", file.display()));
    let text = folders.read_text(file).map_err(cannot_read)?;
    let read = |text: &str| {
        let texts = |path: &Path| match absolute(path) == absolute(file) {
            true => Ok(text.to_owned()),
            false => folders.read_text(path),
        };
        let read = thumbwire_flow::read(&file.display().to_string(), &parameters, &texts);
        read.map_err(|errors| lines(&errors))
    };
    let phones = VirtualPhones {
        folders,
        vault: run_setup::secrets(&arguments.common.secret)?,
        network: Arc::new(ScriptHosts::of(&arguments.allow.network, model_flags::proxy(config))),
        has_pictures: !flow.files().is_empty(),
        refusal: Mutex::default(),
    };
    let folder = tempfile::tempdir().map_err(|error| CliError::failed(error.to_string()))?;
    let time = arguments.common.limits.budgets(FOREVER).time.unwrap_or(FOREVER);
    let began = Instant::now();
    let prover = Prover {
        phones: &phones,
        read: &read,
        options: Options { folder: None, redact: false, ..arguments.options(folder.path()) },
        folder: folder.path(),
        runs: flags.runs,
        faults: flags.faults.clone(),
        max_runs: flags.max_runs,
        parallel: std::thread::available_parallelism().map_or(1, usize::from),
        on_progress: &|text| {
            if !arguments.quiet {
                print_error(&text);
            }
        },
        is_over: &|| began.elapsed() >= time,
    };
    // Each run has a runtime of its own, which cannot begin inside of another.
    let proof = std::thread::scope(|scope| scope.spawn(|| prover.prove(&text)).join());
    let proof = proof.map_err(|_| CliError::failed("the proof ended by a panic"))?;
    let proof = proof.map_err(|error| {
        let code = if matches!(error, ProofError::Fails(_)) { 1 } else { 2 };
        lock(&phones.refusal).take().unwrap_or(CliError { text: error.to_string(), code })
    })?;
    if let Some(out) = &flags.write_flow {
        files::write_new(out, proof.text.as_bytes()).map_err(|error| {
            CliError::failed(format!("cannot write {}: {error}", out.display()))
        })?;
    }
    print(&match flags.json {
        true => format!("{:#}\n", serde_json::json!(proof)),
        false => proof_text(&proof, flags.write_flow.is_some()),
    })?;
    Ok(u8::from(!proof.is_proved()))
}

/// Virtual phones that are new for each run.
struct VirtualPhones<'a> {
    folders: &'a FlowFolders,
    vault: Arc<Vault>,
    network: Arc<ScriptHosts>,
    has_pictures: bool,
    /// Why flows are not run at all.
    refusal: Mutex<Option<CliError>>,
}

impl FreshPhones for VirtualPhones<'_> {
    fn run(
        &self,
        flow: Flow,
        options: Options,
        conditions: &Conditions,
    ) -> Result<Attempt, String> {
        /// On the phone's clock.
        const MAX_TIME: Duration = Duration::from_secs(3_600);
        let Conditions { fault, nth } = conditions;
        let rule = fault.as_ref().map(|fault| faults::rule_of_run(fault, *nth).parse());
        let rule = rule.transpose().map_err(|error| format!("{error}"))?;
        let speed = Profile::names().nth(*nth as usize % Profile::names().count());
        let profile = speed.and_then(Profile::named).unwrap_or(Profile::Instant);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let report = runtime.block_on(async {
            let phone = VirtualPhone::new(Setup { profile, ..Setup::default() });
            let phone = EvalPhone::Android(phone);
            let env = TaskEnv::new(phone, rule.as_slice(), TimeMode::Paused, self.has_pictures);
            let runner = FlowRunner {
                perform: Arc::new(RedactedPerform::new(env.perform(), Arc::clone(&self.vault))),
                options: Options { devices: Vec::new(), ..options },
                events: Arc::new(NoEvents),
                goals: None,
                goldens: Some(self.folders),
                network: Some(Arc::clone(&self.network) as _),
            };
            runner.run(&Call::with_timeout(MAX_TIME), vec![flow]).await
        });
        runtime.shutdown_background();
        let report = report.map_err(|error| {
            let error = refused(error);
            let text = error.text.clone();
            *lock(&self.refusal) = Some(error);
            text
        })?;
        let attempt = report.cases.into_iter().find_map(|mut case| case.attempts.pop());
        attempt.ok_or_else(|| "the flow did not run".into())
    }
}
