//! The configuration files of MCP clients: where they are, and how a server is written into one and
//! taken out again. Comments, order and layout of the rest stay.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// An MCP client whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
}

/// The folders of the user in which programs keep their settings.
#[derive(Debug, Clone)]
pub struct SettingsFolders {
    /// The home directory.
    pub home: PathBuf,
    /// The folder of the system for settings: `~/.config`, `~/Library/Application Support` or
    /// `%APPDATA%`.
    pub settings: PathBuf,
}

impl SettingsFolders {
    /// Removes this folder and those above it, as far as nothing is in them. The folders of the
    /// user stay.
    pub fn remove_empty(&self, folder: &Path) {
        let is_ours = |folder: &&Path| **folder != self.home && **folder != self.settings;
        for folder in folder.ancestors().take_while(is_ours) {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

/// A server to be started by a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StdioServer {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Client {
    /// All clients, by the name that the command line takes.
    pub const ALL: &[(&str, Self)] = &[
        ("claude-code", Self::ClaudeCode),
        ("claude-desktop", Self::ClaudeDesktop),
        ("codex", Self::Codex),
        ("cursor", Self::Cursor),
        ("vscode", Self::Vscode),
        ("windsurf", Self::Windsurf),
        ("zed", Self::Zed),
    ];

    /// The file of the user's own servers.
    pub fn file(self, folders: &SettingsFolders) -> PathBuf {
        let SettingsFolders { home, settings } = folders;
        match self {
            Self::ClaudeCode => home.join(".claude.json"),
            Self::ClaudeDesktop => settings.join("Claude/claude_desktop_config.json"),
            Self::Codex => home.join(".codex/config.toml"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => settings.join("Code/User/mcp.json"),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            // Zed is there on macOS, too.
            Self::Zed if cfg!(windows) => settings.join("Zed/settings.json"),
            Self::Zed => home.join(".config/zed/settings.json"),
        }
    }

    /// The member of the file that holds the servers.
    fn section(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor | Self::Windsurf => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
        }
    }

    /// The text of the file with this server, in place of one of the same name.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn with(self, text: &str, name: &str, server: &StdioServer) -> Result<String, String> {
        if self == Self::Codex {
            let mut document = toml(text)?;
            let servers = document.entry(self.section()).or_insert_with(|| {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            });
            let servers = servers.as_table_like_mut().ok_or_else(|| self.no_section())?;
            let mut table = Table::new();
            table.insert("command", value(&server.command));
            table.insert("args", value(server.arguments.iter().collect::<Array>()));
            servers.insert(name, Item::Table(table));
            return Ok(document.to_string());
        }
        let root = json(text)?;
        let object = root.object_value_or_create().ok_or("it is no JSON object")?;
        let servers =
            object.object_value_or_create(self.section()).ok_or_else(|| self.no_section())?;
        let entry = self.json_of(server);
        match servers.get(name) {
            Some(earlier) => earlier.set_value(entry),
            None => {
                servers.append(name, entry);
            }
        }
        let text = root.to_string();
        Ok(if text.ends_with('\n') { text } else { text + "\n" })
    }

    /// The text of the file without the server of this name; `None` if it has none. What only held
    /// it goes with it; the text is empty if nothing else is left.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn without(self, text: &str, name: &str) -> Result<Option<String>, String> {
        if self == Self::Codex {
            let mut document = toml(text)?;
            let Some(servers) = document.get_mut(self.section()).and_then(Item::as_table_like_mut)
            else {
                return Ok(None);
            };
            if servers.remove(name).is_none() {
                return Ok(None);
            }
            if servers.is_empty() {
                document.remove(self.section());
            }
            return Ok(Some(document.to_string()));
        }
        let root = json(text)?;
        let object = root.object_value();
        let servers = object.as_ref().and_then(|object| object.object_value(self.section()));
        let Some(server) = servers.as_ref().and_then(|servers| servers.get(name)) else {
            return Ok(None);
        };
        server.remove();
        if let Some(object) = &object {
            let section = object.get(self.section());
            if servers
                .is_some_and(|servers| servers.children_exclude_trivia_and_tokens().is_empty())
                && let Some(section) = section
            {
                section.remove();
            }
            if object.properties().is_empty() && root.to_string().trim().len() <= "{\n\n}".len() {
                return Ok(Some(String::new()));
            }
        }
        Ok(Some(root.to_string()))
    }

