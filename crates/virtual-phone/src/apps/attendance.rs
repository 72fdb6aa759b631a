//! Attendance (`org.example.attendance`), an APK: clocking in at work by hand (month, day, button, confirmation) or
//! through its service, which speaks the dialect of the published sample apps.
//!
//! That dialect (facts of the samples, not of the specification): the extra `request` holds `{"id", "capability":
//! {"id", "input": {…}}}` without an envelope, the callback is in `mcp_callback`; the reply's extras are
//! `mcp_request_id` and `response`, whose `output` is an object. An invalid request gets no reply.
//!
//! Preferences: `day/YYYY-MM-DD` (the time of clocking in on that day, `10:05`).

use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::dates::{Day, month_name};
use crate::clock::SWITCHED_ON;
use crate::graphics::icons::Icon;
use crate::graphics::theme;
use crate::services::{ServiceOutcome, ServiceStart};
use crate::view::{Tag, View, column, text};
use crate::widgets::{
    dialog, divider, list, list_row, message, page, text_button, toolbar, wide_button,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The package.
pub(super) const PACKAGE: &str = "org.example.attendance";
/// The service that replies.
pub(super) const SERVICE: &str = "org.example.attendance.ToolService";

/// How many months the list goes back.
const MONTHS: u32 = 6;

/// The input of a capability, if any.
type Input<'a> = Option<&'a Map<String, Value>>;

/// The state of Attendance: the open page.
#[derive(Debug, Default)]
pub(crate) struct Attendance {
    month: Option<(u32, u32)>,
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
        let today = Date::at(env.now);
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
        // An earlier version of the published sample ran the request before it looked for a callback.
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
                self.month = tag
                    .value
                    .split_once('-')
                    .and_then(|(year, month)| Some((year.parse().ok()?, month.parse().ok()?)));
                context.scroll_to_top("days");
            }
            "day" => self.day = Date::read(&tag.value),
            "ask" => self.asking = true,
            "no" => self.asking = false,
            "yes" => {
                self.asking = false;
                if let Some(day) = self.day {
                    clock_in(day, context);
                    context.toast(format!("Clocked in for {}", day.written()));
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
        Date::read(text).ok_or_else(|| format!("Not a date: {text:.40}"))
    };
    match capability {
        "clock_in_today" => {
            clock_in(Date::at(context.now), context);
            Ok(("Clock in successfully!".to_owned(), json!({})))
        }
        "query_clock_in" => {
            let date = date()?;
            let is = context.store.get(&date.key()).is_some();
            let words = if is { "Has clocked in." } else { "Hasn't clocked in." };
            Ok((words.to_owned(), json!({ "date": date.written(), "has_clocked_in": is })))
        }
        "make_up_clock_in" => {
            let date = date()?;
            if date > Date::at(context.now) {
                return Err(format!("{} is yet to come.", date.written()));
            }
            clock_in(date, context);
            let words = format!("Make up clock-in successful for {}", date.written());
            Ok((words, json!({ "date": date.written(), "success": true })))
        }
        other => Err(format!("Unknown capability ID: {other:.80}")),
    }
}

/// Stores the time of clocking in; the first time counts.
fn clock_in(day: Date, context: &mut AppContext<'_>) {
    let seconds = SWITCHED_ON + context.now.as_secs();
    if context.store.get(&day.key()).is_none() {
        let time = format!("{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60);
        context.store.set(&day.key(), time);
    }
}

fn months_page(env: &DrawContext<'_>, today: Date) -> View {
    let heading = text("Attendance", theme::HEADLINE).pad_each(20.0, 16.0, 20.0, 12.0);
    let months = (0..MONTHS).map(|back| {
        let count = today.year * 12 + today.month - 1 - back;
        let (year, month) = (count / 12, count % 12 + 1);
        let done = days_in(year, month).filter(|day| is_in(env.store, *day)).count();
        let below = if done == 1 { "1 day".to_owned() } else { format!("{done} days") };
        list_row(Icon::CalendarToday, &name_of(year, month), &below)
            .id("month")
            .on_tap(("month", format!("{year}-{month}")))
    });
    page([heading.id("title"), list("months", months, env)], env)
}

fn month_page(env: &DrawContext<'_>, (year, month): (u32, u32), today: Date) -> View {
    let days = days_in(year, month).filter(|day| *day <= today).flat_map(|day| {
        let below = match env.store.get(&day.key()) {
            Some(time) => format!("Clocked in at {time}"),
            None => "Not clocked in".to_owned(),
        };
        let symbol = if is_in(env.store, day) { Icon::CheckCircle } else { Icon::Schedule };
        let row = list_row(symbol, &day.label(), &below).id("day");
        [row.on_tap(("day", day.written())), divider()]
    });
    page([toolbar(&name_of(year, month), []), list("days", days, env)], env)
}

fn day_page(env: &DrawContext<'_>, day: Date, today: Date) -> View {
    let time = env.store.get(&day.key());
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
    page([toolbar(&day.label(), []), list("day_page", [body], env)], env)
}

fn question(day: Date) -> View {
    let buttons = [
        text_button("Cancel", theme::PRIMARY, "no").id("android:id/button2"),
        text_button("Confirm", theme::PRIMARY, "yes").id("android:id/button1"),
    ];
    dialog("Clock in?", message(&format!("For {}", day.written())), buttons)
}

fn is_in(store: &Preferences, day: Date) -> bool {
    store.get(&day.key()).is_some()
}

fn name_of(year: u32, month: u32) -> String {
    format!("{} {year}", month_name(month.into()))
}

/// The days of a month, in order.
fn days_in(year: u32, month: u32) -> impl Iterator<Item = Date> {
    (1..=31).map(move |day| Date { year, month, day }).filter(|date| date.is_one())
}

/// A calendar day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Date {
    /// The phone's date at that time (UTC).
    fn at(now: Duration) -> Self {
        let (year, month, day) = Day::at(now).civil();
        let [year, month, day] = [year, month, day].map(|it| u32::try_from(it).unwrap_or(1));
        Self { year, month, day }
    }

    /// Parses `2024-03-05`; `None` if it is not a date.
    fn read(text: &str) -> Option<Self> {
        let mut parts =
            text.split('-').map(|part| match part.bytes().all(|b| b.is_ascii_digit()) {
                true => part.parse().ok(),
                false => None,
            });
        let mut next = || parts.next().flatten();
        let date = Self { year: next()?, month: next()?, day: next()? };
        (parts.next().is_none() && text.len() == 10 && date.is_one()).then_some(date)
    }

    fn is_one(self) -> bool {
        let leap = self.year.is_multiple_of(4)
            && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        (1..=days).contains(&self.day)
    }

    fn written(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    fn label(self) -> String {
        format!("{} {}", self.day, month_name(self.month.into()))
    }

    fn key(self) -> String {
        format!("day/{}", self.written())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_parse_and_days_count() {
        assert_eq!(Date::at(Duration::ZERO).written(), "2024-03-05");
        assert_eq!(Date::at(Duration::from_secs(27 * 86_400)).written(), "2024-04-01");
        for no in ["2024-02-30", "2024-13-01", "24-03-05", "2024-3-5", "+024-03-05", "", "tomorrow"]
        {
            assert_eq!(Date::read(no), None, "{no}");
        }
        assert_eq!(Date::read("2024-02-29").map(Date::written).as_deref(), Some("2024-02-29"));
    }
}
