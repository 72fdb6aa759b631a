//! The APKs behind apps that come with the phone and offer something to other programs: their bytes, what they declare, and what they say
//! they can do.
//!
//! The rest of what comes with the phone has no APK of its own (its manifest is the app's word alone). Made by `fixtures/apk/build`.

use super::Apk;
use super::axml::Element;
use super::pool::Value;
use super::zip::Zip;
use crate::world::packages::Declared;
use std::sync::LazyLock;
use thumbwire_mobile_mcp as protocol;
use thumbwire_mobile_mcp::Descriptor;

/// A built-in app's APK.
pub(crate) struct BuiltIn {
    package: &'static str,
    /// The file as it lies on the phone.
    pub(crate) bytes: &'static [u8],
    declared: LazyLock<Option<Declared>>,
    descriptor: LazyLock<Descriptor>,
}

macro_rules! built_in {
    ($package:literal, $path:literal) => {
        BuiltIn {
            package: $package,
            bytes: include_bytes!($path),
            declared: LazyLock::new(|| declared_by(include_bytes!($path))),
            descriptor: LazyLock::new(|| descriptor_in(include_bytes!($path)).unwrap_or_default()),
        }
    };
}

static ALL: [BuiltIn; 2] = [
    built_in!("com.android.notes", "../../apks/notes.apk"),
    built_in!("com.example.shop", "../../apks/shop.apk"),
];

/// The APK of a package that comes with the phone.
pub(crate) fn of(package: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|it| it.package == package)
}

impl BuiltIn {
    /// What its manifest declares.
    pub(crate) fn declared(&'static self) -> Option<&'static Declared> {
        self.declared.as_ref()
    }

    /// What its app can do for other programs.
    pub(crate) fn descriptor(&'static self) -> &'static Descriptor {
        &self.descriptor
    }
}

fn declared_by(bytes: &[u8]) -> Option<Declared> {
    /// The newest signature scheme that there is.
    const SCHEMES: u8 = 3;
    Apk::read(bytes, SCHEMES).ok().map(|apk| apk.declared)
}

/// The descriptor, from where `aapt` puts `@xml/mcp_capabilities`.
fn descriptor_in(bytes: &[u8]) -> Option<Descriptor> {
    let file = Zip::open(bytes)?.read("res/xml/mcp_capabilities.xml")?;
    Some(protocol::descriptor::check(&element(&Element::read(&file)?)).descriptor)
}

/// An element of ours as the protocol's reader has it. How deep they go is bounded where they are read.
fn element(from: &Element) -> protocol::Element {
    let place = protocol::Place { line: from.line, column: 0 };
    let attributes = from.attributes.iter().map(|attribute| protocol::Attribute {
        name: attribute.name.clone(),
        value: value(&attribute.value),
        place,
    });
    protocol::Element {
        name: from.name.clone(),
        attributes: attributes.collect(),
        children: from.children.iter().map(element).collect(),
        place,
    }
}

fn value(from: &Value) -> protocol::Value {
    /// `Res_value::TYPE_FLOAT`
    const FLOAT: u8 = 0x04;
    match from {
        Value::Text(text) => protocol::Value::Text(text.clone()),
        Value::Number(number) => protocol::Value::Integer(i64::from(*number)),
        Value::Truth(truth) => protocol::Value::Boolean(*truth),
        Value::Reference(id) => protocol::Value::Reference(*id),
        Value::Other(FLOAT, bits) => protocol::Value::Float(f32::from_bits(*bits), None),
        Value::Other(_, data) => protocol::Value::Integer(i64::from(*data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Setup, World};

    #[test]
    fn an_apk_behind_an_app_says_the_same_as_the_app() {
        let world = World::new(Setup::default());
        for built_in in &ALL {
            let apk = Apk::read(built_in.bytes, 3).expect("it can be read");
            assert!(apk.signer.is_ok(), "{}", built_in.package);
            let declared = apk.declared;
            let packages = world.packages();
            let app =
                packages.iter().find(|it| it.package == built_in.package).expect("it is there");
            assert_eq!(declared.package, app.package);
            assert_eq!(declared.version_code, app.version_code);
            assert_eq!(declared.version_name.as_ref(), Some(&app.version_name));
            assert_eq!(declared.label.as_ref(), Some(&app.label));
            assert_eq!(declared.permissions, app.permissions);
            assert_eq!(declared.launcher().map(|it| &it.name), app.launcher.as_ref());
            let descriptor = built_in.descriptor();
            assert_eq!(descriptor.version, protocol::VERSION);
            assert!(descriptor.capabilities.len() >= 2, "{descriptor:?}");
        }
    }
}
