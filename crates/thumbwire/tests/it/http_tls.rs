//! HTTPS: certificates, handshakes, and who may not keep others waiting.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion, version};
use thumbwire_mcp::http::{self, Access, Listener, Protection};
use thumbwire_mcp::http_token::Token;
use thumbwire_mcp::tls::{self, Tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::http_support::{Served, Wire, initialize};
use crate::support::thumbwire;

/// A new self-signed pair in the folder.
fn pair(folder: &Path) -> Arc<Tls> {
    let names = tls::self_signed_names(&[]);
    Arc::new(Tls::open_self_signed(folder, &names, SystemTime::now()).unwrap().0)
}

/// What a client gets that trusts the certificate in the file, or why it gets nothing.
async fn ask(
    address: SocketAddr,
    trusted: &Path,
    versions: &[&'static SupportedProtocolVersion],
    token: &str,
) -> Result<String, std::io::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(trusted).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(address).await?;
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let body = initialize("2025-11-25").to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        address.port(),
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn https_needs_the_certificate_tls_1_3_and_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let tls = pair(folder.path());
    let trusted = folder.path().join(tls::CERTIFICATE_FILE);
    let token = Token::generate().unwrap();
    let server = Served::secure(tls, Access::Token(token.clone())).await;
    let ask =
        async |trusted, versions, token: &str| ask(server.address, trusted, versions, token).await;
    let modern = [&version::TLS13];
    assert_eq!(ask(&trusted, &modern, token.reveal()).await.unwrap(), "HTTP/1.1 200 OK");
    assert_eq!(ask(&trusted, &modern, "wrong").await.unwrap(), "HTTP/1.1 401 Unauthorized");
    let old = [&version::TLS12];
    let old = ask(&trusted, &old, token.reveal()).await.unwrap_err().to_string();
    assert!(old.contains("ProtocolVersion"), "{old}");
    let elsewhere = tempfile::tempdir().unwrap();
    pair(elsewhere.path());
    let other = elsewhere.path().join(tls::CERTIFICATE_FILE);
    let stranger = ask(&other, &modern, token.reveal()).await.unwrap_err().to_string();
    assert!(stranger.contains("UnknownIssuer"), "{stranger}");
}

#[tokio::test]
async fn plain_http_and_garbage_at_an_https_port_harm_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let tls = pair(folder.path());
    let server = Served::secure(tls, Access::Everyone).await;
    let answer = server.ask("GET", &[], "").await;
    assert_eq!(answer.status, 400);
    let text = "Bad Request: this server speaks TLS; use https:// instead of http://";
    assert_eq!(answer.json()["error"]["message"], text);
    for bytes in [&b"\x16\x03\x01\xff\xff"[..], b"\x16garbage garbage garbage", b"\0\0\0\0", b""] {
        let mut wire = Wire::open(server.address).await;
        wire.write(bytes).await;
    }
    let trusted = folder.path().join(tls::CERTIFICATE_FILE);
    let answer = ask(server.address, &trusted, &[&version::TLS13], "").await;
    assert_eq!(answer.unwrap(), "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn half_open_handshakes_leave_room_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = Served::secure(pair(folder.path()), Access::Everyone).await;
    let mut open = Vec::new();
    for at in 0..300 {
        let mut wire = Wire::open(server.address).await;
        // Every second one sends nothing at all.
        if at % 2 == 0 {
            wire.write(b"\x16\x03\x01\x02\x00").await;
        }
        open.push(wire);
    }
    let trusted = folder.path().join(tls::CERTIFICATE_FILE);
    for _ in 0..3 {
        let answer = ask(server.address, &trusted, &[&version::TLS13], "").await;
        assert_eq!(answer.unwrap(), "HTTP/1.1 200 OK");
    }
    drop(open);
}

#[tokio::test]
async fn a_renewed_certificate_is_served_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = Served::secure(pair(folder.path()), Access::Everyone).await;
    let trusted = folder.path().join(tls::CERTIFICATE_FILE);
    let modern = [&version::TLS13];
    ask(server.address, &trusted, &modern, "").await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    pair(elsewhere.path());
    // The certificate alone does not fit the key: the one from before stays.
    let before = elsewhere.path().join("before");
    std::fs::copy(&trusted, &before).unwrap();
    std::fs::rename(elsewhere.path().join(tls::CERTIFICATE_FILE), &trusted).unwrap();
    ask(server.address, &before, &modern, "").await.unwrap();
    let key = folder.path().join(tls::KEY_FILE);
    std::fs::rename(elsewhere.path().join(tls::KEY_FILE), key).unwrap();
    ask(server.address, &trusted, &modern, "").await.unwrap();
    ask(server.address, &before, &modern, "").await.unwrap_err();
}

