//! `cat` of old phones: mksh's own for plain files, which prints the shell's name, and with options
//! the NetBSD one of toolbox. Sources: `c_cat` in mksh R43, `cat.c` in `system/core/toolbox` of
//! Android 4.4, and a running 4.4.4.

use super::{ALL, Invocation};
use crate::io::Status;
use crate::programs::getopt::options;

/// `cat [-beflnstv] [FILE…]`
pub(in crate::programs) async fn cat(call: Invocation) -> Status {
    let (errors, letters, files) = options(&call, "beflnstv");
    if let Some(first) = errors.first() {
        call.err(format!("{first}usage: cat [-beflnstv] [-] [file ...]\n")).await;
        return Ok(1);
    }
    let cooked = letters.contains(['b', 'e', 'n', 's', 't', 'v']);
    let mut status = 0;
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for path in if files.is_empty() { vec!["-"] } else { files } {
        match call.open(path) {
            Err(reason) => {
                let who = match (cooked, letters.is_empty()) {
                    (true, _) => "fopen".to_owned(),
                    (false, true) => format!("/system/bin/sh: cat: {path}"),
                    (false, false) => path.to_owned(),
                };
                call.err(format!("{who}: {reason}\n")).await;
                status = 1;
            }
            Ok(input) if cooked => {
                let bytes = input.all(ALL).await;
                call.out(shown(&String::from_utf8_lossy(&bytes), &letters)).await?;
            }
            Ok(input) => loop {
                let chunk = input.chunk().await;
                if chunk.is_empty() {
                    break;
                }
                call.out(&chunk).await?;
            },
        }
    }
    Ok(status)
}

/// A text with numbered lines (`-n`; `-b` without empty ones), one empty line for many (`-s`), `$`
/// at line ends (`-e`) and `^I` for tabs (`-t`).
fn shown(text: &str, letters: &str) -> String {
    let (mut shown, mut number, mut empty) = (String::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        if letters.contains('s') && content.is_empty() && empty {
            continue;
        }
        empty = content.is_empty();
        if letters.contains('b') && !empty || letters.contains('n') && !letters.contains('b') {
            number += 1;
            shown.push_str(&format!("{number:>6}\t"));
        }
        match letters.contains('t') {
            true => shown.push_str(&content.replace('\t', "^I")),
            false => shown.push_str(content),
        }
        if letters.contains('e') {
            shown.push('$');
        }
        shown.push_str(&line[content.len()..]);
    }
    shown
}
