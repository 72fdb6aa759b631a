//! Members: a form to sign in, one to join, and the page of whoever is signed in. A plain example of password fields.
//!
//! The phone comes with one member, `ada@example.com`, whose password is `correct horse`. Kept, and to be seeded: `member/N/{email,password}`,
//! and `signed in` (an e-mail address), so that a member stays signed in.

use super::records::Records;
use crate::world::app::{App, AppIcon, Env, Event, Manifest, Reach, Store, asks};
use crate::world::icons::Icon;
use crate::world::theme::{self, Colour};
use crate::world::view::{FieldTraits, ImeAction, Tag, View, column, icon, row, text};
use crate::world::widgets::{
    badge, dialog, field, form_field, icon_button, list, list_row, message, page, text_button,
    toolbar, wide_button,
};

/// The state of Members.
pub(crate) struct Members {
    members: Records<2>,
    form: Form,
    /// Whether the form is the one to join.
    joins: bool,
    /// Whether a dialog tells what to do about a forgotten password.
    forgot: bool,
}

/// What is written into a form.
#[derive(Debug, Clone, Default)]
struct Form {
    email: String,
    password: String,
    again: String,
    /// Whether passwords can be read.
    shown: bool,
    /// What is wrong, and with which field.
    wrong: Option<(&'static str, &'static str)>,
}

const EMAIL: &str = "email";
const PASSWORD: &str = "password";
const AGAIN: &str = "password_again";
const SIGNED_IN: &str = "signed in";
/// Letters of a password at least.
const SHORTEST: usize = 8;

impl App for Members {
    fn manifest() -> Manifest {
        Manifest {
            package: "com.example.members".into(),
            label: "Members".into(),
            version_name: "1.0".into(),
            version_code: 1,
            activities: vec!["com.example.members.LoginActivity".into()],
            launcher: Some("com.example.members.LoginActivity".into()),
            system: false,
            uid: 0,
            permissions: asks(&["INTERNET"]),
            installation: None,
            icon: AppIcon { symbol: Icon::VpnKey, fill: Colour::hex(0x6750A4), ink: theme::WHITE },
        }
    }

    fn new(_seed: u64) -> Self {
        let seeded = vec![["ada@example.com", "correct horse"].map(str::to_owned)];
        Self {
            members: Records { kind: "member", fields: ["email", "password"], seeded },
            form: Form::default(),
            joins: false,
            forgot: false,
        }
    }

    fn view(&self, env: &Env<'_>) -> View {
        match env.store.get(SIGNED_IN) {
            Some(email) => inside(env, email),
            None => self.door(env).dialog(self.forgot.then(forgotten)),
        }
    }

    fn on(&mut self, event: Event, reach: &mut Reach<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, reach),
            Event::Text { field, text } => {
                // What was wrong with a field is so no more once it is written in.
                self.form.wrong = self.form.wrong.filter(|(wrong, _)| *wrong != field);
                match field.as_str() {
                    EMAIL => self.form.email = text,
                    PASSWORD => self.form.password = text,
                    _ => self.form.again = text,
                }
            }
            Event::Action { .. } => self.enter(reach),
            Event::Back => self.back(reach),
            _ => {}
        }
    }
}

impl Members {
    fn tapped(&mut self, tag: &Tag, reach: &mut Reach<'_>) {
        match tag.name {
            "enter" => self.enter(reach),
            "show" => self.form.shown = !self.form.shown,
            "forgot" => {
                reach.unfocus();
                self.forgot = true;
            }
            "close" => self.forgot = false,
            "send" => {
                self.forgot = false;
                reach.toast("A link is on its way to you");
            }
            "join" => self.turn_to(true, reach),
            "back" => self.back(reach),
            "sign out" => {
                reach.store.remove(SIGNED_IN);
                reach.toast("You are signed out");
            }
            _ => {}
        }
    }

    fn turn_to(&mut self, joins: bool, reach: &mut Reach<'_>) {
        reach.unfocus();
        self.joins = joins;
        self.form = Form { email: std::mem::take(&mut self.form.email), ..Form::default() };
    }

    /// Signs in, or joins, or says what is wrong.
    fn enter(&mut self, reach: &mut Reach<'_>) {
        let wrong = self.complaint(reach.store);
        self.form.wrong = wrong;
        if let Some((field, _)) = wrong {
            reach.focus(field);
            return;
        }
        reach.unfocus();
        let email = self.form.email.trim().to_lowercase();
        if self.joins {
            let member = [email.clone(), self.form.password.clone()];
            if self.members.put(reach.store, None, &member).is_none() {
                reach.toast("No more members can join");
                return;
            }
        }
        reach.store.set(SIGNED_IN, email);
        self.form = Form::default();
        self.joins = false;
    }

