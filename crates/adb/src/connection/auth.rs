//! The talk about keys before a connection is online, of both ends.
//!
//! ```text
//!  host    CNXN ─▶         signature ─▶      (no key left) public key ─▶        online
//!  phone        ◀─ token            ◀─ token, or CNXN                   … CNXN ─▶
//! ```
//!
//! A phone with a [`Gate`] answers each greeting with a token, serves nothing meanwhile, and says
//! CNXN to a good signature, or once its owner has accepted the public key. As in `auth.cpp` of AOSP's
//! adb, it says nothing to a host that is turned down. Cryptography is [`crate::auth`]'s matter.

use std::time::Instant;

use super::{Connection, Event, Stage};
use crate::Error;
use crate::wire::packet::{self, Command, Packet};

/// Wrong signatures after which a phone hangs up. Hosts try every key they hold.
pub(super) const MAX_SIGNATURES: usize = 256;
/// The longest public key that a phone looks at; one of 2048 bits takes some 720 bytes.
const MAX_KEY: usize = 4096;

/// Holds a key and answers a phone that asks for one.
pub trait Authenticator: Send {
    /// Answers one AUTH token. It is asked again when the phone does not know the key: first come
    /// signatures by each key held, then a public key for the phone's owner to accept. After that
    /// it is not asked again.
    fn answer(&mut self, token: &[u8]) -> Answer;
}

/// An answer to an AUTH token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The token, signed.
    Signature(Vec<u8>),
    /// A public key in Android's form, without the NUL.
    PublicKey(Vec<u8>),
    /// Nothing is left to try.
    GiveUp,
}

/// Lets a phone ask who is there.
pub trait Gate: Send {
    /// Twenty bytes that nobody can guess, new at each call.
    fn token(&mut self) -> [u8; 20];

    /// Whether the token was signed by a host that may come in.
    fn knows(&mut self, token: &[u8; 20], signature: &[u8]) -> bool;
}

/// What a connection keeps of the talk.
#[derive(Default)]
pub(super) struct Talk {
    authenticator: Option<Box<dyn Authenticator>>,
    /// A host has shown its public key.
    pub(super) key_offered: bool,
    gate: Option<Box<dyn Gate>>,
    /// What a phone wants signed.
    token: Option<[u8; 20]>,
    /// Wrong signatures that a phone has seen.
    refused: usize,
    /// How many public keys a phone was shown.
    shown: u32,
    /// The last of them waits for the owner's word, or did not get it.
    pending: bool,
    /// A phone gives its owner time, once for each host that is not in.
    given_time: bool,
}

impl Connection {
    /// Lets a host answer phones that ask for a key.
    #[must_use]
    pub fn with_authenticator(mut self, authenticator: Box<dyn Authenticator>) -> Self {
        self.talk.authenticator = Some(authenticator);
        self
    }

    /// Makes a phone ask its hosts for a key.
    #[must_use]
    pub fn with_gate(mut self, gate: Box<dyn Gate>) -> Self {
        self.talk.gate = Some(gate);
        self
    }

    /// The phone's owner accepts the key of [`Event::KeyShown`] with this number. Nothing happens
    /// when its host has meanwhile greeted anew.
    pub fn admit(&mut self, number: u32) {
        if self.stage == Stage::Greeting && self.talk.pending && self.talk.shown == number {
            self.let_in();
        }
    }

    /// Asks a host that greeted for a key. `false` when there is no gate.
    pub(super) fn ask_for_key(&mut self, now: Instant) -> bool {
        // Kept while it runs: greeting again and again gains no time.
        let patience = self.settings.greeting;
        self.deadline = self.deadline.or(patience.map(|patience| now + patience));
        let Some(gate) = &mut self.talk.gate else { return false };
        let token = gate.token();
        self.talk.token = Some(token);
        self.say(packet::AUTH_TOKEN, &token);
        true
    }

    /// A new greeting begins the talk anew.
    pub(super) fn forget_talk(&mut self) {
        self.talk.pending = false;
    }

    /// AUTH, as a host hears it.
    pub(super) fn asked(&mut self, packet: &Packet, now: Instant) -> Result<(), Error> {
        if packet.arg0 != packet::AUTH_TOKEN {
            return Ok(());
        }
        // The public key is the last thing to say: a phone answers it with CNXN or not at all.
        if self.talk.key_offered {
            return Err(not_accepted());
        }
        let Some(authenticator) = &mut self.talk.authenticator else {
            return Err(Error::Unauthorized {
                reason: "it asks for a key and we hold none".into(),
            });
        };
        match authenticator.answer(&packet.payload) {
            Answer::Signature(signature) => self.say(packet::AUTH_SIGNATURE, &signature),
            Answer::PublicKey(mut key) => {
                key.push(0);
                self.talk.key_offered = true;
                self.say(packet::AUTH_PUBLIC_KEY, &key);
                // Its owner has to find the phone first.
                self.deadline = self.settings.consent.map(|consent| now + consent);
            }
            Answer::GiveUp => {
                return Err(Error::Unauthorized { reason: "it accepts none of our keys".into() });
            }
        }
        Ok(())
    }

