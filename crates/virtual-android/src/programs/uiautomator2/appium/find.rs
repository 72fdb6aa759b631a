//! Finding elements, and finding them again: what a client may still mean by the id of an element.

use super::super::java::{self, Expression, ScrollSearch};
use super::super::selector::{Criterion, Selector, TextField, TextMatch};
use super::super::tree::{Element, Index, Tree};
use super::{Outcome, Server, invalid};
use crate::latency;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use thumbwire_base::lock;
use thumbwire_virtual_phone::NodeAction;
use thumbwire_webdriver::xpath::find_by_xpath;
use thumbwire_webdriver::{ElementId, ErrorCode, WebDriverError};

/// Maximum elements that are remembered; the oldest is forgotten.
const MAX_KNOWN: usize = 10_000;
/// Maximum elements of one response.
const MAX_FOUND: usize = 1_000;

/// Where an element was found.
#[derive(Debug, Clone)]
struct Locator {
    strategy: String,
    selector: String,
    /// The element that was searched.
    context: Option<String>,
}

/// An element that a client has an id for.
struct Known {
    element: Element,
    locator: Locator,
    /// Whether the client searched for one element, not a list: then a stale one is searched for
    /// again.
    is_single: bool,
}

/// The elements of a session, by id.
#[derive(Default)]
pub(super) struct KnownElements {
    list: BTreeMap<u64, Known>,
    last: u64,
}

impl KnownElements {
    fn remember(&mut self, known: Known) -> ElementId {
        self.last += 1;
        self.list.insert(self.last, known);
        if self.list.len() > MAX_KNOWN {
            self.list.pop_first();
        }
        let id = format!("00000000-0000-0000-ffff-{:012x}", self.last);
        ElementId::new(id).unwrap_or_else(|| unreachable!("it is a valid id"))
    }

    fn get(&self, id: &str) -> Option<&Known> {
        let number = id.strip_prefix("00000000-0000-0000-ffff-")?;
        self.list.get(&u64::from_str_radix(number, 16).ok()?)
    }
}

/// Whether it is the same view. A view whose texts changed is another one, unless they are what
/// changes in place.
fn is_same(now: &Element, then: &Element) -> bool {
    let place = |it: &Element| (it.address.clone(), it.window.clone(), it.class.clone());
    let words = |it: &Element| (it.id.clone(), it.text.clone(), it.description.clone());
    place(now) == place(then)
        && (words(now) == words(then)
            || (now.id == then.id && (now.is_field || now.flags.checkable)))
}

fn no_such_element() -> WebDriverError {
    let message = "An element could not be located on the page using the given search parameters";
    WebDriverError::new(ErrorCode::NoSuchElement, message)
}

fn bad_selector(reason: &str) -> WebDriverError {
    WebDriverError::new(ErrorCode::InvalidSelector, reason)
}

impl Locator {
    /// Reads a body of the driver (`strategy`, `selector`, `context`) or of W3C WebDriver (`using`,
    /// `value`).
    fn read(body: &Map<String, Value>) -> Result<Self, WebDriverError> {
        let text = |names: [&str; 2]| {
            let found = names.iter().find_map(|name| body.get(*name)).and_then(Value::as_str);
            found.map(str::to_owned).ok_or_else(|| invalid(&format!("`{}` is missing", names[0])))
        };
        let (strategy, selector) = (text(["strategy", "using"])?, text(["selector", "value"])?);
        let context = match body.get("context") {
            Some(Value::String(id)) if !id.is_empty() => Some(id.clone()),
            Some(reference @ Value::Object(_)) => {
                ElementId::from_reference(reference).map(|id| id.as_str().to_owned())
            }
            _ => None,
        };
        Ok(Self { strategy, selector, context })
    }
}

impl Server {
    /// `POST /element` and `POST /elements`
    pub(super) async fn find(&self, body: &Map<String, Value>, several: bool) -> Outcome {
        let locator = Locator::read(body)?;
        let (tree, found) = self.locate(&locator).await?;
        let mut session = lock(&self.session);
        let elements = session.as_mut().map(|session| &mut session.elements);
        let Some(elements) = elements else { return Err(no_such_element()) };
        let mut reference = |at: &Index| {
            let (element, locator) = (tree.elements[*at].clone(), locator.clone());
            elements.remember(Known { element, locator, is_single: !several }).to_reference()
        };
        match several {
            true => Ok(found.iter().take(MAX_FOUND).map(reference).collect::<Vec<_>>().into()),
            false => found.first().map(&mut reference).ok_or_else(no_such_element),
        }
    }

    /// `GET /element/active`
    pub(super) async fn active(&self) -> Outcome {
        let locator = Locator {
            strategy: "xpath".to_owned(),
            selector: "//*[@focused='true']".to_owned(),
            context: None,
        };
        let body = [("strategy", &locator.strategy), ("selector", &locator.selector)];
        let body = body.map(|(name, value)| (name.to_owned(), Value::from(value.as_str())));
        self.find(&Map::from_iter(body), false).await
    }

