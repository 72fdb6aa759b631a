//! What is kept about calls: the audit line of each, and their number.
//!
//! Start with [`CallLog::begin`]. An entry that is dropped before it ended, because its client
//! left, is a cancelled call; one that a panic ends has failed.

use std::sync::Arc;

use thumbwire_core::action::{CallState, Cause, CauseClass, ClientName, PageAct, PageActEnd};
use thumbwire_core::toolset::Reply;
use thumbwire_core::toolset::resources::ResourceError;
use tokio::time::Instant;

use crate::audit::{Audit, AuditLine, Outcome};
use crate::grant::Grant;
use crate::metrics::Metrics;

/// Receives what there is to know about the calls of a server.
#[derive(Clone, Default)]
pub(crate) struct CallLog {
    pub(crate) audit: Audit,
    pub(crate) metrics: Metrics,
}

/// A running call.
pub(crate) struct CallEntry {
    log: CallLog,
    client: ClientName,
    /// What its token grants, if it came over HTTP.
    http: Option<Grant>,
    tool: Option<String>,
    state: Option<Arc<CallState>>,
    /// The phone that a person reached through a page.
    phone: Option<String>,
    began: Instant,
    is_over: bool,
}

impl CallLog {
    /// A call of this client begins. `http`: what its token grants, if it came over HTTP.
    pub(crate) fn begin(&self, client: &ClientName, http: Option<Grant>) -> CallEntry {
        CallEntry {
            log: self.clone(),
            client: client.clone(),
            http,
            tool: None,
            state: None,
            phone: None,
            began: Instant::now(),
            is_over: false,
        }
    }
}

impl CallEntry {
    /// It is a call of this tool.
    pub(crate) fn calls(&mut self, tool: &str, state: &Arc<CallState>) {
        self.tool = Some(tool.to_owned());
        self.state = Some(Arc::clone(state));
    }

    /// It is an act of a person through a page.
    pub(crate) fn acts(&mut self, act: String) {
        self.tool = Some(act);
    }

    /// The page has answered.
    pub(crate) fn answered(mut self, act: &PageAct) {
        self.phone.clone_from(&act.phone);
        match &act.end {
            PageActEnd::Done => self.ended(None, false),
            PageActEnd::Refused(code) => self.refused(code),
            PageActEnd::Failed(cause) => self.ended(Some(cause), true),
        }
    }

    /// The request brings an answer to a call that has an entry already.
    pub(crate) fn continues_another(mut self) {
        self.is_over = true;
    }

    /// A rule refused it before the tool was tried.
    pub(crate) fn refused(mut self, code: &str) {
        self.end(Outcome::Refused, Some(code));
    }

    /// The tool has replied.
    pub(crate) fn replied(self, reply: &Reply) {
        self.ended(reply.cause.as_ref(), reply.is_error);
    }

    /// A resource was read, or could not be.
    pub(crate) fn read(self, error: Option<&ResourceError>) {
        match error {
            Some(ResourceError::Failed(failure)) => self.ended(Some(&failure.cause), true),
            error => self.ended(None, error.is_some()),
        }
    }

    fn ended(mut self, cause: Option<&Cause>, is_error: bool) {
        let code = cause.map(Cause::code);
        match cause.map(Cause::class) {
            Some(CauseClass::Cancelled) => self.end(Outcome::Cancelled, None),
            // Nothing was tried.
            Some(CauseClass::Usage | CauseClass::Refused | CauseClass::Limit) => {
                self.end(Outcome::Refused, code);
            }
            Some(
                CauseClass::NoDevice
                | CauseClass::NotFound
                | CauseClass::TimedOut
                | CauseClass::Failed,
            ) => self.end(Outcome::Failed, code),
            None if is_error => self.end(Outcome::Failed, Some("error")),
            None => self.end(Outcome::Ok, None),
        }
    }

    fn end(&mut self, outcome: Outcome, code: Option<&str>) {
        self.is_over = true;
        let took = self.began.elapsed();
        self.log.metrics.count(self.tool.as_deref(), outcome, took);
        let named = self.http.as_ref().filter(|http| http.token_name().is_some());
        self.log.audit.write(&AuditLine {
            client: Some(self.client.as_str()).filter(|client| !client.is_empty()),
            token: named.and_then(Grant::token_name),
            scope: named.map(|http| http.scope.name()),
            transport: if self.http.is_some() { "http" } else { "stdio" },
            peer: self.http.as_ref().and_then(|http| http.peer),
            phone: self.state.as_ref().and_then(|state| state.phone()).or(self.phone.as_deref()),
            tool: self.tool.as_deref(),
            outcome,
            code,
            took,
        });
    }
}

impl Drop for CallEntry {
    fn drop(&mut self) {
        match self.is_over {
            true => {}
            false if std::thread::panicking() => self.end(Outcome::Failed, Some("internal_error")),
            false => self.end(Outcome::Cancelled, None),
        }
    }
}
