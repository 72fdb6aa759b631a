//! A virtual phone without a platform: views, layout, text, touch, keyboard, clock, apps, pixels,
//! recordings. It draws with `thumbwire-virtual-screen`.
//!
//! Start with [`World`]: calls go in ([`World::pointer`], [`World::key`], [`World::start`],
//! [`World::advance`]), a [`Scene`] or a [`Frame`] comes out. The same seed and the same calls give
//! the same bytes. What a platform adds (wire, shell, package files) is a separate crate, such as
//! `thumbwire-virtual-android`.
//!
//! Not here: the world's time (it is an input; [`time`] has the clocks that give it), threads,
//! files, the environment, the shell, ADB.

mod app;
mod apps;
mod clock;
mod device;
pub mod functions;
mod input;
mod ios_look;
mod layout;
mod log;
mod notices;
mod overlays;
pub mod packages;
mod permissions;
mod platform;
pub mod rng;
mod scene;
mod screen;
mod services;
mod settings;
mod storage;
mod system_ui;
mod tasks;
#[cfg(test)]
mod tests;
mod theme;
pub mod time;
pub mod video;
mod view;
mod widgets;
mod world;

pub use apps::{Contact, SeededArticle, SeededPlace};
pub use device::{About, Battery, ScreenLock};
pub use input::{BroadcastKeyboard, BroadcastResult, KeyCode};
pub use log::{Buffer, Log, LogLine, SYSTEM_PID};
pub use notices::Notification;
pub use packages::{
    Component, ComponentKind, DeclaredComponent, Installation, Intent, IntentFilter, Manifest,
    MetaData, MetaValue, ParsedPackage, StartError, StartResult,
};
pub use permissions::{PermissionError, RuntimePermission};
pub use platform::Role;
pub use scene::{Flags, Node, Scene, Window, WindowKind};
pub use services::{CallbackKeys, CallbackReply, Caller, ServiceName, StartServiceResult};
pub use storage::{StorageEntry, StorageRequest};
pub use thumbwire_virtual_screen::{Display, Frame, Jpeg, Platform, Point, Rect, TouchPhase};
pub use world::{NodeAction, ServedField, Setup, World};
