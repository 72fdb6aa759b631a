//! The cost of tokens. Prices come from the operator: a built-in list would be out of date within
//! months.

use std::str::FromStr;

use super::Usage;

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Input tokens read from the provider's cache.
    pub cached: f64,
    /// Input tokens written to the cache.
    pub cache_write: f64,
}

impl Price {
    /// The cost of this usage in US dollars.
    pub fn of(&self, spent: &Usage) -> f64 {
        let special = spent.cached_tokens.saturating_add(spent.cache_writes);
        let plain = spent.input_tokens.saturating_sub(special);
        let parts = [
            (plain, self.input),
            (spent.cached_tokens, self.cached),
            (spent.cache_writes, self.cache_write),
            (spent.output_tokens, self.output),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price / 1e6).sum()
    }
}

impl FromStr for Price {
    type Err = String;

    /// Parses `IN,OUT[,CACHED[,CACHE-WRITE]]`. Omitted prices of the cache are the price of input.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a price; expected US dollars per million tokens as IN,OUT or IN,OUT,CACHED,CACHE-WRITE, such as `1.25,10,0.125`"
            )
        };
        let numbers: Result<Vec<f64>, _> =
            text.split(',').map(|part| part.trim().parse()).collect();
        let numbers: Vec<f64> = numbers.map_err(|_| wrong())?;
        if !numbers.iter().all(|number| number.is_finite() && *number >= 0.0) {
            return Err(wrong());
        }
        let (input, output, cached, cache_write) = match numbers[..] {
            [input, output] => (input, output, input, input),
            [input, output, cached] => (input, output, cached, input),
            [input, output, cached, write] => (input, output, cached, write),
            _ => return Err(wrong()),
        };
        Ok(Self { input, output, cached, cache_write })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price: Price = "3, 15, 0.3, 3.75".parse().unwrap();
        let spent = Usage {
            input_tokens: 1_000_000,
            cached_tokens: 600_000,
            cache_writes: 100_000,
            output_tokens: 10_000,
            ..Usage::default()
        };
        let dollars = price.of(&spent);
        assert!((dollars - (0.9 + 0.18 + 0.375 + 0.15)).abs() < 1e-9, "{dollars}");
        let plain: Price = "3,15".parse().unwrap();
        assert!((plain.of(&spent) - 3.15).abs() < 1e-9);
    }

    #[test]
    fn invalid_price_explains_the_format() {
        for text in ["", "3", "3,x", "3,-1", "1,2,3,4,5", "NaN,1", "inf,1"] {
            let reason = text.parse::<Price>().unwrap_err();
            assert!(reason.contains("IN,OUT"), "{reason}");
        }
    }
}
