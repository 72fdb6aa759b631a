//! A phone with scripted apps.

use std::collections::BTreeMap;

use thumbwire_device::{
    self as device, AppIntegration, AppManagement, CallbackResult, Device, DeviceInfo, Facets,
    Foreground, Gesture, Identity, InstallOptions, Key, LaunchArgument, LauncherApps, Package,
    Platform, Screenshot, ServiceReply, ServiceRequest, Size, Tree, TreeDetail, TypingMethod,
};
use thumbwire_mobile_mcp::{Declaration, Value as XmlValue, declaration, descriptor};

use super::*;
use crate::app_tools::package::{DeclaredService, ParsedApp, ReadAppError};

/// What an app does with a service request.
pub(super) type ServiceBehavior =
    dyn Fn(&ServiceRequest) -> Result<ServiceReply, Error> + Send + Sync;

/// An installed app.
#[derive(Clone)]
pub(super) struct App {
    pub(super) package: Package,
    pub(super) services: Vec<(String, String)>,
    /// Why its packages cannot be read.
    pub(super) unreadable: Option<&'static str>,
    pub(super) certificate: &'static str,
    pub(super) exported: bool,
}

impl App {
    pub(super) fn new(name: &str) -> Self {
        let package = Package {
            app: AppId(name.into()),
            version_code: 1,
            version_name: "1.0".into(),
            updated: "2026-01-01 10:00:00".into(),
            files: vec![format!("/data/app/{name}/base.apk")],
            uid: Some(10_123),
        };
        Self { package, services: Vec::new(), unreadable: None, certificate: "aa", exported: true }
    }

    pub(super) fn service(mut self, class: &str, descriptor: &str) -> Self {
        self.services.push((class.into(), descriptor.into()));
        self
    }
}

#[derive(Clone)]
pub(super) struct Phone {
    identity: Identity,
    inside: Arc<Inside>,
}

#[derive(Default)]
pub(super) struct Inside {
    pub(super) apps: Mutex<Vec<App>>,
    /// How often each query was made.
    pub(super) asked: Mutex<BTreeMap<&'static str, usize>>,
    pub(super) all_sent: Mutex<Vec<ServiceRequest>>,
    doing: Mutex<Option<Arc<ServiceBehavior>>>,
    /// What it prints for its own functions; `None` if it has none.
    pub(super) functions: Mutex<Option<String>>,
    /// What a function returns.
    pub(super) returned: Mutex<String>,
    pub(super) helper: Mutex<bool>,
    pub(super) unplugged: Mutex<bool>,
}

impl Phone {
    pub(super) fn with(apps: impl IntoIterator<Item = App>) -> Self {
        let platform = Platform::Android;
        let identity = Identity { id: "fake".into(), platform, model: String::new() };
        let inside = Inside { helper: Mutex::new(true), ..Inside::default() };
        let phone = Self { identity, inside: Arc::new(inside) };
        lock(&phone.apps).extend(apps);
        phone.doing(|sent| Ok(answering(sent, "success", json!([]), 10_123)));
        phone
    }

    pub(super) fn ios() -> Self {
        let mut phone = Self::with([]);
        phone.identity.platform = Platform::Ios;
        phone
    }

    /// Sets what its apps do with a service request.
    pub(super) fn doing(
        &self,
        doing: impl Fn(&ServiceRequest) -> Result<ServiceReply, Error> + Send + Sync + 'static,
    ) {
        *lock(&self.doing) = Some(Arc::new(doing));
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Vec<App>)) {
        change(&mut lock(&self.apps));
    }

    pub(super) fn times(&self, what: &str) -> usize {
        lock(&self.asked).get(what).copied().unwrap_or_default()
    }

    pub(super) fn reader(&self) -> DescriptorReader {
        DescriptorReader(self.clone())
    }

    fn count(&self, what: &'static str) -> Result<(), Error> {
        if *lock(&self.unplugged) {
            return Err(Error::NotConnected {
                reason: "unplugged".into(),
                acted: SideEffect::None,
            });
        }
        *lock(&self.asked).entry(what).or_default() += 1;
        Ok(())
    }
}

impl std::ops::Deref for Phone {
    type Target = Inside;

    fn deref(&self) -> &Inside {
        &self.inside
    }
}

/// Reads the apps' descriptors as text.
pub(super) struct DescriptorReader(Phone);

#[async_trait]
impl AppReader for DescriptorReader {
    async fn read(
        &self,
        _device: &dyn Device,
        package: &Package,
        services: &[Component],
    ) -> Result<ParsedApp, ReadAppError> {
        self.0.count("read").map_err(ReadAppError::Device)?;
        let apps = lock(&self.0.apps).clone();
        let app = apps.into_iter().find(|app| app.package.app == package.app).unwrap();
        if let Some(reason) = app.unreadable {
            return Err(ReadAppError::Words(reason.into()));
        }
        let declared = |(class, text): &(String, String)| {
            let text_of = |name: &str, words: &str| (name.to_owned(), XmlValue::Text(words.into()));
            let meta = vec![
                text_of(declaration::NAME, "Clock\u{202e} \n app"),
                text_of(declaration::DESCRIPTION, "Clocks in."),
                (declaration::CAPABILITIES.to_owned(), XmlValue::Reference(0x7f0b_0001)),
            ];
            let declaration = Declaration {
                service: class.clone(),
                exported: app.exported,
                enabled: true,
                permission: None,
                meta,
            };
            DeclaredService { declaration, descriptor: Ok(descriptor::read(text)) }
        };
        let declared = app.services.iter().map(declared).collect();
        let certificate = Some(app.certificate.to_owned()).filter(|it| !it.is_empty());
        Ok(ParsedApp::of(services, declared, certificate))
    }
}

