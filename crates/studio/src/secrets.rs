//! Pages on which a person types a secret, past the program that needs it typed.
//!
//! A page has an address that nobody can guess. It is shown once, and takes one answer, from the
//! browser that was shown it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::future::FutureExt as _;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use http::{Response, StatusCode};
use maud::{DOCTYPE, Markup, html};
use thumbwire_base::lock;
use thumbwire_base::visible::visible_lines;
use thumbwire_core::action::{Question, SecretPage, SecretPages, UserAnswer};
use thumbwire_core::random;
use tokio::sync::oneshot;

use super::api::fields;
use super::page::plain;

/// How many pages wait at once.
const MAX_WAITING: usize = 16;

/// The longest secret, in bytes.
const MAX_SECRET: usize = 4096;

/// Where the pages are, below the studio's own path.
const PATH: &str = "/secret/";

/// The pages that wait for their answer.
pub(super) struct SecretForms {
    /// The address of the studio's page, which ends with a slash.
    address: String,
    waiting: Arc<Mutex<BTreeMap<String, WaitingForm>>>,
}

struct WaitingForm {
    question: Question,
    /// What the form sends along; `None` until it was shown.
    key: Option<String>,
    answer: oneshot::Sender<UserAnswer>,
}

/// Closes a page when dropped.
struct OpenPage {
    waiting: Arc<Mutex<BTreeMap<String, WaitingForm>>>,
    ticket: String,
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        lock(&self.waiting).remove(&self.ticket);
    }
}

impl SecretForms {
    pub(super) fn new(address: String) -> Self {
        Self { address, waiting: Arc::default() }
    }

    /// The page at this path, this once.
    pub(super) fn page(&self, path: &str) -> Option<Response<Bytes>> {
        let ticket = path.strip_prefix(PATH)?;
        let mut waiting = lock(&self.waiting);
        let form = waiting.get_mut(ticket).filter(|form| form.key.is_none())?;
        let key = random::hex::<16>().ok()?;
        let page = form_page(&form.question, &key);
        form.key = Some(key);
        Some(document(&page))
    }

    /// Whether a form can be sent to this path.
    pub(super) fn takes_form(&self, path: &str) -> bool {
        path.strip_prefix(PATH).is_some_and(|ticket| lock(&self.waiting).contains_key(ticket))
    }

    /// Takes the answer of a form.
    pub(super) fn form(&self, path: &str, body: &[u8]) -> Response<Bytes> {
        let fields = fields(&String::from_utf8_lossy(body));
        let given = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let ticket = path.strip_prefix(PATH).unwrap_or_default();
        let mut waiting = lock(&self.waiting);
        let key = waiting.get(ticket).and_then(|form| form.key.clone());
        if key.is_none_or(|key| key != given("key")) {
            drop(waiting);
            let mut response = document(&told("This page is not asked for any more."));
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        }
        let form = waiting.remove(ticket);
        drop(waiting);
        let secret = given("secret");
        let (answer, text) = match (given("do").as_str(), secret.len()) {
            ("decline", _) => (UserAnswer::Declined, "You have declined. Close this page."),
            (_, 0) => (UserAnswer::Dismissed, "Nothing was typed. Close this page."),
            (_, 1..=MAX_SECRET) => {
                (UserAnswer::Text(secret), "It goes straight to the phone. Close this page.")
            }
            _ => (UserAnswer::Dismissed, "This is too long for a secret. Close this page."),
        };
        // The program may have stopped to wait.
        let sent = form.is_some_and(|form| form.answer.send(answer).is_ok());
        document(&told(if sent { text } else { "This page is not asked for any more." }))
    }
}

impl SecretPages for SecretForms {
    fn open(&self, question: &Question) -> Result<SecretPage, String> {
        let ticket = random::hex::<16>()?;
        let (sender, answer) = oneshot::channel();
        let form = WaitingForm { question: question.clone(), key: None, answer: sender };
        {
            let mut waiting = lock(&self.waiting);
            if waiting.len() >= MAX_WAITING {
                return Err(format!("{MAX_WAITING} questions wait for a secret already"));
            }
            waiting.insert(ticket.clone(), form);
        }
        let url = format!("{}{}{ticket}", self.address.trim_end_matches('/'), PATH);
        let open = OpenPage { waiting: Arc::clone(&self.waiting), ticket };
        let answer = async move {
            let answer = answer.await.unwrap_or(UserAnswer::NoUser);
            drop(open);
            answer
        };
        Ok(SecretPage { url, answer: answer.boxed() })
    }
}

fn form_page(question: &Question, key: &str) -> Markup {
    html! {
        h1 { "A program needs a secret typed" }
        p.question { (visible_lines(&question.text)) }
        form method="post" autocomplete="off" {
            input type="hidden" name="key" value=(key);
            label for="secret" { "Secret" }
            input #secret type="password" name="secret" autofocus autocomplete="off" spellcheck="false";
            button type="submit" name="do" value="send" { "Type it on the phone" }
            button type="submit" name="do" value="decline" { "Decline" }
        }
        p { "The program does not see it. This page works once." }
    }
}

fn told(text: &str) -> Markup {
    html! { p role="status" { (text) } }
}

fn document(body: &Markup) -> Response<Bytes> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Thumbwire: a secret" }
                link rel="stylesheet" href="../base.css";
                link rel="stylesheet" href="../studio.css";
            }
            body.secret { main { (body) } }
        }
    };
    let mut response = plain(page.into_string().into(), "text/html; charset=utf-8");
    let policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
                  frame-ancestors 'none'";
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(response: Response<Bytes>) -> String {
        String::from_utf8(response.into_body().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_page_is_shown_once_and_takes_one_answer() {
        let forms = SecretForms::new("http://127.0.0.1:8090/studio/".into());
        let question = Question::open("The PIN of <b>Bank</b>\u{202e}?");
        let page = forms.open(&question).unwrap();
        let path = page.url.strip_prefix("http://127.0.0.1:8090/studio").unwrap();
        assert!(path.starts_with(PATH) && path.len() > PATH.len() + 30, "{path}");
        assert!(forms.page("/secret/guessed").is_none() && !forms.takes_form("/secret/guessed"));

        let shown = text(forms.page(path).unwrap());
        assert!(
            shown.contains("&lt;b&gt;Bank&lt;/b&gt;") && !shown.contains('\u{202e}'),
            "{shown}"
        );
        assert!(forms.page(path).is_none(), "a second look shows nothing");
        let key = shown.split("name=\"key\" value=\"").nth(1).unwrap()[..32].to_owned();

        let without_key = forms.form(path, b"key=&secret=1111");
        assert_eq!(without_key.status(), StatusCode::NOT_FOUND);
        let thanks =
            text(forms.form(path, format!("key={key}&secret=12+3%26x&do=send").as_bytes()));
        assert!(thanks.contains("straight to the phone"), "{thanks}");
        assert_eq!(page.answer.await, UserAnswer::Text("12 3&x".into()));
        assert!(!forms.takes_form(path));
    }

    #[tokio::test]
    async fn a_page_ends_with_its_question() {
        let forms = SecretForms::new("http://x/studio/".into());
        let pages: Vec<SecretPage> =
            (0..MAX_WAITING).map(|_| forms.open(&Question::open("PIN?")).unwrap()).collect();
        assert!(forms.open(&Question::open("PIN?")).is_err());
        let path = pages[0].url.strip_prefix("http://x/studio").unwrap().to_owned();
        drop(pages);
        assert!(forms.page(&path).is_none() && !forms.takes_form(&path));
    }
}
