//! What each release of Android says to the same commands: a golden for each, and lines of real phones of that release that ours must
//! have too. Begin at [`COMMANDS`].

mod common;

use common::Wired;
use thumbwire_virtual_phone::Setup;

/// Asked on each release, one after the other. What is named differently there has its variants here.
const COMMANDS: &[&str] = &[
    "getprop | grep version",
    "getprop ro.build.fingerprint",
    "getprop ro.product.cpu.abilist",
    "id",
    "uname -a",
    "echo $PATH",
    "nosuchprogram",
    "wm size",
    "wm density",
    "wm",
    "wm user-rotation",
    "input",
    "input frobnicate",
    "input tap 1",
    "input text é",
    "input motionevent DOWN 1 2; input motionevent UP 1 2",
    "screencap -h",
    "settings get nospace x",
    "am start -W -n com.android.notes/.NotesActivity",
    "am start -n com.android.notes/.NotesActivity",
    "am start -n com.nope/.Nope",
    "am broadcast -a com.x.Y",
    "am stack list",
    "am force-stop",
    "pm path com.example.shop",
    "pm path com.android.settings",
    "ime set no.such/.Keyboard",
    "ime reset",
    "dumpsys window policy",
    "dumpsys window displays",
    "dumpsys window windows",
    "dumpsys activity activities",
    "dumpsys activity top",
    "dumpsys display",
    "dumpsys input_method",
    "dumpsys power",
    "dumpsys battery",
    "uiautomator dump /dev/tty | head -c 900",
];

/// Status, and what stood on either output, the errors marked.
async fn said(wired: &Wired, command: &str) -> String {
    let output = wired.run(command).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let errors: String = text(&output.stderr).lines().map(|line| format!("! {line}\n")).collect();
    let status = output.status.filter(|&status| status != 0);
    let status = status.map_or(String::new(), |status| format!("= {status}\n"));
    format!("$ {command}\n{}{errors}{status}\n", text(&output.stdout))
}

#[tokio::test]
async fn each_release_says_it_in_its_own_words() {
    for release in Setup::releases() {
        let wired = Wired::made(Setup::of_release(release).expect("it is there"));
        let mut all = String::new();
        for command in COMMANDS {
            all.push_str(&said(&wired, command).await);
        }
        insta::assert_snapshot!(format!("android-{release}"), all);
    }
}
