//! The coordinates that a model reads and writes, and those of the phone.
//!
//! Some families of models name places in the pixels of the picture that they are shown, others in
//! thousandths of its sides. Start with [`CoordinateSpace`]: prompts are written in the model's
//! coordinates, and [`CoordinateSpace::to_screen`] converts what the model answers.

use serde_json::{Map, Value};
use thumbwire_device::{Point, Rect, Size};

use crate::policy::decision::FunctionCall;

/// How a model names places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CoordinateUnit {
    /// Pixels of the pictures that it is sent; of the screen, if it is sent none.
    #[default]
    Pixels,
    /// Thousandths of the width and of the height.
    Thousandths,
}

/// Families whose documentation has places in thousandths: Qwen2-VL ("absolute coordinates
/// normalized to 0–1000"), Qwen3-VL (its cookbook: "relative coordinates 0–1000") and Qwen3.5,
/// Holo, Gemini ("Image understanding": "normalized to 0–1000"), GLM-4V and later, CogAgent,
/// InternVL, Seed and Doubao, and UI-TARS, which is trained on Qwen2-VL.
const THOUSANDTHS: [&str; 13] = [
    "gemini", "qwen2-vl", "qwen3-vl", "qwen3vl", "qwen3.5", "holo", "ui-tars", "glm-4", "cogagent",
    "internvl", "doubao", "seed-1", "seed1",
];

/// Later models of these families that use pixels: UI-TARS 1.5 is trained on Qwen2.5-VL.
const PIXELS: [&str; 2] = ["ui-tars-1.5", "ui-tars-2"];

impl CoordinateUnit {
    /// What the model with this name uses, as far as its name tells.
    pub fn of_model(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let is_of = |families: &[&str]| families.iter().any(|family| name.contains(family));
        match is_of(&THOUSANDTHS) && !is_of(&PIXELS) {
            true => Self::Thousandths,
            false => Self::Pixels,
        }
    }
}

/// The arguments that are places: their names on the way across, and down.
const ACROSS: [&str; 3] = ["x", "start_x", "end_x"];
const DOWN: [&str; 3] = ["y", "start_y", "end_y"];

/// How a model's coordinates lie over the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoordinateSpace {
    /// The screen, in screenshot pixels; `None` if unknown, where coordinates stay as they are.
    screen: Option<Size>,
    /// How far the model counts across and down.
    shown: Size,
}

impl CoordinateSpace {
    /// On a screen of this size, for a model that counts to `shown`.
    pub(crate) fn new(screen: Option<Size>, shown: Size) -> Self {
        Self { screen, shown }
    }

    /// Screenshot pixels.
    pub(crate) fn pixels(screen: Option<Size>) -> Self {
        Self { screen, shown: screen.unwrap_or(Size { width: 0, height: 0 }) }
    }

    /// For a unit; `picture` is the size at which the model gets a picture of the screen.
    pub(crate) fn of(
        unit: CoordinateUnit,
        screen: Option<Size>,
        picture: impl Fn(Size) -> Size,
    ) -> Self {
        match (unit, screen) {
            (CoordinateUnit::Thousandths, Some(_)) => {
                Self::new(screen, Size { width: 1000, height: 1000 })
            }
            (CoordinateUnit::Pixels, Some(size)) => Self::new(screen, picture(size)),
            (_, None) => Self::pixels(None),
        }
    }

    /// How far the model counts across and down; `None` if the screen's size is unknown.
    pub(crate) fn shown(&self) -> Option<Size> {
        self.screen.map(|_| self.shown)
    }

    /// A place on the screen as the model reads it.
    pub(crate) fn point(&self, Point { x, y }: Point) -> Point {
        let Some(screen) = self.screen else { return Point { x, y } };
        Point {
            x: scaled(x, screen.width, self.shown.width),
            y: scaled(y, screen.height, self.shown.height),
        }
    }

    /// A part of the screen as the model reads it.
    pub(crate) fn rect(&self, Rect { left, top, right, bottom }: Rect) -> Rect {
        let (low, high) =
            (self.point(Point { x: left, y: top }), self.point(Point { x: right, y: bottom }));
        Rect { left: low.x, top: low.y, right: high.x, bottom: high.y }
    }

    /// The model's call with places on the screen, in screenshot pixels. A place at the far edge is
    /// on the screen.
    pub(crate) fn to_screen(self, call: &mut FunctionCall) {
        let Some(screen) = self.screen.filter(|screen| *screen != self.shown) else { return };
        convert(&mut call.arguments, &ACROSS, self.shown.width, screen.width);
        convert(&mut call.arguments, &DOWN, self.shown.height, screen.height);
    }

