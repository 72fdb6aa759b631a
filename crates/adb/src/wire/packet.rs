//! The packet: a 24-byte header of six little-endian words, then the payload.
//!
//! ```text
//!  0        4      8      12       16      20                24
//!  command  arg0   arg1   length   sum     command ^ !0      payload…
//! ```
//!
//! Source of all facts here: `protocol.txt`, `adb.h` and `types.h` of AOSP's packages/modules/adb.
//! What the packets mean in sequence is [`crate::connection`]'s matter.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{Malformed, readable};

/// Bytes before the payload.
pub const HEADER: usize = 24;
/// Protocol version whose payload sums are checked.
pub const VERSION_WITH_SUMS: u32 = 0x0100_0000;
/// Protocol version of Android 9 and later, whose payload sums may be zero.
pub const VERSION: u32 = 0x0100_0001;
/// Largest payload of today's adb, 1 MiB (256 KiB before Android 9).
pub const MAX_PAYLOAD: usize = 1024 * 1024;
/// Largest payload that a peer must accept without having said so (adb before Android 7).
pub const MIN_MAX_PAYLOAD: usize = 4096;

/// `arg0` of an AUTH packet: the payload is 20 random bytes to be signed.
pub const AUTH_TOKEN: u32 = 1;
/// `arg0` of an AUTH packet: the payload is the token's signature.
pub const AUTH_SIGNATURE: u32 = 2;
/// `arg0` of an AUTH packet: the payload is a public key for the phone's owner to accept.
pub const AUTH_PUBLIC_KEY: u32 = 3;

/// What a packet is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `CNXN(version, max payload, banner)`: the greeting.
    Cnxn,
    /// `AUTH(kind, 0, token | signature | key)`.
    Auth,
    /// `STLS(version, 0)`: go on in TLS.
    Stls,
    /// `OPEN(local id, 0, service)`.
    Open,
    /// `OKAY(local id, remote id)`: ready for (more) data.
    Okay,
    /// `WRTE(local id, remote id, data)`.
    Wrte,
    /// `CLSE(local id or 0, remote id)`.
    Clse,
    /// `SYNC(online, sequence)`: never crosses a wire in practice; known so that it can be ignored.
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

    /// The word on the wire: the command's four letters, read as little-endian.
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

/// One packet, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// What it is about.
    pub command: Command,
    /// First argument; the sender's id of a stream where one is meant.
    pub arg0: u32,
    /// Second argument; the receiver's id of a stream where one is meant.
    pub arg1: u32,
    /// The sender's sum of the payload's bytes; zero from a peer of [`VERSION`].
    pub sum: u32,
    /// The data, at most the announced maximum.
    pub payload: Bytes,
}

impl Packet {
    /// Takes one whole packet off the front of `bytes`; `None` when it has not all come yet.
    ///
    /// # Errors
    /// A header whose magic does not match its command, an unknown command, or a payload longer
    /// than `max_payload`. All are known from the first 24 bytes, before room is made for more.
    pub fn decode(bytes: &mut BytesMut, max_payload: usize) -> Result<Option<Self>, Malformed> {
        let Some(mut header) = bytes.get(..HEADER) else { return Ok(None) };
        let code = header.get_u32_le();
        let arg0 = header.get_u32_le();
        let arg1 = header.get_u32_le();
        let length = header.get_u32_le() as usize;
        let sum = header.get_u32_le();
        let magic = header.get_u32_le();
        if magic != !code {
            return Err(Malformed(format!(
                "a packet header {code:#010x} with magic {magic:#010x} where {:#010x} belongs",
                !code
            )));
        }
        let Some(command) = Command::from_code(code) else {
            return Err(Malformed(format!("an unknown packet {}", readable(code.to_le_bytes()))));
        };
        if length > max_payload {
            return Err(Malformed(format!(
                "a {command:?} packet of {length} bytes where at most {max_payload} were agreed"
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

    /// Whether the payload is what the sender summed up.
    pub fn sum_is_right(&self) -> bool {
        self.sum == sum(&self.payload)
    }
}

/// Appends a packet to `out`. With `with_sum`, the payload's sum is counted, as peers of
/// [`VERSION_WITH_SUMS`] and every greeting need it.
///
/// The payload has to be within the peer's maximum: that is for the caller to see to.
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

    /// `OPEN(1, 0, "shell:ls\0")`, every byte written out.
    const OPEN_LS: &[u8] = &[
        b'O', b'P', b'E', b'N', // command
        1, 0, 0, 0, // arg0: our id
        0, 0, 0, 0, // arg1
        9, 0, 0, 0, // length
        0x31, 0x03, 0, 0, // sum of the nine bytes below: 817
        0xb0, 0xaf, 0xba, 0xb1, // the command's bits turned over
        b's', b'h', b'e', b'l', b'l', b':', b'l', b's', 0,
    ];

    #[test]
    fn an_open_packet_is_these_bytes() {
        let mut out = BytesMut::new();
        emit(&mut out, Command::Open, 1, 0, b"shell:ls\0", true);
        assert_eq!(&out[..], OPEN_LS);

        let packet = Packet::decode(&mut out, MAX_PAYLOAD).unwrap().unwrap();
        assert_eq!((packet.command, packet.arg0, packet.arg1), (Command::Open, 1, 0));
        assert_eq!(&packet.payload[..], b"shell:ls\0");
        assert!(packet.sum_is_right());
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
    fn a_packet_may_come_byte_by_byte() {
        let mut bytes = BytesMut::new();
        for (index, byte) in OPEN_LS.iter().enumerate() {
            assert_eq!(Packet::decode(&mut bytes, 64), Ok(None), "after {index} bytes");
            bytes.put_u8(*byte);
        }
        assert!(Packet::decode(&mut bytes, 64).unwrap().is_some());
    }

    #[test]
    fn a_bad_header_is_refused_before_its_payload_comes() {
        let check = |place: usize, byte: u8, expected: &str| {
            let mut bytes = BytesMut::from(&OPEN_LS[..HEADER]);
            bytes[place] = byte;
            let refusal = Packet::decode(&mut bytes, 4096).unwrap_err();
            assert!(refusal.0.contains(expected), "{refusal}");
            assert!(bytes.capacity() < 4096, "nothing is reserved for a refused packet");
        };
        check(20, 0xff, "magic 0xb1baafff");
        check(0, b'X', "magic");
        check(15, 0x7f, "2130706441 bytes where at most 4096");
    }

    #[test]
    fn a_command_that_nobody_knows_is_refused_by_name() {
        let mut bytes = BytesMut::from(OPEN_LS);
        bytes[..4].copy_from_slice(b"WHAT");
        let magic = !u32::from_le_bytes(*b"WHAT");
        bytes[20..24].copy_from_slice(&magic.to_le_bytes());
        assert_eq!(Packet::decode(&mut bytes, 64), Err(Malformed("an unknown packet WHAT".into())));
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
