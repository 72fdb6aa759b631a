//! The commands that the documentation tells people to paste.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser as _};
use thumbwire_core::toolset::mobile::ToolGroup;

use super::help::GROUPS;
use super::{Cli, PAGES};

/// README.md and every page below `docs` and `skills`, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs"), root.join("skills")];
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
                // A redirection such as `2> file`: neither the number nor the file is an argument.
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

/// The pages for users are read beside a package, too, which has no files of the repository.
#[test]
fn commands_for_a_checkout_say_so() {
    let folders = ["docs/decisions", "docs/evidence", "docs/internals"];
    let is_internal =
        |page: &Path| page.ancestors().any(|it| folders.iter().any(|folder| it.ends_with(folder)));
    let mut wrong = Vec::new();
    for (page, text) in pages().into_iter().filter(|(page, _)| !is_internal(page)) {
        for section in text.split("\n## ") {
            let lines = shell_lines(section);
            let parts = ["cargo ", "crates/", "examples/", "fixtures/", "packages/"];
            if parts.iter().any(|part| lines.contains(part)) && !section.contains("checkout") {
                wrong.push(format!("{}: {lines}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "say \"in a checkout\":\n{}", wrong.join("\n"));
}

/// What is wrong with a command in the middle of a sentence, whose values may be placeholders: a
/// subcommand or a flag that does not exist.
fn mistake(words: &[&str]) -> Option<String> {
    let mut command = &Cli::command();
    let mut words = words.iter().peekable();
    while let Some(inner) = words.peek().and_then(|word| command.find_subcommand(word)) {
        command = inner;
        words.next();
    }
    if let Some(word) = words.peek()
        && command.has_subcommands()
        && word.starts_with(|first: char| first.is_ascii_lowercase())
    {
        return Some(format!("no command {word}"));
    }
    let flags = words.take_while(|word| **word != "--").filter_map(|word| word.strip_prefix("--"));
    let mut names = flags.filter_map(|flag| flag.split(['=', '|', ']', ',']).next());
    let flag = names.find(|name| {
        let has_name = |argument: &&clap::Arg| {
            argument.get_long_and_visible_aliases().is_some_and(|all| all.contains(name))
        };
        !["help", "version"].contains(name) && !command.get_arguments().any(|it| has_name(&it))
    });
    flag.map(|name| format!("{} has no --{name}", command.get_name()))
}

/// `thumbwire serve --http` and `serve --http` in the middle of a sentence.
#[test]
fn quoted_commands_exist() {
    let cli = Cli::command();
    let (mut checked, mut wrong) = (0, Vec::new());
    for (page, text) in pages() {
        let prose = text.split("```").step_by(2);
        for quoted in prose.flat_map(|part| part.split('`').skip(1).step_by(2)) {
            let words: Vec<&str> = quoted.split_whitespace().collect();
            let words = match words.as_slice() {
                ["thumbwire", rest @ ..] => rest,
                [verb, flag, ..]
                    if flag.starts_with("--") && cli.find_subcommand(verb).is_some() =>
                {
                    &words
                }
                _ => continue,
            };
            checked += 1;
            let mistake = mistake(words);
            wrong.extend(mistake.map(|it| format!("{}: `{quoted}`: {it}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 100, "only {checked} commands were found");
}

/// Every flag with one letter, of every command, by its long name.
fn short_flags(command: &clap::Command, flags: &mut BTreeMap<char, String>) {
    for argument in command.get_arguments() {
        if let (Some(short), Some(long)) = (argument.get_short(), argument.get_long()) {
            flags.insert(short, long.to_owned());
        }
    }
    command.get_subcommands().for_each(|inner| short_flags(inner, flags));
}

#[test]
fn documented_short_flags_are_all() {
    let mut flags = BTreeMap::from([('h', "help".to_owned()), ('V', "version".to_owned())]);
    short_flags(&Cli::command(), &mut flags);
    let page = include_str!("../../../../docs/cli.md");
    let (_, section) = page.split_once("\n## Short flags").unwrap();
    let section = section.split("\n## ").next().unwrap();
    for (short, long) in &flags {
        let row = format!("| `-{short}` | `--{long}`");
        assert!(section.contains(&row), "docs/cli.md lacks {row}");
    }
    let documented = section.split("| `-").skip(1).filter(|rest| !rest.starts_with('-'));
    assert_eq!(documented.count(), flags.len(), "docs/cli.md has a flag too many");
}

#[test]
fn help_lists_each_command_once_and_says_where_its_pages_are() {
    let mut named: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    named.sort_unstable();
    let mut cli = Cli::command();
    cli.build();
    let commands = cli.get_subcommands().filter(|command| !command.is_hide_set());
    let mut all: Vec<&str> = commands.map(clap::Command::get_name).collect();
    all.sort_unstable();
    assert_eq!(named, all);
    for command in cli.get_subcommands_mut() {
        let help = command.render_long_help().to_string();
        let names_a_page = help.replace(PAGES, "").contains("docs/");
        assert_eq!(help.ends_with(&format!("{PAGES}\n")), names_a_page, "{help}");
    }
}

#[test]
fn documented_groups_of_tools_are_all() {
    let page = include_str!("../../../../docs/permissions.md");
    for group in ToolGroup::HARMFUL {
        let name = group.name();
        assert!(page.contains(&format!("\n| `{name}` |")), "docs/permissions.md lacks {name}");
    }
}

#[test]
fn commands_are_found_in_shell_lines() {
    let page = "```sh\nA=1 thumbwire phone --json > a.json &   # two\nx=$(thumbwire run \"a b\" \\\n  -q) | cat\n\
                claude mcp add phone -- thumbwire serve\n```\n```json\nthumbwire\n```\n";
    let all = commands(&shell_lines(page));
    let found: Vec<_> = all.iter().filter_map(|it| arguments(it)).map(|it| it.join(",")).collect();
    assert_eq!(found, ["thumbwire,phone,--json", "thumbwire,run,a b,-q", "thumbwire,serve"]);
}
