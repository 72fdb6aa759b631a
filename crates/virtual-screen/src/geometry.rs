//! Points, rectangles and the display, in whole pixels of the screen as currently held.
//!
//! Knows nothing about apps or dp; `layout` converts those.

/// A point on the screen, in pixels from the top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// Pixels from the left edge.
    pub x: i32,
    /// Pixels from the top edge.
    pub y: i32,
}

/// A rectangle of pixels; `right` and `bottom` are just outside, as in Android's `Rect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Rect {
    /// First column inside.
    pub left: i32,
    /// First row inside.
    pub top: i32,
    /// First column outside.
    pub right: i32,
    /// First row outside.
    pub bottom: i32,
}

impl Rect {
    /// A rectangle from its four edges.
    pub fn new(left: i32, top: i32, right: i32, bottom: i32) -> Self {
        Self { left, top, right, bottom }
    }

    /// Pixels across; zero or less when nothing is inside.
    pub fn width(&self) -> i32 {
        self.right.saturating_sub(self.left)
    }

    /// Pixels down; zero or less when nothing is inside.
    pub fn height(&self) -> i32 {
        self.bottom.saturating_sub(self.top)
    }

    /// Whether no pixel is inside.
    pub fn is_empty(&self) -> bool {
        self.width() <= 0 || self.height() <= 0
    }

    /// The middle, rounded down.
    pub fn center(&self) -> Point {
        Point { x: self.left + self.width() / 2, y: self.top + self.height() / 2 }
    }

    /// Whether the pixel at `point` is inside.
    pub fn contains(&self, point: Point) -> bool {
        point.x >= self.left && point.x < self.right && point.y >= self.top && point.y < self.bottom
    }

    /// Whether `other` is entirely inside.
    pub fn encloses(&self, other: &Rect) -> bool {
        other.left >= self.left
            && other.top >= self.top
            && other.right <= self.right
            && other.bottom <= self.bottom
    }

    /// The common part; empty if they do not intersect.
    #[must_use]
    pub fn intersect(&self, other: &Rect) -> Rect {
        Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// The rectangle grown by `by` pixels on every side (shrunk when negative).
    #[must_use]
    pub fn grown(&self, by: i32) -> Rect {
        Rect {
            left: self.left - by,
            top: self.top - by,
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }
}

/// The screen as apps see it: its current size, density and rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Display {
    /// Width in pixels, as currently held.
    pub width: i32,
    /// Height in pixels, as currently held.
    pub height: i32,
    /// Dots per inch; at 160 one dp is one pixel.
    pub density: i32,
    /// Quarter turns from the natural orientation, 0 to 3.
    pub rotation: u8,
}

impl Display {
    /// The upright screen of an iPhone 11: 414 × 896 points at scale 2. A point is one dp here.
    /// Newer iPhones have scale 3, and two to three times the pixels to draw and compress for every
    /// screenshot; this one has a home indicator and no home button, too.
    pub const IPHONE: Self = Self { width: 828, height: 1792, density: 320, rotation: 0 };

    /// Minimum and maximum side length, in pixels. The maximum bounds the memory of a frame (4096 ×
    /// 4096 is 64 MiB).
    pub const SIDES: std::ops::RangeInclusive<i32> = 200..=4096;
    /// Minimum and maximum density. Android's own minimum is 72.
    pub const DENSITIES: std::ops::RangeInclusive<i32> = 72..=960;

    /// Pixels per dp.
    pub fn scale(&self) -> f32 {
        self.density as f32 / 160.0
    }

    /// The whole screen.
    pub fn bounds(&self) -> Rect {
        Rect::new(0, 0, self.width, self.height)
    }

    /// The same display, with every value clamped to the supported range.
    pub fn sane(self) -> Self {
        let side = |value: i32| value.clamp(*Self::SIDES.start(), *Self::SIDES.end());
        Self {
            width: side(self.width),
            height: side(self.height),
            density: self.density.clamp(*Self::DENSITIES.start(), *Self::DENSITIES.end()),
            rotation: self.rotation % 4,
        }
    }
}

impl Default for Display {
    /// A tall 1080 × 2400 screen at 420 dpi, upright.
    fn default() -> Self {
        Self { width: 1080, height: 2400, density: 420, rotation: 0 }
    }
}

/// The phase of a touch event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TouchPhase {
    /// The finger touches down.
    Down,
    /// The finger moves on the screen.
    Move,
    /// The finger lifts; the gesture takes effect now.
    Up,
    /// The gesture is cancelled; nothing happens.
    Cancel,
}

/// The direction in which a container scrolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Sideways.
    Across,
    /// Up and down.
    Down,
}
