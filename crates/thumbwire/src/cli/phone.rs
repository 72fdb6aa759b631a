//! `thumbwire phone`

use thumbwire_virtual_phone::{Setup, VirtualPhone};
use tokio::net::TcpListener;

use super::{Ended, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Where its adbd listens; adb servers look at the odd ports 5555 to 5585 by themselves
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:6555")]
    listen: String,
    /// What differs between two virtual phones: same seed, same touches, same pixels
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) async fn run(arguments: Arguments) -> Result<u8, Ended> {
    let listener = TcpListener::bind(&arguments.listen).await;
    let listener = listener.map_err(|error| {
        Ended::failed(format!("cannot listen on {}: {error}", arguments.listen))
    })?;
    let address = listener.local_addr().map_err(|error| Ended::failed(error.to_string()))?;
    let phone = VirtualPhone::new(Setup { seed: arguments.seed, ..Setup::default() });
    print(&format!(
        "{} is on. Its adbd listens on {address}; until Ctrl-C:\n  adb connect {address}\n  thumbwire devices\n  thumbwire call mobile_take_screenshot --device {address}\n",
        phone.setup().model
    ))?;
    // A rebooted phone goes away; somebody must plug it in again.
    let owner = async {
        loop {
            phone.unplugged().await;
            phone.plug();
        }
    };
    tokio::select! {
        ended = phone.listen(listener) => ended.map_err(|error| Ended::failed(error.to_string()))?,
        () = owner => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(0)
}
