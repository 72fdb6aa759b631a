//! Copies bytes between two pipes.

use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, sink, split};
use tokio::time::timeout;

/// How long to keep discarding what `near` sends after the far side has ended. A socket closed with
/// unread bytes takes away what its peer has not read yet. adb does the same (`deferred_close` in
/// AOSP's `sockets.cpp`).
const DRAIN: Duration = Duration::from_secs(1);

/// Copies bytes between a pipe on this computer and one that crosses the wire, until either ends.
///
/// ADB has no half-closed streams. So the end of `near` ends both directions once its bytes have
/// been delivered, as with adb's own forwards. What the far side sent before its end reaches `near`
/// even while `near` still sends.
pub(crate) async fn splice<N, F>(near: N, far: F)
where
    N: AsyncRead + AsyncWrite + Unpin,
    F: AsyncRead + AsyncWrite + Unpin,
{
    let (mut near_reads, mut near_writes) = split(near);
    let (mut far_reads, mut far_writes) = split(far);
    let up = async {
        let carried = copy(&mut near_reads, &mut far_writes).await;
        // Without this, a far side whose near side broke would block forever.
        let ended = far_writes.shutdown().await;
        carried.is_ok() && ended.is_ok()
    };
    let mut down = pin!(async {
        let carried = copy(&mut far_reads, &mut near_writes).await;
        carried.is_ok() && near_writes.shutdown().await.is_ok()
    });
    let ended_well = tokio::select! {
        // What the far side sent before it saw the end, or before its own end, may still arrive.
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

    /// The outer ends, and the task that connects the inner ones.
    fn spliced() -> (DuplexStream, DuplexStream, JoinHandle<()>) {
        let (outer, near) = duplex(16);
        let (far, other) = duplex(16);
        (outer, other, tokio::spawn(splice(near, far)))
    }

    #[tokio::test]
    async fn end_of_either_side_follows_all_its_bytes() {
        let (mut near, mut far, carrying) = spliced();
        let out = vec![7; 1000];
        let (written, read) = tokio::join!(
            async {
                near.write_all(&out).await.unwrap();
                near.shutdown().await.unwrap();
                let mut back = Vec::new();
                near.read_to_end(&mut back).await.unwrap();
                back
            },
            async {
                let mut result = Vec::new();
                far.read_to_end(&mut result).await.unwrap();
                far.write_all(b"late").await.unwrap();
                drop(far);
                result
            }
        );
        assert_eq!((written, read), (b"late".to_vec(), out));
        carrying.await.unwrap();
    }

    #[tokio::test]
    async fn far_sides_last_bytes_arrive_while_near_side_sends() {
        let (near, mut far, carrying) = spliced();
        // More than the near side's pipe holds, so that some is still in flight.
        let (received, sent) = (vec![7; 48], vec![1; 1000]);
        far.write_all(&received).await.unwrap();
        drop(far);
        let (mut reads, mut writes) = split(near);
        // Nobody reads it.
        tokio::spawn(async move { writes.write_all(&sent).await });
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let mut result = Vec::new();
        reads.read_to_end(&mut result).await.unwrap();
        assert_eq!(result, received);
        carrying.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn open_near_side_delays_the_end_briefly() {
        let (mut near, far, carrying) = spliced();
        drop(far);
        assert_eq!(near.read(&mut [0; 4]).await.unwrap(), 0, "it sees the end at once");
        carrying.await.unwrap();
    }
}
