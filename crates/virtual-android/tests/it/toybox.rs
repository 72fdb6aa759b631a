//! Compares the phone's programs with the real ones: both must print the same and exit with the
//! same status.
//!
//! Android's programs are toybox's, and Debian packages that (0.8.9). What is not installed is
//! skipped, unless `THUMBWIRE_REQUIRE_REAL` is set. What the phone answers is a golden too, for
//! machines without them.

use crate::common::Wired;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use thumbwire_test_support::program;

/// Files that every script finds.
const FILES: &str = "printf 'alpha 1\\nbeta 22\\ngamma 333\\nbeta 22\\n' > t; printf 'b\\na\\nc' > s; \
                     printf 'x,y,z\\n1,2,3\\nnone\\n' > c; mkdir -p d/e; printf 'abc\\n' > d/f; printf 'A\\n' > d/e/g; \
                     printf '\\001\\002hello\\000world!\\377\\n' > b; ";

/// Scripts for toybox's programs, with standard error.
const SCRIPTS: &[&str] = &[
    // sed
    "sed s/a/X/ t",
    "sed s/a/X/g t",
    "sed -n s/beta/X/p t",
    "sed 's/\\(b\\)\\(e\\)/\\2\\1/' t",
    "sed -E 's/([a-z]+) ([0-9]+)/\\2 \\1/' t",
    "sed 's/[0-9]*/<&>/' t",
    "sed 's/x*/-/g' t",
    "sed 's,a,/,g' t",
    "sed 's/a\\/b/c/;s/[/]/x/' t",
    "sed 's/a/\\n/' t",
    "sed 2d t",
    "sed '2,3d' t",
    "sed '$d' t",
    "sed '/beta/d' t",
    "sed '/beta/!d' t",
    "sed -n '/beta/,/gamma/p' t",
    "sed -n '2,$p' t",
    "sed -n '2,+1p' t",
    "sed '2,1d' t",
    "sed -n '$p' t s",
    "sed -n '$=' t",
    "sed = s",
    "sed 1q t",
    "sed 'n;d' t",
    "sed '$!N;s/\\n/-/' t",
    "sed 'N;P;D' t",
    "sed -n 'H;${x;s/\\n/,/g;p}' t",
    "sed '1!G;h;$!d' t",
    "sed '2a after' t",
    "sed '2i before' t",
    "sed '2c changed' t",
    "sed '2,3c changed' t",
    "sed '1i\\\n one\\\n two' t",
    "sed y/abc/xyz/ t",
    "sed -e s/a/1/ -e s/b/2/ t",
    "sed ':a;s/^\\(.\\{1,8\\}\\)$/ \\1/;ta' s",
    "sed 's/beta/x/;t;s/$/!/' t",
    "sed -n '/beta/{s//Z/;p}' t",
    "sed -n l t",
    "sed s/B/x/I s",
    "sed -i s/a/Q/ t; cat t",
    "sed -i.bak s/a/Q/ t; cat t.bak",
    "sed 'w out' s; cat out",
    "sed '1r s' t",
    "printf 'a\\0b\\0' | sed -z s/^/x/ | tr '\\0' '\\n' 2>/dev/null || true",
    "sed s/a/b",
    "sed s/a",
    "sed k",
    "sed /a",
    "sed y/a/bc/ t",
    "sed '{p' t",
    "sed '}' t",
    "sed",
    "sed p nofile",
    "sed -Q",
    "sed -e",
    // cut, paste, uniq, tee
    "cut -d, -f1 c",
    "cut -d, -f2- c",
    "cut -d, -f-2 c",
    "head -n 2 c | cut -d, -f1,3",
    "head -n 2 c | cut -d, -f3,1",
    "cut -d, -f2 c",
    "cut -c1-3 t",
    "cut -c2,4 t",
    "cut -b1 t",
    "cut -d ' ' -f 2 t",
    "head -n 2 c | cut -O : -d , -f 1,2",
    "cut t",
    "cut -f",
    "cut -f1 nofile",
    "paste s c",
    "paste -d, s c",
    "paste -s s",
    "paste -sd, t",
    "paste - - < t",
    "uniq t",
    "sort t | uniq -c",
    "sort t | uniq -d",
    "sort t | uniq -u",
    "uniq -f 1 t",
    "uniq nofile",
    "echo x | tee o; cat o; echo y | tee -a o; cat o",
    "tee /nope/x < s",
    // sort
    "sort t",
    "sort -r t",
    "sort -u t",
    "sort -k2 t",
    "sort -k2n t",
    "sort -k2,2nr t",
    "sort -t, -k2 c",
    "printf '10\\n9\\n1\\n' | sort",
    "printf '10\\n9\\n1\\n' | sort -n",
    "printf 'b\\nA\\na\\nB\\n' | sort -f",
    "printf '1.5\\n-2\\n1e2\\n' | sort -g",
    "printf 'mar\\njan\\n' | sort -M",
    "printf 'a1\\na10\\na2\\n' | sort -V",
    "sort -o o t; cat o",
    "sort -c s; echo $?",
    "sort nofile",
    "sort -k",
    // find
    "find d | sort",
    "find d -name f",
    "find d -name '*' -type d | sort",
    "find d -iname G",
    "find . -maxdepth 1 -type f | sort",
    "find d -mindepth 2",
    "find d -type f -exec cat {} \\; | sort",
    "find d -type f -exec echo A {} + | wc -w",
    "find d ! -type d | sort",
    "find d -name f -o -name g | sort",
    "find d \\( -name f -o -name e \\) -type d",
    "find d -path '*e*' | sort",
    "find d -size +0c -type f | sort",
    "find d -type f -print0 | xargs -0 cat | sort",
    "find d -depth | tail -n 1",
    "find d -type f -delete | sort; find d | sort",
    "find d -name e -prune -o -print | sort",
    "find d -name f -printf '%f %P %s\\n'; find d -printf %d",
    "find d -empty",
    "find d -newer t -name nope",
    "find /nope",
    "find d -name",
    "find d -type q",
    "find d -exec",
    "find d -mtime x",
    "find d -quit",
    // xargs, timeout and others that run programs
    "printf 'a b\\nc' | xargs",
    "printf 'a b\\nc' | xargs -n 1 echo x",
    "printf 'a b c' | xargs -n 2",
    "printf 'a\\0b c\\0' | xargs -0 -n 1 echo",
    "xargs -r echo no < /dev/null; xargs < /dev/null",
    "echo 1 2 | xargs -t echo",
    "echo x | xargs sh -c 'exit 3'; echo $?",
    "echo x | xargs sh -c 'exit 255'; echo $?",
    "echo x | xargs nosuch; echo $?",
    // toybox 0.8.9 sometimes reports 127 for a program that ends at once.
    "timeout 5 sh -c 'sleep 0.1; echo x'; echo $?",
    "timeout 5 sh -c 'sleep 0.1; false'; echo $?",
    "timeout 0.1 sleep 5; echo $?",
    "timeout -s KILL 0.1 sleep 5; echo $?",
    "timeout 1 nosuch; echo $?",
    "timeout",
    "timeout x ls",
    "nohup",
    "nohup nosuch",
    "time nosuch 2>/dev/null; echo $?",
    // Checksums.
    "sha1sum t",
    "sha256sum < t",
    "sha512sum t s",
    "sha256sum t > x; sha256sum -c x",
    "sha1sum nofile",
    // Names.
    "basename /a/b.txt .txt; basename a/; basename /; basename -a x/y z; basename -s c abc",
    "basename",
    "basename a b c",
    "dirname /a/b /a a a/b/ /",
    "dirname",
    "realpath d/../t | sed 's,.*/,,'",
    "mktemp -u qq.XXXXXX | wc -c",
    "x=$(mktemp ./tmp.XXXXXX); [ -f $x ]; echo $?; y=$(mktemp -d -p d); [ -d $y ]; echo $?",
    "du nofile",
    "ln -s t l; readlink l; cat l",
    "mkdir q; rmdir q; rmdir q",
    "printenv NOPE; echo $?; A=1 printenv A",
    "nproc > /dev/null; echo $?",
    "nohup echo a; setsid -w echo b",
    // Numbers.
    "seq 3",
    "seq 2 4",
    "seq 1 3 10",
    "seq 5 -2 1",
    "seq -s, 4",
    "seq -w 8 11",
    "seq -f '%03g' 2",
    "seq 0.5 0.25 1",
    "seq 3 1",
    "seq",
    "seq x",
    "yes | head -n 3; yes a b | head -n 1",
    "free -Q",
];

