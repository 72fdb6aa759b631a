//! Addresses of links: what each scheme does when it is opened, and how an address is written for a
//! phone.
//!
//! The table is the only one: drivers refuse by it, the operator's limits allow calls and messages
//! by it, and the agent asks its questions by it.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::Error;

/// What opening an address does, as far as its scheme shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Shows a page of a server.
    Page,
    /// Shows something, without a server that an address could name.
    Place,
    /// Begins a call, perhaps after a question to the user.
    Call,
    /// Writes a message to a phone number or a chat address.
    Message,
    /// Writes an e-mail.
    Mail,
    /// Pays.
    Payment,
    /// Offers to install an app.
    Installation,
    /// Is up to the app that has this scheme.
    App,
    /// Names a file, a program or a part of an app instead of a place. Never opened.
    Refused,
}

/// The schemes whose kind is not [`LinkKind::App`], in lower case.
const SCHEMES: [(&str, LinkKind); 36] = [
    ("http", LinkKind::Page),
    ("https", LinkKind::Page),
    ("about", LinkKind::Place),
    ("geo", LinkKind::Place),
    ("callto", LinkKind::Call),
    ("facetime", LinkKind::Call),
    ("facetime-audio", LinkKind::Call),
    ("facetime-audio-prompt", LinkKind::Call),
    ("facetime-prompt", LinkKind::Call),
    ("sip", LinkKind::Call),
    ("sips", LinkKind::Call),
    ("tel", LinkKind::Call),
    ("telprompt", LinkKind::Call),
    ("voicemail", LinkKind::Call),
    ("imessage", LinkKind::Message),
    ("mms", LinkKind::Message),
    ("mmsto", LinkKind::Message),
    ("sms", LinkKind::Message),
    ("smsto", LinkKind::Message),
    ("xmpp", LinkKind::Message),
    ("mailto", LinkKind::Mail),
    ("bitcoin", LinkKind::Payment),
    ("ethereum", LinkKind::Payment),
    ("paypal", LinkKind::Payment),
    ("upi", LinkKind::Payment),
    ("venmo", LinkKind::Payment),
    ("itms-apps", LinkKind::Installation),
    ("itms-services", LinkKind::Installation),
    ("market", LinkKind::Installation),
    ("android-app", LinkKind::Refused),
    ("content", LinkKind::Refused),
    ("data", LinkKind::Refused),
    ("file", LinkKind::Refused),
    ("intent", LinkKind::Refused),
    ("javascript", LinkKind::Refused),
    ("package", LinkKind::Refused),
];

impl LinkKind {
    /// The kind of addresses with this scheme, in any case.
    pub fn of_scheme(scheme: &str) -> Self {
        let row = SCHEMES.iter().find(|(known, _)| scheme.eq_ignore_ascii_case(known));
        row.map_or(Self::App, |(_, kind)| *kind)
    }
}

/// The scheme of an address, in lower case; `None` if it has none.
pub fn link_scheme(address: &str) -> Option<String> {
    let (scheme, _) = address.split_once(':')?;
    let is_other = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_other);
    is_scheme.then(|| scheme.to_ascii_lowercase())
}

/// The longest address that is opened: phones before Android 7 take commands of 4 KiB.
const MAX_ADDRESS: usize = 2_000;

/// Spaces are encoded: `NSURL` refuses them before iOS 17. So is what is not ASCII, which some old
/// phones garble.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ');

const WHAT: &str = "opening the address";

