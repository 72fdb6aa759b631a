//! How the shell and the programs of one system differ from another's.

/// What differs between systems, for the shell and its programs.
#[derive(Clone, Copy, Debug)]
pub struct Userland {
    /// Whether its programs are toybox's, or those of the older toolbox.
    pub toybox: bool,
    /// What `toybox --version` prints after the name.
    pub toybox_version: &'static str,
    /// Whether toybox is 0.8 or newer: errors name `--help`, and `top` has wider columns.
    pub toybox_0_8: bool,
    /// Programs that toybox does not contain.
    pub outside_toybox: &'static [&'static str],
    /// The only programs that it has, if it has few.
    pub only_programs: Option<&'static [&'static str]>,
    /// Programs of the table that it lacks.
    pub missing_programs: &'static [&'static str],
    /// Scripts that pass their arguments on as an unquoted `$*`: an argument with a space becomes
    /// two, and a `*` expands to file names.
    pub splitting: &'static [&'static str],
    /// Whether the shell starts with UTF-8 on.
    pub utf8: bool,
    /// `$KSH_VERSION`, if it is a version that scripts ask for.
    pub ksh_version: Option<&'static str>,
    /// Whether `ulimit -a` prints the letter of each limit.
    pub named_limits: bool,
    /// The shell's message for a program that does not exist.
    pub not_found: &'static str,
    /// `$PATH`
    pub path: &'static str,
    /// The shell's other variables.
    pub environment: &'static [(&'static str, &'static str)],
    /// Whether the prompt starts with the user name.
    pub prompt_names_user: bool,
    /// What `id` prints after `groups=`.
    pub groups: &'static str,
    /// `uname -r`
    pub kernel: &'static str,
    /// When the kernel was built, for `uname -v`.
    pub built: &'static str,
    /// The time zone as `date` prints it.
    pub utc: &'static str,
}

impl Userland {
    /// Whether the system has that program.
    pub fn has(&self, program: &str) -> bool {
        self.only_programs.is_none_or(|only| only.contains(&program))
            && !self.missing_programs.contains(&program)
    }
}
