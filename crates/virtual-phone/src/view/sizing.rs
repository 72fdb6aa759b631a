//! The size and position of a view: padding, margin, size, and its place among its siblings.
//!
//! The flexbox part of [`View`]'s builder; `view` has the rest. Lengths are dp.

use taffy::prelude::*;

use crate::view::View;

impl View {
    /// The same padding on all four sides.
    pub(crate) fn pad(self, all: f32) -> Self {
        self.pad_each(all, all, all, all)
    }

    /// Padding: left and right, then top and bottom.
    pub(crate) fn pad_xy(self, x: f32, y: f32) -> Self {
        self.pad_each(x, y, x, y)
    }

    /// Padding: left, top, right, bottom.
    pub(crate) fn pad_each(mut self, left: f32, top: f32, right: f32, bottom: f32) -> Self {
        self.style.padding = taffy::Rect {
            left: length(left),
            top: length(top),
            right: length(right),
            bottom: length(bottom),
        };
        self
    }

    /// Margin: left, top, right, bottom.
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

    /// Takes its share of the free space along the parent's direction.
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

    /// [`View::grow`] with `share` times the share of others.
    pub(crate) fn grow_by(self, share: f32) -> Self {
        let mut view = self.grow();
        view.style.flex_grow = share;
        view
    }

    /// Shrinks if there is not enough room along the column.
    pub(crate) fn shrinks(mut self) -> Self {
        self.style.flex_shrink = 1.0;
        self.style.min_size.height = length(0.0);
        self
    }

    /// At most as high as the parent.
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
    pub(crate) fn fill_width(mut self) -> Self {
        self.style.size.width = percent(1.0);
        self
    }

    /// This fraction of the parent's width, from 0 to 1.
    pub(crate) fn width_fraction(mut self, part: f32) -> Self {
        self.style.size.width = percent(part.clamp(0.0, 1.0));
        self
    }

    /// At least `height` high.
    pub(crate) fn min_height(mut self, height: f32) -> Self {
        self.style.min_size.height = length(height);
        self
    }

    /// At least `width` wide.
    pub(crate) fn min_width(mut self, width: f32) -> Self {
        self.style.min_size.width = length(width);
        self
    }

    /// At most `width` wide.
    pub(crate) fn max_width(mut self, width: f32) -> Self {
        self.style.max_size.width = length(width);
        self
    }

    /// At most `height` high.
    pub(crate) fn max_height(mut self, height: f32) -> Self {
        self.style.max_size.height = length(height);
        self
    }

    /// Centres children across their direction.
    pub(crate) fn align_center(mut self) -> Self {
        self.style.align_items = AlignItems::CENTER;
        self
    }

    /// Aligns children at the start, across their direction.
    pub(crate) fn align_start(mut self) -> Self {
        self.style.align_items = AlignItems::START;
        self
    }

    /// Stretches children across their direction.
    pub(crate) fn align_stretch(mut self) -> Self {
        self.style.align_items = AlignItems::STRETCH;
        self
    }

    /// Centres children along their direction.
    pub(crate) fn justify_center(mut self) -> Self {
        self.style.justify_content = JustifyContent::CENTER;
        self
    }

    /// Centres itself in the parent, across its direction.
    pub(crate) fn align_self_center(mut self) -> Self {
        self.style.align_self = Some(AlignSelf::CENTER);
        self
    }

    /// Wraps children that do not fit into a new row.
    pub(crate) fn wraps(mut self) -> Self {
        self.style.flex_wrap = FlexWrap::Wrap;
        self
    }

    /// Absolute position: distances from the parent's edges (left, top, right, bottom); `None`
    /// leaves an edge free.
    pub(crate) fn absolute(mut self, edges: [Option<f32>; 4]) -> Self {
        let [left, top, right, bottom] =
            edges.map(|edge| edge.map_or(auto(), LengthPercentageAuto::length));
        self.style.position = Position::Absolute;
        self.style.inset = taffy::Rect { left, top, right, bottom };
        self
    }

    /// Covers the whole parent.
    pub(crate) fn fill_parent(self) -> Self {
        self.absolute([Some(0.0); 4])
    }
}
