//! What the apps on a phone offer.
//!
//! Begin with [`Bridge::catalog`]. The phone is asked which services there are, then what it knows of each app (several at once), and
//! only of what is new or has changed are packages read. What was read is kept by version, time of the update and files, so that a second
//! look reads nothing. One app that cannot be read is listed with what is wrong with it; it never spoils the list. What stands in a
//! package is [`super::package`]'s, what the platform's own functions say [`super::functions`]'s.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use thumbwire_device::{AppId, Component, Device, Error, Package, Platform};
use thumbwire_mobile_mcp::ACTION;
use tokio::time::{Instant, timeout};

use super::functions::{self, Functions};
use super::package::{Contents, Unread};
use super::{Bridge, lock};
use crate::action::{AppTool, AppTools, By, Catalog, Cause, Complaint, Failure, Phase, Trusted};

/// The most apps that are looked into.
pub(super) const MOST_APPS: usize = 64;

/// The most tools that are listed, of all apps together.
pub(super) const MOST_TOOLS: usize = 512;

/// The most services of one app.
const MOST_SERVICES: usize = 16;

/// How many apps are looked into at once. Each costs the phone a process or two.
const AT_ONCE: usize = 4;

/// How long one app's packages may take.
const READING: Duration = Duration::from_secs(20);

/// What is known of a phone's apps.
#[derive(Default)]
pub(super) struct Known {
    /// One look at a time; who waits for it shares what it finds.
    looking: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    read: BTreeMap<AppId, Read>,
    functions: Functions,
    last: Option<(Instant, Arc<Found>)>,
}

/// What was read of an app, and of which version.
#[derive(Clone)]
struct Read {
    package: Package,
    services: Vec<Component>,
    contents: Arc<Contents>,
}

/// What was found on a phone.
pub(super) struct Found {
    pub(super) offers: Vec<Offer>,
    phases: Vec<(Phase, Duration)>,
}

/// What an app offers by one protocol.
#[derive(Clone)]
pub(super) struct Offer {
    /// Whether it is trusted is decided when it is told.
    pub(super) tools: AppTools,
    /// The Linux user that the app runs as, where the phone tells.
    pub(super) uid: Option<u32>,
}

/// An app that may offer something.
struct Candidate {
    app: AppId,
    services: Vec<Component>,
    functions: Option<functions::Offered>,
}

impl Bridge {
    /// What the apps on a phone offer. An answer that is not older than that may be an earlier one; zero asks the phone.
    ///
    /// # Errors
    /// When the phone cannot tell, or what is remembered of apps cannot be read.
    pub async fn catalog(
        &self,
        device: &dyn Device,
        no_older_than: Duration,
    ) -> Result<Catalog, Failure> {
        let found = self.found(device, no_older_than).await?;
        let pins = self.pins()?;
        let told = |offer: &Offer| {
            let mut tools = offer.tools.clone();
            tools.trusted = self.options.trust.judge(&tools, pins.get(&tools.app.0));
            Arc::new(tools)
        };
        Ok(Catalog { apps: found.offers.iter().map(told).collect(), phases: found.phases.clone() })
    }

    pub(super) async fn found(
        &self,
        device: &dyn Device,
        no_older_than: Duration,
    ) -> Result<Arc<Found>, Failure> {
        let asked = Instant::now();
        let known = self.known(&device.identity().id);
        let _turn = known.looking.lock().await;
        if let Some((at, found)) = &lock(&known.memory).last {
            // What somebody else began to look for after this call came is as fresh as what it would find.
            let recent = !no_older_than.is_zero() && at.elapsed() <= no_older_than;
            if recent || *at > asked {
                return Ok(Arc::clone(found));
            }
        }
        let began = Instant::now();
        let found = Arc::new(self.find(device, &known).await?);
        lock(&known.memory).last = Some((began, Arc::clone(&found)));
        Ok(found)
    }

