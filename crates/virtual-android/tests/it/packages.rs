//! Installing, querying and removing apps with `pm` and `cmd package`. The APKs are those of
//! `fixtures/apk`.

use crate::common::Wired;
use thumbwire_test_support::captured_files;
use thumbwire_virtual_android::Setup;

/// A file of `fixtures/apk`.
fn apk(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/apk/{name}.apk", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).expect(&path)
}

const THERE: &str = "/data/local/tmp/x.apk";

/// A phone to which files can be pushed.
fn phone(android: &str) -> Wired {
    Wired::made(Setup::of_release(android).expect("a release"))
}

impl Wired {
    fn put(&self, path: &str, bytes: &[u8]) {
        self.phone.files(|files| files.write(path, bytes, 0o644)).expect("written");
    }

    /// The output of an old phone's shell, with line ends converted; it has no status.
    async fn terminal(&self, command: &str) -> String {
        let output = self.run(command).await;
        String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")
    }

    /// Runs `pm install` for a fixture, with options; returns its status and output.
    async fn install(&self, name: &str, options: &str) -> (i32, String) {
        self.put(THERE, &apk(name));
        let (status, out, err) = self.all(&format!("pm install {options} {THERE}")).await;
        (status, format!("{out}{err}"))
    }
}

#[tokio::test(start_paused = true)]
async fn installed_app_is_listed_started_queried_and_removed() {
    let wired = phone("14");
    assert_eq!(wired.install("clock-in", "-g -i com.shop").await, (0, "Success\n".to_owned()));
    let listed = wired.stdout("pm list packages -3 -U --show-versioncode -i clockin").await;
    assert_eq!(listed, "package:org.example.clockin versionCode:7  installer=com.shop uid:10115\n");
    let path = wired.stdout("pm path org.example.clockin").await;
    let path = path.trim().strip_prefix("package:").expect("a path").to_owned();
    assert!(path.starts_with("/data/app/~~") && path.ends_with("/base.apk"), "{path}");
    assert_eq!(
        wired.stdout("pm list packages -f clockin").await,
        format!("package:{path}=org.example.clockin\n")
    );
    let held = |wired: &Wired| {
        let all = wired.phone.world(|world| world.runtime_permissions("org.example.clockin"));
        all.into_iter().map(|it| (it.name, it.granted)).collect::<Vec<_>>()
    };
    // `-g` grants without asking.
    assert_eq!(held(&wired), [("android.permission.POST_NOTIFICATIONS".to_owned(), true)]);
    let sum = wired.stdout(&format!("md5sum {path}")).await;
    let same = wired.stdout(&format!("md5sum {THERE}")).await;
    assert_eq!(sum.split(' ').next(), same.split(' ').next());
    assert_eq!(wired.run(&format!("echo x > {path}")).await.status, Some(1));
    assert!(wired.all("ls /data/app").await.2.contains("Permission denied"));
    assert!(wired.all("ls /data/data/org.example.clockin").await.2.contains("Permission denied"));

    wired.stdout("monkey -p org.example.clockin -c android.intent.category.LAUNCHER 1").await;
    // An alias resolves to its activity.
    let front = wired.phone.world(|world| world.foreground().short());
    assert_eq!(front, "org.example.clockin/.InnerActivity");
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    for words in ["Clock In", "InnerActivity", "None of this app&apos;s code runs"] {
        assert!(dump.contains(words) || dump.contains(&words.replace("&apos;", "'")), "{dump}");
    }
    let link = wired.stdout("am start -W -a android.intent.action.VIEW -d clockin://day/3").await;
    assert!(link.contains("Activity: org.example.clockin/.LinkActivity"), "{link}");

    let dumped = wired.stdout("dumpsys package org.example.clockin").await;
    for words in [
        "versionCode=7 minSdk=26 targetSdk=34",
        "versionName=1.4.2",
        "apkSigningVersion=3",
        "installerPackageName=com.shop",
        "requested permissions:\n      android.permission.POST_NOTIFICATIONS\n",
        "Service Resolver Table:\n  Non-Data Actions:\n      mobile.mcp.SERVICE:\n",
    ] {
        assert!(dumped.contains(words), "{words} in {dumped}");
    }
    assert_eq!(wired.stdout("pm dump org.example.clockin").await, dumped);

    assert_eq!(wired.stdout("pm uninstall org.example.clockin").await, "Success\n");
    wired.install("clock-in", "").await;
    assert!(held(&wired).iter().all(|(_, granted)| !granted), "permissions go with the app");
    assert_eq!(wired.stdout("pm uninstall org.example.clockin").await, "Success\n");
    assert_eq!(wired.run("pm path org.example.clockin").await.status, Some(1));
    assert!(wired.all(&format!("ls {path}")).await.2.contains("No such file"));
    let front = wired.phone.world(|world| world.foreground().package);
    assert_eq!(front, "com.android.launcher3");
    assert_eq!(
        wired.all("pm uninstall org.example.clockin").await,
        (1, "Failure [DELETE_FAILED_INTERNAL_ERROR]\n".to_owned(), String::new())
    );
}

