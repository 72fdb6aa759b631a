//! A package on a phone, as a [`Source`] of its bytes.

use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_apk::Source;
use thumbwire_base::lock;
use thumbwire_device::{Device, Error};

/// A package on a phone. Device errors are kept separately: a lost phone affects more than one app.
pub(crate) struct DeviceFile<'a> {
    pub(crate) device: &'a dyn Device,
    pub(crate) path: &'a str,
    pub(crate) failed: &'a Mutex<Option<Error>>,
}

impl DeviceFile<'_> {
    fn failed(&self, error: Error) -> String {
        let output = error.to_string();
        *lock(self.failed) = Some(error);
        output
    }
}

#[async_trait]
impl Source for DeviceFile<'_> {
    async fn length(&self) -> Result<u64, String> {
        let asking = async { self.device.device_files()?.file_length(self.path).await };
        asking.await.map_err(|error| self.failed(error))
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let reading =
            async { self.device.device_files()?.read_file(self.path, from, length).await };
        reading.await.map_err(|error| self.failed(error))
    }
}
