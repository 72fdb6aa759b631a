//! The pages of Calendar.

use crate::app::DrawContext;
use crate::apps::calendar::{Calendar, Entry, Form, PLACE, TITLE};
use crate::apps::dates::{Day, WEEKDAYS};
use crate::theme;
use crate::theme::TextAppearance;
use crate::view::{FieldTraits, ImeAction, View, class, column, frame, icon, row, text};
use crate::widgets::{
    dialog, empty_state, floating_button, form_field, icon_button, list, list_row, message, page,
    pill, switch, text_button, toolbar,
};
use thumbwire_virtual_screen::icons::Icon;

impl Calendar {
    pub(super) fn month(&self, env: &DrawContext<'_>) -> View {
        let today = Day::at(env.now);
        let chosen = self.chosen.unwrap_or(today);
        let title = chosen.formatted("%B %Y");
        let bar = row([
            text(title, theme::TITLE_LARGE.lines(1)).id("date_picker_button").grow(),
            icon_button(Icon::CalendarToday, "Jump to today", "today").id("today_button"),
            icon_button(Icon::ChevronLeft, "Previous month", ("month", -1)).id("previous_month"),
            icon_button(Icon::ChevronRight, "Next month", ("month", 1)).id("next_month"),
        ]);
        let bar = bar.pad_each(20.0, 4.0, 4.0, 4.0).height(60.0).fill_width().id("toolbar");
        let grid = self.grid(env, today, chosen);
        let agenda = self.agenda(env, chosen);
        let body = if env.wide() {
            row([grid.grow(), agenda.grow()]).align_stretch().gap(8.0).grow()
        } else {
            column([grid, agenda.grow()]).grow()
        };
        let add = floating_button(Icon::Add, "Create new event").id("floating_action_button");
        let add = add.on_tap("new").absolute([None, None, Some(16.0), Some(env.insets.1 + 16.0)]);
        frame([page([bar, body], env).fill_parent(), add]).edge_to_edge()
    }

    /// The days of a month, one row per week.
    fn grid(&self, env: &DrawContext<'_>, today: Day, chosen: Day) -> View {
        let (first, length) = chosen.month();
        let last = Day(first.0 + length - 1);
        let entries = self.between(env.store, first, last);
        let heads = WEEKDAYS.iter().map(|name| {
            text(&name[..1], theme::LABEL.quiet().centered()).content_description(*name).grow()
        });
        let mut rows = vec![row(heads).fill_width().height(24.0)];
        let begin = first.0 - i64::try_from(first.weekday()).unwrap_or(0);
        let weeks = (last.0 - begin) / 7 + 1;
        for week in 0..weeks {
            let days = (0..7).map(|at| {
                let day = Day(begin + week * 7 + at);
                if !(first..=last).contains(&day) {
                    return View::new(class::VIEW, [])
                        .height(theme::TOUCH)
                        .grow()
                        .hide_from_accessibility();
                }
                let count = entries.iter().filter(|entry| entry.day == day).count();
                cell(day, count, day == today, day == chosen)
            });
            rows.push(row(days).fill_width());
        }
        column(rows)
            .class(class::GRID)
            .pad_xy(8.0, 0.0)
            .scrolls()
            .class(class::GRID)
            .shrinks()
            .id("month_grid")
            .on_swipe_left(("month", 1))
            .on_swipe_right(("month", -1))
    }

    fn agenda(&self, env: &DrawContext<'_>, day: Day) -> View {
        let head = text(day.label(), theme::LABEL_LARGE.colour(theme::PRIMARY).lines(1));
        let head = head.pad_each(20.0, 12.0, 20.0, 4.0).id("agenda_day");
        let entries = self.between(env.store, day, day);
        let rows = entries.iter().map(chip_of);
        let mut parts = vec![head];
        if entries.is_empty() {
            let words = text("Nothing planned", theme::BODY.quiet()).pad_xy(20.0, 8.0);
            parts.push(words.id("agenda_empty"));
        }
        list("agenda_list", parts.into_iter().chain(rows), env).pad_each(
            0.0,
            0.0,
            0.0,
            env.insets.1 + 88.0,
        )
    }

    pub(super) fn event(&self, env: &DrawContext<'_>, id: usize) -> View {
        let Some(entry) = self.entry(env.store, id) else {
            let gone = empty_state(Icon::Event, "No such event", "It may have been deleted");
            return page([toolbar("Event", []), gone], env);
        };
        let buttons = [
            icon_button(Icon::Edit, "Edit event", ("edit", id)).id("info_action_edit"),
            icon_button(Icon::Delete, "Delete event", "delete").id("info_action_delete"),
        ];
        let title = text(&entry.title, theme::HEADLINE).id("title").pad_xy(20.0, 8.0);
        let when = match entry.time {
            Some(time) => format!("{} to {}", time_of(time), time_of((time + 60) % (24 * 60))),
            None => "All day".to_owned(),
        };
        let mut parts = vec![title, list_row(Icon::Schedule, &entry.day.label(), &when)];
        if !entry.place.is_empty() {
            parts.push(list_row(Icon::Place, &entry.place, ""));
        }
        page([toolbar("", buttons), list("event_page", parts, env)], env)
    }
}