    /// The screen and the elements on it that a locator finds.
    async fn locate(&self, locator: &Locator) -> Result<(Tree, Vec<Index>), WebDriverError> {
        if locator.strategy == "-android uiautomator" {
            let expression =
                java::parse(&locator.selector).map_err(|reason| bad_selector(&reason))?;
            if let Expression::Scroll(search) = &expression {
                let found = self.scroll_search(search).await?;
                let tree = self.tree().await;
                return Ok((tree, found));
            }
        }
        let tree = self.tree().await;
        let from = match &locator.context {
            Some(id) => self.again(&tree, id)?,
            None => 0,
        };
        let found = matches(&tree, locator, from)?;
        Ok((tree, found))
    }

    /// `UiScrollable.scrollIntoView`: from the beginning of the list, page by page.
    async fn scroll_search(&self, search: &ScrollSearch) -> Result<Vec<Index>, WebDriverError> {
        let mut tree = self.tree().await;
        let Some(target) = &search.target else { return Ok(search.list.find_all(&tree, 0)) };
        let mut swipes = 0;
        for forward in [false, true] {
            loop {
                let found = target.find_all(&tree, 0);
                if !found.is_empty() {
                    return Ok(found);
                }
                let Some(list) = search.list.find(&tree) else { return Err(no_such_element()) };
                if swipes >= search.max_swipes
                    || !self.scroll_page(&tree.elements[list], forward).await
                {
                    break;
                }
                // Going back to the beginning does not count.
                swipes += usize::from(forward);
                tree = self.tree().await;
            }
        }
        Ok(Vec::new())
    }

    /// Scrolls a list by one page. `false` at its end.
    pub(super) async fn scroll_page(&self, list: &Element, forward: bool) -> bool {
        let action = if forward { NodeAction::ScrollForward } else { NodeAction::ScrollBackward };
        self.phone.run_work(latency::HELPER_TOUCH).await;
        list.in_front
            && self.phone.with(|phone| phone.world.perform_on_node(&list.address, &action))
    }

    /// The element that a client has this id for, on the screen as it is now.
    ///
    /// Like Appium's server, it looks for the same view, then for the first one that the same
    /// locator finds.
    pub(super) async fn known(&self, id: &str) -> Result<Element, WebDriverError> {
        let tree = self.tree().await;
        self.again(&tree, id).map(|at| tree.elements[at].clone())
    }

    fn again(&self, tree: &Tree, id: &str) -> Result<Index, WebDriverError> {
        self.again_within(tree, id, 0)
    }

    fn again_within(&self, tree: &Tree, id: &str, depth: usize) -> Result<Index, WebDriverError> {
        // Contexts of contexts.
        const MAX_DEPTH: usize = 32;
        let (then, locator, is_single) = {
            let session = lock(&self.session);
            let known = session.as_ref().and_then(|session| session.elements.get(id));
            let Some(known) = known else {
                let id = thumbwire_base::truncate(id, 80).to_string();
                let message =
                    format!("The element identified by '{id}' is not present in the cache");
                return Err(WebDriverError::new(ErrorCode::NoSuchElement, message));
            };
            (known.element.clone(), known.locator.clone(), known.is_single)
        };
        if let Some(at) = tree.all().find(|at| is_same(&tree.elements[*at], &then)) {
            return Ok(at);
        }
        let found = if is_single && depth < MAX_DEPTH {
            let from = match &locator.context {
                Some(context) => self.again_within(tree, context, depth + 1).ok(),
                None => Some(0),
            };
            from.and_then(|from| matches(tree, &locator, from).ok()?.first().copied())
        } else {
            None
        };
        found.ok_or_else(|| {
            let message = format!(
                "The element 'By.{}: {}' does not exist in DOM anymore",
                locator.strategy, locator.selector
            );
            WebDriverError::new(ErrorCode::StaleElementReference, message)
        })
    }
}

/// The elements below another one that a locator finds. A `UiScrollable` finds nothing here: it
/// scrolls first.
fn matches(tree: &Tree, locator: &Locator, from: Index) -> Result<Vec<Index>, WebDriverError> {
    let wanted = &locator.selector;
    let is = |field, text: &str| Selector {
        criteria: vec![Criterion::Text(field, TextMatch::Is(text.to_owned()))],
        ..Selector::default()
    };
    let selector = match locator.strategy.as_str() {
        "xpath" => {
            // A search of the whole screen begins outside of its root, and does not find that.
            let found = find_by_xpath(tree, wanted, Some(from).filter(|from| *from != 0));
            let mut found = found.map_err(|reason| bad_selector(&reason))?;
            found.retain(|at| *at != 0);
            return Ok(found);
        }
        "id" => {
            let mut found = is(TextField::ResourceId, wanted).find_all(tree, from);
            if found.is_empty() && !wanted.contains(":id/") {
                // The package in front is added to an id without one.
                let package = tree.elements.get(1).map_or("", |root| &root.package);
                found = is(TextField::ResourceId, &format!("{package}:id/{wanted}"))
                    .find_all(tree, from);
            }
            return Ok(found);
        }
        "accessibility id" => is(TextField::Description, wanted),
        "class name" => is(TextField::ClassName, wanted),
        "-android uiautomator" => {
            match java::parse(wanted).map_err(|reason| bad_selector(&reason))? {
                Expression::Selector(selector) => selector,
                Expression::Scroll(ScrollSearch { target, list, .. }) => target.unwrap_or(list),
            }
        }
        other => {
            let other = thumbwire_base::truncate(other, 80).to_string();
            let message = format!("the locator strategy {other:?} is not implemented");
            return Err(bad_selector(&message));
        }
    };
    Ok(selector.find_all(tree, from))
}
