//! Two pipes made one.

use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, sink, split};
use tokio::time::timeout;

/// How long what `near` still sends is thrown away once the far side has ended, since a socket that
/// is closed with unread bytes takes away what its peer has not read yet. adb does the same
/// (`deferred_close` in AOSP's `sockets.cpp`).
const DRAIN: Duration = Duration::from_secs(1);

/// Carries bytes between a pipe of this computer and one that crosses the wire, until either ends.
///
/// ADB has no half-closed streams, so that the end of `near` ends both directions, once what it sent
/// has been delivered; as with adb's own forwards.
pub(crate) async fn splice<N, F>(near: N, far: F)
where
    N: AsyncRead + AsyncWrite + Unpin,
    F: AsyncRead + AsyncWrite + Unpin,
{
    let (mut near_reads, mut near_writes) = split(near);
    let (mut far_reads, mut far_writes) = split(far);
    let up = async {
        let carried = copy(&mut near_reads, &mut far_writes).await;
        carried.is_ok() && far_writes.shutdown().await.is_ok()
    };
    let mut down = pin!(async {
        let carried = copy(&mut far_reads, &mut near_writes).await;
        carried.is_ok() && near_writes.shutdown().await.is_ok()
    });
    let ended_well = tokio::select! {
        // What the far side sent before it saw the end may still come.
        up = up => return if up { down.await; },
        down = &mut down => down,
    };
    if ended_well {
        let _ = timeout(DRAIN, copy(&mut near_reads, &mut sink())).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};
    use tokio::task::JoinHandle;

    use super::*;

    /// The outer ends, and the task between the inner ones.
    fn spliced() -> (DuplexStream, DuplexStream, JoinHandle<()>) {
        let (outer, near) = duplex(16);
        let (far, other) = duplex(16);
        (outer, other, tokio::spawn(splice(near, far)))
    }

    #[tokio::test]
    async fn the_end_of_either_side_reaches_the_other_after_all_bytes() {
        let (mut near, mut far, carrying) = spliced();
        let told = vec![7; 1000];
        let (written, read) = tokio::join!(
            async {
                near.write_all(&told).await.unwrap();
                near.shutdown().await.unwrap();
                let mut back = Vec::new();
                near.read_to_end(&mut back).await.unwrap();
                back
            },
            async {
                let mut came = Vec::new();
                far.read_to_end(&mut came).await.unwrap();
                far.write_all(b"late").await.unwrap();
                drop(far);
                came
            }
        );
        assert_eq!((written, read), (b"late".to_vec(), told));
        carrying.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_near_side_that_stays_is_not_waited_for_long() {
        let (mut near, far, carrying) = spliced();
        drop(far);
        assert_eq!(near.read(&mut [0; 4]).await.unwrap(), 0, "it sees the end at once");
        carrying.await.unwrap();
    }
}
