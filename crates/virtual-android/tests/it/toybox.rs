//! Compares the phone's programs with the real ones: both must print the same and exit with the
//! same status.
//!
//! Android's programs are toybox's, and Debian packages that; its `awk` is compared with whatever
//! `awk` there is. What is not installed is skipped, unless `THUMBWIRE_REQUIRE_REAL` is set. What
//! the phone answers is a golden too, for machines without them.

use crate::common::Wired;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use thumbwire_test_support::program;

/// Files that every script finds.
const FILES: &str = "printf 'alpha 1\\nbeta 22\\ngamma 333\\nbeta 22\\n' > t; printf 'b\\na\\nc' > s; \
                     printf 'x,y,z\\n1,2,3\\nnone\\n' > c; mkdir -p d/e; printf 'abc\\n' > d/f; printf 'A\\n' > d/e/g; \
                     printf '\\001\\002hello\\000world!\\377\\n' > b; ";

/// Scripts for toybox's programs, with standard error.
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
    // cut, paste, comm, uniq, rev, tac, nl, tee, split
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
    "sort t > u; sort s > v; comm u v; comm -12 u u; comm -3 u v",
    "comm a",
    "uniq t",
    "sort t | uniq -c",
    "sort t | uniq -d",
    "sort t | uniq -u",
    "uniq -f 1 t",
    "uniq nofile",
    "rev t",
    "tac t",
    "tac s",
    "nl t",
    "nl -b a -w 3 -s : t",
    "nl -n rz -v 5 t",
    "echo x | tee o; cat o; echo y | tee -a o; cat o",
    "tee /nope/x < s",
    "split -l 1 t; cat xaa xab; ls x*",
    "split -b 3 s q; cat qaa",
    "split nofile",
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
    "nohup echo a; setsid -w echo b; nice -n 1 echo c",
    "nohup",
    "nohup nosuch",
    "time nosuch 2>/dev/null; echo $?",
    // Bytes.
    "od b",
    "od -c b",
    "od -An -tx1 b",
    "od -t x1 -A d b",
    "od -tu1 b",
    "od -x b",
    "od -b b",
    "od -N 3 -j 1 -tx1 b",
    "od -td4 b",
    "od -tx4 b",
    "od -ta b",
    "printf '%064d' 0 | od -c",
    "od nofile",
    "xxd b",
    "xxd -p b",
    "xxd -c 4 b",
    "xxd -g 1 b",
    "xxd -l 3 -s 2 b",
    "xxd b | xxd -r | xxd",
    "echo 616263 | xxd -r -p",
    "xxd nofile",
    "strings b",
    "strings -n 6 b",
    "cmp t t; echo $?",
    "cmp t s; echo $?",
    "cmp -s t s; echo $?",
    "cmp -l s c",
    "printf 'b\\n' | cmp s; echo $?",
    "cmp s nofile; echo $?",
    "truncate -s 3 t; cat t; truncate -s +2 t; wc -c < t",
    "truncate t",
    // Checksums.
    "sha1sum t",
    "sha256sum < t",
    "sha512sum t s",
    "sha224sum -b t",
    "sha384sum t",
    "sha256sum t > x; sha256sum -c x",
    "cksum t",
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
    "unlink t; ls t 2>/dev/null; echo $?",
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
    "cal 2 2024",
    "cal 11 2026",
    "cal 13 2020",
    "cal 2024",
    // Archives.
    "tar cf a.tar d; tar tf a.tar | sort; rm -r d; tar xf a.tar; cat d/f",
    "tar cf - d | tar tf - | sort",
    "tar cf a.tar t s; tar xOf a.tar s",
    "tar xf nofile",
    "tar",
    "sha1sum t | cut -c1-5; zcat nofile",
    "yes | head -n 3; yes a b | head -n 1",
    "hostname a b",
    "free -Q",
    "tty < /dev/null",
];

