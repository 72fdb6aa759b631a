//! Tasks in Shop.

use thumbwire_virtual_phone::world::Article;

use super::super::script::{Step, field, like, says};
use super::super::task::{Case, Draw, Given, Task, Want};
use super::{FIRST, LAST, SHOP, given, kept};

pub(super) const TASKS: &[Task] = &[
    Task { name: "shop-cart", apps: &["Shop"], make: cart },
    Task { name: "shop-remove", apps: &["Shop"], make: remove },
    Task { name: "shop-order", apps: &["Shop"], make: order },
    Task { name: "shop-order-tell", apps: &["Shop"], make: tell },
    Task { name: "shop-price", apps: &["Shop"], make: price_of },
];

/// Something that Shop sells whose name is no part of another's.
pub(super) fn article(draw: &mut Draw<'_>) -> Article {
    let all = draw.world.articles();
    draw.pick(&all)
}

/// Cents as Shop writes them.
pub(super) fn price(cents: u64) -> String {
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// From the list to an article's page.
pub(super) fn open(name: &str) -> Vec<Step> {
    vec![Step::Launch(SHOP), Step::Write(field(0), name.into()), Step::Tap(says(name))]
}

/// Puts so many of an article into the empty cart.
pub(super) fn fill(name: &str, count: u64) -> Vec<Step> {
    let mut script = open(name);
    script.extend([
        Step::Tap(says("Add to cart")),
        Step::Tap(like("^Cart, \\d")),
        Step::Until {
            tap: says("More").beside(like(r"^\d+$")),
            back: Some(says("Fewer").beside(like(r"^\d+$"))),
            shows: says(count.to_string()),
            most: 9,
        },
    ]);
    script
}

fn cart(draw: &mut Draw<'_>) -> Case {
    let (article, count) = (article(draw), draw.number(3, 5));
    Case {
        goal: format!("Put {count} of the article \"{}\" into the cart of Shop.", article.name),
        given: Vec::new(),
        script: fill(&article.name, count),
        wants: vec![in_cart(&article, count)],
    }
}

/// So many of an article in the cart after a task.
pub(super) fn in_cart(article: &Article, count: u64) -> Want {
    kept(SHOP, [(&format!("cart/{:03}", article.number), &count.to_string())])
}

/// One of an article in the cart before a task.
fn one_of(article: &Article) -> Given {
    Given::Kept(SHOP, format!("cart/{:03}", article.number), "1".into())
}

fn remove(draw: &mut Draw<'_>) -> Case {
    let all = draw.world.articles();
    let three = draw.some(&all, 3);
    let gone = &three[0];
    Case {
        goal: format!(
            "Take \"{}\" out of the cart of Shop. Leave the other articles in it.",
            gone.name
        ),
        given: three.iter().map(one_of).collect(),
        script: vec![
            Step::Launch(SHOP),
            Step::Tap(like("^Cart, ")),
            Step::Enough(like("^Cart, 2|^2$")),
            Step::Tap(says("Remove from cart").beside(says(&*gone.name))),
        ],
        wants: vec![Want::Absent(SHOP, format!("cart/{:03}", gone.number))],
    }
}

/// Orders what is in the cart.
fn checkout(name: &str, city: &str) -> Vec<Step> {
    vec![
        Step::Launch(SHOP),
        Step::Tap(like("^Cart, ")),
        Step::Enough(says("Your cart is empty")),
        Step::Tap(says("Checkout")),
        Step::Write(field(0), name.into()),
        Step::Write(field(1), "Harbour Street 4".into()),
        Step::Write(field(2), "23552".into()),
        Step::Write(field(3), city.into()),
        Step::Seek(says("Cash on delivery"), super::super::script::Way::Up),
        Step::Tap(says("Cash on delivery")),
        Step::Switch(says("I agree to the terms of sale"), true),
        Step::Seek(says("Place order"), super::super::script::Way::Up),
        Step::Tap(says("Place order")),
        Step::Read(says("Order placed")),
    ]
}

fn order(draw: &mut Draw<'_>) -> Case {
    let article = article(draw);
    let name = format!("{} {}", draw.pick(&FIRST), draw.pick(&LAST));
    let city = draw.pick(&["Bremen", "Kiel", "Rostock", "Stade"]);
    Case {
        goal: format!(
            "Order what is in the cart of Shop: for {name}, Harbour Street 4, 23552 {city}, cash on delivery. Agree to the terms."
        ),
        given: vec![one_of(&article)],
        script: checkout(&name, city),
        wants: ordered(&article, &name, city),
    }
}

/// One of an article, ordered.
fn ordered(article: &Article, name: &str, city: &str) -> Vec<Want> {
    vec![
        Want::Absent(SHOP, format!("cart/{:03}", article.number)),
        kept(
            SHOP,
            [
                ("order/0/items", "1"),
                ("order/0/total", &article.cents.to_string()),
                ("order/0/name", name),
                ("order/0/city", city),
            ],
        ),
    ]
}

fn tell(draw: &mut Draw<'_>) -> Case {
    let article = article(draw);
    let (name, city) = (draw.pick(&FIRST), draw.pick(&["Husum", "Emden", "Kiel"]));
    let mut script = checkout(name, city);
    script.extend([Step::Tap(says("Tell me when it is on its way")), Step::Tap(says("Allow"))]);
    let mut wants = ordered(&article, name, city);
    wants.push(kept(SHOP, [("tell/0", "<when>")]));
    wants.push(Want::Granted(SHOP, "android.permission.POST_NOTIFICATIONS"));
    Case {
        goal: format!(
            "Order what is in the cart of Shop: for {name}, Harbour Street 4, 23552 {city}, cash on delivery, agreeing to the terms. Then let Shop tell you when it is on its way."
        ),
        given: vec![one_of(&article)],
        script,
        wants,
    }
}

fn price_of(draw: &mut Draw<'_>) -> Case {
    let article = article(draw);
    let mut script = open(&article.name);
    script.extend([Step::Read(like(r"^\$[\d.]+$")), Step::Answer("{0}".into())]);
    Case {
        goal: format!("What does the article \"{}\" cost in Shop?", article.name),
        given: given(SHOP, []),
        script,
        wants: vec![Want::Answer(price(article.cents))],
    }
}
