//! Files between this computer and a node, in pieces.

use std::time::Duration;

use async_nats::HeaderMap;
use bytes::Bytes;
use thumbwire_core::action::{Action, Call, Cause, Failure, LocalFile, Outcome};
use thumbwire_core::session::FilesHere;
use thumbwire_device::SideEffect;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{SharedDoor, not_connected};
use crate::message::{
    FILE, HEADERS, LeavingFile, NODES, PIECE_ERROR, PieceTaken, ToNode, UploadBegun,
};

/// How long a node may take for a piece.
const PIECE: Duration = Duration::from_secs(10);

impl SharedDoor {
    /// Sends the file that an action needs. Returns its id at the node; `None` if it needs none.
    pub(super) async fn send_file(
        &self,
        (node, phone): (&str, &str),
        call: &Call,
        action: &Action,
        files: &FilesHere<'_>,
    ) -> Result<Option<String>, Failure> {
        let (Action::InstallApp { path, .. } | Action::PushFile { path, .. }) = action else {
            return Ok(None);
        };
        let file = files.open(path).await?;
        let (name, length) = (file.name().to_owned(), file.length());
        let failed = |reason: String| {
            Failure::from(Cause::DeviceError {
                text: format!("{path} was not sent to {node}: {reason}"),
            })
        };
        let begin = ToNode::Upload { name };
        let UploadBegun(begun) = self.ask_node(node, phone, &begin, PIECE).await?;
        let id = begun.map_err(failed)?;
        let mut reader = file.into_reader().await.map_err(|error| failed(error.to_string()))?;
        let subject = format!("{NODES}.{node}.{FILE}{id}");
        let mut sent = 0;
        loop {
            let mut piece = Vec::new();
            let mut next = (&mut reader).take(self.room() as u64);
            if next.read_to_end(&mut piece).await.map_err(|error| failed(error.to_string()))? == 0 {
                return Ok(Some(id));
            }
            sent += piece.len() as u64;
            let asking = self.connection.client.request(subject.clone(), piece.into());
            let answered = tokio::select! {
                () = call.cancelled.cancelled() => return Err(super::cancelled(false)),
                answered = tokio::time::timeout(PIECE, asking) => answered,
            };
            let answer = answered
                .map_err(|_| failed(format!("no answer for {} s", PIECE.as_secs())))?
                .map_err(|error| Failure::from(not_connected(phone, error.to_string())))?;
            let taken: PieceTaken = serde_json::from_slice(&answer.payload)
                .map_err(|error| failed(error.to_string()))?;
            taken.0.map_err(failed)?;
            let percent = |part: u64| u32::try_from(part * 100 / length.max(1)).unwrap_or(100);
            call.progress.report(percent(sent), Some(100), &format!("sending the file to {node}"));
        }
    }

    /// Fetches the files that an action has left at a node.
    pub(super) async fn fetch_files(
        &self,
        node: &str,
        outcome: &mut Outcome,
        leaving: Vec<LeavingFile>,
        files: &FilesHere<'_>,
    ) -> Result<(), Failure> {
        for (local, left) in outcome.local_files_mut().into_iter().zip(leaving) {
            let id = left.id.clone();
            let fetched = self.fetch(node, left, files).await;
            self.tell(node, None, &ToNode::Forget { file: id }).await;
            *local = fetched.map_err(|reason| Failure {
                cause: Cause::DeviceError { text: format!("the file stays at {node}: {reason}") },
                side_effect: SideEffect::Possible,
            })?;
        }
        Ok(())
    }

    async fn fetch(
        &self,
        node: &str,
        left: LeavingFile,
        files: &FilesHere<'_>,
    ) -> Result<LocalFile, String> {
        let mut pending =
            files.begin(left.folder, &left.name).map_err(|it| it.cause.to_string())?;
        let mut from = 0;
        loop {
            let piece = self.piece(node, &left.id, from).await?;
            if piece.is_empty() {
                return pending.persist().await.map_err(|error| error.to_string());
            }
            from += piece.len() as u64;
            let writer = pending.writer().map_err(|error| error.to_string())?;
            writer.write_all(&piece).await.map_err(|error| error.to_string())?;
        }
    }

    async fn piece(&self, node: &str, file: &str, from: u64) -> Result<Bytes, String> {
        let question = ToNode::Download { file: file.to_owned(), from };
        let json = serde_json::to_vec(&question).map_err(|error| error.to_string())?;
        let asking = self.connection.client.request(format!("{NODES}.{node}"), json.into());
        let answered = tokio::time::timeout(PIECE, asking).await;
        let answer = answered
            .map_err(|_| format!("no answer for {} s", PIECE.as_secs()))?
            .map_err(|error| error.to_string())?;
        let error = |headers: &HeaderMap| Some(headers.get(PIECE_ERROR)?.as_str().to_owned());
        match answer.headers.as_ref().and_then(error) {
            Some(reason) => Err(reason),
            None => Ok(answer.payload),
        }
    }

    /// How many bytes of a file fit in a message.
    fn room(&self) -> usize {
        self.connection.client.max_payload().saturating_sub(HEADERS).max(HEADERS)
    }
}
