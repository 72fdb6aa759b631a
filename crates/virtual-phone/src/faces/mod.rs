//! The wires by which hosts see the phone. One file a wire; each translates and decides nothing.

pub(crate) mod adbd;
