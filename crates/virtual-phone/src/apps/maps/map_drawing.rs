//! The drawn map: streets, parks, a river, houses and pins. Paint only; nothing here is touchable.

use crate::apps::maps::places::Place;
use crate::rng::SplitMix64;
use crate::system_ui::STATUS;
use crate::theme::Colour;
use thumbwire_virtual_screen::picture::{Mark, Picture};

const LAND: Colour = Colour::hex(0xF3F1EC);
const BLOCK: Colour = Colour::hex(0xE7E5DF);
const PARK: Colour = Colour::hex(0xC8E6C2);
const WATER: Colour = Colour::hex(0xA5D3F0);
const STREET: Colour = Colour::hex(0xFFFFFF);
const STREET_EDGE: Colour = Colour::hex(0xDCD9D2);
const AVENUE: Colour = Colour::hex(0xFCE29A);
const AVENUE_EDGE: Colour = Colour::hex(0xE9C46A);
const NAME: Colour = Colour::hex(0x6B6F76);

/// How far the map can be moved from its centre, in dp.
pub(crate) const REACH: f32 = 260.0;
/// Height of a pin in dp.
const PIN: f32 = 35.6;
/// Distance between streets, in dp.
const STEP: f32 = 74.0;

/// The map in a box of `width` × `height` dp, centred on the city's point `centre`, scaled by
/// `zoom`.
pub(crate) fn map(
    seed: u64,
    (width, height): (f32, f32),
    (centre, zoom): ((f32, f32), f32),
    pins: &[&Place],
    route: Option<&Place>,
) -> Picture {
    let mut chance = SplitMix64::new(seed, "maps ground");
    let (ox, oy) = (width / 2.0 - centre.0, height / 2.0 - centre.1);
    let at = |x: f32, y: f32| (ox + x, oy + y);
    let far = 760.0;
    let mut marks = vec![Mark::Ground(LAND)];
    let lines = (far / STEP) as i32;
    houses(&mut chance, lines, (ox, oy), (width, height), &mut marks);
    let mut blob = |x: f32, y: f32, size: f32, colour: Colour| {
        let points = (0..8).map(|corner| {
            let angle = corner as f32 / 8.0 * std::f32::consts::TAU;
            let reach = size * chance.between(0.75, 1.2);
            at(x + reach * angle.cos(), y + reach * 0.8 * angle.sin())
        });
        marks.push(Mark::Area { points: points.collect(), colour, smooth: true });
    };
    blob(-120.0, -130.0, 105.0, PARK);
    blob(230.0, 120.0, 85.0, PARK);
    blob(-210.0, 330.0, 120.0, PARK);
    blob(170.0, -380.0, 120.0, PARK);
    blob(-95.0, -125.0, 26.0, WATER);
    let mut bends = Vec::new();
    for step in -5..=5 {
        let x = step as f32 * 150.0;
        bends.push(at(x, 215.0 - x * 0.28 + chance.between(-46.0, 46.0)));
    }
    marks.push(Mark::Line { points: bends, width: 52.0, colour: WATER, smooth: true });
    let (mut streets, mut avenues) = (Vec::new(), Vec::new());
    for line in -lines..=lines {
        let (along, lean) = (line as f32 * STEP, chance.between(-16.0, 16.0));
        let kind = if line.rem_euclid(4) == 1 { &mut avenues } else { &mut streets };
        kind.push([at(along + lean - 40.0, -far), at(along - lean + 40.0, far)]);
        kind.push([at(-far, along + lean + 30.0), at(far, along - lean - 30.0)]);
    }
    for (lines, width, colour) in [
        (&streets, 9.0, STREET_EDGE),
        (&streets, 7.4, STREET),
        (&avenues, 12.5, AVENUE_EDGE),
        (&avenues, 10.5, AVENUE),
    ] {
        marks.push(Mark::Lines { lines: lines.clone(), width, colour });
    }
    let label = |x: f32, y: f32, text: &str, colour: u32| Mark::Label {
        at: at(x, y),
        text: text.to_owned(),
        size: 12.0,
        colour: Colour::hex(colour),
    };
    marks.extend([
        label(-120.0, -165.0, "Alder Park", 0x2E7D32),
        label(228.0, 135.0, "Rose Garden", 0x2E7D32),
        label(-205.0, 345.0, "Mill Green", 0x2E7D32),
        label(20.0, 214.0, "Willow River", 0x2F6D9E),
        Mark::Label { at: at(20.0, -34.0), text: "Harbor City".into(), size: 17.0, colour: NAME },
    ]);
    let middle = (width / 2.0, height / 2.0);
    let mut marks = Picture { marks }.scaled(zoom, middle).marks;
    let at = |x: f32, y: f32| (middle.0 + (x - centre.0) * zoom, middle.1 + (y - centre.1) * zoom);
    // No pin in the status bar, and no label under a pin.
    let pins = pins.iter().map(|place| (at(place.at.0, place.at.1), *place));
    let pins: Vec<_> = pins.filter(|((_, y), _)| y - PIN >= STATUS).collect();
    let target = route.map(|place| (at(place.at.0, place.at.1), place));
    marks.retain(|mark| pins.iter().chain(&target).all(|(tip, _)| !covers(*tip, mark)));
    for (tip, place) in pins {
        pin(tip, place, &mut marks);
    }
    if let Some(place) = route {
        let (x, y) = place.at;
        let points =
            vec![at(0.0, 0.0), at(x * 0.45, 0.0), at(x * 0.45, y * 0.7), at(x, y * 0.7), at(x, y)];
        for (width, colour) in [(9.0, 0x0842A0), (6.5, 0x4285F4)] {
            let colour = Colour::hex(colour);
            marks.push(Mark::Line { points: points.clone(), width, colour, smooth: false });
        }
        pin(at(x, y), place, &mut marks);
    }
    let here = at(0.0, 0.0);
    for (radius, colour) in
        [(26.0, Colour::hex(0x4285F4).alpha(46)), (9.0, STREET), (6.5, Colour::hex(0x1A73E8))]
    {
        marks.push(Mark::Dot { at: here, radius, colour });
    }
    Picture { marks }
}

