//! What a skill expects of a screen, and what it reads from one.
//!
//! Start with [`expect`] and [`compare`]. Texts that say what the goal is about must all be there:
//! they tell the right contact's page from another's. Of the other texts half is enough, because
//! lists change. [`Reading`]s are derived by [`reading`] and done by [`read`]: a value is used only
//! if it is the only one that fits.

use thumbwire_core::action::Controls;
use thumbwire_device::text_field::is_text_field;

use super::format::{Expectation, NodeDescription, Reading};
use super::nodes::{MAX_TEXT, anchors, is_near, node, shown_texts, visible};
use super::template::{Part, Values, fill, has_place, has_words, parts, to_template};

/// How many texts of each kind are kept.
const MAX_TEXTS: usize = 6;
/// Texts that belong to the goal.
const MAX_SHOWN: usize = 4;
/// How many words a text with a single digit must have to be read.
const SENTENCE: usize = 5;
/// How many nodes with the same class and id make a list, whose rows come and go.
const LIST: usize = 4;

/// The app and screen in front.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FrontScreen {
    pub(super) app: String,
    /// Empty if unknown.
    pub(super) screen: String,
}

/// What to expect of a screen next time. `constants` are words of the goal that do not vary.
pub(super) fn expect(
    front: &FrontScreen,
    controls: &Controls,
    values: &Values,
    constants: &[String],
) -> Expectation {
    let [mut shows, mut typed, mut acting, mut others] = [const { Vec::<String>::new() }; 4];
    for at in visible(controls) {
        let one = node(controls, at);
        for text in shown_texts(one) {
            if text.chars().count() > MAX_TEXT || text.contains('\n') {
                continue;
            }
            let Ok(template) = to_template(text, values) else { continue };
            let is_of_goal =
                has_place(&template) || constants.iter().any(|constant| has_words(text, constant));
            let rest =
                constants.iter().fold(without_places(&template), |rest, it| rest.replace(it, ""));
            // Counters and times change.
            let changes = rest.contains(|it: char| it.is_numeric());
            let list = match (changes, is_of_goal) {
                (true, _) => continue,
                (false, true) if is_text_field(one) => &mut typed,
                (false, true) => &mut shows,
                (false, false) if is_text_field(one) => continue,
                (false, false) if one.flags.clickable && rows_like(controls, at) < LIST => {
                    &mut acting
                }
                (false, false) => &mut others,
            };
            if !list.contains(&template) {
                list.push(template);
            }
        }
    }
    for list in [&mut shows, &mut typed] {
        list.sort_by_key(String::len);
        list.truncate(MAX_SHOWN);
    }
    acting.extend(others);
    acting.truncate(MAX_TEXTS);
    let FrontScreen { app, screen } = front.clone();
    Expectation { app, screen, shows, typed, texts: acting }
}

/// The figures that the last step changed, such as the hour after a tap on "Increase hour": next
/// time it must have done the same. None if the step led to another page.
pub(super) fn changed_figures(before: &Controls, now: &Controls, values: &Values) -> Vec<String> {
    const MAX_FIGURES: usize = 3;
    let [had, has] = [before, now].map(|controls| {
        let nodes = visible(controls).map(|at| node(controls, at));
        let texts = nodes.filter(|node| !is_text_field(node)).flat_map(shown_texts);
        texts.map(str::to_owned).collect::<Vec<String>>()
    });
    let new: Vec<&String> = has.iter().filter(|text| !had.contains(text)).collect();
    // Running clocks have colons.
    let is_figure = |text: &&&String| {
        text.chars().count() <= MAX_TEXT
            && text.contains(|it: char| it.is_numeric())
            && !text.contains([':', '\n'])
    };
    let figures: Vec<&String> = new.iter().filter(is_figure).copied().collect();
    if figures.is_empty() || figures.len() > MAX_FIGURES || new.len() * 2 > has.len() {
        return Vec::new();
    }
    figures.into_iter().filter_map(|text| to_template(text, values).ok()).collect()
}