#[test]
fn a_self_signed_pair_is_kept_until_it_expires_or_lacks_a_name() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("state/thumbwire");
    let now = SystemTime::now();
    let open = |others: &[&str], now| {
        let others: Vec<String> = others.iter().map(|it| (*it).to_owned()).collect();
        Tls::open_self_signed(&folder, &tls::self_signed_names(&others), now)
            .map(|(tls, made)| (tls.fingerprint(), made))
    };
    let (first, made) = open(&[], now).unwrap();
    assert!(made && first.len() == 95, "{first}");
    assert_eq!(open(&["0.0.0.0", "::"], now).unwrap(), (first.clone(), false));
    let (second, made) = open(&["phone.example", "192.0.2.7"], now).unwrap();
    assert!(made && second != first);
    assert_eq!(open(&["PHONE.example"], now).unwrap(), (second.clone(), false));
    let later = now + Duration::from_secs(801 * 24 * 60 * 60);
    assert!(open(&[], later).unwrap().1, "it has expired");
    let error = open(&["not a name"], now).unwrap_err();
    assert!(error.contains("\"not a name\" is neither a host name nor an IP address"), "{error}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap()).collect();
        assert_eq!(files.len(), 2, "no temporary file remains");
        for file in files {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        let key = folder.join(tls::KEY_FILE);
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = open(&[], now).unwrap_err();
        assert!(error.contains("(mode 0640). Run `chmod 600 "), "{error}");
    }
}

#[tokio::test]
async fn wide_addresses_need_consent_tls_and_a_token() {
    let wide = ["0.0.0.0:0", "[::]:0", "192.0.2.1:8443", "[::ffff:192.0.2.1]:0"];
    for bits in 0..7_u8 {
        let has = |bit: u8| bits & (1 << bit) != 0;
        let part = Protection { is_wanted: has(0), has_tls: has(1), has_token: has(2) };
        for address in wide {
            let text = http::bind_remote(address, part).await.map(drop).unwrap_err();
            assert!(text.starts_with(&format!("refusing to listen on {address}: ")), "{text}");
            for (bit, flag) in [(0, "--allow-remote"), (1, "--tls-cert"), (2, "--no-token")] {
                assert_eq!(text.contains(flag), !has(bit), "{part:?}: {text}");
            }
        }
        http::bind_remote("127.0.0.1:0", part).await.unwrap();
    }
}

/// The server itself refuses too, however its listener was bound.
#[tokio::test]
async fn a_wide_listener_is_not_served_unprotected() {
    let folder = tempfile::tempdir().unwrap();
    let tls = pair(folder.path());
    let token = || Access::Token(Token::generate().unwrap());
    for (is_wanted, has_tls, access) in [
        (false, false, Access::Everyone),
        (true, false, token()),
        (false, true, token()),
        (true, true, Access::Everyone),
    ] {
        let all = Protection { is_wanted: true, has_tls: true, has_token: true };
        let mut listener = Listener::from(http::bind_remote("0.0.0.0:0", all).await.unwrap());
        if has_tls {
            listener = listener.with_tls(Arc::clone(&tls));
        }
        if is_wanted {
            listener = listener.for_others(Vec::new());
        }
        let served = Served::over(listener, access).await.unwrap_err();
        assert_eq!(served.kind(), std::io::ErrorKind::PermissionDenied, "{served}");
    }
}

