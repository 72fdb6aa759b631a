//! Pseudo-random numbers that depend only on the seed.

/// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A separate stream for each purpose: same seed and purpose, same numbers.
    pub fn new(seed: u64, purpose: &str) -> Self {
        // FNV-1a, so that purposes differ in all bits.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(purpose.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, mix))
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "the sequence never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `below` (exclusive); 0 if `below` is 0.
    pub fn below(&mut self, below: u64) -> u64 {
        self.next() % below.max(1)
    }

    /// A number between `low` and `high`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.below(10_000) as f32 / 10_000.0)
    }

    /// Shuffles the items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            items.swap(at, other);
        }
    }
}
