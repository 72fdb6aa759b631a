//! Reads the manifest of an APK as Android's package parser does.
//!
//! Sources: `ApkLiteParseUtils`, `ParsingPackageUtils`, `FrameworkParsingPackageUtils` of Android;
//! ids from `public-final.xml`.

use super::axml::Element;
use super::pool::Value;
use super::table::ResourceTable;
use thumbwire_virtual_phone::packages::{
    ComponentKind, DeclaredComponent, IntentFilter, MetaData, MetaValue, ParsedPackage,
};

/// Ids of attributes in `android:`.
mod id {
    pub(super) const LABEL: u32 = 0x0101_0001;
    pub(super) const NAME: u32 = 0x0101_0003;
    pub(super) const PERMISSION: u32 = 0x0101_0006;
    pub(super) const ENABLED: u32 = 0x0101_000e;
    pub(super) const DEBUGGABLE: u32 = 0x0101_000f;
    pub(super) const EXPORTED: u32 = 0x0101_0010;
    pub(super) const AUTHORITIES: u32 = 0x0101_0018;
    pub(super) const PRIORITY: u32 = 0x0101_001c;
    pub(super) const TARGET_PACKAGE: u32 = 0x0101_0021;
    pub(super) const VALUE: u32 = 0x0101_0024;
    pub(super) const RESOURCE: u32 = 0x0101_0025;
    pub(super) const MIME_TYPE: u32 = 0x0101_0026;
    pub(super) const SCHEME: u32 = 0x0101_0027;
    pub(super) const HOST: u32 = 0x0101_0028;
    pub(super) const TARGET_ACTIVITY: u32 = 0x0101_0202;
    pub(super) const MIN_SDK: u32 = 0x0101_020c;
    pub(super) const VERSION_CODE: u32 = 0x0101_021b;
    pub(super) const VERSION_NAME: u32 = 0x0101_021c;
    pub(super) const TARGET_SDK: u32 = 0x0101_0270;
    pub(super) const TEST_ONLY: u32 = 0x0101_0272;
    pub(super) const VERSION_CODE_MAJOR: u32 = 0x0101_0576;
    pub(super) const SPLIT_REQUIRED: u32 = 0x0101_0591;
}

/// Maximum components of an app; the largest apps have some thousand.
const MAX_COUNT: usize = 5_000;
/// Maximum characters of a text; `PackageItemInfo` truncates labels at 1000.
const MAX_LENGTH: usize = 1_000;

/// Why a manifest is refused: Android's error code and message.
pub(super) type ManifestError = (&'static str, String);

/// Reads a manifest. `PATH` in a message stands for the file's path.
pub(super) fn read(
    root: &Element,
    table: &ResourceTable<'_>,
) -> Result<ParsedPackage, ManifestError> {
    const MALFORMED: &str = "INSTALL_PARSE_FAILED_MANIFEST_MALFORMED";
    if root.name != "manifest" {
        return Err((MALFORMED, "No <manifest> tag".to_owned()));
    }
    let reader = Reader { table };
    let package = reader.plain(root, "package").unwrap_or_default();
    let split = reader.plain(root, "split").filter(|split| !split.is_empty());
    if package != "android" {
        valid(&package, true).map_err(|why| {
            ("INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME", format!("Invalid manifest package: {why}"))
        })?;
    }
    if let Some(split) = &split {
        valid(split, false).map_err(|why| {
            ("INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME", format!("Invalid manifest split: {why}"))
        })?;
    }
    let application = root.all("application").next();
    if application.is_none() && split.is_none() && root.all("instrumentation").next().is_none() {
        let reason = "<manifest> does not contain an <application> or <instrumentation>";
        return Err(("INSTALL_PARSE_FAILED_MANIFEST_EMPTY", at(root, reason)));
    }
    let sdk = root.all("uses-sdk").last();
    let number = |element: Option<&Element>, id| element.and_then(|it| reader.number(it, id));
    let major = number(Some(root), id::VERSION_CODE_MAJOR).unwrap_or(0) as u32;
    let minor = number(Some(root), id::VERSION_CODE).unwrap_or(0) as u32;
    let min_sdk = number(sdk, id::MIN_SDK).unwrap_or(1).max(0) as u32;
    let mut declared = ParsedPackage {
        version_code: u64::from(major) << 32 | u64::from(minor),
        version_name: reader.text(root, id::VERSION_NAME),
        label: application.and_then(|it| reader.text(it, id::LABEL)),
        min_sdk,
        target_sdk: number(sdk, id::TARGET_SDK).map_or(min_sdk, |sdk| sdk.max(0) as u32),
        sdk_line: sdk.map_or(0, |sdk| sdk.line),
        debuggable: application.is_some_and(|it| reader.truth(it, id::DEBUGGABLE, false)),
        test_only: application.is_some_and(|it| reader.truth(it, id::TEST_ONLY, false)),
        disabled: application.is_some_and(|it| !reader.truth(it, id::ENABLED, true)),
        split_required: reader.truth(root, id::SPLIT_REQUIRED, false),
        split,
        package,
        ..ParsedPackage::default()
    };
    for element_name in ["uses-permission", "uses-permission-sdk-23"] {
        for element in root.all(element_name).take(MAX_COUNT) {
            let name = reader.text(element, id::NAME).unwrap_or_default();
            if !name.is_empty() && !declared.permissions.contains(&name) {
                declared.permissions.push(name);
            }
        }
    }
    for element in root.all("instrumentation").take(MAX_COUNT) {
        let name = reader.text(element, id::NAME).unwrap_or_default();
        let target = reader.text(element, id::TARGET_PACKAGE);
        if let (false, Some(target)) = (name.is_empty(), target) {
            declared.instrumentations.push((full_class(&declared.package, name), target));
        }
    }
    for element in application.into_iter().flat_map(|it| &it.children).take(MAX_COUNT) {
        let class = match element.name.as_str() {
            "activity" | "activity-alias" => ComponentKind::Activity,
            "service" => ComponentKind::Service,
            "receiver" => ComponentKind::Receiver,
            "provider" => ComponentKind::Provider,
            _ => continue,
        };
        let Some(component) = reader.component(element, class, &declared.package) else {
            let reason = format!("<{}> does not specify android:name", element.name);
            return Err((MALFORMED, at(element, &reason)));
        };
        // Android 12 and later require the attribute from apps that target them
        // (`ComponentParseUtils`).
        let says = element.get(id::EXPORTED, "").is_some();
        if !says && !component.filters.is_empty() && declared.target_sdk >= 31 {
            let name = component.name.clone();
            declared.silent_export.get_or_insert((name, element.line));
        }
        declared.components.push(component);
    }
    Ok(declared)
}

/// The full name of a class, which may be given without its package.
fn full_class(package: &str, name: String) -> String {
    match name.strip_prefix('.') {
        Some(_) => format!("{package}{name}"),
        None if !name.contains('.') => format!("{package}.{name}"),
        None => name,
    }
}

/// The parser's message about an element.
fn at(element: &Element, reason: &str) -> String {
    format!("PATH (at Binary XML file line #{}): {reason}", element.line)
}

/// `FrameworkParsingPackageUtils.validateName`.
fn valid(name: &str, needs_separator: bool) -> Result<(), String> {
    let (mut front, mut separated) = (true, false);
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' => front = false,
            '0'..='9' | '_' if !front => {}
            '.' => (front, separated) = (true, true),
            other => return Err(format!("bad character '{other}'")),
        }
    }
    if name.len() > 223 {
        return Err("the length of the name is greater than 223".to_owned());
    }
    match separated || !needs_separator {
        true => Ok(()),
        false => Err("must have at least one '.' separator".to_owned()),
    }
}

