//! The second look: what the phone shows, asked of the session without the tool under test.
//!
//! Start with [`Phone`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use thumbwire_core::action::{
    Action, AppFilter, AppSelector, Call, Failure, Perform, Request, ScreenshotOptions,
    SnapshotOptions, TypedPerform as _, request,
};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::image::{Blackness, Pixels};
use thumbwire_device::{AppId, DeviceInfo, Image, Rect, Size};

use super::answer::{Found, Problem, ensure, failed};

/// Timeout of a second look. Generous: it is the tool that is being measured.
const LOOK_TIMEOUT: Duration = Duration::from_secs(60);

/// How often, a second apart, a look is repeated until it shows what is expected.
pub(super) const LOOKS: usize = 4;

/// The phone through the session, apart from the tool under test.
#[derive(Clone, Copy)]
pub(super) struct Phone<'a> {
    session: &'a dyn Perform,
}

impl<'a> Phone<'a> {
    pub(super) fn new(session: &'a dyn Perform) -> Self {
        Self { session }
    }

    /// Performs an action.
    pub(super) async fn act<R: Request>(self, request: R) -> Result<R::Output, Failure> {
        self.session.request(&Call::with_timeout(LOOK_TIMEOUT), request).await
    }

    /// An action whose failure means that the check cannot be made.
    pub(super) async fn must<R: Request + Clone>(self, request: R) -> Result<R::Output, Problem> {
        self.act(request.clone()).await.or_else(|failure| {
            let action: Action = request.into();
            failed(format!("cannot take the second look: {action}: {}", failure.cause))
        })
    }

    /// Waits a second, for what takes time to appear.
    pub(super) async fn pause(self) {
        let _ = self.act(request::Wait(Duration::from_secs(1))).await;
    }

    /// The screen. A dump fails while something moves, so it is tried more than once.
    pub(super) async fn screen(self) -> Result<Arc<Snapshot>, Problem> {
        let request = request::Snapshot(SnapshotOptions::default());
        for _ in 1..LOOKS {
            if let Ok(snapshot) = self.act(request.clone()).await {
                return Ok(snapshot);
            }
            self.pause().await;
        }
        self.must(request).await
    }

    /// The screen once it differs from `before`, or `None` if it stays the same.
    pub(super) async fn screen_other_than(
        self,
        before: &Snapshot,
    ) -> Result<Option<Arc<Snapshot>>, Problem> {
        for _ in 0..LOOKS {
            let after = self.screen().await?;
            if content(&after) != content(before) {
                return Ok(Some(after));
            }
            self.pause().await;
        }
        Ok(None)
    }

    /// The app in front; empty if there is none.
    pub(super) async fn front(self) -> Result<AppId, Problem> {
        let front = self.must(request::CurrentApp).await?;
        Ok(front.app().map_or_else(|| AppId(String::new()), |front| front.app.clone()))
    }

    /// Waits until the app in front fits, and fails with the app that is there instead.
    pub(super) async fn front_is(
        self,
        fits: impl Fn(&AppId) -> bool + Send + Sync,
    ) -> Result<(), Problem> {
        let mut front = self.front().await?;
        for _ in 1..LOOKS {
            if fits(&front) {
                return Ok(());
            }
            self.pause().await;
            front = self.front().await?;
        }
        ensure(fits(&front), || format!("{} is in front", public_name(&front.0)))
    }

    /// What the phone reports about itself, not from a cache.
    pub(super) async fn info(self) -> Result<DeviceInfo, Problem> {
        Ok(self.must(request::DeviceInfo { max_age: Duration::ZERO }).await?.info)
    }

    /// A screenshot, not from a cache.
    pub(super) async fn screenshot(self) -> Result<Image, Problem> {
        let options = ScreenshotOptions { fresh: true, ..ScreenshotOptions::default() };
        Ok(self.must(request::Screenshot(options)).await?.image)
    }

    /// The size of a screenshot.
    pub(super) async fn screenshot_size(self) -> Result<Size, Problem> {
        let screenshot = self.must(request::Screenshot(ScreenshotOptions::default())).await?;
        Ok(read_image(&screenshot.image)?.size())
    }

    /// The ids of all installed apps.
    pub(super) async fn apps(self) -> Result<Vec<AppId>, Problem> {
        let (which, containing) = (AppFilter::All, String::new());
        let max_age = Duration::from_secs(300);
        let apps = self.must(request::ListApps { which, containing, max_age }).await?;
        Ok(apps.into_iter().map(|app| app.id).collect())
    }

