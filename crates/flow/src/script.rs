//! Runs the JavaScript of flows: `${…}`, `evalScript` and `runScript`.
//!
//! Start with [`ScriptEngine::evaluate`]. The rules are those of Maestro's `GraalJsEngine`: strict
//! mode; each script has variables of its own; `output` and `maestro` last; a name that nothing
//! defines is undefined. `script_thread` runs it apart from the phone.
//!
//! A script may be a stranger's. Memory, stack and time are limited here; there are no files, no
//! modules and no processes, and [`ScriptNetwork`] decides about hosts. QuickJS is why:
//! `docs/decisions/quickjs-runs-scripts.md`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::{
    CatchResultExt as _, CaughtError, Coerced, Context, Ctx, Function, Module, Object, Runtime,
    Value,
};
use serde::{Deserialize, Serialize};
use thumbwire_base::lock;

use super::yaml::MAX_BYTES;

/// The maximum memory of all scripts of a case, in bytes.
const MAX_MEMORY: usize = 64 << 20;

/// The maximum stack, in bytes: a quarter of that of the smallest thread that runs scripts.
const MAX_STACK: usize = 512 << 10;

/// How long the scripts of one step may run, without the time that servers take.
pub(super) const MAX_TIME: Duration = Duration::from_secs(30);

/// How long a server may take to answer.
pub(super) const MAX_REQUEST: Duration = Duration::from_secs(60);

/// How many lines of `console.log` are kept of one script.
const MAX_LINES: usize = 20;

/// What the prelude defines; anything else in the global object is a parameter, or left over from
/// an earlier script.
const LASTING: [&str; 7] =
    ["console", "faker", "http", "json", "maestro", "output", "relativePoint"];

/// Parameter values by name.
pub(super) type Parameters = BTreeMap<String, String>;

/// Sends requests of scripts, if their host is allowed.
pub trait ScriptNetwork: Send + Sync {
    /// Sends a request and waits for the response, at most a minute.
    ///
    /// # Errors
    /// Why there is no response.
    fn send(&self, request: ScriptRequest) -> Result<ScriptResponse, String>;
}

/// A request of a script.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ScriptRequest {
    /// The method, in capitals.
    pub method: String,
    /// The address.
    pub url: String,
    /// The headers, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
}

/// The response to a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScriptResponse {
    /// The status code.
    pub status: u16,
    /// The headers, by their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// The value of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptValue {
    /// `undefined`.
    Undefined,
    /// A string, number, boolean or `null`, as text.
    Text(String),
    /// An object, array or function.
    Object,
}

impl ScriptValue {
    /// The text that a condition gets.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Undefined => "undefined",
            Self::Text(text) => text,
            Self::Object => "[object Object]",
        }
    }
}

/// Runs the scripts of one case.
pub(super) struct ScriptEngine {
    runtime: Runtime,
    context: Context,
    /// How long the scripts of one step may run.
    max_time: Duration,
    /// When the script that runs now is stopped.
    deadline: Arc<Mutex<Instant>>,
    /// What `console.log` wrote.
    lines: Rc<RefCell<Vec<String>>>,
    parameters: Parameters,
    /// What [`ScriptEngine::enter`] replaced.
    outer: Vec<Parameters>,
}

