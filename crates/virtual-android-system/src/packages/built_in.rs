//! The APKs of preinstalled apps. Those of apps that offer app tools are built by
//! `fixtures/apk/build`, with declarations and descriptors; the others are made from what is known
//! about the app ([`make`]).

use super::axml::Element;
use super::pool::Value;
use super::zip::Zip;
use super::{Apk, base_path, make};
use crate::release::Release;
use std::sync::LazyLock;
use thumbwire_mobile_mcp as protocol;
use thumbwire_mobile_mcp::Descriptor;
use thumbwire_virtual_phone::packages::BuiltInPackage;
use thumbwire_virtual_phone::{Manifest, World};

/// A built-in app's APK.
pub struct BuiltIn {
    package: &'static str,
    /// The file's bytes.
    pub bytes: &'static [u8],
    read: LazyLock<Option<BuiltInPackage>>,
}

macro_rules! built_in {
    ($package:literal, $path:literal) => {
        BuiltIn {
            package: $package,
            bytes: include_bytes!($path),
            read: LazyLock::new(|| read(include_bytes!($path))),
        }
    };
}

static ALL: [BuiltIn; 2] = [
    built_in!("com.android.notes", "../../apks/notes.apk"),
    built_in!("com.example.shop", "../../apks/shop.apk"),
];

/// The built APK of a preinstalled package, if it has one.
fn of(package: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|it| it.package == package)
}

/// The paths and bytes of preinstalled apps' APKs.
pub fn apks(world: &World, release: &Release) -> Vec<(String, Vec<u8>)> {
    let apk = |it: &Manifest| match of(&it.package) {
        Some(built_in) => built_in.bytes.to_vec(),
        None => make::apk(it),
    };
    world.packages().into_iter().map(|it| (base_path(it, release), apk(it))).collect()
}

/// The declarations and descriptors of all of them.
pub fn packages() -> impl Iterator<Item = BuiltInPackage> {
    ALL.iter().filter_map(|it| it.read.clone())
}

fn read(bytes: &[u8]) -> Option<BuiltInPackage> {
    /// The newest signature scheme.
    const SCHEMES: u8 = 3;
    let declared = Apk::read(bytes, SCHEMES).ok()?.declared;
    Some(BuiltInPackage { declared, descriptor: descriptor_in(bytes).unwrap_or_default() })
}

/// The descriptor, at the path where `aapt` stores `@xml/mcp_capabilities`.
fn descriptor_in(bytes: &[u8]) -> Option<Descriptor> {
    let file = Zip::open(bytes)?.read("res/xml/mcp_capabilities.xml")?;
    Some(protocol::descriptor::check(&element(&Element::read(&file)?)).descriptor)
}

/// Converts an element for the protocol's parser, which limits the nesting.
fn element(from: &Element) -> protocol::Element {
    let place = protocol::SourcePosition { line: from.line, column: 0 };
    let attributes = from.attributes.iter().map(|attribute| protocol::Attribute {
        name: attribute.name.clone(),
        value: value(&attribute.value),
        position: place,
    });
    protocol::Element {
        name: from.name.clone(),
        attributes: attributes.collect(),
        children: from.children.iter().map(element).collect(),
        position: place,
    }
}

fn value(from: &Value) -> protocol::Value {
    /// `Res_value::TYPE_FLOAT`
    const FLOAT: u8 = 0x04;
    match from {
        Value::Text(text) => protocol::Value::Text(text.clone()),
        Value::Number(number) => protocol::Value::Integer(i64::from(*number)),
        Value::Bool(truth) => protocol::Value::Boolean(*truth),
        Value::Reference(id) => protocol::Value::Reference(*id),
        Value::Other(FLOAT, bits) => protocol::Value::Float(f32::from_bits(*bits), None),
        Value::Other(_, data) => protocol::Value::Integer(i64::from(*data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thumbwire_virtual_phone::{Setup, World};

    #[test]
    fn preinstalled_apk_matches_its_app() {
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
            let descriptor = built_in.read.clone().expect("it can be read").descriptor;
            assert_eq!(descriptor.version, protocol::VERSION);
            assert!(descriptor.capabilities.len() >= 2, "{descriptor:?}");
        }
    }
}
