//! Tokens of an OAuth issuer: this server as a resource server (MCP 2025-11-25 and 2026-07-28,
//! authorization).
//!
//! Start with [`Issuer::check`]. A token is a JWT (RFC 9068) signed by the operator's issuer for
//! this server. The keys come from the issuer's JWKS, which its metadata names (RFC 8414, or OpenID
//! discovery). They are fetched when the first token comes, again after an hour, and for an unknown
//! key once a minute at most. Without keys nobody gets in.
//!
//! `jsonwebtoken` reads tokens and keys; *ring* checks signatures, as it does for TLS. Times are
//! checked here, because `jsonwebtoken` asks the system's clock by itself.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtVerifier};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, Validation};
use ring::signature as ring_signature;
use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_base::lock;
use thumbwire_base::visible::has_hidden;
use tokio::time::{Instant, timeout};

use crate::grant::Grant;
use crate::http_token::Scope;

/// The scope of a token that may call every tool.
pub const SCOPE_ACT: &str = "thumbwire:act";

/// The scope of a token that may only call tools that change nothing.
pub const SCOPE_LOOK: &str = "thumbwire:look";

/// The path of this server's metadata (RFC 9728), which a client reads to find the issuer.
pub const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// How far the issuer's clock and ours may differ.
pub(crate) const LEEWAY: Duration = Duration::from_secs(60);

/// How long fetched keys are used.
const KEYS_LAST: Duration = Duration::from_secs(3600);

/// How soon an unknown key may make us fetch again, and a failed fetch is repeated.
const FETCH_PAUSE: Duration = Duration::from_secs(60);

/// How soon a fetch that failed is repeated: an issuer that restarts should not keep clients out
/// for a minute.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Time limit for fetching the keys, of all requests together. Shorter than `Limits::head`, after
/// which a new connection without a valid token is closed: its client should read the 503 first.
const FETCH: Duration = Duration::from_secs(3);

/// The largest document of an issuer, in bytes.
const MAX_DOCUMENT: usize = 1 << 20;

/// The longest token, in bytes.
const MAX_TOKEN: usize = 16 << 10;

/// The longest `sub`, in bytes (OpenID Connect Core allows 255).
const MAX_SUBJECT: usize = 255;

/// Signatures that are accepted: never `none`, and none made with a shared secret.
const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA];

/// An issuer of tokens, and the address for which they must be issued.
pub struct Issuer {
    url: String,
    audience: String,
    client: reqwest::Client,
    keys: Mutex<Keys>,
    /// One request fetches, the others wait for it.
    fetching: tokio::sync::Mutex<()>,
}

/// The keys of an issuer.
#[derive(Default)]
struct Keys {
    fetched: Option<(Arc<JwkSet>, Instant)>,
    tried: Option<Instant>,
}

/// Why a token does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenError {
    /// It is malformed, expired, from another issuer, or for another server. The reason quotes
    /// nothing of the token.
    Invalid(&'static str),
    /// It is valid, but has none of our scopes.
    NoScope,
    /// The issuer's keys cannot be fetched.
    IssuerUnavailable,
}