    /// What is wrong with the form, and with which field.
    fn complaint(&self, store: &Store) -> Option<(&'static str, &'static str)> {
        let Form { email, password, again, .. } = &self.form;
        let email = email.trim().to_lowercase();
        let host = email.split_once('@').map_or("", |(_, host)| host);
        let members = self.members.all(store);
        let member = members.iter().find(|(_, [known, _])| known.to_lowercase() == email);
        match (self.joins, member) {
            _ if !host.contains('.') || email.contains(' ') => {
                Some((EMAIL, "Enter a valid email address"))
            }
            _ if password.is_empty() => Some((PASSWORD, "Enter your password")),
            (true, Some(_)) => Some((EMAIL, "This email address is taken")),
            (true, None) if password.chars().count() < SHORTEST => {
                Some((PASSWORD, "Use at least 8 characters"))
            }
            (true, None) if password != again => Some((AGAIN, "The passwords differ")),
            (true, None) => None,
            (false, Some((_, [_, known]))) if known == password => None,
            (false, _) => Some((PASSWORD, "Wrong email address or password")),
        }
    }

    fn back(&mut self, reach: &mut Reach<'_>) {
        reach.unfocus();
        if std::mem::take(&mut self.forgot) {
            return;
        }
        if self.joins {
            self.turn_to(false, reach);
        } else {
            reach.finish();
        }
    }

    /// The form to sign in, or to join.
    fn door(&self, env: &Env<'_>) -> View {
        let form = &self.form;
        let next = FieldTraits { action: ImeAction::Next, ..FieldTraits::default() };
        let mut parts = Vec::new();
        if !self.joins {
            let sign = badge(Icon::AccountCircle, 72.0, Colour::hex(0x6750A4), theme::WHITE);
            parts.push(sign.unlisted().self_center());
            parts.push(text("Sign in", theme::HEADLINE.centered()).id("title"));
        }
        let wrong = |field: &str| {
            let words = form.wrong.filter(|(wrong, _)| *wrong == field).map(|(_, words)| words);
            words.map(|words| {
                let words = text(words, theme::BODY.colour(theme::RED)).id("textinput_error");
                words.pad_xy(16.0, 0.0)
            })
        };
        parts.push(form_field(EMAIL, &form.email, "Email", next));
        parts.extend(wrong(EMAIL));
        let secret = FieldTraits { password: !form.shown, ..FieldTraits::default() };
        let first =
            if self.joins { FieldTraits { action: ImeAction::Next, ..secret } } else { secret };
        parts.push(password(PASSWORD, &form.password, "Password", first, form.shown));
        parts.extend(wrong(PASSWORD));
        if self.joins {
            parts.push(form_field(AGAIN, &form.again, "Password again", secret));
            parts.extend(wrong(AGAIN));
            parts.push(wide_button("Create account", true, "enter").id("create_button"));
        } else {
            parts.push(wide_button("Sign in", true, "enter").id("sign_in_button"));
            let forgot = text_button("Forgot password?", theme::PRIMARY, "forgot");
            parts.push(forgot.id("forgot_password").self_center());
            let join = text_button("Create account", theme::PRIMARY, "join");
            parts.push(join.id("create_account").self_center());
        }
        let body = column(parts).gap(12.0).pad_xy(24.0, 24.0).wide();
        let bar = self.joins.then(|| toolbar("Create account", []));
        page(bar.into_iter().chain([list("login_scroll", [body], env)]), env)
    }
}

/// A field for a password, with what shows it.
fn password(id: &'static str, content: &str, hint: &str, traits: FieldTraits, shown: bool) -> View {
    let input = field(id, content, hint, theme::BODY_LARGE, traits).grow();
    let (symbol, words) = if shown {
        (Icon::VisibilityOff, "Hide password")
    } else {
        (Icon::Visibility, "Show password")
    };
    let eye = icon_button(symbol, words, "show").checked(shown).id("text_input_end_icon");
    let framed = row([input, eye]).pad_each(16.0, 4.0, 4.0, 4.0).height(58.0).wide();
    framed.radius(12.0).border(1.0, theme::OUTLINE)
}

fn forgotten() -> View {
    let buttons = [
        text_button("Cancel", theme::PRIMARY, "close").id("android:id/button2"),
        text_button("Send link", theme::PRIMARY, "send").id("android:id/button1"),
    ];
    let words = "We send you a link with which you can choose a new one.";
    dialog("Forgot your password?", message(words), buttons)
}

/// What members see.
fn inside(env: &Env<'_>, email: &str) -> View {
    let name = email.split('@').next().unwrap_or_default();
    let sign = icon(Icon::CheckCircle, 72.0, theme::GREEN).unlisted().self_center();
    let facts = column([
        list_row(Icon::Email, email, "Email").id("member_email"),
        list_row(Icon::Star, "Member since March 2024", "Status"),
    ]);
    let out = wide_button("Sign out", true, "sign out").id("sign_out_button");
    let parts = column([
        sign,
        text(format!("Hello, {name}"), theme::HEADLINE.centered()).id("welcome_text"),
        facts.fill(theme::SURFACE_CONTAINER).radius(20.0),
        out,
    ]);
    page([list("member_page", [parts.gap(16.0).pad_xy(24.0, 32.0).wide()], env)], env)
}
