//! The packet: a 24-byte header of six little-endian words, then the payload.
//!
//! ```text
//!  0        4      8      12       16      20                24
//!  command  arg0   arg1   length   sum     command ^ !0      payload…
//! ```
//!
//! Source: `protocol.txt`, `adb.h` and `types.h` in AOSP's packages/modules/adb.
//! [`crate::connection`] implements the sequence of packets.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{MalformedMessage, readable};

/// Length of the header.
pub const HEADER: usize = 24;
/// Protocol version that verifies checksums.
pub const VERSION_WITH_SUMS: u32 = 0x0100_0000;
/// Protocol version of Android 9 and later; checksums may be zero.
pub const VERSION: u32 = 0x0100_0001;
/// Largest payload of current adb, 1 MiB (256 KiB before Android 9).
pub const MAX_PAYLOAD: usize = 1024 * 1024;
/// Largest payload that every peer must accept (the maximum of adb before Android 7).
pub const MIN_MAX_PAYLOAD: usize = 4096;

/// `arg0` of an AUTH packet: the payload is a token of 20 random bytes to sign.
pub const AUTH_TOKEN: u32 = 1;
/// `arg0` of an AUTH packet: the payload is the signature of the token.
pub const AUTH_SIGNATURE: u32 = 2;
/// `arg0` of an AUTH packet: the payload is a public key for the user to authorize.
pub const AUTH_PUBLIC_KEY: u32 = 3;

/// The command of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `CNXN(version, max payload, banner)`: connect.
    Cnxn,
    /// `AUTH(kind, 0, token | signature | key)`.
    Auth,
    /// `STLS(version, 0)`: switch to TLS.
    Stls,
    /// `OPEN(local id, 0, service)`.
    Open,
    /// `OKAY(local id, remote id)`: accepted, or ready for more data.
    Okay,
    /// `WRTE(local id, remote id, data)`.
    Wrte,
    /// `CLSE(local id or 0, remote id)`.
    Clse,
    /// `SYNC(online, sequence)`: never sent in practice; known only to be ignored.
    Sync,
}

impl Command {
    const ALL: [Self; 8] = [
        Self::Cnxn,
        Self::Auth,
        Self::Stls,
        Self::Open,
        Self::Okay,
        Self::Wrte,
        Self::Clse,
        Self::Sync,
    ];

    /// The word on the wire: the command's four letters in little-endian order.
    pub const fn code(self) -> u32 {
        match self {
            Self::Cnxn => 0x4e58_4e43,
            Self::Auth => 0x4854_5541,
            Self::Stls => 0x534c_5453,
            Self::Open => 0x4e45_504f,
            Self::Okay => 0x5941_4b4f,
            Self::Wrte => 0x4554_5257,
            Self::Clse => 0x4553_4c43,
            Self::Sync => 0x434e_5953,
        }
    }

    fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.code() == code)
    }
}

/// A received packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The command.
    pub command: Command,
    /// First argument; for stream packets, the sender's stream id.
    pub arg0: u32,
    /// Second argument; for stream packets, the receiver's stream id.
    pub arg1: u32,
    /// The sender's checksum, the sum of the payload's bytes; zero from a peer of [`VERSION`].
    pub sum: u32,
    /// The payload, at most the announced maximum.
    pub payload: Bytes,
}

impl Packet {
    /// Takes one complete packet off the front of `bytes`; `None` if more bytes are needed.
    ///
    /// # Errors
    /// A header whose magic does not match its command, an unknown command, or a payload longer
    /// than `max_payload`. The first 24 bytes decide, before any more memory is reserved.
    pub fn decode(
        bytes: &mut BytesMut,
        max_payload: usize,
    ) -> Result<Option<Self>, MalformedMessage> {
        let Some(mut header) = bytes.get(..HEADER) else { return Ok(None) };
        let code = header.get_u32_le();
        let arg0 = header.get_u32_le();
        let arg1 = header.get_u32_le();
        let length = header.get_u32_le() as usize;
        let sum = header.get_u32_le();
        let magic = header.get_u32_le();
        if magic != !code {
            return Err(MalformedMessage(format!(
                "a packet header {code:#010x} with magic {magic:#010x}; expected {:#010x}",
                !code
            )));
        }
        let Some(command) = Command::from_code(code) else {
            return Err(MalformedMessage(format!(
                "an unknown packet {}",
                readable(code.to_le_bytes())
            )));
        };
        if length > max_payload {
            return Err(MalformedMessage(format!(
                "a {command:?} packet of {length} bytes; the agreed maximum is {max_payload}"
            )));
        }
        if bytes.len() < HEADER + length {
            bytes.reserve(HEADER + length - bytes.len());
            return Ok(None);
        }
        bytes.advance(HEADER);
        let payload = bytes.split_to(length).freeze();
        Ok(Some(Self { command, arg0, arg1, sum, payload }))
    }