/// What is read of a token.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    #[expect(dead_code, reason = "only its type counts here")]
    aud: OneOrMany,
    exp: f64,
    nbf: Option<f64>,
    sub: Option<String>,
    scope: Option<String>,
    /// Scopes as some issuers write them.
    scp: Option<OneOrMany>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Issuer {
    /// The issuer with this URL. Tokens must be issued for `audience`, the URL by which clients
    /// reach this server. Asks nobody yet.
    ///
    /// # Errors
    /// A message, if one is no `https` URL; `http` is enough for an issuer on this computer, and
    /// for an audience.
    pub fn new(url: &str, audience: &str) -> Result<Self, String> {
        check_url("issuer", url, is_safe)?;
        check_url("audience", audience, |url| ["http", "https"].contains(&url.scheme()))?;
        // Fails harmlessly if one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let _ = RING.install_default();
        // A redirect could lead to somebody else's keys.
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| format!("cannot make an HTTP client: {error}"))?;
        let (url, audience) = (url.to_owned(), audience.to_owned());
        Ok(Self { url, audience, client, keys: Mutex::default(), fetching: Default::default() })
    }

    /// This server's metadata (RFC 9728, section 2).
    pub(crate) fn metadata(&self) -> Value {
        json!({
            "resource": self.audience,
            "authorization_servers": [self.url],
            "scopes_supported": [SCOPE_LOOK, SCOPE_ACT],
            "bearer_methods_supported": ["header"],
            "resource_name": "Thumbwire",
        })
    }

    /// Where clients find the metadata (RFC 9728, section 3.1).
    pub(crate) fn metadata_url(&self) -> String {
        let Ok(mut url) = reqwest::Url::parse(&self.audience) else { return String::new() };
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{METADATA_PATH}{path}"));
        url.set_query(None);
        url.into()
    }

    /// What a token grants at `now`.
    pub(crate) async fn check(&self, token: &[u8], now: SystemTime) -> Result<Grant, TokenError> {
        let invalid = |reason| Err(TokenError::Invalid(reason));
        if token.len() > MAX_TOKEN {
            return invalid("it is too long");
        }
        // Extensions that must be understood; we understand none (RFC 7515, section 4.1.11).
        let Some(head) = header(token) else { return invalid("it is not a JWT") };
        if head.get("crit").is_some() {
            return invalid("it has extensions that are not supported");
        }
        let Ok(head) = jsonwebtoken::decode_header(token) else {
            return invalid("its header is not valid");
        };
        if !ALGORITHMS.contains(&head.alg) {
            return invalid("its algorithm is not accepted");
        }
        let set = self.keys(head.kid.as_deref()).await?;
        let mut fitting = set.keys.iter().filter(|key| fits(key, head.alg));
        let key = match &head.kid {
            Some(kid) => fitting.find(|key| key.common.key_id.as_ref() == Some(kid)),
            // Without a name only one key can be meant.
            None => fitting.next().filter(|_| fitting.next().is_none()),
        };
        let Some(key) = key.and_then(|key| DecodingKey::from_jwk(key).ok()) else {
            return invalid("its key is unknown");
        };
        let mut validation = Validation::new(head.alg);
        validation.set_issuer(&[&self.url]);
        let audience = self.audience.trim_end_matches('/');
        validation.set_audience(&[audience.to_owned(), format!("{audience}/")]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        // Checked below, with the time that is handed in.
        validation.validate_exp = false;
        let claims = match jsonwebtoken::decode::<Claims>(token, &key, &validation) {
            Ok(data) => data.claims,
            Err(error) => return invalid(reason(error.kind())),
        };
        // `jsonwebtoken` also takes an issuer that is a list.
        if claims.iss != self.url {
            return invalid("it is from another issuer");
        }
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let leeway = LEEWAY.as_secs_f64();
        // Also if one is not a number that can be compared.
        if !(claims.exp.is_finite() && now - leeway < claims.exp) {
            return invalid("it has expired");
        }
        if !claims.nbf.is_none_or(|begins| begins.is_finite() && begins <= now + leeway) {
            return invalid("it is not valid yet");
        }
        let subject = claims.sub.clone().unwrap_or_default();
        // The name of a client, which must not look like another's.
        let is_plain = !has_hidden(&subject) && !subject.contains(char::is_control);
        if subject.len() > MAX_SUBJECT || !is_plain {
            return invalid("its subject is not usable as a name");
        }
        let scope = claims.scope().ok_or(TokenError::NoScope)?;
        // No name of a token file has a colon.
        let expires = Duration::try_from_secs_f64(claims.exp).ok();
        let expires = expires.and_then(|exp| SystemTime::UNIX_EPOCH.checked_add(exp));
        let token = format!("oauth:{subject}").into();
        Ok(Grant { token, scope, expires, ..Grant::default() })
    }

    /// The keys, fetched again if they are old, or if none has this id.
    async fn keys(&self, kid: Option<&str>) -> Result<Arc<JwkSet>, TokenError> {
        if let Some(known) = self.known(kid)? {
            return Ok(known);
        }
        let _turn = self.fetching.lock().await;
        // Another request may have fetched them meanwhile.
        if let Some(known) = self.known(kid)? {
            return Ok(known);
        }
        lock(&self.keys).tried = Some(Instant::now());
        let fetched = timeout(FETCH, self.fetch()).await;
        match fetched.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
            Ok(set) => {
                let set = Arc::new(set);
                lock(&self.keys).fetched = Some((Arc::clone(&set), Instant::now()));
                Ok(set)
            }
            Err(error) => {
                tracing::warn!("cannot fetch the keys of the issuer {}: {error}", self.url);
                // A kid that a stranger made up must not keep others out.
                self.fresh().ok_or(TokenError::IssuerUnavailable)
            }
        }
    }

    /// The keys, if they need not be fetched: they are fresh and have this id, or they were fetched
    /// just now.
    ///
    /// # Errors
    /// If there are none, and the last attempt was just now.
    fn known(&self, kid: Option<&str>) -> Result<Option<Arc<JwkSet>>, TokenError> {
        let tried = lock(&self.keys).tried;
        let within = |pause| tried.is_some_and(|tried| tried.elapsed() < pause);
        match self.fresh() {
            Some(set) if kid.is_none_or(|kid| set.find(kid).is_some()) => Ok(Some(set)),
            Some(set) if within(FETCH_PAUSE) => Ok(Some(set)),
            None if within(RETRY_PAUSE) => Err(TokenError::IssuerUnavailable),
            _ => Ok(None),
        }
    }

    fn fresh(&self) -> Option<Arc<JwkSet>> {
        let keys = lock(&self.keys);
        let fresh = keys.fetched.as_ref().filter(|(_, fetched)| fetched.elapsed() < KEYS_LAST);
        fresh.map(|(set, _)| Arc::clone(set))
    }

    /// Finds the issuer's metadata, and the keys that it names.
    async fn fetch(&self) -> Result<JwkSet, String> {
        let mut first = None;
        for address in self.metadata_addresses() {
            let metadata = match self.document(address).await {
                Ok(metadata) => metadata,
                Err(error) => {
                    first.get_or_insert(error);
                    continue;
                }
            };
            // RFC 8414, section 3.3.
            if metadata["issuer"] != self.url.as_str() {
                return Err("its metadata is that of another issuer".to_owned());
            }
            let keys = metadata["jwks_uri"].as_str().and_then(|url| url.parse().ok());
            let keys = keys.filter(is_safe).ok_or("its metadata names no `jwks_uri` with https")?;
            let mut set = self.document(keys).await?;
            // Keys of kinds that we do not know are left out, instead of losing all.
            let keys = set["keys"].as_array_mut().map(std::mem::take).ok_or("no JWKS")?;
            let keys = keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
            return Ok(JwkSet { keys: keys.collect() });
        }
        Err(first.unwrap_or_default())
    }

    /// Where the metadata may be, in the order of MCP's specification.
    fn metadata_addresses(&self) -> Vec<reqwest::Url> {
        let Ok(issuer) = reqwest::Url::parse(&self.url) else { return Vec::new() };
        let path = issuer.path().trim_end_matches('/').to_owned();
        let with = |path: String| {
            let mut url = issuer.clone();
            url.set_path(&path);
            url
        };
        let mut addresses = vec![
            with(format!("/.well-known/oauth-authorization-server{path}")),
            with(format!("/.well-known/openid-configuration{path}")),
        ];
        if !path.is_empty() {
            addresses.push(with(format!("{path}/.well-known/openid-configuration")));
        }
        addresses
    }

    async fn document(&self, url: reqwest::Url) -> Result<Value, String> {
        let mut response =
            self.client.get(url).send().await.map_err(|error| error.without_url().to_string())?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(format!("status {}", response.status()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| error.without_url().to_string())?
        {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_DOCUMENT {
                return Err(format!("a document of more than {MAX_DOCUMENT} bytes"));
            }
        }
        serde_json::from_slice(&bytes).map_err(|error| format!("no JSON: {error}"))
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, audience, .. } = self;
        f.debug_struct("Issuer")
            .field("url", url)
            .field("audience", audience)
            .finish_non_exhaustive()
    }
}

