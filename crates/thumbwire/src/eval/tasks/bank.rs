//! Tasks in Bank, whose windows are black in pictures.

use super::super::script::{Step, Way, field, like, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{BANK, FIRST, given, kept};

pub(super) const TASKS: &[Task] = &[
    Task { name: "bank-transfer", apps: &["Bank"], make: transfer },
    Task { name: "bank-balance", apps: &["Bank"], make: balance },
];

/// What every customer of the bank knows.
pub(super) const LOGIN: &str = "customer number 40871, password thumb-4711";

/// From the login to the accounts.
pub(super) fn log_in() -> Vec<Step> {
    vec![
        Step::Launch(BANK),
        Step::Write(field(0), "40871".into()),
        Step::Write(field(1), "thumb-4711".into()),
        Step::Tap(says("Log in")),
    ]
}

fn transfer(draw: &mut Draw<'_>) -> Case {
    let who = draw.pick(&FIRST);
    let (dollars, cents) = (draw.number(10, 99), draw.number(10, 99));
    let text = draw.pick(&["Rent", "Dinner", "Tickets", "Books"]);
    let amount = format!("{dollars}.{cents}");
    let mut script = log_in();
    script.extend([
        Step::Tap(says("Current account")),
        // Money that went out already shows here.
        Step::Enough(says(text)),
        Step::Tap(says("New transfer")),
        Step::Write(field(0), who.into()),
        Step::Write(field(1), amount.clone()),
        Step::Write(field(2), text.into()),
        Step::Seek(says("Review"), Way::Up),
        Step::Tap(says("Review")),
        Step::Tap(says("Send")),
        Step::Read(says("Money sent")),
    ]);
    let went = format!("-{dollars}{cents}");
    Case {
        goal: format!(
            "Send {who} ${amount} from the current account with Bank ({LOGIN}), with the reference \"{text}\"."
        ),
        given: Vec::new(),
        script,
        wants: vec![kept(
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

fn balance(draw: &mut Draw<'_>) -> Case {
    let cents = draw.number(10_000, 90_000);
    let mut script = log_in();
    script.extend([
        Step::Read(like(r"^\$[\d,.]+$").beside(says("Savings account"))),
        Step::Answer("{0}".into()),
    ]);
    Case {
        goal: format!("How much is in the savings account with Bank ({LOGIN})?"),
        given: saved(cents),
        script,
        wants: vec![Want::Answer(balance_with(cents))],
    }
}

/// So many cents more in the savings account.
pub(super) fn saved(cents: u64) -> Vec<super::Given> {
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

/// What is in the savings account then; $12,500.00 were there.
pub(super) fn balance_with(cents: u64) -> String {
    let cents = 1_250_000 + cents;
    format!("${},{:03}.{:02}", cents / 100_000, cents / 100 % 1_000, cents % 100)
}
