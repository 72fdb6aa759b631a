//! The functions that a policy can call.
//!
//! Start with [`FunctionProvider`]. [`phone`] has the functions that use the phone, [`apps`] those
//! that its apps offer; callers may add others. [`Functions`] is the table of a run: it finds a
//! function's provider and knows whether the function acts. Which function is called, and what the
//! policy learns of the result, is up to [`crate::run`].

pub(crate) mod apps;
pub(crate) mod failure_text;
pub(crate) mod phone;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use thumbwire_base::visible::visible_lines;
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::policy::decision::FunctionCall;
use crate::policy::observation::Function;

/// Provides functions that a policy can call.
#[async_trait]
pub trait FunctionProvider: Send + Sync {
    /// The functions. If two providers have one of the same name, the first provider wins.
    fn functions(&self) -> Vec<Function>;

    /// Calls a function, which uses the phone through `perform`.
    ///
    /// # Errors
    /// Why the function failed.
    async fn call(
        &self,
        function: &str,
        arguments: &Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<FunctionReply, FunctionError>;
}

/// What a function did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionReply {
    /// The result, in a sentence for the policy.
    pub message: String,
    /// The app that it started.
    pub launched: Option<String>,
    /// Where it touched the screen; a second point if the touch ended elsewhere.
    pub touch: Vec<[i32; 2]>,
}

impl From<String> for FunctionReply {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

/// Why a function failed.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionError {
    /// The phone failed.
    Phone(Failure),
    /// The phone was not asked, or its answer is not what was wanted: a sentence for the policy.
    Rejected(String),
}

impl From<String> for FunctionError {
    fn from(reason: String) -> Self {
        Self::Rejected(reason)
    }
}

impl From<&str> for FunctionError {
    fn from(reason: &str) -> Self {
        Self::Rejected(reason.into())
    }
}

impl From<Failure> for FunctionError {
    fn from(failure: Failure) -> Self {
        Self::Phone(failure)
    }
}

/// The functions of a run.
pub(crate) struct Functions {
    all: Arc<[Function]>,
    /// The provider of each function.
    providers: Vec<Arc<dyn FunctionProvider>>,
}

impl Functions {
    /// The phone's functions, and those of these providers.
    pub(crate) fn new(more: &[Arc<dyn FunctionProvider>]) -> Self {
        let (mut all, mut providers) = (Vec::<Function>::new(), Vec::new());
        let phone: Arc<dyn FunctionProvider> = Arc::new(phone::PhoneFunctions);
        for provider in std::iter::once(&phone).chain(more) {
            for function in provider.functions() {
                if all.iter().all(|known| known.name != function.name) {
                    all.push(function);
                    providers.push(Arc::clone(provider));
                }
            }
        }
        Self { all: all.into(), providers }
    }

    /// All functions, as a policy sees them.
    pub(crate) fn all(&self) -> Arc<[Function]> {
        Arc::clone(&self.all)
    }

    /// Whether a function of this name acts.
    pub(crate) fn acts(&self, name: &str) -> bool {
        self.all.iter().any(|function| function.name == name && function.acts)
    }

    /// Calls a function.
    ///
    /// # Errors
    /// Why it failed, or that there is no such function.
    pub(crate) async fn call(
        &self,
        phone: Phone<'_>,
        function_call: &FunctionCall,
    ) -> Result<FunctionReply, FunctionError> {
        let FunctionCall { function: name, arguments } = function_call;
        let Some(at) = self.all.iter().position(|function| function.name == *name) else {
            return Err(format!("There is no function called {name:?}").into());
        };
        let perform = UninterruptedActs(phone.perform);
        let reply = self.providers[at].call(name, arguments, phone.call, &perform).await?;
        Ok(FunctionReply { message: visible_lines(&reply.message).into_owned(), ..reply })
    }
}

/// The phone on behalf of a call.
#[derive(Clone, Copy)]
pub(crate) struct Phone<'a> {
    pub(crate) call: &'a Call,
    pub(crate) perform: &'a dyn Perform,
}

impl Phone<'_> {
    /// Performs an action within this time.
    ///
    /// # Errors
    /// As [`Perform::perform`].
    pub(crate) async fn perform(
        &self,
        action: Action,
        budget: Duration,
    ) -> Result<Outcome, Failure> {
        self.perform.perform(&part_of(self.call, budget), action).await
    }
}

/// The same call with a shorter deadline.
fn part_of(call: &Call, budget: Duration) -> Call {
    Call { deadline: call.deadline.min(Instant::now() + budget), ..call.clone() }
}

/// Cancelling a run does not interrupt an action halfway, such as typing a text.
struct UninterruptedActs<'a>(&'a dyn Perform);

#[async_trait]
impl Perform for UninterruptedActs<'_> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        if !action.changes_screen() {
            return self.0.perform(call, action).await;
        }
        let call = Call { cancelled: CancellationToken::new(), ..call.clone() };
        self.0.perform(&call, action).await
    }
}
