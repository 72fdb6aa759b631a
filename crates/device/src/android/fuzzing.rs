//! The readers of what programs on the phone print, by number.

use super::CommandOutput;

use super::{apps, display, editor, front, helper, info, logs, notifications, packages, services};
use super::{ui, video, windows};
use crate::AppId;

/// Has one of the readers read this output.
pub fn output(reader: u8, text: &str) {
    let output = CommandOutput { out: text.into(), err: String::new(), status: None };
    let app = AppId("com.example.app".into());
    match reader % 12 {
        0 => drop(apps::read_stop(&app, &output)),
        1 => drop(services::read_query(&output, "activities")),
        2 => drop(editor::read_editor(text)),
        3 => drop(info::read_properties(text)),
        4 => drop(display::read_display(&output)),
        5 => drop(front::read_front(text)),
        6 => drop(packages::read_paths(text)),
        7 => drop(packages::read_package(&app, &output, Vec::new())),
        8 => drop(notifications::read_dumps(&output, 50)),
        9 => drop(
            windows::windows(text).iter().map(|window| (window.role(), window.content())).count(),
        ),
        10 => {
            let lines = logs::LogLines::until("2024-09-01T12:13:14");
            lines.iter().for_each(|lines| text.lines().for_each(|line| drop(lines.read(line))));
        }
        _ => drop(ui::read_screen(ui_dump(), text.as_bytes())),
    }
}

/// A screen of one window, which the reports beside it may contradict.
fn ui_dump() -> bytes::Bytes {
    bytes::Bytes::from_static(
        br#"<?xml version='1.0'?><hierarchy rotation="0"><node index="0" text="a" resource-id="" class="android.widget.TextView" package="com.example.app" content-desc="" checkable="false" checked="false" clickable="true" enabled="true" focusable="false" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,0][100,100]"/></hierarchy>"#,
    )
}

/// What arrives on the helper's stream.
pub fn helper_frames(bytes: &[u8]) {
    helper::fuzzing::frames(bytes);
}

/// What arrives of a phone's H.264, in pieces of this size.
pub fn video(bytes: &[u8], piece: usize) {
    video::read_all(bytes, piece);
}
