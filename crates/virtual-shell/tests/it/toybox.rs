//! Compares the phone's programs with the real ones: both must print the same and exit with the
//! same status.
//!
//! Android's programs are toybox's, and Debian packages that (0.8.9). What is not installed is
//! skipped, unless `THUMBWIRE_REQUIRE_REAL` is set. What the phone answers is a golden too, for
//! machines without them.

use crate::common::Machine;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use thumbwire_test_support::program;

/// How long a script may take on either side.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Files that every script finds.
const FILES: &str = "umask 0; printf 'alpha 1\\nbeta 22\\ngamma 333\\nbeta 22\\n' > t; printf 'b\\na\\nc' > s; \
                     printf 'x,y,z\\n1,2,3\\nnone\\n' > c; mkdir -p d/e; printf 'abc\\n' > d/f; printf 'A\\n' > d/e/g; \
                     printf '\\001\\002hello\\000world!\\377\\n' > b; ";

/// Scripts for toybox's programs, with standard error. Not here, because Debian's version is alone
/// with it: `head` and `tail` take an unknown option for a number, `grep 'a\\|b'` looks for the
/// text `a|b`, `tail -n 0` prints everything, `ls FOLDER FILE` begins with an empty line.
const SCRIPTS: &[&str] = &[
    // sed
    "sed s/a/X/ t",
    "sed s/a/X/g t",
    "sed -n s/beta/X/p t",
    "sed 's/\\(b\\)\\(e\\)/\\2\\1/' t",
    "sed -E 's/([a-z]+) ([0-9]+)/\\2 \\1/' t",
    "sed 's/[0-9]*/<&>/' t",
    "sed 's/x*/-/g' t",
    "sed 's,a,/,g' t",
    "sed 's/a\\/b/c/;s/[/]/x/' t",
    "sed 's/a/\\n/' t",
    "sed 2d t",
    "sed '2,3d' t",
    "sed '$d' t",
    "sed '/beta/d' t",
    "sed '/beta/!d' t",
    "sed -n '/beta/,/gamma/p' t",
    "sed -n '2,$p' t",
    "sed -n '2,+1p' t",
    "sed '2,1d' t",
    "sed -n '$p' t s",
    "sed -n '$=' t",
    "sed = s",
    "sed 1q t",
    "sed 'n;d' t",
    "sed '$!N;s/\\n/-/' t",
    "sed 'N;P;D' t",
    "sed -n 'H;${x;s/\\n/,/g;p}' t",
    "sed '1!G;h;$!d' t",
    "sed '2a after' t",
    "sed '2i before' t",
    "sed '2c changed' t",
    "sed '2,3c changed' t",
    "sed '1i\\\n one\\\n two' t",
    "sed y/abc/xyz/ t",
    "sed -e s/a/1/ -e s/b/2/ t",
    "sed ':a;s/^\\(.\\{1,8\\}\\)$/ \\1/;ta' s",
    "sed 's/beta/x/;t;s/$/!/' t",
    "sed -n '/beta/{s//Z/;p}' t",
    "sed -n l t",
    "sed s/B/x/I s",
    "sed -i s/a/Q/ t; cat t",
    "sed -i.bak s/a/Q/ t; cat t.bak",
    "sed 'w out' s; cat out",
    "sed '1r s' t",
    "printf 'a\\0b\\0' | sed -z s/^/x/ | tr '\\0' '\\n' 2>/dev/null || true",
    "sed s/a/b",
    "sed s/a",
    "sed k",
    "sed /a",
    "sed y/a/bc/ t",
    "sed '{p' t",
    "sed '}' t",
    "sed",
    "sed p nofile",
    "sed -Q",
    "sed -e",
    // cut, paste, uniq, tee
    "cut -d, -f1 c",
    "cut -d, -f2- c",
    "cut -d, -f-2 c",
    "head -n 2 c | cut -d, -f1,3",
    "head -n 2 c | cut -d, -f3,1",
    "cut -d, -f2 c",
    "cut -c1-3 t",
    "cut -c2,4 t",
    "cut -b1 t",
    "cut -d ' ' -f 2 t",
    "head -n 2 c | cut -O : -d , -f 1,2",
    "cut t",
    "cut -f",
    "cut -f1 nofile",
    "paste s c",
    "paste -d, s c",
    "paste -s s",
    "paste -sd, t",
    "paste - - < t",
    "uniq t",
    "sort t | uniq -c",
    "sort t | uniq -d",
    "sort t | uniq -u",
    "uniq -f 1 t",
    "uniq nofile",
    "echo x | tee o; cat o; echo y | tee -a o; cat o",
    "tee /nope/x < s",
    // sort
    "sort t",
    "sort -r t",
    "sort -u t",
    "sort -k2 t",
    "sort -k2n t",
    "sort -k2,2nr t",
    "sort -t, -k2 c",
    "printf '10\\n9\\n1\\n' | sort",
    "printf '10\\n9\\n1\\n' | sort -n",
    "printf 'b\\nA\\na\\nB\\n' | sort -f",
    "printf '1.5\\n-2\\n1e2\\n' | sort -g",
    "printf 'mar\\njan\\n' | sort -M",
    "printf 'a1\\na10\\na2\\n' | sort -V",
    "sort -o o t; cat o",
    "sort -c s; echo $?",
    "sort nofile",
    "sort -k",
    // find
    "find d | sort",
    "find d -name f",
    "find d -name '*' -type d | sort",
    "find d -iname G",
    "find . -maxdepth 1 -type f | sort",
    "find d -mindepth 2",
    "find d -type f -exec cat {} \\; | sort",
    "find d -type f -exec echo A {} + | wc -w",
    "find d ! -type d | sort",
    "find d -name f -o -name g | sort",
    "find d \\( -name f -o -name e \\) -type d",
    "find d -path '*e*' | sort",
    "find d -size +0c -type f | sort",
    "find d -type f -print0 | xargs -0 cat | sort",
    "find d -depth | tail -n 1",
    "find d -type f -delete | sort; find d | sort",
    "find d -name e -prune -o -print | sort",
    "find d -name f -printf '%f %P %s\\n'; find d -printf %d",
    "find d -empty",
    "find d -newer t -name nope",
    "find /nope",
    "find d -name",
    "find d -type q",
    "find d -exec",
    "find d -mtime x",
    "find d -quit",
    // xargs, timeout and others that run programs
    "printf 'a b\\nc' | xargs",
    "printf 'a b\\nc' | xargs -n 1 echo x",
    "printf 'a b c' | xargs -n 2",
    "printf 'a\\0b c\\0' | xargs -0 -n 1 echo",
    "xargs -r echo no < /dev/null; xargs < /dev/null",
    "echo 1 2 | xargs -t echo",
    "echo x | xargs sh -c 'exit 3'; echo $?",
    "echo x | xargs sh -c 'exit 255'; echo $?",
    "echo x | xargs nosuch; echo $?",
    // toybox 0.8.9 sometimes reports 127 for a program that ends at once.
    "timeout 5 sh -c 'sleep 0.1; echo x'; echo $?",
    "timeout 5 sh -c 'sleep 0.1; false'; echo $?",
    "timeout 0.1 sleep 5; echo $?",
    "timeout -s KILL 0.1 sleep 5; echo $?",
    "timeout 1 nosuch; echo $?",
    "timeout",
    "timeout x ls",
    "nohup",
    "nohup nosuch",
    "time nosuch 2>/dev/null; echo $?",
    // Checksums.
    "sha1sum t",
    "sha256sum < t",
    "sha512sum t s",
    "sha256sum t > x; sha256sum -c x",
    "sha1sum nofile",
    // Names.
    "basename /a/b.txt .txt; basename a/; basename /; basename -a x/y z; basename -s c abc",
    "basename",
    "basename a b c",
    "dirname /a/b /a a a/b/ /",
    "dirname",
    "realpath d/../t | sed 's,.*/,,'",
    "mktemp -u qq.XXXXXX | wc -c",
    "x=$(mktemp ./tmp.XXXXXX); [ -f $x ]; echo $?; y=$(mktemp -d -p d); [ -d $y ]; echo $?",
    "du nofile",
    "ln -s t l; readlink l; cat l",
    "mkdir q; rmdir q; rmdir q",
    "printenv NOPE; echo $?; A=1 printenv A",
    "nproc > /dev/null; echo $?",
    "nohup echo a; setsid -w echo b",
    // Numbers.
    "seq 3",
    "seq 2 4",
    "seq 1 3 10",
    "seq 5 -2 1",
    "seq -s, 4",
    "seq -w 8 11",
    "seq -f '%03g' 2",
    "seq 0.5 0.25 1",
    "seq 3 1",
    "seq",
    "seq x",
    "yes | head -n 3; yes a b | head -n 1",
    "free -Q",
    // cat, head, tail, wc
    "cat t",
    "cat t s",
    "cat -v b",
    "cat -et t",
    "cat -t c",
    "cat -e s",
    "cat - < s",
    "echo x | cat s - t",
    "cat nofile t",
    "cat -u s",
    "cat -Q",
    "cat d",
    "head t",
    "head -2 t",
    "head -n 1 t s",
    "head -n1 t",
    "head -1 t s",
    "head -q -n1 t s",
    "head -v -n 1 t",
    "head -c 3 t",
    "head -c 1k t | wc -c",
    "head -n 0 t",
    "head nofile t",
    "head -n x t",
    "head -n -1 t",
    "printf 'a\\nb\\nc\\n' | head -n 2",
    "tail -1 t",
    "tail -2 t",
    "tail -n 1 t s",
    "tail -n +2 t",
    "tail -n+3 t",
    "tail -c 3 s",
    "tail -c +3 s",
    "tail -n x t",
    "tail -n2 nofile t",
    "printf 'a\\nb\\nc\\n' | tail -n 2",
    "tail -f nofile",
    "wc t",
    "wc t s",
    "wc -l t s",
    "wc -l < t",
    "wc -m t",
    "wc -c t",
    "wc -lw t",
    "wc -cm t",
    "wc -wlc t",
    "wc -l - < t",
    "wc nofile t",
    "wc -Q",
    "printf 'a b\\nc' | wc",
    "cat t | wc -l",
    // grep
    "grep beta t",
    "grep -e alpha -e gamma t",
    "grep -o 'a[^ ]' t",
    "grep -on b t",
    "grep -w beta t",
    "grep -w bet t; echo $?",
    "grep -L beta t s",
    "grep -l beta t s",
    "grep -H alpha t",
    "grep -h alpha t s",
    "grep -n beta t",
    "grep -c beta t s",
    "grep -ci BETA t",
    "grep -v beta t",
    "grep -vn beta t",
    "grep -vc beta t",
    "grep -r abc d",
    "grep -rl abc d",
    "grep -rn abc d/f",
    "grep -r abc --include '*.txt' d; echo $?",
    "grep -Fx b s",
    "grep -F 'a.' t; echo $?",
    "grep -i BETA t",
    "grep -A1 -B1 gamma t",
    "grep -A 1 alpha t",
    "grep -B1 gamma t",
    "grep -C 1 alpha t",
    "grep -m1 beta t",
    "grep -q beta t; echo $?",
    "grep -q nope t; echo $?",
    "grep -s x nofile; echo $?",
    "grep x nofile; echo $?",
    "grep",
    "grep -Q a t",
    "grep -f s t",
    "grep -E 'a|b' s",
    "grep -E '^(alpha|gamma) [0-9]+$' t",
    "grep '^b' t",
    "grep '2$' t",
    "grep '[' t",
    "grep -e",
    "grep -A x a t",
    "grep -b beta t",
    "grep -ob a t",
    "grep '' s",
    "grep -x 'beta.*' t",
    "grep -xv b s",
    "grep d nofile t",
    "grep x d",
    "grep world b",
    "grep -a world b | wc -l",
    "grep -c world b",
    "echo hello | grep -H hello",
    "echo hello | grep -c hello",
    "cat t | grep beta | grep -v 33",
    "grep -io B t",
    "grep '\\<beta\\>' t",
    "grep -o '[0-9]*' t",
    "grep -E 'b{1}e?t+a' t",
    "grep -E '(a)(b|l)' t",
    "printf 'a.b\\naxb\\n' | grep 'a\\.b'",
    "printf 'x=1\\ny=2\\n' | grep -o '=.*'",
    "printf 'A\\nb\\n' | grep '[[:upper:]]'",
    // Checksums and base64.
    "md5sum t",
    "md5sum t s",
    "md5sum -b t",
    "md5sum < t",
    "md5sum t nofile",
    "md5sum t > m; md5sum -c m",
    "printf '00  t\\n' > m; md5sum -c m; echo $?",
    "md5sum -Q",
    "base64 t",
    "base64 -w 10 t",
    "base64 -w 0 t",
    "base64 t | base64 -d",
    "base64 -d t | wc -c",
    "echo YWJj | base64 -d",
    "printf 'YW Jj' | base64 -di",
    "base64 nofile",
    "base64 t s",
    "base64 -Q",
    "base64 -w x",
    // ls and stat
    "ls",
    "ls -1",
    "ls -a",
    "ls -A",
    "ls t s",
    "ls d",
    "ls d/",
    "ls -d d",
    "ls -F",
    "ls -p",
    "ls -r",
    "ls -R d",
    "ls -m",
    "ls -C",
    "ls -x",
    "ls -C -w 10",
    "ls nofile",
    "ls nofile t",
    "ls -Q",
    "chmod 600 t; ls -l t | cut -c1-12",
    "chmod 755 s; ls -l s | cut -d ' ' -f 1,2,5",
    "touch -d '2024-01-02 03:04' t; ls -ln t | cut -d ' ' -f 5-",
    "touch -d '2024-01-02 03:04' t s; ls -lgo t s",
    "touch -d '2024-01-02 03:04' t; ls -l --full-time t | cut -d ' ' -f 5-",
    "ls -lh t | cut -d ' ' -f 5",
    "ls -s t",
    "touch -d 2024-01-01 s; touch -d 2024-02-01 t; touch -d 2024-03-01 c; ls -t s t c",
    "touch -d 2024-01-01 s; touch -d 2024-02-01 t; touch -d 2024-03-01 c; ls -rt s t c",
    "ls -S t s c",
    "ls -Sr t s c",
    "ln -s t l; ls -F l; ls l; ls -L l",
    "ln -s t l; ls -l l | cut -c1",
    "ls -d *",
    "ls *.nope",
    "ls -1 d | wc -l",
    "touch 'a b'; ls -b a*",
    "touch .h; ls -d .h",
    "ls -la d | wc -l",
    "stat -c%s t",
    "stat -c %s t s",
    "stat -c '%n %F %a %A' t d",
    "stat --format=%n t",
    "touch -d '2024-01-02 03:04:05' t; stat -c '%y|%Y' t",
    "stat -c '%10s|%-10s|' t",
    "stat -c '%h %%' t",
    "stat -c %h d",
    "stat nofile",
    "stat",
    "stat -Q t",
    "ln -s t l; stat -c '%F %N' l; stat -L -c %F l",
    "chmod 640 t; stat -c '%a %A %f' t",
    // readlink, realpath and other names
    "ln -s t l; readlink l; readlink -n l; echo; readlink t; echo $?",
    "ln -s t l; readlink -f l | sed 's,.*/,,'",
    "ln -s d/e k; readlink -f k/g | sed 's,.*/d/,d/,'",
    "ln -s nope l; readlink -e l; echo $?; readlink -f l | sed 's,.*/,,'",
    "readlink -f nope/x; echo $?",
    "readlink -m nope/x | sed 's,.*/nope,nope,'",
    "readlink",
    "readlink -Q l",
    // mkdir, rmdir
    "mkdir",
    "mkdir -m700 p; stat -c%a p",
    "mkdir p -m 755; stat -c%a p; ls",
    "mkdir -p a/b/c; find a",
    "mkdir -pv a/b",
    "mkdir -v q",
    "mkdir t",
    "mkdir -p d; echo $?",
    "mkdir -p t",
    "mkdir -p t/x",
    "mkdir nope/x",
    "mkdir -Q",
    "mkdir -m u=rwx,go= p; stat -c%a p",
    "mkdir -m zz p",
    "mkdir --parents q/w; find q",
    "mkdir a b; ls -d a b",
    "rmdir d",
    "rmdir t",
    "rmdir nofile",
    "rmdir -Q",
    "mkdir -p q/w; rmdir -p q/w; ls -d q",
    // chmod
    "chmod -R 755 d; stat -c '%n %a' d d/f",
    "chmod 644 t; chmod u+x,g-r t; stat -c%a t",
    "chmod 755 t; chmod -x t; stat -c%a t",
    "chmod a=rw t; stat -c %a t",
    "chmod 888 t",
    "chmod zz t",
    "chmod 644",
    "chmod",
    "chmod 644 nofile",
    "chmod -v 600 t",
    "chmod 600 t; chmod u+x t; stat -c %a t",
    "chmod 644 t; chmod u+s,g+x,o=u t; stat -c%a t",
    "chmod -Q t",
    "chmod 755 nofile t; stat -c%a t",
    "chmod 755 t; chmod go-rwx t; stat -c%a t",
    "chmod 600 t; chmod +t t; stat -c %A t",
    "chmod 0644 t; stat -c %a t",
    "chmod g+X d; chmod 600 t; chmod a+X t; stat -c %a t",
    "chmod u=rwx,g=rx,o= t; stat -c %a t",
    "chmod -R u+x d; ls -l d/f | cut -c1-4",
    // touch
    "touch h; ls h",
    "touch -d 2024-01-01 h; stat -c %Y h; ls",
    "touch -d '2024-01-01 10:20' h; stat -c %Y h",
    "touch -d @5 h; stat -c %Y h",
    "touch -t 202401020304.05 h; stat -c %Y h",
    "touch -t 202401020304 h; touch -r h k; stat -c %Y k",
    "touch -c nofile; ls nofile",
    "touch",
    "touch -Q x",
    "touch nope/x",
    "touch -d zz h",
    "touch -t 12 h",
    "touch -r nofile h",
    "touch -d 2024-01-01T00:00:00Z h; stat -c %Y h",
    "touch -am t; echo $?",
    "touch a b c; ls a b c",
    // rm, cp, mv, ln
    "rm t; ls",
    "rm nofile",
    "rm",
    "rm -f; echo $?",
    "rm d",
    "rm -r d; ls",
    "rm -rf d nofile; echo $?",
    "rm -Q",
    "rm -v t",
    "rm nofile s; ls s",
    "rm -fr d t s; ls",
    "rm -rv d | wc -l",
    "cp",
    "cp t",
    "cp t x; cat x",
    "cp t d; ls d",
    "cp t nope/x",
    "cp d x",
    "cp -r d x; find x | sort",
    "cp -v t x",
    "cp nofile x",
    "cp t s d; ls d",
    "cp t s x",
    "cp t s c; echo $?",
    "cp -n t s; wc -l < s",
    "cp -Q",
    "cp -t d t; ls d",
    "ln -s t l; cp l x; stat -c %F x; cp -P l y; stat -c %F y; cp -d l z; readlink z",
    "cp t t",
    "cp -T t d",
    "cp -r d nope/x 2>/dev/null; echo $?",
    "chmod 700 t; cp t x; stat -c %a x",
    "touch -d 2024-01-01 t; cp -p t x; stat -c %Y x",
    "cp -a d x; ls x",
    "cp -r d t",
    "mv",
    "mv t",
    "mv t x; ls",
    "mv nofile x",
    "mv t d; ls d",
    "mv t s x",
    "mv t s d; ls d",
    "mv -n t s; cat s",
    "mv -f t s; cat s",
    "mv -Q",
    "mv d t",
    "mv t t; echo $?",
    "mkdir x; mv d x; ls x",
    "mv t nope/x",
    "ln -s t l; readlink l; cat l",
    "ln -s nope l; cat l",
    "ln -s t s",
    "ln -sf t s; readlink s",
    "ln -s t d; readlink d/t",
    "ln -sv t l",
    "ln",
    "ln -Q",
    // Processes and identity.
    "env -i A=1 env",
    "env A=1 sh -c 'echo $A'",
    "env A=1 B=2 printenv B A",
    "env -u A printenv A; echo $?",
    "A=1; export A; env -u A sh -c 'echo [$A]'",
    "env -Q",
    "env nosuch",
    "env sh -c 'exit 3'; echo $?",
    "env A=1 sh -c 'exit 4'; echo $?",
    "printenv -Q",
    "id -Q",
    "id nope",
    "which nosuch; echo $?",
    "which",
    "which -Q",
    "which -a nosuch; echo $?",
    "uname",
    "uname -o",
    "uname -Q",
    "whoami x",
    "pidof nosuch; echo $?",
    "pidof -Q x",
    "pgrep nosuch; echo $?",
    "pgrep",
    "pkill nosuch; echo $?",
    "killall nosuch",
    "killall",
    "ps -Q",
    "ps -p x | head -n 2",
    "ps -p 999999 | wc -l",
    "killall -s NOPE x",
    "df nofile",
    "df -Q",
    "nproc -Q",
    // date
    "date -u -d @5",
    "date -d 2024-01-02 +%F",
    "date -d '2024-01-02 03:04' +%s",
    "date -d '2024-01-02 03:04:05' +%H-%M-%S",
    "date -u -d @0 +%Y%m%d",
    "date -Q",
    "date -d zz",
    "date x",
    "touch -d '2024-01-02 03:04:05' t; date -u -r t +%s",
    "date -I -d @0",
    "date -Iseconds -u -d @0",
    "date -u -d @86400 '+%a %b %e %j %U'",
    "uptime -Q",
    "uptime x",
    // Pipes of everyday use.
    "sort t | uniq -c | sort -rn",
    "cut -d ' ' -f 1 t | sort -u",
    "ls | head -n 2",
    "ls | wc -l",
    "find . -type f | sort | head -n 3",
    "find . -name '*.txt' | wc -l",
    "cat t | tr a-z A-Z",
    "tr -d '\\n' < t",
    "tr -s ' ' < t",
    "echo 'a:b:c' | tr : '\\n'",
    "echo $(cat t | wc -l)",
    "grep -c . t",
    "sed -n 2p t",
    "sed 's/ .*//' t | sort | uniq",
    "echo abcd | sed -E 's/a|ab/X/'",
    "echo 'k=v' | cut -d= -f2",
    "echo a b c | xargs -n1",
    "ls | xargs -n 1 echo f:",
    "find d -type f | xargs grep -l abc",
    "printf 'b 2\\na 10\\n' | sort -k2n",
    "printf '%s\\n' 3 1 2 | sort -n | tail -n 1",
    "seq 1 5 | paste -sd+",
    "seq 3 | while read n; do echo n$n; done",
    "for f in *; do echo \"$f\"; done",
    "[ -f t ] && echo yes || echo no",
    "[ -d nofile ] || echo none",
    "x=$(grep -c beta t); echo $((x * 2))",
    "if grep -q beta t; then echo found; fi",
    "echo hi | tee x | cat; cat x",
    "dd if=t bs=1 count=5 2>/dev/null; echo",
    "dd if=t of=x bs=4 count=2 2>/dev/null; cat x; echo",
    "head -c 5 t | base64",
    "timeout 5 cat t | head -n 1",
    "sha1sum t | cut -d ' ' -f 1",
    "du -s nofile",
];

