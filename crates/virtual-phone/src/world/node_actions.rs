//! Accessibility actions on nodes: what a screen reader or UiAutomation asks a view to do, without
//! a finger.

use crate::app::Event;
use crate::scene::{Node, WindowKind};
use crate::world::World;
use thumbwire_virtual_screen::Axis;

/// Something that a view is asked to do (`AccessibilityNodeInfo.ACTION_…`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeAction {
    /// `ACTION_CLICK`
    Click,
    /// `ACTION_LONG_CLICK`
    LongClick,
    /// `ACTION_FOCUS`
    Focus,
    /// `ACTION_SCROLL_FORWARD`
    ScrollForward,
    /// `ACTION_SCROLL_BACKWARD`
    ScrollBackward,
    /// `ACTION_SET_SELECTION`, of which this phone keeps the end, in UTF-16 units.
    SetSelection(usize),
    /// `ACTION_SET_TEXT`
    SetText(String),
}

impl NodeAction {
    /// Whether a node offers it.
    pub fn is_offered_by(&self, node: &Node) -> bool {
        let is_field = node.touch.field.is_some();
        match self {
            Self::Click => node.flags.clickable && node.flags.enabled,
            Self::LongClick => node.touch.hold.is_some() && node.flags.enabled,
            Self::Focus => node.flags.focusable && node.flags.enabled && !node.flags.focused,
            Self::ScrollForward => scroll(node).is_some_and(|(now, furthest)| now < furthest),
            Self::ScrollBackward => scroll(node).is_some_and(|(now, _)| now > 0),
            Self::SetSelection(_) | Self::SetText(_) => is_field && node.flags.enabled,
        }
    }
}

/// How far a view is scrolled, and how far it can be.
fn scroll(node: &Node) -> Option<(i32, i32)> {
    node.touch.scroll.map(|(_, furthest)| (node.touch.scrolled, furthest))
}

impl World {
    /// Has a node of the window with the focus do something. `false` if it is not there, does not
    /// offer that, or its app hangs.
    pub fn perform_on_node(&mut self, address: &str, action: &NodeAction) -> bool {
        let Some(window) = self.scene().focused() else { return false };
        let (overlay, is_app) = (window.overlay, window.kind == WindowKind::Application);
        let Some(node) = window.root.walk().find(|node| node.address == address).cloned() else {
            return false;
        };
        let hangs = overlay.is_none() && !self.responds(&self.foreground().package);
        if hangs || !action.is_offered_by(&node) {
            return false;
        }
        let mut send = |event| match overlay {
            Some(id) => self.send_to_overlay(id, event),
            None if is_app => self.send_event_to_foreground(event),
            None => {}
        };
        match action {
            NodeAction::Click if node.touch.field.is_none() => {
                if let Some(tag) = node.touch.tap {
                    send(Event::Tap(tag));
                }
            }
            NodeAction::LongClick => {
                if let Some(tag) = node.touch.hold {
                    send(Event::LongPress(tag));
                }
            }
            NodeAction::Click | NodeAction::Focus => self.focus_node(&node, None, false),
            NodeAction::ScrollForward | NodeAction::ScrollBackward => {
                let Some((axis, furthest)) = node.touch.scroll else { return false };
                let page = match axis {
                    Axis::Down => node.bounds.height(),
                    Axis::Across => node.bounds.width(),
                };
                let step = if *action == NodeAction::ScrollForward { page } else { -page };
                let owner = self.scroll_owner();
                let offset = (node.touch.scrolled + step).clamp(0, furthest);
                self.screen.scroll_to((owner, node.address.clone()), offset);
            }
            NodeAction::SetSelection(end) => {
                self.focus_unless(&node);
                let end = *end;
                self.edit(|text, caret| *caret = byte_of(text, end));
            }
            NodeAction::SetText(text) => {
                self.focus_unless(&node);
                self.replace_text(text);
            }
        }
        true
    }

    fn focus_unless(&mut self, node: &Node) {
        if !node.flags.focused {
            self.focus_node(node, None, false);
        }
    }

    /// Inserts a text at the caret of the field that has the focus, as a paste does. `false` if
    /// none has it, or it is full.
    pub fn insert_text(&mut self, text: &str) -> bool {
        let methods = self.input.methods_mut();
        let arrives: String = text.chars().filter(|_| !methods.loses_one()).collect();
        self.screen.is_on() && self.insert(&arrives)
    }

    /// Replaces the text of the field that has the focus. `false` if none has it, or the text is
    /// too long.
    pub fn replace_text(&mut self, text: &str) -> bool {
        if self.focused_text().is_none() {
            return false;
        }
        self.edit(|before, caret| {
            before.clear();
            *caret = 0;
        });
        text.is_empty() || self.insert_text(text)
    }

    /// The toast that is shown.
    pub fn toast_text(&self) -> Option<&str> {
        self.notices.toast()
    }
}

/// The place in a text that is so many UTF-16 units from its start.
fn byte_of(text: &str, units: usize) -> usize {
    let mut seen = 0;
    text.char_indices()
        .find(|(_, character)| {
            let here = seen >= units;
            seen += character.len_utf16();
            here
        })
        .map_or(text.len(), |(at, _)| at)
}
