//! Authentication before a connection is online, for both ends.
//!
//! ```text
//!  host    CNXN ─▶         signature ─▶      (no key left) public key ─▶        online
//!  phone        ◀─ token            ◀─ token, or CNXN                   … CNXN ─▶
//! ```
//!
//! A phone with a [`HostVerifier`] answers CNXN with a token and serves nothing yet. It sends CNXN
//! for a valid signature, or once the user has authorized the public key. As in `auth.cpp` of
//! AOSP's adb, it sends nothing to a host that is rejected. The cryptography is in [`crate::auth`].

use std::time::Instant;

use super::{Connection, ConnectionState, Event};
use crate::Error;
use crate::wire::packet::{self, Command, Packet};

/// Limit on wrong signatures before a phone disconnects. Hosts try every key they have.
pub(super) const MAX_SIGNATURES: usize = 256;
/// Limit on a public key, in bytes; one of 2048 bits takes about 720.
const MAX_KEY: usize = 4096;

/// Holds a key and answers a phone that requires one.
pub trait Authenticator: Send {
    /// Answers one AUTH token. Called again if the phone does not know the key: first return
    /// signatures by each key, then a public key for the user to authorize. After that it is not
    /// called again.
    fn answer(&mut self, token: &[u8]) -> AuthResponse;
}

/// The response to an AUTH token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthResponse {
    /// The signed token.
    Signature(Vec<u8>),
    /// A public key in Android's format, without the NUL.
    PublicKey(Vec<u8>),
    /// Nothing left to try.
    GiveUp,
}

/// Lets a phone authenticate its hosts.
pub trait HostVerifier: Send {
    /// Twenty unpredictable bytes, new on each call.
    fn token(&mut self) -> [u8; 20];

    /// Whether an authorized host signed the token.
    fn verify(&mut self, token: &[u8; 20], signature: &[u8]) -> bool;
}

/// The authentication state of a connection.
#[derive(Default)]
pub(super) struct AuthState {
    authenticator: Option<Box<dyn Authenticator>>,
    /// The host has sent its public key.
    pub(super) key_offered: bool,
    verifier: Option<Box<dyn HostVerifier>>,
    /// The token to be signed for a phone.
    token: Option<[u8; 20]>,
    /// Wrong signatures received by a phone.
    wrong_signatures: usize,
    /// Public keys received by a phone.
    keys_received: u32,
    /// The last of them waits for the user, or was rejected.
    key_pending: bool,
    /// The phone has started the user's time limit, once per unauthorized host.
    consent_started: bool,
}

impl Connection {
    /// Lets a host answer phones that require a key.
    #[must_use]
    pub fn with_authenticator(mut self, authenticator: Box<dyn Authenticator>) -> Self {
        self.auth.authenticator = Some(authenticator);
        self
    }

    /// Makes a phone require a key.
    #[must_use]
    pub fn with_verifier(mut self, verifier: Box<dyn HostVerifier>) -> Self {
        self.auth.verifier = Some(verifier);
        self
    }

    /// Authorizes the key of [`Event::PublicKeyReceived`] with this number. Does nothing if the
    /// host has restarted the connection meanwhile.
    pub fn admit(&mut self, number: u32) {
        if self.state == ConnectionState::Greeting
            && self.auth.key_pending
            && self.auth.keys_received == number
        {
            self.accept_host();
        }
    }

    /// Requests a key from a host that sent CNXN. `false` without a verifier.
    pub(super) fn ask_for_key(&mut self, now: Instant) -> bool {
        // Keep a running deadline: repeating CNXN gains no time.
        let timeout = self.settings.greeting;
        self.deadline = self.deadline.or(timeout.map(|timeout| now + timeout));
        let Some(verifier) = &mut self.auth.verifier else { return false };
        let token = verifier.token();
        self.auth.token = Some(token);
        self.send_auth(packet::AUTH_TOKEN, &token);
        true
    }

    /// A new CNXN restarts authentication.
    pub(super) fn reset_auth(&mut self) {
        self.auth.key_pending = false;
    }

