//! One stream's half of a [`Connection`](super::Connection): its two queues and where it stands.
//! Ids and packets are the connection's matter.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use crate::Error;

/// Payloads below this size are copied, so that a few bytes cannot keep a large buffer alive.
const COPIED: usize = 16 * 1024;

/// Pieces that may wait for a reader before it counts as behind: each costs more than its bytes.
const PIECES: usize = 256;

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
    /// A WRTE of ours waits for its OKAY.
    pub(super) in_flight: bool,
    /// A WRTE of theirs waits for our OKAY.
    pub(super) owes_okay: bool,
    /// CLSE follows the outbox.
    pub(super) finishing: bool,
    /// Nobody holds the stream any more.
    pub(super) released: bool,
    /// It ended before everything queued was sent.
    pub(super) cut_short: bool,
    inbox: VecDeque<Bytes>,
    unread: usize,
}

impl Stream {
    pub(super) fn new(remote: u32, phase: Phase) -> Self {
        Self {
            remote,
            phase,
            outbox: BytesMut::new(),
            in_flight: false,
            owes_okay: false,
            finishing: false,
            released: false,
            cut_short: false,
            inbox: VecDeque::new(),
            unread: 0,
        }
    }

    pub(super) fn may_send(&self) -> bool {
        self.phase == Phase::Open && !self.in_flight
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
        self.inbox.push_back(if payload.len() < COPIED {
            Bytes::copy_from_slice(&payload)
        } else {
            payload
        });
    }

    pub(super) fn drop_inbox(&mut self) {
        self.inbox = VecDeque::new();
        self.unread = 0;
    }

    /// Whether `more` that the reader was not to be sent yet can be kept, at most `most` bytes in
    /// all.
    pub(super) fn bears(&self, more: usize, most: usize) -> bool {
        self.unread.saturating_add(more) <= most && self.inbox.len() < 2 * PIECES
    }

    /// Whether the reader may be sent more before it has read what is here, at most `ahead` bytes.
    pub(super) fn keeps_up(&self, ahead: usize) -> bool {
        self.unread <= ahead && self.inbox.len() < PIECES
    }
}