/// How many visible nodes look like this one, as the rows of a list do.
pub(super) fn rows_like(controls: &Controls, at: usize) -> usize {
    let it = node(controls, at);
    let like = |&other: &usize| {
        let other = node(controls, other);
        (&other.class, &other.id) == (&it.class, &it.id)
    };
    visible(controls).filter(like).count()
}

/// All texts of a screen, as templates.
pub(super) fn all_texts(controls: &Controls, values: &Values) -> Vec<String> {
    const MAX_OF_ALL: usize = 40;
    let nodes = visible(controls).map(|at| node(controls, at)).filter(|node| !is_text_field(node));
    let mut texts: Vec<String> = Vec::new();
    for template in nodes.flat_map(shown_texts).filter_map(|text| to_template(text, values).ok()) {
        if !texts.contains(&template) {
            texts.push(template);
        }
    }
    texts.truncate(MAX_OF_ALL);
    texts
}

fn without_places(template: &str) -> String {
    let text = parts(template).into_iter().map(|part| match part {
        Part::Text(text) => text,
        Part::Place(_) => "",
    });
    text.collect()
}

/// Compares a screen with what is expected.
///
/// # Errors
/// What differs.
pub(super) fn compare(
    expected: &Expectation,
    front: &FrontScreen,
    controls: &Controls,
    values: &Values,
) -> Result<(), String> {
    if !expected.app.is_empty() && expected.app != front.app {
        return Err(format!("{} was in front, but {} is now", expected.app, front.app));
    }
    if !expected.screen.is_empty() && !front.screen.is_empty() && expected.screen != front.screen {
        return Err(format!("its screen was {}, but is {} now", expected.screen, front.screen));
    }
    let nodes = || visible(controls).map(|at| node(controls, at));
    let shown: Vec<&str> = nodes().flat_map(shown_texts).collect();
    for (templates, in_fields) in [(&expected.shows, false), (&expected.typed, true)] {
        for template in templates {
            let text = fill(template, values)?;
            let shows = nodes().filter(|node| is_text_field(node) == in_fields);
            if !shows.flat_map(shown_texts).any(|it| it == text) {
                let place =
                    if in_fields { "no text field shows" } else { "the screen does not show" };
                return Err(format!("{place} {text:?}"));
            }
        }
    }
    let mut missing = Vec::new();
    for template in &expected.texts {
        let text = fill(template, values)?;
        if !shown.contains(&&*text) {
            missing.push(format!("{text:?}"));
        }
    }
    match missing.len() * 2 > expected.texts.len() {
        true => Err(format!("the screen lacks {}", missing.join(", "))),
        false => Ok(()),
    }
}

/// What a value looks like: `$9.9` for `$12.50`, `9 a` for `12 min`.
pub(super) fn shape(value: &str) -> String {
    let mut shape = String::new();
    for it in value.chars() {
        let kind = match it {
            _ if it.is_numeric() => '9',
            _ if it.is_alphabetic() => 'a',
            _ => it,
        };
        if !(matches!(kind, '9' | 'a') && shape.ends_with(kind)) {
            shape.push(kind);
        }
    }
    shape
}

