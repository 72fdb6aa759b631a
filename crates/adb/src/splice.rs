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
/// has been delivered; as with adb's own forwards. What the far side sent before its end reaches
/// `near` also while that still sends.
pub(crate) async fn splice<N, F>(near: N, far: F)
where
    N: AsyncRead + AsyncWrite + Unpin,
    F: AsyncRead + AsyncWrite + Unpin,
{
    let (mut near_reads, mut near_writes) = split(near);
    let (mut far_reads, mut far_writes) = split(far);
    let up = async {
        let carried = copy(&mut near_reads, &mut far_writes).await;
        // Without it a far side whose near one broke would be waited for.
        let ended = far_writes.shutdown().await;
        carried.is_ok() && ended.is_ok()
    };
    let mut down = pin!(async {
        let carried = copy(&mut far_reads, &mut near_writes).await;
        carried.is_ok() && near_writes.shutdown().await.is_ok()
    });
    let ended_well = tokio::select! {
        // What the far side sent before it saw the end, or ended itself, may still come.
        up = up => down.await && !up,
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

    #[tokio::test]
    async fn what_the_far_side_said_before_it_ended_comes_while_the_near_side_still_sends() {
        let (near, mut far, carrying) = spliced();
        // More than the near side's pipe holds, so that some is still on its way.
        let (said, sent) = (vec![7; 48], vec![1; 1000]);
        far.write_all(&said).await.unwrap();
        drop(far);
        let (mut reads, mut writes) = split(near);
        // It goes to nobody.
        tokio::spawn(async move { writes.write_all(&sent).await });
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let mut came = Vec::new();
        reads.read_to_end(&mut came).await.unwrap();
        assert_eq!(came, said);
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