    fn json_of(self, server: &StdioServer) -> CstInputValue {
        let text = |text: &String| CstInputValue::String(text.clone());
        let arguments = server.arguments.iter().map(text).collect();
        let mut members = Vec::new();
        if self == Self::Vscode {
            members.push(("type".to_owned(), CstInputValue::String("stdio".to_owned())));
        }
        members.push(("command".to_owned(), text(&server.command)));
        members.push(("args".to_owned(), CstInputValue::Array(arguments)));
        CstInputValue::Object(members)
    }

    fn no_section(self) -> String {
        format!("`{}` is no table of servers", self.section())
    }
}

fn json(text: &str) -> Result<CstRootNode, String> {
    // What clients accept: comments and trailing commas, nothing else beside JSON.
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &options).map_err(|error| error.to_string())
}

fn toml(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

/// The file of a user as [`Client::file`], shortened by `~` for messages.
pub fn shown(file: &Path, home: &Path) -> String {
    match file.strip_prefix(home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => file.display().to_string(),
    }
}

/// The lines that differ, with two lines of context on either side: `-` before, `+` after. The
/// texts differ in one place.
pub fn changed_lines(before: &str, after: &str) -> String {
    const CONTEXT: usize = 2;
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let start = same(&mut old.iter().zip(&new));
    let end = same(&mut old.iter().rev().zip(new.iter().rev()));
    let end = end.min(old.len().min(new.len()) - start);
    let mut out = String::new();
    let mut add = |sign: char, lines: &[&str]| {
        for line in lines {
            out.push_str(format!("{sign} {line}").trim_end());
            out.push('\n');
        }
    };
    add(' ', &old[start.saturating_sub(CONTEXT)..start]);
    add('-', &old[start..old.len() - end]);
    add('+', &new[start..new.len() - end]);
    add(' ', &old[old.len() - end..(old.len() - end + CONTEXT).min(old.len())]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> StdioServer {
        let arguments = ["serve", "--device", "virtual"].map(str::to_owned).into();
        StdioServer { command: "/usr/bin/thumbwire".into(), arguments }
    }

    const JSONC: &str = "// Mine.\n{\n    /* first */ \"theme\": \"dark\",\n    \"SECTION\": {\n        // The files.\n        \"files\": { \"command\": \"npx\", \"args\": [\"fs\"] },\n    },\n}\n";

    const TOML: &str = "# Mine.\nmodel = \"o4\"   # fast\n\n[mcp_servers.files]\ncommand = \"npx\"\n\n[tui]\ntheme = \"dark\"\n";

    #[test]
    fn every_client_gets_the_server_and_keeps_the_rest() {
        let mut all = String::new();
        for (name, client) in Client::ALL {
            let before = match client {
                Client::Codex => TOML.to_owned(),
                client => JSONC.replace("SECTION", client.section()),
            };
            let after = client.with(&before, "phone", &server()).unwrap();
            all.push_str(&format!("{name}\n{}\n", changed_lines(&before, &after)));
            let again = client.with(&after, "phone", &server()).unwrap();
            assert_eq!(again, after, "{name}: once is enough");
            assert_eq!(client.without(&after, "phone").unwrap().unwrap(), before, "{name}");
            assert_eq!(client.without(&before, "phone").unwrap(), None, "{name}");
        }
        insta::assert_snapshot!("servers_of_clients", all);
    }

    #[test]
    fn new_files_hold_the_server_alone_and_go_with_it() {
        for (name, client) in Client::ALL {
            let made = client.with("", "phone", &server()).unwrap();
            assert!(made.contains("/usr/bin/thumbwire") && made.ends_with('\n'), "{made}");
            assert_eq!(client.without(&made, "phone").unwrap().unwrap(), "", "{name}: {made}");
        }
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone() {
        for (client, text) in [
            (Client::Cursor, "{ \"mcpServers\": { ]"),
            (Client::Cursor, "[]"),
            (Client::Cursor, "{ \"mcpServers\": [] }"),
            (Client::Codex, "[mcp_servers"),
            (Client::Codex, "mcp_servers = 1"),
        ] {
            let refused = client.with(text, "phone", &server());
            assert!(refused.is_err(), "{text}: {refused:?}");
        }
    }

    #[test]
    fn changes_are_shown_with_their_neighbours() {
        let before = "a\nb\nc\nd\ne\n";
        assert_eq!(changed_lines(before, "a\nb\nc\nx\nd\ne\n"), "  b\n  c\n+ x\n  d\n  e\n");
        assert_eq!(changed_lines(before, "a\nd\ne\n"), "  a\n- b\n- c\n  d\n  e\n");
        assert_eq!(changed_lines("", "a\n"), "+ a\n");
        assert_eq!(changed_lines("a\na\n", "a\na\na\n"), "  a\n  a\n+ a\n");
    }
}
