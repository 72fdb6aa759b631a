//! `cmd location`: simulated places. Source: `LocationShellCommand.java` and
//! `LocationManagerService.java` of Android 12 to
//! 14. Only the GPS can be simulated; no app of this phone asks other providers.

use super::Invocation;
use thumbwire_virtual_shell::io::Status;

const USAGE: &str = "\
Location service commands:
  help or -h
    Print this help text.
  providers
    The providers command is followed by a subcommand, as listed below:

    add-test-provider <PROVIDER> [--requiresNetwork] [--requiresSatellite] [--requiresCell] [--hasMonetaryCost] [--supportsAltitude] [--supportsSpeed] [--supportsBearing] [--powerRequirement <POWER_REQUIREMENT>] [--extraAttributionTags <TAG>,<TAG>,...]
      Add the given test provider.
    remove-test-provider <PROVIDER>
      Remove the given test provider.
    set-test-provider-enabled <PROVIDER> <ENABLED>
      Sets the given test provider enabled state.
    set-test-provider-location <PROVIDER> --location <LATITUDE>,<LONGITUDE> [--accuracy <ACCURACY>] [--time <TIME>]
      Set location for given test provider.
";

/// The key in the map of app operations that says whether the shell may mock locations.
const MOCK: (&str, &str) = ("com.android.shell", "MOCK_LOCATION");

/// `cmd location providers
/// add-test-provider|remove-test-provider|set-test-provider-enabled|set-test-provider-location`.
pub(super) async fn location(call: Invocation) -> Status {
    let words: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let rest = match words.as_slice() {
        [] => {
            call.out(USAGE).await?;
            return Ok(255);
        }
        ["help" | "-h", ..] => return call.out(USAGE).await.map(|()| 0),
        ["providers", rest @ ..] => rest,
        [other, ..] => {
            return call.out(format!("Unknown command: {other}\n")).await.map(|()| 255);
        }
    };
    match run(&call, rest) {
        Ok(()) => Ok(0),
        Err(reason) => {
            call.err(format!("\nException occurred while executing 'providers':\n{reason}\n"))
                .await;
            Ok(255)
        }
    }
}

fn run(call: &Invocation, words: &[&str]) -> Result<(), String> {
    let missing = "java.lang.IllegalArgumentException: Argument expected after \"providers\"";
    let (command, provider, options) = match words {
        [command, provider, options @ ..] => (*command, *provider, options),
        _ => return Err(missing.to_owned()),
    };
    if provider != "gps" {
        return Err(format!(
            "java.lang.IllegalArgumentException: provider {provider:?} does not exist"
        ));
    }
    let key = (MOCK.0.to_owned(), MOCK.1.to_owned());
    call.phone.with(|phone| {
        // Who may not mock locations is not told so.
        if phone.services.app_ops.get(&key) != Some(&"allow") {
            return Ok(());
        }
        let is_test = phone.services.test_gps;
        match command {
            "add-test-provider" => phone.services.test_gps = true,
            "remove-test-provider" => {
                phone.services.test_gps = false;
                phone.world.set_location(None);
            }
            _ if !is_test => {
                return Err(
                    "java.lang.IllegalArgumentException: gps provider is not a test provider"
                        .to_owned(),
                );
            }
            "set-test-provider-enabled" => match options {
                ["true" | "false", ..] => {}
                _ => return Err("java.lang.IllegalArgumentException: Argument expected".to_owned()),
            },
            "set-test-provider-location" => {
                let place = place(options)?;
                phone.world.set_location(Some(place));
            }
            other => {
                return Err(format!("java.lang.IllegalArgumentException: Unknown option: {other}"));
            }
        }
        Ok(())
    })
}

/// The value of `--location`.
fn place(options: &[&str]) -> Result<(f64, f64), String> {
    let at = options.iter().position(|option| *option == "--location");
    let text = at
        .and_then(|at| options.get(at + 1))
        .ok_or("java.lang.IllegalArgumentException: Option \"--location\" is required")?;
    let numbers: Vec<f64> = text.split(',').filter_map(|number| number.parse().ok()).collect();
    match numbers.as_slice() {
        &[latitude, longitude] => Ok((latitude, longitude)),
        _ => Err("java.lang.IllegalArgumentException: Location argument must be in the form of \"<LATITUDE>,<LONGITUDE>\", not ".to_owned() + text),
    }
}
