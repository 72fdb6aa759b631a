//! RSA keys by which a phone knows its hosts: reading, making and writing them, signing and checking.
//!
//! Begin with [`Key`], the host's half, and [`PublicKey`], what a phone keeps of it. In which order
//! signatures and keys cross the wire is [`crate::connection`]'s matter; [`KeyHolder`] is what it
//! asks. Where keys lie is the caller's: no file is read or written here.
//!
//! Source of the formats: `android_pubkey.cpp` (libcrypto_utils) and `auth.cpp` in AOSP.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, LineEnding};
use rsa::rand_core::OsRng;
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, Pkcs1v15Sign, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;

use crate::Error;
use crate::connection::{Answer, Authenticator};

/// Bytes of a token. A phone takes exactly as many.
pub const TOKEN: usize = 20;
/// The only size of key that phones know.
const BITS: usize = 2048;
/// Bytes of a modulus, and of a signature.
const MODULUS: usize = BITS / 8;
/// Bytes of a public key in Android's form: words in the modulus, `-1 / n[0] mod 2^32`, the modulus,
/// `R^2 mod n` with `R = 2^2048`, the exponent; all little-endian.
const ENCODED: usize = 4 + 4 + MODULUS + MODULUS + 4;
/// The longest text of a public key that is looked at. `ENCODED` bytes are 700 characters.
const MAX_LINE: usize = 4096;

/// A host's private key.
pub struct Key(RsaPrivateKey);

impl Key {
    /// Makes a new key. Takes some 0.1 s of computing.
    ///
    /// # Errors
    /// [`Error::Local`] when the system has no random numbers.
    pub fn generate() -> Result<Self, Error> {
        RsaPrivateKey::new(&mut OsRng, BITS)
            .map(Self)
            .map_err(|error| local("make a key", &error.to_string()))
    }

    /// Reads a key as a stock adb keeps it in `~/.android/adbkey`: PEM around PKCS#8, or around
    /// PKCS#1 as very old ones wrote.
    ///
    /// # Errors
    /// [`Error::Local`] for whatever is not an RSA key of 2048 bits. The text is not repeated.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        const WHAT: &str = "read the private key";
        let key = RsaPrivateKey::from_pkcs8_pem(pem)
            .or_else(|error| RsaPrivateKey::from_pkcs1_pem(pem).map_err(|_| error))
            .map_err(|error| local(WHAT, &error.to_string()))?;
        if key.n().bits() != BITS {
            let found = format!("it has {} bits where phones want {BITS}", key.n().bits());
            return Err(local(WHAT, &found));
        }
        Ok(Self(key))
    }

    /// The key as a stock adb keeps it: PEM around PKCS#8. It is a secret: mode 0600.
    ///
    /// # Errors
    /// [`Error::Local`] when it cannot be written down, which does not happen to a sound key.
    pub fn to_pem(&self) -> Result<String, Error> {
        match self.0.to_pkcs8_pem(LineEnding::LF) {
            Ok(pem) => Ok((*pem).clone()),
            Err(error) => Err(local("write the private key", &error.to_string())),
        }
    }

    /// The public half as one line, as in `~/.android/adbkey.pub`: Base64, a space, and a name such
    /// as `user@host` that the phone's owner is shown.
    pub fn public_line(&self, name: &str) -> String {
        format!("{} {}", STANDARD.encode(encode(&self.0.to_public_key())), one_word(name))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.to_public_key())
    }

    /// Signs a phone's token: PKCS#1 v1.5 as if the token were a SHA-1 digest, blinded.
    ///
    /// # Errors
    /// [`Error::Unauthorized`] for a token that is not 20 bytes long.
    pub fn sign(&self, token: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.sign_with_rng(&mut OsRng, Pkcs1v15Sign::new::<Sha1>(), token).map_err(|_| {
            let reason = format!("it asks to sign {} bytes where {TOKEN} belong", token.len());
            Error::Unauthorized { reason }
        })
    }
}

impl fmt::Debug for Key {
    /// Says nothing of the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&"…").finish()
    }
}

/// What a phone keeps of a host's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(RsaPublicKey);

