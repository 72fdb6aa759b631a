//! The commands that the documentation tells people to paste.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;

use super::Cli;

/// README.md and every page below `docs`, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.into_iter().map(|page| (page.clone(), fs::read_to_string(&page).unwrap())).collect()
}

/// The shell lines of a page's code blocks: of `console` blocks those after a prompt.
fn shell_lines(page: &str) -> String {
    let mut lines = String::new();
    let mut language = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), language) {
            (Some(name), None) => language = Some(name),
            (Some(_), Some(_)) => language = None,
            (None, Some("sh")) => lines.extend([line, "\n"]),
            (None, Some("console")) => {
                lines
                    .extend(line.strip_prefix("$ ").map(|line| [line, "\n"]).into_iter().flatten());
            }
            _ => {}
        }
    }
    lines.replace("\\\n", " ")
}

/// The words of each simple command: enough of a shell for documentation.
fn commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut characters = script.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                let quoted = characters.by_ref().take_while(|next| *next != character);
                word.get_or_insert_default().extend(quoted);
            }
            '#' if word.is_none() => while characters.next_if(|next| *next != '\n').is_some() {},
            '>' | '<' => {
                // A redirection: its file is no argument, nor is the number before it.
                word = None;
                while characters.next_if(|next| ">& ".contains(*next)).is_some() {}
                while characters.next_if(|next| !next.is_whitespace()).is_some() {}
            }
            ' ' | '\n' | '|' | '&' | ';' | '(' | ')' => {
                commands.last_mut().unwrap().extend(word.take());
                if character != ' ' {
                    commands.push(Vec::new());
                }
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    commands.last_mut().unwrap().extend(word);
    commands
}

/// The arguments of `thumbwire`, if this is what the command starts, at once or through a client
/// (`claude mcp add phone -- thumbwire serve`).
fn arguments(command: &[String]) -> Option<&[String]> {
    let first = command.iter().position(|word| !word.contains('=') && word != "if")?;
    let program = match command[first].as_str() {
        "thumbwire" => first,
        "claude" => command.iter().position(|word| word == "--")? + 1,
        _ => return None,
    };
    command.get(program..).filter(|command| command[0] == "thumbwire")
}

#[test]
fn documented_commands_parse() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for (page, text) in pages() {
        for command in commands(&shell_lines(&text)) {
            let Some(arguments) = arguments(&command) else { continue };
            checked += 1;
            if let Err(error) = Cli::try_parse_from(arguments)
                && error.use_stderr()
            {
                wrong.push(format!("{}: {}\n{error}", page.display(), arguments.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 100, "only {checked} commands were found");
}

#[test]
fn commands_are_found_in_shell_lines() {
    let page = "```sh\nA=1 thumbwire phone --json > a.json &   # two\nx=$(thumbwire run \"a b\" \\\n  -q) | cat\n\
                claude mcp add phone -- thumbwire serve\n```\n```json\nthumbwire\n```\n";
    let all = commands(&shell_lines(page));
    let found: Vec<_> = all.iter().filter_map(|it| arguments(it)).map(|it| it.join(",")).collect();
    assert_eq!(found, ["thumbwire,phone,--json", "thumbwire,run,a b,-q", "thumbwire,serve"]);
}
