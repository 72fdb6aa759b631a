//! Paths and paints in the terms of `tiny-skia`.

use tiny_skia::{
    Color, GradientStop, LinearGradient, Paint, Path, PathBuilder, Point, SpreadMode, Transform,
};

use crate::colour::Colour;
use crate::geometry::Rect;

/// A paint of one colour.
pub(super) fn solid(colour: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(colour.red, colour.green, colour.blue, colour.alpha);
    paint
}

/// A vertical gradient from the top of `rect` to its bottom.
pub(super) fn gradient(rect: Rect, from: Colour, to: Colour) -> Paint<'static> {
    let stop =
        |at, c: Colour| GradientStop::new(at, Color::from_rgba8(c.red, c.green, c.blue, c.alpha));
    let shader = LinearGradient::new(
        Point::from_xy(0.0, rect.top as f32),
        Point::from_xy(0.0, rect.bottom as f32),
        vec![stop(0.0, from), stop(1.0, to)],
        SpreadMode::Pad,
        Transform::identity(),
    );
    let fallback = solid(from);
    Paint { shader: shader.unwrap_or(fallback.shader), ..Paint::default() }
}

/// A rectangle (left, top, right, bottom) with rounded corners.
pub(super) fn rounded(edges: [f32; 4], radius: f32) -> Option<Path> {
    let [left, top, right, bottom] = edges;
    if right <= left || bottom <= top {
        return None;
    }
    let radius = radius.min((right - left) / 2.0).min((bottom - top) / 2.0);
    if radius < 0.5 {
        return Some(PathBuilder::from_rect(tiny_skia::Rect::from_ltrb(left, top, right, bottom)?));
    }
    // The control point distance with which a cubic best approximates a quarter circle.
    let soft = radius * (1.0 - 0.552_284_8);
    let mut path = PathBuilder::new();
    path.move_to(left + radius, top);
    path.line_to(right - radius, top);
    path.cubic_to(right - soft, top, right, top + soft, right, top + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(right, bottom - soft, right - soft, bottom, right - radius, bottom);
    path.line_to(left + radius, bottom);
    path.cubic_to(left + soft, bottom, left, bottom - soft, left, bottom - radius);
    path.line_to(left, top + radius);
    path.cubic_to(left, top + soft, left + soft, top, left + radius, top);
    path.close();
    path.finish()
}

/// A path through the points; `smooth` runs it through the midpoints between them.
pub(super) fn through(
    points: impl Iterator<Item = (f32, f32)>,
    smooth: bool,
    closed: bool,
) -> Option<Path> {
    let points: Vec<(f32, f32)> = points.collect();
    let (&first, &last) = (points.first()?, points.last()?);
    let middle = |a: (f32, f32), b: (f32, f32)| (f32::midpoint(a.0, b.0), f32::midpoint(a.1, b.1));
    let mut path = PathBuilder::new();
    let start = if smooth && closed { middle(last, first) } else { first };
    path.move_to(start.0, start.1);
    for (index, &point) in points.iter().enumerate() {
        if !smooth {
            path.line_to(point.0, point.1);
            continue;
        }
        let next = match points.get(index + 1) {
            Some(&next) => middle(point, next),
            None if closed => middle(point, first),
            None => point,
        };
        path.quad_to(point.0, point.1, next.0, next.1);
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// The area between two rounded rectangles; fill it by the even-odd rule.
pub(super) fn ring(
    outer: [f32; 4],
    outer_radius: f32,
    inner: [f32; 4],
    radius: f32,
) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.push_path(&rounded(outer, outer_radius)?);
    if let Some(inner) = rounded(inner, radius) {
        path.push_path(&inner);
    }
    path.finish()
}

/// Separate straight lines as one path.
pub(super) fn segments(lines: impl Iterator<Item = [(f32, f32); 2]>) -> Option<Path> {
    let mut path = PathBuilder::new();
    for [from, to] in lines {
        path.move_to(from.0, from.1);
        path.line_to(to.0, to.1);
    }
    path.finish()
}

/// The colour after `at` of `of` steps from one to the other.
pub(super) fn between(from: Colour, to: Colour, at: i32, of: i32) -> Colour {
    let mix = |a: u8, b: u8| {
        let (a, b, of) = (i32::from(a), i32::from(b), of.max(1));
        (a + (b - a) * at.clamp(0, of) / of) as u8
    };
    Colour {
        red: mix(from.red, to.red),
        green: mix(from.green, to.green),
        blue: mix(from.blue, to.blue),
        alpha: mix(from.alpha, to.alpha),
    }
}
