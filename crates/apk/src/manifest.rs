//! A package's manifest: what the app is called, and which of its services others may start.
//!
//! Begin with [`Manifest`]. References are resolved by the caller's `Look`; attributes go by their resource, not by their name, as on a
//! phone. What is taken of several, and the defaults, follow AOSP's `ParsingPackageUtils` and `ParsedServiceUtils`. Activities, receivers
//! and providers are not read.

use super::Error;
use super::xml::{Element, Value, id};

/// The API level from which on a part with a filter must say whether it is exported.
const MUST_SAY_EXPORTED: u32 = 31;
/// The longest name of a package and of a permission, in bytes. Android refuses longer ones of packages (`MAX_FILE_NAME_SIZE`, 223).
const LONGEST_NAME: usize = 1024;
/// What a release's name instead of a number counts as: later than all (`VMRuntime.SDK_VERSION_CUR_DEVELOPMENT`).
const IN_DEVELOPMENT: u32 = 10_000;

/// What a package says of itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifest {
    /// Its package name.
    pub package: String,
    /// As Android compares versions: the major one in the upper half.
    pub version_code: u64,
    /// As people read it; `None` where it has none.
    pub version_name: Option<String>,
    /// The application's label, in the default language; `None` where it has none, or it is not in this package.
    pub label: Option<String>,
    /// The lowest API level that it runs on; 1 where it says none.
    pub min_sdk: u32,
    /// The API level that it was made for; the lowest where it says none.
    pub target_sdk: u32,
    /// Whether the application is enabled as a whole.
    pub enabled: bool,
    /// Its services, in order.
    pub services: Vec<Service>,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Service {
    /// Full class name.
    pub class: String,
    /// Whether other apps may start it: as it says, else whether it has a filter.
    pub exported: bool,
    /// What it says of that; `None` where it says nothing. With a filter and for API level 31 or above it must say it, see
    /// [`Manifest::lacks_exported`].
    pub exported_written: Option<bool>,
    /// Whether it can be started at all: its own `android:enabled` and the application's.
    pub enabled: bool,
    /// The permission that callers need: its own, else the application's.
    pub permission: Option<String>,
    /// Its intent filters, in order.
    pub filters: Vec<Filter>,
    /// Its `meta-data`, in order. Of two of one name Android keeps the last.
    pub meta: Vec<Meta>,
    /// The line of the manifest's source; 0 where it is not known.
    pub line: u32,
}

/// Which Intents a part wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// The actions, in order.
    pub actions: Vec<String>,
    /// The categories, in order.
    pub categories: Vec<String>,
}

/// A `meta-data` entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// Its name.
    pub name: String,
    /// What an app gets that asks for it: of `android:resource` the id, of `android:value` the value, references followed (a file comes
    /// as its path). [`Value::Reference`] is therefore a resource, or what could not be found.
    pub value: Value,
    /// The resource that `android:value` refers to, before it was followed.
    pub reference: Option<u32>,
    /// The words in which it was written, where the file kept them: `1.0` of a float.
    pub written: Option<String>,
    /// The line of the manifest's source; 0 where it is not known.
    pub line: u32,
}

impl Manifest {
    /// The services with this action, in order.
    pub fn services_for<'a>(&'a self, action: &'a str) -> impl Iterator<Item = &'a Service> {
        self.services.iter().filter(move |service| service.answers(action))
    }

    /// Whether this service has a filter and does not say whether it is exported, although the package is for API level 31 or above:
    /// from Android 12 on it cannot be installed.
    pub fn lacks_exported(&self, service: &Service) -> bool {
        let must = self.target_sdk >= MUST_SAY_EXPORTED && !service.filters.is_empty();
        must && service.exported_written.is_none()
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// [`Error::Malformed`] where it is none; whatever `resolve` fails with.
    pub(crate) fn read(root: &Element, resolve: &mut Look<'_>) -> Result<Self, Error> {
        let broken = |why: &str| Error::malformed("manifest", why);
        if root.name != "manifest" {
            return Err(broken("its root is another element"));
        }
        // The one attribute that Android asks for by its name.
        let package = root.attributes.iter().find(|it| it.name == "package" && it.id.is_none());
        let package = package.and_then(|it| it.value.text()).unwrap_or_default();
        if package.is_empty() {
            return Err(broken("it names no package"));
        }
        if package.len() > LONGEST_NAME {
            return Err(broken("its package's name is too long"));
        }
        let mut manifest = Self { package: package.to_owned(), enabled: true, ..Self::default() };
        let low = integer(root, id::VERSION_CODE, resolve)?.unwrap_or(0).cast_unsigned();
        let high = integer(root, id::VERSION_CODE_MAJOR, resolve)?.unwrap_or(0).cast_unsigned();
        manifest.version_code = u64::from(high) << 32 | u64::from(low);
        manifest.version_name = words(root, id::VERSION_NAME, resolve)?;
        manifest.min_sdk = 1;
        manifest.target_sdk = 1;
        for uses in root.named("uses-sdk") {
            manifest.min_sdk = level(uses, id::MIN_SDK, resolve)?.unwrap_or(1);
            manifest.target_sdk = level(uses, id::TARGET_SDK, resolve)?.unwrap_or(manifest.min_sdk);
        }
        // Android warns of a second application and passes it over.
        if let Some(application) = root.named("application").next() {
            manifest.application(application, resolve)?;
        }
        Ok(manifest)
    }

    fn application(&mut self, element: &Element, resolve: &mut Look<'_>) -> Result<(), Error> {
        self.label = words(element, id::LABEL, resolve)?;
        self.enabled = boolean(element, id::ENABLED, resolve)?.unwrap_or(true);
        // Each service may have its copy.
        let permission = words(element, id::PERMISSION, resolve)?;
        if permission.as_ref().is_some_and(|it| it.len() > LONGEST_NAME) {
            return Err(Error::malformed("manifest", "its permission's name is too long"));
        }
        for service in element.named("service") {
            let Some(name) = words(service, id::NAME, resolve)? else { continue };
            let mut service = Service::read(service, resolve)?;
            service.class = class(&self.package, &name);
            service.enabled &= self.enabled;
            // An empty one of its own asks for none, whatever the application's.
            service.permission = service.permission.or_else(|| permission.clone());
            service.permission = service.permission.filter(|it| !it.is_empty());
            self.services.push(service);
        }
        Ok(())
    }
}

impl Service {
    /// Whether one of its filters has this action.
    pub fn answers(&self, action: &str) -> bool {
        self.filters.iter().any(|filter| filter.actions.iter().any(|one| one == action))
    }