#[test]
fn files_that_are_no_pair_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    pair(folder.path());
    let other = tempfile::tempdir().unwrap();
    pair(other.path());
    let certificate = folder.path().join(tls::CERTIFICATE_FILE);
    let key = folder.path().join(tls::KEY_FILE);
    let open = |certificate: &Path, key: &Path| Tls::open(certificate, key).unwrap_err();
    for (error, expected) in [
        (open(&certificate, &other.path().join(tls::KEY_FILE)), "cannot use the certificate in "),
        (open(&key, &key), "no certificate in "),
        (open(&certificate, &certificate), "no private key in "),
        (open(folder.path(), &key), "not a regular file"),
        (open(&folder.path().join("none"), &key), "cannot read the certificate in "),
    ] {
        assert!(error.contains(expected), "{error}");
    }
}

#[cfg(unix)]
mod program {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use crate::support::thumbwire;

    #[test]
    fn flags_come_in_pairs_and_with_http() {
        let serve = |arguments: &[&str]| {
            let output = thumbwire().arg("serve").args(arguments).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        for (arguments, missing) in [
            (&["--http", "--tls-cert", "x"][..], "--tls-key"),
            (&["--http", "--tls-key", "x"], "--tls-cert"),
            (&["--tls-self-signed"], "--http"),
            (&["--http", "--tls-self-signed", "--tls-cert", "x", "--tls-key", "y"], "--tls-cert"),
        ] {
            let (code, said) = serve(arguments);
            assert!(code == Some(2) && said.contains(missing), "{arguments:?}: {said}");
        }
    }

    #[test]
    fn a_server_for_other_computers_names_what_it_lacks() {
        let home = tempfile::tempdir().unwrap();
        let serve = |arguments: &[&str]| {
            let mut command = thumbwire();
            command.args(["serve", "--http", "0.0.0.0:0", "--device", "virtual"]).args(arguments);
            command.env("HOME", home.path()).env_remove("XDG_STATE_HOME");
            let output = command.output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let (consent, tls) = ("--allow-remote", "--tls-self-signed");
        for (arguments, missing) in [
            (&[][..], &[consent, tls][..]),
            (&[consent], &[tls]),
            (&[tls], &[consent]),
            (&["--no-token"], &[consent, tls, "--no-token"]),
            (&["--no-token", tls], &[consent, "--no-token"]),
            (&["--no-token", tls, consent], &["--no-token"]),
            (&["--allow-host", "a.example"], &[consent]),
            (&[tls, consent, "--allow-host", "a.example:1"], &["without a port"]),
            (&[tls, consent, "--allow-host", "https://a.example"], &["without a port"]),
        ] {
            let (code, said) = serve(arguments);
            assert_eq!(code, Some(2), "{arguments:?}: {said}");
            assert!(missing.iter().all(|flag| said.contains(flag)), "{arguments:?}: {said}");
        }
        assert!(!home.path().join(".local").exists(), "nothing was made");
    }

    #[test]
    fn curl_and_openssl_trust_the_self_signed_certificate() {
        let home = tempfile::tempdir().unwrap();
        let mut command = thumbwire();
        let audit = home.path().join("audit");
        command.args(["serve", "--http", "0.0.0.0:0", "--device", "virtual", "--tls-self-signed"]);
        command.args(["--allow-remote", "--allow-host", "phone.example", "--audit"]).arg(&audit);
        command.env("HOME", home.path()).env_remove("XDG_STATE_HOME");
        let mut child = command.stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut said = Vec::new();
        let address = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it exited: {said:?}"));
            if let Some((_, address)) = line.split_once(" at https://") {
                let address = address.strip_suffix("/mcp").unwrap();
                break address.replace("0.0.0.0", "127.0.0.1");
            }
            said.push(line);
        };
        let certificate = home.path().join(".local/state/thumbwire/tls-cert.pem");
        let run = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
            output.ok().map(|it| {
                let text = [it.stdout, it.stderr].concat();
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let file = certificate.to_str().unwrap();
        let url = format!("https://{address}/healthz");
        if let Some(text) = run("curl", &["-sS", "--cacert", file, &url]) {
            assert_eq!(text, "ok\n");
            let strangers = run("curl", &["-sS", &url]).unwrap();
            assert!(
                strangers.contains("self-signed") || strangers.contains("self signed"),
                "{strangers}"
            );
            let port = address.rsplit_once(':').unwrap().1;
            for (name, expected) in [("phone.example", "200"), ("evil.example", "403")] {
                let resolve = format!("phone.example:{port}:127.0.0.1");
                let (url, host) =
                    (format!("https://phone.example:{port}/healthz"), format!("host: {name}"));
                let arguments = ["-sS", "--cacert", file, "--resolve", &resolve, "-H", &host];
                let arguments = [&arguments[..], &["-o", "/dev/null", "-w", "%{http_code}", &url]];
                assert_eq!(run("curl", &arguments.concat()).unwrap(), expected, "{name}");
            }
            let token = home.path().join(".local/state/thumbwire/token");
            let token = std::fs::read_to_string(token).unwrap();
            let bearer = format!("authorization: Bearer {}", token.trim());
            let (_, call) = crate::http_support::alone(
                "tools/call",
                serde_json::json!({ "name": "mobile_list_devices", "arguments": {} }),
            );
            let call = call.to_string();
            let url = format!("https://{address}/mcp");
            let arguments =
                ["-sS", "--cacert", file, "-H", &bearer, "-H", "mcp-method: tools/call"];
            let more =
                ["-H", "mcp-protocol-version: 2026-07-28", "-H", "content-type: application/json"];
            let last = [
                "-H",
                "accept: application/json",
                "-H",
                "mcp-name: mobile_list_devices",
                "-d",
                &call,
                &url,
            ];
            let text = run("curl", &[&arguments[..], &more, &last].concat()).unwrap();
            assert!(text.contains("\"result\""), "{text}");
            let audit = std::fs::read_to_string(&audit).unwrap();
            assert!(audit.contains("\"transport\":\"http\",\"peer\":\"127.0.0.1\","), "{audit}");
            let old = run("curl", &["-sS", "--tls-max", "1.2", "--cacert", file, &url]).unwrap();
            assert!(old.contains("protocol version"), "{old}");
        }
        let strict = ["s_client", "-x509_strict", "-verify_return_error", "-CAfile", file];
        let at = ["-verify_ip", "127.0.0.1", "-connect", &address];
        if let Some(text) = run("openssl", &[&strict[..], &at].concat()) {
            assert!(text.contains("Verification: OK") && text.contains("TLSv1.3"), "{text}");
        }
        let show = ["x509", "-noout", "-fingerprint", "-sha256", "-in", file];
        if let Some(text) = run("openssl", &show) {
            let shown = text.trim().split_once('=').unwrap().1;
            assert!(said.iter().any(|line| line == shown), "{shown}: {said:?}");
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_tells_whether_a_server_answers_with_or_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let plain = Served::start(Access::Everyone).await;
    let secure = Served::secure(pair(folder.path()), Access::Everyone).await;
    let health = |address: SocketAddr| {
        let ended = thumbwire().args(["health", &address.to_string()]).output().unwrap();
        let said = [ended.stdout, ended.stderr].concat();
        (ended.status.code().unwrap(), String::from_utf8(said).unwrap())
    };
    for server in [&plain, &secure] {
        assert_eq!(health(server.address), (0, "ok\n".to_owned()));
    }
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (code, said) = health(address);
    assert_eq!(code, 1);
    assert!(said.contains("no server answers at 127.0.0.1:"), "{said}");
}
