//! The log lines of a run: what seed 002's `MobileLoggingMiddleware` tells, through `tracing`.

use super::watch::{Event, Watch};

/// Logs a run, at the level `info`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Log {}

impl Watch for Log {
    fn tell(&self, event: &Event<'_>) {
        if let Some(line) = line(event) {
            tracing::info!("{line}");
        }
    }
}

/// The line that tells of an event; `None` where the document logs nothing.
fn line(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Begun { request, .. } => {
            format!("Completing the user request: {request} on Mobile.")
        }
        _ => return None,
    })
}
