//! From a tree of views to placed nodes: flexbox by `taffy`, text by `text`, then clipping.
//!
//! Begin with [`Layout::place`]. The flexbox runs in dp without rounding; edges are rounded to pixels
//! once, at the end, so that neighbours meet without gaps. Everything is clipped by its ancestors,
//! and what is clipped away is neither painted, touchable nor listed.
//! No state is kept here: scroll offsets and focus come from the world and go back to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use taffy::prelude::*;

use super::geometry::Rect;
use super::scene::{Flags, Ink, Inked, Node, Touch};
use super::text::{Setting, Shaped, Typesetter};
use super::theme::{self, Align, Colour, Type};
use super::view::{Axis, Content, Field, View, class};

/// How far each scrolling container was scrolled, in pixels, by owner and address.
pub(crate) type Scrolls = BTreeMap<(String, String), i32>;

/// Which view has the focus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FocusMark {
    pub(crate) address: String,
    /// Where the caret stands, in bytes of the text.
    pub(crate) caret: usize,
    /// Whether to draw a ring: the focus came from a key, not from a finger.
    pub(crate) ring: bool,
    /// Whether to scroll so that it can be seen.
    pub(crate) reveal: bool,
}

/// What a layout needs to know.
pub(crate) struct Layout<'a> {
    pub(crate) types: &'a mut Typesetter,
    /// Pixels per dp.
    pub(crate) scale: f32,
    pub(crate) package: &'a str,
    /// Whose scroll offsets these are: one name per activity.
    pub(crate) owner: &'a str,
    pub(crate) scrolls: &'a mut Scrolls,
    pub(crate) focus: Option<&'a FocusMark>,
}

