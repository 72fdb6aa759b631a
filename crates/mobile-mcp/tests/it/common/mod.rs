//! A sample tool to call.

use serde_json::{Value, json};
use thumbwire_mobile_mcp::{Descriptor, Dispatcher, Output, Tool, Values, descriptor};

/// The tool of the specification's authors: three capabilities around a day's attendance.
const CLOCK_IN: &str = include_str!("../clock_in.xml");

pub(crate) struct ClockIn {
    pub(crate) descriptor: Descriptor,
    pub(crate) calls: Vec<(String, Values)>,
}

impl ClockIn {
    pub(crate) fn dispatcher() -> Dispatcher<Self> {
        let reading = descriptor::read(CLOCK_IN);
        assert_eq!(reading.findings, []);
        Dispatcher(Self { descriptor: reading.descriptor, calls: Vec::new() })
    }
}

impl Tool for ClockIn {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn call(&mut self, capability: &str, arguments: &Values) -> Result<Output, String> {
        self.calls.push((capability.to_owned(), arguments.clone()));
        match (capability, arguments.get("date")) {
            ("clock_in_today", _) => {
                Ok(Output { message: "Clock in successfully!".into(), ..Output::default() })
            }
            ("query_clock_in", Some(date)) => Ok(Output {
                values: object(json!({ "date": date, "has_clocked_in": true })),
                message: "Has clocked in.".into(),
            }),
            _ => Err("The book is closed.".into()),
        }
    }
}

pub(crate) fn object(value: Value) -> Values {
    match value {
        Value::Object(values) => values,
        other => panic!("{other} is no object"),
    }
}
