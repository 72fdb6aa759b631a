//! `dumpsys package`: which activities match which intents, and the packages. Formats:
//! `shell/package` of the captures, and `106` for a block of Android 4.4, whose report is in
//! [`old`].

mod old;

use super::fingerprint;
use crate::phone::State;
use std::collections::BTreeMap;
use thumbwire_virtual_android_system::packages::base_path;
use thumbwire_virtual_android_system::release::sdk;
use thumbwire_virtual_android_system::release::{Release, ToolKind};
use thumbwire_virtual_phone::{
    Component, ComponentKind, IntentFilter, Manifest, RuntimePermission,
};
use thumbwire_virtual_shell::programs::dated;

const MAIN: &str = "android.intent.action.MAIN";

/// Build time of the system image, for preinstalled apps: 2009-01-01, the date in Android's images.
const IMAGE: u64 = 1_230_768_000;

pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    if phone.release().form == ToolKind::Java {
        return old::report(phone, args);
    }
    let (release, now) = (phone.release(), phone.world.unix_time());
    let packages = phone.world.packages();
    match args.iter().rfind(|arg| !arg.starts_with('-')) {
        Some(name) => match packages.into_iter().find(|manifest| manifest.package == *name) {
            Some(manifest) => {
                dumped(manifest, &phone.world.runtime_permissions(name), release, now)
            }
            None => format!("Unable to find package: {name}\n"),
        },
        None => {
            let block = |manifest: &&Manifest| {
                let held = phone.world.runtime_permissions(&manifest.package);
                block(manifest, &held, release, now)
            };
            let blocks: String = packages.iter().map(block).collect();
            format!("{}\nPackages:\n{blocks}", resolvers(&packages))
        }
    }
}

/// Everything about one package: the start of `dumpsys package NAME` and `pm dump NAME`.
pub(in crate::programs) fn dumped(
    manifest: &Manifest,
    held: &[RuntimePermission],
    release: &Release,
    now: u64,
) -> String {
    format!("{}\nPackages:\n{}", resolvers(&[manifest]), block(manifest, held, release, now))
}

/// Activities and services by action. For preinstalled apps only the launcher icon and the services
/// they offer are known.
fn resolvers(packages: &[&Manifest]) -> String {
    let mut activities = Actions::new();
    let mut services = Actions::new();
    for manifest in packages {
        let drawn = manifest.installation.is_none();
        if let Some(launcher) = manifest.launcher.as_ref().filter(|_| drawn) {
            let icon = IntentFilter {
                actions: vec![MAIN.to_owned()],
                categories: vec!["android.intent.category.LAUNCHER".to_owned()],
                ..IntentFilter::default()
            };
            activities.entry(MAIN.to_owned()).or_default().push(line(manifest, launcher, &icon));
        }
        let components = manifest.declared().map_or(&[][..], |it| &it.components);
        for component in components.iter().filter(|it| !drawn || it.class == ComponentKind::Service)
        {
            let table = match component.class {
                ComponentKind::Activity => &mut activities,
                ComponentKind::Service => &mut services,
                ComponentKind::Receiver | ComponentKind::Provider => continue,
            };
            for filter in component.filters.iter().filter(|filter| filter.schemes.is_empty()) {
                for action in &filter.actions {
                    let lines = table.entry(action.clone()).or_default();
                    lines.push(line(manifest, &component.name, filter));
                }
            }
        }
    }
    let table = |name: &str, actions: &Actions| {
        let each =
            actions.iter().map(|(action, lines)| format!("      {action}:\n{}", lines.concat()));
        format!("{name} Resolver Table:\n  Non-Data Actions:\n{}", each.collect::<String>())
    };
    activities.entry(MAIN.to_owned()).or_default();
    let mut text = table("Activity", &activities);
    if !services.is_empty() {
        text.push_str(&format!("\n{}", table("Service", &services)));
    }
    text
}

/// The components that match each action.
type Actions = BTreeMap<String, Vec<String>>;

fn line(manifest: &Manifest, class: &str, filter: &IntentFilter) -> String {
    let component =
        Component { package: manifest.package.clone(), activity: class.to_owned() }.short();
    let text = |name: &str, all: &[String]| {
        all.iter().map(|one| format!("          {name}: \"{one}\"\n")).collect::<String>()
    };
    format!(
        "        {:07x} {component} filter {:07x}\n{}{}",
        fingerprint(&component) & 0xfff_ffff,
        fingerprint(class) & 0xfff_ffff,
        text("Action", &filter.actions),
        text("Category", &filter.categories)
    )
}

