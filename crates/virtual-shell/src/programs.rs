//! The programs of a POSIX system: one file per subject, one line in [`PROGRAMS`] each.
//!
//! A program is a function from an [`Invocation`] (arguments, descriptors, the system) to an exit
//! status. It borrows the system's state only for single steps, so a long one (`cat` of a pipe)
//! blocks nobody, and it may be dropped at any `await` when its client disconnects.
//!
//! Texts, usage and errors are toybox's, as Android 14 has it. Where toolbox differs, which came
//! before toybox, that variant is in a file `old`, and the table or the program asks the
//! [`Userland`](crate::system::Userland) which one applies.

mod clock;
mod columns;
mod digest;
mod expr;
mod file_ops;
mod find;
mod format;
mod getopt;
mod grep;
mod kernel;
mod launch;
mod lines;
mod ls;
mod machine;
mod numbers;
mod options;
mod paths;
mod printf;
mod ps;
mod regex;
mod sed;
mod signals;
mod sort;
mod system;
mod text;
mod top;
mod tr;
mod xxd;

pub use clock::{date_time, dated};
pub use kernel::pause;
pub use regex::{Matcher, Place};

use crate::program::CalledBy::{Client, Everyday, Product, Recording};
use crate::program::{Invocation, Program};
use futures::future::FutureExt;
use options::ended;

/// One row per program: name, caller, how it parses (`options`: by [`options::Options`], with
/// toybox's endings), function, and that of toolbox's variant.
macro_rules! programs {
    ($($name:literal $by:ident $(($client:literal))?
        $parses:ident $run:path $(, toolbox $old:path)?;)*) => {
        &[$(Program {
            name: $name,
            called_by: $by $(($client))?,
            run: programs!(@run $parses $run $(, $old)?),
        }),*]
    };
    (@run own $run:path) => { |call| $run(call).boxed() };
    (@run options $run:path, $old:path) => {
        |call| match call.userland().toybox {
            true => ended(call, |call| $run(call).boxed()),
            false => $old(call).boxed(),
        }
    };
    (@run options $run:path) => { |call| ended(call, |call| $run(call).boxed()) };
}

/// Every program, sorted by name.
#[rustfmt::skip]
pub static PROGRAMS: &[Program] = programs! {
    "base64" Everyday options text::base64;
    "basename" Everyday options paths::basename;
    "cat" Product options text::cat, toolbox text::old::cat;
    "chmod" Everyday options file_ops::chmod, toolbox file_ops::old::chmod;
    "clear" Everyday options machine::clear;
    "cmp" Everyday options lines::cmp;
    "comm" Everyday options lines::comm;
    "cp" Recording options file_ops::cp, toolbox file_ops::old::cp;
    "cut" Everyday options columns::cut;
    "date" Recording options clock::date, toolbox clock::old::date;
    "dd" Everyday own file_ops::dd;
    "df" Recording options ls::df, toolbox ls::old::df;
    "dirname" Everyday options paths::dirname;
    "dmesg" Recording own kernel::dmesg;
    "du" Everyday options paths::du;
    "egrep" Everyday options grep::grep;
    "env" Recording options system::env;
    "expr" Everyday options expr::expr;
    "fgrep" Everyday options grep::grep;
    "find" Everyday options find::find;
    "free" Recording options machine::free;
    "grep" Recording options grep::grep;
    "head" Recording options text::head;
    "id" Recording options system::id, toolbox system::old_id;
    "kill" Product own signals::kill;
    "killall" Everyday options signals::killall;
    "ln" Everyday options file_ops::ln, toolbox file_ops::old::ln;
    "ls" Recording options ls::ls, toolbox ls::old::ls;
    "lsof" Recording options machine::lsof;
    "md5" Client("uiautomator2") options digest::md5;
    "md5sum" Client("uiautomator2") options digest::shasum;
    "mkdir" Product options file_ops::mkdir, toolbox file_ops::old::mkdir;
    "mktemp" Everyday options paths::mktemp;
    "mount" Everyday options machine::mount;
    "mv" Everyday options file_ops::mv, toolbox file_ops::old::mv;
    "nl" Everyday options lines::nl;
    "nohup" Everyday options launch::nohup;
    "nproc" Everyday options machine::nproc;
    "paste" Everyday options columns::paste;
    "pgrep" Everyday options signals::pgrep;
    "pidof" Everyday options ps::pidof;
    "pkill" Everyday options signals::pgrep;
    "printenv" Everyday options system::printenv;
    "printf" Everyday options printf::printf;
    "ps" Product options ps::ps, toolbox ps::old::ps;
    "readlink" Everyday options ls::readlink;
    "realpath" Everyday options paths::realpath;
    "rev" Everyday options lines::rev;
    "rm" Product options file_ops::rm, toolbox file_ops::old::rm;
    "rmdir" Everyday options file_ops::rmdir, toolbox file_ops::old::rmdir;
    "sed" Recording options sed::sed;
    "seq" Everyday options numbers::seq;
    "setsid" Everyday options launch::setsid;
    "sh" Everyday own launch::sh;
    "sha1sum" Everyday options digest::shasum;
    "sha256sum" Everyday options digest::shasum;
    "sha512sum" Everyday options digest::shasum;
    "sort" Everyday options sort::sort;
    "split" Everyday options lines::split;
    "stat" Everyday options ls::stat;
    "sync" Everyday options machine::sync;
    "tac" Everyday options lines::tac;
    "tail" Everyday options text::tail;
    "tee" Everyday options columns::tee;
    "time" Everyday options launch::time;
    "timeout" Everyday options launch::timeout;
    "toolbox" Recording options launch::toolbox;
    "top" Recording own top::top;
    "touch" Product options file_ops::touch, toolbox file_ops::old::touch;
    "toybox" Client("uiautomator2") options launch::toybox;
    "tr" Everyday options tr::tr;
    "truncate" Everyday options file_ops::truncate;
    "uname" Everyday options system::uname;
    "uniq" Everyday options columns::uniq;
    "uptime" Recording options clock::uptime, toolbox clock::old::uptime;
    "usleep" Everyday options launch::usleep;
    "vmstat" Recording own kernel::vmstat;
    "wc" Everyday options text::wc;
    "which" Everyday options system::which;
    "whoami" Recording options system::whoami;
    "xargs" Everyday options launch::xargs;
    "xxd" Everyday options xxd::xxd;
    "yes" Everyday options columns::yes;
};

#[cfg(test)]
mod tests {
    use super::PROGRAMS;

    #[test]
    fn the_table_is_sorted_by_name() {
        assert!(PROGRAMS.is_sorted_by(|a, b| a.name < b.name));
    }
}
