//! The bundled pages, all of them our own texts.

use crate::app::DrawContext;
use crate::apps::browser::web::{
    button, document, group, heading, image, input, link, nested, paragraph, subheading, table,
    toggle,
};
use crate::apps::browser::{Form, NAME, WORDS};
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, View, class};
use thumbwire_virtual_screen::icons::Icon;

pub(super) const HOME: &str = "https://lighthouse.example/";
const ARTICLE: &str = "https://lighthouse.example/keepers";
const TABLE: &str = "https://lighthouse.example/heights";
const FORM: &str = "https://lighthouse.example/contact";
const LINKS: &str = "https://lighthouse.example/index";
const THANKS: &str = "https://lighthouse.example/thanks";
const SEARCH: &str = "https://search.example/?q=";

/// The nesting depth of the article; as deep as pages made of components often are.
const DEPTH: usize = 24;
const CHOICES: [&str; 3] = ["A question", "A correction", "A story"];

/// The bundled addresses.
pub(super) fn known() -> impl Iterator<Item = String> {
    [HOME, ARTICLE, TABLE, FORM, LINKS].into_iter().map(str::to_owned)
}

/// The address for what the user typed: an address, else a search.
pub(super) fn address_of(text: &str) -> String {
    let text = text.trim();
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let address = rest.unwrap_or(text);
    let host = address.split('/').next().unwrap_or_default();
    let dotted = host.contains('.') && !host.ends_with('.') && !address.contains(' ');
    match (rest, dotted) {
        (None, false) => format!("{SEARCH}{}", text.replace(' ', "+")),
        _ if address.contains('/') => format!("https://{address}"),
        _ => format!("https://{address}/"),
    }
}

/// The address that a submitted form leads to.
pub(super) fn submitted(form: &Form) -> String {
    let name = form.name.trim().replace(' ', "+");
    let about = CHOICES.get(form.choice).copied().unwrap_or_default().replace(' ', "+");
    format!("{THANKS}?name={name}&about={about}&news={}", form.news)
}

/// The page at an address.
pub(super) fn page(address: &str, form: &Form, env: &DrawContext<'_>) -> View {
    let bottom = env.insets.1;
    if let Some(words) = address.strip_prefix(SEARCH) {
        return document("Search", found(&words.replace('+', " ")), bottom);
    }
    if let Some(query) = address.strip_prefix(THANKS) {
        return document("Thank you", thanks(query), bottom);
    }
    match address {
        HOME => document("The Lighthouse Pages", home(), bottom),
        ARTICLE => document("The last keepers", article(), bottom),
        TABLE => document("Heights of lighthouses", heights(), bottom),
        FORM => document("Write to us", contact(form), bottom),
        LINKS => document("Index", index(), bottom),
        _ => document(address, lost(address), bottom),
    }
}

fn home() -> Vec<View> {
    let ways = [
        ("The last keepers", ARTICLE),
        ("Heights of lighthouses", TABLE),
        ("Index from A to Z", LINKS),
        ("Write to us", FORM),
    ];
    let ways = ways.map(|(words, address)| group([link(words, address)]));
    vec![
        heading("The Lighthouse Pages").web_id("firstHeading"),
        image(Icon::WbSunny, Colour::hex(0x2C5785), "A lighthouse at dawn"),
        paragraph("All about towers that show ships the way, and about those who lit them."),
        nested(6, group(ways).gap(0.0).web_id("nav")),
    ]
}

fn article() -> Vec<View> {
    let text = [
        "For most of its life a lighthouse was somebody's home. The lamp had to be filled, its wick cut, its lenses wiped, every few hours of \
         every night of the year.",
        "Automatic lamps came in the twentieth century. First the gas that could be left alone for weeks, then electric light, and in the end \
         a radio that reports when a bulb fails. One by one the keepers moved ashore.",
        "Those who are left today guide visitors, count birds, and paint. Asked what they miss, many say the same: being needed at four in \
         the morning.",
    ];
    let mut parts = vec![heading("The last keepers").web_id("firstHeading")];
    parts.push(nested(DEPTH, paragraph(text[0])));
    parts.push(image(Icon::Home, Colour::hex(0x8C4A00), "A keeper's house"));
    parts.push(subheading("Lamps that mind themselves"));
    parts.push(nested(DEPTH, paragraph(text[1])));
    parts.push(subheading("What remains"));
    parts.push(nested(DEPTH, paragraph(text[2])));
    parts.push(nested(4, link("Heights of lighthouses", TABLE)));
    parts.push(nested(4, link("Back to the beginning", HOME)));
    parts
}

