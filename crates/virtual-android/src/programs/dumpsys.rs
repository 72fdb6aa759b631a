//! `dumpsys`: the parts of system services' reports that tools read.
//!
//! Start with [`SERVICES`]. Each report is a pure function of the phone's state. Formats:
//! `shell/battery/xiaomi-pad6_android14.txt`, `shell/window/aad_windows_android12.txt` and
//! `emulator_android16_windows.txt`, `shell/activity`, captures `035` to `047`.

mod activity;
mod cpuinfo;
mod display;
mod gfxinfo;
mod input;
mod input_method;
mod meminfo;
mod old;
pub(super) mod package;
mod power;
mod window;

use super::{Invocation, fingerprint, service};
use crate::phone::State;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_shell::io::Status;

type Report = fn(&mut State, &[&str]) -> String;

/// Services and their reports.
const SERVICES: [(&str, Report); 13] = [
    ("SurfaceFlinger", surface_flinger),
    ("activity", activity::report),
    ("battery", battery),
    ("cpuinfo", cpuinfo::report),
    ("display", display::report),
    ("gfxinfo", gfxinfo::report),
    ("input", input::report),
    ("input_method", input_method::report),
    ("meminfo", meminfo::report),
    ("notification", super::notification::report),
    ("package", package::report),
    ("power", power::report),
    ("window", window::report),
];

/// `dumpsys [-l | SERVICE [ARG…]]`
pub(super) async fn dumpsys(call: Invocation) -> Status {
    let mut args = call.args.iter().map(String::as_str).peekable();
    while args.next_if(|arg| *arg == "-t" || *arg == "-T").is_some() {
        args.next();
    }
    let is_old = call.release().form == ToolKind::Java;
    match args.next() {
        Some("-l") | None => {
            let names = service::names(call.release());
            let listed: String = names.map(|name| format!("  {name}\n")).collect();
            call.out(format!("Currently running services:\n{listed}")).await?;
        }
        Some(name) if is_old && old::help(name, &args.clone().collect::<Vec<_>>()).is_some() => {
            let rest: Vec<&str> = args.collect();
            call.out(old::help(name, &rest).unwrap_or_default()).await?;
        }
        Some("meminfo") if is_old => {
            let rest: Vec<&str> = args.collect();
            call.out(call.phone.with(|phone| old::meminfo(phone, &rest))).await?;
        }
        Some(name) => match SERVICES.iter().find(|(known, _)| *known == name) {
            Some((_, report)) => {
                let rest: Vec<&str> = args.collect();
                let text = call.phone.with(|phone| report(phone, &rest));
                call.out(text).await?;
            }
            // Many services have nothing to say.
            None if service::names(call.release()).any(|known| known == name) => {}
            None => call.err(format!("Can't find service: {name}\n")).await,
        },
    }
    Ok(0)
}

/// The report of a service, if it has one here.
pub(super) fn report(phone: &mut State, service: &str, args: &[&str]) -> Option<String> {
    SERVICES.iter().find(|(known, _)| *known == service).map(|(_, report)| report(phone, args))
}

fn battery(phone: &mut State, args: &[&str]) -> String {
    let battery = phone.world.battery();
    if phone.release().form == ToolKind::Java {
        return old::battery(phone, args);
    }
    // `shell/battery/xiaomi-pad6_android14.txt` of the captures; `BATTERY_PLUGGED_DOCK` came with
    // 13.
    let dock = match phone.release().shape >= DumpsysFormat::Thirteen {
        true => "  Dock powered: false\n",
        false => "",
    };
    format!(
        "Current Battery Service state:\n  AC powered: false\n  USB powered: {}\n  Wireless powered: false\n{dock}  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: {}\n  status: {}\n  health: 2\n  present: true\n  level: {}\n  scale: 100\n  voltage: {}\n  temperature: {}\n  technology: Li-ion\n",
        battery.charging,
        u32::from(battery.level) * 50_000,
        // BATTERY_STATUS_CHARGING and BATTERY_STATUS_DISCHARGING
        if battery.charging { 2 } else { 3 },
        battery.level,
        battery.voltage,
        battery.temperature,
    )
}

