//! Bytes that become others on their way.

use crate::world::chance::Chance;

/// Changes one byte in each stretch of what passes it.
#[derive(Debug)]
pub(crate) struct Garbler {
    every: u64,
    /// Bytes until the next one that is changed.
    until: u64,
    /// Bytes of this stretch behind it.
    behind: u64,
    chance: Chance,
}

impl Garbler {
    /// One byte of each `every` becomes another.
    pub(crate) fn new(every: u64, seed: u64) -> Self {
        let mut chance = Chance::new(seed, "garbage");
        let every = every.max(1);
        let until = chance.below(every);
        Self { every, until, behind: every - 1 - until, chance }
    }

    pub(crate) fn spoil(&mut self, bytes: &mut [u8]) {
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

/// A byte other than this one.
pub(crate) fn changed(byte: u8, random: u64) -> u8 {
    byte ^ (1 + random % 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_of_each_stretch_is_another_however_they_come() {
        let mut whole = [0; 640];
        Garbler::new(64, 3).spoil(&mut whole);
        for stretch in whole.chunks(64) {
            assert_eq!(stretch.iter().filter(|byte| **byte != 0).count(), 1);
        }
        let (mut parts, mut garbler) = ([0; 640], Garbler::new(64, 3));
        parts.chunks_mut(7).for_each(|part| garbler.spoil(part));
        assert_eq!(parts, whole);
    }
}
