//! Buying something: from 500 rows to an order.

use super::*;
use crate::input::KeyCode;

#[test]
fn tree_lists_only_visible_rows_of_500() {
    let mut world = app(SHOP, &[]);
    assert_eq!(node(&mut world, "result_count").unwrap().text, "500 products");
    let (mut seen, mut drags) = (std::collections::BTreeSet::new(), 0);
    loop {
        let names = texts(&mut world, "id/product_name");
        assert!((3..12).contains(&names.len()), "{}", names.len());
        let before = seen.len();
        seen.extend(names);
        if seen.len() == before {
            break;
        }
        drag(&mut world, (240, 830), (240, 260));
        drags += 1;
        assert!(drags < 200);
    }
    assert_eq!(seen.len(), 500, "every one of them can be reached");
}

#[test]
fn distant_row_opens_and_back_returns_to_it() {
    let mut world = app(SHOP, &[]);
    for _ in 0..40 {
        drag(&mut world, (240, 830), (240, 260));
    }
    let names = texts(&mut world, "id/product_name");
    tap(&mut world, &names[2]);
    assert_eq!(node(&mut world, "product_name").unwrap().text, names[2]);
    world.key(KeyCode::BACK);
    assert_eq!(texts(&mut world, "id/product_name"), names);
}

#[test]
fn two_articles_can_be_ordered() {
    let mut world = app(SHOP, &["search_src_text"]);
    type_text(&mut world, "vintage kettle\n");
    assert_eq!(texts(&mut world, "id/product_name"), ["Vintage Kettle"]);
    let price = node(&mut world, "product_price").unwrap().text;
    tap_all(&mut world, &["product_item", "Add to cart", "Add to cart"]);
    assert_eq!(node(&mut world, "cart_badge").unwrap().text, "2");
    tap(&mut world, "cart_button");
    tap(&mut world, "quantity_minus");
    assert_eq!(node(&mut world, "cart_total").unwrap().text, price);
    tap_all(&mut world, &["Checkout", "checkout_name"]);
    type_text(&mut world, "Ada Lovelace\n12 Park Row\n12a\nHarbour Town\n");
    assert!(!world.keyboard_shown(), "the last field is done");
    tap_all(&mut world, &["Cash on delivery", "Place order"]);
    assert_eq!(node(&mut world, "place_order_button").unwrap().text, "Place order");
    assert_eq!(world.preferences(SHOP).len(), 1, "nothing was ordered yet");
    for _ in 0..4 {
        drag(&mut world, (240, 400), (240, 700));
    }
    assert!(shows(&mut world, "A ZIP code has at least 4 digits"));
    tap(&mut world, "checkout_zip");
    for _ in 0..3 {
        world.key(KeyCode::DEL);
    }
    type_text(&mut world, "12345");
    world.key(KeyCode::BACK);
    tap_all(&mut world, &["terms_checkbox", "place_order_button"]);
    assert_eq!(node(&mut world, "order_number").unwrap().text, "SH-10001");
    assert!(shows(
        &mut world,
        &format!("Thank you, Ada Lovelace. {price} will be delivered to Harbour Town.")
    ));
    tap_all(&mut world, &["Continue shopping", "Cart, empty"]);
    assert!(shows(&mut world, "Your cart is empty"));
    world.key(KeyCode::BACK);
    tap(&mut world, "Orders");
    assert!(shows(&mut world, "Order SH-10001"));
}

#[test]
fn category_and_search_narrow_the_list() {
    let mut world = app(SHOP, &["Toys"]);
    assert_eq!(node(&mut world, "result_count").unwrap().text, "100 products");
    assert!(node(&mut world, "category_chips").unwrap().walk().any(|chip| chip.flags.selected));
    tap(&mut world, "search_src_text");
    type_text(&mut world, "kite");
    assert_eq!(node(&mut world, "result_count").unwrap().text, "10 products");
    type_text(&mut world, "zzz");
    assert!(shows(&mut world, "Nothing found"));
    tap(&mut world, "Clear");
    assert_eq!(node(&mut world, "result_count").unwrap().text, "100 products");
}

#[test]
fn cart_can_be_seeded_and_emptied() {
    let mut world = phone();
    world.set_preference(SHOP, "cart/007", Some("3"));
    world.set_preference(SHOP, "cart/009", Some("nonsense"));
    world.start(SHOP, None).unwrap();
    assert_eq!(node(&mut world, "cart_badge").unwrap().text, "3");
    tap_all(&mut world, &["Cart, 3 items", "Remove from cart"]);
    assert!(shows(&mut world, "Your cart is empty"));
}
