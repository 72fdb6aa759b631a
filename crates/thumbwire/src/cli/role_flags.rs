//! Flags for models with one role, the planner and the judge, beside the model that decides.
//!
//! A role's model has its own provider, address, key and price. What is not given comes from
//! `--model` if both have the same provider, because then they are most likely behind the same
//! address; else from the provider's own variables.

use thumbwire_agent::model::{ModelSpec, Price};

/// Models with a role.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct RoleFlags {
    /// Model that makes the plan, at the start and whenever the run is stuck [default: --model]
    #[arg(long, value_name = "PROVIDER:MODEL", requires = "model", help_heading = ROLES)]
    planner_model: Option<ModelSpec>,
    /// Base URL of the planner's API [default: --base-url if the provider is the same, else as for
    /// --model]
    #[arg(long, value_name = "URL", requires = "planner_model", help_heading = ROLES)]
    planner_base_url: Option<String>,
    /// Environment variable with the planner's API key [default: as for the base URL]
    #[arg(long, value_name = "NAME", requires = "planner_model", help_heading = ROLES)]
    planner_api_key_env: Option<String>,
    /// Price of the planner's tokens, like --price [default: --price if the model is the same]
    #[arg(long, value_name = "DOLLARS", requires = "planner_model", help_heading = ROLES)]
    planner_price: Option<Price>,
    /// Model that judges whether the goal is reached [default: --model]
    #[arg(long, value_name = "PROVIDER:MODEL", requires = "model", help_heading = ROLES)]
    judge_model: Option<ModelSpec>,
    /// Base URL of the judge's API [default: --base-url if the provider is the same, else as for
    /// --model]
    #[arg(long, value_name = "URL", requires = "judge_model", help_heading = ROLES)]
    judge_base_url: Option<String>,
    /// Environment variable with the judge's API key [default: as for the base URL]
    #[arg(long, value_name = "NAME", requires = "judge_model", help_heading = ROLES)]
    judge_api_key_env: Option<String>,
    /// Price of the judge's tokens, like --price [default: --price if the model is the same]
    #[arg(long, value_name = "DOLLARS", requires = "judge_model", help_heading = ROLES)]
    judge_price: Option<Price>,
}

pub(super) const ROLES: &str = "Models by role";

/// A model and where it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelChoice {
    /// The model.
    pub(super) model: ModelSpec,
    /// The base URL, if given.
    pub(super) base_url: Option<String>,
    /// The variable with the key, if given.
    pub(super) key_env: Option<String>,
    /// The price, if known.
    pub(super) price: Option<Price>,
    /// The flag of the variable with the key, for messages.
    pub(super) key_flag: &'static str,
    /// The flag of the price, for messages.
    pub(super) price_flag: &'static str,
}

impl ModelChoice {
    /// This choice, completed with the settings of `main` that apply to it, too.
    fn completed(self, main: &Self) -> Self {
        let is_same_provider = provider(&self.model) == provider(&main.model);
        let inherits = is_same_provider && self.base_url.is_none();
        let key_env = self.key_env.or_else(|| main.key_env.clone().filter(|_| inherits));
        let base_url = self.base_url.or_else(|| main.base_url.clone().filter(|_| inherits));
        let price = self.price.or(main.price.filter(|_| self.model == main.model));
        Self { base_url, key_env, price, ..self }
    }
}

fn provider(model: &ModelSpec) -> std::mem::Discriminant<ModelSpec> {
    std::mem::discriminant(model)
}

impl RoleFlags {
    /// The planner, if one was named beside this model.
    pub(super) fn planner(&self, main: &ModelChoice) -> Option<ModelChoice> {
        let choice = ModelChoice {
            model: self.planner_model.clone()?,
            base_url: self.planner_base_url.clone(),
            key_env: self.planner_api_key_env.clone(),
            price: self.planner_price,
            key_flag: "--planner-api-key-env",
            price_flag: "--planner-price",
        };
        Some(choice.completed(main))
    }

    /// The judge, if one was named beside this model.
    pub(super) fn judge(&self, main: &ModelChoice) -> Option<ModelChoice> {
        let choice = ModelChoice {
            model: self.judge_model.clone()?,
            base_url: self.judge_base_url.clone(),
            key_env: self.judge_api_key_env.clone(),
            price: self.judge_price,
            key_flag: "--judge-api-key-env",
            price_flag: "--judge-price",
        };
        Some(choice.completed(main))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main() -> ModelChoice {
        ModelChoice {
            model: ModelSpec::OpenAi("small".into()),
            base_url: Some("http://127.0.0.1:1/v1".into()),
            key_env: Some("MY_KEY".into()),
            price: "1,2".parse().ok(),
            key_flag: "--api-key-env",
            price_flag: "--price",
        }
    }

    fn role(model: ModelSpec) -> ModelChoice {
        ModelChoice { model, base_url: None, key_env: None, price: None, ..main() }
    }

    #[test]
    fn role_at_the_same_provider_uses_its_address_and_key() {
        let large = role(ModelSpec::OpenAi("large".into())).completed(&main());
        assert_eq!((&large.base_url, &large.key_env), (&main().base_url, &main().key_env));
        assert_eq!(large.price, None, "another model has another price");
        assert_eq!(role(main().model).completed(&main()), main());
        let own = ModelChoice {
            base_url: Some("https://other.example".into()),
            ..role(ModelSpec::OpenAi("large".into()))
        };
        assert_eq!(own.clone().completed(&main()), own, "a key belongs to an address");
    }

    #[test]
    fn role_at_another_provider_uses_nothing_of_it() {
        let other = role(ModelSpec::Anthropic("large".into()));
        assert_eq!(other.clone().completed(&main()), other);
    }
}
