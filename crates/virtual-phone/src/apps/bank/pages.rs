//! The pages of Bank.

use crate::app::DrawContext;
use crate::apps::bank::{
    ACCOUNTS, AMOUNT, Bank, Booking, Login, NUMBER, SECRET, TO, Transfer, cents_of,
};
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, View, class, column, icon, row, text};
use crate::widgets::{
    badge, dialog, form_field, icon_button, list, message, page, text_button, toolbar, wide_button,
};
use thumbwire_virtual_screen::icons::Icon;

const NAVY: Colour = Colour::hex(0x004A77);

/// The login page.
pub(super) fn login(env: &DrawContext<'_>, login: &Login) -> View {
    let next = FieldTraits { action: ImeAction::Next, ..FieldTraits::default() };
    let secret = FieldTraits { password: true, ..FieldTraits::default() };
    let sign = badge(Icon::AccountBalance, 72.0, NAVY, theme::WHITE)
        .hide_from_accessibility()
        .align_self_center();
    let mut parts = vec![
        sign,
        text("Welcome", theme::HEADLINE.centered()).id("login_title"),
        form_field(NUMBER, &login.number, "Customer number", next),
        form_field(SECRET, &login.password, "Password", secret),
    ];
    parts.extend(login.wrong.map(error_line));
    parts.push(wide_button("Log in", true, "log in").id("login_button"));
    let forgot = text_button("Forgot your password?", theme::PRIMARY, "forgot");
    parts.push(forgot.id("login_forgot").align_self_center());
    let body = column(parts).gap(14.0).pad_xy(24.0, 32.0).fill_width();
    page([list("login_form", [body], env)], env)
}

impl Bank {
    pub(super) fn accounts(&self, env: &DrawContext<'_>) -> View {
        let bar = row([
            text("Accounts", theme::TITLE_LARGE.lines(1)).id("toolbar_title").grow(),
            icon_button(Icon::Lock, "Log out", "log out").id("logout_button"),
        ]);
        let bar = bar.pad_each(20.0, 8.0, 4.0, 8.0).fill_width().id("toolbar");
        let all = (0..ACCOUNTS.len()).map(|at| self.balance(env.store, at));
        let sum = money(all.fold(0, i64::saturating_add));
        let white = |style: theme::TextAppearance| style.colour(theme::WHITE);
        let head = column([
            text("Everything together", white(theme::BODY)).id("total_label"),
            text(sum, white(theme::HEADLINE)).id("total_balance"),
        ]);
        let head = head.gap(4.0).pad(20.0).fill(NAVY).radius(24.0).margin(16.0, 4.0, 16.0, 12.0);
        let rows = ACCOUNTS.iter().enumerate().map(|(at, (name, number))| {
            let words = column([
                text(*name, theme::BODY_LARGE.lines(1)).id("account_name"),
                text(*number, theme::BODY.quiet().lines(1)).id("account_number"),
            ]);
            let balance = money(self.balance(env.store, at));
            let balance = text(balance, theme::TITLE.lines(1)).id("account_balance");
            row([words.grow(), balance])
                .class(class::GROUP)
                .gap(12.0)
                .pad_xy(20.0, 10.0)
                .min_height(72.0)
                .fill_width()
                .id("account_item")
                .on_tap(("account", at))
        });
        let send = wide_button("New transfer", true, ("transfer", 0)).id("transfer_button");
        let send = column([send]).pad_xy(20.0, 16.0);
        let parts = [head].into_iter().chain(rows).chain([send]);
        page([bar, list("account_list", parts, env)], env)
    }

    pub(super) fn account(&self, env: &DrawContext<'_>, account: usize) -> View {
        let (name, number) = ACCOUNTS.get(account).copied().unwrap_or(ACCOUNTS[0]);
        let balance = money(self.balance(env.store, account));
        let head = column([
            text(number, theme::BODY.quiet()).id("account_number"),
            text(balance, theme::HEADLINE).id("account_balance"),
        ]);
        let bookings = self.of(env.store, account);
        let rows = bookings.iter().rev().map(booking_row);
        let rows = [head.gap(4.0).pad_xy(20.0, 8.0)].into_iter().chain(rows);
        let send = icon_button(Icon::SwapHoriz, "New transfer", ("transfer", account));
        let bar = toolbar(name, [send.id("transfer_button")]);
        page([bar, list("transaction_list", rows, env)], env)
    }

