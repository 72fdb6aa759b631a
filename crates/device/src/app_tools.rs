//! What travels to services of apps and back.

use std::fmt;

use crate::AppId;

/// A part of an app, by its full class name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Component {
    /// The app.
    pub app: AppId,
    /// Full class name.
    pub class: String,
}

impl fmt::Display for Component {
    /// As Android writes it: `package/full.Class`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.app, self.class)
    }
}

/// What a phone knows of an installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Which.
    pub app: AppId,
    /// As the phone compares versions.
    pub version_code: u64,
    /// As people read it; empty where it has none.
    pub version_name: String,
    /// When it was last changed, in the phone's words; empty where it does not say.
    pub updated: String,
    /// Its packages' paths on the phone, the base first.
    pub files: Vec<String>,
    /// The Linux user that it runs as, of the phone's first user; `None` where the phone does not say.
    pub uid: Option<u32>,
}

/// An Intent for a service, with text extras.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// To whom.
    pub to: Component,
    /// The extras, in order.
    pub extras: Vec<(String, String)>,
    /// The names under which the callback goes along.
    pub callbacks: Vec<String>,
    /// Which extras of what comes back are wanted.
    pub wanted: Vec<String>,
}

/// What came of an Intent with a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The service called back.
    Answered(Answer),
    /// It was started and did not call back in time. It may have acted.
    Silent,
    /// It was not started.
    Not(Undelivered),
}

/// What a service called back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its result code.
    pub code: i32,
    /// Its text extras, of those that were wanted.
    pub extras: Vec<(String, String)>,
    /// The Linux user who called, where the phone tells whose answer it is.
    pub uid: Option<u32>,
}

/// Why a service was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undelivered {
    /// There is no such service.
    NotFound,
    /// The phone does not let us: the service is not exported, or wants a permission. With its words.
    Refused(String),
    /// The app may not be started from the background now. With the phone's words.
    Background(String),
    /// The extras are larger than what an Intent carries.
    TooLarge {
        /// The most that is sent, in UTF-16 units.
        most: usize,
    },
}
