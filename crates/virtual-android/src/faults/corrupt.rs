//! Corrupts bytes in transit.

use thumbwire_virtual_phone::rng::SplitMix64;

/// Changes one byte in each stretch of a stream.
#[derive(Debug)]
pub(crate) struct ByteCorrupter {
    every: u64,
    /// Bytes until the next corrupted one.
    until: u64,
    /// Bytes of this stretch after it.
    behind: u64,
    chance: SplitMix64,
}

impl ByteCorrupter {
    /// Corrupts one byte in every `every`.
    pub(crate) fn new(every: u64, seed: u64) -> Self {
        let mut chance = SplitMix64::new(seed, "garbage");
        let every = every.max(1);
        let until = chance.below(every);
        Self { every, until, behind: every - 1 - until, chance }
    }

    pub(crate) fn corrupt(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.until > 0 {
                self.until -= 1;
                continue;
            }
            *byte = changed(*byte, self.chance.next());
            let next = self.chance.below(self.every);
            self.until = self.behind + next;
            self.behind = self.every - 1 - next;
        }
    }
}

/// A byte that differs from `byte`.
pub(crate) fn changed(byte: u8, random: u64) -> u8 {
    byte ^ (1 + random % 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_per_stretch_is_corrupted() {
        let mut whole = [0; 640];
        ByteCorrupter::new(64, 3).corrupt(&mut whole);
        for stretch in whole.chunks(64) {
            assert_eq!(stretch.iter().filter(|byte| **byte != 0).count(), 1);
        }
        let (mut parts, mut garbler) = ([0; 640], ByteCorrupter::new(64, 3));
        parts.chunks_mut(7).for_each(|part| garbler.corrupt(part));
        assert_eq!(parts, whole);
    }
}
