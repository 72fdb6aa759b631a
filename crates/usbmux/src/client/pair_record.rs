//! What a computer and a phone agreed on when the user tapped Trust: their certificates and the
//! computer's key. usbmuxd keeps it (`/var/lib/lockdown/UDID.plist` on Linux, `/var/db/lockdown` on
//! macOS).

use std::fmt;

use plist::{Dictionary, Value};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::message::text;
use crate::property_list;

/// The agreement of this computer and one phone. It has this computer's private key, so `{:?}`
/// prints nothing of it.
pub struct PairRecord {
    /// The phone's certificate. A phone that shows another one is refused.
    pub(crate) device_certificate: CertificateDer<'static>,
    /// This computer's certificate for the phone.
    pub(crate) host_certificate: CertificateDer<'static>,
    pub(crate) host_key: PrivateKeyDer<'static>,
    /// This computer's id for the phone.
    pub(crate) host_id: String,
    /// This computer's id for all phones.
    pub(crate) system_buid: String,
}

impl fmt::Debug for PairRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairRecord(…)")
    }
}

impl PairRecord {
    /// Reads a record in either form of a property list.
    ///
    /// # Errors
    /// A message that names what is missing. It has nothing of the record.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let record =
            property_list::parse(bytes).map_err(|error| format!("pair record: {error}"))?;
        let string = |name: &str| {
            text(&record, name)
                .map(str::to_owned)
                .ok_or_else(|| format!("pair record without {name}"))
        };
        Ok(Self {
            device_certificate: certificate(&record, "DeviceCertificate")?,
            host_certificate: certificate(&record, "HostCertificate")?,
            host_key: PrivateKeyDer::from_pem_slice(data(&record, "HostPrivateKey")?)
                .map_err(|_| "pair record: HostPrivateKey is not a PEM key".to_owned())?,
            host_id: string("HostID")?,
            system_buid: string("SystemBUID")?,
        })
    }
}

fn data<'a>(record: &'a Dictionary, name: &str) -> Result<&'a [u8], String> {
    let data = record.get(name).and_then(Value::as_data);
    data.ok_or_else(|| format!("pair record without {name}"))
}

/// A certificate, which is PEM in the data of a record.
fn certificate(record: &Dictionary, name: &str) -> Result<CertificateDer<'static>, String> {
    CertificateDer::from_pem_slice(data(record, name)?)
        .map_err(|_| format!("pair record: {name} is not a PEM certificate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_a_record_have_nothing_of_it() {
        let mut record = Dictionary::new();
        record.insert("HostID".into(), Value::String("secret".into()));
        record.insert("DeviceCertificate".into(), Value::Data(b"secret".to_vec()));
        let error = PairRecord::parse(&property_list::to_xml(record)).unwrap_err();
        assert_eq!(error, "pair record: DeviceCertificate is not a PEM certificate");
        assert!(PairRecord::parse(b"secret").is_err_and(|error| !error.contains("secret")));
    }
}
