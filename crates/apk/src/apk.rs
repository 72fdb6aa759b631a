//! A package: its parts, read as they are asked for.

use bytes::Bytes;

use super::archive::Archive;
use super::configuration::Wanted;
use super::manifest::Manifest;
use super::signing::{self, Certificate};
use super::table::Table;
use super::xml::{self, Element, Value};
use super::{Error, Limits, Source};

const MANIFEST: &str = "AndroidManifest.xml";
const TABLE: &str = "resources.arsc";

/// An Android package of which only the ranges are read that are asked for.
///
/// Of a resource that has several values, for languages and phones, one is taken by a fixed rule: that without a language, else English
/// (without a region, American, any other), else the first language in the table; among those the one that asks for nothing special of
/// the phone (size, density, night …), and the lowest API level, or with [`on`](Self::on) the highest that the phone reaches; of equals
/// the first.
pub struct Apk<'s> {
    archive: Archive<'s>,
    limits: Limits,
    wanted: Wanted,
    /// `Some(None)`: it has none.
    table: Option<Option<Table>>,
}

impl<'s> Apk<'s> {
    /// Reads the end and the list of files.
    ///
    /// # Errors
    /// [`Error::Malformed`] where it is no package that Android would install, [`Error::TooLarge`], [`Error::Source`]: so with all that
    /// follows.
    pub async fn open(source: impl Source + 's, limits: Limits) -> Result<Self, Error> {
        let archive = Archive::open(Box::new(source), limits).await?;
        Ok(Self { archive, limits, wanted: Wanted::default(), table: None })
    }

    /// The same, as a phone of this API level reads it: its resources for that level, and the certificate that this level goes by.
    #[must_use]
    pub fn on(mut self, sdk: u32) -> Self {
        self.wanted.sdk = Some(sdk);
        self
    }

    /// The names of the files in it, in the directory's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.names()
    }

    /// A file, unpacked.
    ///
    /// # Errors
    /// [`Error::Missing`] where there is none.
    pub async fn file(&mut self, name: &str) -> Result<Bytes, Error> {
        self.archive.file(name).await
    }

    /// Its manifest, with what that refers to.
    ///
    /// # Errors
    /// See [`open`](Self::open); [`Error::Missing`] where it has no manifest.
    pub async fn manifest(&mut self) -> Result<Manifest, Error> {
        let root = self.manifest_xml().await?;
        self.load_table().await?;
        let (wanted, table) = (self.wanted.clone(), &mut self.table);
        Manifest::read(&root, &mut |id| look(table, id, &wanted))
    }

    /// Its manifest as it stands.
    ///
    /// # Errors
    /// See [`manifest`](Self::manifest).
    pub async fn manifest_xml(&mut self) -> Result<Element, Error> {
        if self.table.is_none() {
            self.archive.gather(&[MANIFEST, TABLE]).await?;
        }
        xml::read(&self.archive.file(MANIFEST).await?, &self.limits)
    }

    /// The application's label in a language (`de`, `de-AT`), else in the default one.
    ///
    /// # Errors
    /// See [`manifest`](Self::manifest).
    pub async fn label(&mut self, locale: &str) -> Result<Option<String>, Error> {
        let before = self.wanted.locale.replace(locale.to_owned());
        let manifest = self.manifest().await;
        self.wanted.locale = before;
        Ok(manifest?.label)
    }

    /// The XML file that a resource is (`@xml/…`), references left as they are: see [`resolve`](Self::resolve).
    ///
    /// # Errors
    /// [`Error::Missing`] where there is no such resource, or it is no file of this package.
    pub async fn xml(&mut self, id: u32) -> Result<Element, Error> {
        let value = self.value(id).await?;
        let path = value.as_ref().and_then(Value::text).filter(|path| self.archive.has(path));
        let path = path.ok_or_else(|| Error::Missing(format!("file of resource {id:#010x}")))?;
        xml::read(&self.archive.file(path).await?, &self.limits)
    }

    /// What a resource comes to, references followed. A reference to what is not here, as the framework's, stays one. `None` where there
    /// is no such resource, it has no single value, or references run in a circle.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn value(&mut self, id: u32) -> Result<Option<Value>, Error> {
        self.load_table().await?;
        look(&mut self.table, id, &self.wanted)
    }

    /// A resource as words, whatever its type; `None` as with [`value`](Self::value), and where it is not in this package.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn string(&mut self, id: u32) -> Result<Option<String>, Error> {
        let value = self.value(id).await?.filter(|it| !matches!(it, Value::Reference(_)));
        Ok(value.and_then(|value| value.words()))
    }

    /// Replaces references in attributes by what they come to; those that are not here stay.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn resolve(&mut self, root: &mut Element) -> Result<(), Error> {
        self.load_table().await?;
        let mut open = vec![root];
        while let Some(element) = open.pop() {
            for attribute in &mut element.attributes {
                let Value::Reference(id) = attribute.value else { continue };
                if let Some(value) = look(&mut self.table, id, &self.wanted)? {
                    attribute.value = value;
                }
            }
            open.extend(&mut element.children);
        }
        Ok(())
    }

    /// Who signed it, as a phone of the level given to [`on`](Self::on) sees it: by the newest scheme that is there and that it knows, see
    /// [`Scheme`](super::Scheme). Without a level, by all schemes, the newest first: mostly the same certificate several times. Whoever
    /// remembers an app by its signer must then remember all of them, because a phone verifies one scheme, and what stands in the others may be
    /// anybody's copy. Empty where nobody signed. No signature is verified here: the phone did that when it installed the package.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub async fn certificates(&mut self) -> Result<Vec<Certificate>, Error> {
        signing::certificates(&mut self.archive, self.wanted.sdk).await
    }

    async fn load_table(&mut self) -> Result<(), Error> {
        if self.table.is_none() {
            let has = self.archive.has(TABLE);
            let bytes = if has { Some(self.archive.file(TABLE).await?) } else { None };
            let table = bytes.map(|bytes| Table::read(&bytes, &self.limits)).transpose()?;
            self.table = Some(table);
        }
        Ok(())
    }
}

fn look(
    table: &mut Option<Option<Table>>,
    id: u32,
    wanted: &Wanted,
) -> Result<Option<Value>, Error> {
    table.as_mut().and_then(Option::as_mut).map_or(Ok(None), |table| table.value(id, wanted))
}
