//! `screencap` and `wm`: the screen's pixels and its size.
//!
//! Sources: `screencap.cpp` and `WindowManagerShellCommand.java` of Android 14, the captures `188`,
//! `194`, `205`, `shell/wm` and `framebuffer/NOTES.md`.

mod old;

use super::Invocation;
use crate::latency;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_phone::Frame;
use thumbwire_virtual_shell::io::Status;

/// `screencap [-hp] [-d DISPLAY] [FILE]`: a PNG with `-p` or for a file that ends in `.png`,
/// otherwise a raw header and RGBA. Secure windows are black in both.
pub(super) async fn screencap(call: Invocation) -> Status {
    let (mut png, mut file) = (false, None);
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-p" => png = true,
            "-d" => {
                if args.next().is_none() && !call.release().userland.toybox {
                    let usage = call.release().screencap_usage;
                    call.err(format!("screencap: option requires an argument -- d\n{usage}")).await;
                    return Ok(1);
                }
            }
            // getopt(3)
            "--" => file = args.next().cloned(),
            option if option.len() > 1 && option.starts_with('-') => {
                // getopt(3) names what it does not know; the letters before it are read.
                let wrong = option[1..].chars().find(|letter| !"hpd".contains(*letter));
                if let Some(letter) = wrong.filter(|_| !call.release().userland.toybox) {
                    call.err(format!("screencap: invalid option -- {letter}\n")).await;
                }
                call.err(call.release().screencap_usage).await;
                return Ok(1);
            }
            _ if file.is_some() && !call.release().userland.toybox => {
                call.err(call.release().screencap_usage).await;
                return Ok(1);
            }
            path => file = Some(path.to_owned()),
        }
    }
    let output = match &file {
        None => call.io.stdout.clone(),
        Some(path) => match call.create(path) {
            Ok(output) => output,
            Err(reason) => {
                call.err(format!("Error opening file: {path} ({reason})\n")).await;
                return Ok(1);
            }
        },
    };
    png |= file.is_some_and(|path| path.ends_with(".png"));
    call.phone.run_work(if png { latency::CAPTURE_PNG } else { latency::CAPTURE_RAW }).await;
    let frame = call.phone.with(|phone| phone.screenshot());
    let bytes = if png { frame.png() } else { Some(as_raw(&frame, call.release().colour_space)) };
    let Some(bytes) = bytes else {
        call.err("Failed to compress PNG\n").await;
        return Ok(1);
    };
    output.write(&bytes).await?;
    Ok(0)
}

/// Little-endian width, height, pixel format (1 = RGBA_8888), colour space (1 = sRGB; since Android
/// 9), then the pixels.
fn as_raw(frame: &Frame, colour_space: bool) -> Vec<u8> {
    let header = [frame.width, frame.height, 1, 1];
    let text = if colour_space { 4 } else { 3 };
    let mut bytes = Vec::with_capacity(16 + frame.rgba.len());
    for word in &header[..text] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend_from_slice(&frame.rgba);
    bytes
}