#[tokio::test(start_paused = true)]
async fn services_are_found_by_action() {
    let wired = phone("14");
    wired.install("clock-in", "").await;
    let ask = |rest: &str| format!("cmd package {rest}");
    assert_eq!(
        wired.stdout(&ask("query-services --components -a mobile.mcp.SERVICE")).await,
        "org.example.clockin/.ToolService\ncom.android.notes/.ToolService\ncom.example.shop/.ToolService\n"
    );
    assert_eq!(
        wired
            .stdout(&ask("query-services --brief -a mobile.mcp.SERVICE org.example.clockin"))
            .await,
        "1 services found:\n  Service #0:\n    priority=3 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n    org.example.clockin/.ToolService\n"
    );
    let full = wired.stdout(&ask("query-services -a mobile.mcp.SERVICE")).await;
    for words in [
        "    ServiceInfo:\n      name=org.example.clockin.ToolService\n",
        "      permission=org.example.clockin.USE\n",
        "exported=true",
    ] {
        assert!(full.contains(words), "{full}");
    }
    assert_eq!(wired.stdout(&ask("query-services -a none")).await, "No services found\n");
    assert_eq!(
        wired
            .stdout(&ask("query-receivers --components -a android.intent.action.BOOT_COMPLETED"))
            .await,
        "org.example.clockin/.BootReceiver\n"
    );
    assert_eq!(
        wired.stdout(&ask("resolve-activity --brief org.example.clockin")).await,
        "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\norg.example.clockin/.Front\n"
    );
    let icons = ask(
        "query-activities --components -a android.intent.action.MAIN -c android.intent.category.LAUNCHER",
    );
    let icons = wired.stdout(&icons).await;
    assert!(
        icons.contains("org.example.clockin/.Front\n") && icons.lines().count() > 10,
        "{icons}"
    );
}

