//! The pages of Clock.

use crate::app::DrawContext;
use crate::apps::clock::{ClockApp, ClockTab, Editor, LABEL, Watch, left, number};
use crate::theme;
use crate::theme::TextAppearance;
use crate::view::{FieldTraits, Tag, View, class, column, frame, icon, row, spacer, text};
use crate::widgets::{
    empty_state, floating_button, form_field, icon_button, list, page, pill, switch, tabs,
    text_button,
};
use thumbwire_virtual_screen::icons::Icon;

const HUGE: TextAppearance = TextAppearance { size: 52.0, line: 60.0, ..theme::DISPLAY_LARGE };

impl ClockApp {
    pub(super) fn places(&self, env: &DrawContext<'_>) -> View {
        let body = match self.tab {
            ClockTab::Alarm => self.alarms(env),
            ClockTab::Timer => self.timer(env),
            ClockTab::Stopwatch => self.stopwatch(env),
        };
        let title = text(self.tab.label(), theme::HEADLINE).id("action_bar_title");
        // No room in a low window.
        let title =
            if env.size.1 > 420.0 { Some(title.pad_each(20.0, 12.0, 20.0, 8.0)) } else { None };
        let places = [
            (Icon::Alarm, ClockTab::Alarm.label(), "tab_menu_alarm"),
            (Icon::Timer, ClockTab::Timer.label(), "tab_menu_timer"),
            (Icon::Schedule, ClockTab::Stopwatch.label(), "tab_menu_stopwatch"),
        ];
        let foot = tabs(&places, self.tab.label(), env);
        page(title.into_iter().chain([body, foot]), env)
    }

    fn alarms(&self, env: &DrawContext<'_>) -> View {
        let mut alarms = self.alarms.all(env.store);
        alarms.sort_by_key(|(id, [hour, minute, ..])| {
            (hour.parse().unwrap_or(0_u32), minute.parse().unwrap_or(0_u32), *id)
        });
        let body = if alarms.is_empty() {
            empty_state(Icon::Alarm, "No alarms", "Alarms that you add show up here")
        } else {
            let rows = alarms.iter().map(|(id, texts)| alarm(*id, texts));
            list("alarm_recycler_view", rows, env).pad_each(0.0, 0.0, 0.0, 88.0)
        };
        let add = floating_button(Icon::Add, "Add alarm").id("fab").on_tap("new");
        frame([body.fill_parent(), add.absolute([None, None, Some(16.0), Some(16.0)])]).grow()
    }

    fn timer(&self, env: &DrawContext<'_>) -> View {
        if env.store.get("timer/length").is_none() {
            return setup(&self.digits);
        }
        let left = left(env.store, env.now);
        let (length, runs) = (number(env.store, "timer/length"), Watch::TIMER.runs(env.store));
        let (label, symbol) = match (left, runs) {
            (0, _) => ("Stop", Icon::Stop),
            (_, true) => ("Pause", Icon::Pause),
            (_, false) => ("Start", Icon::PlayArrow),
        };
        // The last second starts at 0:01 and ends at 0:00.
        let words =
            text(clock(left.div_ceil(1000)), HUGE.centered().lines(1)).id("timer_time_text");
        let whole = format!("{} timer", clock(length / 1000));
        let whole = text(whole, theme::BODY.quiet().centered()).id("timer_label");
        let up = (left == 0).then(|| text("Time's up", theme::TITLE.colour(theme::RED).centered()));
        let tag = if left == 0 { "delete timer" } else { "toggle timer" };
        let buttons = row([
            text_button("+1:00", theme::PRIMARY, "more").id("reset_add").enabled(left > 0),
            round(symbol, label, tag).id("play_pause"),
            text_button("Delete", theme::PRIMARY, "delete timer").id("timer_delete"),
        ]);
        let parts = [whole, words].into_iter().chain(up.map(|up| up.id("timer_expired")));
        let buttons = buttons.gap(16.0).justify_center().fill_width();
        column(parts.chain([spacer().max_height(32.0), buttons]))
            .gap(8.0)
            .pad_xy(16.0, 16.0)
            .scrolls()
            .id("timer_page")
            .grow()
    }

