//! Attendance (`org.example.attendance`), an APK: clocking in at work by hand (month, day, button,
//! confirmation) or through its service, which speaks the dialect of the published sample apps.
//!
//! That dialect (facts of the samples, not of the specification): the extra `request` holds `{"id",
//! "capability": {"id", "input": {…}}}` without an envelope, the callback is in `mcp_callback`; the
//! reply's extras are `mcp_request_id` and `response`, whose `output` is an object. An invalid
//! request gets no reply.
//!
//! Preferences: `day/YYYY-MM-DD` (the time of clocking in on that day, `10:05`).

use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::clock::{SWITCHED_ON, date_time};
use crate::services::{ServiceOutcome, ServiceStart};
use crate::theme;
use crate::view::{Tag, View, column, text};
use crate::widgets::{
    dialog, divider, list, list_row, message, page, text_button, toolbar, wide_button,
};
use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_virtual_screen::icons::Icon;

/// The package.
pub(super) const PACKAGE: &str = "org.example.attendance";
/// The service that replies.
pub(super) const SERVICE: &str = "org.example.attendance.ToolService";

/// How many months the list goes back.
const MONTHS: i32 = 6;

/// The input of a capability, if any.
type Input<'a> = Option<&'a Map<String, Value>>;

/// The state of Attendance: the open page.
#[derive(Debug, Default)]
pub(crate) struct Attendance {
    /// A day of the open month.
    month: Option<Date>,
    day: Option<Date>,
    asking: bool,
}

impl Attendance {
    /// The app just started.
    pub(super) fn new(_seed: u64) -> Self {
        Self::default()
    }
}

impl App for Attendance {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let today = date_at(env.now);
        match (self.day, self.month) {
            (Some(day), _) => day_page(env, day, today).dialog(self.asking.then(|| question(day))),
            (None, Some(month)) => month_page(env, month, today),
            (None, None) => months_page(env, today),
        }
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Back => self.back(context),
            _ => {}
        }
    }

    fn on_start_command(
        &mut self,
        start: &ServiceStart<'_>,
        context: &mut AppContext<'_>,
    ) -> ServiceOutcome {
        if start.class != SERVICE {
            return ServiceOutcome::no_answer();
        }
        let request = start.extra("request").and_then(|text| serde_json::from_str(text).ok());
        let Some((id, capability, input)) = request.as_ref().and_then(asked) else {
            return ServiceOutcome::no_answer();
        };
        let done = perform(capability, input, context);
        let (status, words, output) = match done {
            Ok((words, output)) => ("success", words, output),
            Err(words) => ("failure", words, json!({})),
        };
        // An earlier version of the published sample ran the request before it looked for a
        // callback.
        if !start.calls_back(&["mcp_callback"]) {
            return ServiceOutcome::no_answer();
        }
        let response = json!({
            "id": id,
            "status": status,
            "message": words,
            "capability": { "id": capability, "output": output },
        });
        ServiceOutcome::answer(vec![
            ("mcp_request_id".to_owned(), id.to_owned()),
            ("response".to_owned(), response.to_string()),
        ])
    }
}

impl Attendance {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "month" => {
                self.month = read_date(&tag.value);
                context.scroll_to_top("days");
            }
            "day" => self.day = read_date(&tag.value),
            "ask" => self.asking = true,
            "no" => self.asking = false,
            "yes" => {
                self.asking = false;
                if let Some(day) = self.day {
                    clock_in(day, context);
                    context.toast(format!("Clocked in for {}", day));
                }
            }
            "back" => self.back(context),
            _ => {}
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        if std::mem::take(&mut self.asking)
            || self.day.take().is_some()
            || self.month.take().is_some()
        {
            return;
        }
        context.finish();
    }
}

/// A request's parts: its id, the capability and its input.
fn asked(request: &Value) -> Option<(&str, &str, Input<'_>)> {
    let capability = request.get("capability")?;
    let id = request.get("id")?.as_str()?;
    let input = capability.get("input").and_then(Value::as_object);
    Some((id, capability.get("id")?.as_str()?, input))
}

/// Runs a capability; returns a message and its output, or the error.
fn perform(
    capability: &str,
    input: Input<'_>,
    context: &mut AppContext<'_>,
) -> Result<(String, Value), String> {
    let date = || {
        let given = input.and_then(|input| input.get("date")).ok_or("Missing args.")?;
        let text = given.as_str().unwrap_or_default();
        read_date(text).ok_or_else(|| format!("Not a date: {text:.40}"))
    };
    match capability {
        "clock_in_today" => {
            clock_in(date_at(context.now), context);
            Ok(("Clock in successfully!".to_owned(), json!({})))
        }
        "query_clock_in" => {
            let date = date()?;
            let is = context.store.get(&key(date)).is_some();
            let words = if is { "Has clocked in." } else { "Hasn't clocked in." };
            Ok((words.to_owned(), json!({ "date": date.to_string(), "has_clocked_in": is })))
        }
        "make_up_clock_in" => {
            let date = date()?;
            if date > date_at(context.now) {
                return Err(format!("{} is yet to come.", date));
            }
            clock_in(date, context);
            let words = format!("Make up clock-in successful for {}", date);
            Ok((words, json!({ "date": date.to_string(), "success": true })))
        }
        other => Err(format!("Unknown capability ID: {other:.80}")),
    }
}

