//! The helper's op `courier`: an Intent with a callback, and what came back by it. Pure.

use std::time::Duration;

use serde_json::{Value, json};

use super::frame::Header;
use super::talk::Fault;
use crate::error::excerpt;
use crate::{Answer, Delivery, Error, Letter, Undelivered};

/// The most that an Intent carries, in UTF-16 units: 255,000 were measured to pass and 300,000 to vanish without a word, on Android 4.4.4.
const MOST: usize = 200_000;

/// The uid of `system_server`, by which callbacks come since Android 7: it does not tell whose they are.
const SYSTEM: u64 = 1000;

/// What it is called in errors.
pub(super) const WHAT: &str = "carry the request to the app";

/// Whether the phone would lose it in silence.
pub(super) fn is_too_large(letter: &Letter) -> bool {
    let units = |text: &str| text.encode_utf16().count();
    let extras = letter.extras.iter().map(|(key, value)| units(key) + units(value));
    let names = letter.callbacks.iter().map(|name| units(name));
    extras.chain(names).sum::<usize>() > MOST
}

pub(super) fn too_large() -> Delivery {
    Delivery::Not(Undelivered::TooLarge { most: MOST })
}

/// The request. The helper waits so long for the callback.
pub(super) fn request(letter: &Letter, limit: Duration) -> Header {
    let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let fields = json!({
        "component": letter.to.to_string(),
        "extras": letter.extras,
        "callbacks": letter.callbacks,
        "wanted": letter.wanted,
        "limit_ms": limit,
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Header::new(),
    }
}

/// Reads what the service called back.
pub(super) fn read_answer(letter: &Letter, said: &Header) -> Result<Delivery, Error> {
    let unreadable = || Error::Unreadable {
        command: "courier".into(),
        said: excerpt(Value::from(said.clone()).to_string()),
    };
    let code = said.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let mut extras = Vec::new();
    for pair in said.get("extras").and_then(Value::as_array).into_iter().flatten() {
        let pair = pair.as_array().map(Vec::as_slice);
        let Some([Value::String(key), Value::String(value)]) = pair else {
            return Err(unreadable());
        };
        if letter.wanted.contains(key) {
            extras.push((key.clone(), value.clone()));
        }
    }
    let uid = said.get("uid").and_then(Value::as_u64).filter(|uid| *uid != SYSTEM);
    let uid = uid.and_then(|uid| u32::try_from(uid).ok());
    Ok(Delivery::Answered(Answer { code: code.ok_or_else(unreadable)?, extras, uid }))
}

/// What a fault of the helper means for the letter.
pub(super) fn read_fault(fault: Fault) -> Result<Delivery, Error> {
    let Fault { code, says, advice } = fault;
    Ok(Delivery::Not(match code.as_str() {
        // It was started.
        "timeout" => return Ok(Delivery::Silent),
        "not_found" => Undelivered::NotFound,
        "refused" => Undelivered::Refused(says),
        "background" => Undelivered::Background(says),
        "too_large" => Undelivered::TooLarge { most: MOST },
        _ => {
            let words = [code, says, advice];
            let words = words.iter().filter(|word| !word.is_empty()).map(String::as_str);
            let said = words.collect::<Vec<_>>().join("; ");
            return Err(Error::Failed { what: WHAT, said });
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppId, Component};

    fn letter() -> Letter {
        Letter {
            to: Component { app: AppId("com.x".into()), class: "com.x.Tool".into() },
            extras: vec![("request".into(), "{\"id\":\"1\"}".into())],
            callbacks: vec!["mcp_callback".into(), "callback".into()],
            wanted: vec!["response".into()],
        }
    }

    fn header(value: Value) -> Header {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_letter_is_this_request() {
        let expected = r#"{"component":"com.x/com.x.Tool","extras":[["request","{\"id\":\"1\"}"]],"callbacks":["mcp_callback","callback"],"wanted":["response"],"limit_ms":1500}"#;
        let request = request(&letter(), Duration::from_millis(1500));
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(Value::Object(request), expected);
    }

    #[test]
    fn of_what_came_back_the_wanted_extras_are_kept() {
        let said = header(
            json!({ "id": 1, "ok": true, "code": 7, "extras": [["response", "{}"], ["other", "x"]], "uid": 10123 }),
        );
        let extras = vec![("response".to_owned(), "{}".to_owned())];
        let answer = Answer { code: 7, extras, uid: Some(10123) };
        assert_eq!(read_answer(&letter(), &said).unwrap(), Delivery::Answered(answer));
    }

    #[test]
    fn a_callback_by_the_system_does_not_tell_whose_it_is() {
        let said = header(json!({ "ok": true, "code": -1, "uid": 1000 }));
        let answer = Answer { code: -1, ..Answer::default() };
        assert_eq!(read_answer(&letter(), &said).unwrap(), Delivery::Answered(answer));
    }

    #[test]
    fn an_answer_of_another_form_is_not_guessed_at() {
        for odd in [
            json!({ "ok": true }),
            json!({ "code": "7" }),
            json!({ "code": 1_u64 << 40 }),
            json!({ "code": 7, "extras": [["response"]] }),
            json!({ "code": 7, "extras": [["response", 5]] }),
        ] {
            let read = read_answer(&letter(), &header(odd.clone()));
            assert!(matches!(read, Err(Error::Unreadable { .. })), "{odd}");
        }
    }

    #[test]
    fn each_fault_has_its_meaning() {
        let read = |code: &str| {
            read_fault(Fault { code: code.into(), says: "words".into(), advice: "y".into() })
        };
        assert_eq!(read("timeout").unwrap(), Delivery::Silent);
        for (code, why) in [
            ("not_found", Undelivered::NotFound),
            ("refused", Undelivered::Refused("words".into())),
            ("background", Undelivered::Background("words".into())),
            ("too_large", Undelivered::TooLarge { most: 200_000 }),
        ] {
            assert_eq!(read(code).unwrap(), Delivery::Not(why));
        }
        let error = read("internal").unwrap_err();
        assert!(error.to_string().contains("internal; words; y"), "{error}");
    }

    #[test]
    fn units_are_counted_as_java_counts_them() {
        let mut letter = letter();
        letter.extras = vec![("k".into(), "😀".repeat(99_980))];
        assert!(!is_too_large(&letter));
        letter.extras[0].1.push_str(&"😀".repeat(10));
        assert!(is_too_large(&letter));
    }
}
