//! From a tree of views to placed nodes: flexbox by `taffy`, text by `text`, then clipping.
//!
//! Start with [`Layout::place`]. Flexbox runs in dp without rounding; edges are rounded to pixels
//! once, at the end, so that neighbours meet without gaps. Everything is clipped by its ancestors,
//! and what is clipped away is not painted, touchable or listed. No state is kept here: scroll
//! offsets and focus come from the world and go back to it.

mod fields;
mod paint;

pub(crate) use self::fields::{LaidOutField, fields, visit};
pub(crate) use self::paint::{line_of, mask_password};

use std::collections::BTreeMap;

use taffy::prelude::*;

use crate::scene::{Flags, Node};
use crate::theme;
use crate::theme::TextAppearance;
use crate::view::{Content, Touch, View, class};
use thumbwire_virtual_screen::Axis;
use thumbwire_virtual_screen::Rect;
use thumbwire_virtual_screen::text::{TextStyle, Typesetter};
use thumbwire_virtual_screen::{ClippedOp, PaintOp};

/// Scroll offsets of containers, in pixels, by owner and address.
pub(crate) type Scrolls = BTreeMap<(String, String), i32>;

/// The view that has the focus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FocusMark {
    pub(crate) address: String,
    /// The caret's position, in bytes of the text.
    pub(crate) caret: usize,
    /// Whether to draw a focus ring: the focus came from a key, not from a touch.
    pub(crate) ring: bool,
    /// Whether to scroll it into view.
    pub(crate) reveal: bool,
}

/// The inputs of a layout.
pub(crate) struct Layout<'a> {
    pub(crate) types: &'a mut Typesetter,
    /// Pixels per dp.
    pub(crate) scale: f32,
    pub(crate) package: &'a str,
    /// The owner of the scroll offsets: one name per activity.
    pub(crate) owner: &'a str,
    pub(crate) scrolls: &'a mut Scrolls,
    pub(crate) focus: Option<&'a FocusMark>,
}

impl Layout<'_> {
    /// Lays `view` out in `area` and returns its node. Scroll offsets beyond the content are
    /// clamped.
    pub(crate) fn place(&mut self, view: &View, area: Rect) -> Node {
        let mut flex = Flex { tree: TaffyTree::new(), views: Vec::new(), mirrored: view.mirrored };
        let root = flex.add(view, None);
        let width = area.width().max(0) as f32 / self.scale;
        let height = area.height().max(0) as f32 / self.scale;
        flex.fix_root(root, width, height);
        let (types, scale) = (&mut *self.types, self.scale);
        let views = std::mem::take(&mut flex.views);
        let _ = flex.tree.compute_layout_with_measure(
            root,
            taffy::Size { width: length(width), height: length(height) },
            |inputs, _, context, style| {
                taffy::compute_leaf_layout(
                    inputs,
                    style,
                    |_, _| 0.0,
                    |known, available| match context.and_then(|&mut index| views.get(index)) {
                        Some(view) => measure(types, scale, view, known, available),
                        None => taffy::Size::ZERO,
                    },
                )
            },
        );
        let mut placing = PlacementPass {
            cx: self,
            flex: &flex,
            seen: Addresses::default(),
            scrollers: Vec::new(),
            reveal: None,
            mirrored: view.mirrored,
        };
        let start = Spot {
            x: area.left as f32 / placing.cx.scale,
            y: area.top as f32 / placing.cx.scale,
            clip: area,
        };
        let node = placing.node(root, view, start, String::new());
        let Some((address, offset)) = placing.reveal.take() else { return node };
        placing.cx.scrolls.insert((placing.cx.owner.to_owned(), address), offset);
        placing.seen = Addresses::default();
        placing.node(root, view, start, String::new())
    }
}

/// Assigns views addresses that stay the same from one layout to the next: by resource id if there
/// is one, else by position below the parent.
#[derive(Default)]
pub(crate) struct Addresses {
    seen: BTreeMap<String, usize>,
}

