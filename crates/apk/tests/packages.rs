//! Packages are read as they were built, and as other programs read them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{captures, fixture, fixtures, now, told, tree_told};
use thumbwire_apk::xml::Value;
use thumbwire_apk::{Apk, Limits};

/// What stands here was put there by `fixtures/apk/build`.
#[test]
fn our_own_packages_are_read_as_they_were_built() {
    let told: String =
        fixtures().iter().map(|(name, bytes)| format!("{name}\n{}", told(bytes))).collect();
    insta::assert_snapshot!(told);
}

#[test]
fn a_descriptor_is_found_by_its_resource_and_keeps_the_words_of_its_version() {
    now(async {
        let mut apk = Apk::open(fixture("clock-in.apk"), Limits::default()).await.unwrap();
        let manifest = apk.manifest().await.unwrap();
        let service = manifest.services_for("mobile.mcp.SERVICE").next().unwrap();
        let meta = service.meta("mobile.mcp.capabilities").unwrap();
        let Value::Reference(id) = meta.value else { panic!("{meta:?}") };
        let mut root = apk.xml(id).await.unwrap();
        let version = root.attribute("version").unwrap();
        assert_eq!((&version.value, version.written.as_deref()), (&Value::Float(1.0), Some("1.0")));
        apk.resolve(&mut root).await.unwrap();
        insta::assert_snapshot!(tree_told(&root));
    });
}

#[test]
fn a_label_is_given_in_the_language_asked_for_else_in_the_default_one() {
    now(async {
        let mut apk = Apk::open(fixture("clock-in.apk"), Limits::default()).await.unwrap();
        for (locale, label) in [("de", "Stempeluhr"), ("de-AT", "Stempeluhr"), ("fr", "Clock In")] {
            assert_eq!(apk.label(locale).await.unwrap().as_deref(), Some(label), "{locale}");
        }
        assert_eq!(apk.manifest().await.unwrap().label.as_deref(), Some("Clock In"));
    });
}

/// The packages are no part of this project, what was read of them is: a changed line is a changed reader.
#[test]
fn every_captured_package_is_read_as_recorded() {
    let Some(all) = captures("apk") else { return };
    let told: String = all.iter().map(|(name, bytes)| format!("{name}\n{}", told(bytes))).collect();
    insta::assert_snapshot!(told);
}