    async fn find(&self, device: &dyn Device, known: &Known) -> Result<Found, Failure> {
        let failed = |error: &Error| Failure::of_device(&device.identity().id, error);
        let Platform::Android = device.identity().platform else {
            let (what, platform) = ("tools of apps".into(), device.identity().platform);
            return Err(Cause::PlatformNotSupported { what, platform }.into());
        };
        let last = lock(&known.memory).functions.clone();
        let ((services, query), (functions, listing)) =
            tokio::join!(timed(device.services(ACTION)), timed(functions::ask(device, last)),);
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
                // It went in between.
                Err(Error::NoSuchApp { .. }) => continue,
                other => other,
            };
            reading.push(self.look_into(device, known, candidate, package));
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
            (Phase::Query, query),
            (Phase::Functions, listing),
            (Phase::Package, package),
            (Phase::Read, began.elapsed()),
        ];
        Ok(Found { offers, phases })
    }

    /// What an app offers, read anew where it is not the one that was read.
    async fn look_into(
        &self,
        device: &dyn Device,
        known: &Known,
        candidate: Candidate,
        package: Result<Package, Error>,
    ) -> Result<Vec<Offer>, Error> {
        let Candidate { app, services, functions } = candidate;
        let (mut version, mut uid) = (0, None);
        let contents = match package {
            Err(error) => Arc::new(Contents::unread(&error.to_string())),
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
                                let read = Read { package, services: services.clone(), contents };
                                let contents = Arc::clone(&read.contents);
                                lock(&known.memory).read.insert(app.clone(), read);
                                contents
                            }
                            Ok(Err(Unread::Device(error @ Error::NotConnected { .. }))) => {
                                return Err(error);
                            }
                            Ok(Err(Unread::Device(error))) => {
                                Arc::new(Contents::unread(&error.to_string()))
                            }
                            Ok(Err(Unread::Words(why))) => Arc::new(Contents::unread(&why)),
                            Err(_) => Arc::new(Contents::unread("it takes too long to read")),
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
                trusted: Trusted::NotAllowed,
                tools,
                complaints,
            },
            uid,
        };
        let mut offers = Vec::new();
        if !services.is_empty() {
            let Contents { name, description, tools, complaints, .. } = &*contents;
            offers.push(of(By::MobileMcp, name, description, tools.clone(), complaints.clone()));
        }
        if let Some(functions::Offered { tools, complaints, .. }) = functions {
            offers.push(of(By::AppFunctions, &contents.name, "", tools, complaints));
        }
        Ok(offers)
    }
}

/// The apps that offer something, the Mobile-MCP ones first, as many as are looked into; and a word about the rest.
fn candidates(
    services: Vec<Component>,
    offered: Vec<functions::Offered>,
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
        if known.len() < MOST_SERVICES && !known.contains(&service) {
            known.push(service);
        }
    }
    for offered in offered {
        let place = at(&mut all, &offered.app);
        all[place].functions = Some(offered);
    }
    let rest = all.split_off(all.len().min(MOST_APPS));
    let beyond = rest.first().map(|first| Offer {
        tools: AppTools {
            app: first.app.clone(),
            by: if first.services.is_empty() { By::AppFunctions } else { By::MobileMcp },
            name: first.app.0.clone(),
            description: String::new(),
            version: 0,
            certificate: String::new(),
            trusted: Trusted::NotAllowed,
            tools: Vec::new(),
            complaints: vec![too_many(format!(
                "{MOST_APPS} apps are looked into at most; this one and {} more were not",
                rest.len() - 1
            ))],
        },
        uid: None,
    });
    (all, beyond)
}

/// Cuts what is offered to as many tools as are listed.
fn bound(offers: &mut [Offer]) {
    let mut left = MOST_TOOLS;
    for Offer { tools, .. } in offers {
        let over = tools.tools.len().saturating_sub(left);
        if over > 0 {
            tools.tools.truncate(left);
            tools.complaints.push(too_many(format!(
                "{MOST_TOOLS} tools are listed at most, of all apps together; {over} of this app's are left out"
            )));
        }
        left -= tools.tools.len();
    }
}

fn too_many(says: String) -> Complaint {
    Complaint { rule: "bounds".into(), fatal: true, says }
}

async fn package_of(device: &dyn Device, app: &AppId) -> Result<Package, Error> {
    device.package(app).await
}

async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let began = Instant::now();
    let done = work.await;
    (done, began.elapsed())
}
