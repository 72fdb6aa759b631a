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
use thumbwire_base::visible::visible_lines;
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform, Request, TypedPerform as _};
use thumbwire_device::Point;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::policy::decision::FunctionCall;
use crate::policy::observation::Function;

/// Provides functions that a policy can call.
#[async_trait]
pub(crate) trait FunctionProvider: Send + Sync {
    /// The functions. If two providers have one of the same name, the first provider wins.
    fn functions(&self) -> Vec<Function>;

    /// Calls a function.
    ///
    /// # Errors
    /// Why the function failed.
    async fn call(&self, call: &FunctionCall, phone: Phone<'_>) -> FunctionResult;
}

/// What a function did, or why it failed.
pub(crate) type FunctionResult = Result<FunctionReply, FunctionError>;

/// What a function did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FunctionReply {
    /// The result, in a sentence for the policy.
    pub(crate) message: String,
    /// The app that it started.
    pub(crate) launched: Option<String>,
    /// Where it touched the screen; a second point if the touch ended elsewhere.
    pub(crate) touch: Vec<[i32; 2]>,
}

impl FunctionReply {
    /// The reply of a function that touched the screen.
    pub(crate) fn touched(message: String, points: impl IntoIterator<Item = Point>) -> Self {
        let touch = points.into_iter().map(|Point { x, y }| [x, y]).collect();
        Self { message, touch, launched: None }
    }
}

impl From<String> for FunctionReply {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

/// Why a function failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FunctionError {
    /// The phone failed.
    Phone(Failure),
    /// The phone was not asked, or its answer is not what was wanted: a sentence for the policy.
    Rejected(String),
}

impl FunctionError {
    /// No function has this name.
    pub(crate) fn unknown(name: &str) -> Self {
        Self::Rejected(format!("There is no function called {name:?}"))
    }
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
    /// The phone's functions, and those of these providers. `lists_apps` as in
    /// [`phone::PhoneFunctions`].
    pub(crate) fn new(more: &[Arc<dyn FunctionProvider>], lists_apps: bool) -> Self {
        let (mut all, mut providers) = (Vec::<Function>::new(), Vec::new());
        let phone: Arc<dyn FunctionProvider> = Arc::new(phone::PhoneFunctions { lists_apps });
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
    pub(crate) async fn call(&self, call: &FunctionCall, phone: Phone<'_>) -> FunctionResult {
        let at = self.all.iter().position(|function| function.name == call.function);
        let at = at.ok_or_else(|| FunctionError::unknown(&call.function))?;
        let perform = &UninterruptedActs(phone.perform);
        let reply = self.providers[at].call(call, Phone { perform, ..phone }).await?;
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
    pub(crate) async fn request<R: Request>(
        &self,
        request: R,
        budget: Duration,
    ) -> Result<R::Output, Failure> {
        let deadline = self.call.deadline.min(Instant::now() + budget);
        let call = Call { deadline, ..self.call.clone() };
        self.perform.request(&call, request).await
    }
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
