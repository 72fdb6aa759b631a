//! One stream's half of a [`Connection`](super::Connection): its two queues and where it stands.
//! Ids and packets are the connection's matter.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use super::flow::Flow;
use crate::Error;

/// Payloads below this size are copied and put together, so that a few bytes cannot keep a large
/// buffer alive, and many small ones cost no more than their bytes.
const COPIED: usize = 16 * 1024;

/// What reading gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// The next bytes, never empty.
    Data(Bytes),
    /// Nothing has come yet.
    Wait,
    /// The other end closed the stream and everything it sent has been read.
    End,
    /// The stream broke and everything that came before has been read.
    Broken(Error),
}

/// What writing did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// So many bytes were queued.
    Took(usize),
    /// The queue is full.
    Full,
    /// The stream was closed, by either end.
    Closed,
    /// The stream broke.
    Broken(Error),
}

/// Where a stream stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    Opening,
    Offered,
    Open,
    Ended(End),
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Closed,
    Refused,
    Broken(Error),
}

#[derive(Debug)]
pub(super) struct Stream {
    /// The other end's id; 0 until it is known.
    pub(super) remote: u32,
    pub(super) phase: Phase,
    /// What is to be sent after the WRTE that is under way.
    pub(super) outbox: BytesMut,
    /// What may be sent, and what is owed.
    pub(super) flow: Flow,
    /// CLSE follows the outbox.
    pub(super) finishing: bool,
    /// Nobody holds the stream any more.
    pub(super) released: bool,
    /// It ended before everything queued was sent.
    pub(super) cut_short: bool,
    inbox: VecDeque<Bytes>,
    /// Small payloads that came behind the inbox.
    small: BytesMut,
    unread: usize,
}

impl Stream {
    pub(super) fn new(remote: u32, phase: Phase, flow: Flow) -> Self {
        Self {
            remote,
            phase,
            outbox: BytesMut::new(),
            flow,
            finishing: false,
            released: false,
            cut_short: false,
            inbox: VecDeque::new(),
            small: BytesMut::new(),
            unread: 0,
        }
    }

    pub(super) fn may_send(&self) -> bool {
        self.phase == Phase::Open && self.flow.may_send()
    }

    /// Why nothing can be written now, if so.
    pub(super) fn unwritable(&self, bound: usize) -> Option<Write> {
        match &self.phase {
            Phase::Ended(End::Broken(error)) => Some(Write::Broken(error.clone())),
            Phase::Ended(_) => Some(Write::Closed),
            _ if self.finishing => Some(Write::Closed),
            _ => (self.outbox.len() >= bound).then_some(Write::Full),
        }
    }

    /// How far the outbox has got: all of it was sent, some waits, or the rest is lost.
    pub(super) fn flushed(&self) -> Write {
        match &self.phase {
            Phase::Ended(End::Broken(error)) => Write::Broken(error.clone()),
            Phase::Ended(_) if self.cut_short => Write::Closed,
            _ if self.outbox.is_empty() => Write::Took(0),
            _ => Write::Full,
        }
    }

    pub(super) fn read(&mut self, most: usize) -> Read {
        if self.inbox.is_empty() {
            self.gather();
        }
        if let Some(front) = self.inbox.front_mut() {
            let data = front.split_to(most.min(front.len()));
            if !front.has_remaining() {
                self.inbox.pop_front();
            }
            self.unread -= data.len();
            return Read::Data(data);
        }
        match &self.phase {
            Phase::Ended(End::Broken(error)) => Read::Broken(error.clone()),
            Phase::Ended(_) => Read::End,
            _ => Read::Wait,
        }
    }

    pub(super) fn keep(&mut self, payload: Bytes) {
        if payload.is_empty() {
            return;
        }
        self.unread += payload.len();
        if payload.len() >= COPIED {
            self.gather();
            return self.inbox.push_back(payload);
        }
        self.small.extend_from_slice(&payload);
        if self.small.len() >= COPIED {
            self.gather();
        }
    }

    /// Puts what came in small payloads where it is read.
    fn gather(&mut self) {
        if !self.small.is_empty() {
            self.inbox.push_back(self.small.split().freeze());
        }
    }

    pub(super) fn drop_inbox(&mut self) {
        self.inbox = VecDeque::new();
        self.small = BytesMut::new();
        self.unread = 0;
    }

    /// Bytes that wait for the reader.
    pub(super) fn unread(&self) -> usize {
        self.unread
    }
}
