//! The `SKILL.md` files: ours, and recorded skills in that form.

#[cfg(feature = "agent")]
use std::path::Path;

use thumbwire_core::toolset::skills::SkillDocument;

#[cfg(feature = "agent")]
use super::CliError;

/// Our own files.
const OWN: [&str; 3] = [
    include_str!("../../../../skills/thumbwire/SKILL.md"),
    include_str!("../../../../skills/thumbwire-flows/SKILL.md"),
    include_str!("../../../../skills/thumbwire-test-app/SKILL.md"),
];

/// Our own skills.
pub(super) fn own() -> Vec<SkillDocument> {
    OWN.iter().filter_map(|text| SkillDocument::parse(text).ok()).collect()
}

/// The recorded skills of a folder, each with its steps.
#[cfg(feature = "agent")]
pub(super) fn recorded(folder: &Path) -> Result<Vec<SkillDocument>, CliError> {
    let texts = super::model_flags::texts(folder, &super::skill_flags::ENDINGS)?;
    let skills = thumbwire_agent::Skills::read(&texts).map_err(CliError::usage)?;
    Ok(skills.iter().map(|skill| document(skill, folder)).collect())
}

#[cfg(feature = "agent")]
fn document(skill: &thumbwire_agent::Skill, folder: &Path) -> SkillDocument {
    let phone = if skill.platform == "ios" { "an iPhone" } else { "an Android phone" };
    let description =
        format!("How to do this on {phone}, recorded from a run that succeeded: {}", skill.goal);
    let body = format!(
        "# {}\n\nThese steps were recorded. Do them with the tools or commands that you have for the phone; words in \
         braces are parameters. If the screen is another one than a step expects, go on by what you see.\n\n\
         ```text\n{}```\n\nWithout a model, as long as the screens are as expected: \
         `thumbwire run \"GOAL\" --skills {}`\n",
        skill.name,
        super::skill_text::shown(skill),
        folder.display()
    );
    SkillDocument::new(&skill.name, &description, &body)
}
