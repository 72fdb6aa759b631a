//! Discovers the app tools on a phone.
//!
//! Start with [`AppToolHost::catalog`]. It asks the phone which services exist, then for each app's
//! package info (several apps at once), and reads packages only if they are new or have changed.
//! Results are cached by version, update time and files, so a second query reads no package. An app
//! that cannot be read is listed with its findings; it never spoils the list. [`super::package`]
//! reads packages, [`super::functions`] the platform's AppFunctions.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use thumbwire_base::lock;
use thumbwire_device::{AppId, Component, Device, Error, Package, Platform};
use thumbwire_mobile_mcp::ACTION;
use tokio::time::{Instant, timeout};

use super::AppToolHost;
use super::functions::{self, AppFunctionsState};
use super::package::{ParsedApp, ReadAppError};
use crate::action::{
    AppTool, AppToolFinding, AppToolPhase, AppToolProtocol, AppTools, Catalog, Cause, Failure,
    TrustStatus,
};

/// The maximum number of apps that are inspected.
pub(super) const MAX_APPS: usize = 64;

/// The maximum number of tools, over all apps.
pub(super) const MAX_TOOLS: usize = 512;

/// The maximum number of services per app.
const MAX_SERVICES: usize = 16;

/// How many apps are inspected at once. Each costs the phone a process or two.
const AT_ONCE: usize = 4;

/// How long reading one app's packages may take.
const READING: Duration = Duration::from_secs(20);

/// What is known about a phone's apps.
#[derive(Default)]
pub(super) struct CatalogCache {
    /// One query at a time; callers who wait for it share its result.
    looking: tokio::sync::Mutex<()>,
    memory: Mutex<CatalogState>,
}

#[derive(Default)]
struct CatalogState {
    read: BTreeMap<AppId, ReadApp>,
    functions: AppFunctionsState,
    last: Option<(Instant, Arc<Discovery>)>,
}

/// What was read from an app, and the version that was read.
#[derive(Clone)]
struct ReadApp {
    package: Package,
    services: Vec<Component>,
    contents: Arc<ParsedApp>,
}

/// What was found on a phone.
pub(super) struct Discovery {
    pub(super) offers: Vec<Offer>,
    phases: Vec<(AppToolPhase, Duration)>,
}

/// What an app offers by one protocol.
#[derive(Clone)]
pub(super) struct Offer {
    /// Its trust status is computed when it is returned.
    pub(super) tools: AppTools,
    /// The app's Linux user id, if the phone reports it.
    pub(super) uid: Option<u32>,
}

/// An app that may offer tools.
struct Candidate {
    app: AppId,
    services: Vec<Component>,
    functions: Option<functions::AppFunctionSet>,
}

impl AppToolHost {
    /// The app tools on a phone. A cached answer may be served if it is not older than this; zero
    /// asks the phone.
    ///
    /// # Errors
    /// If the phone cannot answer, or the stored pins cannot be read.
    pub async fn catalog(
        &self,
        device: &dyn Device,
        max_age: Duration,
    ) -> Result<Catalog, Failure> {
        let found = self.found(device, max_age).await?;
        let pins = self.pins()?;
        let out = |offer: &Offer| {
            let mut tools = offer.tools.clone();
            tools.trusted = self.options.trust.trust_status(&tools, pins.get(&tools.app.0));
            Arc::new(tools)
        };
        Ok(Catalog { apps: found.offers.iter().map(out).collect(), phases: found.phases.clone() })
    }

    pub(super) async fn found(
        &self,
        device: &dyn Device,
        max_age: Duration,
    ) -> Result<Arc<Discovery>, Failure> {
        let asked = Instant::now();
        let known = self.known(&device.identity().id);
        let _turn = known.looking.lock().await;
        if let Some((at, found)) = &lock(&known.memory).last {
            // A query that another caller started after this call arrived is as fresh as a new one.
            let recent = !max_age.is_zero() && at.elapsed() <= max_age;
            if recent || *at > asked {
                return Ok(Arc::clone(found));
            }
        }
        let began = Instant::now();
        let found = Arc::new(self.find(device, &known).await?);
        lock(&known.memory).last = Some((began, Arc::clone(&found)));
        Ok(found)
    }