    /// Whether the phone lists this app now.
    pub(super) async fn has_app(self, app: &AppId) -> Result<bool, Problem> {
        let (which, containing) = (AppFilter::All, app.0.clone());
        let max_age = Duration::ZERO;
        let apps = self.must(request::ListApps { which, containing, max_age }).await?;
        Ok(apps.iter().any(|listed| listed.id == *app))
    }

    /// Starts an app and waits until it is in front.
    pub(super) async fn launch(self, app: &AppId) -> Result<(), Problem> {
        self.must(request::Launch(AppSelector::Id(app.clone()))).await?;
        self.front_is(|front| front == app).await
    }
}

/// The name of an app if it may be posted: only those of the system say nothing about the owner.
pub(super) fn public_name(app: &str) -> &str {
    let of_system = ["android", "com.android.", "com.google.android."];
    match app {
        "" => "no app",
        app if of_system.iter().any(|prefix| app.starts_with(prefix)) => app,
        _ => "another app",
    }
}

/// Decodes an image.
pub(super) fn read_image(image: &Image) -> Result<Pixels, Problem> {
    Pixels::read(image).or_else(|error| failed(format!("the image cannot be decoded: {error}")))
}

/// Checks that an image can be decoded, has the size of the screen and shows something.
pub(super) fn check_image(image: &Image, screen: Size) -> Result<(), Problem> {
    let pixels = read_image(image)?;
    let Size { width, height } = pixels.size();
    ensure(pixels.size() == screen, || {
        format!(
            "the image has {width}x{height} pixels, the screen {}x{}",
            screen.width, screen.height
        )
    })?;
    ensure(pixels.blackness() != Blackness::Whole, || "the image is black".to_owned())
}

/// What two looks at the same screen have in common: nodes with their texts and places. Status bars
/// and clocks change by themselves and are left out.
fn content(snapshot: &Snapshot) -> Vec<(&str, &str, &str, Rect, bool)> {
    let nodes = snapshot.tree.nodes.iter().filter(|node| {
        let is_clock = !node.text.is_empty()
            && node.text.chars().all(|char| char.is_ascii_digit() || ":. APM".contains(char))
            && node.text.contains(':');
        &*node.package != "com.android.systemui" && !is_clock
    });
    nodes
        .map(|node| {
            (&*node.class, &*node.text, &*node.description, node.bounds, node.flags.selected)
        })
        .collect()
}

/// The texts on the screen that are long enough to recognize.
pub(super) fn texts(snapshot: &Snapshot) -> BTreeSet<&str> {
    let visible = (0..snapshot.tree.nodes.len()).filter(|&node| !snapshot.shown(node).is_empty());
    let texts = visible.map(|node| &*snapshot.tree.nodes[node].text);
    // A line break, a quote or a bracket is written in different ways by different formats.
    let is_plain = |text: &&str| {
        text.chars().count() >= 3 && text.chars().all(|char| char.is_alphanumeric() || char == ' ')
    };
    texts.filter(is_plain).collect()
}

/// Checks that a text form of the screen has most of the texts that the second look sees. A clock
/// or an animation may have changed some.
pub(super) fn check_has_texts(form: &str, snapshot: &Snapshot) -> Found {
    let texts = texts(snapshot);
    let missing = texts.iter().filter(|text| !form.contains(**text)).count();
    ensure(missing * 4 <= texts.len(), || {
        format!("{missing} of {} texts on the screen are missing", texts.len())
    })?;
    Ok(match texts.len() {
        0 => "the screen has no text to compare".to_owned(),
        _ => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use thumbwire_device::Format;

    use super::*;

    #[test]
    fn black_images_and_images_of_another_size_fail() {
        let image = |gray: u8| {
            let pixels = Pixels::new(40, 60, vec![gray; 40 * 60 * 3]).unwrap();
            pixels.write(Format::Png).unwrap()
        };
        let reason = |image: &Image, width| match check_image(image, Size { width, height: 60 }) {
            Ok(()) => String::new(),
            Err(Problem::Failed(reason) | Problem::Skipped(reason)) => reason,
        };
        assert_eq!(reason(&image(200), 40), "");
        assert_eq!(reason(&image(0), 40), "the image is black");
        assert_eq!(reason(&image(200), 60), "the image has 40x60 pixels, the screen 60x60");
        let broken = Image { format: Format::Png, bytes: b"no image".as_slice().into() };
        assert!(reason(&broken, 40).contains("cannot be decoded"));
    }

    #[test]
    fn only_apps_of_the_system_are_named() {
        assert_eq!(public_name("com.android.settings"), "com.android.settings");
        assert_eq!(public_name("org.example.dating"), "another app");
        assert_eq!(public_name(""), "no app");
    }
}