#[tokio::test]
async fn programs_behave_as_in_toybox() {
    compare(SCRIPTS).await;
}

#[tokio::test]
async fn programs_answer_as_recorded() {
    let wired = Wired::new();
    let mut text = String::new();
    for script in SCRIPTS {
        let (status, out) = in_the_phone(&wired, script).await;
        text.push_str(&format!("$ {}\n{}", script.escape_debug(), out.replace('\0', "\\0")));
        if !out.is_empty() && !out.ends_with('\n') {
            text.push_str("[no newline]\n");
        }
        if status != 0 {
            text.push_str(&format!("[status {status}]\n"));
        }
    }
    insta::assert_snapshot!("toybox", text);
}

async fn compare(scripts: &[&str]) {
    if program("toybox").is_none() || program("mksh").is_none() {
        return;
    }
    let wired = Wired::new();
    let mut different = Vec::new();
    for script in scripts {
        let (real, ours) = (on_this_machine(script), in_the_phone(&wired, script).await);
        if ours != real {
            different.push(format!("{script:?}\n    real  {real:?}\n    phone {ours:?}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

fn on_path(program: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|path| path.join(program))
        .find(|path| path.exists())
}

fn on_this_machine(script: &str) -> (i32, String) {
    let folder = TempDir::new().expect("a folder");
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).expect("made");
    let link = |name: &str, real: std::path::PathBuf| {
        std::os::unix::fs::symlink(real, bin.join(name)).expect("linked");
    };
    link("sh", on_path("mksh").expect("found before"));
    if let Some(toybox) = on_path("toybox") {
        let names = Command::new(&toybox).output().expect("toybox runs").stdout;
        let names = String::from_utf8(names).expect("names");
        for name in names.split_whitespace().filter(|name| !name.starts_with('[')) {
            link(name, toybox.clone());
        }
    }
    let work = folder.path().join("work");
    std::fs::create_dir(&work).expect("made");
    let text = format!("{FILES}\n{{ {script}\n}} 2>&1");
    let output = Command::new(bin.join("sh"))
        .args(["-c", &text])
        .current_dir(work)
        .env_clear()
        .envs([
            ("PATH", format!("{}:/usr/bin:/bin", bin.display()).as_str()),
            ("HOME", "/"),
            ("LC_ALL", "C.UTF-8"),
        ])
        .stdin(Stdio::null())
        .output()
        .expect("mksh runs");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

async fn in_the_phone(wired: &Wired, script: &str) -> (i32, String) {
    let script = format!("cd /data/local/tmp; rm -rf *\n{FILES}\n{{ {script}\n}} 2>&1");
    let (status, out, _) = wired.all(&script).await;
    (status, out)
}
