//! `thumbwire app-tools list`, `describe` and `trust`: what the apps on a phone offer, and whether it may be called.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use thumbwire_device::AppId;

use super::super::{Ended, print};
use super::telling;
use super::whom::{self, Whom};
use crate::action::{Action, AppTools, Call, Catalog, Outcome, Perform as _};
use crate::bridge::{FileStore, TrustStore as _};
use crate::config::Config;
use crate::session::Session;

/// How long a phone may take to tell: on a slow one, each package is read over a slow wire.
pub(super) const BUDGET: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
pub(super) struct List {
    #[command(flatten)]
    whom: Whom,
    /// Print JSON: an object an app, with `package` and `capabilities`
    #[arg(long)]
    json: bool,
    /// Tell how long each part took, on standard error
    #[arg(long)]
    timings: bool,
}

#[derive(clap::Args)]
pub(super) struct Describe {
    /// The app
    #[arg(value_name = "PACKAGE")]
    package: String,
    #[command(flatten)]
    whom: Whom,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(super) struct Trust {
    /// The app
    #[arg(value_name = "PACKAGE")]
    package: String,
    #[command(flatten)]
    whom: Whom,
    /// Trust it no longer, and forget what was agreed to; no phone is asked
    #[arg(long, conflicts_with_all = ["device", "apps"])]
    forget: bool,
}

/// `thumbwire app-tools list`
pub(super) async fn list(arguments: List, config: &Config) -> Result<u8, Ended> {
    let session = arguments.whom.session(config, None, None)?;
    let catalog = ask(&session).await;
    session.end().await;
    let catalog = catalog?;
    if arguments.json {
        print(&format!("{:#}\n", rows(&catalog.apps)))?;
    } else {
        print(&telling::list(&catalog, telling::ink(config.colours)))?;
    }
    if arguments.timings {
        eprint!("{}", telling::phases(&catalog.phases));
    }
    Ok(0)
}

/// `thumbwire app-tools describe`
pub(super) async fn describe(arguments: Describe, config: &Config) -> Result<u8, Ended> {
    let session = arguments.whom.session(config, None, None)?;
    let catalog = ask(&session).await;
    session.end().await;
    let catalog = catalog?;
    let offers = offers(&catalog, &arguments.package)?;
    match arguments.json {
        true => print(&format!("{:#}\n", rows(&offers)))?,
        false => print(&telling::describe(&offers, telling::ink(config.colours)))?,
    }
    Ok(0)
}

/// `thumbwire app-tools trust`
pub(super) async fn trust(arguments: Trust, config: &Config) -> Result<u8, Ended> {
    let store = whom::must_remember(config)?;
    if arguments.forget {
        return forget(&store, &arguments.package);
    }
    let session = arguments.whom.session(config, None, None)?;
    let trusted = trusted(&session, &arguments.package).await;
    session.end().await;
    let offers = trusted?;
    print(&telling::describe(&offers, telling::ink(config.colours)))?;
    let package = telling::harmless(&arguments.package);
    print(&format!("\n{package} is trusted as it is now: by its signer, and in these words.\n"))?;
    Ok(0)
}

fn forget(store: &FileStore, package: &str) -> Result<u8, Ended> {
    let is_known = store.pins().map_err(Ended::failed)?.contains_key(package);
    store.keep(package, None).map_err(Ended::failed)?;
    let package = telling::harmless(package);
    print(&match is_known {
        true => format!("{package} is forgotten: it is trusted no longer.\n"),
        false => format!("{package} was not trusted; nothing is changed.\n"),
    })?;
    Ok(0)
}

/// Trusts an app, and gives what it offers then.
async fn trusted(session: &Session, package: &str) -> Result<Vec<Arc<AppTools>>, Ended> {
    let catalog = ask(session).await?;
    offers(&catalog, package)?;
    let action = Action::TrustAppTools(AppId(package.to_owned()));
    session.perform(&Call::within(BUDGET), action).await?;
    let catalog = ask(session).await?;
    offers(&catalog, package)
}

/// What the apps offer, as the phone has it now.
pub(super) async fn ask(session: &Session) -> Result<Arc<Catalog>, Ended> {
    let action = Action::ListAppTools { no_older_than: Duration::ZERO };
    match session.perform(&Call::within(BUDGET), action).await? {
        Outcome::AppTools(catalog) => Ok(catalog),
        _ => Err(Ended::failed("what the apps offer was answered by something else")),
    }
}

/// What one app offers, by each protocol.
fn offers(catalog: &Catalog, package: &str) -> Result<Vec<Arc<AppTools>>, Ended> {
    let offers = catalog.apps.iter().filter(|tools| tools.app.0 == package);
    let offers: Vec<_> = offers.map(Arc::clone).collect();
    match offers.is_empty() {
        false => Ok(offers),
        true => Err(Ended {
            words: format!(
                "{} offers nothing to programs, or is not on this phone. Next: `thumbwire app-tools list`",
                telling::harmless(package)
            ),
            code: 3,
        }),
    }
}

/// A row an app.
fn rows(apps: &[Arc<AppTools>]) -> serde_json::Value {
    let rows = apps.iter().map(|tools| {
        let capabilities = tools.tools.iter().map(|tool| {
            let values = |list: &[crate::action::Parameter], takes: bool| {
                let values = list.iter().map(|it| {
                    let mut value = json!({ "name": it.name, "type": it.kind });
                    if takes {
                        value["required"] = it.required.into();
                    }
                    value["description"] = it.description.as_str().into();
                    value
                });
                serde_json::Value::from_iter(values)
            };
            json!({
                "id": tool.id,
                "description": tool.description,
                "service": tool.service.as_ref().map(|service| service.class.as_str()),
                "input": values(&tool.input, true),
                "output": values(&tool.output, false),
                "schema": tool.schema,
            })
        });
        let complaints = tools
            .complaints
            .iter()
            .map(|one| json!({ "rule": one.rule, "fatal": one.fatal, "says": one.says }));
        json!({
            "package": tools.app.0,
            "protocol": tools.by.name(),
            "name": tools.name,
            "description": tools.description,
            "version": tools.version,
            "certificate": tools.certificate,
            "trusted": tools.trusted.name(),
            "capabilities": serde_json::Value::from_iter(capabilities),
            "complaints": serde_json::Value::from_iter(complaints),
        })
    });
    serde_json::Value::from_iter(rows)
}
