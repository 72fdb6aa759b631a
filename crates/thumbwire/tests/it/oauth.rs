//! Tokens of an OAuth issuer: who gets in, who does not, and what happens while the issuer does not
//! answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair as RsaKeyPair, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use thumbwire_core::toolset::mobile;
use thumbwire_mcp::http::{Access, ServedToolset};
use thumbwire_mcp::http_token::{NamedToken, Scope, Token};
use thumbwire_mcp::oauth::Issuer;
use tokio::net::TcpListener;

use crate::asking_support::NoPhone;
use crate::http_support::{Answer, GOOD, Served, initialize};

const AUDIENCE: &str = "https://phones.example.org/mcp";

/// What an issuer's server does with a request.
#[derive(Clone, Copy, PartialEq)]
enum Behavior {
    Well,
    Refusing,
    Garbage,
    Huge,
    Redirecting,
    AnotherIssuer,
}

/// An issuer with a key of each kind.
struct TestIssuer {
    url: String,
    behavior: Arc<Mutex<Behavior>>,
    /// How often its keys were fetched.
    fetched: Arc<AtomicUsize>,
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
    random: SystemRandom,
}

impl TestIssuer {
    async fn start() -> Self {
        let random = SystemRandom::new();
        // adb's keys are RSA keys of 2048 bits.
        let pem = thumbwire_adb::Key::generate().unwrap().to_pem().unwrap();
        let lines = pem.lines().filter(|line| !line.starts_with("-----"));
        let rsa = STANDARD.decode(lines.collect::<String>()).unwrap();
        let rsa = RsaKeyPair::from_pkcs8(&rsa).unwrap();
        let public = PublicKeyComponents::<Vec<u8>>::from(rsa.public());
        let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let ec = EcdsaKeyPair::from_pkcs8(kind, ec.as_ref(), &random).unwrap();
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let ed = Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let point = ec.public_key().as_ref();
        let keys = json!({ "keys": [
            { "kty": "RSA", "kid": "rsa", "use": "sig",
              "n": part(&public.n), "e": part(&public.e) },
            { "kty": "EC", "kid": "ec", "crv": "P-256", "alg": "ES256",
              "x": part(&point[1..33]), "y": part(&point[33..]) },
            { "kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": part(ed.public_key().as_ref()) },
            { "kty": "oct", "kid": "shared", "k": part(b"a secret that is in a public document") },
            { "kty": "of the future", "kid": "new" },
        ] });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (behavior, fetched) =
            (Arc::new(Mutex::new(Behavior::Well)), Arc::<AtomicUsize>::default());
        let (its_url, its_behavior, its_fetched) =
            (url.clone(), Arc::clone(&behavior), Arc::clone(&fetched));
        let answer = move |uri: Uri| {
            let behavior = *its_behavior.lock().unwrap();
            let issuer = match behavior {
                Behavior::AnotherIssuer => "https://login.example.net",
                _ => &its_url,
            };
            let metadata = json!({ "issuer": issuer, "jwks_uri": format!("{its_url}/keys") });
            let body = match (behavior, uri.path()) {
                (Behavior::Well | Behavior::AnotherIssuer, "/.well-known/openid-configuration") => {
                    metadata.to_string()
                }
                (Behavior::Well, "/keys") => {
                    its_fetched.fetch_add(1, Ordering::SeqCst);
                    keys.to_string()
                }
                (Behavior::Garbage, _) => "<html>".to_owned(),
                (Behavior::Huge, _) => " ".repeat(10 << 20),
                _ => String::new(),
            };
            let mut response = Response::new(Body::from(body));
            if behavior == Behavior::Redirecting {
                *response.status_mut() = StatusCode::FOUND;
                response.headers_mut().insert("location", "/keys".parse().unwrap());
            } else if behavior == Behavior::Refusing || response_is_empty(&response) {
                *response.status_mut() = StatusCode::NOT_FOUND;
            }
            std::future::ready(response)
        };
        let router = Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, behavior, fetched, rsa, ec, ed, random }
    }

    fn behaves(&self, behavior: Behavior) {
        *self.behavior.lock().unwrap() = behavior;
    }

    /// Claims of a token that counts.
    fn claims(&self) -> Value {
        json!({
            "iss": self.url, "aud": AUDIENCE, "sub": "ann", "scope": "openid thumbwire:act",
            "exp": now() + 600, "nbf": now() - 5,
        })
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature = self.sign(header["alg"].as_str().unwrap_or_default(), signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn sign(&self, algorithm: &str, text: &[u8]) -> Vec<u8> {
        let by_rsa = |padding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(padding, &self.random, text, &mut signature).unwrap();
            signature
        };
        match algorithm {
            "RS256" => by_rsa(&RSA_PKCS1_SHA256),
            "PS256" => by_rsa(&RSA_PSS_SHA256),
            "ES256" => self.ec.sign(&self.random, text).unwrap().as_ref().to_vec(),
            "EdDSA" => self.ed.sign(text).as_ref().to_vec(),
            // As a forger would who takes the public key for a secret.
            "HS256" => {
                let public = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &public.n);
                ring::hmac::sign(&key, text).as_ref().to_vec()
            }
            _ => Vec::new(),
        }
    }

    fn issuer(&self) -> Arc<Issuer> {
        Arc::new(Issuer::new(&self.url, AUDIENCE).unwrap())
    }
}

