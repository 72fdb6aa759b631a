//! The commands whose answer is known to differ from the recorded one.

/// Why an answer differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The program, or the service that it asks, is not there.
    ProgramMissing,
    /// The screen or the log shows something else: the keyguard, other windows, other events.
    OtherScreen,
    /// It needs an app that this phone does not have, or lacks one that this phone has.
    OtherApps,
    /// The recorded machine lacked a device that phones have, or had one that this phone lacks.
    OtherHardware,
    /// The report is there, but shorter.
    ShortReport,
}

impl Reason {
    pub(crate) const ALL: &[Self] = &[
        Self::ProgramMissing,
        Self::OtherScreen,
        Self::OtherApps,
        Self::OtherHardware,
        Self::ShortReport,
    ];
}

/// Why that command is known to differ.
pub(crate) fn reason(name: &str) -> Option<Reason> {
    KNOWN.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}

use Reason::{OtherApps, OtherHardware, OtherScreen, ProgramMissing, ShortReport};

/// The names of recorded commands, and the reasons.
pub(crate) const KNOWN: &[(&str, Reason)] = &[
    ("016-uptime", OtherHardware),
    ("041-dumpsys-input", ShortReport),
    ("049-dumpsys-wifi", ProgramMissing),
    ("050-dumpsys-connectivity", ProgramMissing),
    ("097-pm-path", OtherApps),
    ("106-dumpsys-package", ShortReport),
    ("119-dumpsys-window-windows-calc", OtherScreen),
    ("133-am-view", OtherApps),
    ("134-am-view-tel", OtherApps),
    ("164-dumpsys-input_method-shown", OtherScreen),
    ("310-logcat-d-threadtime", OtherScreen),
    ("311-logcat-brief", OtherScreen),
    ("313-logcat-long", OtherScreen),
    ("314-logcat-filter", OtherScreen),
    ("410-am-sms", OtherApps),
    ("437-dumpsys-input-rotated", ShortReport),
    ("pm list packages -f -s com.android.mms", OtherApps),
    ("pm list packages -u -f calc", OtherApps),
    ("pm dump com.nope", ShortReport),
    ("dumpsys cpuinfo xyz", ShortReport),
    ("monkey -v -p com.android.calculator2 -c android.intent.category.LAUNCHER 1", OtherHardware),
    ("content query --uri content://settings/system --where \"name='font_scale'\"", OtherScreen),
    ("netstat", ShortReport),
    ("lsof 1", ShortReport),
    ("bmgr list transports", ProgramMissing),
    ("requestsync", ProgramMissing),
    ("atrace --list_categories", ProgramMissing),
];
