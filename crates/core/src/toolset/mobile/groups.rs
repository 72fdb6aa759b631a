//! Groups of tools that are off until the operator turns them on: they delete data, change what an
//! app may do, read what people did outside of the app that a task is about, move apps and files
//! between the phone and this computer, or need the helper.

use super::apps::*;
use super::clipboard::*;
use super::logs::*;
use super::notifications::*;
use super::recordings::*;
use super::touch::*;
use super::transfers::*;
use crate::toolset::spec_tools::SpecTools;
use crate::toolset::{Tool, ToolEffect};

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolGroup {
    /// Clearing an app's data, and its permissions.
    Data,
    /// Installing and uninstalling apps.
    Install,
    /// Copying files to and from the phone.
    Files,
    /// The phone's log, and crashes.
    Logs,
    /// The notifications that the phone shows.
    Notifications,
    /// Recording the screen.
    Recording,
    /// The phone's clipboard, by the helper.
    Clipboard,
    /// Gestures of several fingers, by the helper. They do no harm.
    MultiTouch,
}

impl ToolGroup {
    /// All groups.
    pub const ALL: [Self; 8] = [
        Self::Data,
        Self::Install,
        Self::Files,
        Self::Logs,
        Self::Notifications,
        Self::Recording,
        Self::Clipboard,
        Self::MultiTouch,
    ];

    /// Those that can do harm, which `--allow` turns on.
    pub const HARMFUL: [Self; 7] = [
        Self::Data,
        Self::Install,
        Self::Files,
        Self::Logs,
        Self::Notifications,
        Self::Recording,
        Self::Clipboard,
    ];

    /// The flag that turns it on.
    pub fn flag(self) -> String {
        match self {
            Self::MultiTouch => "--helper auto".into(),
            group => format!("--allow {}", group.name()),
        }
    }

    /// The flag that turns on the tool with this name; `None` if it is always on.
    pub fn flag_of(tool: &str) -> Option<String> {
        let group = Self::ALL.into_iter().find(|group| group.tool_names().contains(&tool));
        group.map(Self::flag)
    }

    /// Whether the screen shows what its tools do.
    pub(super) fn is_on_screen(self) -> bool {
        self == Self::MultiTouch
    }

    /// The name; `--allow` takes it if the group is [harmful](Self::HARMFUL).
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Install => "install",
            Self::Files => "files",
            Self::Logs => "logs",
            Self::Notifications => "notifications",
            Self::Recording => "recording",
            Self::Clipboard => "clipboard",
            Self::MultiTouch => "multi-touch",
        }
    }

    /// The names of its tools.
    pub fn tool_names(self) -> &'static [&'static str] {
        match self {
            Self::Data => &["mobile_clear_app", "mobile_set_permission"],
            Self::Install => &["mobile_install_app", "mobile_uninstall_app"],
            Self::Files => &["mobile_push_file", "mobile_pull_file"],
            Self::Logs => &["mobile_logs", "mobile_crashes"],
            Self::Notifications => &["mobile_list_notifications"],
            Self::Recording => &["mobile_start_recording", "mobile_stop_recording"],
            Self::Clipboard => &["mobile_get_clipboard", "mobile_set_clipboard"],
            Self::MultiTouch => &["mobile_pinch"],
        }
    }

    pub(super) fn tools(self, own: &SpecTools) -> Vec<Tool> {
        use ToolEffect::{Additive, Destructive, Idempotent, ReadOnly};
        match self {
            Self::Data => vec![
                own.row("mobile_clear_app", Destructive, 30, parse_clear_app, render_clear_app),
                own.row(
                    "mobile_set_permission",
                    Destructive,
                    15,
                    parse_set_permission,
                    render_set_permission,
                ),
            ],
            // As long as fetching a recording: a large file takes minutes over Wi-Fi.
            Self::Install => vec![
                own.row("mobile_install_app", Destructive, 600, parse_install, render_install)
                    .long(),
                own.row("mobile_uninstall_app", Destructive, 60, parse_uninstall, render_uninstall),
            ],
            Self::Files => vec![
                own.row("mobile_push_file", Destructive, 600, parse_push, render_push).long(),
                own.row("mobile_pull_file", Additive, 600, parse_pull, render_pull).long(),
            ],
            Self::Logs => vec![
                own.row("mobile_logs", ReadOnly, 20, parse_logs, render_logs),
                own.row("mobile_crashes", ReadOnly, 20, parse_crashes, render_crashes),
            ],
            Self::Notifications => vec![own.row(
                "mobile_list_notifications",
                ReadOnly,
                20,
                parse_list_notifications,
                render_list_notifications,
            )],
            // The helper may have to start first.
            Self::Clipboard => vec![
                own.row(
                    "mobile_get_clipboard",
                    ReadOnly,
                    30,
                    parse_get_clipboard,
                    render_get_clipboard,
                ),
                own.row(
                    "mobile_set_clipboard",
                    Destructive,
                    30,
                    parse_set_clipboard,
                    render_set_clipboard,
                ),
            ],
            Self::MultiTouch => {
                vec![own.row("mobile_pinch", Destructive, 60, parse_pinch, render_pinch)]
            }
            Self::Recording => vec![
                own.row("mobile_start_recording", Additive, 15, parse_start, render_start),
                own.row("mobile_stop_recording", Idempotent, 60, parse_stop, render_stop).long(),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_has_the_tools_that_it_names() {
        let own = SpecTools::read(include_str!("own.json"));
        for group in ToolGroup::ALL {
            let made: Vec<String> = group.tools(&own).into_iter().map(|tool| tool.name).collect();
            assert_eq!(made, group.tool_names(), "{}", group.name());
        }
    }
}