fn response_is_empty(response: &Response<Body>) -> bool {
    use axum::body::HttpBody as _;
    response.body().is_end_stream()
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

struct Protected {
    issuer: TestIssuer,
    server: Served,
    own: Token,
}

impl Protected {
    async fn start() -> Self {
        let issuer = TestIssuer::start().await;
        let own = Token::generate().unwrap();
        let named = NamedToken { name: "ci".into(), scope: Scope::Look, token: own.clone() };
        let view = ServedToolset::new(Arc::new(mobile::toolset()), Arc::new(NoPhone));
        let access = Access::Issued { tokens: vec![named], issuer: issuer.issuer() };
        let server = Served::guarded(view, access).await;
        Self { issuer, server, own }
    }

    async fn ask(&self, token: &str, message: &Value) -> Answer {
        let token = format!("Bearer {token}");
        let headers: Vec<_> = GOOD.into_iter().chain([("authorization", token.as_str())]).collect();
        self.server.ask("POST", &headers, &message.to_string()).await
    }

    async fn status(&self, header: Value, claims: Value) -> u16 {
        let token = self.issuer.token(&header, &claims);
        self.ask(&token, &initialize("2025-11-25")).await.status
    }
}

#[tokio::test]
async fn tokens_of_the_issuer_and_of_the_operator_get_in() {
    let protected = Protected::start().await;
    for (alg, kid) in [("RS256", "rsa"), ("PS256", "rsa"), ("ES256", "ec"), ("EdDSA", "ed")] {
        let claims = protected.issuer.claims();
        let header = json!({ "typ": "at+jwt", "alg": alg, "kid": kid });
        assert_eq!(protected.status(header, claims.clone()).await, 200, "{alg}");
        // Each kind of key is there once, so its name may be left off.
        assert_eq!(protected.status(json!({ "alg": alg }), claims).await, 200, "{alg}");
    }
    assert_eq!(protected.issuer.fetched.load(Ordering::SeqCst), 1, "the keys are kept");
    let answer = protected.ask(protected.own.reveal(), &initialize("2025-11-25")).await;
    assert_eq!(answer.status, 200);
    let ways = [
        json!({ "aud": [AUDIENCE, "https://other.example.org"] }),
        json!({ "aud": format!("{AUDIENCE}/") }),
        json!({ "scope": null, "scp": ["thumbwire:look"] }),
        json!({ "scope": null, "scp": "thumbwire:look" }),
        // Clocks differ a little.
        json!({ "exp": now() - 30 }),
        json!({ "nbf": now() + 30 }),
        json!({ "exp": now() as f64 + 1.5 }),
    ];
    for way in ways {
        let header = json!({ "alg": "ES256", "kid": "ec" });
        let claims = changed(&protected.issuer.claims(), &way);
        assert_eq!(protected.status(header, claims).await, 200, "{way}");
    }
}

/// The claims with others in their place; null removes one.
fn changed(claims: &Value, with: &Value) -> Value {
    let mut claims = claims.clone();
    for (name, value) in with.as_object().unwrap() {
        match value.is_null() {
            true => drop(claims.as_object_mut().unwrap().remove(name)),
            false => claims[name] = value.clone(),
        }
    }
    claims
}

#[tokio::test]
async fn forged_and_foreign_tokens_are_refused() {
    let protected = Protected::start().await;
    let issuer = &protected.issuer;
    let header = json!({ "alg": "ES256", "kid": "ec" });
    let claims = issuer.claims();
    let good = issuer.token(&header, &claims);
    let mut attacks: Vec<(String, String)> = Vec::new();
    for header in [
        json!({ "alg": "none" }),
        json!({ "alg": "NONE", "kid": "ec" }),
        json!({ "alg": "HS256", "kid": "rsa" }),
        json!({ "alg": "HS256", "kid": "shared" }),
        json!({ "alg": "HS256" }),
        json!({ "alg": "RS256", "kid": "ec" }),
        json!({ "alg": "ES256", "kid": "rsa" }),
        json!({ "alg": "ES384", "kid": "ec" }),
        json!({ "alg": "ES256", "kid": "nobody's" }),
        json!({ "alg": "ES256", "kid": 7 }),
        json!({ "alg": "ES256", "kid": "ec", "crit": ["b64"], "b64": false }),
        json!({ "alg": "ES256", "kid": "new" }),
        json!({ "kid": "ec" }),
        json!([]),
    ] {
        attacks.push((header.to_string(), issuer.token(&header, &claims)));
    }
    for with in [
        json!({ "exp": now() - 120 }),
        json!({ "exp": null }),
        json!({ "exp": "never" }),
        json!({ "exp": -1 }),
        json!({ "exp": [now() + 600] }),
        json!({ "nbf": now() + 120 }),
        json!({ "nbf": "1970" }),
        json!({ "aud": "https://phones.example.org" }),
        json!({ "aud": "https://phones.example.org/mcp.evil.example" }),
        json!({ "aud": [] }),
        json!({ "aud": null }),
        json!({ "iss": "https://login.example.net" }),
        json!({ "iss": format!("{}/", issuer.url) }),
        json!({ "iss": null }),
        json!({ "sub": "ann\u{202e}" }),
        json!({ "sub": "a".repeat(300) }),
        json!({ "sub": { "name": "ann" } }),
        json!({ "sub": "ann\nben" }),
        json!({ "sub": "ann\tben" }),
        json!({ "sub": "ann\r\n" }),
        json!({ "sub": "ann\u{85}" }),
        json!({ "iss": [issuer.url, "https://login.example.net"] }),
        json!({ "iss": [issuer.url] }),
        json!({ "iss": { "0": issuer.url } }),
        json!({ "aud": [AUDIENCE, 7] }),
        json!({ "aud": [[AUDIENCE]] }),
        json!({ "aud": { "0": AUDIENCE } }),
    ] {
        attacks.push((with.to_string(), issuer.token(&header, &changed(&claims, &with))));
    }
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let other = issuer.token(&header, &changed(&claims, &json!({ "sub": "eve" })));
    let (eves, _) = other.rsplit_once('.').unwrap();
    attacks.extend([
        ("truncated".to_owned(), good[..good.len() - 4].to_owned()),
        ("no signature".to_owned(), format!("{signed}.")),
        ("two parts".to_owned(), signed.to_owned()),
        ("four parts".to_owned(), format!("{good}.x")),
        ("another's claims".to_owned(), format!("{eves}.{signature}")),
        ("zeros".to_owned(), format!("{signed}.{}", URL_SAFE_NO_PAD.encode([0; 64]))),
        ("not base64".to_owned(), format!("!{good}")),
        ("padded".to_owned(), format!("{good}==")),
        ("empty".to_owned(), String::new()),
        ("dots".to_owned(), "..".to_owned()),
        ("long".to_owned(), format!("{good}{}", "A".repeat(20_000))),
        ("hash".to_owned(), format!("{signed}.{}", URL_SAFE_NO_PAD.encode(Sha256::digest(signed)))),
    ]);
    for (name, token) in &attacks {
        let answer = protected.ask(token, &initialize("2025-11-25")).await;
        // Heads of more than 16 KiB are refused before they are read.
        let refused = [401, 431].contains(&answer.status);
        assert!(refused, "{name}: {} {}", answer.status, answer.body);
        assert!(!answer.body.contains("ann") && !answer.body.contains("eve"), "{}", answer.body);
    }
    assert!(attacks.len() >= 40, "{}", attacks.len());
    assert_eq!(protected.status(header, claims).await, 200);
    // The names of keys that strangers make up cost one more fetch a minute at most.
    assert!(issuer.fetched.load(Ordering::SeqCst) <= 2);
    let twice = format!("Bearer {good}");
    let headers: Vec<_> = GOOD.into_iter().chain([("authorization", &*twice); 2]).collect();
    let body = initialize("2025-11-25").to_string();
    assert_eq!(protected.server.ask("POST", &headers, &body).await.status, 401);
    let in_query = format!("POST /mcp?access_token={good}");
    assert_eq!(protected.server.ask(&in_query, &GOOD, &body).await.status, 401);
}

#[tokio::test]
async fn clients_are_led_to_the_issuer() {
    let protected = Protected::start().await;
    let (issuer, server) = (&protected.issuer, &protected.server);
    let answer = server.ask("POST", &GOOD, &initialize("2025-11-25").to_string()).await;
    assert_eq!(answer.status, 401);
    let metadata = "https://phones.example.org/.well-known/oauth-protected-resource/mcp";
    assert_eq!(
        answer.header("www-authenticate").unwrap(),
        format!(
            "Bearer realm=\"thumbwire\", scope=\"thumbwire:act\", resource_metadata=\"{metadata}\""
        )
    );
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let answer = server.ask(&format!("GET {path}"), &[], "").await;
        assert_eq!(
            answer.json(),
            json!({
                "resource": AUDIENCE, "authorization_servers": [issuer.url],
                "scopes_supported": ["thumbwire:look", "thumbwire:act"],
                "bearer_methods_supported": ["header"], "resource_name": "Thumbwire",
            })
        );
        assert_eq!(server.ask(&format!("POST {path}"), &[], "").await.status, 405);
        let evil = [("host", "evil.example")];
        assert_eq!(server.ask(&format!("GET {path}"), &evil, "").await.status, 403);
    }
    let header = json!({ "alg": "EdDSA" });
    let token = issuer.token(&header, &changed(&issuer.claims(), &json!({ "scope": "openid" })));
    let answer = protected.ask(&token, &initialize("2025-11-25")).await;
    assert_eq!(answer.status, 403);
    let challenge = answer.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("error=\"insufficient_scope\", scope=\"thumbwire:look\""),
        "{challenge}"
    );
    // A token for looking lists, and calls nothing that acts.
    let look = json!({ "scope": "thumbwire:look" });
    let token = issuer.token(&header, &changed(&issuer.claims(), &look));
    let session = protected.ask(&token, &initialize("2025-11-25")).await;
    let session = session.header("mcp-session-id").unwrap().to_owned();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "mobile_press_key", "arguments": { "key": "home" } } });
    let bearer = format!("Bearer {token}");
    let with = [("authorization", bearer.as_str()), ("mcp-session-id", session.as_str())];
    let headers: Vec<_> = GOOD.into_iter().chain(with).collect();
    let answer = server.ask("POST", &headers, &call.to_string()).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    let challenge = answer.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("scope=\"thumbwire:act\"") && challenge.contains(metadata),
        "{challenge}"
    );
    // Another subject does not get into the session.
    let eve = issuer.token(&header, &changed(&issuer.claims(), &json!({ "sub": "eve" })));
    let bearer = format!("Bearer {eve}");
    let with = [("authorization", bearer.as_str()), ("mcp-session-id", session.as_str())];
    let headers: Vec<_> = GOOD.into_iter().chain(with).collect();
    assert_eq!(server.ask("POST", &headers, &call.to_string()).await.status, 404);
}

