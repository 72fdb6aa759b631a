//! Parses intents on a command line (`-a`, `-n`, `--es`, …) and prints them as Android does.
//! Source: `Intent.parseCommandArgs` and `Intent.toString` of Android 14, and the captures `113` to
//! `140` of Android 4.4.4.

use thumbwire_virtual_phone::{Component, Intent};

/// An intent, plus options that do not concern the world.
#[derive(Debug, Default)]
pub(super) struct ParsedIntent {
    pub(super) intent: Intent,
    /// `-p`: only this package may handle it.
    pub(super) package: Option<String>,
    pub(super) flags: u32,
    mime: Option<String>,
}

/// Parses the arguments of an intent. The error is what Java would throw.
pub(super) fn parse(args: &[String]) -> Result<ParsedIntent, String> {
    let mut parsed = ParsedIntent::default();
    let mut given = false;
    let mut at = 0;
    while let Some(option) = args.get(at) {
        let mut value = || {
            at += 1;
            args.get(at).cloned().ok_or_else(|| {
                format!("java.lang.IllegalArgumentException: Argument expected after \"{option}\"")
            })
        };
        match option.as_str() {
            "-a" => parsed.intent.action = Some(value()?),
            "-d" => parsed.intent.data = Some(value()?),
            "-t" => parsed.mime = Some(value()?),
            "-c" => parsed.intent.categories.push(value()?),
            "-p" => parsed.package = Some(value()?),
            "-i" => drop(value()?),
            "-f" => parsed.flags |= flags(&value()?)?,
            "-n" => {
                let name = value()?;
                parsed.intent.component = Some(component(&name)?);
            }
            "-e" | "--es" | "--ez" | "--ei" | "--el" | "--ef" | "--ed" | "--eu" | "--ecn"
            | "--eia" | "--eial" | "--ela" | "--elal" | "--efa" | "--efal" | "--esa" | "--esal" => {
                let (key, text) = (value()?, value()?);
                parsed.intent.extras.push((key, extra(option, text)?));
            }
            "--esn" => {
                let key = value()?;
                parsed.intent.extras.push((key, String::new()));
            }
            "--activity-clear-task" => parsed.flags |= 0x8000,
            "--activity-clear-top" => parsed.flags |= 0x0400_0000,
            "--activity-single-top" => parsed.flags |= 0x2000_0000,
            "--activity-no-history" => parsed.flags |= 0x4000_0000,
            "--activity-brought-to-front" => parsed.flags |= 0x0040_0000,
            "--include-stopped-packages" => parsed.flags |= 0x20,
            "--grant-read-uri-permission" => parsed.flags |= 0x1,
            "--grant-write-uri-permission" => parsed.flags |= 0x2,
            "--receiver-foreground" => parsed.flags |= 0x1000_0000,
            "--user" | "--receiver-permission" | "--display" => drop(value()?),
            option if option.starts_with('-') => {
                return Err(format!(
                    "java.lang.IllegalArgumentException: Unknown option: {option}"
                ));
            }
            // A last bare argument is a component, a URI or a package.
            name if name.contains(':') => parsed.intent.data = Some(name.to_owned()),
            name if name.contains('/') => parsed.intent.component = Some(component(name)?),
            name => parsed.package = Some(name.to_owned()),
        }
        given = true;
        at += 1;
    }
    if !given {
        return Err("java.lang.IllegalArgumentException: No intent supplied".to_owned());
    }
    if parsed.intent.component.is_none()
        && parsed.intent.action.is_none()
        && parsed.package.is_some()
    {
        parsed.intent.action = Some("android.intent.action.MAIN".to_owned());
        parsed.intent.categories.push("android.intent.category.LAUNCHER".to_owned());
    }
    Ok(parsed)
}

/// `package/.Class` or `package/full.Class`.
pub(super) fn component(name: &str) -> Result<Component, String> {
    let bad = || format!("java.lang.IllegalArgumentException: Bad component name: {name}");
    let (package, class) = name.split_once('/').ok_or_else(bad)?;
    if package.is_empty() || class.is_empty() {
        return Err(bad());
    }
    let activity =
        if class.starts_with('.') { format!("{package}{class}") } else { class.to_owned() };
    Ok(Component { package: package.to_owned(), activity })
}

/// The format of `Intent.toString`, with these flags.
pub(super) fn shown(parsed: &ParsedIntent, flags: u32) -> String {
    shown_with(parsed, flags, safe)
}

