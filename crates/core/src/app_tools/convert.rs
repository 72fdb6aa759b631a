//! Converts a package's contents to the types of `mobile-mcp`: elements of compiled XML, services
//! of a manifest.
//!
//! The `apk` and `mobile-mcp` crates do not depend on each other.

use std::collections::HashSet;

use thumbwire_apk as apk;
use thumbwire_mobile_mcp::{Attribute, Declaration, Element, SourcePosition, Value};

/// A compiled element with its children. Positions are lines: compiled XML has no columns.
pub fn element(compiled: &apk::xml::Element) -> Element {
    let place = SourcePosition { line: compiled.line, column: 0 };
    let attribute = |it: &apk::xml::Attribute| Attribute {
        name: it.name.clone(),
        value: value(&it.value, it.written.as_ref()),
        position: place,
    };
    Element {
        name: compiled.name.clone(),
        attributes: compiled.attributes.iter().map(attribute).collect(),
        // The `apk` crate limits the depth.
        children: compiled.children.iter().map(element).collect(),
        position: place,
    }
}

/// A manifest's service. If two `meta-data` entries have the same name, the last one wins, as on a
/// phone.
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
        // Dimensions, fractions, theme attributes: the protocol has none of these.
        apk::xml::Value::Other { .. } => Value::Text(written.cloned().unwrap_or_default()),
    }
}
