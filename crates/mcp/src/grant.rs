//! What a request over HTTP may do, by the token that it showed.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use thumbwire_core::action::Scope;

/// What a request may do.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// The name of the token; empty if there is only one, or none.
    pub(crate) token: Arc<str>,
    /// What the token allows.
    pub(crate) scope: Scope,
    /// The address of the client's computer, if the server is for other computers.
    pub(crate) peer: Option<IpAddr>,
    /// When the token ends, if it does.
    pub(crate) expires: Option<SystemTime>,
    /// Whose part of the server the request takes up.
    pub(crate) share: Share,
}

impl Default for Grant {
    /// Everything, under no name.
    fn default() -> Self {
        let token = Arc::from("");
        Self { token, scope: Scope::Act, peer: None, expires: None, share: Share::Whole }
    }
}

impl Grant {
    /// The token's name, if it has one.
    pub(crate) fn token_name(&self) -> Option<&str> {
        Some(&*self.token).filter(|name| !name.is_empty())
    }
}

/// Whose part of a server a request takes up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Share {
    /// That of all clients of a server which cannot tell them apart: the whole.
    Whole,
    /// That of this token, or of the computer with this address: a quarter.
    Part(Arc<str>),
}

impl Share {
    /// What sets its clients apart from those of other tokens; `None` for the whole.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        match self {
            Self::Whole => None,
            Self::Part(name) => Some(name),
        }
    }
}