    /// The `meta-data` of this name: the last, as on a phone.
    pub fn meta(&self, name: &str) -> Option<&Meta> {
        self.meta.iter().rev().find(|one| one.name == name)
    }

    fn read(element: &Element, resolve: &mut Look<'_>) -> Result<Self, Error> {
        let mut service = Self {
            exported_written: match element.by_id(id::EXPORTED) {
                Some(_) => Some(boolean(element, id::EXPORTED, resolve)?.unwrap_or(false)),
                None => None,
            },
            enabled: boolean(element, id::ENABLED, resolve)?.unwrap_or(true),
            permission: words(element, id::PERMISSION, resolve)?,
            line: element.line,
            ..Self::default()
        };
        for filter in element.named("intent-filter") {
            let mut names = |of: &str| -> Result<Vec<String>, Error> {
                let names = filter.named(of).map(|one| words(one, id::NAME, resolve));
                names.filter_map(Result::transpose).collect()
            };
            let (actions, categories) = (names("action")?, names("category")?);
            service.filters.push(Filter { actions, categories });
        }
        for meta in element.named("meta-data") {
            service.meta.extend(Meta::read(meta, resolve)?);
        }
        service.exported = service.exported_written.unwrap_or(!service.filters.is_empty());
        Ok(service)
    }
}

impl Meta {
    fn read(element: &Element, resolve: &mut Look<'_>) -> Result<Option<Self>, Error> {
        let Some(name) = words(element, id::NAME, resolve)? else { return Ok(None) };
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

/// What a resource comes to.
pub(crate) type Look<'a> = dyn FnMut(u32) -> Result<Option<Value>, Error> + 'a;

/// What an attribute comes to; a reference that is not here stays one.
fn followed(element: &Element, id: u32, resolve: &mut Look<'_>) -> Result<Option<Value>, Error> {
    let Some(attribute) = element.by_id(id) else { return Ok(None) };
    match &attribute.value {
        Value::Reference(to) => Ok(Some(resolve(*to)?.unwrap_or(Value::Reference(*to)))),
        value => Ok(Some(value.clone())),
    }
}

fn words(element: &Element, id: u32, resolve: &mut Look<'_>) -> Result<Option<String>, Error> {
    let value = followed(element, id, resolve)?;
    Ok(value.filter(|it| !matches!(it, Value::Reference(_))).and_then(|value| value.words()))
}

fn integer(element: &Element, id: u32, resolve: &mut Look<'_>) -> Result<Option<i32>, Error> {
    Ok(match followed(element, id, resolve)? {
        Some(Value::Integer(number)) => Some(number),
        Some(Value::Boolean(is)) => Some(i32::from(is)),
        // `TypedArray.getInt` reads words too.
        Some(Value::Text(text)) => text.trim().parse().ok(),
        _ => None,
    })
}

/// `TypedArray.getBoolean`: numbers other than 0, and three words (`XmlUtils.convertValueToBoolean`).
fn boolean(element: &Element, id: u32, resolve: &mut Look<'_>) -> Result<Option<bool>, Error> {
    Ok(match followed(element, id, resolve)? {
        Some(Value::Boolean(is)) => Some(is),
        Some(Value::Integer(number)) => Some(number != 0),
        Some(Value::Text(text)) => Some(matches!(text.as_str(), "true" | "TRUE" | "1")),
        _ => None,
    })
}

/// An API level: a number, or the name of a release that has none yet.
fn level(element: &Element, id: u32, resolve: &mut Look<'_>) -> Result<Option<u32>, Error> {
    Ok(match followed(element, id, resolve)? {
        Some(Value::Integer(number)) => u32::try_from(number).ok(),
        Some(Value::Text(text)) => Some(text.parse().unwrap_or(IN_DEVELOPMENT)),
        _ => None,
    })
}

/// The full name of a class (`ParsingUtils.buildClassName`).
fn class(package: &str, name: &str) -> String {
    match name.find('.') {
        Some(0) => format!("{package}{name}"),
        Some(_) => name.to_owned(),
        None => format!("{package}.{name}"),
    }
}
