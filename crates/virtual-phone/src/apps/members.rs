//! Members: a form to sign in, one to join, and the member's page. A plain example of password
//! fields.
//!
//! The phone comes with one member, `ada@example.com`, whose password is `correct horse`.
//! Preferences: `member/N/{email,password}`, and `signed in` (an email address), which keeps a
//! member signed in.

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::records::Records;
use crate::packages::AppIcon;
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, Tag, View, column, icon, row, text};
use crate::widgets::{
    badge, dialog, field, form_field, icon_button, list, list_row, message, page, text_button,
    toolbar, wide_button,
};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Members.
pub(crate) struct Members {
    members: Records<2>,
    form: Form,
    /// Whether the form for joining is open.
    joins: bool,
    /// Whether the dialog about a forgotten password is open.
    forgot: bool,
}

/// The values of a form.
#[derive(Debug, Clone, Default)]
struct Form {
    email: String,
    password: String,
    again: String,
    /// Whether passwords are visible.
    shown: bool,
    /// The invalid field and the error.
    wrong: Option<(&'static str, &'static str)>,
}

const EMAIL: &str = "email";
const PASSWORD: &str = "password";
const AGAIN: &str = "password_again";
const SIGNED_IN: &str = "signed in";
/// Minimum password length.
const SHORTEST: usize = 8;

impl BuiltInApp for Members {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Members",
        version: "1.0",
        icon: AppIcon { symbol: Icon::VpnKey, fill: Colour::hex(0x6750A4), ink: theme::WHITE },
        system: false,
        android: AndroidIdentity {
            package: "com.example.members",
            version_code: 1,
            activities: &["com.example.members.LoginActivity"],
            has_icon: true,
            permissions: &["INTERNET"],
        },
        ios: IosIdentity { bundle_id: "com.example.members" },
    };

    fn new(_seed: u64) -> Self {
        let seeded = vec![["ada@example.com", "correct horse"].map(str::to_owned)];
        Self {
            members: Records { kind: "member", fields: ["email", "password"], seeded },
            form: Form::default(),
            joins: false,
            forgot: false,
        }
    }
}

impl App for Members {
    fn view(&self, env: &DrawContext<'_>) -> View {
        match env.store.get(SIGNED_IN) {
            Some(email) => inside(env, email),
            None => self.door(env).dialog(self.forgot.then(forgotten)),
        }
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { field, text } => {
                // A field's error disappears when it is edited.
                self.form.wrong = self.form.wrong.filter(|(wrong, _)| *wrong != field);
                match field.as_str() {
                    EMAIL => self.form.email = text,
                    PASSWORD => self.form.password = text,
                    _ => self.form.again = text,
                }
            }
            Event::Action { .. } => self.enter(context),
            Event::Back => self.back(context),
            _ => {}
        }
    }
}

impl Members {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "enter" => self.enter(context),
            "show" => self.form.shown = !self.form.shown,
            "forgot" => {
                context.unfocus();
                self.forgot = true;
            }
            "close" => self.forgot = false,
            "send" => {
                self.forgot = false;
                context.toast("A link is on its way to you");
            }
            "join" => self.turn_to(true, context),
            "back" => self.back(context),
            "sign out" => {
                context.store.remove(SIGNED_IN);
                context.toast("You are signed out");
            }
            _ => {}
        }
    }

    fn turn_to(&mut self, joins: bool, context: &mut AppContext<'_>) {
        context.unfocus();
        self.joins = joins;
        self.form = Form { email: std::mem::take(&mut self.form.email), ..Form::default() };
    }

    /// Signs in or joins, or shows an error.
    fn enter(&mut self, context: &mut AppContext<'_>) {
        let wrong = self.error(context.store);
        self.form.wrong = wrong;
        if let Some((field, _)) = wrong {
            context.focus(field);
            return;
        }
        context.unfocus();
        let email = self.form.email.trim().to_lowercase();
        if self.joins {
            let member = [email.clone(), self.form.password.clone()];
            if self.members.put(context.store, None, &member).is_none() {
                context.toast("No more members can join");
                return;
            }
        }
        context.store.set(SIGNED_IN, email);
        self.form = Form::default();
        self.joins = false;
    }

    /// The first invalid field and its error.
    fn error(&self, store: &Preferences) -> Option<(&'static str, &'static str)> {
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

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if std::mem::take(&mut self.forgot) {
            return;
        }
        if self.joins {
            self.turn_to(false, context);
        } else {
            context.finish();
        }
    }

    /// The form for signing in or joining.
    fn door(&self, env: &DrawContext<'_>) -> View {
        let form = &self.form;
        let next = FieldTraits { action: ImeAction::Next, ..FieldTraits::default() };
        let mut parts = Vec::new();
        if !self.joins {
            let sign = badge(Icon::AccountCircle, 72.0, Colour::hex(0x6750A4), theme::WHITE);
            parts.push(sign.hide_from_accessibility().align_self_center());
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
            parts.push(forgot.id("forgot_password").align_self_center());
            let join = text_button("Create account", theme::PRIMARY, "join");
            parts.push(join.id("create_account").align_self_center());
        }
        let body = column(parts).gap(12.0).pad_xy(24.0, 24.0).fill_width();
        let bar = self.joins.then(|| toolbar("Create account", []));
        page(bar.into_iter().chain([list("login_scroll", [body], env)]), env)
    }
}

/// A password field with its visibility toggle.
fn password(id: &'static str, content: &str, hint: &str, traits: FieldTraits, shown: bool) -> View {
    let input = field(id, content, hint, theme::BODY_LARGE, traits).grow();
    let (symbol, words) = if shown {
        (Icon::VisibilityOff, "Hide password")
    } else {
        (Icon::Visibility, "Show password")
    };
    let eye = icon_button(symbol, words, "show").checked(shown).id("text_input_end_icon");
    let framed = row([input, eye]).pad_each(16.0, 4.0, 4.0, 4.0).height(58.0).fill_width();
    framed.radius(12.0).border(1.0, theme::OUTLINE)
}

fn forgotten() -> View {
    let buttons = [
        text_button("Cancel", theme::PRIMARY, "close").id("android:id/button2"),
        text_button("Send link", theme::PRIMARY, "send").id("android:id/button1"),
    ];
    let text = "We send you a link with which you can choose a new one.";
    dialog("Forgot your password?", message(text), buttons)
}

/// The member's page.
fn inside(env: &DrawContext<'_>, email: &str) -> View {
    let name = email.split('@').next().unwrap_or_default();
    let sign =
        icon(Icon::CheckCircle, 72.0, theme::GREEN).hide_from_accessibility().align_self_center();
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
    page([list("member_page", [parts.gap(16.0).pad_xy(24.0, 32.0).fill_width()], env)], env)
}
