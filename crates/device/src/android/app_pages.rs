//! The fragments of the activities that are shown, from their own reports (`Activity.dump`).

use super::{Android, CommandOutput, ShellCommand};
use crate::{AppId, Error};

impl Android {
    pub(super) async fn shown_fragments(&self, app: &AppId) -> Result<Vec<String>, Error> {
        let CommandOutput { out, .. } = self.ask(fragments_command()).await?;
        Ok(read_fragments(&String::from_utf8_lossy(out.as_ref()), app))
    }
}

/// Asks the top activity of each task for its report.
fn fragments_command() -> ShellCommand {
    ShellCommand::new("dumpsys activity top")
}

/// Parses the report: `ACTIVITY PACKAGE/CLASS hash pid=N`, then the activity's state, then its
/// fragment managers, each with `Added Fragments:` and a line `#0: Class{hash …}` per fragment
/// (`FragmentManager.dump` of AOSP and AndroidX). An activity that is not resumed is behind another
/// one.
fn read_fragments(output: &str, app: &AppId) -> Vec<String> {
    let mut out = Vec::new();
    let (mut shown, mut listed) = (false, false);
    for line in output.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix("ACTIVITY ") {
            let package = head.split('/').next();
            (shown, listed) = (package == Some(&*app.0), false);
        } else if line.contains("mResumed=false") && line.contains("mStopped=") {
            shown = false;
        } else if line == "Added Fragments:" {
            listed = true;
        } else if listed {
            let named = line.strip_prefix('#').and_then(|line| line.split_once(": "));
            match named.and_then(|(_, text)| text.split(['{', ' ', '(']).next()) {
                Some(class) if shown && !class.is_empty() => out.push(class.to_owned()),
                Some(_) => {}
                None => listed = false,
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &[&str]) {
        let found = read_fragments(output, &AppId("com.android.settings".into()));
        assert_eq!(found, expected);
        assert_eq!(
            read_fragments(&output.replace('\n', "\r\n"), &AppId("com.android.settings".into())),
            expected
        );
    }

    /// The form of Android 4.4 (`FragmentManagerImpl.dump`), with a report of another app in front
    /// of it.
    #[test]
    fn fragments_of_the_app_are_read() {
        check(
            "TASK com.android.settings id=3\n  ACTIVITY com.android.settings/.SubSettings 5368 pid=812\n    Local Activity 5368915c State:\n      mResumed=true mStopped=false mFinished=false\n    Active Fragments in 536891f0:\n      #0: MasterClear{5369f99c #0 id=0x1020002}\n        mFragmentId=#1020002 mContainerId=#1020002 mTag=null\n      #1: Behind{5369 #1 id=0x1020002}\n    Added Fragments:\n      #0: MasterClear{5369f99c #0 id=0x1020002}\n    FragmentManager misc state:\n      #9: NotAFragment{1}\n",
            &["MasterClear"],
        );
        // AndroidX, with a fragment of the lifecycle library and a child.
        check(
            "  ACTIVITY com.other/.Main 1 pid=2\n      mResumed=true mStopped=false\n    Added Fragments:\n      #0: Foreign{1}\n  ACTIVITY com.android.settings/.SubSettings 5af6213 pid=2239\n    Local Activity 5af State:\n      mResumed=true mStopped=false mFinished=false\n    Added Fragments:\n      #0: ReportFragment{37a0 #0 androidx.lifecycle.LifecycleDispatcher.report_fragment_tag}\n      Added Fragments:\n        #0: DevelopmentSettingsDashboardFragment{b1} (7a2c id=0x7f0a0399)\n",
            &["ReportFragment", "DevelopmentSettingsDashboardFragment"],
        );
        // Behind another activity, and no report at all.
        check(
            "  ACTIVITY com.android.settings/.SubSettings 5af pid=(not running)\n  ACTIVITY com.android.settings/.SubSettings 1 pid=2\n      mResumed=false mStopped=true mFinished=false\n    Added Fragments:\n      #0: MainClear{1}\n",
            &[],
        );
        check("", &[]);
    }
}
