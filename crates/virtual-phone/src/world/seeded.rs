//! Data that depends on the seed and is stored by no app.

use crate::apps::{self, SeededArticle, SeededPlace};
use crate::world::World;

impl World {
    /// All articles of Shop.
    pub fn articles(&self) -> Vec<SeededArticle> {
        apps::articles(self.device.seed())
    }

    /// All places of Maps.
    pub fn places(&self) -> Vec<SeededPlace> {
        apps::places(self.device.seed())
    }
}