/// Scripts as people write them, by people who had not seen this phone. Each is in a fresh folder.
const EVERYDAY: &str = include_str!("everyday.sh");

/// What begins each of those scripts, before its name.
const HEADING: &str = "#### ";

#[tokio::test]
async fn programs_behave_as_in_toybox() {
    let scripts = SCRIPTS.iter().map(|script| format!("{FILES}\n{{ {script}\n}} 2>&1"));
    compare(SCRIPTS.iter().copied().zip(scripts)).await;
}

#[tokio::test]
async fn everyday_scripts_behave_as_on_a_real_phone() {
    let scripts: Vec<(&str, &str)> = EVERYDAY
        .split(HEADING)
        .skip(1)
        .map(|part| part.split_once('\n').expect("a heading and a script"))
        .collect();
    assert!(scripts.len() >= 300, "{}", scripts.len());
    let whole = |script: &str| format!("umask 022; exec 2>&1\n{script}");
    compare(scripts.iter().map(|(title, script)| (*title, whole(script)))).await;
}

#[tokio::test]
async fn programs_answer_as_recorded() {
    let machine = Machine::new();
    let mut text = String::new();
    for script in SCRIPTS {
        let whole = format!("{FILES}\n{{ {script}\n}} 2>&1");
        let (status, out) = in_memory(&machine, &whole).await;
        text.push_str(&format!("$ {}\n{}", script.escape_debug(), out.replace('\0', "\\0")));
        if !out.is_empty() && !out.ends_with('\n') {
            text.push_str("[no newline]\n");
        }
        if status != 0 {
            text.push_str(&format!("[status {status}]\n"));
        }
    }
    insta::assert_snapshot!("toybox", text);
}

