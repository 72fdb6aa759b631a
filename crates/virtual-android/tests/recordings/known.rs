//! The commands whose answer is known to differ from the recorded one.

/// Why an answer differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The program, or the service that it asks, is not there.
    ProgramMissing,
    /// The screen shows something else: the keyguard, other apps, other windows.
    OtherScreen,
    /// The report is there, but shorter.
    ShortReport,
    /// Another text.
    OtherText,
}

impl Reason {
    pub(crate) const ALL: &[Self] =
        &[Self::ProgramMissing, Self::OtherScreen, Self::ShortReport, Self::OtherText];
}

/// Why that command is known to differ.
pub(crate) fn reason(name: &str) -> Option<Reason> {
    KNOWN.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}

use Reason::{OtherScreen, OtherText, ProgramMissing, ShortReport};

/// The names of recorded commands, and the reasons.
pub(crate) const KNOWN: &[(&str, Reason)] = &[
    ("016-uptime", OtherText),
    ("025-cpuinfo", ShortReport),
    ("031-ip", ProgramMissing),
    ("035-dumpsys-battery", ShortReport),
    ("037-dumpsys-window-policy", OtherScreen),
    ("038-dumpsys-window-displays", OtherScreen),
    ("040-dumpsys-display", ShortReport),
    ("041-dumpsys-input", ProgramMissing),
    ("043-dumpsys-activity-top", OtherScreen),
    ("044-dumpsys-activity-activities-locked", ShortReport),
    ("047-dumpsys-l", ShortReport),
    ("049-dumpsys-wifi", ProgramMissing),
    ("050-dumpsys-connectivity", ProgramMissing),
    ("052-dumpsys-cpuinfo", ProgramMissing),
    ("053-dumpsys-meminfo", ShortReport),
    ("058-dumpsys-window-windows-keyguard", OtherScreen),
    ("064-dumpsys-window-windows-home", OtherScreen),
    ("097-pm-path", OtherText),
    ("106-dumpsys-package", ShortReport),
    ("118-dumpsys-activity-activities", ShortReport),
    ("119-dumpsys-window-windows-calc", OtherScreen),
    ("121-dumpsys-gfxinfo", ProgramMissing),
    ("133-am-view", OtherScreen),
    ("134-am-view-tel", OtherScreen),
    ("164-dumpsys-input_method-shown", OtherText),
    ("202-dumpsys-window-displays-rotated", OtherScreen),
    ("302-dumpsys-power-off", ShortReport),
    ("310-logcat-d-threadtime", OtherScreen),
    ("311-logcat-brief", OtherScreen),
    ("313-logcat-long", OtherScreen),
    ("314-logcat-filter", OtherScreen),
    ("401-stayon", ProgramMissing),
    ("404-policy", OtherScreen),
    ("410-am-sms", OtherScreen),
    ("422-dumpsys-input_method-shown", OtherText),
    ("431-rotate", ProgramMissing),
    ("436-dumpsys-window-displays-rotated", OtherScreen),
    ("437-dumpsys-input-rotated", ProgramMissing),
    ("pm list packages -f -s com.android.mms", OtherText),
    ("pm list packages -u -f calc", OtherText),
    ("pm list libraries", ShortReport),
    ("pm list nonsense", OtherText),
    ("pm enable com.nope", OtherText),
    ("pm dump com.nope", ShortReport),
    ("am stack list", OtherText),
    ("dumpsys -l", ShortReport),
    ("dumpsys window visible-apps", OtherText),
    ("dumpsys activity top nope", OtherScreen),
    ("dumpsys package nope.pkg", ShortReport),
    ("dumpsys cpuinfo xyz", ProgramMissing),
    ("settings get bogus x", OtherText),
    ("wm overscan", OtherText),
    ("getprop ro.product.locale.language", OtherText),
    ("setprop test.tw 5; getprop test.tw", OtherText),
    ("ls -l /system/bin/sh", OtherText),
    ("ls -la /data/local", OtherText),
    ("ls -a -s /data/local/tmp", ShortReport),
    ("svc", ProgramMissing),
    ("svc power stayon true", ProgramMissing),
    ("svc data", OtherText),
    ("monkey -v -p com.android.calculator2 -c android.intent.category.LAUNCHER 1", ShortReport),
    ("content query --uri content://settings/system --where \"name='font_scale'\"", ProgramMissing),
    ("content query --uri content://settings/secure --projection name", ProgramMissing),
    ("ime enable nope/.X", OtherText),
    ("ps -t", ShortReport),
    ("ps -p", OtherText),
    ("top -n 1 -m 3", ProgramMissing),
    ("df /nope", OtherText),
    ("cat /nope", OtherText),
    ("rm /nope", OtherText),
    ("echo $USER_ID $HOSTNAME $PWD $SHELL", OtherText),
    ("sleep", OtherText),
    ("cp", OtherText),
    ("touch", OtherText),
    ("netstat", ProgramMissing),
    ("vmstat -n 1", ProgramMissing),
    ("logcat -d foo:", ShortReport),
    ("screenrecord --help", OtherText),
    ("bmgr list transports", ProgramMissing),
    ("start nope", ProgramMissing),
    ("getevent -p", ProgramMissing),
    ("sendevent", ProgramMissing),
    ("lsof 1", ProgramMissing),
    ("dmesg | grep nothing", ProgramMissing),
    ("requestsync", ProgramMissing),
    ("media dispatch foo", ProgramMissing),
    ("toolbox nope", ProgramMissing),
    ("type ls", OtherText),
    ("trap", ProgramMissing),
    ("atrace --list_categories", ProgramMissing),
];
