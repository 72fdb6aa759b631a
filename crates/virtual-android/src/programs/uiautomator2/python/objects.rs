//! Methods about the elements that a selector finds.

use super::super::gestures::{self, Direction, LONG_CLICK};
use super::super::selector::{Criterion, Selector, Step, TextField, TextMatch};
use super::super::text;
use super::super::tree::{Element, Index, Tree};
use super::device::steps;
use super::params::{Params, RpcError};
use crate::latency;
use crate::phone::VirtualPhone;
use serde_json::{Value, json};
use std::time::Duration;
use thumbwire_virtual_phone::{NodeAction, Rect};

/// The pause between two looks at the screen.
const RETRY: Duration = Duration::from_millis(250);
/// Maximum pages of a list that are scrolled.
const MAX_SCROLLS: u64 = 1000;
/// The duration of a fling.
const FLING: Duration = Duration::from_millis(100);

/// Performs a method whose first argument is a selector; `None` if there is none of that name.
pub(super) async fn call(
    phone: &VirtualPhone,
    method: &str,
    params: &Params,
) -> Option<Result<Value, RpcError>> {
    let selector = match params.selector(0) {
        Ok(selector) => selector,
        Err(error) => return Some(Err(error)),
    };
    let object = Object { phone, selector, name: params.0[0].clone() };
    Some(match method {
        "exist" => Ok((!object.all().await.1.is_empty()).into()),
        "count" => Ok(object.all().await.1.len().into()),
        "objInfo" => object.one().await.map(|element| info(&element)),
        "objInfoOfAllInstances" => {
            let (tree, found) = object.all().await;
            Ok(found.into_iter().map(|at| info(&tree.elements[at])).collect::<Vec<_>>().into())
        }
        "waitForExists" | "waitUntilGone" => object.wait(method == "waitForExists", params).await,
        "getText" => object.one().await.map(|element| element.text.into()),
        "setText" => object.set_text(params.text(1)).await,
        "clearTextField" => object.set_text(Ok("")).await,
        "click" => object.press(Duration::ZERO).await,
        "longClick" => object.press(LONG_CLICK).await,
        "dragTo" => object.drag(params).await,
        "gesture" => object.gesture(params).await,
        "pinchIn" | "pinchOut" => object.pinch(method == "pinchOut", params).await,
        "swipe" => object.swipe(params).await,
        "scrollForward" | "scrollBackward" | "flingForward" | "flingBackward" => {
            object.scroll(method, params).await
        }
        "scrollToBeginning" | "flingToBeginning" => object.scroll_to_end(false, params).await,
        "scrollToEnd" | "flingToEnd" => object.scroll_to_end(true, params).await,
        "scrollTo" => object.scroll_to(params).await,
        "childByText" | "childByDescription" | "childByInstance" => object.child(method, params),
        _ => return None,
    })
}

struct Object<'a> {
    phone: &'a VirtualPhone,
    selector: Selector,
    /// The selector as the client wrote it.
    name: Value,
}

