//! TLS with a phone: both sides show the certificates that they exchanged when they were paired. No
//! authority signs for an iPhone, so its certificate must be exactly the one in the pair record.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use thumbwire_base::Io;
use tokio_rustls::TlsConnector;

use super::LockdownError;
use crate::client::PairRecord;

/// Makes the handshake.
pub(super) async fn connect(
    stream: Box<dyn Io>,
    record: &PairRecord,
) -> Result<Box<dyn Io>, LockdownError> {
    let config = client_config(record).map_err(|error| LockdownError::Tls(error.to_string()))?;
    // The phone has no name; none is sent or compared.
    let name = ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into());
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    match stream {
        Ok(stream) => Ok(Box::new(stream)),
        // rustls's errors name what is wrong, and have nothing of the keys.
        Err(error) => Err(LockdownError::Tls(error.to_string())),
    }
}

fn client_config(record: &PairRecord) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let key = provider.key_provider.load_private_key(record.host_key.clone_key())?;
    let identity = CertifiedKey::new(vec![record.host_certificate.clone()], key);
    let expected = PinnedCertificate {
        certificate: record.device_certificate.clone(),
        provider: Arc::clone(&provider),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(expected))
        .with_client_cert_resolver(Arc::new(HostIdentity(Arc::new(identity))));
    config.enable_sni = false;
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// Accepts one certificate.
#[derive(Debug)]
struct PinnedCertificate {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinnedCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match end_entity.as_ref() == self.certificate.as_ref() {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Presents this computer's certificate, whichever authorities the phone asks for.
#[derive(Debug)]
struct HostIdentity(Arc<CertifiedKey>);

impl ResolvesClientCert for HostIdentity {
    fn resolve(
        &self,
        _root_hint_subjects: &[&[u8]],
        _schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}