impl PublicKey {
    /// Reads [`Key::public_line`]; the name may be missing, and a NUL may end it.
    ///
    /// # Errors
    /// [`Error::Protocol`] when it is no key that Android would take.
    pub fn read(line: &str) -> Result<Self, Error> {
        let bad = |saw: &str| Error::protocol(format!("a public key {saw}"));
        if line.len() > MAX_LINE {
            return Err(bad(&format!("of {} characters", line.len())));
        }
        let text = line.split([' ', '\t', '\n', '\0']).next().unwrap_or_default();
        let bytes = STANDARD.decode(text).map_err(|error| bad(&format!("that has {error}")))?;
        if bytes.len() != ENCODED {
            return Err(bad(&format!("of {} bytes where {ENCODED} belong", bytes.len())));
        }
        let word = |at: usize| -> u32 {
            bytes[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        // The two numbers beside the modulus only save a phone some work: Android passes them over.
        let modulus = BigUint::from_bytes_le(&bytes[8..8 + MODULUS]);
        let exponent = word(ENCODED - 4);
        if word(0) as usize != MODULUS / 4 || modulus.bits() != BITS || bytes[8] % 2 == 0 {
            return Err(bad("whose modulus is not an odd number of 2048 bits"));
        }
        if !matches!(exponent, 3 | 65_537) {
            return Err(bad(&format!("with exponent {exponent}")));
        }
        RsaPublicKey::new(modulus, exponent.into())
            .map(Self)
            .map_err(|error| bad(&format!("that has {error}")))
    }

    /// Whether this key's private half signed the token.
    pub fn signed(&self, token: &[u8], signature: &[u8]) -> bool {
        self.0.verify(Pkcs1v15Sign::new::<Sha1>(), token, signature).is_ok()
    }
}

/// Answers phones with one key: first a signature, then the public half.
#[derive(Debug)]
pub struct KeyHolder {
    key: Arc<Key>,
    name: String,
    asked: u32,
}

impl KeyHolder {
    /// For one connection. The phone's owner is shown `name`, such as `user@host`.
    pub fn new(key: Arc<Key>, name: impl Into<String>) -> Self {
        Self { key, name: name.into(), asked: 0 }
    }
}

impl Authenticator for KeyHolder {
    fn answer(&mut self, token: &[u8]) -> Answer {
        self.asked = self.asked.saturating_add(1);
        match self.asked {
            1 => match self.key.sign(token) {
                Ok(signature) => Answer::Signature(signature),
                Err(error) => {
                    tracing::debug!(%error, "no signature");
                    Answer::GiveUp
                }
            },
            2 => Answer::PublicKey(self.key.public_line(&self.name).into_bytes()),
            _ => Answer::GiveUp,
        }
    }
}

/// Twenty bytes that nobody can guess, for a phone to have signed.
///
/// # Panics
/// The system has no random numbers: a phone without them must let nobody in.
pub fn token() -> [u8; TOKEN] {
    use rsa::rand_core::RngCore as _;
    let mut token = [0; TOKEN];
    OsRng.fill_bytes(&mut token);
    token
}

fn encode(key: &RsaPublicKey) -> Vec<u8> {
    let modulus = little_endian(key.n());
    let lowest = modulus[..4].iter().rev().fold(0, |word: u32, byte| word << 8 | u32::from(*byte));
    // Newton: each step doubles the bits of the inverse that are right, beginning with three.
    let inverse = (0..4).fold(lowest, |inverse, _| {
        inverse.wrapping_mul(2u32.wrapping_sub(lowest.wrapping_mul(inverse)))
    });
    let square = (BigUint::from(1u8) << (2 * BITS)) % key.n();
    let exponent = little_endian(key.e());
    let mut out = Vec::with_capacity(ENCODED);
    out.extend_from_slice(&((MODULUS / 4) as u32).to_le_bytes());
    out.extend_from_slice(&inverse.wrapping_neg().to_le_bytes());
    out.extend_from_slice(&modulus);
    out.extend_from_slice(&little_endian(&square));
    out.extend_from_slice(&exponent[..4]);
    out
}

/// A number of at most [`BITS`] bits, filled up with zeros.
fn little_endian(number: &BigUint) -> [u8; MODULUS] {
    let mut bytes = [0; MODULUS];
    for (to, from) in bytes.iter_mut().zip(number.to_bytes_le()) {
        *to = from;
    }
    bytes
}

/// A name that cannot end the line or hold a second field.
fn one_word(name: &str) -> String {
    let plain = |c: char| if c.is_control() || c.is_whitespace() { '_' } else { c };
    name.chars().take(256).map(plain).collect()
}

fn local(what: &str, reason: &str) -> Error {
    Error::Local { what: what.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_survives_being_written_down() {
        let key = Key::generate().unwrap();
        let pem = key.to_pem().unwrap();
        assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"), "PKCS#8, as adb writes it");
        let again = Key::from_pem(&pem).unwrap();
        assert_eq!(again.public(), key.public());
        assert!(key.public().signed(&[7; 20], &again.sign(&[7; 20]).unwrap()));
        assert!(!format!("{key:?}").contains("d:"), "a secret is not printed");
    }

    #[test]
    fn a_signature_fits_its_token_and_its_key_only() {
        let (key, other) = (Key::generate().unwrap(), Key::generate().unwrap());
        let signature = key.sign(&[1; 20]).unwrap();
        assert!(key.public().signed(&[1; 20], &signature));
        assert!(!key.public().signed(&[2; 20], &signature));
        assert!(!other.public().signed(&[1; 20], &signature));
        assert!(!key.public().signed(&[1; 20], &[]));
        assert!(!key.public().signed(&[], &signature));
        assert!(matches!(key.sign(&[1; 21]), Err(Error::Unauthorized { .. })));
    }

    #[test]
    fn a_public_key_is_these_524_bytes() {
        let key = Key::generate().unwrap();
        let line = key.public_line("me@here");
        let (text, name) = line.split_once(' ').unwrap();
        assert_eq!((text.len(), name), (700, "me@here"));
        let bytes = STANDARD.decode(text).unwrap();
        assert_eq!(bytes.len(), 524);
        assert_eq!(bytes[..4], 64u32.to_le_bytes(), "words of the modulus");
        assert_eq!(bytes[520..], 65_537u32.to_le_bytes(), "the exponent");
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(word(8).wrapping_mul(word(4)), u32::MAX, "n[0] * n0inv = -1");
        let n = BigUint::from_bytes_le(&bytes[8..264]);
        assert_eq!(&n, key.0.n());
        let r = (BigUint::from(1u8) << 2048) % &n;
        assert_eq!(BigUint::from_bytes_le(&bytes[264..520]), (&r * &r) % &n, "R^2 mod n");
        assert_eq!(PublicKey::read(&line).unwrap(), key.public());
        assert_eq!(PublicKey::read(&format!("{text}\0")).unwrap(), key.public());
    }

    #[test]
    fn a_name_cannot_add_a_second_line() {
        let line = Key::generate().unwrap().public_line("me\n@here too\0");
        assert!(line.ends_with(" me_@here_too_"), "{line}");
    }

    #[test]
    fn what_is_no_key_is_refused_by_what_is_wrong_with_it() {
        let good = STANDARD.decode(&Key::generate().unwrap().public_line("")[..700]).unwrap();
        let check = |place: usize, byte: u8, expected: &str| {
            let mut bytes = good.clone();
            bytes[place] = byte;
            let error = PublicKey::read(&STANDARD.encode(bytes)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(0, 65, "modulus");
        check(8, 0, "odd number");
        check(8 + 255, 0, "2048 bits");
        check(520, 2, "exponent 65538");
        for bad in ["", "no key", "AAAA", &"A".repeat(5000), &STANDARD.encode([0; 524])] {
            assert!(matches!(PublicKey::read(bad), Err(Error::Protocol { .. })), "{bad:.20}");
        }
        for bad in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert!(matches!(Key::from_pem(bad), Err(Error::Local { .. })), "{bad}");
        }
    }

    #[test]
    fn a_key_of_another_size_is_refused() {
        let short = RsaPrivateKey::new(&mut OsRng, 1024).unwrap();
        let pem = short.to_pkcs8_pem(LineEnding::LF).unwrap();
        let error = Key::from_pem(&pem).unwrap_err().to_string();
        assert!(error.contains("1024 bits"), "{error}");
    }

    #[test]
    fn a_holder_signs_once_then_shows_its_key_then_gives_up() {
        let key = Arc::new(Key::generate().unwrap());
        let mut holder = KeyHolder::new(key.clone(), "me@here");
        let Answer::Signature(signature) = holder.answer(&[1; 20]) else { panic!("no signature") };
        assert!(key.public().signed(&[1; 20], &signature));
        assert_eq!(
            holder.answer(&[2; 20]),
            Answer::PublicKey(key.public_line("me@here").into_bytes())
        );
        assert_eq!(holder.answer(&[3; 20]), Answer::GiveUp);
        assert_eq!(KeyHolder::new(key, "").answer(b"short"), Answer::GiveUp);
    }

    proptest! {
        #[test]
        fn any_524_bytes_are_read_or_refused(
            mut bytes in proptest::collection::vec(any::<u8>(), 524),
            signature in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            bytes[..4].copy_from_slice(&64u32.to_le_bytes());
            bytes[520..].copy_from_slice(&65_537u32.to_le_bytes());
            if let Ok(key) = PublicKey::read(&STANDARD.encode(bytes)) {
                prop_assert!(!key.signed(&[1; 20], &signature));
            }
        }
    }
}
