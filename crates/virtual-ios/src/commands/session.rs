//! Sessions, settings and the server itself.

use serde_json::{Value, json};
use thumbwire_virtual_phone::Platform;
use thumbwire_webdriver::{
    Capabilities, ErrorCode, NewSession, NewSessionResponse, ServerStatus, SessionCommand,
};

use super::capabilities::merge_capabilities;
use super::{Reply, refuse, unknown};
use crate::latency;
use crate::phone::VirtualIphone;
use crate::session::Session;

/// The version of WebDriverAgent that this one acts like.
const WDA_VERSION: &str = "16.12.9";

impl VirtualIphone {
    pub(super) async fn session_command(&self, command: SessionCommand) -> Reply {
        match command {
            SessionCommand::Status => Ok(self.status().to_value()),
            SessionCommand::New { request } => self.new_session(&request).await,
            SessionCommand::Get => self.session_value(),
            SessionCommand::Delete => {
                self.with(|phone| phone.session = None);
                Ok(Value::Null)
            }
            // WebDriverAgent accepts and ignores them.
            SessionCommand::SetTimeouts { .. } => Ok(Value::Null),
            SessionCommand::GetSettings => Ok(self.settings()),
            SessionCommand::SetSettings { settings } => {
                self.with(|phone| {
                    if let Some(session) = &mut phone.session {
                        // As WebDriverAgent, which ignores what it does not know.
                        for (name, value) in settings {
                            if let Some(known) = session.settings.get_mut(&name) {
                                *known = value;
                            }
                        }
                    }
                });
                Ok(self.settings())
            }
            SessionCommand::HealthCheck => Ok(Value::Null),
            other => Err(unknown(other)),
        }
    }

    fn status(&self) -> ServerStatus {
        let text = |text: &str| Some(text.to_owned());
        ServerStatus {
            ready: Some(true),
            message: text("WebDriverAgent is ready to accept commands"),
            state: text("success"),
            os_name: text("iOS"),
            os_version: text(Platform::IOS_VERSION),
            sdk_version: text(Platform::IOS_VERSION),
            ip: text("127.0.0.1"),
            build_version: text(WDA_VERSION),
            build_time: text("Jun  2 2025 10:00:00"),
            product_bundle_identifier: text("com.facebook.WebDriverAgentRunner"),
            device: text("iphone"),
            ..ServerStatus::default()
        }
    }

    async fn new_session(&self, request: &NewSession) -> Reply {
        let wanted = merge_capabilities(request)?;
        self.run_work(latency::SESSION).await;
        let bundle_id = wanted.text("bundleId").map(str::to_owned);
        if let Some(bundle_id) = &bundle_id {
            let restarts = wanted.get("forceAppLaunch").and_then(Value::as_bool).unwrap_or(true);
            let started = match restarts {
                true => self.launch(bundle_id).await,
                false => self.activate(bundle_id).await,
            };
            started.map_err(|error| refuse(ErrorCode::SessionNotCreated, error.message))?;
        }
        self.with(|phone| {
            phone.sessions += 1;
            let seed = phone.world.seed();
            phone.session = Session::new(seed, phone.sessions, wanted, bundle_id);
        });
        self.session_value()
    }

    fn session_value(&self) -> Reply {
        self.with(|phone| {
            let front = phone.front_bundle();
            let session = phone.session.as_ref();
            let session = session
                .ok_or_else(|| refuse(ErrorCode::InvalidSessionId, "Session does not exist"))?;
            let bundle_id = session.bundle_id.clone().unwrap_or(front);
            let mut capabilities = session.capabilities.0.clone();
            let own = json!({
                "device": "iphone",
                "browserName": bundle_id,
                "sdkVersion": Platform::IOS_VERSION,
                "CFBundleIdentifier": bundle_id,
                "pixelRatio": phone.scale(),
            });
            capabilities.extend(own.as_object().cloned().unwrap_or_default());
            let response = NewSessionResponse {
                session: session.id.clone(),
                capabilities: Capabilities(capabilities),
            };
            Ok(response.to_value())
        })
    }

    fn settings(&self) -> Value {
        self.with(|phone| {
            phone.session.as_ref().map(|session| Value::from(session.settings.clone()))
        })
        .unwrap_or_default()
    }
}