    fn stopwatch(&self, env: &DrawContext<'_>) -> View {
        let run = Watch::STOPWATCH.run_for(env.store, env.now);
        let runs = Watch::STOPWATCH.runs(env.store);
        let main = text(clock(run / 1000), HUGE.lines(1)).id("stopwatch_time_text");
        let hundredths = format!("{:02}", run / 10 % 100);
        let small = text(hundredths, theme::HEADLINE.lines(1)).id("stopwatch_hundredths_text");
        let face = row([main, small]).gap(8.0).justify_center().fill_width().id("stopwatch_time");
        let (symbol, label) =
            if runs { (Icon::Pause, "Pause") } else { (Icon::PlayArrow, "Start") };
        let buttons = row([
            text_button("Reset", theme::PRIMARY, "reset").id("reset").enabled(run > 0),
            round(symbol, label, "run").id("fab"),
            text_button("Lap", theme::PRIMARY, "lap").id("lap").enabled(runs),
        ]);
        let laps = self.laps.iter().enumerate().rev().map(|(at, lap)| {
            let number = text(format!("# {}", at + 1), theme::BODY_LARGE.quiet()).id("lap_number");
            let time = format!("{}.{:02}", clock(lap / 1000), lap / 10 % 100);
            let time = text(time, theme::BODY_LARGE).id("lap_time");
            row([number, spacer(), time]).pad_xy(40.0, 10.0).fill_width()
        });
        let laps = list("laps_list", laps, env);
        let buttons = buttons.gap(16.0).justify_center().fill_width().pad_xy(0.0, 12.0);
        column([face.pad_each(0.0, 12.0, 0.0, 4.0), buttons, laps]).grow().id("stopwatch_view")
    }
}

/// The page for editing an alarm.
pub(super) fn editor(env: &DrawContext<'_>, editor: &Editor) -> View {
    let title = if editor.id.is_some() { "Edit alarm" } else { "Add alarm" };
    let bar = row([
        icon_button(Icon::Close, "Cancel", "back"),
        text(title, theme::TITLE_LARGE.lines(1)).id("toolbar_title").grow(),
        pill(None, "Save", theme::PRIMARY, theme::ON_PRIMARY, "save").id("save_button"),
    ]);
    let bar = bar.gap(4.0).pad_each(4.0, 4.0, 16.0, 4.0).height(64.0).fill_width().id("toolbar");
    let wheels = row([
        wheel("hour", editor.hour, "hour", 1).id("hours"),
        text(":", HUGE.lines(1)),
        wheel("minute", editor.minute, "minute", 5).id("minutes"),
    ]);
    let label = form_field(LABEL, &editor.label, "Label", FieldTraits::default());
    let mut parts = vec![wheels.gap(12.0).justify_center().fill_width(), label];
    if let Some(id) = editor.id {
        let delete = text_button("Delete alarm", theme::RED, ("delete", id));
        parts.push(delete.id("delete").align_self_center());
    }
    let body = column(parts).gap(20.0).pad_xy(20.0, 16.0).fill_width();
    page([bar, list("alarm_editor", [body], env)], env)
}

/// A number between its plus and minus buttons.
fn wheel(name: &'static str, value: u32, unit: &str, step: i32) -> View {
    let turn = |symbol, words: &str, by: i32| {
        icon_button(symbol, &format!("{words} {unit}"), (name, by)).align_self_center()
    };
    let number = text(format!("{value:02}"), HUGE.centered().lines(1));
    let number = number.id("numberpicker_input").content_description(format!("{value} {unit}"));
    let up = turn(Icon::ExpandLess, "Increase", step);
    column([up, number.width(88.0), turn(Icon::ExpandMore, "Decrease", -step)])
        .class("android.widget.NumberPicker")
}

