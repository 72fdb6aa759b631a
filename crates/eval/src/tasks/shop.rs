//! Tasks in Shop.

use thumbwire_virtual_phone::SeededArticle;

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::{InitialState, ParamSource, SuccessCondition, Task, TaskInstance};
use super::{FIRST, LAST, SHOP, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "shop-cart", apps: &["Shop"], needs: &[], make: cart },
    Task { name: "shop-remove", apps: &["Shop"], needs: &[], make: remove },
    Task { name: "shop-order", apps: &["Shop"], needs: &[], make: order },
    Task { name: "shop-order-tell", apps: &["Shop"], needs: &[], make: tell_total },
    Task { name: "shop-price", apps: &["Shop"], needs: &[], make: price_of },
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
pub(super) fn fill(name: &str, count: u64) -> Vec<ScriptStep> {
    let mut script = open(name);
    script.extend([
        ScriptStep::Tap(with_text("Add to cart")),
        ScriptStep::Tap(like("^Cart, \\d")),
        ScriptStep::TapUntil {
            tap: with_text("More").beside(like(r"^\d+$")),
            back: Some(with_text("Fewer").beside(like(r"^\d+$"))),
            shows: with_text(count.to_string()),
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
        script: fill(&article.name, count),
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

/// Orders what is in the cart.
fn checkout(name: &str, city: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(SHOP),
        ScriptStep::Tap(like("^Cart, ")),
        ScriptStep::SkipIfVisible(with_text("Your cart is empty")),
        ScriptStep::Tap(with_text("Checkout")),
        ScriptStep::Type(field(0), name.into()),
        ScriptStep::Type(field(1), "Harbour Street 4".into()),
        ScriptStep::Type(field(2), "23552".into()),
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
