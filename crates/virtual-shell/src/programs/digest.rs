//! Checksums: `md5sum`, `sha1sum`, `sha256sum`, `sha512sum`, and the `md5` of toolbox.

use super::Invocation;
use super::options::{Failure, Lines, Options, Outcome, open};
use crate::io::Input;
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// A checksum in progress. The crates use different versions of their common trait.
trait Checksum: Send {
    fn add(&mut self, bytes: &[u8]);
    fn end(self: Box<Self>) -> Vec<u8>;
}

macro_rules! checksums {
    ($($crate_name:ident: $($kind:ty),*;)*) => {
        $($(impl Checksum for $kind {
            fn add(&mut self, bytes: &[u8]) {
                $crate_name::Digest::update(self, bytes);
            }

            fn end(self: Box<Self>) -> Vec<u8> {
                $crate_name::Digest::finalize(*self).to_vec()
            }
        })*)*
    };
}

checksums! {
    md5: Md5;
    sha1: Sha1;
    sha2: Sha256, Sha512;
}

fn digest(name: &str) -> Box<dyn Checksum> {
    match name {
        "sha1sum" => Box::<Sha1>::default(),
        "sha512sum" => Box::<Sha512>::default(),
        "md5" | "md5sum" => Box::<Md5>::default(),
        _ => Box::<Sha256>::default(),
    }
}

async fn sum(name: &str, input: &Input) -> String {
    let mut digest = digest(name);
    loop {
        let chunk = input.chunk().await;
        if chunk.is_empty() {
            break;
        }
        digest.add(&chunk);
        tokio::task::coop::consume_budget().await;
    }
    digest.end().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `md5sum [-bcs] [FILE…]`, `sha256sum` and its like.
pub(super) async fn shasum(call: &Invocation) -> Outcome {
    let options =
        Options::read(&call.args, "bcs", &[("check", 'c'), ("status", 's'), ("brief", 'b')])?;
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        if options.has('c') {
            check(call, &options, input, &mut status).await?;
            continue;
        }
        let sum = sum(&call.name, &input).await;
        let name = if options.has('b') { String::new() } else { format!("  {path}") };
        call.out(format!("{sum}{name}\n")).await?;
    }
    Ok(status)
}

async fn check(
    call: &Invocation,
    options: &Options,
    input: Input,
    status: &mut i32,
) -> Result<(), Failure> {
    let mut lines = Lines::new(input);
    while let Some((line, _)) = lines.next().await {
        let line = String::from_utf8_lossy(&line).into_owned();
        let Some((wanted, path)) = line.split_once(' ') else { continue };
        let path = path.trim_start_matches([' ', '*']);
        let Some(input) = open(call, path, status).await else { continue };
        let same = sum(&call.name, &input).await.eq_ignore_ascii_case(wanted);
        *status |= i32::from(!same);
        if !options.has('s') {
            let result = if same { "OK" } else { "FAILED" };
            call.out(format!("{path}: {result}\n")).await?;
        }
    }
    Ok(())
}

/// `md5 FILE…` of toolbox: `md5.c`.
pub(super) async fn md5(call: &Invocation) -> Outcome {
    if call.args.is_empty() {
        call.err("md5 file ...\n").await;
        return Ok(1);
    }
    let mut status = 0;
    for path in &call.args {
        match call.open(path) {
            Ok(input) => {
                let sum = sum("md5", &input).await;
                call.out(format!("{sum}  {path}\n")).await?;
            }
            Err(reason) => {
                call.err(format!("could not open {path}, {reason}\n")).await;
                status = 1;
            }
        }
    }
    Ok(status)
}
