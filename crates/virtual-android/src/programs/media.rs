//! `media` and `cmd media_session`: media keys, sessions and volumes. No app of this phone plays
//! anything, so there are no sessions. Sources: `Media.java` of Android 4.4 and 9,
//! `MediaShellCommand.java` of 11 and later, the words of a running 4.4.4.

use super::Invocation;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_phone::KeyCode;
use thumbwire_virtual_shell::io::Status;

const USAGE_4: &str = include_str!("words/android-4.4/media.txt");
const USAGE_9: &str = include_str!("words/android-9/media.txt");
const USAGE_11: &str = include_str!("words/android-11/media.txt");

/// Key names and `KeyEvent.KEYCODE_…`. Android 4.4 spells the last one in its usage otherwise, but
/// takes this.
const KEYS: [(&str, u32); 11] = [
    ("play", 126),
    ("pause", 127),
    ("play-pause", 85),
    ("mute", 91),
    ("headsethook", 79),
    ("stop", 86),
    ("next", 87),
    ("previous", 88),
    ("rewind", 89),
    ("record", 130),
    ("fast-forward", 90),
];

/// `AudioSystem.STREAM_NAMES`, with the setting that holds the volume and the highest one.
const STREAMS: [(&str, &str, u32); 6] = [
    ("STREAM_VOICE_CALL", "volume_voice_earpiece", 5),
    ("STREAM_SYSTEM", "volume_system_speaker", 7),
    ("STREAM_RING", "volume_ring_speaker", 7),
    ("STREAM_MUSIC", "volume_music_speaker", 15),
    ("STREAM_ALARM", "volume_alarm_speaker", 7),
    ("STREAM_NOTIFICATION", "volume_notification_speaker", 7),
];

/// `media dispatch KEY`, `media list-sessions`, `media monitor TAG`, `media volume [--stream N]
/// [--set N] [--adj WAY] [--get]`
pub(super) async fn media(call: Invocation) -> Status {
    let old = call.release().form == ToolKind::Java;
    let wrong = match (call.arg(0), call.arg(1)) {
        (Some("dispatch"), Some(name)) => match KEYS.iter().find(|(known, _)| *known == name) {
            Some((_, code)) => {
                call.phone.with(|phone| phone.world.key(KeyCode(*code)));
                return Ok(0);
            }
            None => format!("Error: unknown dispatch code '{name}'"),
        },
        (Some("list-sessions"), _) if !old => {
            return call.out("Sessions:\n").await.map(|()| 0);
        }
        (Some("monitor"), Some(tag)) if !old => {
            return call.out(format!("No session found with id {tag}\n")).await.map(|()| 0);
        }
        (Some("volume"), _) if !old => return volume(&call).await,
        (Some(word @ ("dispatch" | "monitor")), None) if !old || word == "dispatch" => {
            if call.release().major >= 11 {
                "java.lang.IllegalArgumentException: Argument expected after \"dispatch\""
                    .replace("dispatch", word)
            } else {
                format!("Error: Argument expected after \"{word}\"")
            }
        }
        (Some(word), _) => format!("Error: unknown command '{word}'"),
        (None, _) => {
            let newer = call.release().major >= 11;
            call.out(usage(&call)).await?;
            return Ok(if newer { 255 } else { 0 });
        }
    };
    refuse(&call, &wrong).await
}

fn usage(call: &Invocation) -> &'static str {
    match call.release().major {
        ..=4 => USAGE_4,
        5..=10 => USAGE_9,
        _ => USAGE_11,
    }
}

/// Prints the usage and what is wrong.
async fn refuse(call: &Invocation, wrong: &str) -> Status {
    if call.release().major >= 11 {
        call.out(usage(call)).await?;
        call.err(format!("{wrong}\n")).await;
        // Of an unknown command or an exception; a wrong key or volume counts as done.
        let thrown = wrong.starts_with("java.") || wrong.starts_with("Error: unknown command");
        return Ok(if thrown { 255 } else { 0 });
    }
    call.err(format!("{}\n{wrong}\n", usage(call))).await;
    Ok(if call.release().form == ToolKind::Java { 0 } else { 1 })
}

async fn volume(call: &Invocation) -> Status {
    let (mut stream, mut set, mut way, mut get) = (3, None, None, false);
    let mut log = String::new();
    let mut args = call.args.iter().skip(1).map(String::as_str);
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
    while let Some(arg) = args.next() {
        match arg {
            "--show" => {}
            "--get" => {
                get = true;
                log += "[v] will get volume\n";
            }
            "--stream" => {
                let Some(value) = number(args.next()) else {
                    return refuse(call, "java.lang.NumberFormatException: Invalid int").await;
                };
                stream = value;
                let name = STREAMS.get(stream).map_or("invalid stream", |row| row.0);
                log += &format!("[v] will control stream={stream} ({name})\n");
            }
            "--set" => {
                let Some(value) = number(args.next()) else {
                    return refuse(call, "java.lang.NumberFormatException: Invalid int").await;
                };
                set = Some(value);
                log += &format!("[v] will set volume to index={value}\n");
            }
            "--adj" => {
                way = args.next();
                log += "[v] will adjust volume\n";
            }
            other => {
                let wrong = format!("java.lang.IllegalArgumentException: Unknown argument {other}");
                return refuse(call, &wrong).await;
            }
        }
    }
    let step: i64 = match way {
        None | Some("same") => 0,
        Some("raise") => 1,
        Some("lower") => -1,
        Some(other) => {
            let wrong = format!(
                "Error: no valid volume adjustment, was {other}, expected lower|same|raise"
            );
            return refuse(call, &wrong).await;
        }
    };
    call.out(format!("{log}[v] Connecting to AudioService\n")).await?;
    let Some((_, setting, most)) = STREAMS.get(stream) else {
        return refuse(
            call,
            &format!("java.lang.IllegalArgumentException: Bad stream type {stream}"),
        )
        .await;
    };
    let most = *most as usize;
    let least = usize::from(stream == 0 || stream == 4);
    if let Some(index) = set.filter(|index| *index > most || *index < least) {
        let wrong = format!(
            "Error: invalid volume index {index} for stream {stream} (should be in [{least}..{most}])"
        );
        return refuse(call, &wrong).await;
    }
    let value = call.phone.with(|phone| {
        let current = phone.world.setting("system", setting);
        let current: usize = current.and_then(|text| text.parse().ok()).unwrap_or(5);
        let next = set.unwrap_or_else(|| {
            let moved = current as i64 + step;
            usize::try_from(moved).unwrap_or(0).clamp(least, most)
        });
        if next != current {
            phone.world.put_setting("system", setting, &next.to_string());
        }
        next
    });
    if get {
        call.out(format!("[v] volume is {value} in range [{least}..{most}]\n")).await?;
    }
    Ok(0)
}
