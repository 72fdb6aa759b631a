//! What a row of the table is made of, where a word is not enough: how reports are laid out, where packages lie, what services throw.
//!
//! Only names: the programs that show a manner hold its texts.

/// How the reports of the system's services (`dumpsys`) are laid out. They change with nearly every release, most of all those of the
/// window and the activity manager; a release between two of these has the older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// Android 4.4.
    Four,
    /// Android 9: stacks of tasks of `TaskRecord`s; one focus, told behind all windows.
    Nine,
    /// Android 11: a focus for each display, told with it; tasks in stacks.
    Eleven,
    /// Android 13: tasks in tasks; an activity's record has a brace too many.
    Thirteen,
    /// Android 14: as 13, without that brace; the keyboard's state is kept elsewhere.
    Fourteen,
    /// Android 16: the keyboard's targets are gone from the report of windows.
    Sixteen,
}

/// How a service tells of an exception that its shell command threw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thrown {
    /// Without the command's name, up to 10.
    Unnamed,
    /// By `android.os.BasicShellCommandHandler`, in 11.
    InOs,
    /// By `com.android.modules.utils.BasicShellCommandHandler`, since 12.
    InModules,
}

/// A screen, upright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(crate) width: i32,
    pub(crate) height: i32,
    /// Dots per inch.
    pub(crate) density: i32,
}
