//! `xxd`, with toybox's texts.

use super::Invocation;
use super::options::{ALL, Options, Outcome, open};

/// `xxd [-pr] [-c COLUMNS] [-g GROUP] [-l LENGTH] [-o OFFSET] [-s SKIP] [FILE]`
pub(super) async fn xxd(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "c:l:o:g:prs:", &[])?;
    options.at_most(1)?;
    let plain = options.has('p');
    let columns = options.number('c')?.map_or(if plain { 30 } else { 16 }, |n| n as usize).min(256);
    let default_group = if plain { columns } else { 2 };
    let group = options.number('g')?.map_or(default_group, |n| n as usize);
    let skip = options.number('s')?.unwrap_or(0);
    let end = options.number('l')?.unwrap_or(ALL).saturating_add(skip);
    let mut status = 0;
    let Some(input) = open(call, options.files()[0], &mut status).await else { return Ok(status) };
    let bytes = input.all(end.min(ALL)).await;
    if options.has('r') {
        call.out(reversed(&bytes, plain, columns)).await?;
        return Ok(0);
    }
    let bytes = bytes.get(skip as usize..).unwrap_or_default();
    let mut place = options.number('o')?.unwrap_or(0).saturating_add(skip);
    let row_length = if columns == 0 { bytes.len().max(1) } else { columns };
    for row in bytes.chunks(row_length) {
        let mut text = if plain { String::new() } else { format!("{place:08x}: ") };
        let mut space = 2 * columns + if group > 0 { columns.div_ceil(group) + 1 } else { 2 };
        for (nth, byte) in row.iter().enumerate() {
            text += &format!("{byte:02x}");
            space = space.saturating_sub(2);
            if group > 0 && (nth + 1) % group == 0 {
                // A line of `-p` ends without one.
                if !plain || nth + 1 < row.len() || options.has('g') {
                    text.push(' ');
                }
                space = space.saturating_sub(1);
            }
        }
        if !plain {
            text.extend(std::iter::repeat_n(' ', space));
            let shown = |byte: &u8| if (b' '..=b'~').contains(byte) { *byte } else { b'.' };
            text.extend(row.iter().map(|byte| char::from(shown(byte))));
        }
        text.push('\n');
        call.out(text).await?;
        place = place.saturating_add(row.len() as u64);
    }
    Ok(0)
}

/// The bytes of a dump. Offsets are not followed: the lines are expected in order.
fn reversed(dump: &[u8], plain: bool, columns: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in String::from_utf8_lossy(dump).lines() {
        let text = match line.split_once(": ") {
            Some((_, text)) if !plain => text,
            _ => line,
        };
        let mut digits = text.chars().peekable();
        let mut read = 0;
        while plain || columns == 0 || read < columns {
            let mut digit = || digits.next().and_then(|c| c.to_digit(16));
            let (Some(high), Some(low)) = (digit(), digit()) else { break };
            bytes.push((high << 4 | low) as u8);
            read += 1;
            digits.next_if_eq(&' ');
        }
    }
    bytes
}
