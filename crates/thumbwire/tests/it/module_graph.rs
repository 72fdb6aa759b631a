//! Which module uses which: no crate's modules form a cycle, at any level.
//!
//! Modules are compared with their siblings: the rooms of a crate (the modules that `lib.rs`
//! declares) with each other, then the modules inside each folder. A path such as `crate::a::b::X`,
//! used in `c::d`, is an edge from room `c` to room `a`; re-exports are followed to the module that
//! has the item. A parent may use its children, and a child the items of its parent's own file.
//! Methods are not seen: only paths and imports are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::tidy::sources;

/// Folders of modules that may have a cycle: the crate, the path of the folder's module, the
/// reason.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

#[test]
fn modules_have_no_cycles() {
    let all = sources("crates");
    let mut cycles = BTreeMap::new();
    for root in all.iter().map(|(file, _)| file).filter(|file| file.ends_with("/src/lib.rs")) {
        let name = root.split('/').nth(1).unwrap();
        let graph = ModuleGraph::read(&all, root);
        println!("{name:<16} {}", graph.order(&[]).join(" > "));
        let found =
            graph.cycles().into_iter().map(|(folder, text)| ((name, folder.join("::")), text));
        cycles.extend(found);
    }
    for (name, folder, reason) in EXCEPTIONS {
        let cycle = cycles.remove(&(name, folder.to_owned()));
        assert!(cycle.is_some(), "{name}, {folder}: there is no cycle, although {reason}");
    }
    let report = cycles.iter().map(|((name, folder), text)| {
        format!("\nin crate {name}, modules of `crate::{folder}`:\n{text}")
    });
    let report: String = report.collect();
    assert!(report.is_empty(), "these modules use each other in a cycle:{report}");
}

/// Reads a made-up crate, given as files below `src` and their texts.
fn graph_of(files: &[(&str, &str)]) -> ModuleGraph {
    let named = |(file, text): &(&str, &str)| (format!("src/{file}"), (*text).to_owned());
    ModuleGraph::read(&files.iter().map(named).collect::<Vec<_>>(), "src/lib.rs")
}

#[test]
fn cycle_is_reported_with_its_places() {
    let files = [
        ("lib.rs", "pub mod a; mod b; mod c;"),
        ("a.rs", "use super::b::{self, B as Other};\n\npub struct A(Other);"),
        ("b.rs", "pub struct B;\nfn far() -> crate::c::C { todo!() }"),
        ("c/mod.rs", "mod deep;\npub struct C;"),
        ("c/deep.rs", "//! Not in a comment: crate::b.\nuse super::C;\nuse crate::a::A;"),
    ];
    let graph = graph_of(&files);
    assert_eq!(graph.order(&[]), ["a = b = c"]);
    let expected = "  a uses b\n    src/a.rs:1: super::b\n    src/a.rs:1: super::b::B\n    src/a.rs:3: Other\n\
         \x20 b uses c\n    src/b.rs:2: crate::c::C\n\
         \x20 c uses a\n    src/c/deep.rs:3: crate::a::A\n";
    assert_eq!(graph.cycles(), BTreeMap::from([(Vec::new(), expected.to_owned())]));
}

#[test]
fn siblings_in_a_folder_are_compared_too() {
    let files = [
        ("lib.rs", "mod top;"),
        ("top/mod.rs", "mod left; mod right; pub use left::Left; pub struct Own;"),
        ("top/left.rs", "use super::Own;\npub struct Left;\nfn f() { super::right::g() }"),
        // Re-exports and glob imports lead to the module that has the item.
        ("top/right.rs", "use super::{*};\npub fn g(left: Left) { \"super::left\"; }"),
    ];
    let graph = graph_of(&files);
    assert_eq!(graph.order(&[]), ["top"]);
    let found = graph.cycles();
    let text = &found[&vec!["top".to_owned()]];
    assert!(text.contains("right uses left\n    src/top/right.rs:2: Left\n"), "{text}");
    assert_eq!(found.len(), 1);
}

#[test]
fn parents_tests_and_other_crates_make_no_cycle() {
    let files = [
        ("lib.rs", "mod a; mod b; use a::A; use async_trait::async_trait; pub enum E { X }"),
        ("a.rs", "use crate::{E, b::B}; use crate::E::*; pub struct A;"),
        (
            "b.rs",
            "pub struct B(std::fs::File, u8); fn a() { let a = X; a.a; other::a::A; b!(a) }
             #[cfg(test)] use crate::a::A; #[cfg(test)] mod tests { use super::*; use crate::a::A; }",
        ),
    ];
    let graph = graph_of(&files);
    assert_eq!(graph.cycles(), BTreeMap::new());
    assert_eq!(graph.order(&[]), ["a", "b"]);
}

