//! `ping`. The phone has no network behind its addresses: only itself answers. Source: the `ping`
//! of iputils that Android brings, and a running 4.4.4.

use super::{Invocation, network};
use std::net::Ipv4Addr;
use thumbwire_virtual_shell::io::Status;
use thumbwire_virtual_shell::programs::pause;

const USAGE: &str = "\
Usage: ping [-aAbBdDfhLnOqrRUvV] [-c count] [-i interval] [-I interface]
            [-m mark] [-M pmtudisc_option] [-l preload] [-p pattern] [-Q tos]
            [-s packetsize] [-S sndbuf] [-t ttl] [-T timestamp_option]
            [-w deadline] [-W timeout] [hop1 ...] destination
";

/// How long the last reply is waited for, in seconds.
const LINGER: u64 = 10;
/// The time of an answer by the phone itself, in microseconds.
const LOOP: u64 = 52;

/// `ping [-c COUNT] [-i INTERVAL] [-w DEADLINE] [-W TIMEOUT] DESTINATION`
pub(super) async fn ping(call: Invocation) -> Status {
    let (mut count, mut size, mut linger, mut target, mut quiet) = (None, 56, LINGER, None, false);
    let mut deadline = None;
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let option = arg.strip_prefix('-').filter(|rest| !rest.is_empty());
        let Some(option) = option.and_then(|rest| rest.chars().next()) else {
            target = Some(arg);
            continue;
        };
        let takes = "ciImMlpQsStTwW".contains(option);
        if !takes && !"aAbBdDfhLnOqrRUvV".contains(option) {
            let option = match call.release().userland.toybox {
                true => format!("'{option}'"),
                false => option.to_string(),
            };
            call.err(format!("ping: invalid option -- {option}\n{USAGE}")).await;
            return Ok(2);
        }
        quiet |= option == 'q';
        if takes {
            let value = if arg.len() > 2 { Some(&arg[2..]) } else { args.next() };
            let number = value.and_then(|text| text.parse::<u64>().ok());
            match option {
                'c' if number.is_none_or(|count| count == 0) => {
                    call.err("ping: bad number of packets to transmit.\n").await;
                    return Ok(2);
                }
                'c' => count = number,
                's' => size = number.unwrap_or(size),
                'W' => linger = number.unwrap_or(linger),
                'w' => deadline = number,
                _ => {}
            }
        }
    }
    let Some(target) = target else {
        call.err(USAGE).await;
        return Ok(2);
    };
    let address = match target {
        "localhost" => Some(Ipv4Addr::LOCALHOST),
        name => name.parse().ok(),
    };
    let Some(address) = address else {
        call.err(format!("ping: unknown host {target}\n")).await;
        return Ok(2);
    };
    let (own, up) = (network::ADDRESS, network::is_up(&call));
    let answers = address.is_loopback() || (up && address.to_string() == own);
    if !answers && !up {
        call.err("connect: Network is unreachable\n").await;
        return Ok(2);
    }
    call.out(format!("PING {target} ({address}) {size}({}) bytes of data.\n", size + 28)).await?;
    let mut sent = 0_u64;
    let start = call.phone.with(|phone| phone.world.uptime());
    loop {
        sent += 1;
        if answers && !quiet {
            call.out(format!(
                "{} bytes from {address}: icmp_seq={sent} ttl=64 time=0.0{LOOP} ms\n",
                size + 8
            ))
            .await?;
        }
        let spent = call.phone.with(|phone| phone.world.uptime()).saturating_sub(start).as_secs();
        let over = deadline.is_some_and(|deadline| spent + 1 >= deadline);
        if count == Some(sent) || over {
            break;
        }
        pause(&call, 1, count.is_some() || deadline.is_some()).await;
    }
    let received = if answers { sent } else { 0 };
    if !answers {
        pause(&call, deadline.unwrap_or(linger).min(linger), true).await;
    }
    let time = (sent - 1) * 1_000;
    let loss = if answers { 0 } else { 100 };
    call.out(format!(
        "\n--- {target} ping statistics ---\n{sent} packets transmitted, {received} received, {loss}% packet loss, time {time}ms\n"
    ))
    .await?;
    if !answers {
        call.out("\n").await?;
        return Ok(1);
    }
    call.out(format!("rtt min/avg/max/mdev = 0.0{LOOP}/0.0{LOOP}/0.0{LOOP}/0.000 ms\n")).await?;
    Ok(0)
}