impl Addresses {
    /// The address of child number `index` of the view at `parent`; parents first.
    pub(crate) fn of(&mut self, view: &View, parent: &str, index: usize) -> String {
        let Some(id) = &view.id else { return format!("{parent}/{index}") };
        let count = self.seen.entry(id.to_string()).or_insert(0);
        *count += 1;
        if *count == 1 { format!("#{id}") } else { format!("#{id}:{count}") }
    }
}

struct Flex<'v> {
    tree: TaffyTree<usize>,
    views: Vec<&'v View>,
    /// Laid out from right to left.
    mirrored: bool,
}

impl<'v> Flex<'v> {
    fn add(&mut self, view: &'v View, within: Option<Axis>) -> NodeId {
        if self.views.is_empty() {
            self.tree.disable_rounding();
        }
        let mut style = view.style.clone();
        if within == Some(Axis::Down) || within == Some(Axis::Across) {
            // The content of a scrolling container never shrinks to fit.
            style.flex_shrink = 0.0;
        }
        if self.mirrored {
            mirror(&mut style);
        }
        let index = self.views.len();
        self.views.push(view);
        let children: Vec<NodeId> =
            view.children.iter().map(|child| self.add(child, view.scroll)).collect();
        let made = if children.is_empty() {
            self.tree.new_leaf_with_context(style, index)
        } else {
            self.tree.new_with_children(style, &children)
        };
        made.unwrap_or(NodeId::new(0))
    }

    fn fix_root(&mut self, root: NodeId, width: f32, height: f32) {
        if let Ok(style) = self.tree.style(root) {
            let mut style = style.clone();
            style.size = taffy::Size { width: length(width), height: length(height) };
            let _ = self.tree.set_style(root, style);
        }
    }
}

/// Mirrors a style for right-to-left layouts. A style's lengths name sides of the screen, so left
/// and right swap; the order of children follows the direction.
fn mirror(style: &mut taffy::Style) {
    style.direction = taffy::Direction::Rtl;
    std::mem::swap(&mut style.padding.left, &mut style.padding.right);
    std::mem::swap(&mut style.margin.left, &mut style.margin.right);
    std::mem::swap(&mut style.inset.left, &mut style.inset.right);
}

/// The text style for a type at a scale.
pub(crate) fn setting(style: &TextAppearance, scale: f32, wrap: Option<f32>) -> TextStyle {
    TextStyle {
        size: style.size * scale,
        line: (style.line * scale).round(),
        medium: style.medium,
        lines: style.lines,
        wrap,
    }
}

/// The size of a leaf's content in dp.
fn measure(
    types: &mut Typesetter,
    scale: f32,
    view: &View,
    known: taffy::Size<Option<f32>>,
    available: taffy::Size<AvailableSpace>,
) -> taffy::Size<f32> {
    let (style, words) = match &view.content {
        Content::Text(style) => (style, view.text.as_str()),
        Content::Field(field) => {
            if !field.traits.multi_line {
                let width = available.width.into_option().or(known.width).unwrap_or(0.0);
                return taffy::Size { width, height: field.style.line };
            }
            (&field.style, view.text.as_str())
        }
        _ => return taffy::Size::ZERO,
    };
    // A known width includes the padding; the available width does not, and is definite if one is
    // known.
    let wrap = match available.width {
        AvailableSpace::Definite(width) => Some(width.max(0.0) * scale),
        AvailableSpace::MaxContent => None,
        // Text that may end in an ellipsis can shrink to almost nothing.
        AvailableSpace::MinContent if style.lines > 0 => Some(0.0),
        AvailableSpace::MinContent => Some(types.narrowest(words, setting(style, scale, None))),
    };
    // One pixel of slack, because the box's edges are rounded.
    let shaped = types.shape(words, setting(style, scale, wrap.map(|width| width + 1.0)));
    taffy::Size { width: shaped.width.ceil() / scale, height: shaped.height / scale }
}

/// Where a parent's box begins, in dp, and its visible part.
#[derive(Clone, Copy)]
struct Spot {
    x: f32,
    y: f32,
    clip: Rect,
}

