//! The leases of phones among the programs of a user on this computer.
//!
//! Start with [`PhoneLocks::take`]. A program that leases a phone holds a file that says who it is;
//! the system gives the file back when the program ends, however that happens. Another program may
//! put a file of its own in its place once the lease has ended, or when the user takes the phone
//! over; so a program looks before each act whether its file is still there.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use thumbwire_base::files::{self, HeldFile};

use crate::action::{Cause, ClientName, Failure, Holder, HolderProcess};

/// How long a program may not lease a phone that the user has taken from it.
pub const TAKEN_FOR: Duration = Duration::from_secs(60);

/// The file that has the turn to change the others.
const TURN: &str = "turn";

/// What of a phone's name may be in a file's name.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The folder in which the programs of a user tell one another which phones they act on.
#[derive(Debug, Clone)]
pub struct PhoneLocks {
    /// The folder.
    pub folder: PathBuf,
    /// What this program calls itself: `thumbwire serve`.
    pub program: ClientName,
    /// The time, since 1970.
    pub clock: fn() -> Duration,
}

/// What a program says of its lease.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LeaseRecord {
    holder: HolderProcess,
    client: ClientName,
    /// When it was granted, in milliseconds since 1970.
    since: u64,
    /// When it ends, in milliseconds since 1970; `None` while the client acts.
    until: Option<u64>,
    /// Whether the user has taken the phone from this program: it may not lease it until then.
    is_taken: bool,
}

/// A phone that this program leases.
#[derive(Debug)]
pub(crate) struct PhoneLock {
    file: HeldFile,
    record: LeaseRecord,
}

impl PhoneLocks {
    /// The folder, with the time of the system's clock.
    pub fn new(folder: PathBuf, program: &str) -> Self {
        let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { folder, program: ClientName::clean(program), clock }
    }

    /// Leases a phone for a client of this program, which keeps it for `time` after its last act.
    /// `None` if the folder cannot be used: then other programs are not seen.
    ///
    /// # Errors
    /// If another program has it, or the user has taken it from this one a short time ago.
    pub(crate) fn take(
        &self,
        phone: &str,
        device: &str,
        client: &ClientName,
        time: Duration,
    ) -> Result<Option<PhoneLock>, Failure> {
        let taken = self.turn().and_then(|_turn| {
            if let Some(failure) = self.refusal(phone, device, time)? {
                return Ok(Err(failure));
            }
            let record = LeaseRecord {
                holder: self.this_program(),
                client: client.clone(),
                since: self.now(),
                until: None,
                is_taken: false,
            };
            let file = HeldFile::put(&self.path(phone), &text_of(&record))?;
            Ok(Ok(Some(PhoneLock { file, record })))
        });
        taken.unwrap_or_else(|error| {
            if error.kind() == io::ErrorKind::WouldBlock {
                return Err(Cause::NotReady { text: error.to_string() }.into());
            }
            let folder = self.folder.display();
            tracing::warn!("cannot see whether other programs act on {device}: {error} ({folder})");
            Ok(None)
        })
    }

    /// Why this program may not act on the phone, if another one holds it.
    pub(crate) fn why_lost(&self, phone: &str, device: &str, time: Duration) -> Failure {
        let refusal = self.refusal(phone, device, time).ok().flatten();
        refusal.unwrap_or_else(|| {
            let text = format!("another program has acted on {device} meanwhile");
            Cause::NotReady { text }.into()
        })
    }

    /// The program and the client that have a phone now.
    ///
    /// # Errors
    /// The system's.
    pub fn holder(&self, phone: &str) -> io::Result<Option<Holder>> {
        let Some((text, is_held)) = files::read_held(&self.path(phone))? else { return Ok(None) };
        if !is_held {
            return Ok(None);
        }
        let record = record_of(&text)?;
        let is_over = record.until.is_some_and(|until| until <= self.now());
        Ok((!is_over).then(|| self.as_holder(record)))
    }

