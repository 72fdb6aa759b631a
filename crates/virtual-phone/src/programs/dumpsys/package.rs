//! `dumpsys package`: which activities answer which intents, and the packages. Shapes: `shell/package` of the captures, and `106` for
//! Android 4.4.

use super::super::clock::Moment;
use super::super::pm;
use super::fingerprint;
use crate::phone::State;
use crate::release::{Form, Release};
use crate::world::{Component, Manifest, RuntimePermission};

/// When the image of the phone was built, for what came with it: 2009-01-01, the date in Android's images.
const IMAGE: u64 = 1_230_768_000;

pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    let (manners, now) = (phone.manners(), phone.world.unix_time());
    let packages = phone.world.packages();
    match args.iter().rfind(|arg| !arg.starts_with('-')) {
        Some(name) => match packages.into_iter().find(|manifest| manifest.package == *name) {
            Some(manifest) => {
                dumped(manifest, &phone.world.runtime_permissions(name), manners, now)
            }
            None => format!("Unable to find package: {name}\n"),
        },
        None => {
            let block = |manifest: &&Manifest| {
                let held = phone.world.runtime_permissions(&manifest.package);
                block(manifest, &held, manners, now)
            };
            let blocks: String = packages.iter().map(block).collect();
            format!("{}\nPackages:\n{blocks}", resolvers(&packages))
        }
    }
}

/// All of one package, as `dumpsys package NAME` and `pm dump NAME` begin.
pub(in crate::programs) fn dumped(
    manifest: &Manifest,
    held: &[RuntimePermission],
    manners: &Release,
    now: u64,
) -> String {
    format!("{}\nPackages:\n{}", resolvers(&[manifest]), block(manifest, held, manners, now))
}

/// The table of activities by the action that they answer.
fn resolvers(packages: &[&Manifest]) -> String {
    let mut text = String::from(
        "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n",
    );
    for manifest in packages {
        let Some(launcher) = &manifest.launcher else { continue };
        let component =
            Component { package: manifest.package.clone(), activity: launcher.clone() }.short();
        text.push_str(&format!(
            "        {:07x} {component} filter {:07x}\n          Action: \"android.intent.action.MAIN\"\n          Category: \"android.intent.category.LAUNCHER\"\n",
            fingerprint(&component) & 0xfff_ffff,
            fingerprint(launcher) & 0xfff_ffff
        ));
    }
    text
}

fn block(manifest: &Manifest, held: &[RuntimePermission], manners: &Release, now: u64) -> String {
    let old = manners.form == Form::Java;
    let Manifest { package, uid, version_code, version_name, .. } = manifest;
    let address = format!("{:07x}", fingerprint(package) & 0xfff_ffff);
    let file = pm::apk(manifest, manners);
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let flags =
        format!("{}HAS_CODE ALLOW_CLEAR_USER_DATA", if manifest.system { "SYSTEM " } else { "" });
    let day = if manifest.system { IMAGE } else { now - now % 86_400 };
    let since = Moment::new(day).dated();
    if old {
        return format!(
            "  Package [{package}] ({address}):\n    userId={uid} gids=[]\n    pkg=Package{{{address} {package}}}\n    codePath={file}\n    resourcePath={file}\n    nativeLibraryPath=/data/app-lib/{package}\n    versionCode={version_code} targetSdk=19\n    versionName={version_name}\n    applicationInfo=ApplicationInfo{{{address} {package}}}\n    flags=[ {flags} ]\n    dataDir=/data/data/{package}\n    supportsScreens=[small, medium, large, xlarge, resizeable, anyDensity]\n    timeStamp={since}\n    firstInstallTime={since}\n    lastUpdateTime={since}\n    permissionsFixed=false haveGids=true installStatus=1\n    pkgFlags=[ {flags} ]\n    User 0:  installed=true blocked=false stopped=false notLaunched=false enabled=0\n"
        );
    }
    let held = pm::permissions::listed(held, manners.major);
    format!(
        "  Package [{package}] ({address}):\n    appId={uid}\n    userId={uid}\n    pkg=Package{{{address} {package}}}\n    codePath={folder}\n    resourcePath={folder}\n    primaryCpuAbi=arm64-v8a\n    versionCode={version_code} minSdk=24 targetSdk=34\n    versionName={version_name}\n    flags=[ {flags} ]\n    dataDir=/data/user/0/{package}\n    timeStamp={since}\n    firstInstallTime={since}\n    lastUpdateTime={since}\n    pkgFlags=[ {flags} ]\n    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=false notLaunched=false enabled=0 instant=false virtual=false\n      gids=[]\n      runtime permissions:\n{held}"
    )
}
