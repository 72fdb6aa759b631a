//! Each task is tried: its oracle succeeds, and who does nothing does not.

use super::oracle::carry_out;
use super::state::{State, judge};
use super::tasks::all;
use super::{Bench, Case, Task, Time};

const SEEDS: std::ops::Range<u64> = 0..5;

/// Carries out the script of one case on a phone laid out for another, and judges by that other's wants.
async fn tried(seed: u64, laid: &Case, done: &Case) -> Result<u32, String> {
    let bench = Bench::new(seed, &[], Time::Held, false);
    bench.lay(laid);
    let before = State::of(&bench.phone);
    let went = carry_out(&*bench.perform(), &done.script).await?;
    judge(&before, &bench.phone, &went.answer, &laid.wants)?;
    Ok(went.acts)
}

fn case(task: &Task, seed: u64) -> Case {
    let phone = Bench::phone_of(seed);
    phone.world(|world| task.case(seed, world))
}

#[tokio::test(start_paused = true)]
async fn the_oracle_of_each_task_succeeds() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut failed = Vec::new();
    for task in all().iter().filter(|task| task.name.contains(&only)) {
        for seed in SEEDS {
            let case = case(task, seed);
            if let Err(why) = tried(seed, &case, &case).await {
                failed.push(format!("{} {seed}: {why}", task.name));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
