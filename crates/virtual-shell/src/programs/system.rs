//! Identity of user and phone: `id`, `uname`, `which`, `env`.

use super::Invocation;
use super::launch::launch;
use super::options::{Failure, Options, Outcome};
use crate::io::Status;

/// `id [-GZgnru] [USER]`
pub(super) async fn id(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "ZnGgru", &[])?;
    let (id, name) = match options.rest.first().map(String::as_str) {
        None | Some("2000" | "shell") => (2_000, "shell"),
        Some("0" | "root") => (0, "root"),
        Some(given) => return Err(Failure::new(format!("not integer: {given}"))),
    };
    let own = format!("{id}({name})");
    let groups = if id == 0 { own.as_str() } else { call.userland().groups };
    let context = if id == 0 { "" } else { "u:r:shell:s0" };
    let part = |text: &str| match options.has('n') {
        true => text.split_once('(').map_or("", |(_, name)| name.trim_end_matches(')')).to_owned(),
        false => text.split('(').next().unwrap_or_default().to_owned(),
    };
    let text = if options.has('Z') {
        context.to_owned()
    } else if options.has('u') || options.has('g') {
        part(&own)
    } else if options.has('G') {
        groups.split(',').map(part).collect::<Vec<_>>().join(" ")
    } else {
        let context =
            if context.is_empty() { String::new() } else { format!(" context={context}") };
        format!("uid={own} gid={own} groups={groups}{context}")
    };
    call.out(format!("{text}\n")).await?;
    Ok(0)
}

/// `id` of toolbox, which ignores its arguments: capture `010-id`.
pub(super) async fn old_id(call: Invocation) -> Status {
    let groups = call.userland().groups;
    call.out(format!("uid=2000(shell) gid=2000(shell) groups={groups}\n")).await.map(|()| 0)
}

/// `whoami`
pub(super) async fn whoami(call: &Invocation) -> Outcome {
    Options::read(&call.args, "", &[])?.at_most(0)?;
    call.out("shell\n").await?;
    Ok(0)
}

/// `uname [-amnoprsv]`
pub(super) async fn uname(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "paomvrns", &[])?;
    let (kernel, built) = (call.userland().kernel, call.userland().built.replace("  ", " "));
    let version = format!("#1 SMP PREEMPT {built}");
    let parts = [
        ('s', "Linux"),
        ('n', "localhost"),
        ('r', kernel),
        ('v', version.as_str()),
        ('m', "aarch64"),
        ('o', "Toybox"),
    ];
    let none = options.given().next().is_none();
    let shown = |letter| options.has('a') || options.has(letter) || none && letter == 's';
    let shown: Vec<&str> =
        parts.into_iter().filter(|(letter, _)| shown(*letter)).map(|(_, part)| part).collect();
    call.out(format!("{}\n", shown.join(" "))).await?;
    Ok(0)
}

/// `which [-a] NAME…`
pub(super) async fn which(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "a", &[])?;
    options.at_least(1)?;
    let path = call.env.iter().find(|(name, _)| name == "PATH");
    let folders = path.map_or("/system/bin", |(_, path)| path.as_str());
    let runs = |path: &String| {
        let stat = call.system.with(|kernel| kernel.files.stat(&call.path(path), true));
        stat.is_ok_and(|stat| stat.kind == crate::files::FileType::File && stat.mode & 0o111 != 0)
    };
    let mut status = 0;
    for name in &options.rest {
        let paths = match name.contains('/') {
            true => vec![name.clone()],
            false => folders.split(':').map(|folder| format!("{folder}/{name}")).collect(),
        };
        let max_found = if options.has('a') { usize::MAX } else { 1 };
        let found: Vec<String> = paths.into_iter().filter(runs).take(max_found).collect();
        status |= i32::from(found.is_empty());
        for path in found {
            call.out(format!("{path}\n")).await?;
        }
    }
    Ok(status)
}

/// `env [-0i] [-u NAME] [NAME=VALUE…] [COMMAND…]`
pub(super) async fn env(call: &Invocation) -> Outcome {
    let long = [("ignore-environment", 'i'), ("null", '0'), ("unset", 'u')];
    let options = Options::read(&call.args, "+0iu:", &long)?;
    let mut inner = call.clone();
    if options.has('i') {
        inner.env.clear();
    }
    inner.env.retain(|(name, _)| options.values('u').all(|unset| unset != name));
    let mut rest = options.rest.as_slice();
    while let Some((name, value)) = rest.first().and_then(|word| word.split_once('=')) {
        inner.env.retain(|(known, _)| known != name);
        inner.env.push((name.to_owned(), value.to_owned()));
        rest = &rest[1..];
    }
    if !rest.is_empty() {
        return Ok(launch(&inner, rest, Some(call.running.pid), &call.io).await?);
    }
    let end = if options.has('0') { '\0' } else { '\n' };
    let text: String =
        inner.env.iter().map(|(name, value)| format!("{name}={value}{end}")).collect();
    call.out(text).await?;
    Ok(0)
}

/// `printenv [-0] [NAME…]`
pub(super) async fn printenv(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "0", &[("null", '0')])?;
    let end = if options.has('0') { '\0' } else { '\n' };
    if options.rest.is_empty() {
        let text: String =
            call.env.iter().map(|(name, value)| format!("{name}={value}{end}")).collect();
        call.out(text).await?;
        return Ok(0);
    }
    let mut status = 0;
    for name in &options.rest {
        match call.env.iter().find(|(known, _)| known == name) {
            Some((_, value)) => call.out(format!("{value}{end}")).await?,
            None => status = 1,
        }
    }
    Ok(status)
}