/// The same before Android 7, which left the addresses of web pages whole: the capture
/// `133-am-view`.
pub(super) fn shown_fully(parsed: &ParsedIntent, flags: u32) -> String {
    shown_with(parsed, flags, |data| match data.split_once(':') {
        Some(("http" | "https" | "ftp" | "rtsp", _)) => data.to_owned(),
        _ => safe(data),
    })
}

fn shown_with(parsed: &ParsedIntent, flags: u32, safe: impl Fn(&str) -> String) -> String {
    let mut parts = Vec::new();
    let intent = &parsed.intent;
    parts.extend(intent.action.iter().map(|action| format!("act={action}")));
    if !intent.categories.is_empty() {
        parts.push(format!("cat=[{}]", intent.categories.join(",")));
    }
    parts.extend(intent.data.iter().map(|data| format!("dat={}", safe(data))));
    parts.extend(parsed.mime.iter().map(|mime| format!("typ={mime}")));
    if flags != 0 {
        parts.push(format!("flg=0x{flags:x}"));
    }
    parts.extend(parsed.package.iter().map(|package| format!("pkg={package}")));
    parts.extend(intent.component.iter().map(|component| format!("cmp={}", component.short())));
    if !intent.extras.is_empty() {
        parts.push("(has extras)".to_owned());
    }
    format!("Intent {{ {} }}", parts.join(" "))
}

/// The result of `Uri.toSafeString`: without phone numbers and paths of web pages.
fn safe(data: &str) -> String {
    let Some((scheme, rest)) = data.split_once(':') else { return data.to_owned() };
    match scheme.to_ascii_lowercase().as_str() {
        "tel" | "sip" | "sms" | "smsto" | "mailto" | "nfc" => {
            let hidden: String =
                rest.chars().map(|c| if "-@.".contains(c) { c } else { 'x' }).collect();
            format!("{scheme}:{hidden}")
        }
        "http" | "https" | "ftp" | "rtsp" => {
            let host =
                rest.trim_start_matches('/').split(['/', '?', '#']).next().unwrap_or_default();
            format!("{scheme}://{host}/...")
        }
        _ => data.to_owned(),
    }
}

fn flags(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| format!("java.lang.NumberFormatException: For input string: \"{text}\""))
}

fn extra(option: &str, text: String) -> Result<String, String> {
    let number = || format!("java.lang.NumberFormatException: For input string: \"{text}\"");
    match option {
        "--ei" if text.parse::<i32>().is_err() => Err(number()),
        "--el" if text.parse::<i64>().is_err() => Err(number()),
        "--ef" | "--ed" if text.parse::<f64>().is_err() => Err(number()),
        "--ez" => match text.to_ascii_lowercase().as_str() {
            "true" | "t" => Ok("true".to_owned()),
            "false" | "f" => Ok("false".to_owned()),
            other if other.parse::<i32>().is_ok() => Ok((other != "0").to_string()),
            _ => Err(format!("java.lang.IllegalArgumentException: Invalid boolean value: {text}")),
        },
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<ParsedIntent, String> {
        parse(&line.split(' ').filter(|arg| !arg.is_empty()).map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn intents_are_printed_as_android_prints_them() {
        for (line, printed) in [
            (
                "-n com.android.calculator2/.Calculator",
                "Intent { cmp=com.android.calculator2/.Calculator }",
            ),
            (
                "-a android.intent.action.DIAL -d tel:5551234",
                "Intent { act=android.intent.action.DIAL dat=tel:xxxxxxx }",
            ),
            ("-a no.such.ACTION -f 0x10000000", "Intent { act=no.such.ACTION flg=0x10000000 }"),
            (
                "-a android.intent.action.VIEW -d http://example.com/a?b",
                "Intent { act=android.intent.action.VIEW dat=http://example.com/... }",
            ),
            ("-n a.b/c.D --es k v --ez t 1 --ei n 3", "Intent { cmp=a.b/c.D (has extras) }"),
            (
                "com.x",
                "Intent { act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] pkg=com.x }",
            ),
        ] {
            let parsed = read(line).expect(line);
            assert_eq!(shown(&parsed, parsed.flags), printed);
        }
        for line in ["", "-n nope", "--ei k x", "-a", "--what", "-f zz", "--ez k maybe"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
