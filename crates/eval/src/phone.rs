//! The phones of the suite: a virtual phone of either platform. Both have the same apps over the
//! same [`World`], so a task's initial state and success are about that.

use std::collections::BTreeMap;

use thumbwire_core::providers::{VIRTUAL, VIRTUAL_IOS};
use thumbwire_virtual_android::{FileType, VirtualPhone};
use thumbwire_virtual_ios::VirtualIphone;
use thumbwire_virtual_phone::{Platform, World};

/// A virtual phone. A clone is another handle to the same phone.
#[derive(Clone)]
pub enum EvalPhone {
    /// The virtual Android phone.
    Android(VirtualPhone),
    /// The virtual iPhone.
    Ios(VirtualIphone),
}

impl EvalPhone {
    /// The phone of a platform for a seed, just switched on.
    pub fn new(platform: Platform, seed: u64) -> Self {
        match platform {
            Platform::Android => {
                let setup = thumbwire_virtual_android::Setup { seed, ..<_>::default() };
                Self::Android(VirtualPhone::new(setup))
            }
            Platform::Ios => {
                let setup = thumbwire_virtual_ios::Setup { seed, ..<_>::default() };
                Self::Ios(VirtualIphone::new(setup))
            }
        }
    }

    /// Its id for the session.
    pub(crate) fn id(&self) -> &'static str {
        match self {
            Self::Android(_) => VIRTUAL,
            Self::Ios(_) => VIRTUAL_IOS,
        }
    }

    /// Gives direct access to its world, without its driver knowing.
    pub fn world<T>(&self, with: impl FnOnce(&mut World) -> T) -> T {
        match self {
            Self::Android(phone) => phone.world(with),
            Self::Ios(phone) => phone.world(with),
        }
    }

    /// Writes a file of this size to shared storage, which iOS lacks.
    pub(crate) fn write_file(&self, path: &str, bytes: usize) {
        if let Self::Android(phone) = self {
            // A case that names a missing folder fails its oracle.
            let _ = phone.files(|files| files.write(path, &vec![b'x'; bytes], 0o660));
        }
    }

    /// Everything in shared storage, up to a maximum depth and number: path and size. Empty on iOS,
    /// which has none.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        const MAX_DEPTH: usize = 8;
        const MAX_FILES: usize = 1_000;
        let Self::Android(phone) = self else { return BTreeMap::new() };
        phone.files(|files| {
            let mut found = BTreeMap::new();
            let mut open = vec![("/sdcard".to_owned(), 0)];
            while let Some((folder, depth)) = open.pop() {
                for (name, stat) in files.list(&folder).unwrap_or_default() {
                    let path = format!("{folder}/{name}");
                    let is_folder = stat.kind == FileType::Directory;
                    if is_folder && depth < MAX_DEPTH && found.len() < MAX_FILES {
                        open.push((path.clone(), depth + 1));
                    }
                    let what = if is_folder { "folder".into() } else { format!("{} B", stat.size) };
                    found.insert(path, what);
                }
            }
            found
        })
    }

    /// Number of faults that struck.
    pub(crate) fn injected_faults(&self) -> usize {
        match self {
            Self::Android(phone) => phone.injections().len(),
            Self::Ios(_) => 0,
        }
    }
}
