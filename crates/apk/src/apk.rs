//! An Android package, read on demand.

use bytes::Bytes;

use super::archive::Archive;
use super::configuration::Locale;
use super::manifest::Manifest;
use super::resource_table::ResourceTable;
use super::signing::{self, Certificate};
use super::xml::{self, Element, Value};
use super::{Error, Limits, Source};

const MANIFEST: &str = "AndroidManifest.xml";
const TABLE: &str = "resources.arsc";

/// An Android package. Only the byte ranges that are needed are read.
///
/// If a resource has several values for languages and phones, one is chosen by a fixed rule: the
/// value in the language of [`in_language`](Self::in_language), as Android chooses it; else the one
/// without a language, else English (without a region, US, other), else the first language in the
/// table. Among those, the value without special requirements (size, density, night mode …) wins,
/// then the one for the lowest API level. Of equals, the first wins.
pub struct Apk<'s> {
    archive: Archive<'s>,
    limits: Limits,
    locale: Option<Locale>,
    /// `Some(None)`: the package has none.
    table: Option<Option<ResourceTable>>,
}

impl<'s> Apk<'s> {
    /// Reads the end of the package and its list of files.
    ///
    /// # Errors
    /// [`Error::Malformed`] if Android would not install the package; [`Error::TooLarge`],
    /// [`Error::Source`]. All other methods can return these too.
    pub async fn open(source: impl Source + 's, limits: Limits) -> Result<Self, Error> {
        let archive = Archive::open(Box::new(source), limits).await?;
        Ok(Self { archive, limits, locale: None, table: None })
    }

    /// Reads the package like a phone with this locale, a BCP 47 tag such as `de`, `de-AT` or
    /// `zh-Hant-TW`: texts that are translated for it are in that language.
    #[must_use]
    pub fn in_language(mut self, tag: &str) -> Self {
        self.locale = Some(Locale::read(tag));
        self
    }

    /// The names of all files, in directory order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.names()
    }

    /// The unpacked content of a file.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such file.
    pub async fn file(&mut self, name: &str) -> Result<Bytes, Error> {
        self.archive.file(name).await
    }

    /// The manifest, with references resolved.
    ///
    /// # Errors
    /// See [`open`](Self::open); [`Error::Missing`] if there is no manifest.
    pub async fn manifest(&mut self) -> Result<Manifest, Error> {
        if self.table.is_none() {
            self.archive.prefetch(&[MANIFEST, TABLE]).await?;
        }
        let root = xml::read(&self.archive.file(MANIFEST).await?, &self.limits)?;
        self.load_table().await?;
        let (locale, table) = (self.locale.as_ref(), &mut self.table);
        Manifest::read(&root, &mut |id| inspect(table, id, locale))
    }

    /// The XML file behind a resource (`@xml/…`), with references left as they are; see
    /// [`resolve`](Self::resolve).
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such resource, or it is not a file in this package.
    pub async fn xml(&mut self, id: u32) -> Result<Element, Error> {
        let value = self.value(id).await?;
        let path = value.as_ref().and_then(Value::text).filter(|path| self.archive.has(path));
        let path = path.ok_or_else(|| Error::Missing(format!("file for resource {id:#010x}")))?;
        xml::read(&self.archive.file(path).await?, &self.limits)
    }

    /// The value of a resource, with references followed. A reference to another package, such as
    /// the framework, stays a reference. `None` if there is no such resource, it has no single
    /// value, or the references form a cycle.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn value(&mut self, id: u32) -> Result<Option<Value>, Error> {
        self.load_table().await?;
        inspect(&mut self.table, id, self.locale.as_ref())
    }

    /// A resource as text, whatever its type; `None` like [`value`](Self::value), or if it is not
    /// in this package.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn string(&mut self, id: u32) -> Result<Option<String>, Error> {
        let value = self.value(id).await?.filter(|it| !matches!(it, Value::Reference(_)));
        Ok(value.and_then(|value| value.to_display_string()))
    }

    /// Replaces references in attributes by their values. References to other packages stay.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn resolve(&mut self, root: &mut Element) -> Result<(), Error> {
        self.load_table().await?;
        let mut open = vec![root];
        while let Some(element) = open.pop() {
            for attribute in &mut element.attributes {
                let Value::Reference(id) = attribute.value else { continue };
                if let Some(value) = inspect(&mut self.table, id, self.locale.as_ref())? {
                    attribute.value = value;
                }
            }
            open.extend(&mut element.children);
        }
        Ok(())
    }

    /// The certificates that signed the package: those of all schemes, newest first; this is
    /// usually the same certificate several times. To pin an app by its signer you must pin all of
    /// them, because a phone verifies one scheme only and the others may hold a copy of anybody's
    /// certificate. Empty if the package is unsigned. Signatures are not verified here: the phone
    /// did that at installation.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn certificates(&mut self) -> Result<Vec<Certificate>, Error> {
        signing::certificates(&mut self.archive).await
    }

    async fn load_table(&mut self) -> Result<(), Error> {
        if self.table.is_none() {
            let has = self.archive.has(TABLE);
            let bytes = if has { Some(self.archive.file(TABLE).await?) } else { None };
            let table = bytes.map(|bytes| ResourceTable::read(&bytes, &self.limits)).transpose()?;
            self.table = Some(table);
        }
        Ok(())
    }
}

fn inspect(
    table: &mut Option<Option<ResourceTable>>,
    id: u32,
    locale: Option<&Locale>,
) -> Result<Option<Value>, Error> {
    table.as_mut().and_then(Option::as_mut).map_or(Ok(None), |table| table.value(id, locale))
}
