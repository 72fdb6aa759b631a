//! What an adb server and a phone send: packets, replies of services, shell frames, lists.
#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use thumbwire_adb::wire::{packet, shell, smart, sync, sync_v2};
use thumbwire_adb::{Banner, PublicKey};

fuzz_target!(|input: (u8, &[u8])| {
    let (reader, bytes) = input;
    let text = || String::from_utf8_lossy(bytes);
    let mut left = BytesMut::from(bytes);
    match reader % 8 {
        0 => while let Ok(Some(_)) = packet::Packet::decode(&mut left, 1 << 20) {},
        1 => {
            let mut frames = shell::Decoder::default();
            while let Ok(Some(_)) = frames.decode(&mut left) {}
        }
        2 => while let Ok(Some(_)) = sync::Reply::decode(&mut left, bytes.len() % 2 == 0) {},
        3 => while let Ok(Some(_)) = sync_v2::Reply::decode(&mut left) {},
        4 => while let Ok(Some(_)) = smart::decode_text(&mut left) {},
        5 => drop(Banner::read(bytes)),
        6 => drop(thumbwire_adb::wire::devices::read_devices(&text())),
        _ => drop(PublicKey::read(&text())),
    }
});
