//! Who signed a package.

use super::Error;
use super::archive::Archive;

/// Who signed a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    /// SHA-256 of the certificate in DER, as `apksigner verify --print-certs` prints it.
    pub sha256: [u8; 32],
    /// By which scheme.
    pub scheme: Scheme,
}

/// How a package is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Files in `META-INF/`, as JAR files are.
    V1,
    /// From Android 7 on.
    V2,
    /// From Android 9 on.
    V3,
    /// From Android 13 on.
    V31,
}

pub(crate) async fn certificates(
    _archive: &mut Archive<'_>,
    _sdk: Option<u32>,
) -> Result<Vec<Certificate>, Error> {
    Ok(Vec::new())
}
