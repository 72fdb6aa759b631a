//! A run that was recorded is repeated without a model.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use thumbwire::agent::{Agent, Ended, Memory, Replay, Status};
use thumbwire::trace::{self, Recorder, Traced};
use thumbwire_virtual_phone::{Setup, VirtualPhone};

use crate::agent::{Script, an_hour, options, restaurants, session};

/// The seed's story, recorded in this folder.
async fn recorded(folder: &Path) {
    let recorder = Arc::new(Recorder::begin(folder, "2024-03-05T10:00:00Z".into()).unwrap());
    let perform = Traced::new(session(&VirtualPhone::new(Setup::default())), recorder.clone());
    let agent =
        Agent::new(Script::of(restaurants()), Arc::new(perform), options()).with_story(recorder);
    let ended = agent.run(&an_hour(), "Search for restaurants on Maps", Memory::default()).await;
    assert_eq!(ended.status, Status::Finish);
}

async fn repeated(folder: &Path, phone: &VirtualPhone) -> Ended {
    let session = Arc::new(session(phone));
    let lines = trace::read(folder).unwrap();
    let read = |file: &str| fs::read(folder.join(file)).ok();
    let replay = Replay::of(&lines, read, session.clone()).unwrap();
    let request = replay.request().to_owned();
    Agent::new(Arc::new(replay), session, options())
        .run(&an_hour(), &request, Memory::default())
        .await
}

#[tokio::test(start_paused = true)]
async fn a_recorded_run_is_repeated_also_where_things_have_moved() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    for moved in [false, true] {
        let phone = VirtualPhone::new(Setup::default());
        if moved {
            phone.add_fault("target-moved:times=1,after=1".parse().unwrap());
        }
        let ended = repeated(folder.path(), &phone).await;
        assert_eq!(
            (ended.status, &*ended.why),
            (Status::Finish, "There are restaurants"),
            "{ended:?}"
        );
        assert_eq!(phone.strikes().len(), usize::from(moved));
        let recent = phone.world(|world| {
            let kept = world.kept("com.google.android.apps.maps");
            kept.iter().any(|(name, value)| *name == "recent" && value.contains("restaurants"))
        });
        assert!(recent, "it was done on the phone too");
    }
}

#[tokio::test(start_paused = true)]
async fn a_phone_on_which_things_are_otherwise_is_told() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    let phone = VirtualPhone::new(Setup::default());
    // It stands before the first screen that is compared, and stays.
    phone.world(|world| world.pop_up("Software update", "Now?"));
    let ended = repeated(folder.path(), &phone).await;
    assert_eq!(ended.status, Status::Fail);
    assert!(
        ended.why.starts_with("the replay ends, since in round 1 of the recorded run"),
        "{ended:?}"
    );
}
