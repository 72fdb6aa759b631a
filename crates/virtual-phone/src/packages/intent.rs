//! Intents, components, and results of a start.

/// An activity of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The package.
    pub package: String,
    /// The activity's full class name.
    pub activity: String,
}

impl Component {
    /// `package/.Class`, or `package/full.Class` if the class is in another package, as Android
    /// shortens it.
    pub fn short(&self) -> String {
        match self.activity.strip_prefix(&self.package) {
            Some(rest) if rest.starts_with('.') => format!("{}/{rest}", self.package),
            _ => format!("{}/{}", self.package, self.activity),
        }
    }
}

/// An intent to start an activity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Intent {
    /// E.g. `android.intent.action.VIEW`.
    pub action: Option<String>,
    /// A URI, e.g. `geo:0,0?q=pizza`.
    pub data: Option<String>,
    /// E.g. `android.intent.category.HOME`.
    pub categories: Vec<String>,
    /// The explicit component; its class may be short (`.Class`).
    pub component: Option<Component>,
    /// Extras in the given order.
    pub extras: Vec<(String, String)>,
}

/// The result of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartResult {
    /// A new activity was started.
    New,
    /// A running app came to the front.
    BroughtToFront,
}

/// Why nothing was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartError {
    /// No such package is installed; `packages` lists the installed ones.
    NoSuchPackage,
    /// The package has no such activity; its manifest lists them.
    NoSuchActivity,
    /// The package has no icon, or nothing handles the intent; name an activity.
    NotLaunchable,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoSuchPackage => "no such package",
            Self::NoSuchActivity => "no such activity",
            Self::NotLaunchable => "nothing to launch",
        })
    }
}

impl std::error::Error for StartError {}