    /// Takes a phone from the program that holds it, and keeps it from that one for
    /// [`TAKEN_FOR`]. Returns who held it.
    ///
    /// # Errors
    /// The system's.
    pub fn take_over(&self, phone: &str) -> io::Result<Option<Holder>> {
        let _turn = self.turn()?;
        let Some(holder) = self.holder(phone)? else { return Ok(None) };
        let Some(process) = holder.process.clone() else { return Ok(None) };
        let record = LeaseRecord {
            holder: process,
            client: holder.client.clone(),
            since: self.now(),
            until: Some(self.now().saturating_add(millis(TAKEN_FOR))),
            is_taken: true,
        };
        HeldFile::put(&self.path(phone), &text_of(&record))?;
        Ok(Some(holder))
    }

    /// Why a phone cannot be leased.
    fn refusal(&self, phone: &str, device: &str, time: Duration) -> io::Result<Option<Failure>> {
        let Some((text, is_held)) = files::read_held(&self.path(phone))? else { return Ok(None) };
        let record = match record_of(&text) {
            Err(_) if !is_held => return Ok(None),
            // It is of another version, or just writing.
            Err(_) => {
                let text = format!("another program acts on {device}, and does not say which");
                return Ok(Some(Cause::NotReady { text }.into()));
            }
            Ok(record) => record,
        };
        let left = record.until.map(|until| until.saturating_sub(self.now()));
        let is_this = record.holder.id == std::process::id();
        if left == Some(0) || !(is_held || record.is_taken && is_this) {
            return Ok(None);
        }
        let remaining = left.map_or(time, Duration::from_millis);
        let device = device.to_owned();
        Ok(Some(
            match record.is_taken {
                true => Cause::DeviceTakenOver { device, remaining },
                false => Cause::DeviceBusy { device, holder: self.as_holder(record), remaining },
            }
            .into(),
        ))
    }

    /// The turn to change the files. Another program keeps it for less than a millisecond.
    fn turn(&self) -> io::Result<std::fs::File> {
        const TRIES: u32 = 10_000;
        files::make_folder(&self.folder)?;
        for _ in 0..TRIES {
            if let Some(turn) = files::turn(&self.folder.join(TURN))? {
                return Ok(turn);
            }
            std::thread::yield_now();
        }
        Err(io::Error::new(io::ErrorKind::WouldBlock, "another program is just taking a phone"))
    }

    fn this_program(&self) -> HolderProcess {
        HolderProcess { id: std::process::id(), program: self.program.clone() }
    }

    fn as_holder(&self, record: LeaseRecord) -> Holder {
        let since = Duration::from_millis(self.now().saturating_sub(record.since));
        Holder { client: record.client, process: Some(record.holder), since }
    }

    fn path(&self, phone: &str) -> PathBuf {
        self.folder.join(format!("{}.json", utf8_percent_encode(phone, PLAIN)))
    }

    fn now(&self) -> u64 {
        millis((self.clock)())
    }
}

impl PhoneLock {
    /// Whether no other program has taken the phone since.
    pub(crate) fn is_ours(&self) -> bool {
        self.file.is_in_place()
    }

    /// Says when the lease ends; `None`: not before the client has ended its act.
    pub(crate) fn ends(&mut self, after: Option<Duration>, locks: &PhoneLocks) {
        let until = after.map(|time| locks.now().saturating_add(millis(time)));
        if until.is_none() && self.record.until.is_none() {
            return;
        }
        self.record.until = until;
        if let Err(error) = self.file.write(&text_of(&self.record)) {
            tracing::warn!("cannot say how long a phone is leased: {error}");
        }
    }
}

fn text_of(record: &LeaseRecord) -> String {
    serde_json::to_string(record).unwrap_or_default()
}

fn record_of(text: &str) -> io::Result<LeaseRecord> {
    serde_json::from_str(text).map_err(io::Error::other)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
