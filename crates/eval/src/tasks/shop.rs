//! Tasks in Shop.

use thumbwire_virtual_phone::SeededArticle;

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{InitialState, ParamSource, SuccessCondition, Task, TaskInstance};
use super::{FIRST, LAST, SHOP, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("shop-cart", &["Shop"], Medium, &[Search, Repetition], cart),
    Task::new("shop-remove", &["Shop"], Easy, &[DataEdit], remove),
    Task::new("shop-order", &["Shop"], Medium, &[DataEntry], order),
    Task::new("shop-order-tell", &["Shop"], Hard, &[DataEntry, Composite], tell_total),
    Task::new("shop-price", &["Shop"], Easy, &[InformationRetrieval, Search], price_of),
    Task::new("shop-total", &["Shop"], Easy, &[InformationRetrieval, ScreenReading], total),
    Task::new(
        "shop-last-order",
        &["Shop"],
        Easy,
        &[InformationRetrieval, ScreenReading],
        past_order,
    ),
    Task::new("shop-quantity", &["Shop"], Easy, &[DataEdit, ComplexUiUnderstanding], quantity),
    Task::new(
        "shop-two-products",
        &["Shop"],
        Medium,
        &[Composite, Repetition, Search],
        two_products,
    ),
    Task::new("shop-empty-cart", &["Shop"], Easy, &[Composite, DataEdit, Repetition], empty),
    Task::new("shop-big-order", &["Shop"], Hard, &[Composite, DataEntry, Search], big_order),
];

/// Picks a product whose name is not part of another one's.
pub(super) fn article(draw: &mut ParamSource<'_>) -> SeededArticle {
    let all = draw.world.articles();
    draw.pick(&all)
}

/// An amount in cents as Shop formats it.
pub(super) fn price(cents: u64) -> String {
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Goes from the list to a product's page.
pub(super) fn open(name: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(SHOP),
        ScriptStep::Type(field(0), name.into()),
        ScriptStep::Tap(with_text(name)),
    ]
}

/// Adds this many of a product to the empty cart.
pub(super) fn fill(name: &str, count: &str) -> Vec<ScriptStep> {
    let mut script = open(name);
    script.extend([
        ScriptStep::Tap(with_text("Add to cart")),
        ScriptStep::Tap(like("^Cart, \\d")),
        ScriptStep::TapUntil {
            tap: with_text("More").beside(like(r"^\d+$")),
            back: Some(with_text("Fewer").beside(like(r"^\d+$"))),
            shows: with_text(count),
            max: 9,
        },
    ]);
    script
}

fn cart(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (article, count) = (article(draw), draw.number(3, 5));
    TaskInstance {
        goal: format!("In Shop, add {count} of the product \"{}\" to the cart.", article.name),
        given: Vec::new(),
        script: fill(&article.name, &count.to_string()),
        wants: vec![in_cart(&article, count)],
    }
}

/// The cart must contain this many of a product.
pub(super) fn in_cart(article: &SeededArticle, count: u64) -> SuccessCondition {
    stored(SHOP, [(&format!("cart/{:03}", article.number), &count.to_string())])
}

/// The cart contains one of a product before the task.
fn one_of(article: &SeededArticle) -> InitialState {
    InitialState::AppValue(SHOP, format!("cart/{:03}", article.number), "1".into())
}

fn remove(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.articles();
    let three = draw.some(&all, 3);
    let gone = &three[0];
    TaskInstance {
        goal: format!("In Shop, remove \"{}\" from the cart. Keep the other products.", gone.name),
        given: three.iter().map(one_of).collect(),
        script: vec![
            ScriptStep::Launch(SHOP),
            ScriptStep::Tap(like("^Cart, ")),
            ScriptStep::SkipIfVisible(like("^Cart, 2|^2$")),
            ScriptStep::Tap(with_text("Remove from cart").beside(with_text(&*gone.name))),
        ],
        wants: vec![SuccessCondition::ValueAbsent(SHOP, format!("cart/{:03}", gone.number))],
    }
}

/// Where orders go.
const STREET: &str = "Harbour Street 4";
const ZIP: &str = "23552";

