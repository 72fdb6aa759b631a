//! System properties. Names and first releases come from the captures in `shell/getprop` (Android
//! 3.2, 4.4, 9, 11), and from AOSP's `buildinfo.sh` and `gen_build_prop.py` for later ones.

use crate::release::{Release, sdk};
use crate::setup::Setup;
use std::collections::BTreeMap;

/// Maximum properties that a shell may add.
const MAX_COUNT: usize = 2_000;

/// Name to value.
#[derive(Debug)]
pub struct Properties(BTreeMap<String, String>);

impl Properties {
    /// The properties of a booted phone.
    pub fn new(setup: &Setup, serial: &str) -> Self {
        let release = Release::of(setup.android);
        let sdk = sdk(setup.android).to_string();
        let version = match release.major == setup.android {
            true => release.version.to_owned(),
            false => setup.android.to_string(),
        };
        let (model, product, device) =
            (setup.model.as_str(), setup.product.as_str(), setup.device.as_str());
        let (id, incremental) = (release.build, "1");
        let (date, seconds) = (release.userland.built, release.built);
        let of_build =
            format!("thumbwire/{product}/{device}:{version}/{id}/{incremental}:user/release-keys");
        let description = format!("{product}-user {version} {id} {incremental} release-keys");
        let (seconds, density) = (seconds.to_string(), setup.display.density.to_string());
        let abis = release.abis;
        let of_width = |wide: bool| {
            let abis = abis.split(',').filter(|abi| abi.contains("64") == wide);
            abis.collect::<Vec<_>>().join(",")
        };
        let (narrow, wide) = (of_width(false), of_width(true));
        let least = release.least_target.to_string();
        // Name, first release, value.
        let rows = [
            ("dalvik.vm.heapsize", 1, "512m"),
            ("debug.tracing.screen_state", 12, "2"),
            ("dev.bootcomplete", 1, "1"),
            ("gsm.operator.alpha", 1, "Virtual"),
            ("gsm.sim.state", 1, "ABSENT"),
            ("init.svc.adbd", 1, "running"),
            ("init.svc.bootanim", 1, "stopped"),
            ("init.svc.surfaceflinger", 1, "running"),
            ("init.svc.zygote", 1, "running"),
            ("net.bt.name", 1, "Android"),
            ("persist.sys.locale", 5, "en-US"),
            ("persist.sys.timezone", 1, "UTC"),
            ("persist.sys.usb.config", 1, "adb"),
            ("ro.adb.secure", 1, "1"),
            ("ro.apex.updatable", 10, "true"),
            ("ro.board.platform", 1, "virtual"),
            ("ro.boot.hardware", 1, "virtual"),
            ("ro.boot.serialno", 1, serial),
            ("ro.bootmode", 1, "unknown"),
            ("ro.build.characteristics", 1, "default"),
            ("ro.build.date", 1, date),
            ("ro.build.date.utc", 1, &seconds),
            ("ro.build.description", 1, &description),
            ("ro.build.display.id", 1, id),
            ("ro.build.fingerprint", 1, &of_build),
            ("ro.build.host", 1, "localhost"),
            ("ro.build.id", 1, id),
            ("ro.build.product", 1, device),
            ("ro.build.tags", 1, "release-keys"),
            ("ro.build.type", 1, "user"),
            ("ro.build.user", 1, "thumbwire"),
            ("ro.build.version.all_codenames", 5, "REL"),
            ("ro.build.version.codename", 1, "REL"),
            ("ro.build.version.incremental", 1, incremental),
            ("ro.build.version.min_supported_target_sdk", 8, &least),
            ("ro.build.version.preview_sdk", 6, "0"),
            ("ro.build.version.release", 1, &version),
            ("ro.build.version.release_or_codename", 11, &version),
            ("ro.build.version.release_or_preview_display", 13, &version),
            ("ro.build.version.sdk", 1, &sdk),
            ("ro.build.version.security_patch", 6, release.security_patch),
            ("ro.crypto.state", 1, if setup.android < 6 { "unencrypted" } else { "encrypted" }),
            ("ro.crypto.type", 7, "file"),
            ("ro.debuggable", 1, "0"),
            ("ro.hardware", 1, "virtual"),
            ("ro.kernel.version", 12, short(release.userland.kernel)),
            ("ro.product.board", 1, device),
            ("ro.product.brand", 1, "thumbwire"),
            ("ro.product.cpu.abi", 1, abis.split(',').next().unwrap_or_default()),
            ("ro.product.cpu.abilist", 5, abis),
            ("ro.product.cpu.abilist32", 5, &narrow),
            ("ro.product.cpu.abilist64", 5, &wide),
            ("ro.product.device", 1, device),
            ("ro.product.first_api_level", 7, &sdk),
            ("ro.product.locale", 5, "en-US"),
            ("ro.product.manufacturer", 1, "Thumbwire"),
            ("ro.product.model", 1, model),
            ("ro.product.name", 1, product),
            ("ro.secure", 1, "1"),
            ("ro.serialno", 1, serial),
            ("ro.sf.lcd_density", 1, &density),
            ("ro.treble.enabled", 8, "true"),
            ("ro.vndk.version", 9, if setup.android < 15 { &sdk } else { "" }),
            ("ro.zygote", 5, if narrow.is_empty() { "zygote64" } else { "zygote64_32" }),
            ("sys.boot_completed", 1, "1"),
            ("sys.usb.config", 1, "adb"),
            ("sys.usb.state", 1, "adb"),
        ];
        let out = rows.into_iter().filter(|row| row.1 <= setup.android && !row.2.is_empty());
        let mut all: BTreeMap<String, String> =
            out.map(|(name, _, value)| (name.to_owned(), value.to_owned())).collect();
        // Before 5 the locale had two properties.
        if setup.android < 5 {
            for (name, value) in [("language", "en"), ("region", "US")] {
                all.insert(format!("ro.product.locale.{name}"), value.to_owned());
            }
        }
        // Each partition has its own build properties; before 10 only the vendor's, and few.
        let of_partition = [
            ("date", 9, date),
            ("date.utc", 9, &seconds),
            ("fingerprint", 9, &of_build),
            ("id", 10, id),
            ("tags", 10, "release-keys"),
            ("type", 10, "user"),
            ("version.incremental", 10, incremental),
            ("version.release", 10, &version),
            ("version.release_or_codename", 11, &version),
            ("version.sdk", 10, &sdk),
        ];
        for (partition, first) in [("odm", 10), ("product", 10), ("system", 10), ("vendor", 9)] {
            for (name, since, value) in of_partition {
                if setup.android >= since.max(first) {
                    all.insert(format!("ro.{partition}.build.{name}"), value.to_owned());
                }
            }
        }
        Self(all)
    }

    /// A property's value; empty if there is none, as on a phone.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Sets a property on behalf of the phone itself.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// All names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Sets a property on behalf of the shell user, within limits; `false` if there are too many.
    pub fn set_by_shell(&mut self, name: &str, value: &str) -> bool {
        let fits = self.0.len() < MAX_COUNT && name.len() <= 256 || self.0.contains_key(name);
        if fits {
            self.set(name, value);
        }
        fits
    }

    /// The properties after a reboot: those of a `fresh` phone, and persistent ones.
    pub fn restart(&mut self, fresh: Self) {
        self.0.retain(|name, _| name.starts_with("persist."));
        for (name, value) in fresh.0 {
            self.0.entry(name).or_insert(value);
        }
    }
}

/// The first two numbers of a kernel version.
fn short(kernel: &str) -> &str {
    let second = kernel.match_indices('.').nth(1);
    second.map_or(kernel, |(at, _)| &kernel[..at])
}
