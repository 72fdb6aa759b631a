//! Data that depends on the seed and is stored by no app: the articles of Shop, the places of Maps.
//!
//! For tests and graders that must know it without looking at the screen.

/// An article of Shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededArticle {
    /// Its number, as in `cart/007`.
    pub number: usize,
    /// Its unique name.
    pub name: String,
    /// Its price in cents.
    pub cents: u64,
}

/// A place of Maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededPlace {
    /// Its number, as in `saved/0001`; independent of the seed.
    pub number: usize,
    /// Its unique name.
    pub name: String,
    /// Its street and number.
    pub address: String,
    /// Its phone number.
    pub phone: String,
}