    /// AUTH received by a host.
    pub(super) fn on_auth_as_host(&mut self, packet: &Packet, now: Instant) -> Result<(), Error> {
        if packet.arg0 != packet::AUTH_TOKEN {
            return Ok(());
        }
        // The public key is the last message: a phone replies with CNXN or not at all.
        if self.auth.key_offered {
            return Err(not_accepted());
        }
        let Some(authenticator) = &mut self.auth.authenticator else {
            return Err(Error::Unauthorized {
                reason: "it requires a key and we have none".into(),
            });
        };
        match authenticator.answer(&packet.payload) {
            AuthResponse::Signature(signature) => {
                self.send_auth(packet::AUTH_SIGNATURE, &signature)
            }
            AuthResponse::PublicKey(mut key) => {
                key.push(0);
                self.auth.key_offered = true;
                self.send_auth(packet::AUTH_PUBLIC_KEY, &key);
                // The user has to find the phone first.
                self.deadline = self.settings.consent.map(|consent| now + consent);
            }
            AuthResponse::GiveUp => {
                return Err(Error::Unauthorized { reason: "it accepts none of our keys".into() });
            }
        }
        Ok(())
    }

    /// AUTH received by a phone.
    pub(super) fn on_auth_as_phone(&mut self, packet: &Packet, now: Instant) -> Result<(), Error> {
        let (Some(verifier), Some(token)) = (&mut self.auth.verifier, &self.auth.token) else {
            return Ok(());
        };
        match packet.arg0 {
            packet::AUTH_SIGNATURE if verifier.verify(token, &packet.payload) => self.accept_host(),
            packet::AUTH_SIGNATURE => {
                self.auth.wrong_signatures += 1;
                if self.auth.wrong_signatures >= MAX_SIGNATURES {
                    let reason = format!("{MAX_SIGNATURES} signatures by unknown keys");
                    return Err(Error::Unauthorized { reason });
                }
                self.ask_for_key(now);
            }
            packet::AUTH_PUBLIC_KEY
                if !self.auth.key_pending && packet.payload.len() <= MAX_KEY =>
            {
                let text = packet.payload.split(|byte| *byte == 0).next().unwrap_or_default();
                let key = String::from_utf8_lossy(text).into_owned();
                self.auth.key_pending = true;
                self.auth.keys_received = self.auth.keys_received.wrapping_add(1);
                if !self.auth.consent_started {
                    self.auth.consent_started = true;
                    self.deadline = self.settings.consent.map(|consent| now + consent);
                }
                self.events
                    .push_back(Event::PublicKeyReceived { number: self.auth.keys_received, key });
            }
            _ => {}
        }
        Ok(())
    }

    fn accept_host(&mut self) {
        self.auth.token = None;
        self.auth.key_pending = false;
        self.auth.wrong_signatures = 0;
        self.auth.consent_started = false;
        self.greet();
        self.go_online();
    }

    /// Always with a checksum: a peer that does not know our version yet may verify it.
    fn send_auth(&mut self, kind: u32, payload: &[u8]) {
        packet::emit(&mut self.out, Command::Auth, kind, 0, payload, true);
    }
}