/// Scripts for awk; standard error differs.
const AWK: &[&str] = &[
    "awk '{print $1}' t",
    "awk '{print $2, $1}' t",
    "awk '{print $NF; print NF}' t",
    "awk -F, '{print $2}' c",
    "awk -F, -v OFS=: '{$1=$1; print}' c",
    "awk '/beta/' t",
    "awk '!/beta/{print NR\": \"$0}' t",
    "awk '$2>20' t",
    "awk '$2==22{n++} END{print n, NR}' t",
    "awk 'NR==2,NR==3' t",
    "awk '/beta/,/gamma/{print NR}' t",
    "awk 'BEGIN{print 1+2*3, 2^10, 7%3, -3, 1/4, 1e6, 100000000, 0.1+0.2}'",
    "awk 'BEGIN{x=5; x+=2; x*=3; print x, x++, x, --x, x^2}'",
    "awk 'BEGIN{print \"a\" 1 \"b\", 1==1.0, \"a\"<\"b\", 10<9, \"10\"<\"9\"}'",
    "awk '{s+=$2} END{print s, s/NR}' t",
    "awk '{c[$1]++} END{for(k in c) print k, c[k] | \"sort\"}' t",
    "awk 'BEGIN{a[\"x\"]=1; if(\"x\" in a) print \"in\"; delete a[\"x\"]; print (\"x\" in a), length(a)}'",
    "awk 'BEGIN{a[1,2]=3; for(k in a){split(k,p,SUBSEP); print p[1],p[2]}; print ((1,2) in a)}'",
    "awk 'BEGIN{for(i=0;i<5;i++){if(i==1)continue; if(i==4)break; print i}}'",
    "awk 'BEGIN{while(i<3)print i++; do{print \"d\"; i--}while(i>1)}'",
    "awk 'BEGIN{printf \"%d %5.2f|%-5s|%05d|%x|%c%c|%e|%g\\n\", 3.9, 3.14159, \"ab\", 42, 255, 65, \"hello\", 12345.678, 0.0001}'",
    "awk 'BEGIN{print length(\"héllo\") > 0, substr(\"hello\",2,3), index(\"hello\",\"l\"), toupper(\"aB\"), tolower(\"aB\")}'",
    "awk 'BEGIN{print substr(\"hello\",0), substr(\"hello\",4,10), substr(\"hello\",2.5,2)}'",
    "awk 'BEGIN{s=\"hello world\"; n=gsub(/o/,\"[&]\",s); print n, s; sub(/l+/,\"L\",s); print s}'",
    "awk '{gsub(/a/,\"X\"); print}' t",
    "awk '{sub(/[0-9]+/,\"<&>\",$2); print}' t",
    "awk 'BEGIN{print match(\"foobar\",/o+/), RSTART, RLENGTH; print match(\"x\",/y/), RLENGTH}'",
    "awk 'BEGIN{n=split(\"a:b:c\",p,\":\"); print n,p[1],p[3]; n=split(\" a  b \",q); print n,q[2]; print split(\"a1b22c\",r,/[0-9]+/), r[3]}'",
    "awk 'function f(n){return n<2?1:n*f(n-1)} BEGIN{print f(10)}'",
    "awk 'function g(a,k){a[k]=1} BEGIN{g(z,\"q\"); for(k in z)print k}'",
    "awk 'function h(x,  loc){loc=x*2; return loc} BEGIN{print h(4), loc}'",
    "awk 'BEGIN{while((getline line < \"s\")>0) n++; print n; close(\"s\"); getline line < \"s\"; print line}'",
    "awk 'BEGIN{\"echo hi\" | getline x; print x}'",
    "awk 'NR==1{getline; print \"got \" $0}' t",
    "awk 'BEGIN{print \"b\\na\" | \"sort\"; close(\"sort\"); print \"end\"}'",
    "awk '{print > \"o\"} END{close(\"o\"); while((getline l < \"o\")>0) print \"o:\" l}' s",
    "awk 'NR==2{next} {print} END{print \"e\"}' t",
    "awk -v x=5 'BEGIN{print x+1}'",
    "awk '{print v, $1}' v=1 s v=2 s",
    "awk 'END{print $0, NF}' t",
    "awk 'BEGIN{RS=\"\"}{print NR\": \"$1}' t",
    "awk 'BEGIN{RS=\",\"}{print NR\":\"$0}' c",
    "awk 'BEGIN{FS=\"[ ,]+\"}{print $2}' t c",
    "awk 'BEGIN{OFS=\"-\"; ORS=\";\"; print 1,2; print 3}'",
    "awk '{$5=\"x\"; print; print NF}' s",
    "awk '{NF=1; print}' t",
    "awk 'BEGIN{$3=\"c\"; print; print NF}'",
    "awk 'BEGIN{print -2^2, 2^3^2, !0, !1, 1-1-1, 2*3%4}'",
    "awk 'BEGIN{print 1>2 ? \"a\" : \"b\"}' ; cat 2 2>/dev/null",
    "awk 'BEGIN{print (1>2) ? \"a\" : \"b\"}'",
    "awk 'BEGIN{x; if(!x && x==0 && x==\"\") print \"unset\"}'",
    "awk '$1 ~ /^b/ && $2 !~ /3/ {print $1}' t",
    "awk 'BEGIN{r=\"^a\"; if(\"abc\" ~ r) print \"y\"; if(\"xbc\" ~ \"^a\") print \"n\"}'",
    "awk 'length > 7' t",
    "awk 'length($1)>4{print length}' t",
    "awk 'BEGIN { if (1) print \"a\"; else print \"b\" }'",
    "awk 'BEGIN { if (0) { print \"a\" }\nelse if (1)\nprint \"c\"\nelse print \"b\" }'",
    "awk '# comment\nBEGIN { x = 1 # another\nprint x }'",
    "awk 'BEGIN{printf(\"%s %s\\n\", \"a\", \"b\"); print(\"x\",\"y\")}'",
    "awk 'BEGIN{print substr(\"x\",1) substr(\"y\",1) \"z\"}'",
    "awk 'BEGIN{print 1 \" \" -1}'",
    "awk 'BEGIN{print int(-3.7), int(\"4x\"), sqrt(16), exp(0), log(1), atan2(0,1), sin(0), cos(0)}'",
    "awk 'BEGIN{CONVFMT=\"%.2g\"; a=3.14159; b=a \"\"; print b; print a}'",
    "awk 'BEGIN{OFMT=\"%.2f\"; print 3.14159, 17}'",
    "awk 'BEGIN{system(\"echo sys\"); print system(\"exit 4\")}'",
    "echo '5 apples' | awk '{print $1*2, $2*2, $1\"\"+1}'",
    "echo 'a/b/c' | awk -F/ '{print $2; n=split($0,p,\"/\"); print n/2}'",
    "echo 0x1A 010 1e3 | awk '{print $2+0, $3+0, ($2==10), ($3==1000)}'",
    "awk 'BEGIN{a=\"10\"; b=9; print (a<b), (a+0<b)}'",
    "echo '10 9' | awk '{print ($1<$2), ($1>$2)}'",
    "awk 'BEGIN { while (1) { if (++n > 3) break }; print n }'",
    "awk 'END{print NR}' t s c",
    "awk 'FNR==1{print FILENAME}' t s",
    "awk '{a[NR]=$0} END{for(i=NR;i>0;i--)print a[i]}' t",
    "awk 'BEGIN{printf \"%s\"}' 2>/dev/null; echo $?",
    "awk '{print' t 2>/dev/null; echo $?",
    "awk 1 nofile 2>/dev/null; echo $?",
    "awk '{ print $1 }' OFS=- t | head -n 1",
    "ls -l d | awk 'NR>1{print $NF}'",
    "awk 'BEGIN{getline; print \"first\", $1; while(getline) n++; print n}' t",
    "awk '{k=$1} k!=p{print k} {p=k}' t",
    "awk 'BEGIN{s=\"a.b.c\"; gsub(/\\./,\"-\",s); print s; gsub(\"-\",\"\\\\&\",s); print s}'",
    "awk 'BEGIN{printf \"%5s|%-5s|%.1s|%%\\n\", \"a\", \"b\", \"cd\"}'",
    "awk 'BEGIN{x[\"a\"]=1; x[\"b\"]=2; n=0; for(k in x) n+=x[k]; print n; delete x; for(k in x) print \"no\"}'",
    "awk 'function p(s){print \"<\" s \">\"} {p($1)}' s",
    "awk 'BEGIN{print length()}' < /dev/null",
    "awk '/a/{print \"a\"} /b/{print \"b\"; next} {print \"rest\"}' t",
    "awk 'BEGIN{print 010+0, 1e3, .5, 5.}'",
    "awk 'BEGIN{i=1; a[i++]=i; print i; for(k in a) print k}'",
    "awk 'BEGIN { print \"x\" > \"/dev/stderr\" }' 2>/dev/null",
];

