//! Golden files that are not insta's: pages of docs, pictures, lists of digests.

use std::path::{Path, PathBuf};

/// Writes what a test made where `INSTA_UPDATE` says, as insta does: with `always` over the golden
/// file, with `new` beside it as `FILE.new`, which `just bless` shows and moves. Whether it was
/// written.
pub fn update_golden(path: &Path, now: &[u8]) -> bool {
    let path = match std::env::var("INSTA_UPDATE").as_deref() {
        Ok("always") => path.to_owned(),
        Ok("new") => new_file(path),
        _ => return false,
    };
    std::fs::write(&path, now).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    println!("written: {}", path.display());
    true
}

fn new_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Fails unless the golden file has this text, or `INSTA_UPDATE` accepts it ([`update_golden`]).
pub fn assert_golden(path: &Path, now: &str) {
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    if kept == now || update_golden(path, now.as_bytes()) {
        return;
    }
    let line = kept.lines().zip(now.lines()).take_while(|(kept, now)| kept == now).count();
    let [kept, now] = [&kept, now].map(|text| text.lines().nth(line).unwrap_or("(its end)"));
    let path = path.display();
    panic!("{path} is outdated; see `just bless`. Line {}:\n- {kept}\n+ {now}", line + 1);
}