/// Small houses between the streets, only where they are visible.
fn houses(
    chance: &mut SplitMix64,
    lines: i32,
    origin: (f32, f32),
    size: (f32, f32),
    marks: &mut Vec<Mark>,
) {
    for row in -lines..lines {
        for column in -lines..lines {
            for _ in 0..3 {
                let (dx, dy) = (chance.between(14.0, 42.0), chance.between(14.0, 42.0));
                let (w, h) = (chance.between(9.0, 20.0), chance.between(9.0, 20.0));
                let at = (origin.0 + column as f32 * STEP + dx, origin.1 + row as f32 * STEP + dy);
                let seen = at.0 > -20.0 && at.1 > -20.0 && at.0 < size.0 && at.1 < size.1;
                if seen {
                    marks.push(Mark::RoundRect { at, size: (w, h), radius: 0.0, colour: BLOCK });
                }
            }
        }
    }
}

/// Whether a pin with that tip covers a label; letters are about half as wide as high.
fn covers((x, y): (f32, f32), mark: &Mark) -> bool {
    let Mark::Label { at, text, size, .. } = mark else { return false };
    let (wide, high) = (text.chars().count() as f32 * size * 0.28, size * 0.6);
    (x - at.0).abs() < wide + 14.6 && at.1 + high > y - PIN && at.1 - high < y
}

/// A drop-shaped pin with its tip at `tip`.
fn pin(tip: (f32, f32), place: &Place, marks: &mut Vec<Mark>) {
    let colour = place.category.colour();
    let (x, y) = tip;
    let head = (x, y - 21.0);
    marks.push(Mark::Dot {
        at: (x, y + 1.0),
        radius: 3.5,
        colour: Colour::hex(0x000000).alpha(50),
    });
    for (grow, colour) in [(1.6, STREET), (0.0, colour)] {
        let tip = (x, y + grow);
        let points = vec![(x - 10.5 - grow, y - 16.0), (x + 10.5 + grow, y - 16.0), tip];
        marks.push(Mark::Area { points, colour, smooth: false });
        marks.push(Mark::Dot { at: head, radius: 13.0 + grow, colour });
    }
    let icon = place.category.icon();
    marks.push(Mark::Icon { at: head, icon, size: 15.0, colour: STREET });
}

