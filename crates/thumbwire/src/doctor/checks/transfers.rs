//! Tools that move apps and files onto and off the phone, and those that need an app whose data
//! nobody misses: the one that the user brings as an APK.

use serde_json::json;
use thumbwire_core::action::request;
use thumbwire_device::{Format, Image};

use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed, skipped};
use crate::doctor::exam::Exam;
use crate::doctor::look::check_image;
use crate::doctor::{LEFT_FILE, TestApp};

const NO_APK: &str = "needs an app to try it on: add `--apk FILE`";

/// Permissions that Android lets a user grant and revoke, and that some app has.
const RUNTIME: [&str; 6] = [
    "android.permission.CAMERA",
    "android.permission.RECORD_AUDIO",
    "android.permission.READ_CONTACTS",
    "android.permission.READ_CALENDAR",
    "android.permission.ACCESS_COARSE_LOCATION",
    "android.permission.ACCESS_FINE_LOCATION",
];

/// Android asks for permissions while an app runs since API level 23.
const RUNTIME_PERMISSIONS: u32 = 23;

pub(super) async fn install(exam: &mut Exam<'_>) -> Found {
    let Some(test) = exam.test_app.clone() else { return skipped(NO_APK) };
    if exam.phone.has_app(&test.app).await? {
        return skipped("the app is installed already, and would lose its data");
    }
    exam.installed = Some(test.clone());
    exam.call(json!({ "path": test.file, "allow_test_only": true })).await?;
    ensure(exam.phone.has_app(&test.app).await?, || "the app is not listed".to_owned())?;
    exam.phone.launch(&test.app).await?;
    AS_EXPECTED
}

/// The app that was installed for these checks.
fn installed(exam: &Exam<'_>) -> Result<TestApp, Problem> {
    match (&exam.installed, &exam.test_app) {
        (Some(test), _) => Ok(test.clone()),
        (None, Some(_)) => skipped("the app was not installed"),
        (None, None) => skipped(NO_APK),
    }
}

/// Android stops an app when a permission that it holds is revoked. So this sees the grant, too.
pub(super) async fn set_permission(exam: &mut Exam<'_>) -> Found {
    let test = installed(exam)?;
    if exam.info.api_level.is_some_and(|level| level < RUNTIME_PERMISSIONS) {
        return skipped("before Android 6 permissions are granted at installation");
    }
    let Some(permission) =
        RUNTIME.into_iter().find(|name| test.permissions.iter().any(|asked| asked == name))
    else {
        return skipped("the app asks for none that can be revoked");
    };
    let arguments = |granted: bool| json!({ "bundle_id": test.app, "permission": permission, "granted": granted });
    exam.call(arguments(true)).await?;
    exam.phone.launch(&test.app).await?;
    exam.call(arguments(false)).await?;
    exam.phone.front_is(|front| *front != test.app).await?;
    Ok(permission.to_owned())
}

pub(super) async fn clear(exam: &mut Exam<'_>) -> Found {
    let test = installed(exam)?;
    exam.phone.launch(&test.app).await?;
    exam.call(json!({ "bundle_id": test.app })).await?;
    exam.phone.front_is(|front| *front != test.app).await?;
    AS_EXPECTED
}

pub(super) async fn uninstall(exam: &mut Exam<'_>) -> Found {
    let test = installed(exam)?;
    exam.call(json!({ "bundle_id": test.app })).await?;
    ensure(!exam.phone.has_app(&test.app).await?, || "the app is still listed".to_owned())?;
    exam.installed = None;
    AS_EXPECTED
}

pub(super) async fn push(exam: &mut Exam<'_>) -> Found {
    // Bytes that a terminal would change.
    let content: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
    exam.write_input(LEFT_FILE, &content)?;
    let to = format!("/sdcard/{LEFT_FILE}");
    exam.has_left_file = true;
    exam.call(json!({ "path": LEFT_FILE, "to": to, "overwrite": true })).await?;
    let copied = match exam.phone.act(request::PullFile { path: to, name: None }).await {
        Ok(file) => exam.saved_file(&file.path.display().to_string())?,
        Err(failure) => return failed(format!("it cannot be fetched again: {}", failure.cause)),
    };
    ensure(copied == content, || format!("{} of {} bytes", copied.len(), content.len()))?;
    AS_EXPECTED
}

/// Fetches a file that the phone has made itself.
pub(super) async fn pull(exam: &mut Exam<'_>) -> Found {
    exam.has_left_file = true;
    let saving = request::SaveScreenshot { name: Some(LEFT_FILE.into()), fetch: false };
    if let Err(failure) = exam.phone.act(saving).await {
        return skipped(format!("the phone does not save a screenshot: {}", failure.cause));
    }
    let path = format!("/sdcard/{LEFT_FILE}");
    let answer = exam.call(json!({ "path": path, "name": "pulled.png" })).await?;
    let bytes = exam.saved_file(answer.string("path")?)?;
    let image = Image { format: Format::Png, bytes: bytes.into() };
    check_image(&image, exam.info.screen)?;
    AS_EXPECTED
}
