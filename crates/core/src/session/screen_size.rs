//! The size of a phone's screen, as far as the session knows it, so that a swipe needs no question
//! of its own.
//!
//! Start with [`KnownSize::current`]. Screenshots and the device info contain the size. A tree does
//! not, but it has the rotation: if that is the same as when the size was read, so is the size.

use std::sync::Mutex;

use thumbwire_base::lock;
use thumbwire_device::Size;

/// What is known about the size of one screen. A generation is the action count when the phone was
/// asked.
#[derive(Default)]
pub(super) struct KnownSize(Mutex<Known>);

#[derive(Default)]
struct Known {
    size: Option<SizeReading>,
    /// Rotation and generation of the last tree.
    tree: Option<(u8, u64)>,
}

#[derive(Clone, Copy)]
struct SizeReading {
    size: Size,
    /// The last generation in which the screen had this size.
    generation: u64,
    /// The rotation in which it has this size, if a tree of the same generation showed it.
    rotation: Option<u8>,
}

impl KnownSize {
    /// The size in this generation. `None` if it was not read since the last action, which may have
    /// rotated the screen.
    pub(super) fn current(&self, generation: u64) -> Option<Size> {
        let read = lock(&self.0).size.filter(|read| read.generation == generation);
        read.map(|read| read.size)
    }

    /// The last known size; the screen may have been rotated since.
    pub(super) fn last(&self) -> Option<Size> {
        lock(&self.0).size.map(|read| read.size)
    }

    /// Stores a size that the phone reported.
    pub(super) fn learn(&self, size: Size, generation: u64) {
        let mut known = lock(&self.0);
        let rotation = known.tree.filter(|tree| tree.1 == generation).map(|tree| tree.0);
        known.size = Some(SizeReading { size, generation, rotation });
    }

    /// Stores the rotation of a tree, which confirms the known size or makes it stale.
    pub(super) fn see_rotation(&self, rotation: u8, generation: u64) {
        let mut known = lock(&self.0);
        let turned = known.tree.is_some_and(|tree| tree.0 != rotation);
        known.tree = Some((rotation, generation));
        known.size = known.size.filter(|_| !turned).map(|read| match read.rotation {
            Some(same) if same == rotation => SizeReading { generation, ..read },
            None if read.generation == generation => {
                SizeReading { rotation: Some(rotation), ..read }
            }
            _ => read,
        });
    }

    /// The screen still has its size after an action that cannot rotate it.
    pub(super) fn is_unchanged(&self, generation: u64) {
        if let Some(read) = &mut lock(&self.0).size {
            read.generation = generation;
        }
    }

    /// Drops the size.
    pub(super) fn forget(&self) {
        *lock(&self.0) = Known::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPRIGHT: Size = Size { width: 100, height: 200 };
    const LYING: Size = Size { width: 200, height: 100 };

    #[test]
    fn size_is_current_until_an_action_and_again_after_a_tree_with_the_same_rotation() {
        let known = KnownSize::default();
        assert_eq!(known.current(0), None);
        known.learn(UPRIGHT, 0);
        known.see_rotation(0, 0);
        assert_eq!((known.current(0), known.current(2)), (Some(UPRIGHT), None));
        known.see_rotation(0, 2);
        assert_eq!(known.current(2), Some(UPRIGHT));
        known.see_rotation(1, 4);
        assert_eq!((known.current(4), known.last()), (None, None));
        known.learn(LYING, 4);
        known.see_rotation(1, 6);
        known.is_unchanged(8);
        assert_eq!(known.current(8), Some(LYING));
        known.forget();
        assert_eq!(known.last(), None);
    }

    #[test]
    fn rotation_of_another_generation_does_not_confirm_a_size() {
        let known = KnownSize::default();
        known.see_rotation(0, 0);
        // An app in landscape was in front only for this screenshot.
        known.learn(LYING, 2);
        known.see_rotation(0, 4);
        assert_eq!((known.current(4), known.last()), (None, Some(LYING)));
    }
}
