//! The phone's end of a host's connection: limits it to the cable's speed, and cuts or corrupts it
//! if a rule says so.

use crate::faults::{Fault, TriggeredFault, changed};
use crate::phone::VirtualPhone;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// The phone's end of the connection.
pub(crate) struct FaultyStream<S> {
    io: S,
    phone: VirtualPhone,
    /// Bytes the phone has sent.
    sent: u64,
    cut: Option<TriggeredFault>,
    is_cut: bool,
    corrupt: Option<TriggeredFault>,
    up: RateLimiter,
    down: RateLimiter,
}

impl<S> FaultyStream<S> {
    /// Wraps a new connection.
    pub(crate) fn new(phone: &VirtualPhone, io: S) -> Self {
        let (cut, corrupt) = (
            phone.draw_fault(Fault::Disconnect, "connect"),
            phone.draw_fault(Fault::CorruptPackets, "connect"),
        );
        let rate = phone.bytes_per_second();
        let (up, down) = (RateLimiter::new(rate), RateLimiter::new(rate));
        Self { io, phone: phone.clone(), sent: 0, cut, is_cut: false, corrupt, up, down }
    }

    /// How many of `wanted` bytes may still be sent.
    fn room(&self, wanted: usize) -> usize {
        let Some(cut) = &self.cut else { return wanted };
        let left = cut.place().saturating_sub(self.sent);
        usize::try_from(left).map_or(wanted, |left| left.min(wanted))
    }

    /// The byte to corrupt, if it is among the next `count`: its index and a random number.
    fn corrupted_byte(&self, count: usize) -> Option<(usize, u64)> {
        let hit = self.corrupt.as_ref()?;
        let place = usize::try_from(hit.place().checked_sub(self.sent)?).ok()?;
        (place < count).then_some((place, hit.seed))
    }

    fn check(&mut self) -> Result<()> {
        if !self.is_cut && self.room(1) == 0 {
            self.is_cut = true;
            if let Some(hit) = &self.cut {
                self.phone.record_injection(hit);
            }
        }
        match self.is_cut {
            true => Err(Error::from(ErrorKind::ConnectionReset)),
            false => Ok(()),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FaultyStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<Result<usize>> {
        self.check()?;
        ready!(self.up.poll(cx));
        let data = data.get(..self.room(data.len())).unwrap_or_default();
        let written = match self.corrupted_byte(data.len()) {
            None => ready!(Pin::new(&mut self.io).poll_write(cx, data))?,
            Some((place, random)) => {
                let mut data = data.to_vec();
                if let Some(byte) = data.get_mut(place) {
                    *byte = changed(*byte, random);
                }
                let written = ready!(Pin::new(&mut self.io).poll_write(cx, &data))?;
                if written > place
                    && let Some(hit) = self.corrupt.take()
                {
                    self.phone.record_injection(&hit);
                }
                written
            }
        };
        self.sent += written as u64;
        self.up.passed(written);
        if self.room(1) == 0 {
            // Wakes a reader too, so that it notices.
            cx.waker().wake_by_ref();
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FaultyStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        self.check()?;
        ready!(self.down.poll(cx));
        let before = into.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, into))?;
        self.down.passed(into.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

/// Limits one direction to a number of bytes per second.
struct RateLimiter {
    rate: Option<u32>,
    /// When everything sent so far has arrived.
    through: Option<Instant>,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl RateLimiter {
    /// What a cable buffers: shorter delays are not waited for, since timers are no finer.
    const SLACK: Duration = Duration::from_millis(2);

    fn new(rate: Option<u32>) -> Self {
        Self { rate, through: None, waiting: None }
    }

    /// Ready when more may be sent.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(waiting) = &mut self.waiting {
            ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
        }
        Poll::Ready(())
    }

    fn passed(&mut self, bytes: usize) {
        let Some(rate) = self.rate else { return };
        let now = Instant::now();
        let from = self.through.filter(|through| *through > now).unwrap_or(now);
        let through = from + Duration::from_secs_f64(bytes as f64 / f64::from(rate.max(1)));
        self.through = Some(through);
        if through > now + Self::SLACK {
            self.waiting = Some(Box::pin(sleep_until(through)));
        }
    }
}