#[tokio::test]
async fn nobody_gets_in_while_the_issuer_cannot_be_asked() {
    for behavior in [
        Behavior::Refusing,
        Behavior::Garbage,
        Behavior::Huge,
        Behavior::Redirecting,
        Behavior::AnotherIssuer,
    ] {
        let protected = Protected::start().await;
        protected.issuer.behaves(behavior);
        let token = protected.issuer.token(&json!({ "alg": "EdDSA" }), &protected.issuer.claims());
        for _ in 0..2 {
            let answer = protected.ask(&token, &initialize("2025-11-25")).await;
            assert_eq!(answer.status, 503, "{}", answer.body);
            assert_eq!(answer.header("retry-after"), Some("5"));
        }
        assert_eq!(protected.issuer.fetched.load(Ordering::SeqCst), 0);
        // The operator's own tokens need no issuer.
        let answer = protected.ask(protected.own.reveal(), &initialize("2025-11-25")).await;
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test]
async fn issuer_that_hangs_ends_after_its_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let hanging = tokio::spawn(async move {
        let mut all = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            all.push(stream);
        }
    });
    let signing = TestIssuer::start().await;
    let issuer = Arc::new(Issuer::new(&url, AUDIENCE).unwrap());
    let view = ServedToolset::new(Arc::new(mobile::toolset()), Arc::new(NoPhone));
    let server = Served::guarded(view, Access::Issued { tokens: Vec::new(), issuer }).await;
    let token = signing.token(&json!({ "alg": "EdDSA" }), &signing.claims());
    let token = format!("Bearer {token}");
    let headers: Vec<_> = GOOD.into_iter().chain([("authorization", &*token)]).collect();
    let body = initialize("2025-11-25").to_string();
    // All wait for one attempt.
    let asks = (0..8).map(|_| server.ask("POST", &headers, &body));
    let answers = tokio::time::timeout(Duration::from_secs(60), futures::future::join_all(asks));
    for answer in answers.await.unwrap() {
        assert_eq!(answer.status, 503, "{}", answer.body);
    }
    hanging.abort();
}

