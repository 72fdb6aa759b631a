//! The places of the city. Names are fixed; the seed decides ratings, distances and order.

use crate::rng::SplitMix64;
use crate::theme::Colour;
use thumbwire_virtual_screen::icons::Icon;

/// A category of places, with a search word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Category {
    Restaurant,
    Coffee,
    Hotel,
    Gas,
}

impl Category {
    pub(crate) const ALL: [Category; 4] =
        [Category::Restaurant, Category::Coffee, Category::Hotel, Category::Gas];

    /// The label of its chip.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Restaurant => "Restaurants",
            Self::Coffee => "Coffee",
            Self::Hotel => "Hotels",
            Self::Gas => "Gas",
        }
    }

    pub(crate) fn icon(self) -> Icon {
        match self {
            Self::Restaurant => Icon::Restaurant,
            Self::Coffee => Icon::LocalCafe,
            Self::Hotel => Icon::Hotel,
            Self::Gas => Icon::LocalGasStation,
        }
    }

    /// The colour of its pins.
    pub(crate) fn colour(self) -> Colour {
        Colour::hex(match self {
            Self::Restaurant => 0xE8710A,
            Self::Coffee => 0x8D5B3A,
            Self::Hotel => 0xC2185B,
            Self::Gas => 0x1A73E8,
        })
    }

    fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Restaurant => &["restaurant", "restaurants", "food", "dinner", "lunch", "eat"],
            Self::Coffee => &["coffee", "cafe", "cafes", "café", "espresso"],
            Self::Hotel => &["hotel", "hotels", "lodging", "stay"],
            Self::Gas => &["gas", "gas station", "gas stations", "fuel", "petrol"],
        }
    }
}

/// One place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    /// Independent of the seed.
    pub(crate) id: usize,
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) category: Category,
    /// Tenths of a star.
    pub(crate) rating: u32,
    pub(crate) reviews: u32,
    /// Price level, 1 to 3; 0 if it has none.
    pub(crate) price: usize,
    /// Tenths of a mile.
    pub(crate) distance: u32,
    pub(crate) address: String,
    pub(crate) phone: String,
    pub(crate) website: String,
    /// Opening and closing hour; equal if always open.
    pub(crate) hours: (u32, u32),
    /// Position on the map, in dp from the city's centre.
    pub(crate) at: (f32, f32),
}

impl Place {
    /// Whether it is open at this hour.
    pub(crate) fn open(&self, hour: u32) -> bool {
        let (from, to) = self.hours;
        from == to || if from < to { (from..to).contains(&hour) } else { hour >= from || hour < to }
    }

    /// "Open · Closes 10 PM" in its two parts.
    pub(crate) fn state(&self, hour: u32) -> (&'static str, String) {
        let (from, to) = self.hours;
        match (from == to, self.open(hour)) {
            (true, _) => ("Open", "Open 24 hours".to_owned()),
            (false, true) => ("Open", format!("Closes {}", o_clock(to))),
            (false, false) => ("Closed", format!("Opens {}", o_clock(from))),
        }
    }

    pub(crate) fn stars(&self) -> String {
        format!("{}.{}", self.rating / 10, self.rating % 10)
    }

    pub(crate) fn miles(&self) -> String {
        format!("{}.{} mi", self.distance / 10, self.distance % 10)
    }

    pub(crate) fn dollars(&self) -> &'static str {
        ["", "$", "$$", "$$$"].get(self.price).copied().unwrap_or_default()
    }
}

/// An hour of the day in words.
pub(crate) fn o_clock(hour: u32) -> String {
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    format!("{} {half}", (hour + 11) % 12 + 1)
}

/// All places of the city for this seed, in search order.
pub(crate) fn city(seed: u64) -> Vec<Place> {
    let mut chance = SplitMix64::new(seed, "maps places");
    let mut places: Vec<Place> = NAMES
        .iter()
        .enumerate()
        .map(|(id, &(name, kind, street, price, category))| {
            let slug: String =
                name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
            let hours = match category {
                Category::Restaurant => (8 + chance.below(4) as u32, 21 + chance.below(3) as u32),
                Category::Coffee => (6 + chance.below(2) as u32, 17 + chance.below(4) as u32),
                Category::Hotel => (0, 0),
                Category::Gas if chance.below(2) == 0 => (0, 0),
                Category::Gas => (6, 23),
            };
            Place {
                id,
                name,
                kind,
                category,
                rating: 36 + chance.below(14) as u32,
                reviews: 40 + chance.below(2400) as u32,
                price,
                distance: 1 + chance.below(28) as u32,
                address: format!("{} {street}, Harbor City", 10 + chance.below(880)),
                // 555-0100 to 555-0199 are reserved for fiction.
                phone: format!("(415) 555-01{:02}", chance.below(100)),
                website: format!("{slug}.example"),
                hours,
                at: (chance.between(-300.0, 300.0), chance.between(-300.0, 300.0)),
            }
        })
        .collect();
    chance.shuffle(&mut places);
    places
}

