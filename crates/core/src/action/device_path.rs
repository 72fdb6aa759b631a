//! Paths on the phone that callers choose: which folders they may be in.
//!
//! Start with [`check_device_path`]. Shared storage and the shell's own folder are where people and
//! `adb` keep files; the rest belongs to the system and to apps.

/// The folders in which files may be written and read, with what is below them.
pub const DEVICE_FOLDERS: [&str; 3] = ["/sdcard/", "/storage/", "/data/local/tmp/"];

/// The shell's own folder, where Thumbwire's files are, and what their names contain. What is in
/// them runs as the shell, or changes settings.
const SHELL_FOLDER: &str = "/data/local/tmp/";
const OURS: &str = "thumbwire";

/// The longest path, in bytes: the limit of ADB's sync service.
const MAX_LENGTH: usize = 1024;

/// Checks the path of a file on the phone.
///
/// # Errors
/// Why it is refused, and what is allowed.
pub fn check_device_path(path: &str) -> Result<(), String> {
    if path.len() > MAX_LENGTH {
        return Err(format!("it has {} bytes; {MAX_LENGTH} are allowed", path.len()));
    }
    if !path.starts_with('/') {
        return Err(format!("it is not absolute; {}", allowed()));
    }
    if let Some(invalid) = path.chars().find(|c| c.is_control()) {
        return Err(format!("it contains the control character {invalid:?}; remove it"));
    }
    if path.split('/').skip(1).any(|part| matches!(part, "" | "." | "..")) {
        return Err("it has an empty part, `.` or `..`; give the plain path of a file".into());
    }
    // Whatever leads to it: a link in the folder may be another name of the folder. Dalvik keeps
    // the helper's code in `dalvik-cache/data@local@tmp@thumbwire-helper-1.jar@classes.dex`.
    let name = path.rsplit('/').next().unwrap_or_default();
    if path.starts_with(SHELL_FOLDER) && name.to_lowercase().contains(OURS) {
        return Err("Thumbwire keeps its own files there; choose another name".into());
    }
    match DEVICE_FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        true => Ok(()),
        false => Err(allowed()),
    }
}

fn allowed() -> String {
    "files on the phone may be in /sdcard, /storage and /data/local/tmp only".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_shared_storage_and_of_the_shell_are_allowed() {
        for path in [
            "/sdcard/Download/a b.txt",
            "/sdcard/x",
            "/storage/emulated/0/DCIM/1.jpg",
            "/data/local/tmp/-rf",
            "/sdcard/thumbwire-demo.mp4",
            "/sdcard/$(id)'\"`;",
            "/sdcard/..x/...",
        ] {
            assert_eq!(check_device_path(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn other_paths_are_refused_with_the_reason() {
        for (path, reason) in [
            ("", "not absolute"),
            ("sdcard/x", "not absolute"),
            ("-rf", "not absolute"),
            ("/data/data/com.x/files/x", "may be in /sdcard"),
            ("/data/local/tmpx/x", "may be in /sdcard"),
            ("/sdcardx", "may be in /sdcard"),
            ("/sdcard", "may be in /sdcard"),
            ("/system/build.prop", "may be in /sdcard"),
            ("/sdcard/../data/data/x", "`..`"),
            ("/sdcard/./x", "`..`"),
            ("/sdcard//x", "empty part"),
            ("//sdcard/x", "empty part"),
            ("/sdcard/x/", "empty part"),
            ("/data/local/tmp/thumbwire-helper-1.jar", "its own files"),
            ("/data/local/tmp/link/.Thumbwire-orientation", "its own files"),
            ("/data/local/tmp/dalvik-cache/data@thumbwire-helper-1.jar@classes.dex", "own files"),
            ("/sdcard/x\0y", "'\\0'"),
            ("/sdcard/x\ny", "'\\n'"),
        ] {
            let error = check_device_path(path).unwrap_err();
            assert!(error.contains(reason), "{path:?}: {error}");
        }
        let long = format!("/sdcard/{}", "x".repeat(2000));
        assert!(check_device_path(&long).unwrap_err().contains("1024 are allowed"));
    }
}
