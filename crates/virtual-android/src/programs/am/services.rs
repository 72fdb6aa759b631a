//! `am start-service` and `am start-foreground-service`: send an Intent to an app's service,
//! without a way to reply.
//!
//! Source: `ActivityManagerShellCommand.runStartService` of AOSP since 8, `Am.runStartService`
//! before; the texts are the same in both and match public transcripts. The Intent goes directly to
//! the activity manager, so the rule that it must be explicit (`Service Intent must be explicit`,
//! `ContextImpl.validateServiceIntent`, since 5) does not apply: that check is on the app's side.

use super::super::Invocation;
use super::super::intent::{self, ParsedIntent};
use crate::phone::State;
use thumbwire_virtual_phone::{Caller, ComponentKind, ServiceName, StartServiceResult};
use thumbwire_virtual_shell::io::Abort;

/// The user id of adbd's shells.
const SHELL: u32 = 2_000;

/// Starts a service and prints the result; `false` if it was not started.
pub(super) async fn start(
    call: &Invocation,
    parsed: &ParsedIntent,
    foreground: bool,
) -> Result<bool, Abort> {
    call.out(format!("Starting service: {}\n", intent::shown(parsed, parsed.flags))).await?;
    let by = Caller { uid: SHELL, pid: call.running.pid };
    let delivered = call.phone.with(|phone| {
        let Some(to) = resolve(phone, parsed) else { return StartServiceResult::NotFound };
        let extras = &parsed.intent.extras;
        match foreground {
            true => phone.world.start_foreground_service(by, &to, extras, None),
            false => phone.world.start_service(by, &to, extras, None),
        }
    });
    let reason = match delivered {
        StartServiceResult::Started(_) => return Ok(true),
        StartServiceResult::NotFound => "Not found; no service started.".to_owned(),
        StartServiceResult::Refused(lacking) => format!("Requires permission {lacking}"),
        StartServiceResult::Background(why) => why,
    };
    call.err(format!("Error: {reason}\n")).await;
    Ok(false)
}

/// The service that an Intent selects: its component, or the first match.
fn resolve(phone: &State, parsed: &ParsedIntent) -> Option<ServiceName> {
    if let Some(component) = &parsed.intent.component {
        let (package, class) = (component.package.clone(), component.activity.clone());
        return Some(ServiceName { package, class });
    }
    let packages = phone.world.packages();
    let wanted = parsed.package.as_ref();
    let mut answering = packages.iter().filter(|it| wanted.is_none_or(|name| *name == it.package));
    answering.find_map(|manifest| {
        let declared = manifest.declared().filter(|it| !it.disabled)?;
        let (service, _) =
            declared.answering(ComponentKind::Service, &parsed.intent).into_iter().next()?;
        Some(ServiceName { package: manifest.package.clone(), class: service.name.clone() })
    })
}