    /// The confirmation of the transfer.
    pub(super) fn question(&self) -> View {
        let Transfer { to, amount, .. } = &self.transfer;
        let cents = cents_of(amount).unwrap_or(0);
        let text = format!("{} will be sent to {}.", money(cents), to.trim());
        let buttons = [
            text_button("Cancel", theme::PRIMARY, "no").id("android:id/button2"),
            text_button("Send", theme::PRIMARY, "yes").id("android:id/button1"),
        ];
        dialog("Send money?", message(&text), buttons)
    }

    pub(super) fn done(&self, env: &DrawContext<'_>) -> View {
        let Transfer { to, amount, from, .. } = &self.transfer;
        let words =
            format!("{} is on its way to {}.", money(cents_of(amount).unwrap_or(0)), to.trim());
        let left = money(self.balance(env.store, *from));
        let left = format!("{}: {left}", ACCOUNTS[(*from).min(ACCOUNTS.len() - 1)].0);
        let body = column([
            icon(Icon::CheckCircle, 72.0, theme::GREEN)
                .hide_from_accessibility()
                .align_self_center(),
            text("Money sent", theme::HEADLINE.centered()).id("success_title"),
            text(words, theme::BODY_LARGE.quiet().centered()).id("success_text"),
            text(left, theme::BODY_LARGE.centered()).id("success_balance"),
            wide_button("Back to accounts", true, "accounts").id("done_button"),
        ]);
        page([list("success", [body.gap(16.0).pad_xy(24.0, 40.0).fill_width()], env)], env)
    }
}

/// The transfer form.
pub(super) fn transfer(env: &DrawContext<'_>, transfer: &Transfer) -> View {
    let next = FieldTraits { action: ImeAction::Next, ..FieldTraits::default() };
    let mut parts = vec![text("From", theme::LABEL_LARGE.colour(theme::PRIMARY))];
    parts.extend(ACCOUNTS.iter().enumerate().map(|(at, (name, _))| {
        let on = transfer.from == at;
        let (symbol, ink) = if on {
            (Icon::RadioButtonChecked, theme::PRIMARY)
        } else {
            (Icon::RadioButtonUnchecked, theme::ON_SURFACE_VARIANT)
        };
        let words = text(*name, theme::BODY_LARGE.lines(1)).grow().hide_from_accessibility();
        row([icon(symbol, 24.0, ink).hide_from_accessibility(), words])
            .class(class::RADIO)
            .gap(16.0)
            .height(theme::TOUCH)
            .fill_width()
            .dump_text(*name)
            .checked(on)
            .id("from_account")
            .on_tap(("from", at))
    }));
    parts.push(form_field(TO, &transfer.to, "Recipient or IBAN", next));
    parts.push(form_field(AMOUNT, &transfer.amount, "Amount in $", next));
    let done = FieldTraits::default();
    parts.push(form_field("transfer_reference", &transfer.text, "Reference", done));
    parts.extend(transfer.wrong.map(error_line));
    parts.push(wide_button("Review", true, "review").id("review_button"));
    let body = column(parts).gap(10.0).pad_xy(20.0, 4.0).fill_width();
    page([toolbar("New transfer", []), list("transfer_form", [body], env)], env)
}

fn booking_row(booking: &Booking) -> View {
    let mut lines = vec![text(&booking.who, theme::BODY_LARGE.lines(1)).id("transaction_name")];
    if !booking.text.is_empty() {
        lines.push(text(&booking.text, theme::BODY.quiet().lines(1)).id("transaction_text"));
    }
    let style = if booking.cents < 0 { theme::ON_SURFACE } else { theme::GREEN };
    let amount = text(money(booking.cents), theme::TITLE.colour(style).lines(1));
    row([column(lines).grow(), amount.id("transaction_amount")])
        .gap(8.0)
        .pad_xy(20.0, 8.0)
        .min_height(64.0)
        .fill_width()
}

fn error_line(words: &str) -> View {
    text(words, theme::BODY.colour(theme::RED)).pad_xy(16.0, 0.0).id("error_text")
}

/// `$1,234.56`, with a minus sign for outgoing money.
pub(super) fn money(cents: i64) -> String {
    let sign = if cents < 0 { "\u{2212}" } else { "" };
    let (whole, part) = (cents.unsigned_abs() / 100, cents.unsigned_abs() % 100);
    let digits = whole.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}${grouped}.{part:02}")
}
