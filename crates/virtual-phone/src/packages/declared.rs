//! What a package declares: its components, their filters, and its files.

use crate::packages::Intent;
use thumbwire_mobile_mcp::Descriptor;

/// The manifest of an APK.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedPackage {
    /// The package.
    pub package: String,
    /// The split's name; `None` for a base.
    pub split: Option<String>,
    /// The version code, with `versionCodeMajor` in its upper half.
    pub version_code: u64,
    /// The version name.
    pub version_name: Option<String>,
    /// The label of the application, in the default language.
    pub label: Option<String>,
    /// The minimum API level.
    pub min_sdk: u32,
    /// The target API level.
    pub target_sdk: u32,
    /// The manifest's line with the API levels.
    pub sdk_line: u32,
    /// `android:debuggable`
    pub debuggable: bool,
    /// `android:testOnly`
    pub test_only: bool,
    /// `android:enabled="false"` on the application.
    pub disabled: bool,
    /// `android:isSplitRequired`: the base alone cannot be installed.
    pub split_required: bool,
    /// `uses-permission`, in order.
    pub permissions: Vec<String>,
    /// Activities, services, receivers and providers, in order.
    pub components: Vec<DeclaredComponent>,
    /// `instrumentation`: the class that runs it, and the package that it tests.
    pub instrumentations: Vec<(String, String)>,
    /// The first component (with its line) that has filters but no `exported` attribute.
    pub silent_export: Option<(String, u32)>,
}

/// The four kinds of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentKind {
    /// `activity` and `activity-alias`
    Activity,
    /// `service`
    Service,
    /// `receiver`
    Receiver,
    /// `provider`
    Provider,
}

/// A declared component.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredComponent {
    /// Its kind.
    pub class: ComponentKind,
    /// Full class name.
    pub name: String,
    /// Its own label.
    pub label: Option<String>,
    /// For an alias: the target activity.
    pub target: Option<String>,
    /// Whether other apps may start it.
    pub exported: bool,
    /// `android:enabled`
    pub enabled: bool,
    /// The permission that others need to start it.
    pub permission: Option<String>,
    /// The authorities of a provider.
    pub authorities: Option<String>,
    /// Its intent filters.
    pub filters: Vec<IntentFilter>,
    /// Its `meta-data`.
    pub meta: Vec<MetaData>,
}

/// An `intent-filter`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IntentFilter {
    /// `android:priority`
    pub priority: i32,
    /// Names of actions.
    pub actions: Vec<String>,
    /// Names of categories.
    pub categories: Vec<String>,
    /// `data android:scheme`
    pub schemes: Vec<String>,
    /// `data android:host`
    pub hosts: Vec<String>,
    /// `data android:mimeType`
    pub types: Vec<String>,
}

/// A `meta-data` entry.
#[derive(Debug, Clone, PartialEq)]
pub struct MetaData {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: MetaValue,
}

/// The value of a `meta-data` entry.
#[derive(Debug, Clone, PartialEq)]
pub enum MetaValue {
    /// `android:value`, with references resolved.
    Text(String),
    /// `android:resource`: the id.
    Resource(u32),
}

/// An app that was installed from an APK.
#[derive(Debug, Clone, PartialEq)]
pub struct Installation {
    /// The base's manifest.
    pub declared: ParsedPackage,
    /// Its files, the base first, then the splits by name.
    pub files: Vec<String>,
    /// The names of its splits, in the order of their files.
    pub splits: Vec<String>,
    /// SHA-256 of the signing certificate.
    pub certificate: [u8; 32],
    /// The scheme of that signature: 1, 2 or 3.
    pub signature_scheme: u8,
    /// The ABI of its native code, if any.
    pub abi: Option<String>,
    /// The installer, if one was named.
    pub installer: Option<String>,
    /// Seconds since 1970: first installed, and last updated.
    pub installed: (u64, u64),
}

/// The package file of a preinstalled app, as parsed by a platform.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltInPackage {
    /// Its manifest.
    pub declared: ParsedPackage,
    /// What the app offers to other programs.
    pub descriptor: Descriptor,
}

impl Installation {
    /// An app that declares nothing.
    pub fn unknown() -> Self {
        Self {
            declared: ParsedPackage::default(),
            files: Vec::new(),
            splits: Vec::new(),
            certificate: [0; 32],
            signature_scheme: 0,
            abi: None,
            installer: None,
            installed: (0, 0),
        }
    }
}

impl IntentFilter {
    /// Whether an intent matches: `IntentFilter.match`, without paths and types.
    pub fn passes(&self, intent: &Intent) -> bool {
        let action = intent.action.as_ref().is_none_or(|action| self.actions.contains(action));
        let categories = intent.categories.iter().all(|wanted| self.categories.contains(wanted));
        let data = match intent.data.as_deref().and_then(|data| data.split_once(':')) {
            None => self.schemes.is_empty() && self.types.is_empty(),
            Some((scheme, rest)) => {
                let host = rest.strip_prefix("//").map(|rest| {
                    rest.split(['/', '?', '#', ':']).next().unwrap_or_default().to_owned()
                });
                self.schemes.iter().any(|known| known == scheme)
                    && (self.hosts.is_empty()
                        || host.is_some_and(|host| self.hosts.contains(&host)))
            }
        };
        action && categories && data && !self.actions.is_empty()
    }

    fn has_category(&self, name: &str) -> bool {
        self.categories.iter().any(|category| category == name)
    }

    /// Whether it declares a launcher icon.
    pub fn is_launcher(&self) -> bool {
        self.actions.iter().any(|action| action == "android.intent.action.MAIN")
            && self.has_category("android.intent.category.LAUNCHER")
    }

    /// Whether it matches intents without a category.
    pub fn is_default(&self) -> bool {
        self.has_category("android.intent.category.DEFAULT")
    }
}

impl ParsedPackage {
    /// The activity or alias that the icon starts: the first enabled one.
    pub fn launcher(&self) -> Option<&DeclaredComponent> {
        let mut activities =
            self.components.iter().filter(|it| it.class == ComponentKind::Activity);
        activities.find(|it| it.enabled && it.filters.iter().any(IntentFilter::is_launcher))
    }

    /// The components of a kind that match an intent, each with the matching filter, highest
    /// priority first.
    pub fn answering<'a>(
        &'a self,
        class: ComponentKind,
        intent: &Intent,
    ) -> Vec<(&'a DeclaredComponent, &'a IntentFilter)> {
        let all = self.components.iter().filter(|it| it.class == class && it.enabled);
        let mut found: Vec<_> = all
            .filter_map(|it| Some((it, it.filters.iter().find(|filter| filter.passes(intent))?)))
            .collect();
        found.sort_by_key(|(_, filter)| -filter.priority);
        found
    }
}
