//! Options as getopt(3) of bionic and NetBSD reads them, for the programs of toolbox.

use super::Invocation;

/// The errors of `getopt`, one for each unknown letter, the known letters, and what follows the
/// options. Options end at the first other argument.
pub(super) fn options<'a>(
    call: &'a Invocation,
    known: &str,
) -> (Vec<String>, String, &'a [String]) {
    let (mut errors, mut letters, mut rest) = (Vec::new(), String::new(), call.args.as_slice());
    while let [first, more @ ..] = rest {
        let Some(cluster) = first.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
            break;
        };
        rest = more;
        if cluster == "-" {
            break;
        }
        for letter in cluster.chars() {
            match known.contains(letter) {
                true => letters.push(letter),
                false => errors.push(format!("{}: invalid option -- {letter}\n", call.name)),
            }
        }
    }
    (errors, letters, rest)
}