#[tokio::test]
async fn programs_behave_as_in_toybox() {
    compare("toybox", SCRIPTS, true).await;
}

#[tokio::test]
async fn awk_scripts_behave_as_in_another_awk() {
    compare("awk", AWK, false).await;
}

#[tokio::test]
async fn programs_answer_as_recorded() {
    let wired = Wired::new();
    let mut text = String::new();
    for script in SCRIPTS.iter().chain(AWK) {
        let (status, out) = in_the_phone(&wired, script, true).await;
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

async fn compare(name: &str, scripts: &[&str], errors: bool) {
    if program(name).is_none() || program("mksh").is_none() {
        return;
    }
    let wired = Wired::new();
    let mut different = Vec::new();
    for script in scripts {
        let (real, ours) =
            (on_this_machine(script, errors), in_the_phone(&wired, script, errors).await);
        if ours != real {
            different.push(format!("{script:?}\n    real  {real:?}\n    phone {ours:?}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

fn on_path(program: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|path| path.join(program))
        .find(|path| path.exists())
}

fn on_this_machine(script: &str, errors: bool) -> (i32, String) {
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
    let text = if errors {
        format!("{FILES}\n{{ {script}\n}} 2>&1")
    } else {
        format!("{FILES}\n{script}")
    };
    let output = Command::new(bin.join("sh"))
        .args(["-c", &text])
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
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

async fn in_the_phone(wired: &Wired, script: &str, errors: bool) -> (i32, String) {
    let script = if errors { format!("{{ {script}\n}} 2>&1") } else { script.to_owned() };
    let (status, out, _) =
        wired.all(&format!("cd /data/local/tmp; rm -rf *\n{FILES}\n{script}")).await;
    (status, out)
}
