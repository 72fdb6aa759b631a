//! What a package holds, in the words of the protocol's crate: a compiled file's elements, a manifest's service.
//!
//! The two crates stand beside each other and know nothing of each other.

use std::collections::HashSet;

use thumbwire_apk as apk;
use thumbwire_mobile_mcp::{Attribute, Declaration, Element, Place, Value};

/// A compiled element with all that is in it. Places are lines: a compiled file knows no columns.
pub fn element(compiled: &apk::xml::Element) -> Element {
    let place = Place { line: compiled.line, column: 0 };
    let attribute = |it: &apk::xml::Attribute| Attribute {
        name: it.name.clone(),
        value: value(&it.value, it.written.as_ref()),
        place,
    };
    Element {
        name: compiled.name.clone(),
        attributes: compiled.attributes.iter().map(attribute).collect(),
        // As deep as the crate that read it lets them be.
        children: compiled.children.iter().map(element).collect(),
        place,
    }
}

/// A manifest's service. Of two `meta-data` entries of one name the last is kept, as on a phone.
pub fn declaration(service: &apk::Service) -> Declaration {
    // There may be some ten thousand.
    let mut seen = HashSet::new();
    let mut meta: Vec<_> = service.meta.iter().rev().filter(|it| seen.insert(&it.name)).collect();
    meta.reverse();
    Declaration {
        service: service.class.clone(),
        exported: service.exported,
        enabled: service.enabled,
        permission: service.permission.clone(),
        meta: meta
            .into_iter()
            .map(|it| (it.name.clone(), value(&it.value, it.written.as_ref())))
            .collect(),
    }
}

fn value(compiled: &apk::xml::Value, written: Option<&String>) -> Value {
    match compiled {
        apk::xml::Value::Text(text) => Value::Text(text.clone()),
        apk::xml::Value::Integer(number) => Value::Integer((*number).into()),
        apk::xml::Value::Float(number) => Value::Float(*number, written.cloned()),
        apk::xml::Value::Boolean(is) => Value::Boolean(*is),
        apk::xml::Value::Reference(id) => Value::Reference(*id),
        // Dimensions, fractions, the theme's: nothing that this protocol has.
        apk::xml::Value::Other { .. } => Value::Text(written.cloned().unwrap_or_default()),
    }
}
