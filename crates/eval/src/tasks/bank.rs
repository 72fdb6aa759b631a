//! Tasks in Bank, whose windows are black in screenshots.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{BANK, FIRST, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "bank-transfer", apps: &["Bank"], needs: &[], make: transfer },
    Task { name: "bank-balance", apps: &["Bank"], needs: &[], make: balance },
];

/// The login that every customer of the bank uses.
pub(super) const LOGIN: &str = "customer number 40871, password thumb-4711";

/// Goes from the login to the accounts.
pub(super) fn log_in() -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(BANK),
        ScriptStep::Type(field(0), "40871".into()),
        ScriptStep::Type(field(1), "thumb-4711".into()),
        ScriptStep::Tap(with_text("Log in")),
    ]
}

fn transfer(draw: &mut ParamSource<'_>) -> TaskInstance {
    let who = draw.pick(&FIRST);
    let (dollars, cents) = (draw.number(10, 99), draw.number(10, 99));
    let text = draw.pick(&["Rent", "Dinner", "Tickets", "Books"]);
    let amount = format!("{dollars}.{cents}");
    let mut script = log_in();
    script.extend([
        ScriptStep::Tap(with_text("Current account")),
        // Money already sent is listed here.
        ScriptStep::SkipIfVisible(with_text(text)),
        ScriptStep::Tap(with_text("New transfer")),
        ScriptStep::Type(field(0), who.into()),
        ScriptStep::Type(field(1), amount.clone()),
        ScriptStep::Type(field(2), text.into()),
        ScriptStep::ScrollTo(with_text("Review"), ScriptSwipe::Up),
        ScriptStep::Tap(with_text("Review")),
        ScriptStep::Tap(with_text("Send")),
        ScriptStep::Read(with_text("Money sent")),
    ]);
    let went = format!("-{dollars}{cents}");
    TaskInstance {
        goal: format!(
            "In Bank ({LOGIN}), send {who} ${amount} from the current account with the reference \"{text}\"."
        ),
        given: Vec::new(),
        script,
        wants: vec![stored(
            BANK,
            [
                ("booking/<n>/account", "0"),
                ("booking/<n>/cents", &went),
                ("booking/<n>/who", who),
                ("booking/<n>/text", text),
            ],
        )],
    }
}

fn balance(draw: &mut ParamSource<'_>) -> TaskInstance {
    let cents = draw.number(10_000, 90_000);
    let mut script = log_in();
    script.extend([
        ScriptStep::Read(like(r"^\$[\d,.]+$").beside(with_text("Savings account"))),
        ScriptStep::Answer("{0}".into()),
    ]);
    TaskInstance {
        goal: format!("How much is in the savings account in Bank ({LOGIN})?"),
        given: saved(cents),
        script,
        wants: vec![SuccessCondition::Answer(balance_with(cents))],
    }
}

/// Adds this many cents to the savings account.
pub(super) fn saved(cents: u64) -> Vec<super::InitialState> {
    given(
        BANK,
        [
            ("booking/90/account", "1"),
            ("booking/90/cents", &cents.to_string()),
            ("booking/90/who", "Interest"),
            ("booking/90/text", ""),
        ],
    )
}

/// The balance of the savings account after that; it started at $12,500.00.
pub(super) fn balance_with(cents: u64) -> String {
    let cents = 1_250_000 + cents;
    format!("${},{:03}.{:02}", cents / 100_000, cents / 100 % 1_000, cents % 100)
}
