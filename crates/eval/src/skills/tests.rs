//! Skills of a few tasks of each kind: typing, lists, answers, two apps.

use super::*;
use crate::tasks::all;

#[test]
fn second_run_needs_no_decisions_and_changed_phones_no_wrong_act() {
    let some = [
        "notes-add",
        "notes-find",
        "messages-send",
        "contacts-delete",
        "shop-price",
        "across-number-to-note",
        "settings-bluetooth",
        "bank-transfer",
    ];
    let folder = tempfile::tempdir().unwrap();
    let study = SkillStudy {
        tasks: all().into_iter().filter(|task| some.contains(&task.name)).collect(),
        seeds: vec![3],
        kinds: vec!["popup".into(), "layout-shift".into()],
        probability: 0.2,
        jobs: 2,
        out: folder.path().into(),
    };
    let scores = study.run(&|_| {}).unwrap();
    let sum = SkillSummary::of(&scores);
    let told = table(&scores);
    assert_eq!((sum.tasks, sum.saved), (some.len(), some.len()), "{told}");
    assert_eq!(sum.again_successes, some.len(), "{told}");
    assert!(sum.first_calls > 40 && sum.again() <= 0.1, "{told}");
    assert_eq!(sum.other_successes, some.len(), "{told}");
    assert!(sum.other_calls * 2 < sum.other_first_calls, "{told}");
    assert!(sum.changed > 50 && sum.acts > 50, "{told}");
    assert_eq!(sum.wrong, 0, "{told}");
}
