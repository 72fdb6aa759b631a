//! The protocols by which hosts reach the phone. One file each; they translate and decide nothing.

pub(crate) mod adbd;
