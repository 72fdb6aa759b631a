//! The text fields of a view, and a walk through all views with their addresses.

use crate::layout::Addresses;
use crate::theme::TextAppearance;
use crate::view::{Content, FieldTraits, View};

/// A text field as the app drew it last.
#[derive(Debug, Clone)]
pub(crate) struct LaidOutField {
    pub(crate) address: String,
    /// Short resource id.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) style: TextAppearance,
    pub(crate) traits: FieldTraits,
}

/// The text fields of a view, in order.
pub(crate) fn fields(root: &View) -> Vec<LaidOutField> {
    let mut fields = Vec::new();
    visit(root, |view, address| {
        if let Content::Field(field) = &view.content {
            fields.push(LaidOutField {
                address: address.clone(),
                id: view.id.as_deref().unwrap_or_default().to_owned(),
                text: view.text.clone(),
                style: field.style,
                traits: field.traits,
            });
        }
    });
    fields
}

/// Visits all views, parents first, with their addresses.
pub(crate) fn visit(root: &View, mut see: impl FnMut(&View, &String)) {
    let mut names = Addresses::default();
    let mut open = vec![(root, String::new(), 0)];
    while let Some((view, parent, index)) = open.pop() {
        let address = names.of(view, &parent, index);
        see(view, &address);
        let children = view.children.iter().enumerate().rev();
        open.extend(children.map(|(index, child)| (child, address.clone(), index)));
    }
}