/// The places that match a query: a whole category, or those whose name or kind contains the words.
pub(crate) fn search<'a>(places: &'a [Place], query: &str) -> Vec<&'a Place> {
    let query = query.trim().to_lowercase();
    if query.is_empty() {
        return Vec::new();
    }
    let plain = query.strip_suffix(" near me").unwrap_or(&query);
    let category = Category::ALL.into_iter().find(|category| category.keywords().contains(&plain));
    let fits = |place: &&Place| match category {
        Some(category) => place.category == category,
        None => {
            place.name.to_lowercase().contains(plain) || place.kind.to_lowercase().contains(plain)
        }
    };
    places.iter().filter(fits).collect()
}

use Category::{Coffee, Gas, Hotel, Restaurant};

/// Name, kind, street, price level, category.
const NAMES: [(&str, &str, &str, usize, Category); 42] = [
    ("The Copper Ladle", "American restaurant", "Mill Street", 2, Restaurant),
    ("Trattoria Lucia", "Italian restaurant", "Vine Street", 2, Restaurant),
    ("Sakura Garden", "Sushi restaurant", "Cherry Lane", 3, Restaurant),
    ("El Fogón", "Mexican restaurant", "Plaza Road", 1, Restaurant),
    ("Bombay Lantern", "Indian restaurant", "Temple Avenue", 2, Restaurant),
    ("Golden Wok", "Chinese restaurant", "Market Street", 1, Restaurant),
    ("Le Petit Jardin", "French restaurant", "Rose Court", 3, Restaurant),
    ("Harbor Grill", "Seafood restaurant", "Pier Road", 3, Restaurant),
    ("Olive & Thyme", "Mediterranean restaurant", "Hill Street", 2, Restaurant),
    ("Saigon Corner", "Vietnamese restaurant", "River Road", 1, Restaurant),
    ("Brick Oven Pizza", "Pizza restaurant", "Station Street", 1, Restaurant),
    ("Seoul Kitchen", "Korean restaurant", "Union Street", 2, Restaurant),
    ("The Green Fork", "Vegan restaurant", "Park Avenue", 2, Restaurant),
    ("Smokehouse 52", "Barbecue restaurant", "Depot Street", 2, Restaurant),
    ("Cedar Mezze", "Lebanese restaurant", "Garden Street", 2, Restaurant),
    ("Thai Orchid", "Thai restaurant", "Canal Street", 1, Restaurant),
    ("Burger Foundry", "Hamburger restaurant", "Foundry Lane", 1, Restaurant),
    ("Casa Marisol", "Spanish restaurant", "Harbor Way", 3, Restaurant),
    ("Daily Grind", "Coffee shop", "Main Street", 1, Coffee),
    ("Bean & Leaf", "Coffee shop", "Library Walk", 1, Coffee),
    ("Morning Press", "Espresso bar", "Union Street", 2, Coffee),
    ("Kettle Corner", "Café", "Hill Street", 1, Coffee),
    ("Northside Roasters", "Coffee roasters", "North Avenue", 2, Coffee),
    ("The Paper Cup", "Coffee shop", "Station Street", 1, Coffee),
    ("Velvet Crema", "Espresso bar", "Vine Street", 2, Coffee),
    ("Birch Café", "Café", "Park Avenue", 1, Coffee),
    ("Harborview Hotel", "4-star hotel", "Pier Road", 3, Hotel),
    ("The Alder Inn", "3-star hotel", "Mill Street", 2, Hotel),
    ("Station House", "3-star hotel", "Depot Street", 2, Hotel),
    ("Grand Meridian", "5-star hotel", "Plaza Road", 3, Hotel),
    ("Garden Court Suites", "3-star hotel", "Garden Street", 2, Hotel),
    ("Riverbend Lodge", "2-star hotel", "River Road", 1, Hotel),
    ("Canal Street Rooms", "2-star hotel", "Canal Street", 1, Hotel),
    ("Hotel Lindenhof", "4-star hotel", "Linden Avenue", 3, Hotel),
    ("Pioneer Fuel", "Gas station", "North Avenue", 0, Gas),
    ("Coastline Gas", "Gas station", "Pier Road", 0, Gas),
    ("Summit Petroleum", "Gas station", "Hill Street", 0, Gas),
    ("Junction Stop", "Gas station", "Station Street", 0, Gas),
    ("Redline Fuel", "Gas station", "Market Street", 0, Gas),
    ("Evergreen Energy", "Gas station", "Park Avenue", 0, Gas),
    ("Crossroads Gas", "Gas station", "Union Street", 0, Gas),
    ("Bayside Fuel", "Gas station", "Harbor Way", 0, Gas),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_finds_categories_and_kinds_of_places() {
        let places = city(1);
        assert!(search(&places, "Restaurants ").len() >= 12);
        assert_eq!(search(&places, "sushi").len(), 1);
        assert!(search(&places, "coffee near me").iter().all(|place| place.category == Coffee));
        assert!(search(&places, "submarine dealers").is_empty());
        assert!(search(&places, "  ").is_empty());
    }

    #[test]
    fn order_depends_on_the_seed() {
        let order = |seed| city(seed).iter().map(|place| place.id).collect::<Vec<_>>();
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn hours_are_written_as_on_a_12_hour_clock() {
        assert_eq!(
            ["12 AM", "9 AM", "12 PM", "11 PM"].map(String::from),
            [0, 9, 12, 23].map(o_clock)
        );
    }
}
