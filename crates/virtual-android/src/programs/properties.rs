//! `getprop` and `setprop`.

use super::Invocation;
use thumbwire_virtual_shell::io::Status;

/// Maximum length of a mutable property's value (`PROP_VALUE_MAX` minus its terminator).
const MAX_LENGTH: usize = 91;

/// `getprop [NAME [DEFAULT]]`
pub(super) async fn getprop(call: Invocation) -> Status {
    let text = match call.arg(0) {
        None => call.phone.with(|phone| {
            phone.properties.iter().map(|(name, value)| format!("[{name}]: [{value}]\n")).collect()
        }),
        Some(name) => {
            let value = call.phone.with(|phone| phone.properties.get(name).to_owned());
            format!("{}\n", if value.is_empty() { call.arg(1).unwrap_or_default() } else { &value })
        }
    };
    call.out(text).await?;
    Ok(0)
}

/// `setprop NAME VALUE`. The shell user may set only what SELinux allows: `debug.`, `log.` and
/// `persist.log.tag`, as on a phone.
pub(super) async fn setprop(call: Invocation) -> Status {
    if !call.release().userland.toybox {
        return old_setprop(&call).await;
    }
    let (Some(name), Some(value), None) = (call.arg(0), call.arg(1), call.arg(2)) else {
        call.err("setprop: Need 2 arguments\n").await;
        return Ok(1);
    };
    let allowed =
        ["debug.", "log.", "persist.log.tag"].iter().any(|prefix| name.starts_with(prefix));
    let refused = if value.len() > MAX_LENGTH {
        Some(format!("setprop: failed to set property '{name}' to '{value}': value too long\n"))
    } else if !allowed {
        Some(format!(
            "Failed to set property '{name}' to '{value}'.\nSee dmesg for error reason.\n"
        ))
    } else {
        call.phone.with(|phone| {
            let fits = phone.properties.set_by_shell(name, value);
            (!fits).then(|| format!("setprop: failed to set property '{name}'\n"))
        })
    };
    if let Some(refused) = refused {
        call.err(refused).await;
        return Ok(1);
    }
    Ok(0)
}

/// toolbox's `setprop`: the system service refuses silently what the shell user may not set
/// (`property_perms` of Android 4.4's init), and the program itself a name that is too long.
async fn old_setprop(call: &Invocation) -> Status {
    /// `PROP_NAME_MAX` minus its terminator.
    const MAX_NAME_LENGTH: usize = 31;
    let (Some(name), Some(value), None) = (call.arg(0), call.arg(1), call.arg(2)) else {
        call.err("usage: setprop <key> <value>\n").await;
        return Ok(1);
    };
    if name.len() > MAX_NAME_LENGTH || value.len() > MAX_LENGTH {
        call.err("could not set property\n").await;
        return Ok(1);
    }
    if ["debug.", "log.", "service.adb."].iter().any(|prefix| name.starts_with(prefix)) {
        call.phone.with(|phone| phone.properties.set_by_shell(name, value));
    }
    Ok(0)
}
