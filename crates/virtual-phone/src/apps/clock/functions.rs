//! The app functions of Clock: setting an alarm, and listing alarms.

use serde_json::{Value, json};

use crate::app::AppContext;
use crate::apps::clock::ClockApp;
use crate::functions::{AppFunction, FunctionArgs, ObjectType, Parameter, ValueType};

const CREATE: &str = "com.android.deskclock.ClockFunctions#createAlarm";
const LIST: &str = "com.android.deskclock.ClockFunctions#listAlarms";

static ALARM: ObjectType = ObjectType {
    name: "com.android.deskclock.Alarm",
    members: &[
        ("id", ValueType::Int),
        ("hour", ValueType::Int),
        ("minute", ValueType::Int),
        ("label", ValueType::Text),
        ("enabled", ValueType::Boolean),
    ],
};

pub(super) static FUNCTIONS: [AppFunction; 2] = [
    AppFunction {
        id: CREATE,
        description: "Sets an alarm for the next time that the clock shows so.",
        parameters: &[
            Parameter {
                name: "hour",
                description: "The hour, 0 to 23.",
                kind: ValueType::Int,
                required: true,
            },
            Parameter {
                name: "minute",
                description: "The minute, 0 to 59.",
                kind: ValueType::Int,
                required: true,
            },
            Parameter {
                name: "label",
                description: "What the alarm is for.",
                kind: ValueType::Text,
                required: false,
            },
        ],
        returns: ValueType::Object(&ALARM),
    },
    AppFunction {
        id: LIST,
        description: "Tells which alarms are set, and which of them are on.",
        parameters: &[],
        returns: ValueType::List(&ALARM),
    },
];

impl ClockApp {
    pub(super) fn do_function(
        &mut self,
        id: &str,
        args: &FunctionArgs,
        context: &mut AppContext<'_>,
    ) -> Result<Value, String> {
        if id == CREATE {
            let within = |name: &str, end: i64| {
                args.number(name)
                    .filter(|it| (0..end).contains(it))
                    .ok_or_else(|| format!("Parameter {name} must lie between 0 and {}", end - 1))
            };
            let (hour, minute) = (within("hour", 24)?, within("minute", 60)?);
            let label = args.text("label").unwrap_or_default().trim().to_owned();
            let texts = [hour.to_string(), minute.to_string(), label, "yes".to_owned()];
            let put = self.alarms.put(context.store, None, &texts);
            return Ok(shown(put.ok_or("There is no room for more alarms")?, &texts));
        }
        let all = self.alarms.all(context.store);
        Ok(all.into_iter().map(|(id, texts)| shown(id, &texts)).collect())
    }
}

fn shown(id: usize, [hour, minute, label, on]: &[String; 4]) -> Value {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    json!({
        "id": id, "hour": number(hour), "minute": number(minute), "label": label, "enabled": on == "yes",
    })
}
