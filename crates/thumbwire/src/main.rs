//! The `thumbwire` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    thumbwire::cli::main()
}
