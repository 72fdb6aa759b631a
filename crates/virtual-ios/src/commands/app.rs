//! Apps and URLs.

use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_virtual_phone::{Intent, KeyCode};
use thumbwire_webdriver::{ActiveApp, AppCommand, AppState, ErrorCode, WebDriverError};

use super::{Reply, refuse};
use crate::latency;
use crate::phone::{State, VirtualIphone};
use crate::tree::{SPRINGBOARD, app_name};
use thumbwire_virtual_phone::time::Work;

impl VirtualIphone {
    pub(super) async fn app_command(&self, command: AppCommand) -> Reply {
        match command {
            AppCommand::Launch { bundle_id, .. } => self.launch(&bundle_id).await,
            AppCommand::LaunchUnattached { bundle_id } | AppCommand::Activate { bundle_id } => {
                self.activate(&bundle_id).await
            }
            AppCommand::Terminate { bundle_id } => {
                let ran = self.with(|phone| {
                    let package =
                        phone.world.package_of(&bundle_id).filter(|_| bundle_id != SPRINGBOARD);
                    let running = package.filter(|package| phone.world.pid_of(package).is_some());
                    running.is_some_and(|package| phone.world.force_stop(&package))
                });
                Ok(ran.into())
            }
            AppCommand::State { bundle_id } => {
                Ok(self.with(|phone| app_state(phone, &bundle_id)).to_value())
            }
            AppCommand::List => Ok(self.with(active_apps)),
            AppCommand::ActiveInfo => Ok(self.with(|phone| {
                let bundle_id = phone.front_bundle();
                let package =
                    phone.world.package_of(&bundle_id).unwrap_or_else(|| bundle_id.clone());
                let pid = phone.world.pid_of(&package).map_or(0, u64::from);
                let name = app_name(&phone.world, &package);
                ActiveApp { bundle_id, name, pid, arguments: Vec::new() }.to_value()
            })),
            AppCommand::Deactivate { duration_s } => {
                self.deactivate(duration_s.unwrap_or(3.0)).await
            }
            AppCommand::ResetAuthorization { .. } => {
                self.with(|phone| {
                    let package = phone.world.foreground().package;
                    phone.world.forget_permissions(&package);
                });
                Ok(Value::Null)
            }
            AppCommand::OpenUrl { url, .. } => self.open_url(url).await,
        }
    }

    /// Starts an app from its beginning.
    pub(super) async fn launch(&self, bundle_id: &str) -> Reply {
        let package = self.package(bundle_id)?;
        if bundle_id != SPRINGBOARD {
            self.with(|phone| phone.world.force_stop(&package));
        }
        self.start(&package, latency::LAUNCH).await
    }

    /// Brings an app to the front.
    pub(super) async fn activate(&self, bundle_id: &str) -> Reply {
        let package = self.package(bundle_id)?;
        let runs = self.with(|phone| phone.world.pid_of(&package).is_some());
        self.start(&package, if runs { latency::ACTIVATE } else { latency::LAUNCH }).await
    }

    async fn start(&self, package: &str, work: Work) -> Reply {
        let started = self.with(|phone| match phone.world.bundle_id_of(package) == SPRINGBOARD {
            true => {
                phone.world.key(KeyCode::HOME);
                Ok(())
            }
            false => phone.world.start(package, None).map(drop),
        });
        started.map_err(|error| {
            refuse(ErrorCode::UnknownError, format!("cannot start {package}: {error}"))
        })?;
        self.run_work(work).await;
        self.wait_until_idle().await;
        Ok(Value::Null)
    }

    fn package(&self, bundle_id: &str) -> Result<String, WebDriverError> {
        self.with(|phone| phone.world.package_of(bundle_id)).ok_or_else(|| {
            // As a phone with iOS 16 says it.
            let message = format!(
                "Error Domain=FBSOpenApplicationServiceErrorDomain Code=4 \"The request to open \"{bundle_id}\" failed.\""
            );
            refuse(ErrorCode::InvalidArgument, message)
        })
    }

    async fn deactivate(&self, seconds: f64) -> Reply {
        let seconds = if seconds.is_finite() { seconds.clamp(0.0, 3_600.0) } else { 0.0 };
        let package = self.with(|phone| {
            let package = phone.world.foreground().package;
            phone.world.key(KeyCode::HOME);
            package
        });
        self.wait(Duration::from_secs_f64(seconds)).await;
        self.start(&package, latency::ACTIVATE).await
    }

    async fn open_url(&self, url: String) -> Reply {
        let nobody =
            "The operation couldn’t be completed. (LSApplicationWorkspaceErrorDomain error 115.)";
        let Some((scheme, _)) = url.split_once(':') else {
            return Err(refuse(ErrorCode::InvalidArgument, format!("\"{url}\" is not a URL")));
        };
        let settings =
            ["prefs", "app-prefs", "app-settings"].iter().any(|it| it.eq_ignore_ascii_case(scheme));
        let maps = scheme.eq_ignore_ascii_case("maps");
        let intent = match (settings, maps) {
            (true, _) => {
                Intent { action: Some("android.settings.SETTINGS".to_owned()), ..Intent::default() }
            }
            (_, true) => Intent {
                data: Some(format!("geo:{}", &url[scheme.len() + 1..])),
                ..Intent::default()
            },
            _ => Intent {
                action: Some("android.intent.action.VIEW".to_owned()),
                data: Some(url.clone()),
                ..Intent::default()
            },
        };
        let started = self.with(|phone| phone.world.start_intent(&intent));
        started.map_err(|_| refuse(ErrorCode::UnknownError, nobody))?;
        self.run_work(latency::ACTIVATE).await;
        self.wait_until_idle().await;
        Ok(Value::Null)
    }
}

fn app_state(phone: &mut State, bundle_id: &str) -> AppState {
    let Some(package) = phone.world.package_of(bundle_id) else { return AppState::NotInstalled };
    if phone.front_bundle() == bundle_id {
        return AppState::Foreground;
    }
    match phone.world.pid_of(&package) {
        // SpringBoard always runs.
        None if bundle_id != SPRINGBOARD => AppState::NotRunning,
        _ => AppState::Background,
    }
}

/// The app in front, and SpringBoard, which draws around it.
fn active_apps(phone: &mut State) -> Value {
    let front = phone.front_bundle();
    let mut bundles = vec![front];
    if bundles.iter().all(|bundle| bundle != SPRINGBOARD) {
        bundles.push(SPRINGBOARD.to_owned());
    }
    let row = |bundle: &String| {
        let pid = phone.world.package_of(bundle).and_then(|package| phone.world.pid_of(&package));
        json!({ "pid": pid.unwrap_or(0), "bundleId": bundle })
    };
    bundles.iter().map(row).collect()
}
