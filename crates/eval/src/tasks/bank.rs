//! Tasks in Bank, whose windows are black in screenshots.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{BANK, FIRST, LAST, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("bank-transfer", &["Bank"], Medium, &[DataEntry], transfer),
    Task::new("bank-balance", &["Bank"], Easy, &[InformationRetrieval, DataEntry], balance),
    Task::new(
        "bank-transfer-savings",
        &["Bank"],
        Medium,
        &[DataEntry, ComplexUiUnderstanding],
        from_savings,
    ),
    Task::new(
        "bank-paid",
        &["Bank"],
        Easy,
        &[InformationRetrieval, DataEntry, ScreenReading],
        paid,
    ),
    Task::new("bank-bills", &["Bank"], Hard, &[DataEntry, Composite, Repetition], bills),
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

fn from_savings(draw: &mut ParamSource<'_>) -> TaskInstance {
    let who = draw.pick(&LAST);
    let dollars = draw.number(100, 900);
    let text = draw.pick(&["Bicycle", "Deposit", "Course", "Boat share"]);
    let mut script = log_in();
    script.extend([
        ScriptStep::Tap(with_text("Savings account")),
        // Money already sent is listed here.
        ScriptStep::SkipIfVisible(with_text(text)),
        ScriptStep::Tap(with_text("New transfer")),
    ]);
    script.extend(send(who, &dollars.to_string(), text));
    TaskInstance {
        goal: format!(
            "Use my savings, not the current account, to pay {who} ${dollars} for \"{text}\" (that is the reference). You need Bank: {LOGIN}."
        ),
        given: Vec::new(),
        script,
        wants: vec![booked(1, dollars * 100, who, text)],
    }
}

/// Fills in the form of a transfer and sends it.
pub(super) fn send(who: &str, amount: &str, text: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Type(field(0), who.into()),
        ScriptStep::Type(field(1), amount.into()),
        ScriptStep::Type(field(2), text.into()),
        ScriptStep::ScrollTo(with_text("Review"), ScriptSwipe::Up),
        ScriptStep::Tap(with_text("Review")),
        ScriptStep::Tap(with_text("Send")),
        ScriptStep::Read(with_text("Money sent")),
    ]
}

/// The transfer a task must make.
pub(super) fn booked(account: usize, cents: u64, who: &str, text: &str) -> SuccessCondition {
    stored(
        BANK,
        [
            ("booking/<n>/account", &account.to_string()),
            ("booking/<n>/cents", &format!("-{cents}")),
            ("booking/<n>/who", who),
            ("booking/<n>/text", text),
        ],
    )
}

fn paid(draw: &mut ParamSource<'_>) -> TaskInstance {
    let shops = draw.some(&["Pier Garage", "Tile Studio", "Alpine Store", "Dr. Mende"], 2);
    let cents = [draw.number(1_000, 9_000), draw.number(10_000, 90_000)];
    let mut given = Vec::new();
    for (at, (shop, cents)) in shops.iter().zip(cents).enumerate() {
        let key = |name: &str| format!("booking/{}/{name}", 90 + at);
        given.extend(super::given(
            BANK,
            [
                (&key("account"), "0"),
                (&key("cents"), &format!("-{cents}")),
                (&key("who"), shop),
                (&key("text"), "Card payment"),
            ],
        ));
    }
    let mut script = log_in();
    script.extend([
        ScriptStep::Tap(with_text("Current account")),
        ScriptStep::Read(like(r"\$([\d,.]+)$").beside(with_text(shops[0]))),
        ScriptStep::Answer("{0}".into()),
    ]);
    TaskInstance {
        goal: format!(
            "How much did I pay at {} from my current account? Look it up in Bank ({LOGIN}).",
            shops[0]
        ),
        given,
        script,
        wants: vec![SuccessCondition::Answer(format!("{}.{:02}", cents[0] / 100, cents[0] % 100))],
    }
}

fn bills(draw: &mut ParamSource<'_>) -> TaskInstance {
    let bills = draw.some(&["Rent", "Phone", "Gas", "Insurance", "Kindergarten"], 3);
    let who = draw.some(&LAST, 3);
    let dollars: Vec<u64> = bills.iter().map(|_| draw.number(20, 300)).collect();
    let mut script = log_in();
    let each = (0..3).map(|at| (who[at], dollars[at], bills[at]));
    let parts = each.clone().map(|(who, dollars, bill)| format!("{bill}: ${dollars} to {who}"));
    let goal = format!(
        "Three bills are due. Pay them from my current account in Bank ({LOGIN}), with the name of the bill as the reference. {}.",
        parts.collect::<Vec<_>>().join("; ")
    );
    for (who, dollars, bill) in each.clone() {
        script.extend([
            ScriptStep::Launch(BANK),
            ScriptStep::Tap(with_text("Current account")),
            ScriptStep::SkipIfVisible(with_text(bill)),
            ScriptStep::Tap(with_text("New transfer")),
        ]);
        script.extend(send(who, &dollars.to_string(), bill));
        script.push(ScriptStep::Tap(with_text("Back to accounts")));
    }
    let wants = each.map(|(who, dollars, bill)| booked(0, dollars * 100, who, bill)).collect();
    TaskInstance { goal, given: Vec::new(), script, wants }
}