/// `wm size|density [reset|VALUE]` and a few more, also `cmd window …`.
pub(super) async fn wm(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return old::wm(&call).await;
    }
    match (call.arg(0), call.arg(1)) {
        (Some("size"), None | Some("-d")) => {
            let (physical, now) = call
                .phone
                .with(|phone| (phone.world.physical_size(), natural(phone.world.display())));
            call.out(format!("Physical size: {}x{}\n", physical.0, physical.1)).await?;
            if physical != now {
                call.out(format!("Override size: {}x{}\n", now.0, now.1)).await?;
            }
            Ok(0)
        }
        (Some("size"), Some("reset")) => {
            call.phone.with(|phone| phone.world.set_size_override(None));
            Ok(0)
        }
        (Some("size"), Some(size)) => {
            let Some((width, height)) =
                size.split_once('x').filter(|(w, h)| !w.is_empty() && !h.is_empty())
            else {
                call.err(format!("Error: bad size {size}\n")).await;
                return Ok(255);
            };
            let density = call.phone.with(|phone| phone.world.display().density);
            match (dimension(width, density), dimension(height, density)) {
                (Ok(width), Ok(height)) => {
                    call.phone.with(|phone| phone.world.set_size_override(Some((width, height))));
                    Ok(0)
                }
                (Err(bad), _) | (_, Err(bad)) => number(&call, &bad).await,
            }
        }
        (Some("density"), None | Some("-d")) => {
            let (physical, now) = call
                .phone
                .with(|phone| (phone.world.physical_density(), phone.world.display().density));
            call.out(format!("Physical density: {physical}\n")).await?;
            if physical != now {
                call.out(format!("Override density: {now}\n")).await?;
            }
            Ok(0)
        }
        (Some("density"), Some("reset")) => {
            call.phone.with(|phone| phone.world.set_density_override(None));
            Ok(0)
        }
        (Some("density"), Some(density)) => match density.parse::<i32>() {
            Err(_) => number(&call, density).await,
            Ok(density) if density < 72 => {
                call.err("Error: density must be >= 72\n").await;
                Ok(255)
            }
            Ok(density) => {
                call.phone.with(|phone| phone.world.set_density_override(Some(density)));
                Ok(0)
            }
        },
        // Up to 11 the word only sets; `WindowManagerShellCommand.runSetDisplayUserRotation`.
        (Some(word @ "set-user-rotation"), None) if Some(word) == call.release().wm_rotation => {
            let what =
                "java.lang.IllegalArgumentException: Argument expected after \"set-user-rotation\"";
            call.exception(word, what).await
        }
        (Some(word), mode) if Some(word) == call.release().wm_rotation => {
            let rotation = call.arg(2).and_then(|arg| arg.parse::<u8>().ok());
            let shown = call.phone.with(|phone| {
                match mode {
                    Some("lock") => {
                        phone.rotate(rotation.unwrap_or(phone.world.display().rotation))
                    }
                    Some("free") => {
                        phone.world.put_setting("system", "accelerometer_rotation", "1");
                    }
                    _ if phone.world.setting("system", "accelerometer_rotation") == Some("1") => {
                        return Some("free".to_owned());
                    }
                    _ => return Some(format!("lock {}", phone.world.display().rotation)),
                }
                None
            });
            if let Some(shown) = shown {
                call.out(format!("{shown}\n")).await?;
            }
            Ok(0)
        }
        (Some("dismiss-keyguard"), _) => {
            call.phone.with(|phone| phone.world.dismiss_keyguard());
            Ok(0)
        }
        (None | Some("help" | "-h"), _) => {
            let usage = call.release().wm_usage;
            call.out(usage).await.map(|()| if call.args.is_empty() { 255 } else { 0 })
        }
        (Some(other), _) => call.out(format!("Unknown command: {other}\n")).await.map(|()| 255),
    }
}

/// Width and height in the natural orientation.
fn natural(display: &thumbwire_virtual_phone::Display) -> (i32, i32) {
    if display.rotation.is_multiple_of(2) {
        (display.width, display.height)
    } else {
        (display.height, display.width)
    }
}

/// Pixels, `px` or `dp`; the error is the part that is not a number.
fn dimension(text: &str, density: i32) -> Result<i32, String> {
    let (digits, scale) = match (text.strip_suffix("px"), text.strip_suffix("dp")) {
        (Some(digits), _) => (digits, 160),
        (_, Some(digits)) => (digits, density),
        _ => (text, 160),
    };
    let pixels = digits.parse::<i32>().map_err(|_| digits.to_owned())?;
    i32::try_from(i64::from(pixels) * i64::from(scale) / 160).map_err(|_| digits.to_owned())
}

async fn number(call: &Invocation, text: &str) -> Status {
    call.err(format!(
        "Error: bad number java.lang.NumberFormatException: For input string: \"{text}\"\n"
    ))
    .await;
    Ok(255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_screenshot_has_a_fourth_header_word_since_android_9() {
        let frame = Frame { width: 2, height: 1, rgba: vec![1, 2, 3, 255, 4, 5, 6, 255] };
        let (size, pixels) = ([2, 0, 0, 0, 1, 0, 0, 0], [1, 2, 3, 255, 4, 5, 6, 255]);
        let old = [&size[..], &[1, 0, 0, 0], &pixels].concat();
        assert_eq!(as_raw(&frame, false), old);
        let new = [&size[..], &[1, 0, 0, 0, 1, 0, 0, 0], &pixels].concat();
        assert_eq!(as_raw(&frame, true), new);
    }

    #[test]
    fn dimensions_are_pixels_unless_marked_as_dp() {
        assert_eq!(
            (dimension("100", 420), dimension("100px", 420), dimension("160dp", 420)),
            (Ok(100), Ok(100), Ok(420))
        );
        assert_eq!(
            (dimension("x", 420), dimension("9999999999dp", 420).is_err()),
            (Err("x".to_owned()), true)
        );
    }
}
