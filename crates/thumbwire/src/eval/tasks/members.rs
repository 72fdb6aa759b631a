//! Tasks in Members, which has password fields.

use super::super::script::{Step, field, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{FIRST, MEMBERS, given, kept};

pub(super) const TASKS: &[Task] = &[
    Task { name: "members-sign-in", apps: &["Members"], make: sign_in },
    Task { name: "members-join", apps: &["Members"], make: join },
    Task { name: "members-sign-out", apps: &["Members"], make: sign_out },
];

/// Signs a member in.
pub(super) fn enter(email: &str, password: &str) -> Vec<Step> {
    vec![
        Step::Launch(MEMBERS),
        Step::Enough(says("Sign out")),
        Step::Write(field(0), email.into()),
        Step::Write(field(1), password.into()),
        Step::Tap(says("Sign in").beside(says("Forgot password?"))),
        Step::Read(says("Sign out")),
    ]
}

fn email(draw: &mut Draw<'_>) -> String {
    format!("{}{}@example.org", draw.pick(&FIRST).to_lowercase(), draw.number(2, 99))
}

fn sign_in(draw: &mut Draw<'_>) -> Case {
    let (email, password) = (email(draw), format!("quiet-{}", draw.number(1_000, 9_999)));
    Case {
        goal: format!("Sign in to Members as {email} with the password {password}."),
        given: given(MEMBERS, [("member/7/email", &email), ("member/7/password", &password)]),
        script: enter(&email, &password),
        wants: vec![kept(MEMBERS, [("signed in", &email)])],
    }
}

fn join(draw: &mut Draw<'_>) -> Case {
    let (email, password) = (email(draw), format!("brisk-{}", draw.number(1_000, 9_999)));
    Case {
        goal: format!("Create an account with Members for {email}, with the password {password}."),
        given: Vec::new(),
        script: vec![
            Step::Launch(MEMBERS),
            Step::Enough(says("Sign out")),
            Step::Tap(says("Create account")),
            Step::Write(field(0), email.clone()),
            Step::Write(field(1), password.clone()),
            Step::Write(field(2), password.clone()),
            Step::Tap(super::super::script::like("^Create account$").beside(field(2))),
            Step::Read(says("Sign out")),
        ],
        wants: vec![kept(
            MEMBERS,
            [
                ("member/<n>/email", &email),
                ("member/<n>/password", &password),
                ("signed in", &email),
            ],
        )],
    }
}

fn sign_out(draw: &mut Draw<'_>) -> Case {
    let email = email(draw);
    Case {
        goal: format!("{email} is signed in to Members. Sign out."),
        given: given(MEMBERS, [("signed in", &email)]),
        script: vec![
            Step::Launch(MEMBERS),
            Step::Enough(says("Forgot password?")),
            Step::Tap(says("Sign out")),
        ],
        wants: vec![Want::Absent(MEMBERS, "signed in".into())],
    }
}
