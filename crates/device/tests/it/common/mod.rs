//! A scripted phone, and recordings of real ones.

#![allow(dead_code, reason = "each test program uses what it needs")]

use std::sync::{Arc, Mutex};

use thumbwire_adb::daemon::{self, Handler, ServiceRefused, Services, handler};
use thumbwire_adb::{Banner, DirectTransport, Features};
use thumbwire_device::android::Android;
use tokio::io::AsyncWriteExt as _;

/// Answers each command with the entry for its longest known prefix, or with nothing. It has no
/// shell v2: all output comes in one stream, without a status.
pub(crate) struct Scripted {
    says: Vec<(&'static str, Vec<u8>)>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    /// The phone, and a handle on it. Of two answers for the same prefix the first counts.
    pub(crate) async fn attach(says: Vec<(&'static str, Vec<u8>)>) -> (Arc<Self>, Android) {
        let phone = Arc::new(Self { says, asked: Mutex::default() });
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(daemon::serve(far, Arc::<Self>::clone(&phone)));
        let device =
            Android::attach("scripted", Arc::new(DirectTransport::from_io(near))).await.unwrap();
        (phone, device)
    }

    /// The commands it received, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Services for Scripted {
    fn banner(&self) -> Banner {
        Banner::phone("p", "Scripted", "d", Features::default())
    }

    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let service = service.trim_end_matches('\0');
        let command = service.strip_prefix("shell:").or(service.strip_prefix("exec:"));
        let command = command.ok_or(ServiceRefused)?;
        self.asked.lock().unwrap().push(command.to_owned());
        let known = self.says.iter().filter(|(begins, _)| command.starts_with(begins));
        let output = known.rev().max_by_key(|(begins, _)| begins.len());
        let output = output.map_or(Vec::new(), |(_, said)| said.clone());
        Ok(handler(async move |stream| {
            let mut stream = stream;
            let _ = stream.write_all(&output).await;
        }))
    }
}