/// Orders what is in the cart.
fn checkout(name: &str, city: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(SHOP),
        ScriptStep::Tap(like("^Cart, ")),
        ScriptStep::SkipIfVisible(with_text("Your cart is empty")),
        ScriptStep::Tap(with_text("Checkout")),
        ScriptStep::Type(field(0), name.into()),
        ScriptStep::Type(field(1), STREET.into()),
        ScriptStep::Type(field(2), ZIP.into()),
        ScriptStep::Type(field(3), city.into()),
        ScriptStep::ScrollTo(with_text("Cash on delivery"), super::super::script::ScriptSwipe::Up),
        ScriptStep::Tap(with_text("Cash on delivery")),
        ScriptStep::SetSwitch(with_text("I agree to the terms of sale"), true),
        ScriptStep::ScrollTo(with_text("Place order"), super::super::script::ScriptSwipe::Up),
        ScriptStep::Tap(with_text("Place order")),
        ScriptStep::Read(with_text("Order placed")),
    ]
}

fn order(draw: &mut ParamSource<'_>) -> TaskInstance {
    let article = article(draw);
    let name = format!("{} {}", draw.pick(&FIRST), draw.pick(&LAST));
    let city = draw.pick(&["Bremen", "Kiel", "Rostock", "Stade"]);
    TaskInstance {
        goal: format!(
            "In Shop, order what is in the cart, to {name}, Harbour Street 4, 23552 {city}, cash on delivery. Agree to the terms."
        ),
        given: vec![one_of(&article)],
        script: checkout(&name, city),
        wants: ordered(&article, &name, city),
    }
}

/// One of a product must be ordered.
fn ordered(article: &SeededArticle, name: &str, city: &str) -> Vec<SuccessCondition> {
    vec![
        SuccessCondition::ValueAbsent(SHOP, format!("cart/{:03}", article.number)),
        stored(
            SHOP,
            [
                ("order/0/items", "1"),
                ("order/0/total", &article.cents.to_string()),
                ("order/0/name", name),
                ("order/0/city", city),
                ("order/0/street", STREET),
                ("order/0/zip", ZIP),
                ("order/0/payment", "cash"),
            ],
        ),
    ]
}

fn tell_total(draw: &mut ParamSource<'_>) -> TaskInstance {
    let article = article(draw);
    let (name, city) = (draw.pick(&FIRST), draw.pick(&["Husum", "Emden", "Kiel"]));
    let mut script = checkout(name, city);
    script.extend([
        ScriptStep::Tap(with_text("Tell me when it is on its way")),
        ScriptStep::Tap(with_text("Allow")),
    ]);
    let mut wants = ordered(&article, name, city);
    wants.push(stored(SHOP, [("tell/0", "<when>")]));
    wants.push(SuccessCondition::Granted(SHOP, "android.permission.POST_NOTIFICATIONS"));
    TaskInstance {
        goal: format!(
            "In Shop, order what is in the cart, to {name}, Harbour Street 4, 23552 {city}, cash on delivery, and agree to the terms. Then let Shop notify me when it is on its way."
        ),
        given: vec![one_of(&article)],
        script,
        wants,
    }
}

fn price_of(draw: &mut ParamSource<'_>) -> TaskInstance {
    let article = article(draw);
    let mut script = open(&article.name);
    script.extend([ScriptStep::Read(like(r"^\$[\d.]+$")), ScriptStep::Answer("{0}".into())]);
    TaskInstance {
        goal: format!("How much does the product \"{}\" cost in Shop?", article.name),
        given: given(SHOP, []),
        script,
        wants: vec![SuccessCondition::Answer(price(article.cents))],
    }
}

