//! Parsing our fixtures and invalid bytes. `tests/it/packages.rs` parses third-party APKs.

mod services;

use super::axml::Element;
use super::{Apk, SignatureError};
use proptest::prelude::*;
use thumbwire_virtual_phone::{ComponentKind, MetaValue};

fn fixture(name: &str) -> Vec<u8> {
    let bytes: &[u8] = match name {
        "clock-in" => include_bytes!("../../../../fixtures/apk/clock-in.apk"),
        "hello-1" => include_bytes!("../../../../fixtures/apk/hello-1.apk"),
        "hello-2" => include_bytes!("../../../../fixtures/apk/hello-2.apk"),
        "hello-1-other-key" => include_bytes!("../../../../fixtures/apk/hello-1-other-key.apk"),
        "hello-1-unsigned" => include_bytes!("../../../../fixtures/apk/hello-1-unsigned.apk"),
        "v1-only" => include_bytes!("../../../../fixtures/apk/v1-only.apk"),
        other => panic!("no fixture {other}"),
    };
    bytes.to_vec()
}

#[test]
fn apk_manifest_is_parsed() {
    let apk = Apk::read(&fixture("clock-in"), 3).expect("an APK");
    let declared = &apk.declared;
    assert_eq!(declared.package, "org.example.clockin");
    assert_eq!((declared.version_code, declared.version_name.as_deref()), (7, Some("1.4.2")));
    // The table also has it in German, and the alias's label refers to it.
    assert_eq!(declared.label.as_deref(), Some("Clock In"));
    let launcher = declared.launcher().expect("an icon");
    assert_eq!(
        (launcher.name.as_str(), launcher.label.as_deref(), launcher.target.as_deref()),
        ("org.example.clockin.Front", Some("Clock In"), Some("org.example.clockin.InnerActivity"))
    );
    assert_eq!((declared.min_sdk, declared.target_sdk), (26, 34));
    assert_eq!(declared.permissions, ["android.permission.POST_NOTIFICATIONS"]);
    let services: Vec<_> =
        declared.components.iter().filter(|it| it.class == ComponentKind::Service).collect();
    let names: Vec<&str> = services.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["org.example.clockin.ToolService", "org.example.other.Quiet"]);
    let tool = services[0];
    assert_eq!(
        (tool.exported, tool.permission.as_deref()),
        (true, Some("org.example.clockin.USE"))
    );
    assert_eq!(tool.filters[0].actions, ["mobile.mcp.SERVICE"]);
    let meta: Vec<_> = tool.meta.iter().map(|meta| (meta.name.as_str(), &meta.value)).collect();
    let text = |text: &str| MetaValue::Text(text.to_owned());
    assert_eq!(meta[0], ("mobile.mcp.version", &text("1.0")));
    assert_eq!(meta[1], ("mobile.mcp.description", &text("Clocks in and out")));
    assert!(
        matches!(meta[2], ("mobile.mcp.capabilities", MetaValue::Resource(id)) if id >> 24 == 0x7f)
    );
}

#[test]
fn signer_depends_on_the_key_not_the_scheme() {
    let of = |name, schemes| Apk::read(&fixture(name), schemes).expect(name).signer.expect(name);
    let [first, second, third] = [1, 2, 3].map(|schemes| of("hello-1", schemes));
    assert_eq!([first.scheme, second.scheme, third.scheme], [1, 2, 3]);
    assert_eq!(first.certificate, second.certificate);
    assert_eq!(first.certificate, third.certificate);
    assert_eq!(of("hello-2", 3).certificate, first.certificate);
    assert_ne!(of("hello-1-other-key", 3).certificate, first.certificate);
    let bare = Apk::read(&fixture("hello-1-unsigned"), 3).expect("an APK");
    assert_eq!(bare.signer, Err(SignatureError::Bare));
}

#[test]
fn signature_fails_for_changed_bytes() {
    let mut bytes = fixture("hello-1");
    // The padding of the name in the first local header: nothing reads it, but it was signed.
    let place = 10;
    bytes[place] ^= 1;
    let broken = |schemes| Apk::read(&bytes, schemes).expect("an APK").signer;
    assert_eq!(
        broken(3),
        Err(SignatureError::Broken(
            " using APK Signature Scheme v3: SHA-256 digest of contents did not verify".to_owned()
        ))
    );
    assert!(broken(1).is_ok(), "the older scheme signs entries, not the file");
    // The signature reveals that the block was removed.
    let whole = fixture("hello-1");
    let at = whole.windows(16).position(|it| it == b"APK Sig Block 42").expect("a block");
    let mut stripped = whole.clone();
    stripped[at] = b'X';
    let signer = Apk::read(&stripped, 3).expect("an APK").signer;
    assert!(
        matches!(&signer, Err(SignatureError::Broken(reason)) if reason.contains("Signature stripped?")),
        "{signer:?}"
    );
}

#[test]
fn too_deeply_nested_elements_are_refused() {
    // A pool with one empty string, then only element starts.
    let mut chunks: Vec<u8> = Vec::new();
    let mut word = |number: u32| chunks.extend(number.to_le_bytes());
    for number in [0x001c_0001, 36, 1, 0, 0x100, 32, 0, 0, 0] {
        word(number);
    }
    for _ in 0..100_000 {
        for number in [0x0010_0102, 36, 1, u32::MAX, u32::MAX, 0, 0x0014_0014, 0, 0] {
            word(number);
        }
    }
    let mut whole = Vec::new();
    whole.extend(0x0008_0003_u32.to_le_bytes());
    whole.extend((8 + chunks.len() as u32).to_le_bytes());
    whole.extend(chunks);
    assert!(Element::read(&whole).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn changed_bytes_never_panic(
        name in prop::sample::select(vec!["clock-in", "hello-1", "v1-only"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut bytes = fixture(name);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        for schemes in [1, 3] {
            let _ = Apk::read(&bytes, schemes);
        }
    }

    /// Bypasses the archive's own checks.
    #[test]
    fn changed_manifests_and_tables_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let apk = fixture("clock-in");
        let zip = super::zip::Zip::open(&apk).expect("an archive");
        for name in ["AndroidManifest.xml", "resources.arsc"] {
            let mut parts: Vec<Vec<u8>> = ["AndroidManifest.xml", "resources.arsc"]
                .iter()
                .map(|name| zip.read(name).expect("there"))
                .collect();
            let part = &mut parts[usize::from(name == "resources.arsc")];
            for (at, byte) in &changes {
                let at = at.index(part.len());
                part[at] = *byte;
            }
            if let Some(root) = Element::read(&parts[0]) {
                let table = super::ResourceTable::read(&parts[1]);
                let _ = super::manifest::read(&root, &table);
            }
        }
    }
}
