//! What tokens cost. Prices are the operator's word: a list of ours would be wrong within months.

use std::str::FromStr;

use super::Spent;

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read out of the provider's cache.
    pub cached: f64,
    /// Tokens read and written into the cache.
    pub cache_write: f64,
}

impl Price {
    /// What this much costs, in US dollars.
    pub fn of(&self, spent: &Spent) -> f64 {
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

    /// Reads `IN,OUT[,CACHED[,CACHE-WRITE]]`. Where the last two are left out, the cache costs what anything read costs.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no price; say US dollars per million tokens as IN,OUT or IN,OUT,CACHED,CACHE-WRITE, such as `1.25,10,0.125`"
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
        let spent = Spent {
            input_tokens: 1_000_000,
            cached_tokens: 600_000,
            cache_writes: 100_000,
            output_tokens: 10_000,
            ..Spent::default()
        };
        let dollars = price.of(&spent);
        assert!((dollars - (0.9 + 0.18 + 0.375 + 0.15)).abs() < 1e-9, "{dollars}");
        let plain: Price = "3,15".parse().unwrap();
        assert!((plain.of(&spent) - 3.15).abs() < 1e-9);
    }

    #[test]
    fn a_price_that_is_none_says_how_one_is_written() {
        for text in ["", "3", "3,x", "3,-1", "1,2,3,4,5", "NaN,1", "inf,1"] {
            let why = text.parse::<Price>().unwrap_err();
            assert!(why.contains("IN,OUT"), "{why}");
        }
    }
}
