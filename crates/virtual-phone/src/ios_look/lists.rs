//! Lists: rows that can be tapped become cells of inset groups, with separators and chevrons.

use crate::ios_look::HAIR;
use crate::ios_look::bars;
use crate::ios_look::colours::{CHEVRON, GROUPED, SEPARATOR};
use crate::platform::Role;
use crate::theme;
use crate::view::{Content, View, class, column, icon};
use thumbwire_virtual_screen::icons::Icon;

/// A list; consecutive cells are on one white card.
pub(super) fn table(mut view: View) -> View {
    let (mut parts, mut group): (Vec<View>, Vec<View>) = (Vec::new(), Vec::new());
    for child in std::mem::take(&mut view.children) {
        if is_cell(&child) {
            group.push(child);
            continue;
        }
        close(&mut group, &mut parts);
        parts.push(child);
    }
    close(&mut group, &mut parts);
    view.children = parts;
    view
}

/// A row across the list that is tapped or says that it is a cell.
fn is_cell(view: &View) -> bool {
    let row = view.style.flex_direction == taffy::FlexDirection::Row;
    row && view.look.fill.is_none() && (view.touch.tap.is_some() || view.role == Some(Role::Cell))
}

fn close(group: &mut Vec<View>, parts: &mut Vec<View>) {
    if group.is_empty() {
        return;
    }
    let last = group.len() - 1;
    let cells = group.drain(..).enumerate().map(|(at, view)| cell(view, at == last));
    let card = column(cells).fill(theme::WHITE).radius(10.0);
    parts.push(card.margin(16.0, 8.0, 16.0, 8.0));
}

fn cell(mut view: View, last: bool) -> View {
    for side in [&mut view.style.padding.left, &mut view.style.padding.right] {
        *side = taffy::LengthPercentage::length(16.0);
    }
    let leads = view.touch.tap.is_some() && !has_control(&view) && view.class != class::RADIO;
    if leads {
        view.children.push(icon(Icon::ChevronRight, 22.0, CHEVRON).hide_from_accessibility());
    }
    if !last {
        let line =
            View::new(class::VIEW, []).height(HAIR).fill(SEPARATOR).hide_from_accessibility();
        view.children.push(line.absolute([Some(16.0), None, Some(0.0), Some(0.0)]));
    }
    view.role(Role::Cell)
}

/// Whether something in the row is touched on its own, or shows a state.
fn has_control(view: &View) -> bool {
    view.children.iter().any(|child| {
        child.touch.tap.is_some()
            || child.checked.is_some()
            || matches!(child.content, Content::Field(_))
            || has_control(child)
    })
}

/// Makes the ground of a screen with grouped cells grey.
pub(super) fn ground(view: &mut View) {
    let Some(page) = bars::page_of(view) else { return };
    let cards = |list: &View| {
        let card = |it: &View| it.children.iter().any(|cell| cell.role == Some(Role::Cell));
        list.role == Some(Role::Table) && list.children.iter().any(card)
    };
    if page.children.iter().any(cards) {
        whiten(page);
        page.look.fill = Some(GROUPED);
    }
}

/// Makes cards and fields white whose grey is that of the ground.
fn whiten(view: &mut View) {
    if view.look.fill == Some(theme::SURFACE_CONTAINER) {
        view.look.fill = Some(theme::WHITE);
    }
    view.children.iter_mut().for_each(whiten);
}
