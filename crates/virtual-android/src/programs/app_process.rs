//! `app_process`: starts a Java class by name, as the scripts of `/system/bin` do on old phones.
//! Only the classes of programs that exist here can be started, Thumbwire's helper (`helper`), and
//! the servers of Python's `uiautomator2` and of scrcpy; this phone has no Java.

use super::uiautomator2::python;
use super::{Invocation, class_path, helper, scrcpy};
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::{Abort, Status};
use thumbwire_virtual_shell::processes::Signal;

/// Class, its archive, and the program. Source: AOSP's `cmds/*/` and `monkey` scripts of Android
/// 4.4.
const CLASSES: [(&str, &str, &str); 5] = [
    ("com.android.commands.am.Am", "am.jar", "am"),
    ("com.android.commands.input.Input", "input.jar", "input"),
    ("com.android.commands.monkey.Monkey", "monkey.jar", "monkey"),
    ("com.android.commands.pm.Pm", "pm.jar", "pm"),
    ("com.android.commands.wm.Wm", "wm.jar", "wm"),
];

/// `CLASSPATH=JAR app_process FOLDER CLASS [ARG…]`
pub(super) async fn app_process(mut call: Invocation) -> Status {
    // The runtime's own options come first; `--` ends them.
    let options = call.args.iter().take_while(|arg| arg.starts_with('-')).count();
    call.args.drain(..options);
    let Some(class) = call.arg(1).map(str::to_owned) else {
        call.err("Error: no class name or --zygote supplied.\n").await;
        call.err("Usage: app_process [java-options] cmd-dir start-class-name [options]\n").await;
        return Err(Abort::Killed(Signal::ABRT));
    };
    if class == helper::CLASS {
        call.args.drain(..2);
        return match helper::start(&call).await {
            Some(status) => status,
            None => no_class(&call, &class),
        };
    }
    if class == python::CLASS && class_path::dex_with_class(&call, &class).is_some() {
        call.args.drain(..2);
        return python::run(&call).await;
    }
    // It needs Android 5.
    if class == scrcpy::CLASS
        && call.release().userland.toybox
        && let Some(dex) = class_path::dex_with_class(&call, &class)
    {
        call.args.drain(..2);
        return scrcpy::run(&call, &dex).await;
    }
    let path = call.env.iter().find(|(name, _)| name == "CLASSPATH");
    let path = path.map(|(_, value)| value.clone()).unwrap_or_default();
    let found = CLASSES.iter().find(|(known, jar, _)| {
        *known == class && path.split(':').any(|part| part == format!("/system/framework/{jar}"))
    });
    let program = match found {
        // On later phones the services answer, and the archives are gone.
        Some((_, _, program)) if call.release().form == ToolKind::Java => {
            call.programs.find(program, &call.userland())
        }
        _ => None,
    };
    let Some(program) = program else {
        return no_class(&call, &class);
    };
    call.args.drain(..2);
    program.name.clone_into(&mut call.name);
    (program.run)(call.into_call()).await
}

/// The runtime aborts at a class that no file contains; its reason goes to the log.
fn no_class(call: &Invocation, class: &str) -> Status {
    let (pid, text) = (call.running.pid, format!("ERROR: could not find class '{class}'"));
    call.phone.with(|phone| phone.world.write_log('E', "appproc", pid, &text));
    Err(Abort::Killed(Signal::ABRT))
}