    /// AUTH, as a phone hears it.
    pub(super) fn answered(&mut self, packet: &Packet, now: Instant) -> Result<(), Error> {
        let (Some(gate), Some(token)) = (&mut self.talk.gate, &self.talk.token) else {
            return Ok(());
        };
        match packet.arg0 {
            packet::AUTH_SIGNATURE if gate.knows(token, &packet.payload) => self.let_in(),
            packet::AUTH_SIGNATURE => {
                self.talk.refused += 1;
                if self.talk.refused >= MAX_SIGNATURES {
                    let reason =
                        format!("{MAX_SIGNATURES} signatures by keys that it does not know");
                    return Err(Error::Unauthorized { reason });
                }
                self.ask_for_key(now);
            }
            packet::AUTH_PUBLIC_KEY if !self.talk.pending && packet.payload.len() <= MAX_KEY => {
                let text = packet.payload.split(|byte| *byte == 0).next().unwrap_or_default();
                let key = String::from_utf8_lossy(text).into_owned();
                self.talk.pending = true;
                self.talk.shown = self.talk.shown.wrapping_add(1);
                if !self.talk.given_time {
                    self.talk.given_time = true;
                    self.deadline = self.settings.consent.map(|consent| now + consent);
                }
                self.events.push_back(Event::KeyShown { number: self.talk.shown, key });
            }
            _ => {}
        }
        Ok(())
    }

    fn let_in(&mut self) {
        self.talk.token = None;
        self.talk.pending = false;
        self.talk.refused = 0;
        self.talk.given_time = false;
        self.greet();
        self.go_online();
    }

    /// Summed up always: who does not know the other's version yet may check.
    fn say(&mut self, kind: u32, payload: &[u8]) {
        packet::emit(&mut self.out, Command::Auth, kind, 0, payload, true);
    }
}

