//! RSA keys that identify hosts to a phone: reading, generating, writing, signing and verifying.
//!
//! Start with [`Key`], the host's private key, and [`PublicKey`], what a phone stores of it. The
//! order in which signatures and keys cross the wire is in [`crate::connection`]; [`KeyHolder`]
//! supplies them. The caller stores keys: no file is read or written here.
//!
//! Formats: `android_pubkey.cpp` (libcrypto_utils) and `auth.cpp` in AOSP.

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
use crate::connection::{AuthResponse, Authenticator};

/// Length of a token in bytes; phones accept no other.
pub const TOKEN: usize = 20;
/// The only key size that phones accept.
const BITS: usize = 2048;
/// Length of a modulus, and of a signature, in bytes.
const MODULUS: usize = BITS / 8;
/// Length of a public key in Android's format, in bytes: words in the modulus, `-1 / n[0] mod
/// 2^32`, the modulus, `R^2 mod n` with `R = 2^2048`, the exponent; all little-endian.
const ENCODED: usize = 4 + 4 + MODULUS + MODULUS + 4;
/// Limit on the text of a public key. `ENCODED` bytes are 700 characters.
const MAX_LINE: usize = 4096;

/// A host's private key.
pub struct Key(RsaPrivateKey);

impl Key {
    /// Generates a key, in about 0.1 s.
    ///
    /// # Errors
    /// [`Error::Local`] if the system has no random numbers.
    pub fn generate() -> Result<Self, Error> {
        RsaPrivateKey::new(&mut OsRng, BITS)
            .map(Self)
            .map_err(|error| local("make a key", &error.to_string()))
    }

    /// Reads a key as stock adb stores it in `~/.android/adbkey`: PEM with PKCS#8, or with PKCS#1
    /// from very old versions.
    ///
    /// # Errors
    /// [`Error::Local`] for anything but an RSA key of 2048 bits. The error does not contain the
    /// text.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        const WHAT: &str = "read the private key";
        let key = RsaPrivateKey::from_pkcs8_pem(pem)
            .or_else(|error| RsaPrivateKey::from_pkcs1_pem(pem).map_err(|_| error))
            .map_err(|error| local(WHAT, &error.to_string()))?;
        if key.n().bits() != BITS {
            let found = format!("it has {} bits; phones require {BITS}", key.n().bits());
            return Err(local(WHAT, &found));
        }
        Ok(Self(key))
    }

    /// The key as stock adb stores it: PEM with PKCS#8. Keep it secret: mode 0600.
    ///
    /// # Errors
    /// [`Error::Local`] if it cannot be encoded, which does not happen to a valid key.
    pub fn to_pem(&self) -> Result<String, Error> {
        match self.0.to_pkcs8_pem(LineEnding::LF) {
            Ok(pem) => Ok((*pem).clone()),
            Err(error) => Err(local("write the private key", &error.to_string())),
        }
    }

    /// The public key as one line, as in `~/.android/adbkey.pub`: Base64, a space, and a name such
    /// as `user@host` that the phone shows its user.
    pub fn public_line(&self, name: &str) -> String {
        format!("{} {}", STANDARD.encode(encode(&self.0.to_public_key())), one_word(name))
    }

    /// The public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.to_public_key())
    }

    /// Signs a phone's token: PKCS#1 v1.5 as if the token were a SHA-1 digest, blinded.
    ///
    /// # Errors
    /// [`Error::Unauthorized`] for a token that is not 20 bytes long.
    pub fn sign(&self, token: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.sign_with_rng(&mut OsRng, Pkcs1v15Sign::new::<Sha1>(), token).map_err(|_| {
            let reason = format!("it sent a token of {} bytes; expected {TOKEN}", token.len());
            Error::Unauthorized { reason }
        })
    }
}

impl fmt::Debug for Key {
    /// Does not reveal the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&"…").finish()
    }
}

/// What a phone stores of a host's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(RsaPublicKey);

