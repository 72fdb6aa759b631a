//! Arguments and errors of JSON-RPC.

use super::super::selector::{Criterion, Selector, Step, flag_name, text_criterion};
use serde_json::{Value, json};
use std::time::Duration;
use thumbwire_virtual_phone::Point;

/// The arguments of a method, by their order.
pub(super) struct Params(pub(super) Vec<Value>);

/// An error as jsonrpc4j writes it.
#[derive(Debug)]
pub(super) struct RpcError {
    code: i64,
    message: String,
    exception: Option<&'static str>,
}

/// The exception of an element that is not on the screen.
const NOT_FOUND: &str = "androidx.test.uiautomator.UiObjectNotFoundException";
/// Maximum selectors of a chain.
const MAX_CHAIN: usize = 16;
/// Maximum time of a wait or gesture.
const MAX_TIME: u64 = 600_000;

impl RpcError {
    pub(super) fn new(code: i64, message: &str) -> Self {
        Self { code, message: message.to_owned(), exception: None }
    }

    pub(super) fn not_found(selector: &Value) -> Self {
        let message = format!("{NOT_FOUND}: {selector}");
        Self { code: -32001, message, exception: Some(NOT_FOUND) }
    }

    pub(super) fn refused(message: &str) -> Self {
        let exception = Some("java.lang.IllegalStateException");
        Self { code: -32001, message: message.to_owned(), exception }
    }

    pub(super) fn to_value(&self) -> Value {
        let data = self
            .exception
            .map(|name| json!({ "exceptionTypeName": name, "message": self.message }));
        json!({ "code": self.code, "message": self.message, "data": data })
    }
}

fn wrong(place: usize, what: &str) -> RpcError {
    RpcError::new(-32602, &format!("invalid params: argument {} must be {what}", place + 1))
}

impl Params {
    /// Pixels. Python's clients send fractions too.
    pub(super) fn pixels(&self, place: usize) -> Result<i32, RpcError> {
        let number = self.0.get(place).and_then(Value::as_f64);
        number.map(|number| number as i32).ok_or_else(|| wrong(place, "a number"))
    }

    pub(super) fn point(&self, place: usize) -> Result<Point, RpcError> {
        Ok(Point { x: self.pixels(place)?, y: self.pixels(place + 1)? })
    }

    /// `{"x": …, "y": …}`
    pub(super) fn point_object(&self, place: usize) -> Result<Point, RpcError> {
        let at = |key: &str| self.0.get(place).and_then(|it| it.get(key)).and_then(Value::as_f64);
        let read = || Some(Point { x: at("x")? as i32, y: at("y")? as i32 });
        read().ok_or_else(|| wrong(place, "a point"))
    }

    pub(super) fn number(&self, place: usize, otherwise: Option<u64>) -> Result<u64, RpcError> {
        match self.0.get(place).filter(|value| !value.is_null()) {
            None => otherwise.ok_or_else(|| wrong(place, "a number")),
            Some(value) => value.as_u64().ok_or_else(|| wrong(place, "a number")),
        }
    }

    pub(super) fn millis(
        &self,
        place: usize,
        otherwise: Option<u64>,
    ) -> Result<Duration, RpcError> {
        Ok(Duration::from_millis(self.number(place, otherwise)?.min(MAX_TIME)))
    }

    pub(super) fn text(&self, place: usize) -> Result<&str, RpcError> {
        self.0.get(place).and_then(Value::as_str).ok_or_else(|| wrong(place, "a text"))
    }

    pub(super) fn flag(&self, place: usize, otherwise: bool) -> bool {
        self.0.get(place).and_then(Value::as_bool).unwrap_or(otherwise)
    }

    pub(super) fn selector(&self, place: usize) -> Result<Selector, RpcError> {
        let value = self.0.get(place).ok_or_else(|| wrong(place, "a selector"))?;
        read_selector(value, 0).map_err(|reason| wrong(place, &format!("a selector: {reason}")))
    }
}

/// A selector of Python's client: an object of criteria, whose `mask` says which ones count.
fn read_selector(value: &Value, depth: usize) -> Result<Selector, String> {
    let fields = value.as_object().ok_or("it is not an object")?;
    if depth > MAX_CHAIN {
        return Err("too many selectors are inside one another".to_owned());
    }
    let mut selector = Selector::default();
    for (name, value) in fields {
        let number = || value.as_u64().map(|number| number as usize).ok_or("expected a number");
        match (name.as_str(), value) {
            ("mask" | "childOrSibling" | "childOrSiblingSelector", _) => {}
            ("index", _) => selector.criteria.push(Criterion::Index(number()?)),
            ("instance", _) => selector.instance = Some(number()?),
            (name, Value::String(text)) => match text_criterion(name, text) {
                Some(criterion) => selector.criteria.push(criterion?),
                None => return Err(format!("{name} is unknown")),
            },
            (name, Value::Bool(flag)) => match flag_name(name) {
                Some(name) => selector.criteria.push(Criterion::Flag(name, *flag)),
                None => return Err(format!("{name} is unknown")),
            },
            (name, _) => return Err(format!("{name} has a value of the wrong kind")),
        }
    }
    let list = |name: &str| fields.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (steps, selectors) = (list("childOrSibling"), list("childOrSiblingSelector"));
    if steps.len() > MAX_CHAIN {
        return Err("the chain of selectors is too long".to_owned());
    }
    let mut next: Option<(Step, Box<Selector>)> = None;
    for (step, inner) in steps.iter().zip(&selectors).rev() {
        let mut inner = read_selector(inner, depth + 1)?;
        inner.next = next.take();
        let step = if step == "sibling" { Step::FromParent } else { Step::Child };
        next = Some((step, Box::new(inner)));
    }
    selector.next = next;
    Ok(selector)
}