/// Stores the time of clocking in; the first time counts.
fn clock_in(day: Date, context: &mut AppContext<'_>) {
    let seconds = SWITCHED_ON + context.now.as_secs();
    if context.store.get(&key(day)).is_none() {
        let time = format!("{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60);
        context.store.set(&key(day), time);
    }
}

fn months_page(env: &DrawContext<'_>, today: Date) -> View {
    let heading = text("Attendance", theme::HEADLINE).pad_each(20.0, 16.0, 20.0, 12.0);
    let months = (0..MONTHS).map(|back| {
        let month = today.saturating_sub(back.months());
        let done = days_in(month).filter(|day| is_in(env.store, *day)).count();
        let below = if done == 1 { "1 day".to_owned() } else { format!("{done} days") };
        list_row(Icon::CalendarToday, &name_of(month), &below)
            .id("month")
            .on_tap(("month", month.to_string()))
    });
    page([heading.id("title"), list("months", months, env)], env)
}

fn month_page(env: &DrawContext<'_>, month: Date, today: Date) -> View {
    let days = days_in(month).filter(|day| *day <= today).flat_map(|day| {
        let below = match env.store.get(&key(day)) {
            Some(time) => format!("Clocked in at {time}"),
            None => "Not clocked in".to_owned(),
        };
        let symbol = if is_in(env.store, day) { Icon::CheckCircle } else { Icon::Schedule };
        let row = list_row(symbol, &day_label(day), &below).id("day");
        [row.on_tap(("day", day.to_string())), divider()]
    });
    page([toolbar(&name_of(month), []), list("days", days, env)], env)
}

fn day_page(env: &DrawContext<'_>, day: Date, today: Date) -> View {
    let time = env.store.get(&key(day));
    let words = match time {
        Some(time) => format!("Clocked in at {time}"),
        None => "Not clocked in".to_owned(),
    };
    let label = if day == today { "Clock in" } else { "Make up clock-in" };
    let body = column([
        text(words, theme::TITLE.centered()).id("status"),
        wide_button(label, time.is_none(), "ask").id("clock_in_button"),
    ]);
    let body = body.gap(24.0).pad_xy(24.0, 32.0).fill_width();
    page([toolbar(&day_label(day), []), list("day_page", [body], env)], env)
}

fn question(day: Date) -> View {
    let buttons = [
        text_button("Cancel", theme::PRIMARY, "no").id("android:id/button2"),
        text_button("Confirm", theme::PRIMARY, "yes").id("android:id/button1"),
    ];
    dialog("Clock in?", message(&format!("For {}", day)), buttons)
}

fn is_in(store: &Preferences, day: Date) -> bool {
    store.get(&key(day)).is_some()
}

fn name_of(month: Date) -> String {
    month.strftime("%B %Y").to_string()
}

/// The days of a month, in order.
fn days_in(month: Date) -> impl Iterator<Item = Date> {
    month.first_of_month().series(1.day()).take(month.days_in_month().unsigned_abs().into())
}

/// The phone's date at that time (UTC).
fn date_at(now: Duration) -> Date {
    date_time(now).date()
}

/// Parses `2024-03-05`; `None` if it is not a date.
fn read_date(text: &str) -> Option<Date> {
    text.parse().ok().filter(|_| text.len() == "2024-03-05".len())
}

fn day_label(day: Date) -> String {
    day.strftime("%-d %B").to_string()
}

/// The preference that holds a day.
fn key(day: Date) -> String {
    format!("day/{day}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_parse_and_days_count() {
        assert_eq!(date_at(Duration::ZERO).to_string(), "2024-03-05");
        assert_eq!(date_at(Duration::from_secs(27 * 86_400)).to_string(), "2024-04-01");
        for no in ["2024-02-30", "2024-13-01", "24-03-05", "2024-3-5", "+024-03-05", "", "tomorrow"]
        {
            assert_eq!(read_date(no), None, "{no}");
        }
        assert_eq!(
            read_date("2024-02-29").map(|day| day.to_string()).as_deref(),
            Some("2024-02-29")
        );
    }
}