/// The record of the activity in front. Android 13 prints one brace too many in it (an emulator of
/// 13; neither 11 nor 14 does).
fn task(phone: &State) -> String {
    let top = phone.world.top_activity().short();
    let brace = if phone.release().shape == DumpsysFormat::Thirteen { "}" } else { "" };
    format!("ActivityRecord{{{:07x} u0 {top}{brace} t1}}", fingerprint(&top) & 0xfff_ffff)
}

/// The same in its window token, before Android 10.
fn task_in_token(phone: &State) -> String {
    format!("Token{{a45c880 {}}}", task(phone))
}

/// The task in front, as named since 11.
fn task_record(phone: &State) -> String {
    let top = phone.world.foreground();
    let owner = format!("A={}:{}", uid(phone, &top.package), top.package);
    let hash = fingerprint(&top.package) & 0xfff_ffff;
    match phone.release().shape {
        DumpsysFormat::Eleven => format!(
            "Task{{{hash:07x} #1 visible=true type=standard mode=fullscreen translucent=false {owner} U=0 StackId=1 sz=1}}"
        ),
        _ => format!("Task{{{hash:07x} #1 type=standard {owner}}}"),
    }
}

fn uid(phone: &State, package: &str) -> u32 {
    let packages = phone.world.packages();
    packages.into_iter().find(|manifest| manifest.package == package).map_or(0, |found| found.uid)
}

/// Android's configuration for that type of activity: the display as apps see it. Without a SIM
/// card it has no network (`androidtv_activities-starter-1.txt` of the captures).
pub(super) fn configuration(phone: &State, kind: &str) -> String {
    let (shape, display) = (phone.release().shape, phone.world.display());
    let dp = |pixels: i32| pixels * 160 / display.density.max(1);
    let (width, height) = (dp(display.width), dp(display.height));
    let bounds = format!("Rect(0, 0 - {}, {})", display.width, display.height);
    let lies = if display.width > display.height { "land" } else { "port" };
    let turned = format!("ROTATION_{}", u32::from(display.rotation) * 90);
    let mode = "mWindowingMode=fullscreen";
    let modes = format!("{mode} mDisplayWindowingMode=fullscreen");
    let kind = format!("mActivityType={kind}");
    let rest = format!("{kind} mAlwaysOnTop=undefined mRotation={turned}");
    let (window, end) = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => {
            (format!("mAppBounds={bounds} {mode} {kind}"), "")
        }
        DumpsysFormat::Eleven => (format!("mAppBounds={bounds} {modes} {rest}"), ""),
        DumpsysFormat::Thirteen | DumpsysFormat::Fourteen => (
            format!(
                "mAppBounds={bounds} mMaxBounds={bounds} mDisplayRotation={turned} {modes} {rest}"
            ),
            " fontWeightAdjustment=0",
        ),
        DumpsysFormat::Sixteen => (
            format!(
                "mAppBounds={bounds} mMaxBounds={bounds} mDisplayRotation={turned} {mode} {rest}"
            ),
            " fontWeightAdjustment=0",
        ),
    };
    let assets = if shape >= DumpsysFormat::Thirteen { " as.2" } else { "" };
    format!(
        "{{1.0 ?mcc?mnc [en_US] ldltr sw{}dp w{width}dp h{height}dp {}dpi nrml long {lies} finger -keyb/v/h -nav/h winConfig={{ mBounds={bounds} {window}}}{assets} s.8{end}}}",
        width.min(height),
        display.density,
    )
}

fn surface_flinger(phone: &mut State, args: &[&str]) -> String {
    // Displays have had their own numbers since 10.
    match args.first().copied().filter(|_| phone.release().shape >= DumpsysFormat::Eleven) {
        Some("--display-id") => "Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName=\"Virtual Display\"\n".to_owned(),
        _ => {
            let (width, height) = phone.world.physical_size();
            format!(
                "Build configuration: [sf]\nDisplay 4619827259835644672: ({width}, {height})\n"
            )
        }
    }
}
