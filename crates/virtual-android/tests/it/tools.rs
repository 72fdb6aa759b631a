//! App tools from a host's view: found by their service's action, read from their APKs, started by
//! `am`.

use crate::common::Wired;
use thumbwire_test_support::quoted;
use thumbwire_virtual_android::Setup;

const NOTES: &str = "com.android.notes";
const THERE: &str = "/data/local/tmp/x.apk";

fn phone(android: &str) -> Wired {
    Wired::made(Setup::of_release(android).expect("a release"))
}

impl Wired {
    /// A command's output on either stream; an old phone's shell has only one, with other line
    /// ends.
    async fn output_of(&self, command: &str) -> String {
        let output = self.run(command).await;
        let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
        text + &String::from_utf8_lossy(&output.stderr)
    }

    /// Installs a file of `fixtures/apk`.
    async fn install_fixture(&self, name: &str) {
        let path = format!("{}/../../fixtures/apk/{name}.apk", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(&path).expect(&path);
        self.phone.files(|files| files.write(THERE, &bytes, 0o644)).expect("written");
        let out = self.output_of(&format!("pm install -r {THERE}")).await;
        assert!(out.contains("Success"), "{out}");
    }

    /// The path of a package's APK.
    async fn apk(&self, package: &str) -> String {
        let out = self.output_of(&format!("pm path {package}")).await;
        out.trim().strip_prefix("package:").expect("a path").to_owned()
    }

    fn has_note(&self, title: &str) -> bool {
        self.phone.world(|world| world.preferences(NOTES).iter().any(|(_, value)| *value == title))
    }
}

/// `am` with a request to add a note with this title.
fn add_note(verb: &str, title: &str) -> String {
    let request = format!(
        r#"{{"mobile-mcp-request":{{"version":"1.0","request":{{"id":"1","capability":{{"id":"add_note","args":{{"title":"{title}","text":"it's 5 $ & more"}}}}}}}}}}"#
    );
    format!("am {verb} -n {NOTES}/.ToolService --es mobile-mcp-request {}", quoted(&request))
}

#[tokio::test(start_paused = true)]
async fn built_in_tools_are_found_on_every_release() {
    for android in Setup::releases() {
        let wired = phone(android);
        let dumped = wired.output_of("dumpsys package").await;
        let (_, services) = dumped.split_once("Service Resolver Table:").expect("a table");
        let (services, _) = services.split_once("Packages:").expect("an end");
        assert!(services.contains("Non-Data Actions:\n      mobile.mcp.SERVICE:\n"), "{services}");
        for tool in ["com.android.notes/.ToolService", "com.example.shop/.ToolService"] {
            assert_eq!(services.matches(tool).count(), 1, "{tool} on {android}");
            if android != "4.4" {
                let query = "cmd package query-services --brief -a mobile.mcp.SERVICE";
                assert!(wired.stdout(query).await.contains(&format!("\n    {tool}\n")));
            }
            let (package, _) = tool.split_once('/').expect("a component");
            let one = wired.output_of(&format!("dumpsys package {package}")).await;
            assert!(one.contains(tool) && one.contains("targetSdk=34"), "{one}");
            let path = wired.apk(package).await;
            let bytes = wired.phone.files(|files| files.read(&path)).expect(&path);
            let bytes = bytes.as_ref();
            assert!(bytes.starts_with(b"PK\x03\x04") && bytes.len() < 20_000, "{path}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn apk_entries_are_readable_as_on_a_phone() {
    let wired = phone("14");
    let path = wired.apk(NOTES).await;
    let whole = wired.phone.files(|files| files.read(&path)).expect("there");
    let whole = whole.as_ref();
    for (command, range) in [
        ("dd if=PATH bs=64 skip=2 count=1 status=none", 128..192),
        (
            "dd if=PATH bs=4096 skip=100 count=300 iflag=skip_bytes,count_bytes 2>/dev/null",
            100..400,
        ),
        ("tail -c +129 PATH | head -c 64", 128..192),
        ("tail -c 22 PATH", whole.len() - 22..whole.len()),
        ("dd if=PATH bs=1k skip=8 2>/dev/null", 8192..whole.len()),
    ] {
        let output = wired.run(&command.replace("PATH", &path)).await;
        assert_eq!(output.stdout, whole[range], "{command}");
        assert_eq!(output.stderr, b"", "{command}");
    }
    let sum = wired.all(&format!("dd if={path} of=/dev/null bs=64 count=2")).await;
    assert_eq!(sum.2, "2+0 records in\n2+0 records out\n128 bytes copied\n");
    let old = phone("4.4");
    let path = old.apk(NOTES).await;
    let sum = old.output_of(&format!("dd if={path} of=/dev/null bs=64 count=2")).await;
    assert!(sum.ends_with("\n128 bytes transferred in 0.001 secs (128000 bytes/sec)\n"), "{sum}");
    let refused = old.output_of(&format!("dd if={path} status=none")).await;
    assert_eq!(refused, "unknown operand status\n");
}

#[tokio::test(start_paused = true)]
async fn am_starts_a_tool_without_a_reply() {
    for android in Setup::releases() {
        let wired = phone(android);
        let verb = if android == "4.4" { "startservice" } else { "start-foreground-service" };
        let out = wired.output_of(&add_note(verb, "Call Ada")).await;
        let started =
            "Starting service: Intent { cmp=com.android.notes/.ToolService (has extras) }\n";
        assert_eq!(out, started, "{android}");
        assert!(wired.has_note("Call Ada"), "{android}");
        let running = wired.output_of(&format!("dumpsys activity services {NOTES}")).await;
        assert!(running.contains("u0 com.android.notes/.ToolService}"), "{running}");
        let ps = if android == "4.4" { "ps" } else { "ps -A" };
        assert!(wired.output_of(ps).await.contains(NOTES), "{android}");
        wired.output_of(&format!("am force-stop {NOTES}")).await;
        let running = wired.output_of("dumpsys activity services").await;
        assert!(running.ends_with("(nothing)\n"), "{running}");
    }
}

#[tokio::test(start_paused = true)]
async fn am_prints_each_releases_service_errors() {
    for android in Setup::releases() {
        let wired = phone(android);
        wired.install_fixture("odd").await;
        let uid = wired.phone.world(|world| {
            world.packages().iter().find(|it| it.package == "org.example.odd").expect("there").uid
        });
        let private = format!("Error: Requires permission not exported from uid {uid}\n");
        for (class, error) in [
            (".NoService", "Error: Not found; no service started.\n"),
            (".DisabledService", "Error: Not found; no service started.\n"),
            (".PrivateService", private.as_str()),
            (".GuardedService", "Error: Requires permission org.example.odd.USE\n"),
        ] {
            let command = format!("am startservice -n org.example.odd/{class}");
            let out = wired.output_of(&command).await;
            let begun = format!("Starting service: Intent {{ cmp=org.example.odd/{class} }}\n");
            assert_eq!(out, format!("{begun}{error}"), "{android}");
            // A Java program always exits with 0.
            let status = wired.output_of(&format!("{command} >/dev/null 2>&1; echo $?")).await;
            assert_eq!(status, if android == "4.4" { "0\n" } else { "255\n" });
        }
        // The activity manager itself accepts Intents without a component.
        let out = wired.output_of("am startservice -a mobile.mcp.SERVICE -p org.example.odd").await;
        match android {
            "4.4" => assert!(out.contains("Unknown option: -p"), "{out}"),
            _ => assert!(out.ends_with("Error: app is in background uid null\n"), "{out}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn background_limits_can_be_lifted() {
    for android in Setup::releases().filter(|android| *android != "4.4") {
        let wired = phone(android);
        let (status, _, error) = wired.all(&add_note("start-service", "one")).await;
        assert_eq!((status, error.as_str()), (255, "Error: app is in background uid null\n"));
        assert!(!wired.has_note("one"));
        wired.stdout("cmd deviceidle tempwhitelist -d 15000 com.android.notes").await;
        wired.stdout(&add_note("start-service", "two")).await;
        assert!(wired.has_note("two"));
        wired.stdout("am force-stop com.android.notes; sleep 16").await;
        assert_eq!(wired.all(&add_note("start-service", "three")).await.0, 255);
        assert_eq!(
            wired.stdout("cmd deviceidle whitelist +com.android.notes").await,
            "Added: com.android.notes\n"
        );
        wired.stdout(&add_note("start-service", "four")).await;
        assert!(wired.has_note("four"));
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_apk_accepts_a_start_silently() {
    let wired = phone("14");
    wired.install_fixture("clock-in").await;
    let (status, _, error) = wired
        .all("am start-foreground-service -n org.example.clockin/.ToolService --es request '{}'")
        .await;
    // Its service requires its own permission.
    assert_eq!(
        (status, error.as_str()),
        (255, "Error: Requires permission org.example.clockin.USE\n")
    );
    wired.install_fixture("attendance").await;
    let request =
        r#"{"id":"1","capability":{"id":"make_up_clock_in","input":{"date":"2024-03-01"}}}"#;
    let start = format!(
        "am start-foreground-service -n org.example.attendance/.ToolService --es request {}",
        quoted(request)
    );
    wired.stdout(&start).await;
    let kept = wired.phone.world(|world| world.preferences("org.example.attendance").len());
    assert_eq!(kept, 1, "the day that was asked for");
}

#[tokio::test(start_paused = true)]
async fn uninstalled_tool_returns_after_reinstall() {
    let wired = phone("14");
    let query = "cmd package query-services --components -a mobile.mcp.SERVICE com.example.shop";
    let tool = "com.example.shop/.ToolService\n";
    assert_eq!(wired.stdout(query).await, tool);
    let path = wired.apk("com.example.shop").await;
    wired.stdout(&format!("cp {path} {THERE}; pm uninstall com.example.shop")).await;
    assert_eq!(wired.stdout(query).await, "No services found\n");
    assert!(wired.phone.files(|files| files.stat(&path, true)).is_err());
    wired.stdout(&format!("pm install {THERE}")).await;
    assert_eq!(wired.stdout(query).await, tool);
    let request = r#"{"mobile-mcp-request":{"version":"1.0","request":{"id":"1","capability":{"id":"add_to_cart","args":{"product":"Vintage Kettle"}}}}}"#;
    let start = "am start-foreground-service -n com.example.shop/.ToolService";
    wired.stdout(&format!("{start} --es mobile-mcp-request {}", quoted(request))).await;
    let kept = wired.phone.world(|world| world.preferences("com.example.shop").len());
    assert_eq!(kept, 1, "the cart has it");
}
