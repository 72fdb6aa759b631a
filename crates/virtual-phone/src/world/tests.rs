//! Stories told on the whole world.
