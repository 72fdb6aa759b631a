//! The manifest of a package: the app's name, versions, its entries in the launcher, and the
//! services that other apps may start.
//!
//! Start with [`Manifest`]. The caller resolves references through `ResolveResource`. Attributes
//! are matched by resource id, not by name, as on a phone. Defaults and the choice among duplicates
//! follow AOSP's `ParsingPackageUtils` and `ParsedServiceUtils`. Of activities only the launcher's
//! entries are read; receivers and providers are not, nor permissions for some releases only
//! (`uses-permission-sdk-23`).

use std::collections::HashMap;

use super::Error;
use super::xml::{Element, Value, id};

/// From this target API level, a component with an intent filter must declare `android:exported`.
const MUST_SAY_EXPORTED: u32 = 31;
/// Maximum length of a package or permission name, in bytes. Android's limit for package names is
/// lower (`MAX_FILE_NAME_SIZE`, 223).
const MAX_NAME: usize = 1024;
/// Maximum number of launcher entries, and of characters of a label: each entry may hold a copy of
/// one text. `PackageItemInfo` truncates labels there, too (`MAX_SAFE_LABEL_LENGTH`).
const MAX_ENTRIES: usize = 1000;
const MAX_LABEL: usize = 1000;
/// The API level of a code name, later than all numbers (`VMRuntime.SDK_VERSION_CUR_DEVELOPMENT`).
const IN_DEVELOPMENT: u32 = 10_000;

/// The parsed `AndroidManifest.xml`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifest {
    /// Package name.
    pub package: String,
    /// The name of the split, if this is one of several packages of an app and not its base.
    pub split: Option<String>,
    /// Version code as Android compares it, with the major version in the upper half.
    pub version_code: u64,
    /// Version as shown to users, if any.
    pub version_name: Option<String>,
    /// The application's label in the default language; `None` if it has none, or it is in another
    /// package.
    pub label: Option<String>,
    /// `minSdkVersion`; 1 if not declared.
    pub min_sdk: u32,
    /// `targetSdkVersion`; [`min_sdk`](Self::min_sdk) if not declared.
    pub target_sdk: u32,
    /// Whether the application as a whole is enabled.
    pub enabled: bool,
    /// Permissions that it asks for, in order.
    pub permissions: Vec<String>,
    /// The entries that it has in the launcher, in order.
    pub launcher_entries: Vec<LauncherEntry>,
    /// Services, in order.
    pub services: Vec<Service>,
}

/// An activity, or an alias of one, that the launcher shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LauncherEntry {
    /// Full class name.
    pub class: String,
    /// Its label as the launcher shows it: its own, else that of the activity it is an alias of,
    /// else the application's. `None` if there is none, or it is in another package.
    pub label: Option<String>,
    /// The resource of the label, which a split of the package may have in another language.
    pub label_resource: Option<u32>,
    /// Whether its declaration enables it. The phone may have changed that.
    pub enabled: bool,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Service {
    /// Full class name.
    pub class: String,
    /// Whether other apps may start it. If not declared, true if it has an intent filter.
    pub exported: bool,
    /// The declared value; `None` if not declared. With an intent filter and a target API level of
    /// 31 or above it is required, see [`Manifest::lacks_exported`].
    pub exported_written: Option<bool>,
    /// Whether it can be started at all: both it and the application must be enabled.
    pub enabled: bool,
    /// The permission that callers need: its own, else the application's.
    pub permission: Option<String>,
    /// Intent filters, in order.
    pub filters: Vec<IntentFilter>,
    /// `meta-data` entries, in order. Of two with the same name Android uses the last.
    pub meta: Vec<MetaData>,
    /// Line in the source manifest; 0 if unknown.
    pub line: u32,
}

/// An intent filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntentFilter {
    /// Actions, in order.
    pub actions: Vec<String>,
    /// Categories, in order.
    pub categories: Vec<String>,
}

