//! Programs that never end or grow without bound by themselves are ended, and the phone goes on.

use crate::common::Wired;
use std::time::Duration;
use thumbwire_virtual_android::{ClockMode, Setup};

fn wired() -> Wired {
    Wired::made(Setup { clock: ClockMode::Virtual, ..Setup::default() })
}

/// The status and the output of a command, which must end.
async fn answer(wired: &Wired, command: &str) -> (i32, String) {
    let ended = tokio::time::timeout(Duration::from_secs(60), wired.all(command)).await;
    let (status, out, err) = ended.unwrap_or_else(|_| panic!("hangs: {command}"));
    (status, format!("{out}{err}"))
}

#[tokio::test]
async fn endless_programs_end_at_their_time_limit() {
    let wired = wired();
    for command in [
        "timeout 1 yes > /dev/null",
        "echo x | timeout 1 sed ':a;ba'",
        "timeout 1 seq 1 0.0000001 1000000000 > /dev/null",
        "timeout 1 sh -c 'while true; do :; done'",
        "timeout 1 sleep 1000",
        "timeout 1 tr a b < /dev/zero > /dev/null",
    ] {
        assert_eq!(answer(&wired, command).await, (124, String::new()), "{command}");
    }
}

#[tokio::test]
async fn time_limit_moves_the_clock_no_further() {
    let wired = wired();
    let (status, out) = answer(
        &wired,
        "a=$(date +%s); timeout 5 sh -c 'sleep 100; echo late'; b=$(date +%s); echo $((b-a))",
    )
    .await;
    assert_eq!((status, out.as_str()), (0, "5\n"));
    let (_, out) =
        answer(&wired, "a=$(date +%s); timeout 5 sleep 2; echo $?; b=$(date +%s); echo $((b-a))")
            .await;
    assert_eq!(out, "0\n2\n");
    let (_, out) =
        answer(&wired, "timeout -k 3 5 sh -c 'trap \"\" TERM; sleep 100; echo late'; echo $?")
            .await;
    assert_eq!(out, "137\n");
}

#[tokio::test]
async fn nesting_is_refused_at_a_limit() {
    let wired = wired();
    let deep = |text: &str, times: usize| text.repeat(times);
    for (command, status, said) in [
        (format!("find / {} -true", deep("\\( ", 5_000)), 1, "nested too deeply"),
        (format!("find / -maxdepth 0 {} -true", deep("! ", 5_000)), 0, "/\n"),
        (format!("echo x | sed '{}p{}'", deep("{", 5_000), deep("}", 5_000)), 1, "script too long"),
        (format!("{}true", deep("timeout 9 ", 200)), 126, "nested too deeply"),
        (format!("{}true", deep("toybox ", 5_000)), 0, ""),
        (format!("echo true | {}", deep("xargs ", 200)), 126, "nested too deeply"),
    ] {
        let shown: String = command.chars().take(60).collect();
        let (ended, out) = answer(&wired, &command).await;
        let right = if said.is_empty() { out.is_empty() } else { out.contains(said) };
        assert!(ended == status && right, "{shown}: {ended} {out}");
    }
    assert_eq!(answer(&wired, "echo alive").await, (0, "alive\n".to_owned()));
}

#[tokio::test]
async fn growth_is_refused_at_a_limit() {
    let wired = wired();
    for (command, said) in [
        ("echo a | sed ':a;G;h;ba'", "out of memory"),
        ("seq 1000000000000 | head -n 2", "1\n2\n"),
        ("yes | head -n 1", "y\n"),
        ("x=$(yes); echo ${#x}", "1048575\n"),
        ("x=a; while :; do x=$x$x || exit; done", "value too long"),
        (
            "set -A a x; while :; do a[i++]=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
            "out of memory",
        ),
        ("alias a='a a a'\na", "a: inaccessible"),
        ("x='x+1'; echo $((x))", "expression recurses on parameter 'x'"),
        ("exec 0<&0 1>&1 3<&0 </dev/stdin 0<&3; cat; echo alive", "alive\n"),
    ] {
        let (_, out) = answer(&wired, &format!("cd /data/local/tmp; {command}")).await;
        assert!(out.contains(said), "{command}: {}", out.chars().take(200).collect::<String>());
    }
}

#[tokio::test]
async fn hostile_patterns_end() {
    let wired = wired();
    let line = "a".repeat(3_000);
    for command in [
        format!("echo {line} | sed -E 's/(a*)*b/x/'"),
        format!("echo {line} | grep -vE '^(a|aa)+b$'"),
        format!("x={line}; echo ${{x//*a*a*b/y}}"),
        format!("x={line}; echo ${{x%%*a*a*b}}"),
    ] {
        assert_eq!(answer(&wired, &command).await, (0, format!("{line}\n")));
    }
}
