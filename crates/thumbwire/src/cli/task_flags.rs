//! The flags of `serve` for the tool `mobile_run_task`, and the tool.
//!
//! A build without the feature `agent` has neither: [`TaskFlags`] is empty there.

#[cfg(feature = "agent")]
pub(super) use with_agent::TaskFlags;
#[cfg(not(feature = "agent"))]
pub(super) use without_agent::TaskFlags;

#[cfg(feature = "agent")]
mod with_agent {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::time::Duration;

    use thumbwire_agent::{ConfirmedPerform, RedactedPerform, Vault, ask_secret, run_task};
    use thumbwire_core::action::Perform;
    use thumbwire_core::session::Session;
    use thumbwire_core::toolset::Tool;
    use thumbwire_core::toolset::skills::SkillDocument;

    use super::super::model_flags::{BudgetFlags, ConfirmFlag, ModelFlags, ModelSetup};
    use super::super::run_setup::{self, McpTaskRunner, RunSetup};
    use super::super::{CliError, FILES, PERMISSIONS, skill_documents};
    use crate::config::Config;

    /// What a task gets beyond its own time, to finish its trace.
    const TRACE_TIMEOUT: Duration = Duration::from_secs(30);

    /// The flags.
    #[derive(clap::Args)]
    pub(in super::super) struct TaskFlags {
        /// Secret that can be typed as `{{NAME}}` but is never shown; its value is read from
        /// $THUMBWIRE_SECRET_NAME (repeatable)
        #[arg(long, value_name = "NAME", help_heading = PERMISSIONS)]
        secret: Vec<String>,
        #[command(flatten)]
        model: ModelFlags,
        #[command(flatten)]
        limits: BudgetFlags,
        #[command(flatten)]
        confirm: ConfirmFlag,
        /// Directory of recorded skills to offer to clients, beside those that Thumbwire has, by
        /// MCP's skills extension
        #[arg(long, value_name = "DIR", help_heading = FILES)]
        skills: Option<PathBuf>,
    }

    /// What the flags ask for, checked.
    pub(in super::super) struct Task {
        model: Option<ModelSetup>,
        vault: Arc<Vault>,
        limits: BudgetFlags,
        confirm: ConfirmFlag,
    }

    impl TaskFlags {
        /// Reads the secrets and opens the model, where one was named. `is_mobile`: whether the
        /// toolset is one that has the tool.
        ///
        /// # Errors
        /// Wrong usage; a model that cannot be opened.
        pub(in super::super) fn open(
            &self,
            config: &Config,
            is_mobile: bool,
        ) -> Result<Task, CliError> {
            let model = self.model(config, is_mobile)?;
            let vault = run_setup::secrets(&self.secret)?;
            Ok(Task { model, vault, limits: self.limits.clone(), confirm: self.confirm })
        }

        /// The skills for clients.
        ///
        /// # Errors
        /// If the directory has files that are no skills.
        pub(in super::super) fn skills(&self) -> Result<Vec<SkillDocument>, CliError> {
            let mut skills = skill_documents::own();
            if let Some(folder) = &self.skills {
                skills.extend(skill_documents::recorded(folder)?);
            }
            Ok(skills)
        }

        fn model(&self, config: &Config, is_mobile: bool) -> Result<Option<ModelSetup>, CliError> {
            if !self.model.is_there() {
                return Ok(None);
            }
            if !is_mobile {
                let text =
                    "--model requires `--toolset mobile`, where it adds the tool mobile_run_task";
                return Err(CliError::usage(text));
            }
            self.model.check_prices(&self.limits)?;
            self.model.open(config).map(Some)
        }
    }

    impl Task {
        /// The session; without the values of the secrets in what it answers, where there are any,
        /// and with questions to the user before acts, where they were asked for. `asks_secrets`:
        /// whether there may be secrets later.
        pub(in super::super) fn guarded(
            &self,
            session: &Arc<Session>,
            asks_secrets: bool,
        ) -> Arc<dyn Perform> {
            let redacted: Arc<dyn Perform> = match self.vault.is_empty() && !asks_secrets {
                true => Arc::clone(session) as Arc<dyn Perform>,
                false => {
                    Arc::new(RedactedPerform::new(Arc::clone(session), Arc::clone(&self.vault)))
                }
            };
            match self.confirm.is_given() {
                true => Arc::new(ConfirmedPerform::new(redacted, self.confirm.mode())),
                false => redacted,
            }
        }

        /// The tool that asks the user for a secret.
        pub(in super::super) fn secret_tool(&self) -> Option<Tool> {
            Some(ask_secret::tool(Arc::clone(&self.vault)))
        }

        /// The tool, where a model was named.
        pub(in super::super) fn tool(
            self,
            session: &Arc<Session>,
            out: &Path,
            redact: bool,
        ) -> Option<Tool> {
            let model = self.model?;
            let session = Arc::clone(session);
            let setup = RunSetup { session, vault: self.vault, out: out.to_owned(), redact };
            let budgets = self.limits.budgets(run_task::DEFAULT_TIMEOUT);
            let time = budgets.time.unwrap_or(run_task::DEFAULT_TIMEOUT) + TRACE_TIMEOUT;
            let tasks = McpTaskRunner { setup, model, budgets, confirm: self.confirm };
            Some(run_task::tool(Arc::new(tasks), time))
        }
    }
}

#[cfg(not(feature = "agent"))]
mod without_agent {
    use std::path::Path;
    use std::sync::Arc;

    use thumbwire_core::action::Perform;
    use thumbwire_core::session::Session;
    use thumbwire_core::toolset::Tool;
    use thumbwire_core::toolset::skills::SkillDocument;

    use super::super::{CliError, skill_documents};
    use crate::config::Config;

    /// No flags.
    #[derive(clap::Args)]
    pub(in super::super) struct TaskFlags {}

    /// No task.
    pub(in super::super) struct Task;

    impl TaskFlags {
        pub(in super::super) fn skills(&self) -> Result<Vec<SkillDocument>, CliError> {
            Ok(skill_documents::own())
        }

        pub(in super::super) fn open(&self, _: &Config, _: bool) -> Result<Task, CliError> {
            Ok(Task)
        }
    }

    impl Task {
        pub(in super::super) fn guarded(
            &self,
            session: &Arc<Session>,
            _: bool,
        ) -> Arc<dyn Perform> {
            Arc::clone(session) as Arc<dyn Perform>
        }

        pub(in super::super) fn secret_tool(&self) -> Option<Tool> {
            None
        }

        pub(in super::super) fn tool(self, _: &Arc<Session>, _: &Path, _: bool) -> Option<Tool> {
            None
        }
    }
}
