//! The error for a method that we do not have, as text that a person can read.

use rmcp::model::{ErrorCode, ErrorData};

/// The error for a method that we do not have.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"), None)
}

/// Makes an error of rmcp about an unknown method readable: its text is only the method's name.
pub(super) fn name_method(error: &mut ErrorData) {
    if error.code == ErrorCode::METHOD_NOT_FOUND && !error.message.contains(' ') {
        *error = unknown_method(&error.message);
    }
}