/// A `meta-data` entry.
#[derive(Debug, Clone, PartialEq)]
pub struct MetaData {
    /// Name.
    pub name: String,
    /// What an app gets when it asks for this entry: the resource id of `android:resource`, or the
    /// value of `android:value` with references followed (a file is its path). So
    /// [`Value::Reference`] is a resource id or an unresolved reference.
    pub value: Value,
    /// The resource that `android:value` refers to, before it was followed.
    pub reference: Option<u32>,
    /// The text as written in the source, if the file kept it: `1.0` for a float.
    pub written: Option<String>,
    /// Line in the source manifest; 0 if unknown.
    pub line: u32,
}

impl Manifest {
    /// The services with this action in an intent filter, in order.
    pub fn services_for<'a>(&'a self, action: &'a str) -> impl Iterator<Item = &'a Service> {
        self.services.iter().filter(move |service| service.answers(action))
    }

    /// Whether this service has an intent filter but no `android:exported`, with a target API level
    /// of 31 or above. Android 12 and later refuse to install the package.
    pub fn lacks_exported(&self, service: &Service) -> bool {
        let must = self.target_sdk >= MUST_SAY_EXPORTED && !service.filters.is_empty();
        must && service.exported_written.is_none()
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is not a manifest; any error of `resolve`.
    pub(crate) fn read(root: &Element, resolve: &mut ResolveResource<'_>) -> Result<Self, Error> {
        let broken = |reason: &str| Error::malformed("manifest", reason);
        if root.name != "manifest" {
            return Err(broken("the root element is not <manifest>"));
        }
        // Attributes that Android looks up by name, without a namespace
        // (`ApkLiteParseUtils.parsePackageSplitNames`). Their resource ids do not matter: a padded
        // resource map gives one to every string (`ResXMLParser::indexOfAttribute`).
        let plain = |name: &str| {
            let mut all = root.attributes.iter();
            all.find(|it| it.name == name && it.namespace.is_none())?.value.text()
        };
        let package = plain("package").unwrap_or_default();
        if package.is_empty() {
            return Err(broken("it has no package name"));
        }
        if package.len() > MAX_NAME {
            return Err(broken("the package name is too long"));
        }
        let mut manifest = Self { package: package.to_owned(), enabled: true, ..Self::default() };
        manifest.split = plain("split").filter(|name| !name.is_empty()).map(str::to_owned);
        let low = integer(root, id::VERSION_CODE, resolve)?.unwrap_or(0).cast_unsigned();
        let high = integer(root, id::VERSION_CODE_MAJOR, resolve)?.unwrap_or(0).cast_unsigned();
        manifest.version_code = u64::from(high) << 32 | u64::from(low);
        manifest.version_name = string_attribute(root, id::VERSION_NAME, resolve)?;
        manifest.min_sdk = 1;
        manifest.target_sdk = 1;
        for uses in root.named("uses-sdk") {
            manifest.min_sdk = level(uses, id::MIN_SDK, resolve)?.unwrap_or(1);
            manifest.target_sdk = level(uses, id::TARGET_SDK, resolve)?.unwrap_or(manifest.min_sdk);
        }
        for uses in root.named("uses-permission") {
            manifest.permissions.extend(string_attribute(uses, id::NAME, resolve)?);
        }
        // Android ignores a second application with a warning.
        if let Some(application) = root.named("application").next() {
            manifest.application(application, resolve)?;
        }
        Ok(manifest)
    }

    fn application(
        &mut self,
        element: &Element,
        resolve: &mut ResolveResource<'_>,
    ) -> Result<(), Error> {
        self.label = string_attribute(element, id::LABEL, resolve)?;
        self.enabled = boolean(element, id::ENABLED, resolve)?.unwrap_or(true);
        // Each service may hold a copy, so the length matters.
        let permission = string_attribute(element, id::PERMISSION, resolve)?;
        if permission.as_ref().is_some_and(|it| it.len() > MAX_NAME) {
            return Err(Error::malformed("manifest", "the permission name is too long"));
        }
        self.launcher_entries = launcher_entries(element, &self.package, resolve)?;
        for service in element.named("service") {
            let Some(name) = string_attribute(service, id::NAME, resolve)? else { continue };
            let mut service = Service::read(service, resolve)?;
            service.class = class(&self.package, &name);
            service.enabled &= self.enabled;
            // A service's own empty permission means none, even if the application has one.
            service.permission = service.permission.or_else(|| permission.clone());
            service.permission = service.permission.filter(|it| !it.is_empty());
            self.services.push(service);
        }
        Ok(())
    }
}

/// The application's activities and aliases with a filter for MAIN and LAUNCHER (`LauncherApps`).
/// The label of a filter does not count: the launcher asks for the activity's
/// (`LauncherActivityInfo.getLabel`).
fn launcher_entries(
    application: &Element,
    package: &str,
    resolve: &mut ResolveResource<'_>,
) -> Result<Vec<LauncherEntry>, Error> {
    let mut activities: HashMap<String, &Element> = HashMap::new();
    let mut entries = Vec::new();
    for element in &application.children {
        let is_alias = element.name == "activity-alias";
        if element.name != "activity" && !is_alias {
            continue;
        }
        let Some(name) = string_attribute(element, id::NAME, resolve)? else { continue };
        let class = class(package, &name);
        let target = match string_attribute(element, id::TARGET_ACTIVITY, resolve)? {
            // An alias comes after its activity, or Android refuses the package.
            Some(target) if is_alias => activities.get(&self::class(package, &target)).copied(),
            _ => None,
        };
        if !is_alias {
            activities.entry(class.clone()).or_insert(element);
        }
        let mut filters = read_filters(element, resolve)?.into_iter();
        if entries.len() == MAX_ENTRIES || !filters.any(|filter| filter.is_for_launcher()) {
            continue;
        }
        let sources = [Some(element), target, Some(application)];
        let labelled = sources.into_iter().flatten().find(|it| it.by_id(id::LABEL).is_some());
        let (mut label, mut label_resource) = (None, None);
        if let Some(labelled) = labelled {
            label = string_attribute(labelled, id::LABEL, resolve)?;
            label = label.map(|label| label.chars().take(MAX_LABEL).collect());
            label_resource = match labelled.by_id(id::LABEL).map(|it| &it.value) {
                Some(Value::Reference(id)) => Some(*id),
                _ => None,
            };
        }
        let enabled = boolean(element, id::ENABLED, resolve)?.unwrap_or(true);
        entries.push(LauncherEntry { class, label, label_resource, enabled });
    }
    Ok(entries)
}

fn read_filters(
    element: &Element,
    resolve: &mut ResolveResource<'_>,
) -> Result<Vec<IntentFilter>, Error> {
    let mut filters = Vec::new();
    for filter in element.named("intent-filter") {
        let mut names = |of: &str| -> Result<Vec<String>, Error> {
            let names = filter.named(of).map(|one| string_attribute(one, id::NAME, resolve));
            names.filter_map(Result::transpose).collect()
        };
        let (actions, categories) = (names("action")?, names("category")?);
        filters.push(IntentFilter { actions, categories });
    }
    Ok(filters)
}

impl IntentFilter {
    fn is_for_launcher(&self) -> bool {
        let has = |names: &[String], name: &str| names.iter().any(|one| one == name);
        has(&self.actions, "android.intent.action.MAIN")
            && has(&self.categories, "android.intent.category.LAUNCHER")
    }
}

impl Service {
    /// Whether one of its intent filters has this action.
    pub fn answers(&self, action: &str) -> bool {
        self.filters.iter().any(|filter| filter.actions.iter().any(|one| one == action))
    }