fn alarm(id: usize, texts: &[String; 4]) -> View {
    let on = texts[3] == "yes";
    let style = if on { theme::DISPLAY_LARGE } else { theme::DISPLAY_LARGE.quiet() };
    let style = TextAppearance { size: 40.0, line: 48.0, ..style };
    let below = if texts[2].is_empty() { "Every day" } else { &texts[2] };
    let words = column([
        text(time_of(texts), style.lines(1)).id("digital_clock"),
        text(below, theme::BODY.quiet().lines(1)).id("alarm_label"),
    ]);
    let words = words.grow().min_height(theme::TOUCH).id("alarm_item").on_tap(("set", id));
    let switch = row([switch(on).id("onoff")])
        .class(class::FRAME)
        .size(60.0, theme::TOUCH)
        .justify_center()
        .content_description(if on { "Alarm on" } else { "Alarm off" })
        .id("onoff_touch")
        .on_tap(("switch", id));
    let fill = if on { theme::PRIMARY_CONTAINER } else { theme::SURFACE_CONTAINER };
    let card = row([words, switch]).gap(12.0).pad_xy(20.0, 16.0).fill(fill).radius(24.0);
    card.margin(16.0, 4.0, 16.0, 8.0)
}

/// The keypad of the timer.
fn setup(digits: &str) -> View {
    let padded = format!("{digits:0>6}");
    let time = format!("{}h {}m {}s", &padded[0..2], &padded[2..4], &padded[4..6]);
    let ink = if digits.is_empty() { theme::OUTLINE } else { theme::ON_SURFACE };
    let style = TextAppearance { size: 36.0, line: 44.0, ..theme::DISPLAY_LARGE };
    let time = text(time, style.colour(ink).centered().lines(1)).id("timer_setup_time");
    let key = |label: &str| {
        let words = text(label, theme::TITLE_LARGE.centered()).hide_from_accessibility();
        key_face(words, ("digit", label)).dump_text(label).id(format!("timer_setup_digit_{label}"))
    };
    let erase = icon(Icon::Backspace, 24.0, theme::ON_SURFACE).hide_from_accessibility();
    let erase = key_face(erase, "erase").content_description("Delete").id("timer_setup_delete");
    let lines = [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]];
    let mut keys: Vec<View> = lines.map(|line| line_of(line.map(key))).into();
    keys.push(line_of([key("00"), key("0"), erase]));
    let start = round(Icon::PlayArrow, "Start", "start timer").align_self_center().id("fab");
    let start = if digits.is_empty() { None } else { Some(start) };
    column([time].into_iter().chain(keys).chain(start))
        .gap(8.0)
        .pad_xy(24.0, 8.0)
        .scrolls()
        .id("timer_setup")
        .grow()
}

fn line_of(keys: [View; 3]) -> View {
    row(keys).gap(10.0).justify_center().fill_width()
}

fn key_face(inside: View, tag: impl Into<Tag>) -> View {
    row([inside])
        .class(class::BUTTON)
        .size(88.0, 56.0)
        .justify_center()
        .fill(theme::SURFACE_CONTAINER)
        .radius(28.0)
        .on_tap(tag)
}

/// The round button in the middle.
fn round(symbol: Icon, label: &str, tag: impl Into<Tag>) -> View {
    row([icon(symbol, 32.0, theme::ON_PRIMARY).hide_from_accessibility()])
        .class(class::IMAGE_BUTTON)
        .size(80.0, 64.0)
        .justify_center()
        .fill(theme::PRIMARY)
        .radius(32.0)
        .content_description(label)
        .on_tap(tag)
}

/// `h:mm:ss`, without zero hours.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes:02}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// An alarm's time of day.
pub(super) fn time_of([hour, minute, ..]: &[String; 4]) -> String {
    format!("{hour}:{minute:0>2}")
}

/// The seconds of the tapped digits, `hhmmss`.
pub(super) fn seconds_of(digits: &str) -> u64 {
    let number = digits.parse::<u64>().unwrap_or(0);
    number / 10_000 * 3600 + number / 100 % 100 * 60 + number % 100
}