fn total(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.articles();
    let three = draw.some(&all, 3);
    let cents = three.iter().map(|article| article.cents).sum();
    TaskInstance {
        goal: "What would I have to pay for everything in my cart in Shop?".into(),
        given: three.iter().map(one_of).collect(),
        script: vec![
            ScriptStep::Launch(SHOP),
            ScriptStep::Tap(like("^Cart, ")),
            ScriptStep::Read(like(r"^\$[\d.]+$").beside(with_text("Total"))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(price(cents))],
    }
}

fn past_order(draw: &mut ParamSource<'_>) -> TaskInstance {
    let cents = [draw.number(2_000, 9_000), draw.number(10_000, 20_000)];
    let at = draw.number(0, 1) as usize;
    let orders = cents.iter().enumerate().flat_map(|(at, cents)| {
        let key = |field: &str| format!("order/{at}/{field}");
        given(
            SHOP,
            [
                (&key("items"), "2"),
                (&key("total"), &cents.to_string()),
                (&key("name"), "Alex"),
                (&key("city"), "Kiel"),
            ],
        )
    });
    let number = 10_001 + at;
    TaskInstance {
        goal: format!("How much did I pay for the order SH-{number} in Shop?"),
        given: orders.collect(),
        script: vec![
            ScriptStep::Launch(SHOP),
            ScriptStep::Tap(with_text("Orders")),
            ScriptStep::Read(
                like(r"^2 items, (\$[\d.]+)$").beside(with_text(format!("Order SH-{number}"))),
            ),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(price(cents[at]))],
    }
}

fn quantity(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.articles();
    let (mut two, count) = (draw.some(&all, 2), draw.number(3, 4));
    // The cart lists them so; the buttons of the first are nearest to its name.
    two.sort_by_key(|article| article.number);
    let beside = |label: &str| with_text(label).beside(with_text(&*two[0].name));
    let mut script = vec![ScriptStep::Launch(SHOP), ScriptStep::Tap(like("^Cart, "))];
    script.push(ScriptStep::TapUntil {
        tap: beside("More"),
        back: Some(beside("Fewer")),
        shows: with_text(count.to_string()),
        max: 9,
    });
    TaskInstance {
        goal: format!(
            "My cart in Shop has one \"{}\". Make it {count}, and leave the rest of the cart alone.",
            two[0].name
        ),
        given: two.iter().map(one_of).collect(),
        script,
        wants: vec![in_cart(&two[0], count)],
    }
}

fn two_products(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.articles();
    let two = draw.some(&all, 2);
    TaskInstance {
        goal: format!(
            "Put one \"{}\" and one \"{}\" into the cart in Shop.",
            two[0].name, two[1].name
        ),
        given: Vec::new(),
        script: two.iter().flat_map(add_one).collect(),
        wants: two.iter().map(|article| in_cart(article, 1)).collect(),
    }
}

/// Adds one of a product to the cart and returns to the list.
fn add_one(article: &SeededArticle) -> Vec<ScriptStep> {
    let mut script = open(&article.name);
    script.extend([
        ScriptStep::Tap(with_text("Add to cart")),
        ScriptStep::Tap(with_text("Navigate up")),
    ]);
    script
}

fn empty(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.articles();
    let three = draw.some(&all, 3);
    let mut script = vec![ScriptStep::Launch(SHOP), ScriptStep::Tap(like("^Cart, "))];
    script.extend(three.iter().map(|_| ScriptStep::Tap(with_text("Remove from cart"))));
    script.push(ScriptStep::Read(with_text("Your cart is empty")));
    TaskInstance {
        goal: "I do not want any of the things in my cart in Shop. Empty it.".into(),
        given: three.iter().map(one_of).collect(),
        script,
        wants: three
            .iter()
            .map(|article| {
                SuccessCondition::ValueAbsent(SHOP, format!("cart/{:03}", article.number))
            })
            .collect(),
    }
}

fn big_order(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.articles();
    let two = draw.some(&all, 2);
    let name = format!("{} {}", draw.pick(&FIRST), draw.pick(&LAST));
    let city = draw.pick(&["Bremen", "Kiel", "Rostock", "Stade"]);
    let mut script: Vec<ScriptStep> = two.iter().flat_map(add_one).collect();
    script.extend(checkout(&name, city));
    let cents: u64 = two.iter().map(|article| article.cents).sum();
    TaskInstance {
        goal: format!(
            "Order one \"{}\" and one \"{}\" in Shop. Ship them to {name}, Harbour Street 4, 23552 {city}; I pay cash on delivery and accept the terms.",
            two[0].name, two[1].name
        ),
        given: Vec::new(),
        script,
        wants: vec![stored(
            SHOP,
            [
                ("order/0/items", "2"),
                ("order/0/total", &cents.to_string()),
                ("order/0/name", &name),
                ("order/0/city", city),
                ("order/0/street", STREET),
                ("order/0/zip", ZIP),
                ("order/0/payment", "cash"),
            ],
        )],
    }
}