    /// Whether the checksum matches the payload.
    pub fn checksum_matches(&self) -> bool {
        self.sum == sum(&self.payload)
    }
}

/// Appends a packet to `out`. With `with_sum`, it includes the checksum, as peers of
/// [`VERSION_WITH_SUMS`] and every CNXN need it.
///
/// The caller keeps the payload within the peer's maximum.
pub fn emit(
    out: &mut BytesMut,
    command: Command,
    arg0: u32,
    arg1: u32,
    payload: &[u8],
    with_sum: bool,
) {
    out.reserve(HEADER + payload.len());
    out.put_u32_le(command.code());
    out.put_u32_le(arg0);
    out.put_u32_le(arg1);
    out.put_u32_le(u32::try_from(payload.len()).unwrap_or(u32::MAX));
    out.put_u32_le(if with_sum { sum(payload) } else { 0 });
    out.put_u32_le(!command.code());
    out.put_slice(payload);
}

/// The header calls it `data_crc32`; it is the plain sum of the bytes.
fn sum(payload: &[u8]) -> u32 {
    payload.iter().fold(0, |sum, byte| sum.wrapping_add(u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `OPEN(1, 0, "shell:ls\0")`, byte by byte.
    const OPEN_LS: &[u8] = &[
        b'O', b'P', b'E', b'N', // command
        1, 0, 0, 0, // arg0: our id
        0, 0, 0, 0, // arg1
        9, 0, 0, 0, // length
        0x31, 0x03, 0, 0, // checksum of the nine bytes below: 817
        0xb0, 0xaf, 0xba, 0xb1, // the inverted command
        b's', b'h', b'e', b'l', b'l', b':', b'l', b's', 0,
    ];

    #[test]
    fn open_packet_has_these_bytes() {
        let mut out = BytesMut::new();
        emit(&mut out, Command::Open, 1, 0, b"shell:ls\0", true);
        assert_eq!(&out[..], OPEN_LS);

        let packet = Packet::decode(&mut out, MAX_PAYLOAD).unwrap().unwrap();
        assert_eq!((packet.command, packet.arg0, packet.arg1), (Command::Open, 1, 0));
        assert_eq!(&packet.payload[..], b"shell:ls\0");
        assert!(packet.checksum_matches());
        assert!(out.is_empty());
    }

    #[test]
    fn each_command_is_its_four_letters() {
        for (command, letters) in [
            (Command::Cnxn, b"CNXN"),
            (Command::Auth, b"AUTH"),
            (Command::Stls, b"STLS"),
            (Command::Open, b"OPEN"),
            (Command::Okay, b"OKAY"),
            (Command::Wrte, b"WRTE"),
            (Command::Clse, b"CLSE"),
            (Command::Sync, b"SYNC"),
        ] {
            assert_eq!(&command.code().to_le_bytes(), letters);
        }
    }

    #[test]
    fn packet_decodes_byte_by_byte() {
        let mut bytes = BytesMut::new();
        for (index, byte) in OPEN_LS.iter().enumerate() {
            assert_eq!(Packet::decode(&mut bytes, 64), Ok(None), "after {index} bytes");
            bytes.put_u8(*byte);
        }
        assert!(Packet::decode(&mut bytes, 64).unwrap().is_some());
    }

    #[test]
    fn bad_header_is_refused_before_its_payload() {
        let check = |index: usize, byte: u8, expected: &str| {
            let mut bytes = BytesMut::from(&OPEN_LS[..HEADER]);
            bytes[index] = byte;
            let refusal = Packet::decode(&mut bytes, 4096).unwrap_err();
            assert!(refusal.0.contains(expected), "{refusal}");
            assert!(bytes.capacity() < 4096, "nothing is reserved for a refused packet");
        };
        check(20, 0xff, "magic 0xb1baafff");
        check(0, b'X', "magic");
        check(15, 0x7f, "2130706441 bytes; the agreed maximum is 4096");
    }

    #[test]
    fn unknown_command_is_reported_by_name() {
        let mut bytes = BytesMut::from(OPEN_LS);
        bytes[..4].copy_from_slice(b"WHAT");
        let magic = !u32::from_le_bytes(*b"WHAT");
        bytes[20..24].copy_from_slice(&magic.to_le_bytes());
        assert_eq!(
            Packet::decode(&mut bytes, 64),
            Err(MalformedMessage("an unknown packet WHAT".into()))
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = BytesMut::from(&noise[..]);
            while let Ok(Some(packet)) = Packet::decode(&mut bytes, 128) {
                prop_assert!(packet.payload.len() <= 128);
            }
        }
    }
}
