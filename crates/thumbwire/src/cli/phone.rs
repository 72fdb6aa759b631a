//! `thumbwire phone`: one virtual phone, or many, for other programs.

use std::fmt::Write as _;

use serde_json::{Value, json};
use thumbwire_virtual_phone::{Setup, VirtualPhone};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;

use super::manner::{Manner, tell_strikes};
use super::{Ended, print};

/// From one phone's port to the next's. An adb server looks at odd ports only (5555, 5557, …), and takes the even one below each for the
/// console of an emulator: `transport_emulator.cpp` of adb.
const STRIDE: u16 = 2;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Where its adbd listens; adb servers look at the odd ports 5555 to 5585 by themselves
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:6555")]
    listen: String,
    /// So many phones, on PORT, PORT+2, PORT+4 …, with the seeds N, N+1, N+2 …; with port 0 each takes a free one
    #[arg(long, value_name = "PHONES", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=500))]
    count: u16,
    /// Print the phones as JSON: one line, a list of objects with `serial` and `address`, once all of them listen
    #[arg(long, conflicts_with = "guarded")]
    json: bool,
    /// Which Android it is, in banner, properties and words: 4.4, 9, 11, 13, 14 or 16
    #[arg(long, value_name = "RELEASE", default_value = "14")]
    android: String,
    /// Let a host in only once its key was accepted here, by a line on standard input
    #[arg(long)]
    guarded: bool,
    /// What differs between two virtual phones: same seed, same touches, same pixels
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    manner: Manner,
}

impl Arguments {
    /// The phones, each with the place where it listens.
    async fn switched_on(&self) -> Result<Vec<Served>, Ended> {
        let Some(setup) = Setup::of_release(&self.android) else {
            let there: Vec<&str> = Setup::releases().collect();
            return Err(Ended::usage(format!(
                "there is no virtual phone of Android {:?}; there are {}",
                self.android,
                there.join(", ")
            )));
        };
        let (setup, rules) = (self.manner.setup(setup), self.manner.rules()?);
        let mut phones = Vec::new();
        for nth in 0..self.count {
            let wanted = place(&self.listen, nth)?;
            let unheard = |error| Ended::failed(format!("cannot listen on {wanted}: {error}"));
            let listener = TcpListener::bind(&wanted).await.map_err(unheard)?;
            let address = listener.local_addr().map_err(unheard)?.to_string();
            let seed = self.seed.wrapping_add(u64::from(nth));
            let phone = VirtualPhone::new(Setup { seed, ..setup.clone() });
            phone.set_guarded(self.guarded);
            self.manner.furnish(&phone)?;
            rules.iter().cloned().for_each(|rule| phone.add_fault(rule));
            phones.push(Served { phone, listener, address });
        }
        Ok(phones)
    }

    /// What is said of the phones when all of them listen.
    fn greeting(&self, phones: &[Served]) -> String {
        if self.json {
            let row =
                |one: &Served| json!({ "serial": one.phone.serial(), "address": one.address });
            return format!("{}\n", Value::from_iter(phones.iter().map(row)));
        }
        if let [Served { phone, address, .. }] = phones {
            let model = &phone.setup().model;
            return format!(
                "{model} is on. Its adbd listens on {address}; until Ctrl-C:\n  adb connect {address}\n  thumbwire devices\n  thumbwire call mobile_take_screenshot --device {address}\n",
            );
        }
        let mut said = format!("{} phones are on, until Ctrl-C:\n", phones.len());
        let width = phones.iter().map(|one| one.phone.serial().len()).max().unwrap_or(0);
        for Served { phone, address, .. } in phones {
            // Writing to a string cannot fail.
            let _ = writeln!(said, "{:width$}  {address}", phone.serial());
        }
        said
    }
}

/// A phone that is on, and its door.
struct Served {
    phone: VirtualPhone,
    listener: TcpListener,
    address: String,
}

/// The place of the `nth` phone, counted from 0: `HOST:PORT` itself, and so many ports further.
fn place(listen: &str, nth: u16) -> Result<String, Ended> {
    if nth == 0 || listen.ends_with(":0") {
        return Ok(listen.to_owned());
    }
    let (host, port) = listen
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)))
        .ok_or_else(|| Ended::usage(format!("--listen {listen:?} is not HOST:PORT")))?;
    let beyond = || {
        let nth = nth + 1;
        Ended::usage(format!("phone {nth} of those from {listen} on would have a port above 65535"))
    };
    let port = nth.checked_mul(STRIDE).and_then(|far| port.checked_add(far)).ok_or_else(beyond)?;
    Ok(format!("{host}:{port}"))
}

pub(super) async fn run(arguments: Arguments) -> Result<u8, Ended> {
    if let Some(faults) = arguments.manner.listed() {
        print(&faults)?;
        return Ok(0);
    }
    let phones = arguments.switched_on().await?;
    print(&arguments.greeting(&phones))?;
    let many = phones.len() > 1;
    let answers = arguments.guarded.then(typed_answers).map(Mutex::new).map(std::sync::Arc::new);
    let mut served = JoinSet::new();
    for Served { phone, listener, .. } in phones {
        if let Some(answers) = answers.clone() {
            let asked = phone.clone();
            served.spawn(async move { answer_keys(&asked, many, &answers).await });
        }
        served.spawn(async move {
            // A rebooted phone goes away; somebody must plug it in again.
            let owner = async {
                loop {
                    phone.unplugged().await;
                    phone.plug();
                }
            };
            tokio::select! {
                () = tell_strikes(&phone) => Ok(()),
                ended = phone.listen(listener) => ended.map_err(|error| Ended::failed(error.to_string())),
                () = owner => Ok(()),
            }
        });
    }
    tokio::select! {
        // The first that ends, ends badly: none of them stops by itself.
        Some(ended) = served.join_next() => {
            ended.map_err(|error| Ended::failed(error.to_string()))??;
        }
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(0)
}

/// The lines of standard input: whether each is a `y`.
fn typed_answers() -> Receiver<bool> {
    // A thread of its own: tokio's standard input would keep the program from ending until the next line.
    let (sender, lines) = channel(1);
    std::thread::spawn(move || {
        let typed = std::io::stdin().lines().map_while(Result::ok);
        typed.take_while(|line| sender.blocking_send(line.trim() == "y").is_ok()).for_each(drop);
    });
    lines
}

/// Shows each key that the phone asks about, and answers with the next line of standard input: `y` lets it in. Of many phones one asks
/// at a time, and says which it is.
async fn answer_keys(
    phone: &VirtualPhone,
    many: bool,
    answers: &Mutex<Receiver<bool>>,
) -> Result<(), Ended> {
    let of = if many { format!(" of {}", phone.serial()) } else { String::new() };
    loop {
        let key = phone.until_key_shown().await;
        let mut answers = answers.lock().await;
        // While another phone's question stood, the host may have gone, or others have taken its place.
        if phone.key_shown().as_ref() != Some(&key) {
            continue;
        }
        let name = key.split_once(' ').map_or("", |(_, name)| name).escape_debug().to_string();
        print(&format!("Allow USB debugging{of} by {name}? (y/n)\n"))?;
        // Without an answer on standard input the question stands until Ctrl-C.
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
    fn each_phone_has_the_next_port_that_adb_servers_look_at() {
        let check = |listen: &str, nth: u16, expected: Result<&str, &str>| {
            let found = place(listen, nth).map_err(|ended| ended.words);
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
        check("127.0.0.1:65534", 1, Err("phone 2 of those from 127.0.0.1:65534 on"));
        check("localhost", 1, Err("is not HOST:PORT"));
    }
}
