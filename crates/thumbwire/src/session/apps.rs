//! Apps and the phone's account of itself: what may be served again, and which app a caller means.
//!
//! Begin with [`Attached::apps`] and [`Attached::launch`]. Every answer is chosen anew from one list of all apps, so that
//! those of the user and those of the system never stand in for each other; what was told last is what numbers count.

use std::sync::atomic::Ordering;
use std::time::Duration;

use thumbwire_device::{App, AppId};
use tokio::time::Instant;

use super::attached::Attached;
use super::lock;
use super::recall::Installed;
use crate::action::{Apps, Cause, Choice, Failure, Outcome};

/// How long numbers of apps are taken for what is installed without asking again (seed 000's apps cache).
const NUMBERS_FRESH: Duration = Duration::from_secs(300);

/// How many of the apps that a word may mean are tried. Each try that finds nothing to start takes an old phone 2 s.
const MOST_TRIED: usize = 5;

impl Attached {
    pub(super) async fn info(&self, no_older_than: Duration) -> Result<Outcome, Failure> {
        let known = &self.screen.memory.info;
        let earlier = known.recent(no_older_than);
        let told =
            |info, earlier| Outcome::Info { identity: self.identity().clone(), info, earlier };
        if let Some(info) = earlier {
            return Ok(told(info, true));
        }
        let generation = self.screen.generation.load(Ordering::SeqCst);
        let asked = known.ask(&self.screen.generation);
        let info = self.device.info().await.map_err(|error| self.failed(&error))?;
        if generation == self.screen.generation.load(Ordering::SeqCst) {
            *lock(&self.screen.size) = Some(info.screen);
        }
        known.keep(asked, info.clone());
        Ok(told(info, false))
    }

    /// The apps that came from there and whose id contains that.
    pub(super) async fn apps(
        &self,
        which: Apps,
        containing: &str,
        no_older_than: Duration,
    ) -> Result<Outcome, Failure> {
        let installed = self.installed(no_older_than).await?;
        let is_wanted = |app: &&App| {
            let of_kind = match which {
                Apps::User => !app.system,
                Apps::System => app.system,
                Apps::All => true,
            };
            of_kind && app.id.0.contains(containing)
        };
        let apps: Vec<App> = installed.apps.iter().filter(is_wanted).cloned().collect();
        let numbered = &self.screen.memory.numbered;
        let told = Installed { apps: apps.clone().into(), at: installed.at };
        numbered.keep(numbered.ask(&self.screen.generation), told);
        Ok(Outcome::Apps(apps))
    }

    /// All apps, from the phone or as it told them not longer ago than that.
    async fn installed(&self, no_older_than: Duration) -> Result<Installed, Failure> {
        let known = &self.screen.memory.apps;
        if let Some(installed) = known.recent(no_older_than) {
            return Ok(installed);
        }
        let (asked, at) = (known.ask(&self.screen.generation), Instant::now());
        let apps = self.device.apps().await.map_err(|error| self.failed(&error))?;
        let installed = Installed { apps: apps.into(), at };
        known.keep(asked, installed.clone());
        Ok(installed)
    }

    /// Starts the app that the caller chose.
    pub(super) async fn launch(&self, choice: &Choice) -> Result<Outcome, Failure> {
        match choice {
            Choice::Id(app) => self.start(app).await,
            Choice::Numbered(number) => self.start(&self.app_numbered(number).await?).await,
            Choice::Named(word) => self.start_named(word).await,
        }
    }

    async fn start(&self, app: &AppId) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        let said = self.act(self.device.launch(app)).await?;
        Ok(Outcome::Launched { app: app.clone(), said })
    }

    /// The app of this number in the list that was told last. Whether it is still there is asked of the phone where the
    /// list is old; it is the same app then, wherever it stands by now.
    async fn app_numbered(&self, number: &str) -> Result<AppId, Failure> {
        let refuse = |why: Option<&str>, none: bool| {
            let (number, why) = (number.to_owned(), why.map(str::to_owned));
            Failure::from(Cause::NotListed { list: "apps", number, why, none })
        };
        let Some(last) = self.screen.memory.numbered.last() else {
            return Err(refuse(None, true));
        };
        // "05" and "+5" were never told.
        let counted = number.parse::<usize>().ok().filter(|counted| counted.to_string() == number);
        let place = counted.and_then(|counted| counted.checked_sub(1));
        let Some(app) = place.and_then(|place| last.value.apps.get(place)) else {
            return Err(refuse(None, false));
        };
        if last.value.at.elapsed() > NUMBERS_FRESH {
            let installed = self.installed(NUMBERS_FRESH).await?.apps;
            if !installed.iter().any(|there| there.id == app.id) {
                return Err(refuse(Some("it is no longer installed"), false));
            }
        }
        Ok(app.id.clone())
    }

    /// Starts the first of the apps that the word may mean and that can be started: `contacts` is a part of the name of the
    /// store of contacts too, which has nothing to show.
    async fn start_named(&self, word: &str) -> Result<Outcome, Failure> {
        let word = word.trim();
        if word.is_empty() {
            let why = "the app's name is empty; name it by its id or a part of it".into();
            return Err(Cause::InvalidArgument { why }.into());
        }
        // What was installed a moment ago may be just what is meant.
        let installed = self.installed(Duration::ZERO).await?.apps;
        let _turn = self.screen.acting.lock().await;
        for app in meant(word, &installed).into_iter().take(MOST_TRIED) {
            match self.act(self.device.launch(app)).await {
                Ok(said) => return Ok(Outcome::Launched { app: app.clone(), said }),
                Err(Failure { cause: Cause::AppNotFound { .. }, .. }) => {}
                Err(failure) => return Err(failure),
            }
        }
        Err(Cause::AppNotFound { app: word.into() }.into())
    }
}

/// The apps that a word may mean, the likeliest first: the one of that id, those with the word between two dots of their
/// id, those that contain it; small or capital. Among equals, those that the user installed come first, then the phone's
/// order decides.
fn meant<'a>(word: &str, apps: &'a [App]) -> Vec<&'a AppId> {
    let word = word.to_lowercase();
    let rank = |app: &'a App| {
        let id = app.id.0.to_lowercase();
        let rank = if id == word {
            0
        } else if id.split('.').any(|segment| segment == word) {
            1
        } else if id.contains(&word) {
            2
        } else {
            return None;
        };
        Some((rank, app.system, &app.id))
    };
    let mut meant: Vec<_> = apps.iter().filter_map(rank).collect();
    meant.sort_by_key(|&(rank, system, _)| (rank, system));
    meant.into_iter().map(|(_, _, id)| id).collect()
}
