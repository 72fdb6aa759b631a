//! Types for table rows where a string is not enough: report layouts, package paths, exceptions.
//!
//! Names only; the programs contain the texts.

/// The layout of the system services' reports (`dumpsys`). It changes with nearly every release,
/// above all for the window and activity managers; releases between two of these use the older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DumpsysFormat {
    /// Android 4.4.
    Android4,
    /// Android 9: stacks of tasks of `TaskRecord`s; one focus, printed after all windows.
    Nine,
    /// Android 11: one focus per display, printed with it; tasks in stacks.
    Eleven,
    /// Android 13: tasks in tasks; an activity record has one brace too many.
    Thirteen,
    /// Android 14: as 13, without that brace; the keyboard's state moved.
    Fourteen,
    /// Android 16: the window report no longer has the keyboard's targets.
    Sixteen,
}

/// How a service reports an exception that its shell command threw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptionFormat {
    /// Without the class name, up to 10.
    Unnamed,
    /// By `android.os.BasicShellCommandHandler`, in 11.
    InOs,
    /// By `com.android.modules.utils.BasicShellCommandHandler`, since 12.
    InModules,
}

/// A screen, upright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// From the left to the right.
    pub width: i32,
    /// From the top to the bottom.
    pub height: i32,
    /// Dots per inch.
    pub density: i32,
}
