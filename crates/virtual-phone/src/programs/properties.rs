//! System properties: `getprop` and `setprop`. Names and shapes from the captures in `shell/getprop`.

use super::Invocation;
use crate::phone::Setup;
use crate::release::Release;
use crate::sh::io::Status;
use std::collections::BTreeMap;

/// Longest value of a property that may change (`PROP_VALUE_MAX` less its end).
const LONGEST: usize = 91;

/// Properties a shell may add.
const MOST: usize = 2_000;

/// Name to value.
#[derive(Debug)]
pub(crate) struct Properties(BTreeMap<String, String>);

impl Properties {
    /// What a phone says of itself once it has booted.
    pub(crate) fn new(setup: &Setup, serial: &str) -> Self {
        let sdk = sdk(setup.android).to_string();
        let manners = Release::of(setup.android);
        let release = match manners.major == setup.android {
            true => manners.version.to_owned(),
            false => setup.android.to_string(),
        };
        let (model, product, device) =
            (setup.model.as_str(), setup.product.as_str(), setup.device.as_str());
        let id = manners.build;
        let fingerprint =
            format!("thumbwire/{product}/{device}:{release}/{id}/1:user/release-keys");
        let description = format!("{product}-user {release} {id} 1 release-keys");
        let density = setup.display.density.to_string();
        let pairs = [
            ("dalvik.vm.heapsize", "512m"),
            ("debug.tracing.screen_state", "2"),
            ("dev.bootcomplete", "1"),
            ("gsm.operator.alpha", "Virtual"),
            ("gsm.sim.state", "ABSENT"),
            ("init.svc.adbd", "running"),
            ("init.svc.bootanim", "stopped"),
            ("init.svc.surfaceflinger", "running"),
            ("init.svc.zygote", "running"),
            ("net.bt.name", "Android"),
            ("persist.sys.locale", "en-US"),
            ("persist.sys.timezone", "UTC"),
            ("persist.sys.usb.config", "adb"),
            ("ro.adb.secure", "1"),
            ("ro.board.platform", "virtual"),
            ("ro.boot.hardware", "virtual"),
            ("ro.boot.serialno", serial),
            ("ro.bootmode", "unknown"),
            ("ro.build.characteristics", "default"),
            ("ro.build.date", "Thu Oct  5 12:00:00 UTC 2023"),
            ("ro.build.date.utc", "1696507200"),
            ("ro.build.description", &description),
            ("ro.build.display.id", id),
            ("ro.build.fingerprint", &fingerprint),
            ("ro.build.id", id),
            ("ro.build.product", device),
            ("ro.build.tags", "release-keys"),
            ("ro.build.type", "user"),
            ("ro.build.version.codename", "REL"),
            ("ro.build.version.incremental", "1"),
            ("ro.build.version.release", &release),
            ("ro.build.version.release_or_codename", &release),
            ("ro.build.version.sdk", &sdk),
            ("ro.build.version.security_patch", manners.security_patch),
            ("ro.crypto.state", "encrypted"),
            ("ro.debuggable", "0"),
            ("ro.hardware", "virtual"),
            ("ro.kernel.version", "6.1"),
            ("ro.product.board", device),
            ("ro.product.brand", "thumbwire"),
            ("ro.product.cpu.abi", "arm64-v8a"),
            ("ro.product.cpu.abilist", "arm64-v8a"),
            ("ro.product.cpu.abilist64", "arm64-v8a"),
            ("ro.product.device", device),
            ("ro.product.first_api_level", &sdk),
            ("ro.product.locale", "en-US"),
            ("ro.product.manufacturer", "Thumbwire"),
            ("ro.product.model", model),
            ("ro.product.name", product),
            ("ro.secure", "1"),
            ("ro.serialno", serial),
            ("ro.sf.lcd_density", &density),
            ("ro.system.build.version.sdk", &sdk),
            ("ro.vendor.build.version.sdk", &sdk),
            ("sys.boot_completed", "1"),
            ("sys.usb.config", "adb"),
            ("sys.usb.state", "adb"),
            ("vold.decrypt", "trigger_restart_framework"),
        ];
        let told = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        Self(told.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// A property's value; empty when there is none, as on a phone.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

/// The API level of a major release. Source: developer.android.com, "Codenames, tags, and build numbers".
pub(super) fn sdk(android: u32) -> u32 {
    match android {
        0..=4 => 19,
        5 => 22,
        6 => 23,
        7 => 25,
        8 => 27,
        9 => 28,
        10 => 29,
        11 => 30,
        12 => 32,
        newer => newer + 20,
    }
}

/// `getprop [NAME [DEFAULT]]`
pub(super) async fn getprop(call: Invocation) -> Status {
    let text = match call.arg(0) {
        None => call.phone.with(|phone| {
            phone
                .properties
                .0
                .iter()
                .map(|(name, value)| format!("[{name}]: [{value}]\n"))
                .collect()
        }),
        Some(name) => {
            let value = call.phone.with(|phone| phone.properties.get(name).to_owned());
            format!("{}\n", if value.is_empty() { call.arg(1).unwrap_or_default() } else { &value })
        }
    };
    call.out(text).await?;
    Ok(0)
}

/// `setprop NAME VALUE`. The shell user may set only what SELinux leaves it: `debug.`, `log.` and `persist.log.tag`, as on a phone.
pub(super) async fn setprop(call: Invocation) -> Status {
    let (Some(name), Some(value), None) = (call.arg(0), call.arg(1), call.arg(2)) else {
        call.err("setprop: Need 2 arguments\n").await;
        return Ok(1);
    };
    let allowed =
        ["debug.", "log.", "persist.log.tag"].iter().any(|prefix| name.starts_with(prefix));
    let refused = if value.len() > LONGEST {
        Some(format!("setprop: failed to set property '{name}' to '{value}': value too long\n"))
    } else if !allowed {
        Some(format!(
            "Failed to set property '{name}' to '{value}'.\nSee dmesg for error reason.\n"
        ))
    } else {
        call.phone.with(|phone| {
            let properties = &mut phone.properties.0;
            let fits =
                properties.len() < MOST && name.len() <= 256 || properties.contains_key(name);
            if fits {
                properties.insert(name.to_owned(), value.to_owned());
            }
            (!fits).then(|| format!("setprop: failed to set property '{name}'\n"))
        })
    };
    if let Some(refused) = refused {
        call.err(refused).await;
        return Ok(1);
    }
    Ok(0)
}
