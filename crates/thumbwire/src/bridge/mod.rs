//! What apps offer becomes something that can be called: found out, checked, trusted, called.
//!
//! [`crate::session`] carries out [`Action::ListAppTools`](crate::action::Action::ListAppTools) and
//! [`Action::CallAppTool`](crate::action::Action::CallAppTool) by this room. Two back ends: the Mobile-MCP Intent protocol, and Android's
//! AppFunctions. How a tool is called in MCP, and what a model is told of it, is `surface::bridged`'s.
