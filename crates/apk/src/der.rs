//! Just enough DER to find the signer's certificate in a PKCS#7 signature.
//!
//! Only definite lengths, as DER requires; BER's indefinite lengths are not supported. Source: RFC
//! 2315 (PKCS#7), sections 9.1 and 9.2, and RFC 5280 (X.509), section 4.1.

/// OID 1.2.840.113549.1.7.2, `signedData`.
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
const INTEGER: u8 = 0x02;
const OID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// The constructed tag `[0]`.
const FIRST: u8 = 0xa0;

/// The DER certificate of the first signer: the one with the signer's issuer and serial number.
pub(crate) fn signer(pkcs7: &[u8]) -> Option<&[u8]> {
    let mut content = Parts(Parts(pkcs7).part(SEQUENCE)?.inside);
    if content.part(OID)?.inside != SIGNED_DATA {
        return None;
    }
    let mut signed = Parts(Parts(content.part(FIRST)?.inside).part(SEQUENCE)?.inside);
    signed.part(INTEGER)?; // version
    signed.part(SET)?; // digest algorithms
    signed.part(SEQUENCE)?; // content
    let certificates = Parts(signed.part(FIRST)?.inside);
    let signers = signed.find(|part| part.tag == SET)?;
    let mut signer = Parts(Parts(signers.inside).part(SEQUENCE)?.inside);
    signer.part(INTEGER)?; // version
    let mut who = Parts(signer.part(SEQUENCE)?.inside);
    let (issuer, serial) = (who.part(SEQUENCE)?, who.part(INTEGER)?);
    let is_his = |one: &DerValue<'_>| {
        identity(one).is_some_and(|(by, number)| by == issuer.all && number == serial.all)
    };
    certificates.into_iter().find(is_his).map(|one| one.all)
}

/// Issuer and serial number of a certificate.
fn identity<'a>(certificate: &DerValue<'a>) -> Option<(&'a [u8], &'a [u8])> {
    let mut body = Parts(Parts(certificate.inside).part(SEQUENCE)?.inside);
    let mut serial = body.next()?;
    if serial.tag == FIRST {
        serial = body.next()?; // skip the version
    }
    body.part(SEQUENCE)?; // algorithm
    let issuer = body.part(SEQUENCE)?;
    (serial.tag == INTEGER).then_some((issuer.all, serial.all))
}

/// A tag, a length and that many bytes.
#[derive(Debug, Clone, Copy)]
struct DerValue<'a> {
    tag: u8,
    inside: &'a [u8],
    all: &'a [u8],
}

/// Consecutive values.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    /// The next value if it has this tag.
    fn part(&mut self, tag: u8) -> Option<DerValue<'a>> {
        self.next().filter(|part| part.tag == tag)
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = DerValue<'a>;

    fn next(&mut self) -> Option<DerValue<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
                (usize::try_from(length.iter().fold(0, add)).ok()?, rest)
            }
            _ => return None,
        };
        let (inside, after) = rest.split_at_checked(length)?;
        let all = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some(DerValue { tag, inside, all })
    }
}
