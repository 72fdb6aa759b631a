//! `thumbwire phone`: serves one or many virtual phones to other programs.

mod ios;

use std::fmt::Write as _;

use serde_json::{Value, json};
use thumbwire_virtual_android::{ScreenLock, Setup, VirtualPhone};
use tokio::net::{TcpListener, lookup_host};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;

use super::virtual_phone_flags::{VirtualPhoneFlags, log_injections};
use super::{CliError, print};

/// Distance between the ports of two phones. An adb server probes odd ports only (5555, 5557, …)
/// and treats the even port below each as an emulator console (adb's `transport_emulator.cpp`).
const STRIDE: u16 = 2;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Address of its adbd, or of an iPhone's WebDriverAgent [default: 127.0.0.1:6555;
    /// 127.0.0.1:8100 with `--ios`]; adb servers find phones on odd ports from 5555 to 5585 by
    /// themselves
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Run iPhones, which serve WebDriverAgent, instead of Android phones
    #[arg(long, conflicts_with_all = ["android", "require_auth", "pin"])]
    ios: bool,
    /// Address at which an iPhone streams its screen as MJPEG, as WebDriverAgent does on port 9100
    #[arg(long, value_name = "HOST:PORT", requires = "ios", conflicts_with = "count")]
    mjpeg: Option<String>,
    /// Allow an address that other computers can reach. Without `--require-auth` an adbd gives its
    /// shell to everyone who connects
    #[arg(long)]
    allow_remote: bool,
    /// Number of phones, on PORT, PORT+2, PORT+4 … with seeds SEED, SEED+1, SEED+2 …; port 0 gives
    /// each a free port
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=500))]
    count: u16,
    /// Once all phones listen, print them as one JSON line: a list of objects with `serial` and
    /// `address`
    #[arg(short, long, conflicts_with = "require_auth")]
    json: bool,
    /// Android version: 4.4, 9, 11, 13, 14 or 16
    #[arg(long, value_name = "RELEASE", default_value = "14")]
    android: String,
    /// Require hosts to authenticate; accept each new key by typing `y` on standard input
    #[arg(long)]
    require_auth: bool,
    /// Seed of the phone's content: the same seed and input give the same pixels
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// PIN that the phone asks for after its screen was off, 4 to 16 digits; without one a swipe
    /// unlocks it
    #[arg(long, value_name = "PIN", value_parser = parse_pin)]
    pin: Option<String>,
    #[command(flatten)]
    flags: VirtualPhoneFlags,
}

impl Arguments {
    /// Where the first phone listens.
    fn listen(&self) -> &str {
        let usual = if self.ios { "127.0.0.1:8100" } else { "127.0.0.1:6555" };
        self.listen.as_deref().unwrap_or(usual)
    }

    /// Starts the phones and their listeners.
    async fn start_phone(&self) -> Result<Vec<RunningPhone>, CliError> {
        let Some(setup) = Setup::of_release(&self.android) else {
            let releases: Vec<&str> = Setup::releases().collect();
            return Err(CliError::usage(format!(
                "unknown Android version {:?}; available: {}",
                self.android,
                releases.join(", ")
            )));
        };
        let (mut setup, rules) = (self.flags.setup(setup), self.flags.rules()?);
        setup.screen_lock = self.pin.clone().map_or(setup.screen_lock, ScreenLock::Pin);
        let mut phones = Vec::new();
        for nth in 0..self.count {
            let (listener, address) = self.bind(&phone_address(self.listen(), nth)?).await?;
            let seed = self.seed.wrapping_add(u64::from(nth));
            let phone = VirtualPhone::new(Setup { seed, ..setup.clone() });
            phone.set_guarded(self.require_auth);
            self.flags.apply(&phone)?;
            rules.iter().cloned().for_each(|rule| phone.add_fault(rule));
            phones.push(RunningPhone { phone, listener, address });
        }
        Ok(phones)
    }

    /// A listener, and its address.
    async fn bind(&self, address: &str) -> Result<(TcpListener, String), CliError> {
        if !self.allow_remote && !is_local(address).await {
            return Err(CliError::usage(format!(
                "other computers could connect to {address}; listen on 127.0.0.1, or add --allow-remote"
            )));
        }
        let failed = |error| CliError::usage(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?.to_string();
        Ok((listener, address))
    }

    /// What is printed once all phones listen.
    fn greeting(&self, phones: &[RunningPhone]) -> String {
        if self.json {
            let row = |one: &RunningPhone| json!({ "serial": one.phone.serial(), "address": one.address });
            return format!("{}\n", Value::from_iter(phones.iter().map(row)));
        }
        if let [RunningPhone { phone, address, .. }] = phones {
            let model = &phone.setup().model;
            return format!(
                "{model} is running. Its adbd listens on {address}; press Ctrl-C to stop. Try:\n  adb connect {address}\n  thumbwire devices\n  thumbwire call mobile_take_screenshot --device {address}\n",
            );
        }
        let mut output = format!("{} phones are running; press Ctrl-C to stop:\n", phones.len());
        let width = phones.iter().map(|one| one.phone.serial().len()).max().unwrap_or(0);
        for RunningPhone { phone, address, .. } in phones {
            // Writing to a string cannot fail.
            let _ = writeln!(output, "{:width$}  {address}", phone.serial());
        }
        output
    }
}

fn parse_pin(text: &str) -> Result<String, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let valid = digits && (4..=16).contains(&text.len());
    valid.then(|| text.to_owned()).ok_or_else(|| "expected 4 to 16 digits".to_owned())
}

