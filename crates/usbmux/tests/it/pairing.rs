//! The keys and certificates that a computer and a phone exchange when they are paired: RSA with
//! 2,048 bits, as iOS and libimobiledevice make them. Making them takes seconds, so tests share
//! them.

use std::sync::{Arc, OnceLock};

use plist::Value;
use rcgen::{CertificateParams, IsCa, Issuer, KeyPair, PKCS_RSA_SHA256};
use rsa::RsaPrivateKey;
use rsa::pkcs1::EncodeRsaPrivateKey as _;
use rsa::pkcs8::{EncodePrivateKey as _, LineEnding};
use rsa::rand_core::OsRng;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};

use super::daemon::dictionary;

/// A pairing of one phone with this computer.
pub(crate) struct Pairing {
    root: String,
    root_key: String,
    host: String,
    /// As libimobiledevice writes it, PKCS #1.
    host_key: String,
    device: String,
    device_key: String,
}

struct Key {
    pkcs1: String,
    pkcs8: String,
    pair: KeyPair,
}

impl Key {
    fn new() -> Self {
        let key = RsaPrivateKey::new(&mut OsRng, 2048).unwrap();
        let pkcs8 = key.to_pkcs8_pem(LineEnding::LF).unwrap().to_string();
        let pkcs1 = key.to_pkcs1_pem(LineEnding::LF).unwrap().to_string();
        let pair = KeyPair::from_pkcs8_pem_and_sign_algo(&pkcs8, &PKCS_RSA_SHA256).unwrap();
        Self { pkcs1, pkcs8, pair }
    }
}

impl Pairing {
    pub(crate) const HOST_ID: &str = "6F4B7F00-0000-4000-8000-00000000000A";
    pub(crate) const BUID: &str = "30142955-0000-4000-8000-00000000000B";

    fn new() -> Self {
        let (root_key, host, device) = (Key::new(), Key::new(), Key::new());
        let mut root = CertificateParams::new([]).unwrap();
        root.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let root_certificate = root.self_signed(&root_key.pair).unwrap();
        let issuer = Issuer::new(root, &root_key.pair);
        let signed = |key: &Key| {
            CertificateParams::new([]).unwrap().signed_by(&key.pair, &issuer).unwrap().pem()
        };
        Self {
            root: root_certificate.pem(),
            root_key: root_key.pkcs1.clone(),
            host: signed(&host),
            host_key: host.pkcs1.clone(),
            device: signed(&device),
            device_key: device.pkcs8.clone(),
        }
    }

    /// The pairing that most tests use.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: OnceLock<Arc<Pairing>> = OnceLock::new();
        Arc::clone(SHARED.get_or_init(|| Arc::new(Self::new())))
    }

    /// The pairing of another phone with this computer.
    pub(crate) fn other() -> Arc<Self> {
        static OTHER: OnceLock<Arc<Pairing>> = OnceLock::new();
        Arc::clone(OTHER.get_or_init(|| Arc::new(Self::new())))
    }

    /// What a phone keeps that has forgotten this computer, and was paired with another one.
    pub(crate) fn of_another_computer(&self) -> Arc<Self> {
        let other = Self::other();
        Arc::new(Self {
            root: other.root.clone(),
            root_key: other.root_key.clone(),
            host: other.host.clone(),
            host_key: other.host_key.clone(),
            device: self.device.clone(),
            device_key: self.device_key.clone(),
        })
    }

    /// The record that usbmuxd keeps.
    pub(crate) fn to_property_list(&self) -> Vec<u8> {
        let data = |text: &String| Value::Data(text.clone().into_bytes());
        let record = dictionary([
            ("DeviceCertificate", data(&self.device)),
            ("HostCertificate", data(&self.host)),
            ("HostID", Value::String(Self::HOST_ID.into())),
            ("HostPrivateKey", data(&self.host_key)),
            ("RootCertificate", data(&self.root)),
            ("RootPrivateKey", data(&self.root_key)),
            ("SystemBUID", Value::String(Self::BUID.into())),
            ("WiFiMACAddress", Value::String("a4:83:e7:00:00:01".into())),
        ]);
        let mut bytes = Vec::new();
        Value::Dictionary(record).to_writer_xml(&mut bytes).unwrap();
        bytes
    }

    /// TLS as lockdownd does it: the phone shows its certificate, and the computer must show one of
    /// this pairing.
    pub(crate) fn server_config(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let computer = ComputerCertificate {
            // Apple's programs show the first, libimobiledevice's the second.
            known: [certificate(&self.host), certificate(&self.root)],
            algorithms: provider.signature_verification_algorithms,
        };
        let key = PrivateKeyDer::from_pem_slice(self.device_key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(Arc::new(computer))
            .with_single_cert(vec![certificate(&self.device)], key)
            .unwrap();
        Arc::new(config)
    }
}

#[derive(Debug)]
struct ComputerCertificate {
    known: [CertificateDer<'static>; 2],
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for ComputerCertificate {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match self.known.iter().any(|known| known.as_ref() == shown.as_ref()) {
            true => Ok(ClientCertVerified::assertion()),
            false => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, shown, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, shown, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