    async fn find(&self, device: &dyn Device, known: &CatalogCache) -> Result<Discovery, Failure> {
        let failed = |error: &Error| Failure::of_device(&device.identity().id, error);
        let Platform::Android = device.identity().platform else {
            let (what, platform) = ("tools of apps".into(), device.identity().platform);
            return Err(Cause::PlatformNotSupported { what, platform }.into());
        };
        let last = lock(&known.memory).functions.clone();
        let ((services, query), (functions, listing)) =
            tokio::join!(timed(find_services(device)), timed(functions::ask(device, last)),);
        let services = match services {
            Err(Error::Unsupported { .. }) if functions.is_known() => Vec::new(),
            other => other.map_err(|error| failed(&error))?,
        };
        let offered = functions.offered();
        lock(&known.memory).functions = functions;
        let (candidates, beyond) = candidates(services, offered);

        let asking = candidates.iter().map(|candidate| package_of(device, &candidate.app));
        let asking: Vec<_> = asking.collect();
        let (packages, package) =
            timed(stream::iter(asking).buffered(AT_ONCE).collect::<Vec<_>>()).await;

        let began = Instant::now();
        let mut reading = Vec::new();
        for (candidate, package) in candidates.into_iter().zip(packages) {
            let package = match package {
                Err(error @ Error::NotConnected { .. }) => return Err(failed(&error)),
                // It was uninstalled in the meantime, or is a vendor's part of the platform.
                Err(Error::NoSuchApp { .. } | Error::InvalidAppId { .. }) => continue,
                other => other,
            };
            reading.push(self.inspect(device, known, candidate, package));
        }
        let read: Vec<_> = stream::iter(reading).buffered(AT_ONCE).collect().await;
        let mut offers = Vec::new();
        for looked in read {
            offers.extend(looked.map_err(|error| failed(&error))?);
        }
        let installed: BTreeSet<_> = offers.iter().map(|offer| offer.tools.app.clone()).collect();
        lock(&known.memory).read.retain(|app, _| installed.contains(app));
        bound(&mut offers);
        offers.extend(beyond);
        let phases = vec![
            (AppToolPhase::Query, query),
            (AppToolPhase::Functions, listing),
            (AppToolPhase::Package, package),
            (AppToolPhase::Read, began.elapsed()),
        ];
        Ok(Discovery { offers, phases })
    }

    /// What an app offers; read again if it has changed.
    async fn inspect(
        &self,
        device: &dyn Device,
        known: &CatalogCache,
        candidate: Candidate,
        package: Result<Package, Error>,
    ) -> Result<Vec<Offer>, Error> {
        let Candidate { app, services, functions } = candidate;
        let (mut version, mut uid) = (0, None);
        let contents = match package {
            Err(error) => Arc::new(ParsedApp::unread(&error.to_string())),
            Ok(package) => {
                (version, uid) = (package.version_code, package.uid);
                let kept = lock(&known.memory).read.get(&app).cloned();
                match kept {
                    Some(read) if read.package == package && read.services == services => {
                        read.contents
                    }
                    _ => {
                        let reading = self.reader.read(device, &package, &services);
                        match timeout(READING, reading).await {
                            Ok(Ok(contents)) => {
                                let contents = Arc::new(contents);
                                let read =
                                    ReadApp { package, services: services.clone(), contents };
                                let contents = Arc::clone(&read.contents);
                                lock(&known.memory).read.insert(app.clone(), read);
                                contents
                            }
                            Ok(Err(ReadAppError::Device(error @ Error::NotConnected { .. }))) => {
                                return Err(error);
                            }
                            Ok(Err(ReadAppError::Device(error))) => {
                                Arc::new(ParsedApp::unread(&error.to_string()))
                            }
                            Ok(Err(ReadAppError::Words(reason))) => {
                                Arc::new(ParsedApp::unread(&reason))
                            }
                            Err(_) => Arc::new(ParsedApp::unread("reading its packages timed out")),
                        }
                    }
                }
            }
        };
        let of = |by, name: &str, description: &str, tools: Vec<AppTool>, complaints| Offer {
            tools: AppTools {
                app: app.clone(),
                by,
                name: if name.is_empty() { app.0.clone() } else { name.to_owned() },
                description: description.to_owned(),
                version,
                certificate: contents.certificate.clone(),
                trusted: TrustStatus::NotAllowed,
                tools,
                complaints,
            },
            uid,
        };
        let mut offers = Vec::new();
        if !services.is_empty() {
            let ParsedApp { name, description, tools, complaints, .. } = &*contents;
            offers.push(of(
                AppToolProtocol::MobileMcp,
                name,
                description,
                tools.clone(),
                complaints.clone(),
            ));
        }
        if let Some(functions::AppFunctionSet { tools, complaints, .. }) = functions {
            offers.push(of(AppToolProtocol::AppFunctions, &contents.name, "", tools, complaints));
        }
        Ok(offers)
    }
}

