//! Streams that several viewers share: each runs as long as somebody watches it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use thumbwire_base::lock;

/// The streams that are watched, by phone and size.
pub(super) struct SharedStreams<T>(Mutex<BTreeMap<(String, u32), Weak<T>>>);

impl<T> Default for SharedStreams<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> SharedStreams<T> {
    /// The stream of a phone in this size. One that is watched already is shared while it is
    /// usable; else a new one is started.
    pub(super) fn join(
        &self,
        device: &str,
        max_side: u32,
        is_usable: impl Fn(&T) -> bool,
        start: impl FnOnce() -> T,
    ) -> Arc<T> {
        let mut streams = lock(&self.0);
        streams.retain(|_, stream| stream.strong_count() > 0);
        let key = (device.to_owned(), max_side);
        let watched = streams.get(&key).and_then(Weak::upgrade);
        watched.filter(|stream| is_usable(stream)).unwrap_or_else(|| {
            let stream = Arc::new(start());
            streams.insert(key, Arc::downgrade(&stream));
            stream
        })
    }
}