struct Reader<'a> {
    table: &'a ResourceTable<'a>,
}

impl Reader<'_> {
    /// An attribute without a namespace.
    fn plain(&self, element: &Element, name: &str) -> Option<String> {
        match element.get(0, name)? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn value(&self, element: &Element, id: u32) -> Option<Value> {
        self.table.resolve(element.get(id, "")?)
    }

    fn text(&self, element: &Element, id: u32) -> Option<String> {
        Some(tidy(&text(&self.value(element, id)?)?))
    }

    fn number(&self, element: &Element, id: u32) -> Option<i32> {
        match self.value(element, id)? {
            Value::Number(number) => Some(number),
            // A codename. All known releases have numbers, so this one is in the future.
            Value::Text(text) => Some(text.parse().unwrap_or(10_000)),
            _ => None,
        }
    }

    fn truth(&self, element: &Element, id: u32, default: bool) -> bool {
        match self.value(element, id) {
            Some(Value::Bool(truth)) => truth,
            Some(Value::Number(number)) => number != 0,
            _ => default,
        }
    }

    /// A component; `None` if it has no name.
    fn component(
        &self,
        element: &Element,
        class: ComponentKind,
        package: &str,
    ) -> Option<DeclaredComponent> {
        let full = |name: String| full_class(package, name);
        let name = self.text(element, id::NAME).filter(|name| !name.is_empty())?;
        let filters: Vec<IntentFilter> = element
            .all("intent-filter")
            .take(MAX_COUNT)
            .map(|filter| self.filter(filter))
            .collect();
        // Without the attribute, filters decide.
        let exported = self.truth(element, id::EXPORTED, !filters.is_empty());
        Some(DeclaredComponent {
            class,
            name: full(name),
            label: self.text(element, id::LABEL),
            target: self.text(element, id::TARGET_ACTIVITY).map(full),
            exported,
            enabled: self.truth(element, id::ENABLED, true),
            permission: self.text(element, id::PERMISSION),
            authorities: self.text(element, id::AUTHORITIES),
            filters,
            meta: element
                .all("meta-data")
                .take(MAX_COUNT)
                .filter_map(|meta| self.meta(meta))
                .collect(),
        })
    }

    fn filter(&self, element: &Element) -> IntentFilter {
        let names = |tag| {
            let all = element.all(tag).take(MAX_COUNT);
            all.filter_map(|it| self.text(it, id::NAME)).collect::<Vec<_>>()
        };
        let of_data = |id| {
            let all = element.all("data").take(MAX_COUNT);
            all.filter_map(|it| self.text(it, id)).collect::<Vec<_>>()
        };
        IntentFilter {
            priority: self.number(element, id::PRIORITY).unwrap_or(0),
            actions: names("action"),
            categories: names("category"),
            schemes: of_data(id::SCHEME),
            hosts: of_data(id::HOST),
            types: of_data(id::MIME_TYPE),
        }
    }

    fn meta(&self, element: &Element) -> Option<MetaData> {
        let name = self.text(element, id::NAME)?;
        let value = match element.get(id::RESOURCE, "") {
            // Keeps the id, not the resource: that is what `android:resource` is for.
            Some(Value::Reference(id)) => MetaValue::Resource(*id),
            _ => MetaValue::Text(self.text(element, id::VALUE)?),
        };
        Some(MetaData { name, value })
    }
}

/// A value as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        // `aapt` stores `1.0` as a number; Java prints it like this.
        Value::Other(0x04, bits) => Some(format!("{:?}", f32::from_bits(*bits))),
        Value::Reference(_) | Value::Other(..) => None,
    }
}

/// A text without characters that would break a line or a screen.
fn tidy(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(MAX_LENGTH).collect::<String>().trim().to_owned()
}
