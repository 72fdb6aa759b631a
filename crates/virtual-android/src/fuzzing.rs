//! Entry for the fuzz target into a reader that is private. Compiled with `--cfg fuzzing` only.

/// What a client of scrcpy sends on its control socket, in pieces of this size; `release` chooses
/// the protocol.
pub fn scrcpy_control(release: u8, bytes: &[u8], piece: usize) {
    crate::programs::scrcpy::read_control(release, bytes, piece);
}