impl Object<'_> {
    async fn all(&self) -> (Tree, Vec<Index>) {
        self.phone.run_work(latency::HELPER_TREE).await;
        let tree = self.phone.with(|phone| Tree::take(phone, false));
        let found = self.selector.find_all(&tree, 0);
        (tree, found)
    }

    async fn one(&self) -> Result<Element, RpcError> {
        let (tree, found) = self.all().await;
        let first = found.first().map(|at| tree.elements[*at].clone());
        first.ok_or_else(|| RpcError::not_found(&self.name))
    }

    async fn wait(&self, exists: bool, params: &Params) -> Result<Value, RpcError> {
        let limit = params.millis(1, None)?;
        let mut waited = Duration::ZERO;
        loop {
            if self.all().await.1.is_empty() != exists {
                return Ok(true.into());
            }
            if waited >= limit {
                return Ok(false.into());
            }
            let pause = RETRY.min(limit - waited);
            self.phone.sleep(pause).await;
            waited += pause;
            // Without real time, others get their turn here.
            tokio::task::yield_now().await;
        }
    }

    async fn set_text(&self, text: Result<&str, RpcError>) -> Result<Value, RpcError> {
        let (text, element) = (text?, self.one().await?);
        Ok(text::set_text(self.phone, &element, text, true).await.into())
    }

    async fn press(&self, hold: Duration) -> Result<Value, RpcError> {
        let element = self.one().await?;
        gestures::press(self.phone, element.bounds.center(), hold).await;
        Ok(true.into())
    }

    async fn drag(&self, params: &Params) -> Result<Value, RpcError> {
        let from = self.one().await?.bounds.center();
        let (to, count) = match params.0.get(1).is_some_and(Value::is_object) {
            true => {
                let selector = params.selector(1)?;
                let target = Object { phone: self.phone, selector, name: params.0[1].clone() };
                (target.one().await?.bounds.center(), params.number(2, None)?)
            }
            false => (params.point(1)?, params.number(3, None)?),
        };
        gestures::swipe(self.phone, (from, to), LONG_CLICK, steps(count)).await;
        Ok(true.into())
    }

    async fn gesture(&self, params: &Params) -> Result<Value, RpcError> {
        self.one().await?;
        let point = |place| params.point_object(place);
        let ways = [(point(1)?, point(3)?), (point(2)?, point(4)?)];
        gestures::two_fingers(self.phone, ways, steps(params.number(5, None)?)).await;
        Ok(true.into())
    }

    async fn pinch(&self, opens: bool, params: &Params) -> Result<Value, RpcError> {
        let part = params.number(1, None)?.min(100) as f64 / 100.0;
        let time = steps(params.number(2, None)?);
        gestures::pinch(self.phone, &self.one().await?.bounds, part, opens, time).await;
        Ok(true.into())
    }

    async fn swipe(&self, params: &Params) -> Result<Value, RpcError> {
        let Some(direction) = Direction::from_name(params.text(1)?) else {
            return Err(RpcError::refused("a direction is left, right, up or down"));
        };
        let part = params.0.get(2).and_then(Value::as_f64).unwrap_or(1.0).clamp(0.0, 1.0);
        let way = direction.across(&self.one().await?.bounds, part);
        let time = steps(params.number(3, Some(10))?);
        gestures::swipe(self.phone, way, Duration::ZERO, time).await;
        Ok(true.into())
    }

    /// One page by finger; the result is whether there is more that way.
    async fn scroll(&self, method: &str, params: &Params) -> Result<Value, RpcError> {
        let element = self.one().await?;
        let (vertical, forward) = (params.flag(1, true), method.ends_with("Forward"));
        let towards = match (vertical, forward) {
            (true, true) => Direction::Up,
            (true, false) => Direction::Down,
            (false, true) => Direction::Left,
            (false, false) => Direction::Right,
        };
        let time = match method.starts_with("fling") {
            true => FLING,
            false => steps(params.number(2, Some(55))?),
        };
        let area = inner(&element.bounds);
        gestures::swipe(self.phone, towards.across(&area, 1.0), Duration::ZERO, time).await;
        let after = self.one().await?;
        Ok(after.scrolls[usize::from(!forward)].into())
    }

    async fn scroll_to_end(&self, forward: bool, params: &Params) -> Result<Value, RpcError> {
        let most = params.number(2, Some(MAX_SCROLLS))?.min(MAX_SCROLLS);
        self.one().await?;
        for _ in 0..most {
            if !self.page(forward).await? {
                return Ok(true.into());
            }
        }
        Ok(false.into())
    }

    /// Scrolls by one page as accessibility does. `false` at the end.
    async fn page(&self, forward: bool) -> Result<bool, RpcError> {
        let element = self.one().await?;
        let action = if forward { NodeAction::ScrollForward } else { NodeAction::ScrollBackward };
        self.phone.run_work(latency::HELPER_TOUCH).await;
        Ok(self.phone.with(|phone| phone.world.perform_on_node(&element.address, &action)))
    }

    /// Scrolls until another selector finds something: `scrollTo(list, target, vertical)`.
    async fn scroll_to(&self, params: &Params) -> Result<Value, RpcError> {
        let target = params.selector(1)?;
        let found = |tree: &Tree| target.find(tree).is_some();
        while self.page(false).await? {}
        loop {
            if found(&self.all().await.0) {
                return Ok(true.into());
            }
            if !self.page(true).await? {
                return Ok(false.into());
            }
        }
    }

    /// The selector of a child that has, or contains, a text: a name for a later call.
    fn child(&self, method: &str, params: &Params) -> Result<Value, RpcError> {
        let mut pattern = params.selector(1)?;
        let mut written = params.0[1].clone();
        match method {
            "childByInstance" => {
                let nth = params.number(2, None)?;
                pattern.instance = Some(nth as usize);
                written["instance"] = nth.into();
            }
            _ => {
                let (name, field) = match method {
                    "childByText" => ("text", TextField::Text),
                    _ => ("description", TextField::Description),
                };
                let text = params.text(2)?;
                let wanted = TextMatch::Is(text.to_owned());
                pattern.criteria.push(Criterion::Text(field, wanted));
                written[name] = text.into();
            }
        }
        let mut selector = self.selector.clone();
        selector.next = Some((Step::Child, Box::new(pattern)));
        let tree = self.phone.with(|phone| Tree::take(phone, false));
        if selector.find(&tree).is_none() {
            return Err(RpcError::not_found(&written));
        }
        let mut name = self.name.clone();
        name["childOrSibling"] = json!(["child"]);
        name["childOrSiblingSelector"] = json!([written]);
        Ok(name)
    }
}

/// An area without its edges, where gestures of the system begin.
fn inner(area: &Rect) -> Rect {
    let (x, y) = (area.width() / 10, area.height() / 10);
    Rect::new(area.left + x, area.top + y, area.right - x, area.bottom - y)
}

/// `ObjInfo`
fn info(element: &Element) -> Value {
    let flags = &element.flags;
    let Rect { left, top, right, bottom } = element.bounds;
    let bounds = json!({ "left": left, "top": top, "right": right, "bottom": bottom });
    json!({
        "bounds": bounds, "visibleBounds": bounds, "childCount": element.children.len(),
        "className": element.class, "contentDescription": none_if_empty(&element.description),
        "packageName": element.package, "resourceName": none_if_empty(&element.id),
        "text": element.text, "checkable": flags.checkable, "checked": flags.checked,
        "clickable": flags.clickable, "enabled": flags.enabled, "focusable": flags.focusable,
        "focused": flags.focused, "longClickable": flags.long_clickable,
        "scrollable": flags.scrollable, "selected": flags.selected,
    })
}

fn none_if_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
