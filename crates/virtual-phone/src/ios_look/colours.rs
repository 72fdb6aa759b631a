//! iOS's colours, and the exchange of the theme's for them.
//!
//! Values are the system colours of iOS's light appearance (Apple's Human Interface Guidelines,
//! "Color").

use crate::scene::Node;
use crate::theme::{self, Colour};
use thumbwire_virtual_screen::PaintOp;

/// `systemBlue`, the tint of everything that can be tapped.
pub(super) const TINT: Colour = Colour::hex(0x007AFF);
/// `systemGreen`.
pub(super) const GREEN: Colour = Colour::hex(0x34C759);
/// `systemRed`.
pub(super) const RED: Colour = Colour::hex(0xFF3B30);
/// `systemGray5`, the track of a switch that is off.
pub(super) const TRACK: Colour = Colour::hex(0xE5E5EA);
/// `systemGroupedBackground`.
pub(super) const GROUPED: Colour = Colour::hex(0xF2F2F7);
/// `systemGray`.
pub(super) const GREY: Colour = Colour::hex(0x8E8E93);
/// `opaqueSeparator`.
pub(super) const SEPARATOR: Colour = Colour::hex(0xC6C6C8);
/// `systemGray3`, a row's chevron.
pub(super) const CHEVRON: Colour = Colour::hex(0xC7C7CC);
/// The background of a search field.
pub(super) const FIELD: Colour = Colour::hex(0xE3E3E9);
/// A bar over content.
pub(super) const BAR: Colour = Colour::hex(0xF9F9F9);
pub(super) const BLACK: Colour = Colour::hex(0x000000);
/// Text of less importance; darker than `secondaryLabel`, for a contrast of 4.5 : 1.
pub(super) const SECONDARY: Colour = Colour::hex(0x6C6C70);

const EXCHANGE: [(Colour, Colour); 14] = [
    (theme::PRIMARY, TINT),
    (theme::PRIMARY_CONTAINER, Colour::hex(0xD9EAFF)),
    (theme::ON_PRIMARY_CONTAINER, TINT),
    (theme::SECONDARY_CONTAINER, Colour::hex(0xD9EAFF)),
    (theme::ON_SECONDARY_CONTAINER, TINT),
    (theme::SURFACE_LOW, GROUPED),
    (theme::SURFACE_CONTAINER, GROUPED),
    (theme::SURFACE_HIGH, TRACK),
    (theme::ON_SURFACE, BLACK),
    (theme::ON_SURFACE_VARIANT, SECONDARY),
    (theme::OUTLINE, GREY),
    (theme::OUTLINE_VARIANT, SEPARATOR),
    (theme::GREEN, Colour::hex(0x248A3D)),
    (theme::RED, RED),
];

fn exchanged(colour: Colour) -> Colour {
    let same = |(old, _): &&(Colour, Colour)| old.alpha(colour.alpha) == colour;
    EXCHANGE.iter().find(same).map_or(colour, |(_, new)| new.alpha(colour.alpha))
}

/// Paints a node and everything below it in iOS's colours.
pub(crate) fn recolour(node: &mut Node) {
    for op in &mut node.inks {
        match &mut op.ink {
            PaintOp::Fill { colour, .. }
            | PaintOp::Stroke { colour, .. }
            | PaintOp::Text { colour, .. } => *colour = exchanged(*colour),
            PaintOp::Gradient { from, to, .. } => {
                (*from, *to) = (exchanged(*from), exchanged(*to));
            }
            PaintOp::Shadow { .. } | PaintOp::Picture { .. } => {}
        }
    }
    node.children.iter_mut().for_each(recolour);
}