impl ScriptEngine {
    /// An engine for a case on this platform, with parameters from outside. Without a network,
    /// `http` fails.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn new(
        platform: &str,
        parameters: Parameters,
        network: Option<Arc<dyn ScriptNetwork>>,
    ) -> Result<Self, String> {
        let failed = |error: rquickjs::Error| format!("cannot start JavaScript: {error}");
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(MAX_MEMORY);
        runtime.set_max_stack_size(MAX_STACK);
        let deadline = Arc::new(Mutex::new(Instant::now() + MAX_TIME));
        let until = Arc::clone(&deadline);
        runtime.set_interrupt_handler(Some(Box::new(move || Instant::now() >= *lock(&until))));
        let context = Context::full(&runtime).map_err(failed)?;
        let lines = Rc::new(RefCell::new(Vec::new()));
        let (log, until) = (Rc::clone(&lines), Arc::clone(&deadline));
        context
            .with(|ctx| {
                let prelude: Function<'_> = ctx.eval(include_str!("script/prelude.js"))?;
                let send = Function::new(ctx.clone(), move |request: String| {
                    sent(network.as_deref(), &request, &until)
                })?;
                let log = Function::new(ctx, move |line: String| {
                    let mut lines = log.borrow_mut();
                    if lines.len() < MAX_LINES {
                        lines.push(line.chars().take(MAX_BYTES / 1000).collect());
                    }
                })?;
                prelude.call::<_, ()>((platform, send, log))
            })
            .map_err(failed)?;
        let (max_time, outer) = (MAX_TIME, Vec::new());
        Ok(Self { runtime, context, max_time, deadline, lines, parameters, outer })
    }

    /// Gives the scripts from now on their time.
    pub(super) fn begin(&self) {
        *lock(&self.deadline) = Instant::now() + self.max_time;
    }

    /// Gives the scripts of each step less time.
    pub(super) fn with_time(self, max_time: Duration) -> Self {
        Self { max_time, ..self }
    }

    /// Until when scripts may run, for one who waits for them.
    pub(super) fn deadline(&self) -> Arc<Mutex<Instant>> {
        Arc::clone(&self.deadline)
    }

    /// The text that `maestro.copiedText` has.
    pub(super) fn set_copied(&self, copied: &str) {
        // A script that replaced `maestro` has lost it.
        let _ = self
            .context
            .with(|ctx| ctx.globals().get::<_, Object<'_>>("maestro")?.set("copiedText", copied));
    }

    /// Opens a scope: [`ScriptEngine::leave`] restores the parameters.
    pub(super) fn enter(&mut self) {
        self.outer.push(self.parameters.clone());
    }

    /// Closes the scope that was opened last.
    pub(super) fn leave(&mut self) {
        self.parameters = self.outer.pop().unwrap_or_default();
    }

    /// Sets a parameter in this scope; `None` removes it.
    pub(super) fn define(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => self.parameters.insert(name.to_owned(), value),
            None => self.parameters.remove(name),
        };
    }

    /// The lines that scripts logged since the last time.
    pub(super) fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.borrow_mut())
    }

    /// Whether this is JavaScript; nothing of it runs.
    ///
    /// # Errors
    /// The syntax error.
    pub(super) fn check(&self, script: &str) -> Result<(), String> {
        self.context.with(|ctx| {
            // An engine compiles without running only modules, whose syntax is that of strict mode.
            Module::declare(ctx.clone(), "script", script)
                .map(drop)
                .catch(&ctx)
                .map_err(|error| message(&error))
        })
    }

    /// The value of a script.
    ///
    /// # Errors
    /// The exception, or the limit that it reached.
    pub(super) fn evaluate(&mut self, script: &str) -> Result<ScriptValue, String> {
        let source = serde_json::to_string(script).map_err(|error| error.to_string())?;
        let evaluated = self.context.with(|ctx| {
            let value = set_parameters(&ctx, &self.parameters).and_then(|()| {
                // Its variables are those of a function: the next script may declare them again.
                let whole = format!("(function () {{ return eval({source}) }})()");
                ctx.eval_with_options::<Value<'_>, _>(whole, EvalOptions::default())
            });
            value
                .and_then(|value| script_value(&value))
                .catch(&ctx)
                .map_err(|error| message(&error))
        });
        // What a promise waits for happens before the next step. The deadline ends an endless one.
        while Instant::now() < *lock(&self.deadline)
            && self.runtime.execute_pending_job().is_ok_and(|is_done| is_done)
        {}
        let is_late = Instant::now() >= *lock(&self.deadline);
        match evaluated {
            Err(_) if is_late => {
                Err(format!("the script was stopped after {} s", self.max_time.as_secs_f64()))
            }
            Ok(ScriptValue::Text(text)) if text.len() > MAX_BYTES => {
                Err(format!("its text has {} bytes; the maximum is {MAX_BYTES}", text.len()))
            }
            evaluated => evaluated,
        }
    }
}

/// Makes the parameters, and nothing else that is not lasting, variables of scripts.
fn set_parameters(ctx: &Ctx<'_>, parameters: &Parameters) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    let names = globals.keys::<String>().collect::<rquickjs::Result<Vec<_>>>()?;
    for name in names.iter().filter(|name| !LASTING.contains(&name.as_str())) {
        globals.remove(name.as_str())?;
    }
    for (name, value) in parameters.iter().filter(|(name, _)| !LASTING.contains(&name.as_str())) {
        globals.set(name.as_str(), value.as_str())?;
    }
    Ok(())
}

fn script_value(value: &Value<'_>) -> rquickjs::Result<ScriptValue> {
    if value.is_undefined() {
        return Ok(ScriptValue::Undefined);
    }
    if value.is_object() || value.is_symbol() {
        return Ok(ScriptValue::Object);
    }
    Ok(ScriptValue::Text(value.get::<Coerced<String>>()?.0))
}

/// An exception in words.
fn message(error: &CaughtError<'_>) -> String {
    /// A script may throw anything.
    const MAX_CHARS: usize = 300;
    let text = match error {
        CaughtError::Exception(exception) => {
            let name = exception.get::<_, String>("name").unwrap_or_else(|_| "Error".into());
            format!("{name}: {}", exception.message().unwrap_or_default())
        }
        CaughtError::Value(value) => {
            let text = value.as_string().and_then(|text| text.to_string().ok());
            text.unwrap_or_else(|| "it threw a value that is not an error".into())
        }
        CaughtError::Error(error) => error.to_string(),
    };
    text.chars().take(MAX_CHARS).collect()
}

/// The response as JSON: `{ "response": … }` or `{ "error": … }`.
fn sent(network: Option<&dyn ScriptNetwork>, request: &str, deadline: &Mutex<Instant>) -> String {
    let began = Instant::now();
    let left = lock(deadline).saturating_duration_since(began);
    *lock(deadline) = began + left + MAX_REQUEST;
    let response = match network {
        None => Err("scripts may not use the network; allow a host with --allow-network".into()),
        Some(network) => serde_json::from_str(request)
            .map_err(|error| error.to_string())
            .and_then(|request| network.send(request)),
    };
    // The server's time is not the script's.
    *lock(deadline) = Instant::now() + left;
    let answer = match response {
        Ok(response) => serde_json::json!({ "response": response }),
        Err(error) => serde_json::json!({ "error": error }),
    };
    answer.to_string()
}

#[cfg(test)]
mod tests;