fn heights() -> Vec<View> {
    let rows = [
        ["Tower", "Built", "Height"],
        ["North Point", "1871", "42 m"],
        ["Gull Rock", "1903", "31 m"],
        ["Old Mole", "1788", "19 m"],
        ["Far Skerry", "1857", "55 m"],
        ["Harbour Light", "1922", "12 m"],
    ];
    vec![
        heading("Heights of lighthouses").web_id("firstHeading"),
        paragraph("Measured from the ground to the top of the lantern."),
        nested(3, table(&rows).web_id("heights")),
        link("Back to the beginning", HOME),
    ]
}

fn contact(form: &Form) -> Vec<View> {
    let next = FieldTraits { action: ImeAction::Next, ..FieldTraits::default() };
    let many = FieldTraits { multi_line: true, ..FieldTraits::default() };
    let choices = CHOICES
        .iter()
        .enumerate()
        .map(|(at, label)| toggle(class::RADIO, label, form.choice == at, ("choice", at)));
    let news = toggle(class::CHECK_BOX, "Send me the newsletter", form.news, "news");
    vec![
        heading("Write to us").web_id("firstHeading"),
        nested(
            4,
            group([
                input(NAME, ("Your name", "First and last name"), &form.name, next),
                group(choices).gap(0.0).web_id("about"),
                input(WORDS, ("Message", "What would you like to tell us?"), &form.text, many),
                news.web_id("newsletter"),
                button("Send", "submit").web_id("send"),
            ])
            .web_id("contact"),
        ),
    ]
}

fn index() -> Vec<View> {
    let mut parts = vec![heading("Index").web_id("firstHeading")];
    parts.extend(('A'..='Z').map(|letter| {
        let towers = ["Head", "Rock", "Point"].map(|kind| {
            let name = format!("{letter} {kind}");
            link(&name, &address_of(&name))
        });
        group([subheading(&letter.to_string()), group(towers).gap(0.0)]).gap(4.0)
    }));
    parts
}

fn found(words: &str) -> Vec<View> {
    let wanted = words.to_lowercase();
    let pages = [
        ("The last keepers", ARTICLE, "For most of its life a lighthouse was somebody's home."),
        ("Heights of lighthouses", TABLE, "Measured from the ground to the top of the lantern."),
        ("Write to us", FORM, "Questions, corrections and stories are welcome."),
    ];
    let hits = pages.into_iter().filter(|(title, _, about)| {
        let text = format!("{title} {about}").to_lowercase();
        wanted.split_whitespace().any(|word| text.contains(word))
    });
    let mut parts = vec![heading(&format!("Results for \u{201c}{words}\u{201d}"))];
    parts.extend(hits.map(|(title, address, about)| {
        nested(3, group([link(title, address), paragraph(about)]).gap(0.0))
    }));
    if parts.len() == 1 {
        parts.push(paragraph("Nothing on the pages that this phone knows matches your search."));
    }
    parts
}

fn thanks(query: &str) -> Vec<View> {
    let name = query.split(['?', '&']).find_map(|part| part.strip_prefix("name="));
    let name = name.unwrap_or_default().replace('+', " ");
    let text =
        if name.is_empty() { "Thank you!".to_owned() } else { format!("Thank you, {name}!") };
    vec![
        heading(&text).web_id("firstHeading"),
        paragraph("We read everything, and answer within a week."),
        link("Back to the beginning", HOME),
    ]
}

fn lost(address: &str) -> Vec<View> {
    let host = address.strip_prefix("https://").unwrap_or(address);
    let host = host.split('/').next().unwrap_or_default();
    vec![
        heading("This site can't be reached").web_id("error-title"),
        paragraph(&format!("{host}'s server IP address could not be found.")),
        // Chromium's error name (`net_error_list.h`).
        paragraph("ERR_NAME_NOT_RESOLVED").web_id("error-code"),
        link("Back to the beginning", HOME),
    ]
}
