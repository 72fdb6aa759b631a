//! The `ufo` surfaces: seed 000's two servers, which are two views of one session.

use super::{Refusal, Reply, Surface};

/// The data server's tools.
pub fn data() -> Surface {
    surface("ufo-data", "Mobile Data Collection MCP Server")
}

/// The action server's tools.
pub fn action() -> Surface {
    surface("ufo-action", "Mobile Action MCP Server")
}

fn surface(name: &'static str, server: &'static str) -> Surface {
    Surface {
        name,
        server,
        instructions: "",
        tools: Vec::new(),
        nested: None,
        tells_ignored: false,
        refuse,
    }
}

fn refuse(_refusal: &Refusal<'_>) -> Reply {
    Reply::error("")
}
