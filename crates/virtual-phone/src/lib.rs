//! A phone made of memory that answers real ADB: apps, layout, pixels, a shell.

mod render;
pub mod world;
