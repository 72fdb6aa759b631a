//! Packages as plain values: the package manager's record of an app, its package file's manifest,
//! and intents.
//!
//! Start with [`Manifest`]. The platform reads and checks package files, and stores them in the
//! phone's files.

mod declared;
mod intent;
mod manifest;

pub use self::declared::{
    BuiltInPackage, ComponentKind, DeclaredComponent, Installation, IntentFilter, MetaData,
    MetaValue, ParsedPackage,
};
pub use self::intent::{Component, Intent, StartError, StartResult};
pub(crate) use self::manifest::AppIcon;
pub use self::manifest::Manifest;
