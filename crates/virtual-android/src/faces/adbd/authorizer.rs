//! How adbd checks a host's key and asks the owner.

use crate::phone::VirtualPhone;
use futures::future::{BoxFuture, FutureExt};
use thumbwire_adb::daemon::HostAuthorizer;

/// Asks the phone's owner.
pub(super) struct OwnerAuthorizer(pub(super) VirtualPhone);

impl HostAuthorizer for OwnerAuthorizer {
    fn is_authorized(&self, token: &[u8], signature: &[u8]) -> bool {
        self.0.has_signed(token, signature)
    }

    fn request_consent(&self, line: String) -> BoxFuture<'static, bool> {
        let phone = self.0.clone();
        async move { phone.request_consent(line).await }.boxed()
    }
}