/// How to read a value from a screen next time; `None` if it is not there, or nothing says where it
/// is.
pub(super) fn reading(
    name: &str,
    value: &str,
    controls: &Controls,
    values: &Values,
) -> Option<Reading> {
    let own = |reading: &Reading| read(reading, controls, values).as_deref() == Ok(value);
    // A text of several lines can be any.
    let shape = if value.contains('\n') { String::new() } else { shape(value) };
    for at in visible(controls) {
        let one = node(controls, at);
        for (text, is_label) in [(&*one.text, false), (&*one.description, true)] {
            if !has_words(text, value) {
                continue;
            }
            // A single digit is in many texts, such as "1 of 2": that of a count is on the screen
            // by chance. A sentence says more.
            let is_short = text.split_whitespace().count() < SENTENCE;
            if value.chars().count() == 1 && text != value && is_short {
                continue;
            }
            let from = source(controls, at, is_label, values)?;
            let plain =
                Reading { name: name.into(), from, shape: shape.clone(), ..Reading::default() };
            let mut readings = Vec::new();
            if text == value {
                readings.push(Reading { whole: true, ..plain.clone() });
            } else if let Some((after, before)) = around(text, value, values) {
                readings.push(Reading { after, before, ..plain.clone() });
            }
            // What is around it says more than a shape, but an id says enough.
            let has_id = !plain.from.id.is_empty();
            let anchored = anchored(&plain.from, controls, at, values);
            for way in readings {
                let better =
                    anchored.iter().map(|from| Reading { from: from.clone(), ..way.clone() });
                let plainly = [way.clone()];
                let found = match has_id {
                    true => plainly.into_iter().chain(better).find(own),
                    false => better.chain(plainly).find(own),
                };
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

/// The node that has a value, without the value.
fn source(
    controls: &Controls,
    at: usize,
    is_label: bool,
    values: &Values,
) -> Option<NodeDescription> {
    let one = node(controls, at);
    let label = if is_label { "" } else { &*one.description };
    Some(NodeDescription {
        class: one.class.to_string(),
        app: one.package.to_string(),
        id: one.id.to_string(),
        label: to_template(label, values).ok()?,
        ..NodeDescription::default()
    })
}

/// The node's descriptions that also have a text beside or above it.
fn anchored(
    from: &NodeDescription,
    controls: &Controls,
    at: usize,
    values: &Values,
) -> Vec<NodeDescription> {
    let (beside, under) = anchors(controls, at, values);
    let beside =
        beside.into_iter().map(|text| NodeDescription { beside: Some(text), ..from.clone() });
    let under = under.map(|text| NodeDescription { under: Some(text), ..from.clone() });
    beside.chain(under).collect()
}

/// The words before and after a value in its line, as templates; `None` if the line has nothing
/// else, or the value twice.
fn around(text: &str, value: &str, values: &Values) -> Option<(String, String)> {
    const WORDS: usize = 2;
    let line = text.lines().find(|line| has_words(line, value))?;
    let (before, after) = line.split_once(value)?;
    if after.contains(value) {
        return None;
    }
    let start = before.trim_end().rmatch_indices(' ').nth(WORDS - 1).map_or(0, |(at, _)| at + 1);
    let end = after.trim_start().match_indices(' ').nth(WORDS - 1).map(|(at, _)| at);
    let end = end.map_or(after.len(), |at| at + after.len() - after.trim_start().len());
    let [before, after] = [&before[start..], &after[..end]];
    Some((to_template(before, values).ok()?, to_template(after, values).ok()?))
}

/// The value that a reading means.
///
/// # Errors
/// Why there is none: nothing fits, or several do.
pub(super) fn read(
    reading: &Reading,
    controls: &Controls,
    values: &Values,
) -> Result<String, String> {
    let [after, before] = [fill(&reading.after, values)?, fill(&reading.before, values)?];
    let mut found: Vec<String> = Vec::new();
    let mut keep = |value: &str| {
        let fits = reading.shape.is_empty() || shape(value) == reading.shape;
        if fits && !found.iter().any(|it| it == value) {
            found.push(value.to_owned());
        }
    };
    for at in sources(reading, controls, values) {
        for text in shown_texts(node(controls, at)) {
            if reading.whole {
                keep(text);
                continue;
            }
            for line in text.lines() {
                between(line, &after, &before).into_iter().for_each(&mut keep);
            }
        }
    }
    let name = &reading.name;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(format!("{name} is not on the screen where it was")),
        count => Err(format!("{count} values on the screen could be {name}")),
    }
}

/// The part of a line between these texts, if there is one.
fn between<'a>(line: &'a str, after: &str, before: &str) -> Option<&'a str> {
    let from = match after {
        "" => 0,
        after => line.find(after)? + after.len(),
    };
    let rest = &line[from..];
    match before {
        "" => Some(rest),
        before => Some(&rest[..rest.find(before)?]),
    }
    .filter(|value| !value.is_empty())
}

/// The nodes that a reading may mean. Their own texts are what is read, so these do not describe
/// them.
fn sources(reading: &Reading, controls: &Controls, values: &Values) -> Vec<usize> {
    let from = &reading.from;
    let fits = |&at: &usize| {
        let one = node(controls, at);
        *one.class == from.class && *one.package == from.app && *one.id == from.id
    };
    visible(controls).filter(fits).filter(|&at| is_near(from, controls, at, values)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safeguards::screen_state::made::{controls, node as made};

    fn front() -> FrontScreen {
        FrontScreen { app: "app".into(), screen: "Main".into() }
    }

    fn values(name: &str) -> Values {
        [("NAME".to_owned(), name.to_owned())].into()
    }

    fn screen(texts: &[&str]) -> std::sync::Arc<Controls> {
        controls((0..).zip(texts).map(|(at, text)| made("Button", text, at)).collect())
    }

    #[test]
    fn what_the_goal_is_about_must_be_there_and_half_of_the_rest() {
        let was = screen(&["Ada", "Call", "Mail", "3 messages", "7"]);
        let expected = expect(&front(), &was, &values("Ada"), &["7".into()]);
        assert_eq!(expected.shows, ["7", "{NAME}"]);
        assert_eq!(expected.texts, ["Call", "Mail"]);
        let check = |texts: &[&str], name: &str| {
            compare(&expected, &front(), &screen(texts), &values(name))
        };
        assert_eq!(check(&["7", "Mail", "Bob"], "Bob"), Ok(()));
        assert_eq!(
            check(&["7", "Mail", "Bob"], "Ada").unwrap_err(),
            "the screen does not show \"Ada\""
        );
        assert_eq!(check(&["7", "Ada"], "Ada").unwrap_err(), "the screen lacks \"Call\", \"Mail\"");
        let other = FrontScreen { app: "android".into(), ..front() };
        let error = compare(&expected, &other, &was, &values("Ada")).unwrap_err();
        assert_eq!(error, "app was in front, but android is now");
    }

    #[test]
    fn values_are_read_by_what_is_around_them() {
        let check = |was: &str, value: &str, now: &str, expected: Result<&str, &str>| {
            let reading = reading("CODE", value, &screen(&["Other", was]), &values("Ada")).unwrap();
            let found = read(&reading, &screen(&["Other", now]), &values("Ada"));
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
        };
        check("Your code is 4711. Keep it.", "4711", "Your code is 0815. Keep it.", Ok("0815"));
        check("3 eggs\n425 g flour\nMilk", "425", "1 egg\n300 g flour\nMilk", Ok("300"));
        check("$12.50", "$12.50", "$7.00", Ok("$7.00"));
        let gone = Err("CODE is not on the screen where it was");
        check("Your code is 4711. Keep it.", "4711", "No code for you", gone);
        check("Your code is 4711. Keep it.", "4711", "Your code is secret. Keep it.", gone);
        let two = screen(&["$1.00", "$2.00"]);
        assert_eq!(
            reading("PRICE", "$1.00", &two, &values("Ada")),
            None,
            "nothing tells them apart"
        );
    }

    #[test]
    fn figures_that_a_step_changed_must_be_there_next_time() {
        let texts = ["Save", "Cancel", "Increase hour", "Decrease hour"];
        let picker = |figures: &[&'static str]| screen(&[&texts[..], figures].concat());
        let changed = |before: &[&'static str], now: &[&'static str]| {
            changed_figures(&picker(before), &picker(now), &values("Ada"))
        };
        assert_eq!(changed(&["7", "30"], &["8", "30"]), ["8"]);
        assert_eq!(changed(&["00h 00m 02s"], &["00h 00m 25s"]), ["00h 00m 25s"]);
        assert_eq!(changed(&["0:07"], &["0:08"]), [""; 0], "it runs by itself");
        assert_eq!(changed(&["7"], &["AM"]), [""; 0]);
        let other = screen(&["Alarms", "8:30", "12 left"]);
        assert_eq!(changed_figures(&picker(&["7"]), &other, &values("Ada")), [""; 0], "a page");
    }

    #[test]
    fn single_digit_is_read_only_alone_or_in_a_sentence() {
        let found = |text: &str| reading("N", "2", &screen(&["Other", text]), &values("Ada"));
        assert_eq!(found("1 of 2"), None);
        assert!(found("2").is_some() && found("The bread needs 2 cups of flour").is_some());
    }
}