#[tokio::test(start_paused = true)]
async fn invalid_apks_get_androids_errors() {
    let wired = phone("14");
    assert_eq!(wired.install("hello-2", "").await.1, "Success\n");
    for (name, options, stdout) in [
        (
            "hello-1",
            "-r",
            "INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code 1 is older than current 2",
        ),
        (
            "hello-2",
            "-R",
            "INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install org.example.hello without first uninstalling.",
        ),
        (
            "hello-1-other-key",
            "-d",
            "INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package org.example.hello signatures do not match newer version; ignoring!",
        ),
        (
            "test-only",
            "",
            "INSTALL_FAILED_TEST_ONLY: Failed to install test-only apk. Did you forget to add -t?",
        ),
        (
            "native",
            "",
            "INSTALL_FAILED_NO_MATCHING_ABIS: Failed to extract native libraries, res=-113",
        ),
        (
            "v1-only",
            "",
            "INSTALL_PARSE_FAILED_NO_CERTIFICATES: No signature found in package of version 2 or newer for package org.example.v1only",
        ),
        ("split-base", "", "INSTALL_FAILED_MISSING_SPLIT: Missing split for org.example.split"),
        (
            "split-config",
            "",
            "INSTALL_FAILED_INVALID_APK: Full install must include a base package: splits=[config.en]",
        ),
    ] {
        let refused = (1, format!("Failure [{stdout}]\n"));
        assert_eq!(wired.install(name, options).await, refused, "{name}");
    }
    let (status, stdout) = wired.install("hello-1-unsigned", "-d").await;
    assert_eq!(status, 1);
    let output = stdout.replace(|c: char| c.is_ascii_digit(), "");
    assert_eq!(
        output,
        "Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES: Failed to collect certificates from /data/app/vmdl.tmp/base.apk: Attempt to get length of null array]\n"
    );
    assert_eq!(wired.install("test-only", "-t").await.1, "Success\n");
    // It is debuggable, so a downgrade is allowed.
    assert_eq!(wired.install("hello-1", "-d").await.1, "Success\n");
    assert!(
        wired.stdout("pm list packages --show-versioncode hello").await.contains("versionCode:1\n")
    );
}

#[tokio::test(start_paused = true)]
async fn unreadable_file_fails_before_a_session_opens() {
    let wired = phone("14");
    let (status, stdout) = wired.install("future", "").await;
    assert_eq!(status, 255);
    assert!(
        stdout.contains("java.lang.IllegalArgumentException: Error: Failed to parse APK file: /data/local/tmp/x.apk: Requires newer sdk version #99 (current version is #34)"),
        "{stdout}"
    );
    wired.put("/sdcard/x.apk", &apk("hello-1"));
    let (status, _, err) = wired.all("pm install /sdcard/x.apk").await;
    assert_eq!(status, 255);
    assert!(
        err.starts_with("Error: Unable to open file: /sdcard/x.apk\nConsider using a file under /data/local/tmp/\nError: Can't open file: /sdcard/x.apk\n"),
        "{err}"
    );
    let (status, _, err) = wired.all("pm install -z x").await;
    assert_eq!(status, 255);
    assert!(err.contains("Unknown option -z"), "{err}");
    let (status, out, _) = wired.all("pm install").await;
    assert_eq!(
        (status, out.as_str()),
        (1, "Error: must either specify a package size or an APK file\n")
    );
}