/// The apps that offer tools, Mobile-MCP apps first, up to the limit; and a finding about the rest.
fn candidates(
    services: Vec<Component>,
    offered: Vec<functions::AppFunctionSet>,
) -> (Vec<Candidate>, Option<Offer>) {
    let mut all: Vec<Candidate> = Vec::new();
    let mut places: BTreeMap<AppId, usize> = BTreeMap::new();
    let mut at = |all: &mut Vec<Candidate>, app: &AppId| {
        *places.entry(app.clone()).or_insert_with(|| {
            let (services, functions) = (Vec::new(), None);
            all.push(Candidate { app: app.clone(), services, functions });
            all.len() - 1
        })
    };
    for service in services {
        let place = at(&mut all, &service.app);
        let known = &mut all[place].services;
        if known.len() < MAX_SERVICES && !known.contains(&service) {
            known.push(service);
        }
    }
    for offered in offered {
        let place = at(&mut all, &offered.app);
        all[place].functions = Some(offered);
    }
    let rest = all.split_off(all.len().min(MAX_APPS));
    let beyond = rest.first().map(|first| Offer {
        tools: AppTools {
            app: first.app.clone(),
            by: if first.services.is_empty() {
                AppToolProtocol::AppFunctions
            } else {
                AppToolProtocol::MobileMcp
            },
            name: first.app.0.clone(),
            description: String::new(),
            version: 0,
            certificate: String::new(),
            trusted: TrustStatus::NotAllowed,
            tools: Vec::new(),
            complaints: vec![too_many(format!(
                "at most {MAX_APPS} apps are inspected; this one and {} more were skipped",
                rest.len() - 1
            ))],
        },
        uid: None,
    });
    (all, beyond)
}

/// Truncates the offers to the maximum number of tools.
fn bound(offers: &mut [Offer]) {
    let mut left = MAX_TOOLS;
    for Offer { tools, .. } in offers {
        let over = tools.tools.len().saturating_sub(left);
        if over > 0 {
            tools.tools.truncate(left);
            tools.complaints.push(too_many(format!(
                "at most {MAX_TOOLS} tools are listed, over all apps; {over} of this app's are omitted"
            )));
        }
        left -= tools.tools.len();
    }
}

fn too_many(text: String) -> AppToolFinding {
    AppToolFinding { rule: "bounds".into(), fatal: true, message: text }
}

async fn package_of(device: &dyn Device, app: &AppId) -> Result<Package, Error> {
    device.packages()?.package_info(app).await
}

async fn find_services(device: &dyn Device) -> Result<Vec<Component>, Error> {
    device.app_services()?.find_services(ACTION).await
}

async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let began = Instant::now();
    let done = work.await;
    (done, began.elapsed())
}
