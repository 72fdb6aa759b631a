//! Class chains: XCUITest types joined by `/`, each with predicates and an index (WebDriverAgent's
//! wiki, "Class Chain Queries Construction Rules").

use crate::locate::predicate::Predicate;
use crate::tree::Snapshot;

/// One type of a chain.
struct Link {
    /// Whether it may be at any depth: `**/`.
    any_depth: bool,
    /// `None` for `*`.
    kind: Option<String>,
    /// With a `$`, the predicate is about something inside.
    predicates: Vec<(bool, Predicate)>,
    /// From 1, or from -1 for the last one.
    position: Option<i64>,
}

/// The elements below `root` that a chain finds.
///
/// # Errors
/// What is wrong with the chain.
pub(super) fn find(snapshot: &Snapshot, root: usize, chain: &str) -> Result<Vec<usize>, String> {
    let links = parse(chain)?;
    let mut found = vec![root];
    for link in &links {
        let mut next = Vec::new();
        for from in found {
            let below = match link.any_depth {
                true => snapshot.descendants(from),
                false => snapshot.elements[from].children.clone(),
            };
            next.extend(below.into_iter().filter(|at| link.matches(snapshot, *at)));
        }
        next.sort_unstable();
        next.dedup();
        found = match link.position {
            None => next,
            Some(position) => {
                let at = match usize::try_from(position) {
                    Ok(from_start) => from_start.checked_sub(1),
                    Err(_) => {
                        usize::try_from(-position).ok().and_then(|end| next.len().checked_sub(end))
                    }
                };
                at.and_then(|at| next.get(at).copied()).into_iter().collect()
            }
        };
    }
    Ok(found)
}

impl Link {
    fn matches(&self, snapshot: &Snapshot, at: usize) -> bool {
        let is_kind = self
            .kind
            .as_ref()
            .is_none_or(|kind| kind == "Any" || snapshot.elements[at].kind == kind);
        is_kind
            && self.predicates.iter().all(|(inside, predicate)| match inside {
                false => predicate.is_true(snapshot, at),
                true => {
                    snapshot.descendants(at).into_iter().any(|at| predicate.is_true(snapshot, at))
                }
            })
    }
}

fn parse(chain: &str) -> Result<Vec<Link>, String> {
    let mut links = Vec::new();
    let mut rest = chain.trim();
    rest = rest.strip_prefix('/').unwrap_or(rest);
    loop {
        let any_depth = rest.starts_with("**/");
        rest = rest.strip_prefix("**/").unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '*').unwrap_or(rest.len());
        let (kind, after) = rest.split_at(end);
        let kind = match kind {
            "*" => None,
            kind => Some(kind.strip_prefix("XCUIElementType").filter(|kind| !kind.is_empty()).ok_or_else(|| {
                format!("expected a type such as XCUIElementTypeButton in the class chain {chain:?}, not {kind:?}")
            })?),
        };
        let mut link = Link {
            any_depth,
            kind: kind.map(str::to_owned),
            predicates: Vec::new(),
            position: None,
        };
        rest = after;
        while let Some(inside) = rest.strip_prefix('[') {
            rest = match inside.chars().next() {
                Some(mark @ ('`' | '$')) => {
                    let (text, after) = until(&inside[1..], mark).ok_or_else(|| {
                        format!("a {mark} is missing in the class chain {chain:?}")
                    })?;
                    link.predicates.push((mark == '$', Predicate::parse(&text)?));
                    after
                }
                _ => {
                    let end = inside.find(']').unwrap_or(inside.len());
                    let position =
                        inside[..end].trim().parse().ok().filter(|position| *position != 0);
                    link.position = Some(position.ok_or_else(|| {
                        format!("expected an index such as 1 or -1 in the class chain {chain:?}")
                    })?);
                    &inside[end..]
                }
            };
            rest = rest
                .strip_prefix(']')
                .ok_or_else(|| format!("a ] is missing in the class chain {chain:?}"))?;
        }
        links.push(link);
        match rest.strip_prefix('/') {
            Some(more) => rest = more,
            None if rest.is_empty() => return Ok(links),
            None => return Err(format!("unexpected {rest:?} in the class chain {chain:?}")),
        }
    }
}

/// The text up to a mark, where two of them stand for one, and what follows.
fn until(text: &str, mark: char) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut rest = text;
    loop {
        let at = rest.find(mark)?;
        inner.push_str(&rest[..at]);
        rest = &rest[at + mark.len_utf8()..];
        match rest.strip_prefix(mark) {
            Some(after) => {
                inner.push(mark);
                rest = after;
            }
            None => return Some((inner, rest)),
        }
    }
}