impl Claims {
    /// The widest of our scopes that the token has.
    fn scope(&self) -> Option<Scope> {
        let mut all: Vec<&str> = self.scope.iter().flat_map(|it| it.split_whitespace()).collect();
        match &self.scp {
            Some(OneOrMany::One(text)) => all.extend(text.split_whitespace()),
            Some(OneOrMany::Many(texts)) => all.extend(texts.iter().map(String::as_str)),
            None => {}
        }
        let has = |scope| all.contains(&scope);
        has(SCOPE_ACT).then_some(Scope::Act).or_else(|| has(SCOPE_LOOK).then_some(Scope::Look))
    }
}

/// The header, whatever is in it.
fn header(token: &[u8]) -> Option<Value> {
    let encoded = token.split(|byte| *byte == b'.').next()?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}

/// Whether a key is for signatures of this kind.
fn fits(key: &Jwk, algorithm: Algorithm) -> bool {
    let is_kind = match &key.algorithm {
        AlgorithmParameters::RSA(_) => matches!(algorithm, Algorithm::RS256 | Algorithm::PS256),
        AlgorithmParameters::EllipticCurve(it) => {
            algorithm == Algorithm::ES256 && it.curve == EllipticCurve::P256
        }
        AlgorithmParameters::OctetKeyPair(it) => {
            algorithm == Algorithm::EdDSA && it.curve == EllipticCurve::Ed25519
        }
        // A shared secret has no place in a public document.
        AlgorithmParameters::OctetKey(_) => false,
    };
    let named = key.common.key_algorithm.map(|named| named.to_string());
    let is_named = named.is_none_or(|named| named == format!("{algorithm:?}"));
    let signs = matches!(key.common.public_key_use, None | Some(PublicKeyUse::Signature));
    is_kind && is_named && signs
}

