//! Finds elements: by name, type, predicate, class chain or XPath.
//!
//! Every strategy yields positions in a [`Snapshot`], in the order of its source. What cannot be
//! parsed is `invalid selector`, as WebDriverAgent reports it.

mod attribute;
mod class_chain;
mod predicate;
mod source;

use thumbwire_webdriver::xpath::find_by_xpath;
use thumbwire_webdriver::{ErrorCode, Locator, Strategy, WebDriverError};

pub(crate) use attribute::attribute;

use crate::tree::Snapshot;
use predicate::Predicate;
use source::PageSource;

/// Limit on the length of a locator's value in bytes.
const MAX_VALUE: usize = 16 * 1024;

/// The elements below `root` that a locator finds.
///
/// # Errors
/// `invalid selector` if the value cannot be parsed or the strategy is unknown.
pub(crate) fn find_all(
    snapshot: &Snapshot,
    root: usize,
    locator: &Locator,
) -> Result<Vec<usize>, WebDriverError> {
    let value = locator.value.as_str();
    if value.len() > MAX_VALUE {
        return Err(invalid("the value is too long"));
    }
    let where_ = |test: &dyn Fn(usize) -> bool| -> Vec<usize> {
        snapshot.descendants(root).into_iter().filter(|at| test(*at)).collect()
    };
    let named = |value: &str| where_(&|at| snapshot.elements[at].name() == Some(value));
    match locator.using.clone().for_webdriver_agent() {
        Strategy::Id | Strategy::Name | Strategy::AccessibilityId => Ok(named(value)),
        Strategy::ClassName => {
            let kind = value.strip_prefix("XCUIElementType").ok_or_else(|| {
                invalid(&format!("the class name {value:?} does not begin with XCUIElementType"))
            })?;
            Ok(where_(&|at| kind == "Any" || snapshot.elements[at].kind == kind))
        }
        Strategy::LinkText | Strategy::PartialLinkText => {
            let partial = locator.using == Strategy::PartialLinkText;
            let (name, text) = value.split_once('=').unwrap_or(("name", value));
            attribute::check_name(name).map_err(|problem| invalid(&problem))?;
            Ok(where_(&|at| {
                let found = attribute(snapshot, at, name).map(|found| found.to_text());
                found
                    .is_some_and(|found| if partial { found.contains(text) } else { found == text })
            }))
        }
        Strategy::WdaPredicate => {
            let predicate = Predicate::parse(value).map_err(|problem| invalid(&problem))?;
            Ok(where_(&|at| predicate.is_true(snapshot, at)))
        }
        Strategy::WdaClassChain => {
            class_chain::find(snapshot, root, value).map_err(|problem| invalid(&problem))
        }
        Strategy::Xpath => find_by_xpath(&PageSource { snapshot, root }, value, Some(root))
            .map_err(|problem| invalid(&format!("{problem} in the XPath {value:?}"))),
        other => Err(invalid(&format!("the strategy {:?} is unknown", other.as_str()))),
    }
}

fn invalid(problem: &str) -> WebDriverError {
    WebDriverError::new(ErrorCode::InvalidSelector, problem)
}
