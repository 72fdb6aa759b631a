//! The catalog: 500 articles whose names, prices and order the seed decides.

use crate::rng::SplitMix64;
use thumbwire_virtual_screen::icons::Icon;

/// Number of articles.
pub(super) const COUNT: usize = 500;

/// An article.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Article {
    pub(super) name: String,
    /// Index in [`KINDS`].
    pub(super) kind: usize,
    pub(super) cents: u64,
    /// Tenths of a star, 0 to 50.
    pub(super) stars: u32,
    pub(super) reviews: u32,
}

/// A category: its name, icon, picture colour, and things.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) symbol: Icon,
    pub(super) colour: u32,
    things: [&'static str; 10],
}

pub(super) const KINDS: [Kind; 5] = [
    Kind {
        name: "Kitchen",
        symbol: Icon::Kitchen,
        colour: 0x8C4A00,
        things: [
            "Kettle",
            "Pan",
            "Bread Knife",
            "Teapot",
            "Mixing Bowl",
            "Coffee Grinder",
            "Apron",
            "Cake Tin",
            "Ladle",
            "Pepper Mill",
        ],
    },
    Kind {
        name: "Home",
        symbol: Icon::Weekend,
        colour: 0x3A5BA0,
        things: [
            "Lamp",
            "Cushion",
            "Blanket",
            "Bookshelf",
            "Rug",
            "Wall Clock",
            "Mirror",
            "Vase",
            "Curtain",
            "Stool",
        ],
    },
    Kind {
        name: "Sound",
        symbol: Icon::Headset,
        colour: 0x6750A4,
        things: [
            "Headphones",
            "Speaker",
            "Turntable",
            "Radio",
            "Microphone",
            "Earbuds",
            "Soundbar",
            "Amplifier",
            "Cable",
            "Headset",
        ],
    },
    Kind {
        name: "Sports",
        symbol: Icon::DirectionsBike,
        colour: 0x146C2E,
        things: [
            "Bicycle Bell",
            "Helmet",
            "Yoga Mat",
            "Skipping Rope",
            "Football",
            "Water Bottle",
            "Tent",
            "Rucksack",
            "Head Torch",
            "Gloves",
        ],
    },
    Kind {
        name: "Toys",
        symbol: Icon::Toys,
        colour: 0xA8336B,
        things: [
            "Puzzle",
            "Kite",
            "Wooden Train",
            "Doll",
            "Building Blocks",
            "Spinning Top",
            "Marbles",
            "Robot",
            "Teddy Bear",
            "Card Game",
        ],
    },
];

/// 10 things in 5 categories with 10 adjectives make 500 names.
const WORDS: [&str; 10] = [
    "Classic", "Compact", "Foldable", "Handmade", "Large", "Light", "Nordic", "Everyday", "Small",
    "Vintage",
];

pub(super) fn seeded(seed: u64) -> Vec<Article> {
    let mut chance = SplitMix64::new(seed, "shop");
    let mut goods: Vec<Article> = (0..COUNT)
        .map(|at| {
            let (kind, rest) = (at / 100, at % 100);
            let name = format!("{} {}", WORDS[rest / 10], KINDS[kind].things[rest % 10]);
            let cents = 399 + chance.below(190) * 100;
            let (stars, reviews) = (30 + chance.below(21) as u32, chance.below(2_000) as u32);
            Article { name, kind, cents, stars, reviews }
        })
        .collect();
    chance.shuffle(&mut goods);
    goods
}
