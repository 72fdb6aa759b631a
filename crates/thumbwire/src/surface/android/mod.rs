//! The `android` surface: seed 003's tools.

use super::{Refusal, Reply, Surface};

/// The surface.
pub fn surface() -> Surface {
    Surface {
        name: "android",
        server: "android-mcp-server",
        instructions: "",
        tools: Vec::new(),
        nested: Some("params"),
        tells_ignored: false,
        refuse,
    }
}

fn refuse(_refusal: &Refusal<'_>) -> Reply {
    Reply::error("")
}