/// Runs scripts, each with its title, on both sides.
async fn compare<'a>(scripts: impl Iterator<Item = (&'a str, String)>) {
    if program("toybox").is_none() || program("mksh").is_none() {
        return;
    }
    let scripts: Vec<(&str, String)> = scripts.collect();
    let real = all_on_this_machine(&scripts);
    let machine = Machine::new();
    let mut different = Vec::new();
    for ((title, script), real) in scripts.iter().zip(real) {
        let ours = in_memory(&machine, script).await;
        if ours != real {
            different.push(format!("{title}\n    real  {real:?}\n    phone {ours:?}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

fn on_path(program: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|path| path.join(program))
        .find(|path| path.exists())
}

/// Runs scripts on all processors: starting programs takes most of the time.
fn all_on_this_machine(scripts: &[(&str, String)]) -> Vec<(i32, String)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = scripts.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let run = |part: &[(&str, String)]| -> Vec<(i32, String)> {
            part.iter().map(|(_, script)| on_this_machine(script)).collect()
        };
        let parts: Vec<_> =
            scripts.chunks(part).map(|part| scope.spawn(move || run(part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("all scripts ran")).collect()
    })
}

fn on_this_machine(script: &str) -> (i32, String) {
    let folder = TempDir::new().expect("a folder");
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).expect("made");
    let link = |name: &str, real: std::path::PathBuf| {
        std::os::unix::fs::symlink(real, bin.join(name)).expect("linked");
    };
    link("sh", on_path("mksh").expect("found before"));
    if let Some(toybox) = on_path("toybox") {
        let names = Command::new(&toybox).output().expect("toybox runs").stdout;
        let names = String::from_utf8(names).expect("names");
        for name in names.split_whitespace().filter(|name| !name.starts_with('[')) {
            link(name, toybox.clone());
        }
    }
    let work = folder.path().join("work");
    std::fs::create_dir(&work).expect("made");
    let limit = MAX_TIME.as_secs().to_string();
    // Not toybox's, which says 127 of a program that ends at once.
    let output = Command::new(on_path("timeout").expect("part of any system"))
        .arg(limit)
        .arg(bin.join("sh"))
        .args(["-c", script])
        .current_dir(work)
        .env_clear()
        .envs([
            ("PATH", format!("{}:/usr/bin:/bin", bin.display()).as_str()),
            ("HOME", "/"),
            ("LC_ALL", "C.UTF-8"),
        ])
        .stdin(Stdio::null())
        .output()
        .expect("mksh runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.replace(&*bin.to_string_lossy(), "/system/bin");
    let text = text.replace(&*folder.path().join("work").to_string_lossy(), "/data/local/tmp");
    let lines = text.split_inclusive('\n').filter_map(as_on_android);
    (output.status.code().unwrap_or(-1), lines.collect())
}

/// A line as Android's mksh (R59c) prints it. Debian's is a later one, which prints a letter before
/// its messages and has other words in some.
fn as_on_android(line: &str) -> Option<String> {
    let Some(message) = line.strip_prefix("E: ").or_else(|| line.strip_prefix("W: ")) else {
        return Some(line.to_owned());
    };
    for (later, own) in [("create", "create"), ("open", "open")] {
        if let Some((before, reason)) = message.split_once(&format!(": {later}: "))
            && let Some((shell, path)) = before.rsplit_once(": ")
        {
            return Some(format!("{shell}: can't {own} {path}: {reason}"));
        }
    }
    if let Some(before) = message.strip_suffix(": bad number: Invalid argument\n") {
        let number = before.rsplit_once(": ").map_or(before, |(_, number)| number);
        return Some(format!("{before}: bad number '{number}'\n"));
    }
    (!message.ends_with(": redirection failure\n")).then(|| message.to_owned())
}

async fn in_memory(machine: &Machine, script: &str) -> (i32, String) {
    let script = format!("cd /data/local/tmp; rm -rf * .[!.]*\n{script}");
    let ended = tokio::time::timeout(MAX_TIME, machine.all(&script)).await;
    ended.map_or_else(|_| (-1, "hangs".to_owned()), |(status, out, _)| (status, out))
}
