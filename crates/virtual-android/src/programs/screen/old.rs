//! `wm` as a Java program: `Wm.java` of Android 4.4, and the captures `032`, `034`, `200`, `205`,
//! `206`.

use super::{Invocation, natural};
use thumbwire_virtual_shell::io::Status;

/// `wm size|density|overscan [reset|VALUE]`
pub(super) async fn wm(call: &Invocation) -> Status {
    let usage = call.release().wm_usage;
    let wrong = match (call.arg(0), call.arg(1)) {
        (Some("size"), None) => {
            let (physical, now) = call
                .phone
                .with(|phone| (phone.world.physical_size(), natural(phone.world.display())));
            call.out(format!("Physical size: {}x{}\n", physical.0, physical.1)).await?;
            if physical != now {
                call.out(format!("Override size: {}x{}\n", now.0, now.1)).await?;
            }
            return Ok(0);
        }
        (Some("size"), Some("reset")) => {
            call.phone.with(|phone| phone.world.set_size_override(None));
            return Ok(0);
        }
        (Some("size"), Some(size)) => {
            let sides = size.split_once('x').filter(|(w, h)| !w.is_empty() && !h.is_empty());
            let numbers = sides.map(|(w, h)| (w.parse::<i32>(), h.parse::<i32>()));
            match numbers {
                Some((Ok(width), Ok(height))) => {
                    // The service ignores an impossible one.
                    if width > 0 && height > 0 {
                        let size = Some((width, height));
                        call.phone.with(|phone| phone.world.set_size_override(size));
                    }
                    return Ok(0);
                }
                Some((width, _)) => {
                    let (left, right) = sides.unwrap_or_default();
                    let number = if width.is_err() { left } else { right };
                    format!("bad number java.lang.NumberFormatException: Invalid int: \"{number}\"")
                }
                None => format!("bad size {size}"),
            }
        }
        (Some("density"), None) => {
            let (physical, now) = call
                .phone
                .with(|phone| (phone.world.physical_density(), phone.world.display().density));
            call.out(format!("Physical density: {physical}\n")).await?;
            if physical != now {
                call.out(format!("Override density: {now}\n")).await?;
            }
            return Ok(0);
        }
        (Some("density"), Some("reset")) => {
            call.phone.with(|phone| phone.world.set_density_override(None));
            return Ok(0);
        }
        (Some("density"), Some(density)) => match density.parse::<i32>() {
            Ok(density) if density >= 72 => {
                call.phone.with(|phone| phone.world.set_density_override(Some(density)));
                return Ok(0);
            }
            Ok(_) => "density must be >= 72".to_owned(),
            Err(_) => {
                format!("bad number java.lang.NumberFormatException: Invalid int: \"{density}\"")
            }
        },
        // This phone's screen has no edges that a TV would crop.
        (Some("overscan"), Some(edges)) => {
            let numbers = edges.split(',').filter(|edge| edge.parse::<u32>().is_ok()).count();
            if edges == "reset" || (numbers == 4 && edges.split(',').count() == 4) {
                return Ok(0);
            }
            format!("bad rectangle arg: {edges}")
        }
        (Some("overscan"), None) => {
            call.err(format!("{usage}Error: Argument expected after \"overscan\"\n")).await;
            return Ok(0);
        }
        (None, _) => return call.out(usage).await.map(|()| 0),
        (Some(other), _) => format!("unknown command '{other}'"),
    };
    // `BaseCommand.run`: the usage, then the error. `Wm` itself prints only the latter.
    let usage = if wrong.starts_with("unknown") { usage } else { "" };
    call.err(format!("{usage}Error: {wrong}\n")).await;
    Ok(0)
}
