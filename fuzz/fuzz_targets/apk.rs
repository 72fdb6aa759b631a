//! Packages of strangers: their list of files, manifest, names, resources and certificates.
#![no_main]

use bytes::Bytes;
use futures::executor::block_on;
use libfuzzer_sys::fuzz_target;
use thumbwire_apk::{Apk, Limits};

fuzz_target!(|bytes: &[u8]| {
    let bytes = Bytes::copy_from_slice(bytes);
    let _ = thumbwire_apk::xml::read(&bytes, &Limits::default());
    let limits = Limits { entry: 1 << 20, ..Limits::default() };
    block_on(async {
        let Ok(apk) = Apk::open(bytes, limits).await else { return };
        let mut apk = apk.in_language("de");
        let _ = apk.certificates().await;
        let Ok(manifest) = apk.manifest().await else { return };
        drop(manifest);
        for id in [0x7f01_0000, 0x7f02_0001] {
            let _ = apk.string(id).await;
            let _ = apk.xml(id).await;
        }
    });
});
