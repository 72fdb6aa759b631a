//! A bit writer, most significant bit first, with the variable-length codes of H.264 (ITU-T H.264
//! §7.2, §9.1).
//!
//! Start with [`Bits`]; [`Bits::into_unit`] returns a whole NAL unit.

/// The bits written so far.
#[derive(Debug, Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, in the low end.
    partial: u64,
    count: u32,
}

impl Bits {
    /// Adds the low `count` bits of `value`; at most 32.
    pub(super) fn put(&mut self, value: u32, count: u32) {
        let count = count.min(32);
        let value = u64::from(value) & ((1 << count) - 1);
        self.partial = self.partial << count | value;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.partial >> self.count) as u8);
        }
        self.partial &= (1 << self.count) - 1;
    }

    /// `u(1)`
    pub(super) fn flag(&mut self, value: bool) {
        self.put(u32::from(value), 1);
    }

    /// `ue(v)`, an Exp-Golomb number below 2^31.
    pub(super) fn unsigned(&mut self, value: u32) {
        let code = value + 1;
        let length = 32 - code.leading_zeros();
        self.put(0, length - 1);
        self.put(code, length);
    }

    /// `se(v)`: 0, 1, -1, 2, -2, …
    pub(super) fn signed(&mut self, value: i32) {
        self.unsigned(match value {
            1.. => value.unsigned_abs() * 2 - 1,
            _ => value.unsigned_abs() * 2,
        });
    }

    /// Ends the payload and returns a NAL unit without a start code: `header`, then the bytes, with
    /// an emulation prevention byte (3) wherever a start code would appear (§7.4.1).
    pub(super) fn into_unit(mut self, header: u8) -> Vec<u8> {
        self.put(1, 1);
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
        let mut unit = Vec::with_capacity(self.bytes.len() + self.bytes.len() / 64 + 1);
        unit.push(header);
        let mut zeros = 0;
        for byte in self.bytes {
            if zeros == 2 && byte <= 3 {
                unit.push(3);
                zeros = 0;
            }
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            unit.push(byte);
        }
        unit
    }
}

#[cfg(test)]
mod tests {
    use crate::video::bits::Bits;

    #[test]
    fn numbers_have_the_codes_of_the_standard() {
        // Table 9-2: 0 is `1`, 1 is `010`, 2 is `011`, 3 is `00100`; signed 1 and -1 are the codes
        // of 1 and 2.
        let mut bits = Bits::default();
        for value in [0, 1, 2, 3] {
            bits.unsigned(value);
        }
        bits.signed(1);
        bits.signed(-1);
        // 1 010 011 00100 010 011, then the stop bit and zeros.
        assert_eq!(bits.into_unit(0x65), [0x65, 0b1010_0110, 0b0100_0100, 0b1110_0000]);
    }

    #[test]
    fn no_start_code_is_left_in_a_unit() {
        let mut bits = Bits::default();
        for byte in [0, 0, 1, 0, 0, 0] {
            bits.put(byte, 8);
        }
        assert_eq!(bits.into_unit(9), [9, 0, 0, 3, 1, 0, 0, 3, 0, 128]);
    }
}
