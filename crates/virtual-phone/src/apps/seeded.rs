//! What the seed decided and no app keeps: the goods of Shop, the places of Maps.
//!
//! For whoever must know it without looking at the screen, as those who judge what was done on a phone.

/// An article of Shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededArticle {
    /// Its number, as in `cart/007`.
    pub number: usize,
    /// What it is called; no two share a name.
    pub name: String,
    /// What it costs, in cents.
    pub cents: u64,
}

/// A place of Maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededPlace {
    /// Its number, as in `saved/0001`; the same whatever the seed.
    pub number: usize,
    /// What it is called; no two share a name.
    pub name: String,
    /// Its street and number.
    pub address: String,
    /// How to call it.
    pub phone: String,
}
