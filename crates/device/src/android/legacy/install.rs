//! Installs an app from a file: before Android 7 there is no `cmd`, which takes a package as its
//! input. The file is written to `/data/local/tmp`, where the package manager may read what the
//! shell wrote, and removed afterwards.

use tokio::io::AsyncRead;

use super::Legacy;
use crate::android::install::with_options;
use crate::android::temporary_file::TemporaryFile;
use crate::android::{Android, CommandOutput, ShellCommand};
use crate::{Error, InstallOptions};

/// Where the shell may write and the package manager read.
const TEMPORARY: &str = "/data/local/tmp";

impl Legacy {
    /// Installs a package of this length.
    pub(in crate::android) async fn install(
        &self,
        device: &Android,
        package: &mut (dyn AsyncRead + Send + Unpin),
        length: u64,
        options: InstallOptions,
    ) -> Result<CommandOutput, Error> {
        let file = TemporaryFile::new(device, TEMPORARY, false, ".apk").await?;
        let installed = async {
            device.push(file.path(), package, length, 0).await?;
            device.ask(file_command(file.path(), options)?).await
        };
        let output = installed.await;
        file.remove().await;
        output
    }
}

fn file_command(path: &str, options: InstallOptions) -> Result<ShellCommand, Error> {
    with_options(ShellCommand::new("pm install"), options).arg(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_quoted() {
        let line = file_command("/data/local/tmp/a b.apk", InstallOptions::default()).unwrap();
        assert_eq!(line.as_str(), "pm install -r '/data/local/tmp/a b.apk'");
    }
}