/// A module by the names that lead to it from the root of its crate.
type ModulePath = Vec<String>;

/// A place in a source file that uses another module.
#[derive(Debug, Clone)]
struct Place {
    file: String,
    line: usize,
    path: String,
}

/// What one module declares, imports and names.
#[derive(Debug, Default)]
struct Module {
    file: String,
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// The path behind each imported name.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Every path in the code, with its line.
    mentions: Vec<(Vec<String>, usize)>,
}

/// By folder, the module that uses a sibling, and the sibling: where it does so.
type Edges = BTreeMap<ModulePath, BTreeMap<String, BTreeMap<String, Vec<Place>>>>;

/// Modules and the names that are looked up in them.
type Lookups = BTreeSet<(ModulePath, Vec<String>)>;

/// The module that a path leads to, and whether the path names it or an item in it.
#[derive(Debug)]
struct Target {
    module: ModulePath,
    is_module: bool,
}

/// The modules of one crate.
#[derive(Debug, Default)]
struct ModuleGraph {
    modules: BTreeMap<ModulePath, Module>,
    edges: Edges,
}

impl ModuleGraph {
    /// Reads the crate with this root file; test code is left out.
    fn read(sources: &[(String, String)], root: &str) -> Self {
        let files = sources.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
        let mut graph = Self::default();
        graph.read_file(&files, root, &[]);
        graph.find_edges();
        graph
    }

    fn read_file(&mut self, files: &BTreeMap<&str, &str>, file: &str, path: &[String]) {
        let text = files[file];
        let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{file}: {e}"));
        self.modules.insert(path.to_vec(), Module { file: file.to_owned(), ..Module::default() });
        self.read_tokens(files, file, path, tokens, true);
    }