/// A placeholder for a photo of the place: hills in its own colours, and its icon.
pub(crate) fn photo(place: &Place, (width, height): (f32, f32)) -> Picture {
    let mut chance = SplitMix64::new(place.id as u64, "photo");
    let [sky, far, near, sun] = SCENES[place.id % SCENES.len()].map(Colour::hex);
    let mut marks = vec![Mark::Ground(sky)];
    let at = (width * chance.between(0.15, 0.85), height * chance.between(0.2, 0.4));
    marks.push(Mark::Dot { at, radius: height * 0.16, colour: sun });
    for (layer, colour) in [(0, far.alpha(150)), (1, far), (2, near)] {
        let top = height * (0.5 + 0.16 * layer as f32);
        let mut points = vec![(-30.0, height + 40.0), (-30.0, top)];
        for step in 0..=4 {
            let wave = chance.between(-0.16, 0.12) * height;
            points.push((width * step as f32 / 4.0, top + wave));
        }
        points.extend([(width + 30.0, top), (width + 30.0, height + 40.0)]);
        marks.push(Mark::Area { points, colour, smooth: true });
    }
    let pin = place.category.colour();
    let centre = (width / 2.0, height / 2.0);
    let radius = (height * 0.24).min(40.0);
    marks.push(Mark::Dot { at: centre, radius: radius + height * 0.02 + 1.0, colour: STREET });
    marks.push(Mark::Dot { at: centre, radius, colour: pin });
    let icon = place.category.icon();
    marks.push(Mark::Icon { at: centre, icon, size: radius * 1.15, colour: STREET });
    Picture { marks }
}

/// Sky, far hills, near hills and sun of the photos.
const SCENES: [[u32; 4]; 7] = [
    [0xFDEBD8, 0xF3C39A, 0xE29A63, 0xFFF6E5],
    [0xD8EEF7, 0x9CCFE3, 0x5AA7C7, 0xFFF3C9],
    [0xE2F2DF, 0xA9D6A0, 0x6BB06B, 0xFFF4C2],
    [0xF9E1E6, 0xEBACBB, 0xD17791, 0xFFF0E6],
    [0xE8E4F6, 0xBDB2E2, 0x8F80C9, 0xFFE9C7],
    [0xFFF2CC, 0xF5D27A, 0xDDAA3B, 0xFFFFFF],
    [0xDFF3EE, 0x98D2C3, 0x4FA694, 0xFDF0D0],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::maps::places::city;

    #[test]
    fn pins_avoid_labels_and_the_status_bar() {
        let places = city(1);
        let pins: Vec<&Place> = places.iter().collect();
        let mut drawn = 0;
        for centre in [(0.0, -10.0), (40.0, 120.0), (-150.0, -60.0)] {
            let marks = map(1, (411.0, 274.0), (centre, 1.0), &pins, None).marks;
            let heads = marks.iter().filter_map(|mark| match mark {
                Mark::Icon { at, .. } => Some(*at),
                _ => None,
            });
            for (x, y) in heads {
                drawn += 1;
                assert!(y - 14.6 >= STATUS - 0.1, "{x} {y}");
                for mark in &marks {
                    let Mark::Label { at, text, size, .. } = mark else { continue };
                    let wide = text.chars().count() as f32 * size / 4.0;
                    let upon = (x - at.0).abs() < wide && (y - at.1).abs() < 14.0;
                    assert!(!upon, "{text} under a pin at {x} {y}");
                }
            }
        }
        assert!(drawn > 10, "only {drawn} were drawn");
    }
}
