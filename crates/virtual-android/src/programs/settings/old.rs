//! `settings` as a Java program: `SettingsCmd.java` of Android 4.4, which gets and puts.

use super::{Invocation, MAX_LENGTH};
use thumbwire_virtual_shell::io::Status;

const USAGE: &str = "\
usage:  settings [--user NUM] get namespace key
        settings [--user NUM] put namespace key value

'namespace' is one of {system, secure, global}, case-insensitive
If '--user NUM' is not given, the operations are performed on the owner user.
";

/// `settings [--user N] get|put TABLE NAME [VALUE]`
pub(super) async fn settings(call: &Invocation) -> Status {
    match read(&call.args) {
        Ok(Command::Get(table, name)) => {
            let value = call
                .phone
                .with(|phone| phone.world.setting(&table, name).unwrap_or("null").to_owned());
            call.out(format!("{value}\n")).await?;
        }
        Ok(Command::Put(table, name, value)) => {
            if value.len() <= MAX_LENGTH && name.len() <= 256 {
                call.phone.with(|phone| phone.world.put_setting(&table, name, value));
            }
        }
        Err(reason) => call.err(format!("{reason}{USAGE}")).await,
    }
    Ok(0)
}

enum Command<'a> {
    Get(String, &'a str),
    Put(String, &'a str, &'a str),
}

/// The error is what it prints before its usage.
fn read(args: &[String]) -> Result<Command<'_>, String> {
    let mut words = Vec::new();
    let mut user = false;
    let mut rest = args.iter().map(String::as_str);
    // Fewer arguments are never a command.
    while let Some(arg) = rest.next().filter(|_| args.len() > 2) {
        if arg == "--user" {
            let id = rest.next().and_then(|id| id.parse::<i32>().ok());
            if user || id.is_none() {
                return Err(String::new());
            }
            user = true;
            continue;
        }
        match words.len() {
            0 if !["get", "put"].contains(&arg.to_ascii_lowercase().as_str()) => {
                return Err(format!("Invalid command: {arg}\n"));
            }
            1 if !["system", "secure", "global"].contains(&arg.to_ascii_lowercase().as_str()) => {
                return Err(format!("Invalid namespace '{arg}'\n"));
            }
            _ => words.push(arg),
        }
        let whole = if words[0].eq_ignore_ascii_case("get") { 3 } else { 4 };
        if words.len() == whole && rest.len() > 0 {
            return Err("Too many arguments\n".to_owned());
        }
    }
    match words.as_slice() {
        [get, table, name] if get.eq_ignore_ascii_case("get") => {
            Ok(Command::Get(table.to_ascii_lowercase(), name))
        }
        [put, table, name, value] if put.eq_ignore_ascii_case("put") => {
            Ok(Command::Put(table.to_ascii_lowercase(), name, value))
        }
        _ => Err(String::new()),
    }
}