/// A running phone and its listener.
struct RunningPhone {
    phone: VirtualPhone,
    listener: TcpListener,
    address: String,
}

/// The address of the `nth` phone, counted from 0: `HOST:PORT`, then every second port.
fn phone_address(listen: &str, nth: u16) -> Result<String, CliError> {
    if nth == 0 || listen.ends_with(":0") {
        return Ok(listen.to_owned());
    }
    let (host, port) = listen
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)))
        .ok_or_else(|| CliError::usage(format!("--listen {listen:?} is not HOST:PORT")))?;
    let beyond = || {
        let nth = nth + 1;
        CliError::usage(format!("phone {nth} starting at {listen} would need a port above 65535"))
    };
    let port = nth.checked_mul(STRIDE).and_then(|far| port.checked_add(far)).ok_or_else(beyond)?;
    Ok(format!("{host}:{port}"))
}

/// Whether only this computer reaches the address. One that does not resolve fails later, with a
/// better message.
async fn is_local(address: &str) -> bool {
    match lookup_host(address).await {
        Ok(mut found) => found.all(|one| one.ip().to_canonical().is_loopback()),
        Err(_) => true,
    }
}

pub(super) async fn run(arguments: Arguments) -> Result<u8, CliError> {
    if arguments.ios {
        return ios::run(arguments).await;
    }
    if let Some(faults) = arguments.flags.listed() {
        print(&faults)?;
        return Ok(0);
    }
    let phones = arguments.start_phone().await?;
    print(&arguments.greeting(&phones))?;
    let many = phones.len() > 1;
    let answers =
        arguments.require_auth.then(typed_answers).map(Mutex::new).map(std::sync::Arc::new);
    let mut served = JoinSet::new();
    for RunningPhone { phone, listener, .. } in phones {
        if let Some(answers) = answers.clone() {
            let asked = phone.clone();
            served.spawn(async move { answer_keys(&asked, many, &answers).await });
        }
        served.spawn(async move {
            // A rebooting phone disconnects; plug it in again.
            let owner = async {
                loop {
                    phone.unplugged().await;
                    phone.plug();
                }
            };
            tokio::select! {
                () = log_injections(&phone) => Ok(()),
                ended = phone.listen(listener) => ended.map_err(|error| CliError::failed(error.to_string())),
                () = owner => Ok(()),
            }
        });
    }
    tokio::select! {
        // Phones never stop by themselves, so the first to end has failed.
        Some(ended) = served.join_next() => {
            ended.map_err(|error| CliError::failed(error.to_string()))??;
        }
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(0)
}

/// Reads standard input; each line gives whether it is `y`.
fn typed_answers() -> Receiver<bool> {
    // A separate thread, because tokio's standard input would block the program's exit until the
    // next line.
    let (sender, lines) = channel(1);
    std::thread::spawn(move || {
        let typed = std::io::stdin().lines().map_while(Result::ok);
        typed.take_while(|line| sender.blocking_send(line.trim() == "y").is_ok()).for_each(drop);
    });
    lines
}

/// Prompts for each key that the phone asks about and answers with the next line of standard input:
/// `y` accepts it. With several phones, one asks at a time and names itself.
async fn answer_keys(
    phone: &VirtualPhone,
    many: bool,
    answers: &Mutex<Receiver<bool>>,
) -> Result<(), CliError> {
    let of = if many { format!(" of {}", phone.serial()) } else { String::new() };
    loop {
        let key = phone.wait_for_key().await;
        let mut answers = answers.lock().await;
        // While another phone's question was open, the host may have disconnected or been replaced.
        if phone.key_shown().as_ref() != Some(&key) {
            continue;
        }
        let name = key.split_once(' ').map_or("", |(_, name)| name).escape_debug().to_string();
        print(&format!("Allow USB debugging{of} by {name}? (y/n)\n"))?;
        // At the end of standard input, leave the question open until Ctrl-C.
        match answers.recv().await {
            Some(allow) => phone.answer_key(allow),
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_listen_on_consecutive_odd_ports() {
        let check = |listen: &str, nth: u16, expected: Result<&str, &str>| {
            let found = phone_address(listen, nth).map_err(|ended| ended.text);
            let found = found.as_deref().map_err(String::as_str);
            assert_eq!(found.is_ok(), expected.is_ok(), "{listen}, {nth}: {found:?}");
            match (found, expected) {
                (Err(words), Err(part)) => assert!(words.contains(part), "{words}"),
                _ => assert_eq!(found, expected),
            }
        };
        check("127.0.0.1:6555", 0, Ok("127.0.0.1:6555"));
        check("127.0.0.1:6555", 3, Ok("127.0.0.1:6561"));
        check("[::1]:5555", 1, Ok("[::1]:5557"));
        check("localhost:0", 49, Ok("localhost:0"));
        check("127.0.0.1:65533", 1, Ok("127.0.0.1:65535"));
        check("127.0.0.1:65534", 1, Err("phone 2 starting at 127.0.0.1:65534"));
        check("localhost", 1, Err("is not HOST:PORT"));
    }
}
