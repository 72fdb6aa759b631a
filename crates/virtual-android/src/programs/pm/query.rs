//! `pm resolve-activity` and `pm query-…`: which components handle an intent. Source:
//! `PackageManagerShellCommand.java` (`printResolveInfo`) and `ResolveInfo.dump` of Android 14;
//! `shell/package/resolve-activity_long.txt` of the captures.

use super::super::Invocation;
use super::super::intent::{self, ParsedIntent};
use super::short;
use thumbwire_virtual_phone::{ComponentKind, Intent, Manifest, World};
use thumbwire_virtual_shell::io::Status;

const MAIN: &str = "android.intent.action.MAIN";
const LAUNCHER: &str = "android.intent.category.LAUNCHER";

/// A matching component.
struct ResolveInfo {
    package: String,
    class: String,
    priority: i32,
    default: bool,
    exported: bool,
    permission: Option<String>,
    uid: u32,
}

/// `pm resolve-activity|query-activities|query-services|query-receivers [--brief] [--components]
/// INTENT`
pub(super) async fn query(call: &Invocation, command: &str) -> Status {
    let (mut brief, mut components, mut rest) = (false, false, Vec::new());
    let mut args = call.args.iter().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--brief" => brief = true,
            "--components" => components = true,
            "--query-flags" | "--user" => drop(args.next()),
            _ => rest.push(arg.clone()),
        }
    }
    let parsed = match intent::parse(&rest) {
        Ok(parsed) => parsed,
        Err(what) => return call.exception(command, &what).await,
    };
    let (class, one, many) = match command {
        "query-services" => (ComponentKind::Service, "Service", "services"),
        "query-receivers" => (ComponentKind::Receiver, "Receiver", "receivers"),
        _ => (ComponentKind::Activity, "Activity", "activities"),
    };
    let found = call.phone.with(|phone| answering(&phone.world.packages(), class, &parsed));
    if command == "resolve-activity" {
        let text = match found.first() {
            Some(found) => shown(found, one, "", brief, components),
            None => "No activity found\n".to_owned(),
        };
        return call.out(text).await.map(|()| 0);
    }
    if found.is_empty() {
        return call.out(format!("No {many} found\n")).await.map(|()| 0);
    }
    let mut text = String::new();
    if !components {
        text.push_str(&format!("{} {many} found:\n", found.len()));
    }
    for (nth, found) in found.iter().enumerate() {
        if components {
            text.push_str(&shown(found, one, "", brief, true));
        } else {
            text.push_str(&format!("  {one} #{nth}:\n"));
            text.push_str(&shown(found, one, "    ", brief, false));
        }
    }
    call.out(text).await.map(|()| 0)
}

/// All matches, highest priority first, then by package.
fn answering(
    packages: &[&Manifest],
    class: ComponentKind,
    parsed: &ParsedIntent,
) -> Vec<ResolveInfo> {
    let ParsedIntent { intent, package, .. } = parsed;
    let wanted = package.as_ref().or(intent.component.as_ref().map(|it| &it.package));
    let its = packages.iter().filter(|it| wanted.is_none_or(|wanted| *wanted == it.package));
    let mut found: Vec<ResolveInfo> =
        its.flat_map(|manifest| of_package(manifest, class, intent)).collect();
    found.sort_by_key(|found| -found.priority);
    found
}

fn of_package(manifest: &Manifest, class: ComponentKind, intent: &Intent) -> Vec<ResolveInfo> {
    let found = |class: &str| ResolveInfo {
        package: manifest.package.clone(),
        class: class.to_owned(),
        priority: 0,
        default: true,
        exported: true,
        permission: None,
        uid: manifest.uid,
    };
    // For preinstalled apps only their activities, their icon, and the declarations of their APK
    // (if any) are known.
    if manifest.installation.is_none() && class == ComponentKind::Activity {
        if let Some(component) = &intent.component {
            return manifest.resolve(&component.activity).map(found).into_iter().collect();
        }
        let launches = match &intent.data {
            Some(address) => World::app_for_address(address) == Some(&manifest.package),
            None => {
                intent.action.as_deref() == Some(MAIN)
                    && intent.categories.iter().all(|it| it == LAUNCHER)
            }
        };
        return manifest.launcher.as_deref().filter(|_| launches).map(found).into_iter().collect();
    }
    let Some(declared) = manifest.declared().filter(|it| !it.disabled) else { return Vec::new() };
    let shown = |it: &thumbwire_virtual_phone::DeclaredComponent, priority, default| ResolveInfo {
        priority,
        default,
        exported: it.exported,
        permission: it.permission.clone(),
        ..found(&it.name)
    };
    if let Some(component) = &intent.component {
        let mut its = declared.components.iter().filter(|it| it.class == class);
        let named = its.find(|it| it.name == component.activity);
        return named.map(|it| shown(it, 0, false)).into_iter().collect();
    }
    let answering = declared.answering(class, intent).into_iter();
    answering.map(|(it, filter)| shown(it, filter.priority, filter.is_default())).collect()
}

fn shown(found: &ResolveInfo, kind: &str, front: &str, brief: bool, components: bool) -> String {
    let ResolveInfo { package, class, uid, exported, .. } = found;
    let name = short(package, class);
    // An action without data: `MATCH_CATEGORY_EMPTY` with `MATCH_ADJUSTMENT_NORMAL`.
    let head = format!(
        "{front}priority={} preferredOrder=0 match=0x108000 specificIndex=-1 isDefault={}\n",
        found.priority, found.default
    );
    if components {
        return format!("{front}{name}\n");
    }
    if brief {
        return format!("{head}{front}{name}\n");
    }
    let permission = match &found.permission {
        Some(permission) => format!("{front}  permission={permission}\n"),
        None => String::new(),
    };
    let kind = if kind == "Receiver" { "Activity" } else { kind };
    format!(
        "{head}{front}{kind}Info:\n{front}  name={class}\n{front}  packageName={package}\n{front}  enabled=true exported={exported} directBootAware=false\n{permission}{front}  ApplicationInfo:\n{front}    packageName={package}\n{front}    processName={package}\n{front}    taskAffinity={package}\n{front}    uid={uid} flags=0x3088be44 privateFlags=0x8c001000 theme=0x0\n"
    )
}