/// The request in a service request's extras.
pub(super) fn request(sent: &ServiceRequest) -> Value {
    let (_, text) = sent.extras.iter().find(|(key, _)| key == "mobile-mcp-request").unwrap();
    let whole: Value = serde_json::from_str(text).unwrap();
    whole["mobile-mcp-request"]["request"].clone()
}

/// The reply of an app that follows the specification.
pub(super) fn answering(
    sent: &ServiceRequest,
    status: &str,
    output: Value,
    uid: u32,
) -> ServiceReply {
    let asked = request(sent);
    let capability = json!({ "id": asked["capability"]["id"], "output": output });
    let response = json!({ "id": asked["id"], "capability": capability, "status": status, "message": "Done." });
    answered(json!({ "mobile-mcp-response": { "version": "1.0", "response": response } }), uid)
}

pub(super) fn answered(body: Value, uid: u32) -> ServiceReply {
    let text = match body {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let extras = vec![("mobile-mcp-response".to_owned(), text)];
    ServiceReply::Answered(CallbackResult { code: 7, extras, uid: Some(uid) })
}

#[async_trait]
impl Device for Phone {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn probe(&self) -> Result<(), Error> {
        self.count("probe")
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        Ok(Size { width: 10, height: 10 })
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        Err(self.unsupported("here"))
    }

    async fn tree(&self, _detail: TreeDetail) -> Result<Tree, Error> {
        Err(self.unsupported("here"))
    }

    async fn touch(&self, _gesture: Gesture) -> Result<(), Error> {
        Err(self.unsupported("here"))
    }

    async fn type_text(&self, _text: &str) -> Result<TypingMethod, Error> {
        Err(self.unsupported("here"))
    }

    async fn press(&self, _key: Key) -> Result<(), Error> {
        Err(self.unsupported("here"))
    }

    async fn apps(&self) -> Result<device::AppList, Error> {
        Err(self.unsupported("here"))
    }

    async fn launch(&self, _app: &AppId, _: &[LaunchArgument]) -> Result<String, Error> {
        Err(self.unsupported("here"))
    }

    async fn stop(&self, _app: &AppId) -> Result<(), Error> {
        Err(self.unsupported("here"))
    }

    async fn foreground(&self) -> Result<Foreground, Error> {
        Err(self.unsupported("here"))
    }

    async fn info(&self) -> Result<DeviceInfo, Error> {
        Err(self.unsupported("here"))
    }

    async fn restore_borrowed(&self) {}
    async fn disconnect(&self) {}

    fn facets(&self) -> Facets<'_> {
        Facets { apps: Some(self), app_integration: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl AppManagement for Phone {
    async fn package_info(&self, app: &AppId) -> Result<Package, Error> {
        self.count("package")?;
        let apps = lock(&self.apps);
        let found = apps.iter().find(|known| known.package.app == *app);
        found.map(|app| app.package.clone()).ok_or_else(|| Error::NoSuchApp { app: app.0.clone() })
    }

    async fn install(
        &self,
        _package: &mut (dyn tokio::io::AsyncRead + Send + Unpin),
        _length: u64,
        _options: InstallOptions,
    ) -> Result<(), Error> {
        Err(self.unsupported("here"))
    }

    async fn uninstall(&self, _app: &AppId) -> Result<(), Error> {
        Err(self.unsupported("here"))
    }

    async fn launcher_apps(&self) -> Result<LauncherApps, Error> {
        Err(self.unsupported("here"))
    }

    async fn fragments(&self, _app: &AppId) -> Result<Vec<String>, Error> {
        Err(self.unsupported("here"))
    }

    async fn set_permission(&self, _: &AppId, _: &str, _: bool) -> Result<(), Error> {
        Err(self.unsupported("here"))
    }
}

#[async_trait]
impl AppIntegration for Phone {
    async fn find_services(&self, action: &str) -> Result<Vec<Component>, Error> {
        assert_eq!(action, "mobile.mcp.SERVICE");
        self.count("services")?;
        let apps = lock(&self.apps);
        let of = |app: &App| {
            let id = app.package.app.clone();
            let one = move |(class, _): &(String, String)| Component {
                app: id.clone(),
                class: class.clone(),
            };
            app.services.iter().map(one).collect::<Vec<_>>()
        };
        Ok(apps.iter().flat_map(of).collect())
    }

    async fn start_service(&self, request: &ServiceRequest) -> Result<(), Error> {
        self.count("start")?;
        lock(&self.all_sent).push(request.clone());
        Ok(())
    }

    async fn call_service(
        &self,
        request: &ServiceRequest,
        _limit: Duration,
    ) -> Result<ServiceReply, Error> {
        if !*lock(&self.helper) {
            return Err(Error::HelperMissing { what: "receiving an app's reply" });
        }
        self.count("call_service")?;
        lock(&self.all_sent).push(request.clone());
        let call = lock(&self.doing).clone().unwrap();
        // A later request may be answered first.
        for _ in 0..fastrand::u8(0..4) {
            tokio::task::yield_now().await;
        }
        call(request)
    }

    async fn list_functions(&self, _app: Option<&AppId>) -> Result<String, Error> {
        self.count("functions")?;
        lock(&self.functions).clone().ok_or_else(|| self.unsupported("app functions"))
    }

    async fn call_function(
        &self,
        _app: &AppId,
        _function: &str,
        _parameters: &str,
    ) -> Result<String, Error> {
        self.count("function")?;
        Ok(lock(&self.returned).clone())
    }
}
