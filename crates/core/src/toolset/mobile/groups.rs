//! Groups of tools that are off until the operator allows them: they delete data, change what an app may do, or read what
//! people did outside of the app that a task is about.

use super::{apps, logs, recordings};
use crate::toolset::spec_tools::SpecTools;
use crate::toolset::{Tool, ToolEffect};

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolGroup {
    /// Clearing an app's data, and its permissions.
    Data,
    /// The phone's log.
    Logs,
    /// Recording the screen.
    Recording,
}

impl ToolGroup {
    /// All groups.
    pub const ALL: [Self; 3] = [Self::Data, Self::Logs, Self::Recording];

    /// The name, as `--allow` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Logs => "logs",
            Self::Recording => "recording",
        }
    }

    /// The names of its tools.
    pub fn tool_names(self) -> &'static [&'static str] {
        match self {
            Self::Data => &["mobile_clear_app", "mobile_set_permission"],
            Self::Logs => &["mobile_logs"],
            Self::Recording => &["mobile_start_recording", "mobile_stop_recording"],
        }
    }

    pub(super) fn tools(self, own: &SpecTools) -> Vec<Tool> {
        use ToolEffect::{Additive, Destructive, Idempotent, ReadOnly};
        match self {
            Self::Data => vec![
                own.row(
                    "mobile_clear_app",
                    Destructive,
                    30,
                    apps::parse_clear_app,
                    apps::render_clear_app,
                ),
                own.row(
                    "mobile_set_permission",
                    Destructive,
                    15,
                    apps::parse_set_permission,
                    apps::render_set_permission,
                ),
            ],
            Self::Logs => {
                vec![own.row("mobile_logs", ReadOnly, 20, logs::parse_logs, logs::render_logs)]
            }
            Self::Recording => vec![
                own.row(
                    "mobile_start_recording",
                    Additive,
                    15,
                    recordings::parse_start,
                    recordings::render_start,
                ),
                own.row(
                    "mobile_stop_recording",
                    Idempotent,
                    60,
                    recordings::parse_stop,
                    recordings::render_stop,
                ),
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
