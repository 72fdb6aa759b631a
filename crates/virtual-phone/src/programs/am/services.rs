//! `am start-service` and `am start-foreground-service`: an app's service is sent an Intent, and nothing can come back.
//!
//! Source: `ActivityManagerShellCommand.runStartService` of AOSP since 8, `Am.runStartService` before; texts are the same in both, and as
//! public transcripts have them. The Intent goes to the activity manager itself, so the rule that it must be explicit (`Service Intent must
//! be explicit`, `ContextImpl.validateServiceIntent`, since 5) does not meet it: that stands on the side of apps.

use super::super::Invocation;
use super::super::intent::{self, Parsed};
use crate::phone::State;
use crate::sh::io::Stop;
use crate::world::{Caller, Class, Delivered, ServiceName};

/// The user of adbd's shells.
const SHELL: u32 = 2_000;

/// Starts a service and tells how that went; `false` where it was not started.
pub(super) async fn start(
    call: &Invocation,
    parsed: &Parsed,
    foreground: bool,
) -> Result<bool, Stop> {
    call.out(format!("Starting service: {}\n", intent::shown(parsed, parsed.flags))).await?;
    let by = Caller { uid: SHELL, pid: call.running.pid };
    let delivered = call.phone.with(|phone| {
        let Some(to) = meant(phone, parsed) else { return Delivered::NotFound };
        let extras = &parsed.intent.extras;
        match foreground {
            true => phone.world.start_foreground_service(by, &to, extras, None),
            false => phone.world.start_service(by, &to, extras, None),
        }
    });
    let why = match delivered {
        Delivered::Started(_) => return Ok(true),
        Delivered::NotFound => "Not found; no service started.".to_owned(),
        Delivered::Refused(lacking) => format!("Requires permission {lacking}"),
        Delivered::Background(why) => why,
    };
    call.err(format!("Error: {why}\n")).await;
    Ok(false)
}

/// The service that an Intent means: its component, or the first that answers it.
fn meant(phone: &State, parsed: &Parsed) -> Option<ServiceName> {
    if let Some(component) = &parsed.intent.component {
        let (package, class) = (component.package.clone(), component.activity.clone());
        return Some(ServiceName { package, class });
    }
    let packages = phone.world.packages();
    let wanted = parsed.package.as_ref();
    let mut answering = packages.iter().filter(|it| wanted.is_none_or(|name| *name == it.package));
    answering.find_map(|manifest| {
        let declared = manifest.declared().filter(|it| !it.disabled)?;
        let (service, _) = declared.answering(Class::Service, &parsed.intent).into_iter().next()?;
        Some(ServiceName { package: manifest.package.clone(), class: service.name.clone() })
    })
}
