//! The room that a view takes: space inside and outside, size, and where it stands among its siblings.
//!
//! The part of [`View`]'s builder that speaks to the flexbox; what a view shows and does is said in `view`. Lengths are dp.

use taffy::prelude::*;

use super::view::View;

impl View {
    /// The same space on all four sides inside.
    pub(crate) fn pad(self, all: f32) -> Self {
        self.pad_each(all, all, all, all)
    }

    /// Space inside: left and right, then top and bottom.
    pub(crate) fn pad_xy(self, x: f32, y: f32) -> Self {
        self.pad_each(x, y, x, y)
    }

    /// Space inside: left, top, right, bottom.
    pub(crate) fn pad_each(mut self, left: f32, top: f32, right: f32, bottom: f32) -> Self {
        self.style.padding = taffy::Rect {
            left: length(left),
            top: length(top),
            right: length(right),
            bottom: length(bottom),
        };
        self
    }

    /// Space outside: left, top, right, bottom.
    pub(crate) fn margin(mut self, left: f32, top: f32, right: f32, bottom: f32) -> Self {
        self.style.margin = taffy::Rect {
            left: length(left),
            top: length(top),
            right: length(right),
            bottom: length(bottom),
        };
        self
    }

    /// Space between children.
    pub(crate) fn gap(mut self, gap: f32) -> Self {
        self.style.gap = taffy::Size { width: length(gap), height: length(gap) };
        self
    }

    /// Takes its share of the room that is left along the parent's direction.
    pub(crate) fn grow(mut self) -> Self {
        self.style.flex_grow = 1.0;
        self.style.flex_shrink = 1.0;
        self.style.flex_basis = length(0.0);
        let least = &mut self.style.min_size;
        for side in [&mut least.width, &mut least.height] {
            if side.is_auto() {
                *side = length(0.0);
            }
        }
        self
    }

    /// Gives way where there is not enough room below each other.
    pub(crate) fn shrinks(mut self) -> Self {
        self.style.flex_shrink = 1.0;
        self.style.min_size.height = length(0.0);
        self
    }

    /// Never higher than the parent.
    pub(crate) fn fits(mut self) -> Self {
        self.style.max_size.height = percent(1.0);
        self
    }

    pub(crate) fn size(self, width: f32, height: f32) -> Self {
        self.width(width).height(height)
    }

    pub(crate) fn width(mut self, width: f32) -> Self {
        self.style.size.width = length(width);
        self
    }

    pub(crate) fn height(mut self, height: f32) -> Self {
        self.style.size.height = length(height);
        self
    }

    /// As wide as the parent.
    pub(crate) fn wide(mut self) -> Self {
        self.style.size.width = percent(1.0);
        self
    }

    /// As wide as this part of the parent, from 0 to 1.
    pub(crate) fn part(mut self, part: f32) -> Self {
        self.style.size.width = percent(part.clamp(0.0, 1.0));
        self
    }

    /// Never lower than `height`.
    pub(crate) fn tall(mut self, height: f32) -> Self {
        self.style.min_size.height = length(height);
        self
    }

    /// Never narrower than `width`.
    pub(crate) fn min_width(mut self, width: f32) -> Self {
        self.style.min_size.width = length(width);
        self
    }

    /// Never wider than `width`.
    pub(crate) fn max_width(mut self, width: f32) -> Self {
        self.style.max_size.width = length(width);
        self
    }

    /// Never higher than `height`.
    pub(crate) fn max_height(mut self, height: f32) -> Self {
        self.style.max_size.height = length(height);
        self
    }

    /// Lines up children in the middle across the direction in which they follow each other.
    pub(crate) fn align_center(mut self) -> Self {
        self.style.align_items = AlignItems::CENTER;
        self
    }

    /// Lines up children at the start across their direction.
    pub(crate) fn align_start(mut self) -> Self {
        self.style.align_items = AlignItems::START;
        self
    }

    /// Stretches children across their direction.
    pub(crate) fn align_stretch(mut self) -> Self {
        self.style.align_items = AlignItems::STRETCH;
        self
    }

    /// Packs children in the middle along their direction.
    pub(crate) fn pack_center(mut self) -> Self {
        self.style.justify_content = JustifyContent::CENTER;
        self
    }

    /// Stands in the middle of the parent, across its direction.
    pub(crate) fn self_center(mut self) -> Self {
        self.style.align_self = Some(AlignSelf::CENTER);
        self
    }

    /// Children that do not fit go on in a new row.
    pub(crate) fn wraps(mut self) -> Self {
        self.style.flex_wrap = FlexWrap::Wrap;
        self
    }

    /// Stands at these distances from the parent's edges (left, top, right, bottom), apart from its
    /// siblings; `None` leaves an edge free.
    pub(crate) fn pin(mut self, edges: [Option<f32>; 4]) -> Self {
        let [left, top, right, bottom] =
            edges.map(|edge| edge.map_or(auto(), LengthPercentageAuto::length));
        self.style.position = Position::Absolute;
        self.style.inset = taffy::Rect { left, top, right, bottom };
        self
    }

    /// Covers the whole parent.
    pub(crate) fn cover(self) -> Self {
        self.pin([Some(0.0); 4])
    }
}
