//! TLS of the HTTP server: the certificate with its key, and the handshake. TLS 1.3 only.
//!
//! Start with [`Tls::open`], which reads the two files, or [`Tls::open_self_signed`], which makes
//! them if they are missing. Files that change are read again at the next connection, so that a
//! renewed certificate needs no restart.

use std::fmt;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::client::danger::ServerCertVerifier as _;
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, RootCertStore, ServerConfig, version};
use sha2::{Digest as _, Sha256};
use thumbwire_base::files::{self, Guard};
use thumbwire_base::lock;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use thumbwire_core::random;

/// The certificate's file of a self-signed pair.
pub const CERTIFICATE_FILE: &str = "tls-cert.pem";

/// The key's file of a self-signed pair.
pub const KEY_FILE: &str = "tls-key.pem";

/// How long a self-signed certificate is valid. Some systems accept no more than 825 days.
const VALID: Duration = Duration::from_secs(800 * 24 * 60 * 60);

/// The largest file of a certificate chain or key, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The first byte of a TLS handshake (RFC 8446, section 5.1: `handshake(22)`).
const HANDSHAKE: u8 = 22;

/// The certificate chain and the key of a server.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
}

/// What was last read from the files.
struct Current {
    stamp: Stamp,
    config: Arc<ServerConfig>,
    /// The server's own certificate.
    leaf: CertificateDer<'static>,
}

/// When the two files were written, and how long they are.
type Stamp = [Option<(SystemTime, u64)>; 2];

/// What a client began with.
pub(crate) enum Accepted {
    /// TLS; boxed because it is much larger.
    Secure(Box<TlsStream<TcpStream>>),
    /// Something else, such as plain HTTP. Nothing was read.
    Plain(TcpStream),
}

impl Tls {
    /// Reads a certificate chain, the server's own certificate first, and its key, both PEM.
    ///
    /// # Errors
    /// A message, if a file cannot be read or holds something else, others can access the key, or
    /// it is another certificate's key.
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, String> {
        let current = read(certificate, key)?;
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        Ok(Self { certificate, key, current: Mutex::new(current) })
    }

    /// The self-signed pair in the folder, and whether it is new. A new one is made if there is
    /// none, if it has expired at `now`, or if it lacks one of the names, which are host names and
    /// IP addresses.
    ///
    /// # Errors
    /// A message, if a name is invalid, the pair cannot be read or written, or it is not a
    /// self-signed one.
    pub fn open_self_signed(
        folder: &Path,
        names: &[String],
        now: SystemTime,
    ) -> Result<(Self, bool), String> {
        let (certificate, key) = (folder.join(CERTIFICATE_FILE), folder.join(KEY_FILE));
        let exists = |file: &Path| fs::symlink_metadata(file).is_ok();
        if exists(&certificate) || exists(&key) {
            let found = Self::open(&certificate, &key)?;
            if covers(&found.leaf(), names, now).map_err(|reason| {
                format!(
                    "{}: {reason}; remove it and {KEY_FILE}, or name another folder",
                    certificate.display()
                )
            })? {
                return Ok((found, false));
            }
        }
        make(&certificate, &key, names, now)?;
        Ok((Self::open(&certificate, &key)?, true))
    }

    /// Where the certificate is.
    pub fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// The SHA-256 fingerprint of the certificate, as browsers and `openssl x509 -fingerprint
    /// -sha256` show it.
    pub fn fingerprint(&self) -> String {
        let bytes = Sha256::digest(self.leaf());
        let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        pairs.join(":")
    }

    /// Whether the certificate has this host name or IP address. A trailing dot makes it another
    /// name.
    pub(crate) fn names(&self, host: &str) -> bool {
        let leaf = self.leaf();
        let Ok(parsed) = ParsedCertificate::try_from(&leaf) else { return false };
        let name = ServerName::try_from(host).ok().filter(|_| !host.ends_with('.'));
        name.is_some_and(|name| verify_server_name(&parsed, &name).is_ok())
    }

