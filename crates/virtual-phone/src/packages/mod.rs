//! Packages as plain values: what the package manager knows of an app, what its package file declares, and what can be asked of it.
//!
//! Begin with [`Manifest`]. Reading a package file, and judging whether it may come, is the platform's; its files lie in the phone's tree.

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