    /// The call as the model would write it.
    pub(crate) fn to_model(self, call: &FunctionCall) -> FunctionCall {
        let mut call = call.clone();
        let Some(screen) = self.screen.filter(|screen| *screen != self.shown) else { return call };
        for (names, from, to) in
            [(ACROSS, screen.width, self.shown.width), (DOWN, screen.height, self.shown.height)]
        {
            for name in names {
                if let Some(value) = call.arguments.get_mut(name)
                    && let Some(place) = value.as_f64()
                {
                    *value = scaled(place as i32, from, to).into();
                }
            }
        }
        call
    }
}

fn scaled(value: i32, from: i32, to: i32) -> i32 {
    if from <= 0 || from == to {
        return value;
    }
    (f64::from(value) * f64::from(to) / f64::from(from)).round() as i32
}

fn convert(arguments: &mut Map<String, Value>, names: &[&str], from: i32, to: i32) {
    for name in names {
        if let Some(value) = arguments.get_mut(*name)
            && let Some(place) = value.as_f64()
            && from > 0
            && (0.0..=f64::from(from)).contains(&place)
        {
            let there = (place * f64::from(to) / f64::from(from)).round() as i32;
            *value = there.min(to - 1).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PORTRAIT: Size = Size { width: 1080, height: 2400 };
    const LANDSCAPE: Size = Size { width: 2400, height: 1080 };

    fn converted(space: CoordinateSpace, arguments: Value) -> Value {
        let mut call = FunctionCall {
            function: "tap".into(),
            arguments: arguments.as_object().cloned().unwrap(),
        };
        space.to_screen(&mut call);
        call.arguments.into()
    }

    #[test]
    fn units_follow_the_family_of_the_model() {
        use CoordinateUnit::{Pixels, Thousandths};
        for (name, unit) in [
            ("gpt-5", Pixels),
            ("claude-opus-4-5", Pixels),
            ("qwen2.5-vl-72b-instruct", Pixels),
            ("Qwen/Qwen3-VL-8B-Instruct", Thousandths),
            ("qwen2-vl-7b", Thousandths),
            ("gemini-2.5-pro", Thousandths),
            ("bytedance/UI-TARS-7B-DPO", Thousandths),
            ("bytedance/UI-TARS-1.5-7B", Pixels),
            ("glm-4.5v", Thousandths),
            ("qwen3.5-plus", Thousandths),
        ] {
            assert_eq!(CoordinateUnit::of_model(name), unit, "{name}");
        }
    }

    #[test]
    fn thousandths_are_converted_to_the_screen_as_it_is_turned() {
        let of = |size| CoordinateSpace::of(CoordinateUnit::Thousandths, Some(size), |size| size);
        let tap = json!({ "x": 500, "y": 250 });
        assert_eq!(converted(of(PORTRAIT), tap.clone()), json!({ "x": 540, "y": 600 }));
        assert_eq!(converted(of(LANDSCAPE), tap), json!({ "x": 1200, "y": 270 }));
        let swipe = json!({ "start_x": 1000, "start_y": 1000, "end_x": 0, "end_y": 333 });
        assert_eq!(
            converted(of(PORTRAIT), swipe),
            json!({ "start_x": 1079, "start_y": 2399, "end_x": 0, "end_y": 799 })
        );
        // Coordinates outside of the picture stay as they are, and the phone refuses them. Other
        // arguments stay, too.
        let odd = json!({ "x": 1200, "y": -1, "seconds": 3, "control_id": "7" });
        assert_eq!(converted(of(PORTRAIT), odd.clone()), odd);
    }

    #[test]
    fn pixels_of_a_scaled_picture_are_converted_to_the_screen() {
        let half = |size: Size| Size { width: size.width / 2, height: size.height / 2 };
        let of = |size| CoordinateSpace::of(CoordinateUnit::Pixels, Some(size), half);
        let tap = json!({ "x": 270, "y": 600.5 });
        assert_eq!(converted(of(PORTRAIT), tap), json!({ "x": 540, "y": 1201 }));
        assert_eq!(
            converted(of(LANDSCAPE), json!({ "x": 1200, "y": 540 })),
            json!({ "x": 2399, "y": 1079 })
        );
        let unknown = CoordinateSpace::of(CoordinateUnit::Thousandths, None, half);
        assert_eq!(converted(unknown, json!({ "x": 5, "y": 6 })), json!({ "x": 5, "y": 6 }));
    }

    #[test]
    fn text_and_answer_use_the_same_coordinates() {
        let space = CoordinateSpace::of(CoordinateUnit::Thousandths, Some(PORTRAIT), |size| size);
        let place = Point { x: 540, y: 1801 };
        let read = space.point(place);
        assert_eq!(read, Point { x: 500, y: 750 });
        let back = converted(space, json!({ "x": read.x, "y": read.y }));
        assert_eq!(back, json!({ "x": 540, "y": 1800 }));
        let row = space.rect(Rect { left: 0, top: 240, right: 1080, bottom: 2400 });
        assert_eq!(row, Rect { left: 0, top: 100, right: 1000, bottom: 1000 });
    }
}