    /// The `meta-data` with this name; the last one, as on a phone.
    pub fn meta(&self, name: &str) -> Option<&MetaData> {
        self.meta.iter().rev().find(|one| one.name == name)
    }

    fn read(element: &Element, resolve: &mut ResolveResource<'_>) -> Result<Self, Error> {
        let mut service = Self {
            exported_written: match element.by_id(id::EXPORTED) {
                Some(_) => Some(boolean(element, id::EXPORTED, resolve)?.unwrap_or(false)),
                None => None,
            },
            enabled: boolean(element, id::ENABLED, resolve)?.unwrap_or(true),
            permission: string_attribute(element, id::PERMISSION, resolve)?,
            line: element.line,
            ..Self::default()
        };
        service.filters = read_filters(element, resolve)?;
        for meta in element.named("meta-data") {
            service.meta.extend(MetaData::read(meta, resolve)?);
        }
        service.exported = service.exported_written.unwrap_or(!service.filters.is_empty());
        Ok(service)
    }
}

impl MetaData {
    fn read(element: &Element, resolve: &mut ResolveResource<'_>) -> Result<Option<Self>, Error> {
        let Some(name) = string_attribute(element, id::NAME, resolve)? else { return Ok(None) };
        let line = element.line;
        let resource = element.by_id(id::RESOURCE);
        if let Some(it) = resource.filter(|it| matches!(it.value, Value::Reference(_))) {
            let (value, written) = (it.value.clone(), it.written.clone());
            return Ok(Some(Self { name, value, reference: None, written, line }));
        }
        let Some(attribute) = element.by_id(id::VALUE) else { return Ok(None) };
        let reference = match attribute.value {
            Value::Reference(id) => Some(id),
            _ => None,
        };
        let written = attribute.written.clone();
        let value = followed(element, id::VALUE, resolve)?;
        Ok(value.map(|value| Self { name, value, reference, written, line }))
    }
}

/// Resolves a resource id to its value.
pub(crate) type ResolveResource<'a> = dyn FnMut(u32) -> Result<Option<Value>, Error> + 'a;

/// The value of an attribute. An unresolved reference stays a reference.
fn followed(
    element: &Element,
    id: u32,
    resolve: &mut ResolveResource<'_>,
) -> Result<Option<Value>, Error> {
    let Some(attribute) = element.by_id(id) else { return Ok(None) };
    match &attribute.value {
        Value::Reference(to) => Ok(Some(resolve(*to)?.unwrap_or(Value::Reference(*to)))),
        value => Ok(Some(value.clone())),
    }
}

fn string_attribute(
    element: &Element,
    id: u32,
    resolve: &mut ResolveResource<'_>,
) -> Result<Option<String>, Error> {
    let value = followed(element, id, resolve)?;
    Ok(value
        .filter(|it| !matches!(it, Value::Reference(_)))
        .and_then(|value| value.to_display_string()))
}

fn integer(
    element: &Element,
    id: u32,
    resolve: &mut ResolveResource<'_>,
) -> Result<Option<i32>, Error> {
    Ok(match followed(element, id, resolve)? {
        Some(Value::Integer(number)) => Some(number),
        Some(Value::Boolean(is)) => Some(i32::from(is)),
        // `TypedArray.getInt` parses strings too.
        Some(Value::Text(text)) => text.trim().parse().ok(),
        _ => None,
    })
}

/// Like `TypedArray.getBoolean`: nonzero numbers, and three strings
/// (`XmlUtils.convertValueToBoolean`).
fn boolean(
    element: &Element,
    id: u32,
    resolve: &mut ResolveResource<'_>,
) -> Result<Option<bool>, Error> {
    Ok(match followed(element, id, resolve)? {
        Some(Value::Boolean(is)) => Some(is),
        Some(Value::Integer(number)) => Some(number != 0),
        Some(Value::Text(text)) => Some(matches!(text.as_str(), "true" | "TRUE" | "1")),
        _ => None,
    })
}

/// An API level: a number, or the code name of an unreleased version.
fn level(
    element: &Element,
    id: u32,
    resolve: &mut ResolveResource<'_>,
) -> Result<Option<u32>, Error> {
    Ok(match followed(element, id, resolve)? {
        Some(Value::Integer(number)) => u32::try_from(number).ok(),
        Some(Value::Text(text)) => Some(text.parse().unwrap_or(IN_DEVELOPMENT)),
        _ => None,
    })
}

/// The full class name (`ParsingUtils.buildClassName`).
fn class(package: &str, name: &str) -> String {
    match name.find('.') {
        Some(0) => format!("{package}{name}"),
        Some(_) => name.to_owned(),
        None => format!("{package}.{name}"),
    }
}