/// For a host whose key was shown to a phone's owner, without the word that it hoped for.
pub(super) fn not_accepted() -> Error {
    Error::Unauthorized {
        reason: "its owner has not accepted this computer's key: accept the prompt on the phone's \
                 screen, then try again"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::BytesMut;

    use super::super::tests::{said, tell};
    use super::super::{Role, Settings};
    use super::*;
    use crate::wire::banner::Banner;
    use crate::wire::packet::emit;

    /// Tokens are numbered, and a signature fits when it is the token's number.
    struct Numbered(u8);

    impl Gate for Numbered {
        fn token(&mut self) -> [u8; 20] {
            self.0 = self.0.wrapping_add(1);
            [self.0; 20]
        }

        fn knows(&mut self, token: &[u8; 20], signature: &[u8]) -> bool {
            signature == [token[0]]
        }
    }

    /// A guarded phone, greeted, and the token that it wants signed.
    fn greeted() -> Connection {
        let settings = Settings::phone(Banner::default());
        let mut phone =
            Connection::new(Role::Phone, settings, Instant::now()).with_gate(Box::new(Numbered(0)));
        greet(&mut phone, 1);
        phone
    }

    fn greet(phone: &mut Connection, token: u8) {
        tell(phone, Command::Cnxn, packet::VERSION, 1 << 20, b"host::");
        assert_eq!(said(phone), [(Command::Auth, packet::AUTH_TOKEN, 0, vec![token; 20])]);
        assert_eq!(phone.peer(), None, "nobody is in yet");
    }

    fn shown(phone: &mut Connection) -> Option<(u32, String)> {
        std::iter::from_fn(|| phone.poll_event()).find_map(|event| match event {
            Event::KeyShown { number, key } => Some((number, key)),
            _ => None,
        })
    }

    fn is_in(phone: &mut Connection) -> bool {
        let greetings = said(phone).iter().filter(|packet| packet.0 == Command::Cnxn).count();
        assert_eq!(greetings == 1, phone.peer().is_some());
        greetings == 1
    }

    #[test]
    fn a_good_signature_lets_a_host_in() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert!(is_in(&mut phone));
        assert_eq!(phone.poll_event(), Some(Event::Online));
    }

    #[test]
    fn a_bad_signature_gets_a_new_token_and_the_old_one_is_worth_nothing() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[9]);
        assert_eq!(said(&mut phone), [(Command::Auth, packet::AUTH_TOKEN, 0, vec![2; 20])]);
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert_eq!(said(&mut phone), [(Command::Auth, packet::AUTH_TOKEN, 0, vec![3; 20])]);
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[3]);
        assert!(is_in(&mut phone));
    }

    #[test]
    fn nothing_is_served_before_a_host_is_let_in() {
        let mut phone = greeted();
        tell(&mut phone, Command::Open, 5, 0, b"shell:id\0");
        tell(&mut phone, Command::Wrte, 5, 1, b"id\n");
        assert_eq!((said(&mut phone), phone.streams(), phone.poll_event()), (vec![], 0, None));
    }

    #[test]
    fn a_key_waits_for_the_owners_word_and_is_shown_once() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"QAAA me@here\0");
        let (number, key) = shown(&mut phone).unwrap();
        assert_eq!(key, "QAAA me@here");
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"QAAA other@there\0");
        assert_eq!(shown(&mut phone), None, "the owner is not pestered");
        assert!(!is_in(&mut phone));
        phone.admit(number + 1);
        assert!(!is_in(&mut phone), "that was another key");
        phone.admit(number);
        assert!(is_in(&mut phone));
        phone.admit(number);
        assert!(!said(&mut phone).iter().any(|packet| packet.0 == Command::Cnxn));
    }

    #[test]
    fn a_word_about_a_host_that_began_anew_counts_for_nothing() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"one\0");
        let (first, _) = shown(&mut phone).unwrap();
        greet(&mut phone, 2);
        phone.admit(first);
        assert!(!is_in(&mut phone));
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, b"two\0");
        let (second, _) = shown(&mut phone).unwrap();
        phone.admit(first);
        assert!(!is_in(&mut phone));
        phone.admit(second);
        assert!(is_in(&mut phone));
    }

    #[test]
    fn who_is_in_and_greets_anew_is_asked_again() {
        let mut phone = greeted();
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert!(is_in(&mut phone));
        greet(&mut phone, 2);
        tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[1]);
        assert!(!is_in(&mut phone));
    }

    #[test]
    fn a_host_that_guesses_is_hung_up_on() {
        let mut phone = greeted();
        for _ in 0..MAX_SIGNATURES {
            assert_eq!(phone.ended(), None);
            tell(&mut phone, Command::Auth, packet::AUTH_SIGNATURE, 0, &[]);
        }
        assert!(matches!(phone.ended(), Some(Error::Unauthorized { .. })));
    }

    #[test]
    fn a_key_that_is_too_long_is_passed_over() {
        let mut phone = greeted();
        let long = vec![b'A'; MAX_KEY + 1];
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, &long);
        assert_eq!(shown(&mut phone), None);
        tell(&mut phone, Command::Auth, packet::AUTH_PUBLIC_KEY, 0, &long[1..]);
        assert!(shown(&mut phone).is_some());
    }

    #[test]
    fn a_phone_that_hangs_up_on_a_key_has_not_accepted_it() {
        struct Shows;
        impl Authenticator for Shows {
            fn answer(&mut self, _token: &[u8]) -> Answer {
                Answer::PublicKey(b"QAAA".to_vec())
            }
        }
        let settings = Settings::host(Banner::default());
        let mut host = Connection::new(Role::Host, settings, Instant::now())
            .with_authenticator(Box::new(Shows));
        tell(&mut host, Command::Auth, packet::AUTH_TOKEN, 0, &[1; 20]);
        host.end(Error::vanished("the far end hung up"));
        let error = host.ended().unwrap();
        assert!(matches!(error, Error::Unauthorized { .. }));
        assert!(error.to_string().contains("accept the prompt"), "{error}");
    }

    #[test]
    fn a_phone_that_asks_for_a_key_we_do_not_hold_is_unauthorized() {
        let check = |command, expected: &str| {
            let mut host =
                Connection::new(Role::Host, Settings::host(Banner::default()), Instant::now());
            tell(&mut host, command, packet::AUTH_TOKEN, 0, &[1; 20]);
            let error = host.ended().unwrap();
            assert!(matches!(error, Error::Unauthorized { .. }));
            assert!(error.to_string().contains(expected), "{error}");
        };
        check(Command::Auth, "asks for a key");
        check(Command::Stls, "TLS");
    }

    #[test]
    fn an_authenticator_signs_then_offers_its_key() {
        struct TwoSteps(u8);
        impl Authenticator for TwoSteps {
            fn answer(&mut self, token: &[u8]) -> Answer {
                self.0 += 1;
                match self.0 {
                    1 => Answer::Signature([b"signed ", token].concat()),
                    2 => Answer::PublicKey(b"QAAA key@host".to_vec()),
                    _ => Answer::GiveUp,
                }
            }
        }
        let now = Instant::now();
        let mut host = Connection::new(Role::Host, Settings::host(Banner::default()), now)
            .with_authenticator(Box::new(TwoSteps(0)));
        said(&mut host);
        tell(&mut host, Command::Auth, packet::AUTH_TOKEN, 0, b"token");
        assert_eq!(said(&mut host), [(Command::Auth, 2, 0, b"signed token".to_vec())]);
        tell(&mut host, Command::Auth, packet::AUTH_TOKEN, 0, b"again");
        assert_eq!(said(&mut host), [(Command::Auth, 3, 0, b"QAAA key@host\0".to_vec())]);

        let mut patient = host;
        patient.tick(patient.deadline().unwrap());
        assert!(matches!(patient.ended(), Some(Error::Unauthorized { .. })), "nobody tapped Allow");
    }

    #[test]
    fn a_phone_that_asks_for_keys_for_ever_is_given_up() {
        struct Always(Answer);
        impl Authenticator for Always {
            fn answer(&mut self, _token: &[u8]) -> Answer {
                self.0.clone()
            }
        }
        let asked = |answer: Answer| {
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
        assert!(matches!(asked(Answer::Signature(vec![1])), Some(Error::TimedOut { .. })));
        assert!(matches!(asked(Answer::PublicKey(vec![1])), Some(Error::Unauthorized { .. })));
    }
}
