//! `thumbwire phone`

use thumbwire_virtual_phone::{Setup, VirtualPhone};
use tokio::net::TcpListener;

use super::{Ended, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Where its adbd listens; adb servers look at the odd ports 5555 to 5585 by themselves
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:6555")]
    listen: String,
    /// Which Android it is: 14, or 4.4 with the manners of a phone of 2014
    #[arg(long, value_name = "RELEASE", default_value = "14")]
    android: String,
    /// Let a host in only once its key was accepted here, by a line on standard input
    #[arg(long)]
    guarded: bool,
    /// What differs between two virtual phones: same seed, same touches, same pixels
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) async fn run(arguments: Arguments) -> Result<u8, Ended> {
    let Some(setup) = Setup::of_release(&arguments.android) else {
        let there: Vec<&str> = Setup::releases().collect();
        return Err(Ended::usage(format!(
            "there is no virtual phone of Android {:?}; there are {}",
            arguments.android,
            there.join(", ")
        )));
    };
    let listener = TcpListener::bind(&arguments.listen).await;
    let listener = listener.map_err(|error| {
        Ended::failed(format!("cannot listen on {}: {error}", arguments.listen))
    })?;
    let address = listener.local_addr().map_err(|error| Ended::failed(error.to_string()))?;
    let phone = VirtualPhone::new(Setup { seed: arguments.seed, ..setup });
    phone.set_guarded(arguments.guarded);
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
    let door = answer_keys(&phone, arguments.guarded);
    tokio::select! {
        ended = phone.listen(listener) => ended.map_err(|error| Ended::failed(error.to_string()))?,
        () = owner => {}
        ended = door => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(0)
}

/// Shows each key that the phone asks about, and answers with the next line of standard input: `y` lets it in.
async fn answer_keys(phone: &VirtualPhone, guarded: bool) -> Result<(), Ended> {
    if !guarded {
        return std::future::pending().await;
    }
    // A thread of its own: tokio's standard input would keep the program from ending until the next line.
    let (sender, mut lines) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        let typed = std::io::stdin().lines().map_while(Result::ok);
        typed.take_while(|line| sender.blocking_send(line.trim() == "y").is_ok()).for_each(drop);
    });
    loop {
        let key = phone.until_key_shown().await;
        let name = key.split_once(' ').map_or("", |(_, name)| name).escape_debug().to_string();
        print(&format!("Allow USB debugging by {name}? (y/n)\n"))?;
        // Without an answer on standard input the question stands until Ctrl-C.
        match lines.recv().await {
            Some(allow) => phone.answer_key(allow),
            None => std::future::pending().await,
        }
    }
}