fn block(manifest: &Manifest, held: &[RuntimePermission], release: &Release, now: u64) -> String {
    let old = release.form == ToolKind::Java;
    let Manifest { package, uid, version_code, version_name, .. } = manifest;
    let address = format!("{:07x}", fingerprint(package) & 0xfff_ffff);
    let file = base_path(manifest, release);
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let flags =
        format!("{}HAS_CODE ALLOW_CLEAR_USER_DATA", if manifest.system { "SYSTEM " } else { "" });
    let day = if manifest.system { IMAGE } else { now - now % 86_400 };
    let since = dated(day);
    let held = permissions(held, release.major);
    let installed = manifest.installation.as_deref();
    let level = sdk(release.major);
    let (min, target) = manifest
        .declared()
        .map_or((level.min(24), level), |declared| (declared.min_sdk, declared.target_sdk));
    let abi = match installed {
        Some(installed) => installed.abi.as_deref().unwrap_or("null"),
        None => "arm64-v8a",
    };
    let mut flags = flags;
    let (mut splits, mut installer) = (String::new(), String::new());
    let (mut first, mut last) = (since.clone(), since);
    if let Some(installed) = installed {
        let names = std::iter::once("base").chain(installed.splits.iter().map(String::as_str));
        let names: Vec<&str> = names.collect();
        let scheme = installed.signature_scheme;
        splits = format!("    splits=[{}]\n    apkSigningVersion={scheme}\n", names.join(", "));
        if let Some(who) = &installed.installer {
            installer = format!("    installerPackageName={who}\n");
        }
        first = dated(installed.installed.0);
        last = dated(installed.installed.1);
        // In the order of `ApplicationInfo`'s bits.
        flags = format!(
            "{}HAS_CODE ALLOW_CLEAR_USER_DATA {}ALLOW_BACKUP",
            if installed.declared.debuggable { "DEBUGGABLE " } else { "" },
            if installed.declared.test_only { "TEST_ONLY " } else { "" }
        );
    }
    let requested = match manifest.permissions.as_slice() {
        [] => String::new(),
        asked => {
            let lines: String = asked.iter().map(|name| format!("      {name}\n")).collect();
            format!("    requested permissions:\n{lines}")
        }
    };
    if old {
        // Before 6 an app has all it asks for.
        let granted = requested.replacen("requested permissions", "grantedPermissions", 1);
        return format!(
            "  Package [{package}] ({address}):\n    userId={uid} gids=[]\n    pkg=Package{{{address} {package}}}\n    codePath={file}\n    resourcePath={file}\n    nativeLibraryPath=/data/app-lib/{package}\n    versionCode={version_code} targetSdk={target}\n    versionName={version_name}\n    applicationInfo=ApplicationInfo{{{address} {package}}}\n    flags=[ {flags} ]\n    dataDir=/data/data/{package}\n    supportsScreens=[small, medium, large, xlarge, resizeable, anyDensity]\n    timeStamp={last}\n    firstInstallTime={first}\n    lastUpdateTime={last}\n    signatures=PackageSignatures{{{address} [{address}]}}\n    permissionsFixed=false haveGids=true installStatus=1\n    pkgFlags=[ {flags} ]\n    User 0:  installed=true blocked=false stopped=false notLaunched=false enabled=0\n{granted}"
        );
    }
    format!(
        "  Package [{package}] ({address}):\n    appId={uid}\n    userId={uid}\n    pkg=Package{{{address} {package}}}\n    codePath={folder}\n    resourcePath={folder}\n    primaryCpuAbi={abi}\n    versionCode={version_code} minSdk={min} targetSdk={target}\n    versionName={version_name}\n{splits}    flags=[ {flags} ]\n    dataDir=/data/user/0/{package}\n    timeStamp={last}\n    firstInstallTime={first}\n    lastUpdateTime={last}\n{installer}    pkgFlags=[ {flags} ]\n{requested}    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=false notLaunched=false enabled=0 instant=false virtual=false\n      gids=[]\n      runtime permissions:\n{held}"
    )
}

/// The lines below `runtime permissions:`.
fn permissions(held: &[RuntimePermission], android: u32) -> String {
    let line = |held: &RuntimePermission| {
        let flags = if android < 10 {
            format!("[ {} ]", held.flags.join(" "))
        } else {
            format!("[ {}]", held.flags.join("|"))
        };
        format!("        {}: granted={}, flags={flags}\n", held.name, held.granted)
    };
    held.iter().map(line).collect()
}
