//! Skills for agents: `SKILL.md` files, which a toolset offers its clients (MCP's skills extension,
//! SEP-2640).
//!
//! Not the agent's recorded skills, which a caller may write in this form.

/// A `SKILL.md` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDocument {
    /// Its name, which is also that of its folder: lower-case letters, digits and dashes.
    pub name: String,
    /// When to use it, in one sentence or two.
    pub description: String,
    /// The whole file.
    pub text: String,
}

impl SkillDocument {
    /// Reads a file whose front matter has `name` and `description`, each on one line.
    ///
    /// # Errors
    /// What is missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
        let (front, _) = front.ok_or("it does not begin with front matter between `---`")?;
        let field = |name: &str| {
            let value = front.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            value.map(|value| value.trim().to_owned()).ok_or(format!("it has no `{name}`"))
        };
        Ok(Self { name: field("name")?, description: field("description")?, text: text.into() })
    }

    /// Puts a file together. What the name and the description may not have is left out.
    pub fn new(name: &str, description: &str, body: &str) -> Self {
        const MAX_NAME: usize = 64;
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = name.chars().map(plain).collect();
        let name: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
        let name: String = name.join("-").chars().take(MAX_NAME).collect();
        let name = name.trim_end_matches('-').to_owned();
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        // A JSON string is a YAML string.
        let quoted = serde_json::Value::from(description.as_str());
        let text = format!("---\nname: {name}\ndescription: {quoted}\n---\n\n{body}");
        Self { name, description, text }
    }

    /// Its URI.
    pub fn uri(&self) -> String {
        format!("skill://{}/SKILL.md", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_has_name_and_description() {
        let text = "---\nname: a-b\ndescription: Does it well.\n---\n\n# A\n";
        let read = SkillDocument::parse(text).unwrap();
        assert_eq!((&*read.name, &*read.description), ("a-b", "Does it well."));
        assert_eq!(read.uri(), "skill://a-b/SKILL.md");
        assert!(SkillDocument::parse("# A\n").unwrap_err().contains("front matter"));
        assert_eq!(
            SkillDocument::parse("---\nname: a\n---\n"),
            Err("it has no `description`".into())
        );
    }

    #[test]
    fn made_files_have_valid_names() {
        let made = SkillDocument::new("Notes: add_one!", "Say \"hi\"\nnow", "Body\n");
        assert_eq!(made.name, "notes-add-one");
        let expected =
            "---\nname: notes-add-one\ndescription: \"Say \\\"hi\\\" now\"\n---\n\nBody\n";
        assert_eq!(made.text, expected);
    }
}
