//! `awk`, as far as scripts on phones use it: the language of the "one true awk" that Android has
//! since 9.
//!
//! Start with [`awk`]: `lex` makes tokens, `compile` turns them into instructions ([`Op`]),
//! `machine` runs these for each record that `input` reads. Instructions instead of a tree keep the
//! stack flat, so that no script can overflow it, and an endless one can be ended between any two
//! of them.
//!
//! Not supported: back references in patterns, `printf %c` beyond Unicode, and the extensions of
//! other awks.

mod compile;
mod functions;
mod input;
mod lex;
mod machine;
mod reading;
mod value;

use super::Invocation;
use super::options::{Failure, LINE, Options, Outcome, about};
use super::regex::Matcher;
use machine::Machine;
use std::sync::Arc;

/// Variables with a meaning, in the order of their slots.
const SPECIAL: [&str; 16] = [
    "NF", "NR", "FNR", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH",
    "CONVFMT", "OFMT", "ENVIRON", "ARGC", "ARGV",
];
const NF: usize = 0;
const NR: usize = 1;
const FNR: usize = 2;
const FS: usize = 3;
const OFS: usize = 4;
const ORS: usize = 5;
const RS: usize = 6;
const FILENAME: usize = 7;
const SUBSEP: usize = 8;
const RSTART: usize = 9;
const RLENGTH: usize = 10;
const CONVFMT: usize = 11;
const OFMT: usize = 12;
const ENVIRON: usize = 13;
const ARGC: usize = 14;
const ARGV: usize = 15;

/// A variable's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Global(usize),
    /// Of the function that runs.
    Local(usize),
}

/// What can be assigned. The subscript or field number is on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Variable(Variable),
    Element(Variable),
    Field,
}

/// Where `print` writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Stdout,
    File,
    Append,
    Command,
}

/// Where `getline` reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Main,
    File,
    Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Atan2,
    Close,
    Cos,
    Exp,
    Fflush,
    Index,
    Int,
    Length,
    Log,
    Match,
    Rand,
    Sin,
    Sprintf,
    Sqrt,
    Srand,
    Substr,
    System,
    Tolower,
    Toupper,
}

/// An instruction. Comments show what it takes from the stack and what it leaves.
#[derive(Clone)]
enum Op {
    Number(f64),
    Text(Arc<str>),
    /// → `$0 ~ pattern`
    MatchRecord(usize),
    /// → the pattern, for `match`, `split` and `sub`.
    Pattern(usize),
    /// (subscript or field) → value
    Load(Place),
    /// (subscript or field) value → value
    Store(Place),
    /// The same, if the last `sub` or `getline` had success.
    StoreIfDone(Place),
    /// A variable that may be an array, as an argument.
    LoadReference(Variable),
    /// a → a a
    Copy,
    Drop,
    /// Values → one subscript.
    Join(usize),
    /// subscript → 0 or 1
    In(Variable),
    Delete(Variable),
    DeleteAll(Variable),
    /// a b → value, for `+ - * / % ^`.
    Arithmetic(char),
    /// a b → 0 or 1, for `< l(<=) = ! > g(>=)`.
    Compare(char),
    Concatenate,
    Negate,
    Numeric,
    Not,
    /// text pattern → 0 or 1
    Match,
    Truth,
    Jump(usize),
    JumpIfFalse(usize),
    JumpIfTrue(usize),
    /// The state of a range pattern.
    JumpInRange(usize, usize),
    SetRange(usize, bool),
    /// Arguments → value
    Call(usize, usize),
    Return,
    Function(Function, usize),
    /// value pattern replacement → new value
    Substitute(bool),
    /// text (separator) → number of parts
    Split(Variable, bool),
    /// (name) → line; sets the status.
    Getline(Source),
    /// (name) → status; sets the record.
    GetlineRecord(Source),
    /// → the status or count of the last `getline` or `sub`.
    Done,
    /// Values (name) →
    Print(usize, Target),
    Printf(usize, Target),
    /// The keys of an array, for `for (key in array)`.
    Keys(Variable),
    /// → the next key, or jumps if there is none.
    NextKey(usize),
    DropKeys,
    Next,
    NextFile,
    /// (status)
    Exit(bool),
    /// The end of a part.
    End,
}

/// A function of the script.
struct Routine {
    name: String,
    parameters: usize,
    start: Option<usize>,
}

/// A compiled script.
struct Program {
    code: Vec<Op>,
    patterns: Vec<Arc<Matcher>>,
    routines: Vec<Routine>,
    globals: Vec<String>,
    ranges: usize,
    /// Where each part starts.
    begin: Vec<usize>,
    rules: Vec<usize>,
    end: Vec<usize>,
}

/// `awk [-F SEPARATOR] [-v NAME=VALUE]… [-f FILE]… [SCRIPT] [FILE|NAME=VALUE…]`
pub(super) async fn awk(call: &Invocation) -> Outcome {
    let mut options = Options::read(&call.args, "+F:v:f:", &[("version", 'V')])?;
    if options.has('V') {
        call.out("awk version 20240728\n").await?;
        return Ok(0);
    }
    let mut texts = Vec::new();
    for path in options.values('f') {
        let input = call.open(path).map_err(|reason| about(path, reason))?;
        texts.push(String::from_utf8_lossy(&input.all(LINE).await).into_owned());
    }
    if texts.is_empty() {
        if options.rest.is_empty() {
            call.err("usage: awk [-F fs | --csv][-v var=value][prog | -f progfile][file ...]\n")
                .await;
            return Ok(2);
        }
        texts.push(options.rest.remove(0));
    }
    let program = compile::compile(&texts.join("\n"))?;
    let mut machine = Machine::new(call, &program, &options.rest);
    if let Some(separator) = options.value('F') {
        let separator = if separator == "t" { "\t".to_owned() } else { lex::unescape(separator) };
        machine.set_global(FS, value::Value::text(&separator));
    }
    for pair in options.values('v') {
        if !machine.assign(pair) {
            return Err(Failure::Message(format!("invalid -v argument: {pair}"), 2));
        }
    }
    machine.run().await
}
