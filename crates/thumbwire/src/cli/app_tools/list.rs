//! `thumbwire app-tools list`, `describe` and `trust`: the tools that apps offer, and whether they
//! may be called.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use thumbwire_device::AppId;

use super::super::{CliError, print, print_styled};
use super::flags::{self, AppToolsFlags};
use super::render;
use crate::config::Config;
use thumbwire_core::action::{AppTools, Call, Catalog, TypedPerform as _, request};
use thumbwire_core::app_tools::{FileStore, TrustStore as _};
use thumbwire_core::session::Session;

/// Timeout of listing app tools. A slow phone needs long, because each package is read over the
/// wire.
pub(super) const BUDGET: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    flags: AppToolsFlags,
    /// Print JSON: one object per app, with `package` and `capabilities`
    #[arg(short, long)]
    json: bool,
    /// Print how long each phase took, to standard error
    #[arg(long)]
    timings: bool,
}

#[derive(clap::Args)]
pub(super) struct DescribeArgs {
    /// Package of the app
    #[arg(value_name = "PACKAGE")]
    package: String,
    #[command(flatten)]
    flags: AppToolsFlags,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

#[derive(clap::Args)]
pub(super) struct TrustArgs {
    /// Package of the app
    #[arg(value_name = "PACKAGE")]
    package: String,
    #[command(flatten)]
    flags: AppToolsFlags,
    /// Revoke the trust and forget the accepted tools; needs no phone
    #[arg(long, conflicts_with_all = ["device", "allow_app_tools"])]
    revoke: bool,
}

/// `thumbwire app-tools list`
pub(super) async fn list(arguments: ListArgs, config: &Config) -> Result<u8, CliError> {
    let session = arguments.flags.session(config, None, None).await?;
    let catalog = ask(&session).await;
    session.end().await;
    let catalog = catalog?;
    if arguments.json {
        print(&format!("{:#}\n", rows(&catalog.apps)))?;
    } else {
        print_styled(&render::list(&catalog, render::ink(config.colours)))?;
    }
    if arguments.timings {
        eprint!("{}", render::phases(&catalog.phases));
    }
    Ok(0)
}

/// `thumbwire app-tools describe`
pub(super) async fn describe(arguments: DescribeArgs, config: &Config) -> Result<u8, CliError> {
    let session = arguments.flags.session(config, None, None).await?;
    let catalog = ask(&session).await;
    session.end().await;
    let catalog = catalog?;
    let offers = offers(&catalog, &arguments.package)?;
    match arguments.json {
        true => print(&format!("{:#}\n", rows(&offers)))?,
        false => print_styled(&render::describe(&offers, render::ink(config.colours)))?,
    }
    Ok(0)
}

/// `thumbwire app-tools trust`
pub(super) async fn trust(arguments: TrustArgs, config: &Config) -> Result<u8, CliError> {
    let store = flags::must_remember(config)?;
    if arguments.revoke {
        return forget(&store, &arguments.package);
    }
    let session = arguments.flags.session(config, None, None).await?;
    let trusted = trusted(&session, &arguments.package).await;
    session.end().await;
    let offers = trusted?;
    print_styled(&render::describe(&offers, render::ink(config.colours)))?;
    let package = render::sanitize(&arguments.package);
    print(&format!("\n{package} is now trusted, with this signer and these descriptions.\n"))?;
    Ok(0)
}

fn forget(store: &FileStore, package: &str) -> Result<u8, CliError> {
    let is_known = store.pins().map_err(CliError::failed)?.contains_key(package);
    store.save(package, None).map_err(CliError::failed)?;
    let package = render::sanitize(package);
    print(&match is_known {
        true => format!("{package} is no longer trusted.\n"),
        false => format!("{package} was not trusted; nothing changed.\n"),
    })?;
    Ok(0)
}

/// Trusts an app and returns its tools.
async fn trusted(session: &Session, package: &str) -> Result<Vec<Arc<AppTools>>, CliError> {
    let catalog = ask(session).await?;
    offers(&catalog, package)?;
    let asked = request::TrustAppTools(AppId(package.to_owned()));
    session.request(&Call::with_timeout(BUDGET), asked).await?;
    let catalog = ask(session).await?;
    offers(&catalog, package)
}

/// Lists the tools that apps offer, bypassing caches.
pub(super) async fn ask(session: &Session) -> Result<Arc<Catalog>, CliError> {
    let asked = request::ListAppTools { max_age: Duration::ZERO };
    Ok(session.request(&Call::with_timeout(BUDGET), asked).await?)
}

/// One app's tools, for each protocol.
fn offers(catalog: &Catalog, package: &str) -> Result<Vec<Arc<AppTools>>, CliError> {
    let offers = catalog.apps.iter().filter(|tools| tools.app.0 == package);
    let offers: Vec<_> = offers.map(Arc::clone).collect();
    match offers.is_empty() {
        false => Ok(offers),
        true => Err(CliError {
            text: format!(
                "{} offers no tools or is not installed on this phone. Run `thumbwire app-tools list`",
                render::sanitize(package)
            ),
            code: 3,
        }),
    }
}

/// The JSON of these apps, one object each.
fn rows(apps: &[Arc<AppTools>]) -> serde_json::Value {
    let rows = apps.iter().map(|tools| {
        let capabilities = tools.tools.iter().map(|tool| {
            let values = |list: &[thumbwire_core::action::Parameter], takes: bool| {
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
                "version": tool.version,
                "service": tool.service.as_ref().map(|service| service.class.as_str()),
                "input": values(&tool.input, true),
                "output": values(&tool.output, false),
                "schema": tool.schema,
            })
        });
        let findings = tools
            .complaints
            .iter()
            .map(|one| json!({ "rule": one.rule, "fatal": one.fatal, "message": one.message }));
        json!({
            "package": tools.app.0,
            "protocol": tools.by.name(),
            "name": tools.name,
            "description": tools.description,
            "version": tools.version,
            "certificate": tools.certificate,
            "trust": tools.trusted.name(),
            "capabilities": serde_json::Value::from_iter(capabilities),
            "findings": serde_json::Value::from_iter(findings),
        })
    });
    serde_json::Value::from_iter(rows)
}