pub(super) struct PlacementPass<'p, 'a, 'v> {
    pub(super) cx: &'p mut Layout<'a>,
    flex: &'p Flex<'v>,
    seen: Addresses,
    /// Scrolling ancestors: address, viewport, offset, maximum offset.
    scrollers: Vec<(String, Rect, i32, i32)>,
    reveal: Option<(String, i32)>,
    /// Lines start at the right.
    pub(super) mirrored: bool,
}

impl PlacementPass<'_, '_, '_> {
    fn node(&mut self, id: NodeId, view: &View, spot: Spot, parent: String) -> Node {
        let address = self.seen.of(view, &parent, 0);
        self.at_address(id, view, spot, address)
    }

    fn at_address(&mut self, id: NodeId, view: &View, spot: Spot, address: String) -> Node {
        let layout = self.flex.tree.layout(id).copied().unwrap_or_default();
        let scale = self.cx.scale;
        let (x, y) = (spot.x + layout.location.x, spot.y + layout.location.y);
        let full = pixels(x, y, layout.size.width, layout.size.height, scale);
        let bounds = full.intersect(&spot.clip);
        let focus = self.cx.focus.filter(|focus| focus.address == address).cloned();
        let mut node = self.bare_node(view, &address, full, bounds, focus.is_some());
        let inner = pixels(
            x + layout.padding.left,
            y + layout.padding.top,
            (layout.size.width - layout.padding.left - layout.padding.right).max(0.0),
            (layout.size.height - layout.padding.top - layout.padding.bottom).max(0.0),
            scale,
        );
        let mut caret = None;
        if !bounds.is_empty() {
            self.paint_box(view, full, spot.clip, &mut node.inks);
            caret = self.paint_content(view, inner, bounds, focus.as_ref(), &mut node.inks);
        }
        if focus.as_ref().is_some_and(|focus| focus.reveal) {
            self.note_reveal(&full, caret);
        }
        let offset = self.scroll(id, view, &layout, &address, &mut node);
        let below = match view.scroll {
            Some(Axis::Down) => Spot { x, y: y - offset as f32 / scale, clip: bounds },
            Some(Axis::Across) => Spot { x: x - offset as f32 / scale, y, clip: bounds },
            None => Spot { x, y, clip: bounds },
        };
        if let (Some(_), Some((_, furthest))) = (view.scroll, node.touch.scroll) {
            self.scrollers.push((address.clone(), bounds, offset, furthest));
        }
        for (index, child) in view.children.iter().enumerate() {
            let Ok(child_id) = self.flex.tree.child_at_index(id, index) else { continue };
            let child_address = self.seen.of(child, &address, index);
            let placed = self.at_address(child_id, child, below, child_address);
            if placed.bounds.is_empty() {
                continue;
            }
            if child.listed {
                node.children.push(placed);
            } else {
                take_inks(placed, &mut node.inks);
            }
        }
        if node.touch.scroll.is_some() {
            self.scrollers.pop();
        }
        if focus.is_some_and(|focus| focus.ring) && !bounds.is_empty() {
            let width = 2.0 * scale;
            let radius = view.look.radius * scale;
            let style = PaintOp::Stroke { rect: full, radius, width, colour: theme::PRIMARY };
            node.inks.push(ClippedOp { clip: bounds, ink: style });
        }
        node
    }

    fn bare_node(
        &self,
        view: &View,
        address: &str,
        full: Rect,
        bounds: Rect,
        focused: bool,
    ) -> Node {
        let field = match &view.content {
            Content::Field(field) => Some(field),
            _ => None,
        };
        let password = field.is_some_and(|field| field.traits.password);
        let clickable = view.touch.tap.is_some() || field.is_some();
        Node {
            class: view.class,
            package: self.cx.package.to_owned(),
            id: view.id.as_ref().map(|id| {
                if view.bare_id || id.contains(':') {
                    id.to_string()
                } else {
                    format!("{}:id/{id}", self.cx.package)
                }
            }),
            text: if password { mask_password(&view.text) } else { view.text.clone() },
            description: view.description.clone(),
            hint: field.map(|field| field.hint.clone()).unwrap_or_default(),
            role: view.role,
            flags: Flags {
                checkable: view.checked.is_some(),
                checked: view.checked == Some(true),
                clickable,
                enabled: view.enabled,
                focusable: clickable || view.touch.slide.is_some(),
                focused,
                scrollable: false,
                long_clickable: view.touch.hold.is_some()
                    || view.touch.lift.is_some()
                    || field.is_some(),
                password,
                selected: view.selected,
            },
            bounds,
            children: Vec::new(),
            full,
            address: address.to_owned(),
            inks: Vec::new(),
            touch: Touch { field: field.map(|field| field.traits), ..view.touch.clone() },
        }
    }

    /// Clamps the container's offset to its content and returns it, in pixels.
    fn scroll(
        &mut self,
        id: NodeId,
        view: &View,
        layout: &taffy::Layout,
        address: &str,
        node: &mut Node,
    ) -> i32 {
        let Some(axis) = view.scroll else { return 0 };
        let mut end: f32 = 0.0;
        for child in self.flex.tree.children(id).unwrap_or_default() {
            let Ok(child) = self.flex.tree.layout(child) else { continue };
            end = end.max(match axis {
                Axis::Down => child.location.y + child.size.height + child.margin.bottom,
                Axis::Across => child.location.x + child.size.width + child.margin.right,
            });
        }
        let furthest = match axis {
            Axis::Down => end + layout.padding.bottom - layout.size.height,
            Axis::Across => end + layout.padding.right - layout.size.width,
        };
        let furthest = (furthest * self.cx.scale).round() as i32;
        let key = (self.cx.owner.to_owned(), address.to_owned());
        if furthest <= 0 {
            self.cx.scrolls.remove(&key);
            return 0;
        }
        node.touch.scroll = Some((axis, furthest));
        node.flags.scrollable = true;
        node.flags.focusable = true;
        node.touch.scrolled = match self.cx.scrolls.get_mut(&key) {
            Some(offset) => {
                *offset = (*offset).clamp(0, furthest);
                *offset
            }
            None if view.from_end => furthest,
            None => 0,
        };
        node.touch.scrolled
    }

    /// Asks the innermost scrolling ancestor to scroll `full` into view, or the caret's line if
    /// `full` is higher than the viewport.
    fn note_reveal(&mut self, full: &Rect, caret: Option<Rect>) {
        let Some((address, viewport, offset, furthest)) = self.scrollers.last() else { return };
        let full = &caret.filter(|_| full.height() > viewport.height()).unwrap_or(*full);
        let margin = (8.0 * self.cx.scale) as i32;
        let mut wanted = *offset;
        if full.bottom + margin > viewport.bottom {
            wanted += full.bottom + margin - viewport.bottom;
        } else if full.top - margin < viewport.top {
            wanted += full.top - margin - viewport.top;
        }
        let wanted = wanted.clamp(0, *furthest);
        if wanted != *offset {
            self.reveal = Some((address.clone(), wanted));
        }
    }
}

