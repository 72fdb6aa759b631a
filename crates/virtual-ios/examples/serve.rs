//! Serves a virtual iPhone and its MJPEG stream on free ports, and prints the two addresses.

use thumbwire_virtual_ios::{Profile, Setup, VirtualIphone};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the addresses are its result")]
async fn main() -> std::io::Result<()> {
    let phone = VirtualIphone::new(Setup { profile: Profile::Instant, ..Setup::default() });
    let wda = TcpListener::bind("127.0.0.1:0").await?;
    let mjpeg = TcpListener::bind("127.0.0.1:0").await?;
    println!("{} {}", wda.local_addr()?, mjpeg.local_addr()?);
    tokio::select! {
        ended = phone.serve(wda) => ended,
        ended = phone.serve_mjpeg(mjpeg) => ended,
    }
}
