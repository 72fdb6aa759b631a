//! The helper's operations `tap`, `swipe` and `key`: one finger, and keys.

use super::error::HelperError;
use super::fields::{millis, number, point};
use super::wire::Header;
use super::{Answer, Helper, touch};
use crate::latency;
use thumbwire_virtual_phone::KeyCode;

/// The longest gesture, in milliseconds.
const MAX_LENGTH: u64 = 60_000;

/// `tap`
pub(super) async fn tap(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let at = point(header, "x", "y")?;
    let times = number(header, "times", 1..=10, Some(1))?;
    let gap = millis(header, "gap_ms", 1_000, 100)?;
    let hold = millis(header, "hold_ms", MAX_LENGTH, 0)?;
    for time in 0..times {
        if time > 0 {
            helper.phone.sleep(gap).await;
        }
        touch::press(&helper.phone, at, hold).await;
    }
    Ok(Answer::default())
}

/// `swipe`
pub(super) async fn swipe(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let (from, to) = (point(header, "x1", "y1")?, point(header, "x2", "y2")?);
    let lasting = millis(header, "duration_ms", MAX_LENGTH, 300)?;
    let hold = millis(header, "hold_ms", MAX_LENGTH, 0)?;
    touch::swipe(&helper.phone, from, to, hold, lasting).await;
    Ok(Answer::default())
}

/// `key`
pub(super) async fn key(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let code = number(header, "code", 1..=10_000, None)?;
    let times = number(header, "times", 1..=1_000, Some(1))?;
    for _ in 0..times {
        helper.phone.with(|phone| phone.world.key(KeyCode(code as u32)));
        helper.phone.run_work(latency::KEY).await;
        tokio::task::yield_now().await;
    }
    Ok(Answer::default())
}