/// The address as URIs are written, ready to be opened.
///
/// # Errors
/// [`Error::Refused`] if no link could have it, or it is one that is never opened.
pub(crate) fn encode_link(address: &str) -> Result<String, Error> {
    let refuse = |reason: String| Err(Error::Refused { what: WHAT, reason });
    let Some(scheme) = link_scheme(address) else {
        return refuse("it has no scheme; write it in full, such as https://example.com".into());
    };
    if address.chars().any(char::is_control) {
        return refuse("it contains a control character; remove it".into());
    }
    match LinkKind::of_scheme(&scheme) {
        LinkKind::Refused => {
            return refuse(format!(
                "addresses with `{scheme}:` are not opened; use https:, geo:, mailto: or an app's own scheme"
            ));
        }
        // Some phones run a code as soon as it is in the dialer: it can divert calls, and erased
        // Samsung phones in 2012.
        LinkKind::Call if has_code(address) => {
            return refuse(
                "it contains a code with `*` or `#`, which some phones run at once; use a plain number"
                    .into(),
            );
        }
        _ => {}
    }
    let encoded = utf8_percent_encode(address, ENCODED).to_string();
    match encoded.len() {
        length if length > MAX_ADDRESS => {
            refuse(format!("it has {length} bytes, more than {MAX_ADDRESS}; use a shorter one"))
        }
        _ => Ok(encoded),
    }
}

/// Whether a `*` or a `#` is in the address, however often it is percent-encoded.
fn has_code(address: &str) -> bool {
    let mut decoded = address.to_owned();
    loop {
        if decoded.contains(['*', '#']) {
            return true;
        }
        let next = percent_decode_str(&decoded).decode_utf8_lossy().into_owned();
        if next == decoded {
            return false;
        }
        decoded = next;
    }
}

/// The error if no app on the phone opens addresses with this one's scheme.
pub(crate) fn no_app_opens(address: &str) -> Error {
    let scheme = link_scheme(address).unwrap_or_default();
    let reason = format!(
        "no app on this phone opens `{scheme}:` addresses; install one, or look for it in an app"
    );
    Error::Refused { what: WHAT, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_becomes_ascii() {
        assert_eq!(encode_link("https://a.b/?q=1&r='2 #").unwrap(), "https://a.b/?q=1&r='2%20#");
        assert_eq!(encode_link("geo:0,0?q=Caf\u{e9}").unwrap(), "geo:0,0?q=Caf%C3%A9");
        assert_eq!(encode_link("my-app+x.1://go").unwrap(), "my-app+x.1://go");
    }

    #[test]
    fn what_is_not_a_link_is_refused() {
        for (address, reason) in [
            ("example.com", "no scheme"),
            ("", "no scheme"),
            (" tel:1", "no scheme"),
            ("-n com.x/.Y:z", "no scheme"),
            ("1a:b", "no scheme"),
            ("file:///data/x", "`file:` are not opened"),
            ("INTENT:#Intent;end", "`intent:` are not opened"),
            ("javascript:alert(1)", "`javascript:` are not opened"),
            ("content://sms", "`content:` are not opened"),
            ("https://a\nb", "control character"),
            (&format!("https://{}", "\u{e9}".repeat(400)), "2408 bytes"),
        ] {
            let error = encode_link(address).unwrap_err();
            assert!(error.to_string().contains(reason), "{address}: {error}");
        }
    }

    #[test]
    fn codes_are_refused_however_they_are_written() {
        for address in [
            "tel:*#06#",
            "TEL:%2A21",
            "telprompt:1%2523",
            "sip:%25252a@host",
            "facetime:*1",
            "voicemail:1#",
        ] {
            let error = encode_link(address).unwrap_err().to_string();
            assert!(error.contains("some phones run at once"), "{address}: {error}");
        }
        for address in ["tel:+15550100", "tel:%2B1", "tel:100%", "https://a/#*"] {
            encode_link(address).unwrap();
        }
    }

    #[test]
    fn kinds_are_found_in_any_case() {
        assert_eq!(LinkKind::of_scheme("FaceTime"), LinkKind::Call);
        assert_eq!(LinkKind::of_scheme("telegram"), LinkKind::App);
        assert_eq!(link_scheme("SMS:+1").as_deref(), Some("sms"));
        assert_eq!(link_scheme("https"), None);
        let mut names: Vec<&str> = SCHEMES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SCHEMES.len());
    }
}