pub(super) fn form(env: &DrawContext<'_>, form: &Form) -> View {
    let title = if form.id.is_some() { "Edit event" } else { "New event" };
    let bar = row([
        icon_button(Icon::Close, "Cancel", "back"),
        text(title, theme::TITLE_LARGE.lines(1)).id("toolbar_title").grow(),
        pill(None, "Save", theme::PRIMARY, theme::ON_PRIMARY, "save").id("save"),
    ]);
    let bar = bar.gap(4.0).pad_each(4.0, 4.0, 16.0, 4.0).height(64.0).fill_width().id("toolbar");
    let next = FieldTraits { action: ImeAction::Next, ..FieldTraits::default() };
    let all_day = row([text("All day", theme::BODY_LARGE).grow(), switch(form.time.is_none())]);
    let all_day = all_day.min_height(56.0).fill_width().id("all_day_row").on_tap("all day");
    let mut parts = vec![
        form_field(TITLE, &form.title, "Add title", next),
        all_day,
        steps("day", &form.day.label(), "form day", 1),
    ];
    if let Some(time) = form.time {
        parts.push(steps("time", &time_of(time), "time", 15));
    }
    parts.push(form_field(PLACE, &form.place, "Add location", FieldTraits::default()));
    let body = column(parts).gap(12.0).pad_xy(20.0, 8.0).fill_width();
    page([bar, list("event_form", [body], env)], env)
}

pub(super) fn question() -> View {
    let buttons = [
        text_button("Cancel", theme::PRIMARY, "no").id("android:id/button2"),
        text_button("Delete", theme::PRIMARY, "yes").id("android:id/button1"),
    ];
    dialog("Delete this event?", message("It cannot be brought back"), buttons)
}

/// `9:05`.
pub(super) fn time_of(minutes: u32) -> String {
    format!("{}:{:02}", minutes / 60, minutes % 60)
}

/// A value of the form, between its minus and plus buttons.
fn steps(what: &'static str, says: &str, tag: &'static str, by: i64) -> View {
    row([
        text(says, theme::BODY_LARGE.lines(1)).id(format!("start_{what}")).grow(),
        icon_button(Icon::ChevronLeft, &format!("Earlier {what}"), (tag, -by)),
        icon_button(Icon::ChevronRight, &format!("Later {what}"), (tag, by)),
    ])
    .fill_width()
}

fn cell(day: Day, count: usize, today: bool, chosen: bool) -> View {
    let number = day.formatted("%-d");
    let ink = match (today, chosen) {
        (_, true) => theme::ON_PRIMARY,
        (true, false) => theme::PRIMARY,
        _ => theme::ON_SURFACE,
    };
    let style = TextAppearance { medium: today || chosen, ..theme::BODY };
    let number_text =
        text(&number, style.colour(ink).centered().lines(1)).hide_from_accessibility();
    let mut disc = column([number_text]).size(32.0, 32.0).justify_center().radius(16.0);
    if chosen {
        disc = disc.fill(theme::PRIMARY);
    }
    let mut dot = View::new(class::VIEW, [])
        .size(5.0, 5.0)
        .radius(2.5)
        .align_self_center()
        .hide_from_accessibility();
    if count > 0 {
        dot = dot.fill(theme::PRIMARY);
    }
    let plans = match count {
        0 => String::new(),
        1 => ", 1 event".to_owned(),
        many => format!(", {many} events"),
    };
    column([disc.align_self_center().hide_from_accessibility(), dot])
        .class(class::VIEW)
        .height(theme::TOUCH)
        .justify_center()
        .gap(2.0)
        .grow()
        .dump_text(number)
        .content_description(day.formatted("%-d %B") + &plans)
        .selected(chosen)
        .id("day_cell")
        .on_tap(("day", day.0))
}

fn chip_of(entry: &Entry) -> View {
    let when = entry.time.map_or("All day".to_owned(), time_of);
    let below = if entry.place.is_empty() { when } else { format!("{when}, {}", entry.place) };
    let words = column([
        text(&entry.title, theme::TITLE.colour(theme::ON_SECONDARY_CONTAINER).lines(1))
            .id("event_title"),
        text(below, theme::BODY.colour(theme::ON_SECONDARY_CONTAINER).lines(1)).id("event_time"),
    ]);
    let sign = icon(Icon::Event, 20.0, theme::ON_SECONDARY_CONTAINER).hide_from_accessibility();
    row([sign, words.grow()])
        .class(class::GROUP)
        .gap(14.0)
        .pad_xy(16.0, 8.0)
        .min_height(60.0)
        .fill(theme::SECONDARY_CONTAINER)
        .radius(14.0)
        .margin(16.0, 4.0, 16.0, 4.0)
        .id("event_chip")
        .on_tap(("event", entry.id))
}