fn take_inks(node: Node, inks: &mut Vec<ClippedOp>) {
    inks.extend(node.inks);
    for child in node.children {
        take_inks(child, inks);
    }
}

fn pixels(x: f32, y: f32, width: f32, height: f32, scale: f32) -> Rect {
    let edge = |dp: f32| (dp * scale).round() as i32;
    Rect::new(edge(x), edge(y), edge(x + width), edge(y + height))
}

/// The class of a plain container in dumps.
pub(crate) const DECOR: &str = class::FRAME;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{FieldTraits, column, frame, text};
    use crate::widgets::field;

    const AREA: Rect = Rect { left: 0, top: 0, right: 200, bottom: 300 };

    fn place(view: &View, scrolls: &mut Scrolls, focus: Option<&FocusMark>) -> Node {
        let types = &mut Typesetter::new(thumbwire_virtual_screen::Platform::Android);
        let (package, owner) = ("com.x", "com.x/Main");
        Layout { types, scale: 1.0, package, owner, scrolls, focus }.place(view, AREA)
    }

    fn focus(address: &str, caret: usize) -> FocusMark {
        FocusMark { address: address.to_owned(), caret, ring: false, reveal: true }
    }

    #[test]
    fn only_multi_line_fields_grow() {
        let many = FieldTraits { multi_line: true, ..FieldTraits::default() };
        let text = "one two three four five six seven eight nine ten\neleven\n";
        let height = |traits| {
            let view = column([field("note", text, "Note", theme::BODY, traits)]);
            place(&view, &mut Scrolls::new(), None).find("note").unwrap().bounds.height()
        };
        assert_eq!(height(FieldTraits::default()), 48);
        assert!(height(many) >= 4 * 20);
    }

    #[test]
    fn caret_can_be_anywhere_in_any_text() {
        for multi_line in [false, true] {
            for password in [false, true] {
                let traits = FieldTraits { multi_line, password, ..FieldTraits::default() };
                let text = "añb\n\n👩‍👩‍👧 שלום\n";
                let view = column([field("note", text, "Note", theme::BODY, traits)]);
                for caret in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    place(&view, &mut Scrolls::new(), Some(&focus("#note", caret)));
                }
            }
        }
    }

    #[test]
    fn password_node_shows_dots() {
        let traits = FieldTraits { password: true, ..FieldTraits::default() };
        let view = column([field("pin", "1é3", "PIN", theme::BODY, traits)]);
        let root = place(&view, &mut Scrolls::new(), None);
        let node = root.find("pin").unwrap();
        assert_eq!((node.text.as_str(), node.flags.password), ("•••", true));
    }

    #[test]
    fn focused_field_below_the_edge_is_scrolled_into_view() {
        let filler = (0..20).map(|number| text(format!("{number}"), theme::BODY).min_height(40.0));
        let last = field("last", "", "Last", theme::BODY, FieldTraits::default());
        let view = column(filler.chain([last])).scrolls().id("list");
        let mut scrolls = Scrolls::new();
        assert!(place(&view, &mut scrolls, None).find("last").is_none());
        let root = place(&view, &mut scrolls, Some(&focus("#last", 0)));
        assert_eq!(root.find("last").unwrap().bounds.height(), 48);
        assert!(root.flags.scrollable);
    }

    #[test]
    fn scroll_offset_is_clamped_to_the_content() {
        let rows = (0..20).map(|number| text(format!("{number}"), theme::BODY).min_height(40.0));
        let view = column(rows).scrolls().id("list");
        let key = ("com.x/Main".to_owned(), "#list".to_owned());
        let mut scrolls = Scrolls::from([(key.clone(), 100_000)]);
        let root = place(&view, &mut scrolls, None);
        assert_eq!(scrolls[&key], 20 * 40 - 300);
        assert_eq!(root.children.last().unwrap().text, "19");
        assert_eq!(root.children.last().unwrap().bounds.bottom, 300);
    }

    #[test]
    fn pinned_views_are_relative_to_their_parent() {
        let pinned = text("here", theme::BODY).id("pinned");
        let pinned = pinned.absolute([None, None, Some(10.0), Some(10.0)]);
        let view = column([frame([pinned]).height(100.0), text("below", theme::BODY)]);
        let root = place(&view, &mut Scrolls::new(), None);
        let bounds = root.find("pinned").unwrap().bounds;
        assert_eq!((bounds.right, bounds.bottom), (190, 90));
    }

    #[test]
    fn view_addresses_survive_sibling_changes() {
        let (a, b) = (text("a", theme::BODY).id("row"), text("b", theme::BODY).id("row"));
        let with =
            place(&column([text("x", theme::BODY), a.clone(), b]), &mut Scrolls::new(), None);
        let without = place(&column([a]), &mut Scrolls::new(), None);
        assert_eq!(with.find("row").unwrap().address, without.find("row").unwrap().address);
        assert_eq!(with.children[2].address, "#row:2");
    }
}