impl PublicKey {
    /// Reads [`Key::public_line`]; the name is optional, and a NUL may follow.
    ///
    /// # Errors
    /// [`Error::Protocol`] for a key that Android would not accept.
    pub fn read(line: &str) -> Result<Self, Error> {
        let bad = |saw: &str| Error::protocol(format!("a public key {saw}"));
        if line.len() > MAX_LINE {
            return Err(bad(&format!("of {} characters", line.len())));
        }
        let text = line.split([' ', '\t', '\n', '\0']).next().unwrap_or_default();
        let bytes =
            STANDARD.decode(text).map_err(|error| bad(&format!("that is invalid: {error}")))?;
        if bytes.len() != ENCODED {
            return Err(bad(&format!("of {} bytes; expected {ENCODED}", bytes.len())));
        }
        let word = |at: usize| -> u32 {
            bytes[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        // The two numbers next to the modulus only save the phone some work; Android ignores them.
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
            .map_err(|error| bad(&format!("that is invalid: {error}")))
    }

    /// Whether this key's private half signed the token.
    pub fn signed(&self, token: &[u8], signature: &[u8]) -> bool {
        self.0.verify(Pkcs1v15Sign::new::<Sha1>(), token, signature).is_ok()
    }
}

/// Gets the key when a phone asks for one; `None` if there is none.
pub(crate) type KeySource = dyn Fn() -> Option<Arc<Key>> + Send + Sync;

/// Answers phones with one key: first a signature, then the public key.
pub struct KeyHolder {
    source: Arc<KeySource>,
    key: Option<Arc<Key>>,
    name: String,
    asked: u32,
}

impl KeyHolder {
    /// For one connection. The phone shows `name`, such as `user@host`, to its user.
    pub fn new(key: Arc<Key>, name: impl Into<String>) -> Self {
        Self::from_source(Arc::new(move || Some(key.clone())), name)
    }

    /// For one connection. The key is read when the phone asks for it.
    pub(crate) fn from_source(source: Arc<KeySource>, name: impl Into<String>) -> Self {
        Self { source, key: None, name: name.into(), asked: 0 }
    }
}

impl Authenticator for KeyHolder {
    fn answer(&mut self, token: &[u8]) -> AuthResponse {
        self.asked = self.asked.saturating_add(1);
        if self.key.is_none() {
            self.key = (self.source)();
        }
        let Some(key) = &self.key else { return AuthResponse::GiveUp };
        match self.asked {
            1 => match key.sign(token) {
                Ok(signature) => AuthResponse::Signature(signature),
                Err(error) => {
                    tracing::debug!(%error, "no signature");
                    AuthResponse::GiveUp
                }
            },
            2 => AuthResponse::PublicKey(key.public_line(&self.name).into_bytes()),
            _ => AuthResponse::GiveUp,
        }
    }
}

/// Twenty unpredictable bytes for a host to sign.
///
/// # Panics
/// The system has no random numbers: a phone without them must not accept anybody.
pub fn token() -> [u8; TOKEN] {
    use rsa::rand_core::RngCore as _;
    let mut token = [0; TOKEN];
    OsRng.fill_bytes(&mut token);
    token
}

fn encode(key: &RsaPublicKey) -> Vec<u8> {
    let modulus = little_endian(key.n());
    let lowest = modulus[..4].iter().rev().fold(0, |word: u32, byte| word << 8 | u32::from(*byte));
    // Newton's method: each step doubles the number of correct bits, starting with three.
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

/// A number of at most [`BITS`] bits, padded with zeros.
fn little_endian(number: &BigUint) -> [u8; MODULUS] {
    let mut bytes = [0; MODULUS];
    for (to, from) in bytes.iter_mut().zip(number.to_bytes_le()) {
        *to = from;
    }
    bytes
}

/// The name without characters that would end the line or start a second field.
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
    fn key_survives_a_pem_round_trip() {
        let key = Key::generate().unwrap();
        let pem = key.to_pem().unwrap();
        assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"), "PKCS#8, as adb writes it");
        let again = Key::from_pem(&pem).unwrap();
        assert_eq!(again.public(), key.public());
        assert!(key.public().signed(&[7; 20], &again.sign(&[7; 20]).unwrap()));
        assert!(!format!("{key:?}").contains("d:"), "a secret is not printed");
    }

    #[test]
    fn signature_matches_only_its_token_and_key() {
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
    fn public_key_has_524_bytes() {
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
    fn name_cannot_add_a_second_line() {
        let line = Key::generate().unwrap().public_line("me\n@here too\0");
        assert!(line.ends_with(" me_@here_too_"), "{line}");
    }

    #[test]
    fn invalid_key_error_names_the_problem() {
        let good = STANDARD.decode(&Key::generate().unwrap().public_line("")[..700]).unwrap();
        let check = |index: usize, byte: u8, expected: &str| {
            let mut bytes = good.clone();
            bytes[index] = byte;
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
    fn key_of_another_size_is_refused() {
        let short = RsaPrivateKey::new(&mut OsRng, 1024).unwrap();
        let pem = short.to_pkcs8_pem(LineEnding::LF).unwrap();
        let error = Key::from_pem(&pem).unwrap_err().to_string();
        assert!(error.contains("1024 bits"), "{error}");
    }

    #[test]
    fn holder_signs_once_then_offers_its_key_then_stops() {
        let key = Arc::new(Key::generate().unwrap());
        let mut holder = KeyHolder::new(key.clone(), "me@here");
        let AuthResponse::Signature(signature) = holder.answer(&[1; 20]) else {
            panic!("no signature")
        };
        assert!(key.public().signed(&[1; 20], &signature));
        assert_eq!(
            holder.answer(&[2; 20]),
            AuthResponse::PublicKey(key.public_line("me@here").into_bytes())
        );
        assert_eq!(holder.answer(&[3; 20]), AuthResponse::GiveUp);
        assert_eq!(KeyHolder::new(key, "").answer(b"short"), AuthResponse::GiveUp);
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