#[tokio::test(start_paused = true)]
async fn garbage_over_the_stream_gets_the_parsers_error() {
    let wired = phone("14");
    let whole = apk("hello-1");
    let mut flipped = whole.clone();
    flipped[100] ^= 1;
    for (bytes, stdout) in [
        (
            b"no apk at all".to_vec(),
            "INSTALL_PARSE_FAILED_NOT_APK: Failed to parse PATH: Failed to load asset path PATH",
        ),
        (
            whole[..whole.len() / 2].to_vec(),
            "INSTALL_PARSE_FAILED_NOT_APK: Failed to parse PATH: Failed to load asset path PATH",
        ),
        (
            flipped,
            "INSTALL_PARSE_FAILED_UNEXPECTED_EXCEPTION: Failed to parse PATH: AndroidManifest.xml",
        ),
    ] {
        wired.put(THERE, &bytes);
        let size = bytes.len();
        let (status, out, _) =
            wired.all(&format!("cat {THERE} | cmd package install -S {size}")).await;
        let digits = out.replace(|c: char| c.is_ascii_digit(), "");
        let output = stdout.replace("PATH", "/data/app/vmdl.tmp/base.apk");
        assert_eq!((status, digits), (1, format!("Failure [{output}]\n")));
    }
    assert!(wired.all("ls -d /data/app/vmdl*").await.1.is_empty(), "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn session_installs_a_base_and_its_splits() {
    let wired = phone("14");
    wired.put("/data/local/tmp/b.apk", &apk("split-base"));
    wired.put("/data/local/tmp/c.apk", &apk("split-config"));
    let created = wired.stdout("pm install-create -r").await;
    let id = created.split(['[', ']']).nth(1).expect("a number").to_owned();
    assert_eq!(created, format!("Success: created install session [{id}]\n"));
    let size = apk("split-config").len();
    let output = wired
        .stdout(&format!("cat /data/local/tmp/c.apk | pm install-write -S {size} {id} 0_c.apk -"))
        .await;
    assert_eq!(output, format!("Success: streamed {size} bytes\n"));
    wired.stdout(&format!("pm install-write {id} 1_b.apk /data/local/tmp/b.apk")).await;
    assert_eq!(wired.stdout(&format!("pm install-commit {id}")).await, "Success\n");
    let paths = wired.stdout("pm path org.example.split").await;
    let names: Vec<&str> = paths.lines().filter_map(|line| line.rsplit('/').next()).collect();
    assert_eq!(names, ["base.apk", "split_config.en.apk"]);
    assert!(
        wired
            .stdout("dumpsys package org.example.split")
            .await
            .contains("splits=[base, config.en]")
    );
    let (status, _, err) = wired.all(&format!("pm install-commit {id}")).await;
    assert_eq!(status, 255);
    assert!(
        err.contains(&format!("SecurityException: Caller has no access to session {id}")),
        "{err}"
    );

    let created = wired.stdout("pm install-create").await;
    let id = created.split(['[', ']']).nth(1).expect("a number").to_owned();
    assert_eq!(wired.stdout(&format!("pm install-abandon {id}")).await, "Success\n");
}

#[tokio::test(start_paused = true)]
async fn update_keeps_the_uid_and_moves_the_file() {
    let wired = phone("14");
    wired.install("hello-1", "").await;
    let uid = wired.stdout("pm list packages -U hello").await;
    let before = wired.stdout("pm path org.example.hello").await;
    wired.stdout("am start -n org.example.hello/.AboutActivity").await;
    assert!(wired.stdout("uiautomator dump /dev/tty").await.contains("text=\"About Hello\""));
    wired.phone.world(|world| world.set_preference("org.example.hello", "key", Some("value")));
    wired.install("hello-2", "").await;
    assert_eq!(wired.stdout("pm list packages -U hello").await, uid);
    assert_ne!(wired.stdout("pm path org.example.hello").await, before);
    let old = before.trim().trim_start_matches("package:").to_owned();
    assert_ne!(wired.run(&format!("ls {old}")).await.status, Some(0));
    assert_eq!(wired.phone.world(|world| world.preferences("org.example.hello").len()), 1);
    assert_eq!(wired.phone.world(|world| world.pid_of("org.example.hello")), None);
    let log = wired.stdout("logcat -d").await;
    assert!(
        log.contains("PackageManager: installation completed for package:org.example.hello"),
        "{log}"
    );
    assert!(log.contains("ActivityManager: Force stopping org.example.hello"), "{log}");

    // Kept data keeps the user id too.
    wired.stdout("pm uninstall -k org.example.hello").await;
    wired.install("test-only", "-t").await;
    wired.install("hello-1", "").await;
    assert_eq!(wired.stdout("pm list packages -U hello").await, uid);
}

#[tokio::test(start_paused = true)]
async fn preinstalled_apps_cannot_be_removed() {
    let wired = phone("14");
    let refused = (1, "Failure [DELETE_FAILED_INTERNAL_ERROR]\n".to_owned(), String::new());
    assert_eq!(wired.all("pm uninstall com.android.settings").await, refused);
    assert_eq!(
        wired.all("pm uninstall --user 0 no.such").await,
        (1, "Failure [not installed for 0]\n".to_owned(), String::new())
    );
    assert_eq!(
        wired.all("pm install-existing com.android.settings").await.1,
        "Package com.android.settings installed for user: 0\n"
    );
    assert_eq!(
        wired.all("pm install-existing no.such").await.1,
        "android.content.pm.PackageManager$NameNotFoundException: Package no.such doesn't exist\n"
    );
    assert_eq!(wired.all("pm clear no.such").await, (1, String::new(), "Failed\n".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn old_phone_prints_only_error_codes() {
    let wired = phone("4.4");
    for (name, options, stdout) in [
        ("hello-1-unsigned", "", "Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES]"),
        ("hello-1", "", "Success"),
        ("hello-2", "", "Failure [INSTALL_FAILED_ALREADY_EXISTS]"),
        ("hello-2", "-r", "Success"),
        ("hello-1", "-r", "Failure [INSTALL_FAILED_VERSION_DOWNGRADE]"),
        ("clock-in", "", "Failure [INSTALL_FAILED_OLDER_SDK]"),
        ("v1-only", "", "Success"),
    ] {
        wired.put(THERE, &apk(name));
        let out = wired.terminal(&format!("pm install {options} {THERE}")).await;
        assert_eq!(out, format!("\tpkg: {THERE}\n{stdout}\n"), "{name} {options}");
    }
    assert_eq!(
        wired.terminal("pm path org.example.hello").await,
        "package:/data/app/org.example.hello-2.apk\n"
    );
    assert_eq!(wired.terminal("pm uninstall org.example.hello").await, "Success\n");
    assert_eq!(wired.terminal("pm uninstall org.example.hello").await, "Failure\n");
}

#[tokio::test(start_paused = true)]
async fn install_fails_on_a_full_phone() {
    let wired = phone("14");
    let (used, capacity) = wired.phone.files(|files| files.usage());
    wired.put("/data/local/tmp/x.apk", &apk("hello-1"));
    let free = (capacity - used) as usize - apk("hello-1").len();
    wired.put("/data/local/tmp/fill", &vec![0; free - 100]);
    let (status, out, _) = wired.all("pm install /data/local/tmp/x.apk").await;
    assert_eq!(
        (status, out.as_str()),
        (
            1,
            "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location]\n"
        )
    );
    let created = wired.stdout("pm install-create").await;
    let id = created.split(['[', ']']).nth(1).expect("a number").to_owned();
    let (status, _, err) =
        wired.all(&format!("pm install-write {id} base.apk /data/local/tmp/x.apk")).await;
    assert_eq!(
        (status, err.as_str()),
        (1, "Error: failed to write; write failed: ENOSPC (No space left on device)\n")
    );
}

#[tokio::test(start_paused = true)]
async fn third_party_apks_never_panic() {
    let wired = phone("14");
    let (mut unsigned, mut answers) = (0, Vec::new());
    for (name, bytes) in captured_files("apk").iter().map(|file| (file.name(), file.bytes())) {
        wired.put(THERE, &bytes);
        let size = bytes.len();
        let (status, out, _) =
            wired.all(&format!("cat {THERE} | cmd package install -t -S {size}")).await;
        assert_eq!(status, i32::from(out != "Success\n"), "{name}: {out}");
        // Most were reduced to what a manifest parser needs, and lost their signature.
        unsigned += usize::from(out.contains("Attempt to get length of null array"));
        answers.push((name, out));
    }
    assert!(unsigned >= 14, "{answers:#?}");
}

#[tokio::test(start_paused = true)]
async fn third_party_manifests_never_panic() {
    let wired = phone("14");
    for (name, bytes) in captured_files("axml").iter().map(|file| (file.name(), file.bytes())) {
        let mut archive = Vec::new();
        let mut writer = rawzip::ZipArchiveWriter::new(&mut archive);
        let (mut entry, config) = writer.new_file("AndroidManifest.xml").start().expect("begun");
        let mut data = config.wrap(&mut entry);
        std::io::Write::write_all(&mut data, &bytes).expect("written");
        let (_, descriptor) = data.finish().expect("summed up");
        entry.finish(descriptor).expect("ended");
        writer.finish().expect("ended");
        wired.put(THERE, &archive);
        let size = archive.len();
        let (status, out, _) =
            wired.all(&format!("cat {THERE} | cmd package install -S {size}")).await;
        assert_eq!(status, 1, "{name}");
        assert!(out.starts_with("Failure [INSTALL_"), "{name}: {out}");
    }
}