#[test]
fn only_urls_that_nobody_can_listen_to_name_an_issuer() {
    for url in
        ["https://login.example.org", "https://login.example.org/realms/a", "http://127.0.0.1:1"]
    {
        assert!(Issuer::new(url, AUDIENCE).is_ok(), "{url}");
    }
    for url in [
        "http://login.example.org",
        "ftp://login.example.org",
        "login.example.org",
        "https://user:secret@login.example.org",
        "https://login.example.org?x",
        "https://login.example.org#x",
        "http://127.0.0.1.example.org",
        "",
    ] {
        let error = Issuer::new(url, AUDIENCE).unwrap_err();
        assert!(error.starts_with("invalid issuer "), "{error}");
    }
    assert!(Issuer::new("https://login.example.org", "phones").is_err());
}

#[tokio::test]
async fn streams_end_with_their_token() {
    let protected = Protected::start().await;
    let (header, claims) = (json!({ "alg": "ES256", "kid": "ec" }), protected.issuer.claims());
    let whole = protected.issuer.token(&header, &claims);
    let begun = protected.ask(&whole, &initialize("2025-11-25")).await;
    let session = begun.header("mcp-session-id").unwrap();
    let soon = changed(&claims, &json!({ "exp": now() + 2 }));
    let soon = format!("Bearer {}", protected.issuer.token(&header, &soon));
    let headers = [GOOD[1], ("mcp-session-id", session), ("authorization", &soon)];
    // It is read to its end.
    let stream = protected.server.ask("GET", &headers, "").await;
    assert_eq!(stream.status, 200, "{stream:?}");
    let again = protected.server.ask("DELETE", &headers, "").await;
    assert_eq!(again.status, 200, "its session goes on, as clocks may differ");
}
