//! Files on the phone, by the wire's sync service and by `screencap` and `rm`.
//!
//! They travel as they are: pictures and recordings, which is what is fetched, do not get smaller by another compression.

use thumbwire_adb as adb;
use thumbwire_adb::services::sync::FileSync;
use tokio::io::AsyncWrite;

use super::{Android, Line, unreached};
use crate::{Acted, Error};

impl Android {
    pub(super) async fn pull(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        if path.contains('\0') {
            let why = "it holds a NUL character, which no path can have; leave it out".into();
            return Err(Error::Refused { what: "path", why });
        }
        let pulled = async {
            let mut sync = FileSync::open(&*self.transport).await?;
            sync.pull(path, into).await
        };
        pulled.await.map_err(|error| match error {
            adb::Error::Phone { said, .. } => Error::Failed { what: "give the file", said },
            adb::Error::Local { reason, .. } => {
                Error::Failed { what: "give the file: it could not be kept", said: reason }
            }
            error => unreached(error, Acted::No),
        })
    }
}

/// A picture of the screen, as a PNG whatever the file's name ends with.
pub(super) fn screenshot_command(path: &str) -> Result<Line, Error> {
    Line::new("screencap -p --").word(path)
}

/// Removes one file; with `-f` one that is not there is no error.
pub(super) fn remove_command(path: &str) -> Result<Line, Error> {
    Line::new("rm -f --").word(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_and_no_option() {
        let line = remove_command("-r /'s").unwrap();
        assert_eq!(line.as_str(), r"rm -f -- '-r /'\''s'");
        let line = screenshot_command("/sdcard/a b.png").unwrap();
        assert_eq!(line.as_str(), "screencap -p -- '/sdcard/a b.png'");
        assert!(remove_command("/sdcard/\0").is_err());
    }
}