/// For a host whose public key was not authorized.
pub(super) fn not_accepted() -> Error {
    Error::Unauthorized {
        reason: "its user has not accepted this computer's key. Accept the prompt on the phone's \
                 screen, then try again"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::BytesMut;

    use super::super::tests::{take_sent, tell};
    use super::super::{Role, Settings};
    use super::*;
    use crate::wire::banner::Banner;
    use crate::wire::packet::emit;

    /// Tokens are numbered, and a signature is valid if it is the token's number.
    struct Numbered(u8);

    impl HostVerifier for Numbered {
        fn token(&mut self) -> [u8; 20] {
            self.0 = self.0.wrapping_add(1);
            [self.0; 20]
        }

        fn verify(&mut self, token: &[u8; 20], signature: &[u8]) -> bool {
            signature == [token[0]]
        }
    }

    /// A phone that requires a key, after CNXN, and its token.
    fn greeted() -> Connection {
        let settings = Settings::phone(Banner::default());
        let mut phone = Connection::new(Role::Phone, settings, Instant::now())
            .with_verifier(Box::new(Numbered(0)));
        greet(&mut phone, 1);
        phone
    }

    fn greet(phone: &mut Connection, token: u8) {
        tell(phone, Command::Cnxn, packet::VERSION, 1 << 20, b"host::");
        assert_eq!(take_sent(phone), [(Command::Auth, packet::AUTH_TOKEN, 0, vec![token; 20])]);
        assert_eq!(phone.peer(), None, "nobody is authorized yet");
    }

    fn keys_received(phone: &mut Connection) -> Option<(u32, String)> {
        std::iter::from_fn(|| phone.poll_event()).find_map(|event| match event {
            Event::PublicKeyReceived { number, key } => Some((number, key)),
            _ => None,
        })
    }

    fn is_in(phone: &mut Connection) -> bool {
        let greetings = take_sent(phone).iter().filter(|packet| packet.0 == Command::Cnxn).count();
        assert_eq!(greetings == 1, phone.peer().is_some());
        greetings == 1
    }

    #[test]
    fn valid_signature_authorizes_the_host() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert!(is_in(&mut phone));
        assert_eq!(phone.poll_event(), Some(Event::Online));
    }

    #[test]
    fn bad_signature_gets_a_new_token_and_voids_the_old() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[9]);
        assert_eq!(take_sent(&mut phone), [(Command::Auth, packet::AUTH_TOKEN, 0, vec![2; 20])]);
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert_eq!(take_sent(&mut phone), [(Command::Auth, packet::AUTH_TOKEN, 0, vec![3; 20])]);
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[3]);
        assert!(is_in(&mut phone));
    }

    #[test]
    fn unauthorized_host_gets_no_service() {
        let mut phone = greeted();
        tell(&mut phone, Command::Open, 5, 0, b"shell:id\0");
        tell(&mut phone, Command::Wrte, 5, 1, b"id\n");
        assert_eq!((take_sent(&mut phone), phone.streams(), phone.poll_event()), (vec![], 0, None));
    }

    #[test]
    fn key_waits_for_the_user_and_is_shown_once() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"QAAA me@here\0");
        let (number, key) = keys_received(&mut phone).unwrap();
        assert_eq!(key, "QAAA me@here");
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"QAAA other@there\0");
        assert_eq!(keys_received(&mut phone), None, "the user is not asked twice");
        assert!(!is_in(&mut phone));
        phone.admit(number + 1);
        assert!(!is_in(&mut phone), "that was another key");
        phone.admit(number);
        assert!(is_in(&mut phone));
        phone.admit(number);
        assert!(!take_sent(&mut phone).iter().any(|packet| packet.0 == Command::Cnxn));
    }

    #[test]
    fn consent_for_a_restarted_host_is_ignored() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"one\0");
        let (first, _) = keys_received(&mut phone).unwrap();
        greet(&mut phone, 2);
        phone.admit(first);
        assert!(!is_in(&mut phone));
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"two\0");
        let (second, _) = keys_received(&mut phone).unwrap();
        phone.admit(first);
        assert!(!is_in(&mut phone));
        phone.admit(second);
        assert!(is_in(&mut phone));
    }

    #[test]
    fn second_cnxn_restarts_authentication() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert!(is_in(&mut phone));
        greet(&mut phone, 2);
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert!(!is_in(&mut phone));
    }

    #[test]
    fn guessing_host_is_disconnected() {
        let mut phone = greeted();
        for _ in 0..MAX_SIGNATURES {
            assert_eq!(phone.ended(), None);
            tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[]);
        }
        assert!(matches!(phone.ended(), Some(Error::Unauthorized { .. })));
    }

    #[test]
    fn overlong_key_is_ignored() {
        let mut phone = greeted();
        let long = vec![b'A'; MAX_KEY + 1];
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, &long);
        assert_eq!(keys_received(&mut phone), None);
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, &long[1..]);
        assert!(keys_received(&mut phone).is_some());
    }

    #[test]
    fn disconnect_after_a_key_means_unauthorized() {
        struct Shows;
        impl Authenticator for Shows {
            fn answer(&mut self, _token: &[u8]) -> AuthResponse {
                AuthResponse::PublicKey(b"QAAA".to_vec())
            }
        }
        let settings = Settings::host(Banner::default());
        let mut host = Connection::new(Role::Host, settings, Instant::now())
            .with_authenticator(Box::new(Shows));
        tell(&mut host, Command::Auth, packet::AUTH_TOKEN, 0, &[1; 20]);
        host.end(Error::disconnected("the peer closed the connection"));
        let error = host.ended().unwrap();
        assert!(matches!(error, Error::Unauthorized { .. }));
        assert!(error.to_string().contains("Accept the prompt"), "{error}");
    }

    #[test]
    fn missing_key_means_unauthorized() {
        let check = |command, expected: &str| {
            let mut host =
                Connection::new(Role::Host, Settings::host(Banner::default()), Instant::now());
            tell(&mut host, command, packet::AUTH_TOKEN, 0, &[1; 20]);
            let error = host.ended().unwrap();
            assert!(matches!(error, Error::Unauthorized { .. }));
            assert!(error.to_string().contains(expected), "{error}");
        };
        check(Command::Auth, "requires a key");
        check(Command::Stls, "TLS");
    }

    #[test]
    fn authenticator_signs_then_offers_its_key() {
        struct TwoSteps(u8);
        impl Authenticator for TwoSteps {
            fn answer(&mut self, token: &[u8]) -> AuthResponse {
                self.0 += 1;
                match self.0 {
                    1 => AuthResponse::Signature([b"signed ", token].concat()),
                    2 => AuthResponse::PublicKey(b"QAAA key@host".to_vec()),
                    _ => AuthResponse::GiveUp,
                }
            }
        }
        let now = Instant::now();
        let mut host = Connection::new(Role::Host, Settings::host(Banner::default()), now)
            .with_authenticator(Box::new(TwoSteps(0)));
        take_sent(&mut host);
        tell(&mut host, Command::Auth, packet::AUTH_TOKEN, 0, b"token");
        assert_eq!(take_sent(&mut host), [(Command::Auth, 2, 0, b"signed token".to_vec())]);
        tell(&mut host, Command::Auth, packet::AUTH_TOKEN, 0, b"again");
        assert_eq!(take_sent(&mut host), [(Command::Auth, 3, 0, b"QAAA key@host\0".to_vec())]);

        let mut patient = host;
        patient.tick(patient.deadline().unwrap());
        assert!(matches!(patient.ended(), Some(Error::Unauthorized { .. })), "nobody tapped Allow");
    }

    #[test]
    fn endless_key_requests_time_out() {
        struct Always(AuthResponse);
        impl Authenticator for Always {
            fn answer(&mut self, _token: &[u8]) -> AuthResponse {
                self.0.clone()
            }
        }
        let asked = |answer: AuthResponse| {
            let start = Instant::now();
            let mut host = Connection::new(Role::Host, Settings::host(Banner::default()), start)
                .with_authenticator(Box::new(Always(answer)));
            let mut token = BytesMut::new();
            for second in 0..20 {
                let now = start + Duration::from_secs(second);
                emit(&mut token, Command::Auth, packet::AUTH_TOKEN, 0, b"token", true);
                host.receive(&mut token, now);
                host.tick(now);
            }
            host.ended().cloned()
        };
        assert!(matches!(asked(AuthResponse::Signature(vec![1])), Some(Error::TimedOut { .. })));
        assert!(matches!(
            asked(AuthResponse::PublicKey(vec![1])),
            Some(Error::Unauthorized { .. })
        ));
    }
}