impl Layout<'_> {
    /// Lays `view` out in `area` and returns its node. Scroll offsets beyond the content are drawn in.
    pub(crate) fn place(&mut self, view: &View, area: Rect) -> Node {
        let mut flex = Flex { tree: TaffyTree::new(), views: Vec::new() };
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
        let mut placing = Placing {
            cx: self,
            flex: &flex,
            seen: Addresses::default(),
            scrollers: Vec::new(),
            reveal: None,
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

/// Names views so that the same view has the same name in the next layout: by its resource id where
/// it has one, else by its place below its parent.
#[derive(Default)]
pub(crate) struct Addresses {
    seen: BTreeMap<String, usize>,
}

impl Addresses {
    /// The address of the child number `index` of the view at `parent`; ask parents first.
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
}

impl<'v> Flex<'v> {
    fn add(&mut self, view: &'v View, within: Option<Axis>) -> NodeId {
        if self.views.is_empty() {
            self.tree.disable_rounding();
        }
        let mut style = view.style.clone();
        if within == Some(Axis::Down) || within == Some(Axis::Across) {
            // The content of a scrolling container is never squeezed to fit.
            style.flex_shrink = 0.0;
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

/// How to shape text of a type at a scale.
pub(crate) fn setting(style: &Type, scale: f32, wrap: Option<f32>) -> Setting {
    Setting {
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
                let width = known.width.or(available.width.into_option()).unwrap_or(0.0);
                return taffy::Size { width, height: field.style.line };
            }
            (&field.style, view.text.as_str())
        }
        _ => return taffy::Size::ZERO,
    };
    let wrap = match (known.width, available.width) {
        (Some(width), _) | (None, AvailableSpace::Definite(width)) => Some(width.max(0.0) * scale),
        (None, AvailableSpace::MaxContent) => None,
        // A text that may end in an ellipsis can be squeezed to almost nothing.
        (None, AvailableSpace::MinContent) if style.lines > 0 => Some(0.0),
        (None, AvailableSpace::MinContent) => {
            Some(types.narrowest(words, setting(style, scale, None)))
        }
    };
    // One pixel of slack, because the box comes back with rounded edges.
    let shaped = types.shape(words, setting(style, scale, wrap.map(|width| width + 1.0)));
    taffy::Size { width: shaped.width.ceil() / scale, height: shaped.height / scale }
}

/// Where a parent's box begins, in dp of the screen, and what it leaves visible.
#[derive(Clone, Copy)]
struct Spot {
    x: f32,
    y: f32,
    clip: Rect,
}

struct Placing<'p, 'a, 'v> {
    cx: &'p mut Layout<'a>,
    flex: &'p Flex<'v>,
    seen: Addresses,
    /// Scrolling ancestors: address, viewport, offset, furthest offset.
    scrollers: Vec<(String, Rect, i32, i32)>,
    reveal: Option<(String, i32)>,
}

impl Placing<'_, '_, '_> {
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
        if focus.as_ref().is_some_and(|focus| focus.reveal) {
            self.note_reveal(&full);
        }
        let mut node = self.bare_node(view, &address, full, bounds, focus.is_some());
        let inner = pixels(
            x + layout.padding.left,
            y + layout.padding.top,
            (layout.size.width - layout.padding.left - layout.padding.right).max(0.0),
            (layout.size.height - layout.padding.top - layout.padding.bottom).max(0.0),
            scale,
        );
        if !bounds.is_empty() {
            self.box_inks(view, full, spot.clip, &mut node.inks);
            self.content_inks(view, inner, bounds, focus.as_ref(), &mut node.inks);
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
            let ink = Ink::Stroke { rect: full, radius, width, colour: theme::PRIMARY };
            node.inks.push(Inked { clip: bounds, ink });
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
        let clickable = view.tap.is_some() || field.is_some();
        Node {
            class: view.class,
            package: self.cx.package.to_owned(),
            id: view.id.as_ref().map(|id| {
                if id.contains(':') {
                    id.to_string()
                } else {
                    format!("{}:id/{id}", self.cx.package)
                }
            }),
            text: if password { dots(&view.text) } else { view.text.clone() },
            description: view.description.clone(),
            hint: field.map(|field| field.hint.clone()).unwrap_or_default(),
            flags: Flags {
                checkable: view.checked.is_some(),
                checked: view.checked == Some(true),
                clickable,
                enabled: view.enabled,
                focusable: clickable,
                focused,
                scrollable: false,
                long_clickable: view.hold.is_some() || field.is_some(),
                password,
                selected: view.selected,
            },
            bounds,
            children: Vec::new(),
            full,
            address: address.to_owned(),
            inks: Vec::new(),
            touch: Touch {
                tap: view.tap.clone(),
                hold: view.hold.clone(),
                drag: view.drag.clone(),
                swipe_up: view.swipe_up.clone(),
                swipe_down: view.swipe_down.clone(),
                field: field.map(|field| field.traits),
                scroll: None,
            },
        }
    }

    /// Bounds the container's offset by its content and returns it, in pixels.
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
        match self.cx.scrolls.get_mut(&key) {
            Some(offset) => {
                *offset = (*offset).clamp(0, furthest);
                *offset
            }
            None => 0,
        }
    }

    /// Asks the innermost scrolling ancestor to bring `full` into its viewport.
    fn note_reveal(&mut self, full: &Rect) {
        let Some((address, viewport, offset, furthest)) = self.scrollers.last() else { return };
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

    fn box_inks(&self, view: &View, rect: Rect, clip: Rect, inks: &mut Vec<Inked>) {
        let scale = self.cx.scale;
        let radius = view.look.radius * scale;
        let mut push = |ink| inks.push(Inked { clip, ink });
        if view.look.depth > 0.0 {
            push(Ink::Shadow { rect, radius, depth: view.look.depth * scale });
        }
        match (view.look.fill, view.look.fill_to) {
            (Some(from), Some(to)) => push(Ink::Gradient { rect, radius, from, to }),
            (Some(colour), None) => push(Ink::Fill { rect, radius, colour }),
            _ => {}
        }
        if let Some((width, colour)) = view.look.border {
            push(Ink::Stroke { rect, radius, width: width * scale, colour });
        }
    }

    fn content_inks(
        &mut self,
        view: &View,
        inner: Rect,
        clip: Rect,
        focus: Option<&FocusMark>,
        inks: &mut Vec<Inked>,
    ) {
        let scale = self.cx.scale;
        let fade = |colour: Colour| if view.enabled { colour } else { colour.alpha(97) };
        match &view.content {
            Content::Nothing => {}
            Content::Text(style) => {
                let wrap = Some(inner.width() as f32 + 1.0);
                let shaped = self.cx.types.shape(&view.text, setting(style, scale, wrap));
                inks.push(Inked {
                    clip,
                    ink: standing(shaped, inner, fade(style.colour), style.align),
                });
            }
            Content::Icon(icon, size, colour) => {
                let shaped = self.cx.types.icon(*icon, (size * scale).round());
                inks.push(Inked {
                    clip,
                    ink: standing(shaped, inner, fade(*colour), Align::Center),
                });
            }
            Content::Picture(picture) => {
                let radius = view.look.radius * scale;
                let picture = Arc::clone(picture);
                inks.push(Inked {
                    clip,
                    ink: Ink::Picture { rect: inner, radius, scale, picture },
                });
            }
            Content::Field(field) => self.field_inks(view, field, inner, clip, focus, inks),
        }
    }

    fn field_inks(
        &mut self,
        view: &View,
        field: &Field,
        inner: Rect,
        clip: Rect,
        focus: Option<&FocusMark>,
        inks: &mut Vec<Inked>,
    ) {
        let scale = self.cx.scale;
        let across = inner.width().max(0) as f32;
        let screen = clip;
        let clip = clip.intersect(&inner);
        let hidden = field.traits.password.then(|| dots(&view.text));
        let words = hidden.as_deref().unwrap_or(&view.text);
        let one_line = !field.traits.multi_line;
        let (shown, colour) = if words.is_empty() {
            (field.hint.as_str(), theme::OUTLINE)
        } else {
            (words, field.style.colour)
        };
        let loose = setting(&field.style.lines(0), scale, None);
        let shaped = match (one_line, focus.is_some() && !words.is_empty()) {
            (true, true) => self.cx.types.shape(shown, loose),
            (true, false) => {
                let style = field.style.lines(1);
                self.cx.types.shape(shown, setting(&style, scale, Some(across)))
            }
            (false, _) => self.cx.types.shape(shown, Setting { wrap: Some(across + 1.0), ..loose }),
        };
        let top = if one_line {
            inner.top + (inner.height() - shaped.height as i32) / 2
        } else {
            inner.top
        };
        let mut slide = 0.0;
        if let Some(focus) = focus {
            let caret = caret_bytes(&view.text, words, focus.caret);
            let line = if words.is_empty() { 0 } else { line_of(&shaped, caret) };
            let from = shaped.lines.get(line).map_or(0, |line| line.range.start).min(caret);
            let x = self.cx.types.advance(words.get(from..caret).unwrap_or_default(), loose);
            let width = (2.0 * scale).round().max(1.0);
            if one_line {
                slide = (x - across).max(0.0);
            }
            // It stands just before the letter that it points at.
            let left = inner.left + (x - slide - width) as i32;
            let top = top + (line as f32 * shaped.line) as i32;
            let rect = Rect::new(left, top, left + width as i32, top + shaped.line as i32);
            let clip = clip.grown(width as i32).intersect(&screen);
            inks.push(Inked { clip, ink: Ink::Fill { rect, radius: 0.0, colour: theme::PRIMARY } });
        }
        let x = inner.left as f32 - slide.round();
        inks.push(Inked {
            clip,
            ink: Ink::Text { x, y: top as f32, shaped, colour, across, align: 0.0 },
        });
    }
}

/// The line on which the byte `caret` stands; a caret at a break stands on the later line.
fn line_of(shaped: &Shaped, caret: usize) -> usize {
    shaped.lines.iter().rposition(|line| line.range.start <= caret).unwrap_or(0)
}

/// The caret's place in `shown`, which has one dot for each character of a password.
fn caret_bytes(text: &str, shown: &str, caret: usize) -> usize {
    if text == shown {
        return caret.min(text.len());
    }
    let before = text.get(..caret).unwrap_or(text).chars().count();
    shown.char_indices().nth(before).map_or(shown.len(), |(at, _)| at)
}

fn dots(text: &str) -> String {
    "•".repeat(text.chars().count())
}

fn standing(shaped: Arc<Shaped>, inner: Rect, colour: Colour, align: Align) -> Ink {
    let align = if align == Align::Center { 0.5 } else { 0.0 };
    let y = inner.top as f32 + ((inner.height() as f32 - shaped.height) / 2.0).round().max(0.0);
    Ink::Text { x: inner.left as f32, y, shaped, colour, across: inner.width() as f32, align }
}

fn take_inks(node: Node, inks: &mut Vec<Inked>) {
    inks.extend(node.inks);
    for child in node.children {
        take_inks(child, inks);
    }
}

fn pixels(x: f32, y: f32, width: f32, height: f32, scale: f32) -> Rect {
    let edge = |dp: f32| (dp * scale).round() as i32;
    Rect::new(edge(x), edge(y), edge(x + width), edge(y + height))
}

/// The class that a plain container takes in dumps.
pub(crate) const DECOR: &str = class::FRAME;
