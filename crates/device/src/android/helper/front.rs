//! The helper's op `front`: the activity in front, in a few milliseconds. The reports that tell
//! which window has the focus are long.

use std::time::Duration;

use serde::Deserialize;

use super::Operation;
use super::frame::Header;
use crate::android::Android;
use crate::android::front::app_of;
use crate::{Error, ForegroundApp};

const FRONT: Operation = Operation {
    op: "front",
    needs: "the activity in front",
    what: "find out what is in front",
    limit: Duration::from_secs(2),
    acts: false,
    left_to_shell: &["internal", "refused", "timeout"],
};

impl Android {
    /// The activity in front, if the screen is on and unlocked and the helper tells it.
    pub(in crate::android) async fn front_by_helper(&self) -> Result<Option<ForegroundApp>, Error> {
        let reply = self.ask_first(FRONT, Header::new()).await?;
        let front = reply.map(|(fields, _)| FRONT.read::<FrontReply>(fields)).transpose()?;
        Ok(front.and_then(FrontReply::activity))
    }
}

#[derive(Debug, Deserialize)]
struct FrontReply {
    on: bool,
    locked: bool,
    /// `PACKAGE/CLASS`, as Android writes components.
    activity: Option<String>,
}

impl FrontReply {
    fn activity(self) -> Option<ForegroundApp> {
        let Self { on, locked, activity } = self;
        activity.filter(|_| on && !locked).as_deref().and_then(app_of)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn activity_of_a_dark_or_locked_screen_is_not_in_front() {
        let of = |on: bool, locked: bool, activity: Option<&str>| {
            let reply = json!({ "on": on, "locked": locked, "activity": activity });
            let reply: FrontReply = FRONT.read(reply.as_object().unwrap().clone()).unwrap();
            reply.activity().map(|front| (front.app.0, front.screen))
        };
        let notes = Some("com.notes/.Main");
        assert_eq!(of(true, false, notes), Some(("com.notes".into(), "com.notes.Main".into())));
        assert_eq!(of(false, false, notes), None);
        assert_eq!(of(true, true, notes), None);
        assert_eq!(of(true, false, None), None);
    }
}