/// Why a token was refused, without anything of it.
fn reason(error: &ErrorKind) -> &'static str {
    match error {
        ErrorKind::InvalidIssuer => "it is from another issuer",
        ErrorKind::InvalidAudience => "it is for another server",
        ErrorKind::MissingRequiredClaim(_) => "a claim is missing: exp, iss or aud",
        ErrorKind::InvalidSignature => "its signature is wrong",
        _ => "it is not valid",
    }
}

/// Whether the connection there cannot be read or changed on the way.
fn is_safe(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || address.parse().is_ok_and(|it: IpAddr| it.is_loopback());
    url.scheme() == "https" || url.scheme() == "http" && is_here
}

fn check_url(what: &str, text: &str, fits: impl Fn(&reqwest::Url) -> bool) -> Result<(), String> {
    let url = reqwest::Url::parse(text).ok().filter(fits).filter(|url| {
        let has_user = !url.username().is_empty() || url.password().is_some();
        !has_user && url.fragment().is_none() && url.query().is_none() && url.has_host()
    });
    match url {
        Some(_) => Ok(()),
        None => Err(format!(
            "invalid {what} {text:?}: expected a URL such as https://login.example.org, without user, query and fragment"
        )),
    }
}

/// Checks signatures with *ring*, and does nothing else.
static RING: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
    verifier_factory: |algorithm, key| {
        if !ALGORITHMS.contains(algorithm) {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        Ok(Box::new(RingVerifier { algorithm: *algorithm, key: key.kind().clone() }))
    },
    jwk_utils: JwkUtils::new_unimplemented(),
};

struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKeyKind,
}

impl signature::Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], given: &Vec<u8>) -> Result<(), signature::Error> {
        let one: &'static dyn ring_signature::VerificationAlgorithm = match self.algorithm {
            Algorithm::ES256 => &ring_signature::ECDSA_P256_SHA256_FIXED,
            Algorithm::EdDSA => &ring_signature::ED25519,
            Algorithm::RS256 => {
                return self.verify_rsa(
                    &ring_signature::RSA_PKCS1_2048_8192_SHA256,
                    message,
                    given,
                );
            }
            Algorithm::PS256 => {
                return self.verify_rsa(&ring_signature::RSA_PSS_2048_8192_SHA256, message, given);
            }
            _ => return Err(signature::Error::new()),
        };
        let DecodingKeyKind::SecretOrDer(point) = &self.key else {
            return Err(signature::Error::new());
        };
        ring_signature::UnparsedPublicKey::new(one, point)
            .verify(message, given)
            .map_err(|_| signature::Error::new())
    }
}

impl RingVerifier {
    fn verify_rsa(
        &self,
        parameters: &'static ring_signature::RsaParameters,
        message: &[u8],
        given: &[u8],
    ) -> Result<(), signature::Error> {
        let DecodingKeyKind::RsaModulusExponent { n, e } = &self.key else {
            return Err(signature::Error::new());
        };
        ring_signature::RsaPublicKeyComponents { n, e }
            .verify(parameters, message, given)
            .map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