    /// Reads the code of a module; `top` if its items may follow, not the inside of one.
    fn read_tokens(
        &mut self,
        files: &BTreeMap<&str, &str>,
        file: &str,
        path: &[String],
        tokens: TokenStream,
        top: bool,
    ) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let inner = is_punct(tokens.get(at + 1), '!');
                    let attribute = at + 1 + usize::from(inner);
                    at = attribute + 1;
                    if tokens.get(attribute).is_some_and(is_cfg_test) {
                        at = item_end(&tokens, at);
                    }
                    continue;
                }
                TokenTree::Group(group) => {
                    self.read_tokens(files, file, path, group.stream(), false);
                }
                TokenTree::Ident(word) if word == "use" => {
                    // A capturing bound and an SVG tag in a macro are no imports.
                    let end = tokens[at..].iter().position(|token| is_punct(Some(token), ';'));
                    if let Some(length) = end.filter(|_| !is_punct(tokens.get(at + 1), '<')) {
                        self.read_import(path, &tokens[at + 1..at + length], &[]);
                        at += length;
                    }
                }
                TokenTree::Ident(word) if word == "mod" && top => {
                    let name = ident(&tokens[at + 1]).expect("a module has a name");
                    let child = [path, std::slice::from_ref(&name)].concat();
                    self.module(path).children.insert(name.clone());
                    match &tokens[at + 2] {
                        TokenTree::Group(body) => {
                            let module = Module { file: file.to_owned(), ..Module::default() };
                            self.modules.insert(child.clone(), module);
                            self.read_tokens(files, file, &child, body.stream(), true);
                        }
                        _ => {
                            let below = folder_of(file);
                            let flat = format!("{below}/{name}.rs");
                            let folded = format!("{below}/{name}/mod.rs");
                            let inside =
                                if files.contains_key(flat.as_str()) { flat } else { folded };
                            self.read_file(files, &inside, &child);
                        }
                    }
                    at += 2;
                }
                TokenTree::Ident(word) => {
                    const ITEMS: [&str; 8] =
                        ["struct", "enum", "union", "trait", "type", "fn", "const", "static"];
                    if top && ITEMS.iter().any(|item| word == item) {
                        if let Some(name) = tokens.get(at + 1).and_then(ident) {
                            self.module(path).items.insert(name);
                        }
                    } else if begins_path(&tokens[..at]) {
                        let line = word.span().start().line;
                        let (names, length) = path_at(&tokens[at..]);
                        self.module(path).mentions.push((names, line));
                        at += length;
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn module(&mut self, path: &[String]) -> &mut Module {
        self.modules.get_mut(path).expect("a module is entered before it is read")
    }

    /// Reads a tree of imports, such as `a::{self, b::C as D, e::*}`.
    fn read_import(&mut self, path: &[String], tree: &[TokenTree], before: &[String]) {
        let Some(first) = tree.first() else { return };
        let line = first.span().start().line;
        let mut names = before.to_vec();
        let mut alias = None;
        let mut at = 0;
        while at < tree.len() {
            match &tree[at] {
                TokenTree::Group(group) => {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    for branch in inside.split(|token| is_punct(Some(token), ',')) {
                        self.read_import(path, branch, &names);
                    }
                    return;
                }
                TokenTree::Ident(word) if word == "as" => {
                    alias = tree.get(at + 1).and_then(ident);
                    break;
                }
                TokenTree::Ident(word) if word == "self" && !names.is_empty() => {}
                TokenTree::Ident(_) => names.extend(ident(&tree[at])),
                TokenTree::Punct(star) if star.as_char() == '*' => {
                    self.module(path).globs.push(names.clone());
                    self.module(path).mentions.push((names, line));
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        let module = self.module(path);
        module.mentions.push((names.clone(), line));
        if let Some(name) = alias.or_else(|| names.last().cloned()) {
            module.imports.insert(name, names);
        }
    }

    fn find_edges(&mut self) {
        let mut edges = Edges::new();
        for (user, module) in &self.modules {
            for (names, line) in &module.mentions {
                let target = self.resolve(user, names, &mut Lookups::new());
                // A name alone that is a module's is a variable.
                let variable = |target: &Target| names.len() == 1 && target.is_module;
                let Some(Target { module: used, .. }) = target.filter(|it| !variable(it)) else {
                    continue;
                };
                let common = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
                if common == user.len() || common == used.len() {
                    continue;
                }
                let path = names.join("::");
                let place = Place { file: module.file.clone(), line: *line, path };
                let folder = edges.entry(user[..common].to_vec()).or_default();
                let from = folder.entry(user[common].clone()).or_default();
                from.entry(used[common].clone()).or_default().push(place);
            }
        }
        self.edges = edges;
    }

    /// What a path in a module means, or `None` for a local name and what another crate has. `seen`
    /// stops imports that lead back to themselves.
    fn resolve(&self, from: &[String], names: &[String], seen: &mut Lookups) -> Option<Target> {
        let (first, rest) = names.split_first()?;
        match first.as_str() {
            "crate" => self.descend(Vec::new(), rest, seen),
            "self" => self.descend(from.to_vec(), rest, seen),
            "super" => {
                let (_, parent) = from.split_last()?;
                let supers = rest.iter().take_while(|name| *name == "super").count();
                let above = parent.len().checked_sub(supers)?;
                self.descend(parent[..above].to_vec(), &rest[supers..], seen)
            }
            _ => self.lookup(from, names, seen),
        }
    }

    /// Goes down from a module along the names. What is not found is an item that a macro made.
    fn descend(&self, at: ModulePath, names: &[String], seen: &mut Lookups) -> Option<Target> {
        if names.is_empty() {
            return Some(Target { module: at, is_module: true });
        }
        let found = self.lookup(&at, names, seen);
        found.or(Some(Target { module: at, is_module: false }))
    }

    /// What the names mean in a module: a child, an import that is followed, an item, or something
    /// of a glob import.
    fn lookup(&self, at: &[String], names: &[String], seen: &mut Lookups) -> Option<Target> {
        if !seen.insert((at.to_vec(), names.to_vec())) {
            return None;
        }
        let module = &self.modules[at];
        let (first, rest) = names.split_first()?;
        let child = module.children.contains(first);
        let import = module.imports.get(first).filter(|_| rest.is_empty() || !child);
        let found = if import.is_some_and(|import| import[0] == *first && !child) {
            // Such as `async_trait::async_trait`.
            None
        } else if let Some(import) = import {
            self.resolve(at, &[import.as_slice(), rest].concat(), seen)
        } else if child {
            self.descend([at, std::slice::from_ref(first)].concat(), rest, seen)
        } else if module.items.contains(first) {
            Some(Target { module: at.to_vec(), is_module: false })
        } else {
            module.globs.iter().find_map(|glob| {
                let home = self.resolve(at, glob, seen).filter(|home| home.is_module)?;
                self.lookup(&home.module, names, seen)
            })
        };
        seen.remove(&(at.to_vec(), names.to_vec()));
        found
    }

    /// The modules of a folder, each before those that it uses; a cycle's modules are joined with
    /// `=`.
    fn order(&self, folder: &[String]) -> Vec<String> {
        let mut left = self.modules[folder].children.clone();
        let mut order = Vec::new();
        while !left.is_empty() {
            let is_free = |name: &&String| {
                let cycle = self.cycle_of(folder, name);
                let mut others = left.iter().filter(|other| !cycle.contains(*other));
                others.all(|other| {
                    let uses = self.uses(folder, other);
                    !cycle.iter().any(|name| uses.contains_key(name))
                })
            };
            let next = left.iter().find(is_free).expect("only a cycle has no first module");
            let cycle = self.cycle_of(folder, next);
            left.retain(|name| !cycle.contains(name));
            order.push(cycle.into_iter().collect::<Vec<_>>().join(" = "));
        }
        order
    }

    /// The siblings that a module uses itself.
    fn uses(&self, folder: &[String], user: &str) -> &BTreeMap<String, Vec<Place>> {
        static NONE: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        self.edges.get(folder).and_then(|users| users.get(user)).unwrap_or(&NONE)
    }

    /// The siblings that a module uses, directly or through others.
    fn reach(&self, folder: &[String], from: &str) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut next = vec![from.to_owned()];
        while let Some(user) = next.pop() {
            for used in self.uses(folder, &user).keys() {
                if reached.insert(used.clone()) {
                    next.push(used.clone());
                }
            }
        }
        reached
    }

    /// The module, and the siblings that it both uses and is used by.
    fn cycle_of(&self, folder: &[String], name: &str) -> BTreeSet<String> {
        let mut cycle = self.reach(folder, name);
        cycle.retain(|other| self.reach(folder, other).contains(name));
        cycle.insert(name.to_owned());
        cycle
    }

    /// The cycles in each folder, as text with the places that make them.
    fn cycles(&self) -> BTreeMap<ModulePath, String> {
        let mut texts: BTreeMap<ModulePath, String> = BTreeMap::new();
        for folder in self.edges.keys() {
            let modules = self.modules[folder].children.iter();
            let cycles: BTreeSet<_> = modules.map(|name| self.cycle_of(folder, name)).collect();
            for cycle in cycles.iter().filter(|cycle| cycle.len() > 1) {
                let text = texts.entry(folder.clone()).or_default();
                for user in cycle {
                    let uses = self.uses(folder, user).iter();
                    for (used, places) in uses.filter(|(used, _)| cycle.contains(*used)) {
                        _ = writeln!(text, "  {user} uses {used}");
                        for Place { file, line, path } in places.iter().take(MAX_PLACES) {
                            _ = writeln!(text, "    {file}:{line}: {path}");
                        }
                    }
                }
            }
        }
        texts
    }
}

/// A report shows this many places for each pair of modules.
const MAX_PLACES: usize = 3;

/// The folder with the files of a file's child modules.
fn folder_of(file: &str) -> &str {
    let stem = file.trim_end_matches(".rs");
    let own = ["/lib", "/main", "/mod"].iter().find_map(|name| stem.strip_suffix(name));
    own.unwrap_or(stem)
}

fn ident(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(word) => Some(word.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

fn is_cfg_test(attribute: &TokenTree) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "[cfg(test)]" || text.starts_with("[cfg(all(test")
}

/// Whether a path may begin after these tokens: not a field, a lifetime, or the rest of a path.
fn begins_path(before: &[TokenTree]) -> bool {
    let last = |mark| is_punct(before.last(), mark);
    let second_last = |mark| {
        let at = before.len().checked_sub(2);
        is_punct(at.and_then(|at| before.get(at)), mark)
    };
    let field = last('.') && !second_last('.');
    let continued = last(':') && second_last(':');
    !field && !continued && !last('\'')
}

/// The names of the path that begins here, and how many tokens it has.
fn path_at(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut names = Vec::from_iter(ident(&tokens[0]));
    let mut at = 1;
    while is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':') {
        let Some(name) = tokens.get(at + 2).and_then(ident) else { break };
        names.push(name);
        at += 3;
    }
    (names, at)
}

/// Where the item after an attribute ends.
fn item_end(tokens: &[TokenTree], from: usize) -> usize {
    let mut at = from;
    while is_punct(tokens.get(at), '#') {
        at += 2;
    }
    let words = tokens[at..].iter().map_while(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            Some(String::new())
        }
        _ => None,
    });
    let words: Vec<String> = words.take(4).collect();
    let starts = |keywords: &[&str]| words.iter().any(|word| keywords.contains(&word.as_str()));
    let has_body = starts(&["mod", "fn", "impl", "struct", "enum", "trait"]);
    let is_statement = starts(&["use", "const", "static", "type", "let"]) && !has_body;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        let ends = match token {
            TokenTree::Punct(mark) if mark.as_char() == ';' => true,
            TokenTree::Punct(mark) if mark.as_char() == ',' => !has_body && !is_statement,
            TokenTree::Group(group) => has_body && group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        if ends {
            return index + 1;
        }
    }
    tokens.len()
}
