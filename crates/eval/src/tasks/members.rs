//! Tasks in Members, which has password fields.

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{FIRST, MEMBERS, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("members-sign-in", &["Members"], Easy, &[DataEntry], sign_in),
    Task::new("members-join", &["Members"], Medium, &[DataEntry], join),
    Task::new("members-sign-out", &["Members"], Easy, &[Verification], sign_out),
    Task::new("members-switch", &["Members"], Medium, &[DataEntry, Composite], switch),
    Task::new("members-who", &["Members"], Easy, &[InformationRetrieval], who),
];

/// Signs a member in.
pub(super) fn enter(email: &str, password: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(MEMBERS),
        ScriptStep::SkipIfVisible(with_text("Sign out")),
        ScriptStep::Type(field(0), email.into()),
        ScriptStep::Type(field(1), password.into()),
        ScriptStep::Tap(with_text("Sign in").beside(with_text("Forgot password?"))),
        ScriptStep::Read(with_text("Sign out")),
    ]
}

fn email(draw: &mut ParamSource<'_>) -> String {
    format!("{}{}@example.org", draw.pick(&FIRST).to_lowercase(), draw.number(2, 99))
}

fn sign_in(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (email, password) = (email(draw), format!("quiet-{}", draw.number(1_000, 9_999)));
    TaskInstance {
        goal: format!("Sign in to Members as {email} with the password {password}."),
        given: given(MEMBERS, [("member/7/email", &email), ("member/7/password", &password)]),
        script: enter(&email, &password),
        wants: vec![stored(MEMBERS, [("signed in", &email)])],
    }
}

fn join(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (email, password) = (email(draw), format!("brisk-{}", draw.number(1_000, 9_999)));
    TaskInstance {
        goal: format!("Create an account in Members for {email} with the password {password}."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(MEMBERS),
            ScriptStep::SkipIfVisible(with_text("Sign out")),
            ScriptStep::Tap(with_text("Create account")),
            ScriptStep::Type(field(0), email.clone()),
            ScriptStep::Type(field(1), password.clone()),
            ScriptStep::Type(field(2), password.clone()),
            ScriptStep::Tap(super::super::script::like("^Create account$").beside(field(2))),
            ScriptStep::Read(with_text("Sign out")),
        ],
        wants: vec![stored(
            MEMBERS,
            [
                ("member/<n>/email", &email),
                ("member/<n>/password", &password),
                ("signed in", &email),
            ],
        )],
    }
}

fn sign_out(draw: &mut ParamSource<'_>) -> TaskInstance {
    let email = email(draw);
    TaskInstance {
        goal: format!("{email} is signed in to Members. Sign out."),
        given: given(MEMBERS, [("signed in", &email)]),
        script: vec![
            ScriptStep::Launch(MEMBERS),
            ScriptStep::SkipIfVisible(with_text("Forgot password?")),
            ScriptStep::Tap(with_text("Sign out")),
        ],
        wants: vec![SuccessCondition::ValueAbsent(MEMBERS, "signed in".into())],
    }
}

fn switch(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (old, new) = (email(draw), format!("club{}@example.org", draw.number(100, 999)));
    let password = format!("amber-{}", draw.number(1_000, 9_999));
    let mut script = vec![
        ScriptStep::Launch(MEMBERS),
        ScriptStep::SkipIfVisible(with_text("Forgot password?").or(with_text(&*new))),
        ScriptStep::Tap(with_text("Sign out")),
        ScriptStep::Read(with_text("Forgot password?")),
    ];
    script.extend(enter(&new, &password));
    TaskInstance {
        goal: format!(
            "Members is signed in with the wrong account. Change to {new}, whose password is {password}."
        ),
        given: given(
            MEMBERS,
            [("member/7/email", &new), ("member/7/password", &password), ("signed in", &old)],
        ),
        script,
        wants: vec![stored(MEMBERS, [("signed in", &new)])],
    }
}

fn who(draw: &mut ParamSource<'_>) -> TaskInstance {
    let email = email(draw);
    TaskInstance {
        goal: "Which email address is signed in to Members at the moment?".into(),
        given: given(MEMBERS, [("signed in", &email)]),
        script: vec![
            ScriptStep::Launch(MEMBERS),
            ScriptStep::Read(like(r"^\S+@example\.org$")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(email)],
    }
}
