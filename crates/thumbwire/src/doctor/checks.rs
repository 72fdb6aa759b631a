//! The table of checks: one row per tool of the `mobile` toolset, in the order in which they are
//! made, and two for following a log, which only the `android` toolset can. The other toolsets do
//! the same on a phone; tests compare how they write it.
//!
//! A row has the tool, what the second look confirms, and the function that does it: the arguments
//! are chosen there, because they depend on what is on the phone. A test compares the table with
//! the toolsets. To add a check, add its row and its function to the file of its subject.

mod app_tools;
mod apps;
mod clipboard;
mod devices;
mod keys;
mod logs;
mod media;
mod notifications;
mod screen;
mod touch;
mod transfers;
mod typing;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::answer::Found;
use super::exam::Exam;

/// The check of one tool.
pub struct Check {
    /// The toolset of the tool.
    pub toolset: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// What is confirmed.
    pub checked: &'static str,
    /// Calls the tool and takes the second look.
    pub(super) run: Run,
}

type Run = for<'e, 's> fn(&'e mut Exam<'s>) -> BoxFuture<'e, Found>;

/// Generates the table from rows of toolset, tool, what is checked, and function.
macro_rules! table {
    ($($toolset:literal $tool:literal $checked:literal $run:path;)*) => {
        const TABLE: &[Check] = &[
            $(Check {
                toolset: $toolset,
                tool: $tool,
                checked: $checked,
                run: |exam| $run(exam).boxed(),
            },)*
        ];
    };
}

/// All checks.
pub fn checks() -> &'static [Check] {
    TABLE
}

table! {
    // The phone.
    "mobile" "mobile_list_devices" "the phone is listed as ready" devices::mobile_list;
    "mobile" "mobile_use_device" "the phone is selected and answers" devices::mobile_select;
    "mobile" "mobile_get_device_info" "the screen has the size of a screenshot" devices::mobile_info;
    // Apps.
    "mobile" "mobile_list_apps" "the app in front is listed" apps::mobile_list;
    "mobile" "mobile_launch_app" "the app in front is the one started" apps::mobile_launch;
    "mobile" "mobile_open_url" "the app that it names is in front" apps::open_url;
    "mobile" "mobile_get_current_app" "it owns the tree on the screen" apps::current;
    "mobile" "mobile_close_app" "the app is no longer in front" apps::close;
    // The screen.
    "mobile" "mobile_take_screenshot" "decodes, has the screen's size, not black" screen::mobile_screenshot;
    "mobile" "mobile_snapshot" "image as above; the tree has the texts shown" screen::snapshot;
    "mobile" "mobile_get_accessibility_tree" "has the texts of another dump" screen::mobile_tree;
    "mobile" "mobile_wait_for" "a text is there, another one is not" screen::wait_for;
    // Touch.
    "mobile" "mobile_tap" "the tapped page or list opens" touch::mobile_tap;
    "mobile" "mobile_tap_element" "the tapped page or list opens" touch::mobile_tap_element;
    "mobile" "mobile_long_press" "the screen changes" touch::long_press;
    "mobile" "mobile_double_tap" "the tapped page or list opens" touch::double_tap;
    "mobile" "mobile_drag" "the content moves" touch::mobile_drag;
    "mobile" "mobile_pinch" "the map changes" touch::pinch;
    "mobile" "mobile_scroll" "the content moves" touch::mobile_scroll;
    "mobile" "mobile_swipe" "the content moves" touch::mobile_swipe;
    // Text.
    "mobile" "mobile_type" "the field holds the text" typing::mobile_type;
    "mobile" "mobile_type_keys" "the field holds the text at its end" typing::mobile_type_keys;
    "mobile" "mobile_do" "the field holds the text; the wait ends" typing::steps;
    // Keys.
    "mobile" "mobile_press_key" "HOME: the launcher is in front" keys::mobile_press;
    "mobile" "mobile_key" "HOME: the launcher is in front" keys::mobile_key;
    "mobile" "mobile_unlock" "an app is in front" keys::unlock;
    "mobile" "mobile_set_orientation" "a screenshot is wide, then upright again" keys::orientation;
    // Log.
    "android" "start_log_monitoring" "the monitor has an id" logs::start;
    "android" "stop_log_monitoring" "its file has the start of that app" logs::stop;
    "mobile" "mobile_logs" "has the newest entry, or an app's start" logs::mobile_read;
    "mobile" "mobile_crashes" "has the newest crash in the log, if any" logs::crashes;
    // Notifications.
    "mobile" "mobile_list_notifications" "each app in the list is installed" notifications::list;
    // Recordings.
    "mobile" "mobile_start_recording" "the recording runs" media::mobile_start;
    "mobile" "mobile_stop_recording" "the file is a complete MP4" media::mobile_stop;
    // The clipboard.
    "mobile" "mobile_set_clipboard" "the clipboard has the text" clipboard::set;
    "mobile" "mobile_get_clipboard" "has the text that is there" clipboard::get;
    // Files, and an app that the user brings.
    "mobile" "mobile_push_file" "the bytes on the phone are the same" transfers::push;
    "mobile" "mobile_pull_file" "a screenshot that the phone saved decodes" transfers::pull;
    "mobile" "mobile_install_app" "the app is listed and starts" transfers::install;
    "mobile" "mobile_set_permission" "revoking it stops the app that held it" transfers::set_permission;
    "mobile" "mobile_clear_app" "the app is no longer in front" transfers::clear;
    "mobile" "mobile_uninstall_app" "the app is no longer listed" transfers::uninstall;
    // Tools of apps, and goals.
    "mobile" "mobile_list_app_tools" "each app in the list is installed" app_tools::list;
    "mobile" "mobile_call_app_tool" "a tool that no app offers is refused" app_tools::call;
    "mobile" "mobile_run_task" "" app_tools::run_task;
}