    fn leaf(&self) -> CertificateDer<'static> {
        lock(&self.current).leaf.clone()
    }

    /// The handshake, if the client begins one. The caller limits its time.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<Accepted> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if first != [HANDSHAKE] {
            return Ok(Accepted::Plain(stream));
        }
        let secure = TlsAcceptor::from(self.config()).accept(stream).await?;
        Ok(Accepted::Secure(Box::new(secure)))
    }

    /// What the files hold now. While they cannot be used, for example because only one of the two
    /// is new, what was read before.
    fn config(&self) -> Arc<ServerConfig> {
        let stamp = stamp(&self.certificate, &self.key);
        let mut current = lock(&self.current);
        if current.stamp != stamp {
            match read(&self.certificate, &self.key) {
                Ok(new) => *current = new,
                Err(error) => {
                    tracing::warn!("the certificate from before stays in use: {error}");
                    // Tells it once for each change.
                    current.stamp = stamp;
                }
            }
        }
        Arc::clone(&current.config)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

fn stamp(certificate: &Path, key: &Path) -> Stamp {
    [certificate, key].map(|file| {
        let about = fs::metadata(file).ok()?;
        Some((about.modified().ok()?, about.len()))
    })
}

/// Reads and checks both files.
fn read(certificate: &Path, key: &Path) -> Result<Current, String> {
    // Before reading, so that a change meanwhile is noticed.
    let stamp = stamp(certificate, key);
    let text = read_file(certificate, "certificate", false)?;
    let place = certificate.display();
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.map_err(|error| format!("invalid certificate in {place}: {error}"))?;
    let leaf = chain.first().cloned().ok_or_else(|| {
        format!("no certificate in {place}: expected PEM, `-----BEGIN CERTIFICATE-----`")
    })?;
    let text = read_file(key, "key", true)?;
    let of_key = key.display();
    let secret = PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
        format!("no private key in {of_key}: expected PEM, `-----BEGIN PRIVATE KEY-----`, without a password")
    })?;
    let provider = Arc::new(ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| format!("cannot use TLS 1.3: {error}"))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| {
            format!("cannot use the certificate in {place} with the key in {of_key}: {error}")
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Current { stamp, config: Arc::new(config), leaf })
}

/// The bytes of a file. A `secret` file that other users can access is refused.
fn read_file(file: &Path, what: &str, secret: bool) -> Result<Vec<u8>, String> {
    let read = match secret {
        true => files::read_guarded(file, Guard::Secret, MAX_SIZE).map(String::into_bytes),
        false => files::read(file, MAX_SIZE),
    };
    read.map_err(|error| format!("cannot read the {what} in {}: {error}", file.display()))
}

/// Whether a client that trusts this self-signed certificate accepts it under all names at `now`.
///
/// # Errors
/// If it is not a self-signed certificate.
fn covers(leaf: &CertificateDer<'_>, names: &[String], now: SystemTime) -> Result<bool, String> {
    let mut roots = RootCertStore::empty();
    roots.add(leaf.clone().into_owned()).map_err(|error| error.to_string())?;
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| error.to_string())?;
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    for name in names {
        let of = ServerName::try_from(name.as_str()).map_err(|_| invalid_name(name))?;
        let checked =
            verifier.verify_server_cert(leaf, &[], &of, &[], UnixTime::since_unix_epoch(since));
        match checked {
            Ok(_) => {}
            Err(rustls::Error::InvalidCertificate(
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. }
                | CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. },
            )) => return Ok(false),
            Err(_) => return Err("not a certificate that Thumbwire made".to_owned()),
        }
    }
    Ok(true)
}

/// Whether it can be in a certificate: a host name or an IP address.
pub fn is_name(text: &str) -> bool {
    ServerName::try_from(text).is_ok()
}

fn invalid_name(name: &str) -> String {
    format!("{name:?} is neither a host name nor an IP address")
}

/// Makes a pair and stores it. An earlier pair is replaced.
fn make(certificate: &Path, key: &Path, names: &[String], now: SystemTime) -> Result<(), String> {
    for name in names {
        if !is_name(name) {
            return Err(invalid_name(name));
        }
    }
    let failed = |error: rcgen::Error| format!("cannot make a certificate: {error}");
    let mut params = CertificateParams::new(names.to_vec()).map_err(failed)?;
    params.distinguished_name.remove(DnType::CommonName);
    // Each has its own name, so that a client that trusts an earlier one does not mistake it for
    // this one's issuer.
    let number = random::hex::<4>()?;
    params.distinguished_name.push(DnType::CommonName, format!("thumbwire {number}"));
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // A clock that is a little behind accepts it too.
    params.not_before = (now - Duration::from_secs(24 * 60 * 60)).into();
    params.not_after = (now + VALID).into();
    let pair = KeyPair::generate().map_err(failed)?;
    let made = params.self_signed(&pair).map_err(failed)?;
    for (file, text) in [(key, pair.serialize_pem()), (certificate, made.pem())] {
        files::make_folder_of(file)
            .and_then(|()| files::write(file, text.as_bytes()))
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(())
}

/// The names of a self-signed certificate: those of loopback, and these, each once, without
/// addresses that mean all addresses, such as `0.0.0.0`.
pub fn self_signed_names(others: &[String]) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    for other in others {
        let is_all = other.parse().is_ok_and(|it: IpAddr| it.is_unspecified());
        if !is_all && !names.iter().any(|name| name.eq_ignore_ascii_case(other)) {
            names.push(other.clone());
        }
    }
    names
}
