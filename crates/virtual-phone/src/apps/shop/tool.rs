//! The app tools of Shop: finding products, filling and listing the cart. Only people can place
//! orders.

use crate::app::AppContext;
use crate::apps::shop::{MAX_COUNT, Shop, cart_key, price};
use crate::apps::tools::{MAX_LINES, contains_words, text, values};
use serde_json::{Value, json};
use thumbwire_mobile_mcp::{Descriptor, Output, Tool, Values};

/// Shop, during one call.
pub(super) struct ShopTool<'a, 'r> {
    pub(super) shop: &'a mut Shop,
    pub(super) context: &'a mut AppContext<'r>,
}

impl Tool for ShopTool<'_, '_> {
    fn descriptor(&self) -> &Descriptor {
        self.context.descriptor
    }

    fn call(&mut self, capability: &str, arguments: &Values) -> Result<Output, String> {
        match capability {
            "search_products" => Ok(self.search(text(arguments, "words"))),
            "add_to_cart" => {
                let count = arguments.get("count").map_or(Some(1), Value::as_u64);
                self.add(text(arguments, "product"), count)
            }
            "cart" => Ok(self.cart()),
            other => Err(format!("Unknown capability ID: {other:.80}")),
        }
    }
}

impl ShopTool<'_, '_> {
    fn search(&self, text: &str) -> Output {
        let goods = self.shop.goods.iter().filter(|article| contains_words(&article.name, text));
        let lines: Vec<String> =
            goods.map(|article| format!("{}, {}", article.name, price(article.cents))).collect();
        let count = lines.len();
        let lines = lines.into_iter().take(MAX_LINES).collect::<Vec<_>>().join("\n");
        let values = values([("count", json!(count)), ("products", json!(lines))]);
        Output { values, ..Output::default() }
    }

    fn add(&mut self, product: &str, count: Option<u64>) -> Result<Output, String> {
        let wanted = product.trim().to_lowercase();
        let mut goods = self.shop.goods.iter();
        let at =
            goods.position(|article| article.name.to_lowercase() == wanted).ok_or_else(|| {
                format!("No product is called \"{product:.80}\". search_products tells the names.")
            })?;
        let count = count.and_then(|count| u32::try_from(count).ok());
        let count = count.filter(|count| (1..=MAX_COUNT).contains(count));
        let count = count.ok_or_else(|| format!("count is a number from 1 to {MAX_COUNT}."))?;
        let key = cart_key(at);
        let before =
            self.context.store.get(&key).and_then(|count| count.parse().ok()).unwrap_or(0_u32);
        let now = before.saturating_add(count);
        if now > MAX_COUNT {
            return Err(format!(
                "No more than {MAX_COUNT} of a product; {before} are in the cart."
            ));
        }
        self.context.store.set(&key, now.to_string());
        let name = &self.shop.goods[at].name;
        let values = values([("product", json!(name)), ("in_cart", json!(now))]);
        Ok(Output { values, message: "Added to cart.".to_owned() })
    }

    fn cart(&self) -> Output {
        let cart = self.shop.cart(self.context.store);
        let (items, cents) = self.shop.sum(self.context.store);
        let lines = cart.iter().take(MAX_LINES).map(|(at, count)| {
            let article = &self.shop.goods[*at];
            format!("{count} x {}, {}", article.name, price(article.cents))
        });
        let lines = lines.collect::<Vec<_>>().join("\n");
        let values = values([
            ("items", json!(items)),
            ("total", json!(cents as f64 / 100.0)),
            ("products", json!(lines)),
        ]);
        Output { values, ..Output::default() }
    }
}
