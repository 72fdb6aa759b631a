//! `dumpsys package` of Android 4.4: `PackageManagerService.dump`, whose parts can be asked for one
//! by one. The capture `106`, and a running 4.4.4.

use super::super::{fingerprint, old::unknown_option};
use super::{block, resolvers};
use crate::phone::State;
use crate::programs::platform::{self, FEATURES, LIBRARIES};
use thumbwire_virtual_phone::Manifest;

/// The parts: the shortest and the longest word that selects one, and its text.
type Part = (&'static str, &'static str, fn(&State) -> String);
const PARTS: [Part; 8] = [
    ("v", "verifiers", |_| "Verifiers:\n  Required: null (uid=-1)\n".to_owned()),
    ("l", "libraries", |_| libraries()),
    ("f", "features", |_| features()),
    ("r", "resolvers", |phone| resolvers(&phone.world.packages())),
    ("perm", "permissions", |_| permissions()),
    ("k", "keysets", |phone| key_sets(&phone.world.packages())),
    ("p", "packages", packages),
    ("m", "messages", messages),
];

/// `dumpsys package [PART | PACKAGE]`. It says nothing about a package that is not there.
pub(super) fn report(phone: &State, args: &[&str]) -> String {
    let unknown = unknown_option(args, &["-a", "-f", "--checkin"])
        .map_or_else(String::new, |it| format!("Unknown argument: {it}; use -h for help\n"));
    let Some(word) = args.iter().find(|arg| !arg.starts_with('-')) else {
        return unknown + &whole(phone);
    };
    let part = PARTS.iter().find(|(short, long, _)| word == short || word == long);
    if let Some((.., part)) = part {
        return unknown + &part(phone);
    }
    // The service takes a name with a dot for a package.
    if !word.contains('.') && *word != "android" {
        return unknown + &whole(phone);
    }
    let all = phone.world.packages();
    match all.into_iter().find(|manifest| manifest.package == *word) {
        Some(manifest) => {
            let (release, now) = (phone.release(), phone.world.unix_time());
            let keys = key_sets(&[manifest]);
            let block = block(manifest, &[], release, now);
            format!("{unknown}{}\n{keys}\nPackages:\n{block}", resolvers(&[manifest]))
        }
        None => unknown,
    }
}

fn whole(phone: &State) -> String {
    PARTS.map(|(.., part)| part(phone)).join("\n")
}

fn libraries() -> String {
    let rows = LIBRARIES.map(|name| format!("  {name} -> (jar) /system/framework/{name}.jar\n"));
    format!("Libraries:\n{}", rows.concat())
}

fn features() -> String {
    let names = FEATURES.iter().filter(|name| !name.contains('='));
    format!("Features:\n{}", names.map(|name| format!("  {name}\n")).collect::<String>())
}

fn address(of: &str) -> String {
    format!("{:08x}", 0xa650_0000 | (fingerprint(of) & 0xf_ffff))
}

fn permissions() -> String {
    let rows = platform::permissions().map(|(name, dangerous)| {
        let (at, level) = (address(name), if dangerous { "dangerous" } else { "signature" });
        format!(
            "  Permission [{name}] ({at}):\n    sourcePackage=android\n    uid=1000 gids=[] type=0 prot={level}\n    packageSetting=PackageSetting{{{} android/1000}}\n    perm=Permission{{{at} {name}}}\n",
            address("android")
        )
    });
    format!("Permissions:\n{}", rows.collect::<String>())
}

fn key_sets(packages: &[&Manifest]) -> String {
    let rows = packages.iter().map(|manifest| {
        let number = if manifest.system { 1 } else { 2 };
        format!("  [{}]\n      Signing KeySets: {number}\n", manifest.package)
    });
    format!("Key Set Manager:\n{}", rows.collect::<String>())
}

fn packages(phone: &State) -> String {
    let (release, now) = (phone.release(), phone.world.unix_time());
    let all = phone.world.packages();
    let blocks = all.iter().map(|manifest| block(manifest, &[], release, now));
    format!("Packages:\n{}", blocks.collect::<String>())
}

fn messages(phone: &State) -> String {
    format!(
        "Settings parse messages:\nRead completed successfully: {} packages, 0 shared uids\n\nPackage warning messages:\nNo settings file; creating initial state\n",
        phone.world.packages().len()
    )
}
