//! The helper's list of the launcher's apps.

use crate::latency;
use crate::phone::VirtualPhone;
use serde_json::{Value, json};

/// `apps`. A package from elsewhere has the label of its default resources, whatever the phone's
/// language.
pub(super) async fn apps(phone: &VirtualPhone) -> Value {
    phone.run_work(latency::REPORT).await;
    let apps: Vec<Value> = phone.with(|phone| {
        let packages = phone.world.packages().into_iter();
        packages
            .filter_map(|app| {
                app.launcher.as_ref()?;
                Some(json!({ "package": app.package, "label": app.label }))
            })
            .collect()
    });
    json!({ "apps": apps })
}
