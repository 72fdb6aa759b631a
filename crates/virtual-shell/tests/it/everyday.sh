# Scripts as people write them, one after each heading, for toybox.rs: each must print the same and
# exit with the same status as Debian's mksh and toybox 0.8.9. The people had not seen this phone's
# code. Of 337 scripts those are not here that use
#   what only Debian's toybox does: `sed s/a/b/2`, `ls FILE FOLDER` with an empty line first,
#     `find -nosuch`, `timeout 5 true` with status 127;
#   what Android does not allow: hard links, other owners, folders in /proc;
#   programs that this phone does not have: tar, gzip, diff, file, fold, strings, expand, hexdump;
#   patterns such as @(a|b);
#   or a program that is not toybox's on Debian: `expr length`, `tr` without arguments.
#### one-liner 1
for i in 1 2 3; do echo $i > f$i; done; for f in *; do echo "$f: $(cat $f)"; done
#### one-liner 2
printf 'b 2\na 1\nc 3\n' > f; sort f; sort -r f; sort -k2n f; sort -k2,2nr f
#### one-liner 3
printf '10\n9\n2\n33\n' | sort -n | head -2; printf 'x\nx\ny\n' | uniq -c
#### one-liner 4
printf 'a:b:c\nd:e:f\n' | cut -d: -f2; printf 'abcdef\n' | cut -c2-4; printf 'a:b:c\n' | cut -d: -f1,3
#### one-liner 5
echo hello | tr a-z A-Z; echo hello | tr -d l; echo aabbcc | tr -s a-c; echo abc1 | tr -cd '[:digit:]'
#### one-liner 6
x=/a/b/c.tar.gz; echo ${x##*/} ${x%/*} ${x%.*} ${x%%.*} ${x#*/} ${#x}
#### one-liner 7
x=hello; echo ${x/l/L} ${x//l/L} ${x:1:3} ${x:-d} ${y:-d} ${y:=z} $y ${x:+set}
#### one-liner 8
case foo.txt in *.txt) echo t;; *) echo o;; esac; case 5 in [0-4]) echo lo;; [5-9]) echo hi;; esac
#### one-liner 9
[[ abc == a* ]] && echo yes; [[ abc = b* ]] || echo no; [[ 3 -lt 10 ]] && echo lt; [[ -z "" && -n x ]] && echo both
#### one-liner 10
cat ghost; echo $?
#### one-liner 11
ls ghost; echo $?
#### one-liner 12
rm ghost; echo $?; rm -f ghost; echo $?
#### one-liner 13
cp ghost x; echo $?; mv ghost x; echo $?
#### one-liner 14
mkdir a; mkdir a; echo $?; mkdir -p a/b/c; find . | sort
#### one-liner 15
mkdir a; touch a/f; rmdir a; echo $?; rm a; echo $?; rm -r a; echo $?
#### one-liner 16
nosuchcmd; echo $?
#### one-liner 17
ls --nosuch; echo $?
#### one-liner 18
grep; echo $?
#### one-liner 19
grep x ghost; echo $?; grep -s x ghost; echo $?
#### one-liner 20
printf 'foo\nbar\nfoobar\n' > f; grep -n foo f; grep -c foo f; grep -v foo f; grep -w foo f; grep -x foo f; grep -o 'o*b' f; grep -l foo f; grep -q zz f; echo $?
#### one-liner 21
printf 'foo1\nbar22\n' > f; grep -E '[0-9]+$' f; grep -Eo '[0-9]+' f; grep -i FOO f; grep -e foo -e bar f; grep -F '1' f
#### one-liner 22
mkdir d; echo foo > d/a; echo foo > d/b; grep -r foo d | sort; grep -rl foo d | sort; grep -rn foo . | sort; grep -h foo d/*; grep foo d
#### one-liner 23
printf '1\n2\n3\n4\n5\n' > f; grep -A1 3 f; grep -B1 3 f; grep -C1 3 f; grep -m2 . f
#### one-liner 24
printf 'a\nb\nc\n' > f; sed -n 2p f; sed 2d f; sed 's/a/X/' f; sed '$d' f; sed -n '$=' f; sed '/b/,$d' f
#### one-liner 26
printf 'a\nb\n' > f; sed -i 's/a/z/' f; cat f; sed -i.bak 's/z/y/' f; ls; cat f.bak
#### one-liner 27
printf 'a\nb\n' > f; sed '1i top' f; sed '$a end' f; sed 'y/ab/xy/' f; sed '1c ch' f; sed -n '/a/p;/b/p' f; sed = f; sed 'N;s/\n/,/' f; sed '1!G;h;$!d' f
#### one-liner 28
sed 's/a' f; echo $?; sed -n 1p ghost; echo $?
#### one-liner 29
printf 'one two\nthree\n' > f; wc f; wc -l f; wc -w < f; wc -c f; wc -l f f; cat f | wc; wc ghost; echo $?
#### one-liner 30
seq 1 20 > f; head -n 3 f; head -3 f; tail -n 2 f; tail -2 f; tail -n +18 f; head -c 5 f; tail -c 4 f; head -n -17 f
#### one-liner 31
seq 3 > a; seq 2 > b; head -n1 a b; tail -n1 a b; head -q -n1 a b; head ghost; echo $?; tail ghost; echo $?
#### one-liner 32
printf 'a b\nc\n' | xargs echo X; seq 5 | xargs -n2 echo; printf 'a\nb\n' | xargs -I{} echo 'f {}'; printf 'a b\0c\0' | xargs -0 -n1 echo
#### one-liner 33
echo | xargs echo hi; printf '' | xargs echo hi; printf '' | xargs -r echo hi; echo 1 | xargs false; echo $?; echo 1 | xargs nosuch; echo $?
#### one-liner 34
mkdir -p d/e; touch d/a.txt d/e/b.txt d/c.log; find d -name '*.txt' | sort; find d -type d; find d -type f -name '*.log' -exec echo got {} \;; find d -maxdepth 1 | sort; find . -name '*.txt' -exec echo {} + | wc -w; find ghost; echo $?
#### one-liner 36
echo hi > f; chmod 644 f; stat -c '%a %A %s %n %F' f; stat -c %a ghost; echo $?; mkdir d; stat -c '%F %a' d; ln -s f l; stat -c '%F %N' l; stat -L -c %F l
#### one-liner 37
touch f; chmod u+x,g-r f; stat -c %a f; chmod a=r f; stat -c %A f; chmod +w f; stat -c %a f; chmod go= f; stat -c %a f; chmod 4755 f; stat -c '%a %A' f; chmod zz f; echo $?; chmod 644 ghost; echo $?
#### one-liner 39
echo a > s; echo abcdef > l; touch -d '2020-01-01 10:00' s; touch -d '2021-01-01 10:00' l; ls -S; ls -t; ls -tr; ls -1Sr
#### one-liner 40
touch -d '2020-01-02 03:04:05' f; stat -c %y f; stat -c %Y f; date -r f '+%Y-%m-%d %H:%M:%S'; ls -l f | tr -s ' ' | cut -d' ' -f1,2,5-
#### one-liner 41
date -d @0; date -u -d '2024-02-29 12:00:00' '+%Y-%m-%dT%H:%M:%SZ'; date -d @1700000000 +%s; date -d '2024-01-01' '+%A %j %U %b %d'; date -d bogus; echo $?
#### one-liner 42
ln -s a b; readlink b; readlink -f b; echo $?; touch a; readlink -f b; realpath b; realpath ghost; echo $?; readlink a; echo $?; ls -l b | sed 's/.* b/b/'; ln -s a b; echo $?
#### one-liner 44
basename /a/b.txt .txt; basename /a/b/; dirname /a/b/c; dirname f; basename; echo $?; dirname /
#### one-liner 45
echo hello | base64; echo aGVsbG8K | base64 -d; printf %080d 1 | base64; printf %080d 1 | base64 -w0; echo; echo '!!' | base64 -d; echo $?
#### one-liner 46
echo hi > f; md5sum f; sha1sum f; sha256sum f; md5sum < f; sha256sum f > s; sha256sum -c s; md5sum ghost; echo $?; echo -n | md5sum
#### one-liner 47
echo a > x; echo b > y; cmp x y; echo $?; cmp x x; echo $?; cmp -s x y; echo $?; cmp x ghost; echo $?
#### one-liner 48
seq 3; seq 2 2 6; seq 5 -2 1; seq -s, 3; seq -w 8 10; seq 0 .5 1; seq; echo $?; seq a; echo $?
#### one-liner 50
printf '%s-%s\n' a b c; printf '%5d|%-5s|%05.1f\n' 3 ab 2.55; printf '%x %o %X %c\n' 255 8 255 abc; printf '%b\n' 'a\tb'; printf '%q\n' 'a b'; printf '%d\n' abc; echo $?; printf; echo $?
#### one-liner 51
echo -e 'a\tb'; echo -n x; echo; echo 'a\nb'; echo -E 'a\nb'; echo -- x; echo -en 'a\x41\n'
#### one-liner 52
cat <<X
a $((1+2)) $(echo hi)
X
#### one-liner 53
cat <<'X'
a $x `b`
X
#### one-liner 54
f() { local x=1; x=$((x+$1)); echo $x; return 3; }; x=9; f 4; echo $? $x
#### one-liner 55
i=0; while [ $i -lt 3 ]; do i=$((i+1)); [ $i = 2 ] && continue; echo $i; done; until [ $i = 0 ]; do let i--; done; echo $i
#### one-liner 56
echo $((7/2)) $((7%3)) $((2*3+1)) $((1<<4)) $((0x1f)) $((010)) $((5>3)) $((1?2:3)); ((x=5)); ((x++)); echo $x; echo $((1/0)); echo $?
#### one-liner 57
touch 'a b' "c'd" '*x'; for f in *; do echo "[$f]"; done; ls; rm -- 'a b' '*x'; ls
#### one-liner 58
touch a1 a2 b1; echo *; echo a?; echo [ab]1; echo zz*; echo {x,y}1
#### one-liner 59
exec >log; echo hi; cat log >&2
#### one-liner 60
set -e; false; echo no
#### one-liner 61
set -- a b c; echo $# $1 "$@" $*; shift; echo $1; for x; do echo $x; done
#### one-liner 62
while read a b; do echo "$b $a"; done <<X
1 2
3 4 5
X
#### one-liner 63
IFS=:; set -- $(echo a:b:c); echo $2; IFS=, read x y <<X
p,q
X
echo $x $y
#### one-liner 64
(echo a; echo b >&2) 2>/dev/null; echo c >/nodir/x; echo $?; ls nofile 2>/dev/null || echo failed
#### one-liner 65
a=(1 2 3); echo ${a[1]} ${#a[@]} ${a[@]}; for i in "${a[@]}"; do echo $i; done
#### one-liner 66
true && echo a || echo b; ! true; echo $?; false | true; echo $?; (exit 7); echo $?
#### one-liner 67
set -u; echo $nope; echo after
#### one-liner 68
echo ${x:?missing}; echo after
#### one-liner 69
trap 'echo bye' EXIT; echo hi; exit 3
#### one-liner 70
mkdir -p s/t; echo 1 > s/t/f; cp -r s d; find d | sort; cp s d2; echo $?; cp -rv s d3; mv -v d3 d4
#### one-liner 71
touch a b; cp a b nodir; echo $?; cp a b; mv a b c; echo $?; rm -rf nodir; rm; echo $?; mkdir; echo $?; touch; echo $?
#### one-liner 72
echo hi > f; ln -s f l; test -f f && echo 1; [ -L l ] && echo 2; [ -d . ] && echo 3; [ -e zz ] || echo 4; [ -s f ] && echo 5; [ 1 -eq a ]; echo $?; [ a; echo $?
#### one-liner 73
printf 'a\tb\n' | cut -f2; echo a,b | cut -d, -f2-; cut; echo $?; echo x | sort -u -; printf 'b\na\nb\n' | sort | uniq -d; printf 'B\na\n' | sort -f
#### one-liner 75
case $(uname) in Linux) echo L;; esac; type cd; type ls; command -v echo; which nosuch; echo $?; alias q='echo q'; eval 'echo $((1+1))'
#### one-liner 76
echo "a'b\"c" 'x"y' $'t\tz' a\ b "$(echo "n q")"; echo `echo \`echo in\``; : > e; cat e; cat -n <<X
l1
l2
X
#### one-liner 77
echo hi | cat -; cat -e <<X
a
X
cat --nosuch; echo $?; seq 3 | tail -n +2 | head -1; echo a | grep -E '('; echo $?; sort ghost; echo $?; cut -c1 ghost; echo $?
#### one-liner 78
umask; umask 027; umask; touch q; stat -c %a q
#### one-liner 79
let i=5; echo $i; let i-- ; echo $i; let "i=i*2"; echo $i
#### one-liner 80
printf '%.2f %05.1f %e %g\n' 3.14159 2.5 100 0.5
#### one-liner 81
printf '%03d|%+d|%-4d|%u\n' 7 7 7 7; printf '%5s|%.2s\n' abc abc; printf '%s %s\n' a; printf 'a%%\n'; printf '\x41\101\n'
#### one-liner 84
readonly r=1; r=2; echo $r
#### one-liner 85
export A=1; sh -c 'echo $A'; B=2 env | grep ^B=; unset A; echo [$A]
#### one-liner 86
typeset -i n=5; n=n+1; echo $n; typeset -u u=abc; echo $u
#### one-liner 87
function g { echo "g $1"; }; g x; unset -f g; g; echo $?
#### one-liner 88
while getopts ab:c o -a -b v; do echo $o $OPTARG; done
#### one-liner 89
select=1; for ((i=0;i<3;i++)); do echo $i; done
#### one-liner 90
echo a | while read l; do echo "<$l>"; done; read x < /dev/null; echo $?; read -r y <<< "he\\re"; echo $y
#### one-liner 91
diff=$(printf 'x\ny\n'); echo "$diff"; echo $diff; echo ${#diff}; s="a  b"; echo $s; echo "$s"
#### one-liner 92
[[ abc =~ b ]]; echo $?; [ "a" \< "b" ]; echo $?; [[ a < b ]] && echo lt; [ -n "" -o -z "" ] && echo or
#### one-liner 93
cd /nonexist; echo $?; cd ..; cd - >/dev/null; pushd . ; echo $?; source /nofile; echo $?; . ./nof; echo $?
#### one-liner 94
echo x > f; cat < f > g; cat f >> g; cat g; echo z 1>&2; exec 3<f; read a <&3; echo $a
#### one-liner 95
exec 5>o; echo hi >&5; cat o
#### one-liner 96
find . -name a -o -name b; mkdir x; touch x/1 x/2; touch -d '2024-01-01 00:00:00' x/1; find x -type f | xargs ls; find x -type f -print0 | sort -z | xargs -0 -n1 basename; find x ! -name 1; find x -newer x/1; find x -size 0 -mindepth 1 | sort
#### one-liner 98
printf 'c 3\na 1\nb 2\na 1\n' | sort | uniq -c | sort -rn; printf '1.5\n1.10\n' | sort -g; printf '2K\n1M\n' | sort -h; printf 'v10\nv9\n' | sort -V; printf 'a,2\nb,1\n' | sort -t, -k2; printf 'b\na\n' | sort -c; echo $?
#### one-liner 99
x=abc; echo ${x^^}; echo after
#### one-liner 100
x=file.txt; echo ${x:0:4} ${x: -3} ${x#*.} ${x/%txt/md} ${x@Q}
#### one-liner 101
echo $(( 1.5 + 1 )); echo after
#### one-liner 102
if; echo x
#### one-liner 103
echo "unterminated
#### one-liner 104
for i in 1 2; do echo $i
#### one-liner 105
echo )
#### one-liner 108
mkdir d; cp d e; echo $?; cp -r d d; echo $?; touch f; cp f f; echo $?; mv f f; echo $?; mv d f; echo $?; rmdir nope; echo $?; cat d; echo $?; head d; echo $?; wc d; echo $?; sed p d; echo $?; sort d; echo $?; md5sum d; echo $?
#### one-liner 110
ls *.zip; echo $?
#### one-liner 111
echo ${KSH_VERSION:+set} $0 $PPID >/dev/null; echo ${KSH_VERSION:+set}
#### one-liner 112
x=file.txt; echo ${x: -3}; echo ${x/%txt/md}
#### one-liner 113
x=a.b; echo ${x@Q}
#### one-liner 114
x=aab; echo ${x/#a/z} ${x//a} ${x/a/}
#### one-liner 115
((x=5)); echo $x
#### one-liner 116
x=3; if (( x > 2 )); then echo big; fi
#### one-liner 117
x=1; : $((x++)); echo $x; : $((x+=4)); echo $x
#### one-liner 118
[ "a" \< "b" ]; echo $?; [[ a < b ]] && echo lt; [ -n "" -o -z "" ] && echo or; [ a -a b ]; echo $?
#### one-liner 119
echo a > f; exec < f; read x; echo $x
#### one-liner 120
alias ll='ls -l'; echo ok
#### one-liner 122
printf '%d\n' abc; echo $?; printf '%d\n' 0x10; printf '%s\n'
#### one-liner 123
printf '%+.3d|%8.2f|%-8s|\n' 5 1.234 ab
#### one-liner 124
set -o pipefail; false | true; echo $?
#### one-liner 125
set -x; echo hi; y=1
#### one-liner 126
wait; echo a & wait; echo $!  >/dev/null; echo done
#### one-liner 127
kill -0 $$; echo $?; ulimit -n >/dev/null; echo $?; times >/dev/null; echo $?; hash -r; echo $?
#### one-liner 128
declare -i x=1; echo $?; local z=1; echo $?
#### one-liner 129
print hi; print -n a; print -r 'a\nb'
#### one-liner 130
select x in a b; do echo $x; break; done < /dev/null; echo $?
#### one-liner 132
echo 'a' | sed 's/a/b/w o'; cat o; echo x | sed -e 's/x/y/' -e 's/y/z/'; printf 'a\nb\nc\n' | sed -n '2{p;q}'; echo hi | sed 's/h/\n/'; echo hi | sed 's/$/!/;s/^/>/'; printf '1\n2\n3\n4\n' | sed -n '0~2p'; sed
#### wait for a file, at most five tries
tries=0
until [ -f ready ]; do
    tries=$((tries + 1))
    [ $tries -ge 3 ] && touch ready
    [ $tries -gt 5 ] && { echo timeout; break; }
done
echo "ready after $tries"
#### wait for a background job's file
(sleep 0.1; echo done > flag) &
n=0
while [ ! -s flag ]; do sleep 0.05; n=$((n+1)); [ $n -gt 100 ] && exit 1; done
cat flag
#### retry a command until it works
attempt() { count=$((count+1)); [ $count -ge 3 ]; }
count=0
for i in 1 2 3 4 5; do
    if attempt; then echo "ok at $i"; break; else echo "try $i failed"; fi
done
#### a deadline in seconds
end=$((SECONDS + 2)); i=0
while (( SECONDS < end )); do i=$((i+1)); sleep 0.2; done
[ $i -gt 2 ] && echo looped
#### names of packages from pm's list
list() { printf 'package:com.android.settings\npackage:org.example.app\npackage:com.android.phone\n'; }
list | sed 's/^package://' | sort
list | cut -d: -f2 | grep -v android
for p in $(list | cut -f2 -d:); do echo "[$p]"; done
#### apk paths of packages
printf 'package:/data/app/~~a==/org.example-1/base.apk=org.example\npackage:/system/app/X/X.apk=com.x\n' > list
sed -e 's/^package://' -e 's/\(.*\)=\(.*\)/\2 \1/' list
while IFS= read -r line; do
    line=${line#package:}
    echo "${line##*=} -> ${line%=*}"
done < list
#### uninstall in a loop, dry
for p in a.b c.d; do echo pm uninstall "$p"; done | sh -c 'while read -r cmd sub pkg; do echo "$cmd/$sub/$pkg"; done'
#### pid of a process from ps
printf 'USER PID PPID NAME\nshell 123 1 app_a\nshell 456 1 app_b\n' > ps.txt
pid=$(grep app_b ps.txt | tr -s ' ' | cut -d' ' -f2); echo $pid
while read user pid ppid name; do [ "$name" = app_a ] && echo $pid; done < ps.txt
#### a property's value
prop='[ro.build.version.sdk]: [34]'
v=${prop#*: \[}; v=${v%]}; echo $v
if [ "$v" -ge 30 ]; then echo modern; else echo old; fi
#### properties to a table
printf '[a.b]: [1]\n[c.d]: [x y]\n[e]: []\n' | sed 's/[][]//g' | while IFS=: read k v; do printf '%-6s=%s\n' "$k" "${v# }"; done
#### settings backup and restore
set -- low_power=0 volume=7
for kv in "$@"; do k=${kv%%=*}; v=${kv#*=}; echo "settings put global $k $v"; done
#### log collection
mkdir logs
for n in 1 2 3; do echo "E/Tag: error $n" > logs/log$n.txt; echo "I/Tag: info" >> logs/log$n.txt; done
cat logs/*.txt | grep -c '^E/'
grep -l 'error 2' logs/*
grep -h '^E' logs/*.txt | sed 's/.*: //'
#### the last lines of every log
mkdir l; seq 1 5 > l/a; seq 10 14 > l/b
for f in l/*; do echo "== $f"; tail -n 2 "$f"; done
tail -n 1 l/a l/b
#### rotate logs
for i in 3 2 1; do [ -f log.$i ] && mv log.$i log.$((i+1)); echo "log $i" > log.$i; done
[ -f log.1 ] && mv log.1 log.2
ls; cat log.2
#### count errors by tag
printf 'E/A: x\nW/B: y\nE/A: z\nE/C: q\n' > log
grep '^E/' log | cut -d: -f1 | sort | uniq -c | sort -rn
grep -c . log; grep -vc '^E' log
#### split a log at a marker
printf 'a\nMARK\nb\nc\n' > log
sed -n '/MARK/,$p' log | tail -n +2
sed '/MARK/q' log
sed -n '1,/MARK/p' log | wc -l
#### crash extraction
printf 'ok\nFATAL EXCEPTION: main\n  at a.b\n  at c.d\nend\n' > log
grep -A2 FATAL log
grep -n 'at ' log | head -1
sed -n '/FATAL/,/^end/p' log | sed '$d'
#### logcat line's fields
line='03-05 10:09:00.123  1234  1250 E ActivityManager: ANR in org.example'
set -- $line
echo "$1 $2 pid=$3 level=$5"
msg=${line#*: }; echo "$msg"
echo "$line" | sed -E 's/^([0-9-]+) ([0-9:.]+) .*$/\1T\2/'
#### temporary folder with clean-up
tmp=$(mktemp -d ./tmp.XXXXXX) || exit 1
trap 'rm -rf "$tmp"; echo cleaned' EXIT
echo x > "$tmp/f"; cat "$tmp"/f
#### clean-up on error
set -e
trap 'echo "failed with $?"' EXIT
true
ls nofile 2>/dev/null
echo unreachable
#### set-up and tear-down
setup() { mkdir -p work && echo setup; }
teardown() { rm -rf work; echo teardown; }
run() { "$@"; echo "status $?"; }
setup; run test -d work; run false; teardown; run test -d work
#### a test runner
pass=0 fail=0
check() {
    if [ "$2" = "$3" ]; then pass=$((pass+1)); else fail=$((fail+1)); echo "FAIL $1: expected '$3', got '$2'"; fi
}
check one "$(echo a)" a
check two "$(expr 1 + 1)" 3
check three "$(printf '%03d' 7)" 007
echo "$pass passed, $fail failed"; [ $fail -eq 0 ]
#### usage message with exit
usage() { cat <<EOF
usage: ${0##*/} [-v] [-o FILE] NAME
  -v   verbose
EOF
exit 2; }
[ $# -ge 1 ] || usage >/dev/null
echo not reached
#### options with getopts
parse() {
    OPTIND=1; verbose=0; out=
    while getopts "vo:h" opt; do
        case $opt in
            v) verbose=1;;
            o) out=$OPTARG;;
            h) echo help; return;;
            *) echo bad; return 1;;
        esac
    done
    shift $((OPTIND - 1))
    echo "verbose=$verbose out=$out rest=$*"
}
parse -v -o file a b; parse -ofile c; parse -vh; parse x -v
#### getopts refuses
f() { OPTIND=1; while getopts :a:b o; do echo "$o,$OPTARG"; done; echo $OPTIND; }
f -x -b -a; f -a 1 -- -b; f -ba2 q
#### options by hand
set -- -f in.txt --dry-run -- rest
while [ $# -gt 0 ]; do
    case "$1" in
        -f) file=$2; shift 2;;
        --dry-run) dry=yes; shift;;
        --) shift; break;;
        -*) echo "unknown $1"; exit 1;;
        *) break;;
    esac
done
echo "$file $dry $*"
#### long option with a value
for a in --port=8080 --name='my phone' --quiet; do
    case $a in --*=*) k=${a%%=*}; echo "${k#--}: ${a#*=}";; --*) echo "flag ${a#--}";; esac
done
#### defaults from the environment
: ${DEVICE:=emulator-5554} "${PORT:=5037}"
echo $DEVICE:$PORT
DEVICE= ; echo "${DEVICE:-none}" "${DEVICE-none}"
#### required argument
f() { local name=${1:?name missing}; echo "hi $name"; }
f bob; (f); echo "status $?"
#### sum of numbers
sum=0; for n in 3 5 8; do sum=$((sum + n)); done; echo $sum
total=0; while read n; do (( total += n )); done <<EOF
10
20
12
EOF
echo $total
#### average with awk's absence
set -- 10 20 33; s=0; for x; do ((s+=x)); done; echo "$((s / $#)).$(( (s * 10 / $#) % 10 ))"
#### percentage
used=45 total=120; echo "$((used * 100 / total))%"
printf '%d%%\n' $((used*100/total))
#### hex and decimal
printf '%d\n' 0xff; printf '0x%04X\n' 255; echo $((0xff + 1)) $((16#1f)) $((2#101))
#### counting down
for i in $(seq 3 -1 1); do printf '%s... ' $i; done; echo go
i=3; while ((i)); do echo $i; ((i--)); done
#### even and odd
for i in 1 2 3 4; do if ((i % 2 == 0)); then echo "$i even"; else echo "$i odd"; fi; done
#### maximum
max=0; for n in 3 9 4; do [ $n -gt $max ] && max=$n; done; echo $max
a=5 b=7; echo $(( a > b ? a : b ))
#### factorial by recursion
fact() { if [ $1 -le 1 ]; then echo 1; else echo $(( $1 * $(fact $(($1 - 1))) )); fi; }; fact 6
#### fibonacci
a=0 b=1; for i in 1 2 3 4 5 6 7; do echo -n "$a "; t=$((a+b)); a=$b; b=$t; done; echo
#### bits of a mode
m=$((0755)); printf '%o %o %o\n' $((m >> 6 & 7)) $((m >> 3 & 7)) $((m & 7)); echo $((m & ~18)) $((1 << 10)) $((m ^ m))
#### increments and assignments
x=5; echo $((x++)) $x $((++x)) $((x--)) $((--x)); ((x *= 3)); echo $x; ((x /= 2, x -= 1)); echo $x; ((x <<= 2)); echo $x; ((x %= 5)); echo $x $((y = x + 1)) $y
#### status of an arithmetic command
((1)); echo $?; ((0)); echo $?; let x=0; echo $?; let "y = 3 * 4" z=y+1; echo $? $y $z
((5 > 3 && 2 < 1)) || echo no
#### division by zero stops the script
echo before; x=$((10 / 0)); echo after
#### let with a bad expression
let 'x = 1 +'; echo $?; let; echo $?
#### elapsed time
t0=$(date +%s); t1=$(date +%s); d=$((t1 - t0)); [ $d -le 1 ] && echo fast
printf '%02d:%02d\n' $((125 / 60)) $((125 % 60))
#### date arithmetic
t=1700000000; date -u -d @$t '+%Y-%m-%d %H:%M:%S'; date -u -d @$((t + 86400)) +%F; date -u -d '2024-03-01 00:00:00' +%s
#### stamp in a file name
name=shot_$(date -u -d @0 +%Y%m%d_%H%M%S).png; touch "$name"; ls
#### arrays of ksh
set -A fruits apple banana cherry
echo ${fruits[0]} ${fruits[2]} ${#fruits[*]}
fruits[3]=date; echo "${fruits[@]}"
i=1; echo ${fruits[i]} ${fruits[$i]} ${fruits[i+1]}
for f in "${fruits[@]}"; do echo "- $f"; done
#### arrays of bash's spelling
devices=(emulator-5554 R58M 'with space')
echo ${#devices[@]}; for d in "${devices[@]}"; do echo "<$d>"; done
devices+=(last); echo ${devices[3]} $devices; unset devices[1]; echo "${devices[*]}" "${!devices[*]}"
#### lines to an array
set -A lines; n=0
while read -r l; do lines[n]=$l; n=$((n+1)); done <<EOF
first line
second
EOF
echo "$n ${lines[0]} ${#lines[1]} ${lines[9]:-none}"
#### array from a command
arr=($(printf 'b\na\nc\n' | sort)); echo "${arr[0]}-${arr[2]}" ${#arr[*]}
arr[10]=x; echo ${#arr[*]} ${!arr[@]}; arr=(); echo ${#arr[*]}
#### array in arithmetic
set -A n 3 4 5; echo $((n[0] + n[2])); ((n[1] *= 10)); echo ${n[1]}
#### sum over an array
set -A n 3 4 5; s=0; i=0; while [ $i -lt ${#n[*]} ]; do s=$((s + ${n[i]})); i=$((i+1)); done; echo $s
#### a stack of folders
mkdir -p a/b; cd a; cd b; cd ..; basename "$PWD"; cd - >/dev/null; basename $PWD; (cd ..; basename "$(pwd)"); basename $(pwd)
#### where the script is
echo 'echo "${0##*/} in ${0%/*}"' > s.sh; sh ./s.sh; chmod +x s.sh; ./s.sh
#### a script with arguments
cat > greet.sh <<'EOF'
#!/system/bin/sh
name=${1:-world}
shift
echo "hello $name ($# more: $*)"
exit $#
EOF
sh greet.sh; sh greet.sh you a 'b c'; echo $?
#### source a library
cat > lib.sh <<'EOF'
VERSION=3
say() { echo "lib says $1"; }
EOF
. ./lib.sh; say hi; echo $VERSION
source ./lib.sh && echo again
#### source with arguments
echo 'echo $# $1; set -- changed' > inc; set -- x y; . ./inc a b c; echo $1; . ./inc; echo $1
#### a missing library stops the script
echo start; . ./nolib.sh; echo not reached
#### configuration file
printf '# comment\nhost=example.org\n\nport = 80\n' > conf
while IFS='= ' read -r key value; do
    case $key in ''|'#'*) continue;; esac
    echo "$key -> $value"
done < conf
grep -v '^#' conf | grep -v '^$' | wc -l
#### change a value in a file
printf 'debug=0\nlevel=info\n' > conf
sed -i 's/^debug=.*/debug=1/' conf; grep ^debug conf
sed -i "s|^level=.*|level=a/b|" conf; cat conf
grep -q '^new=' conf || echo new=yes >> conf; tail -n1 conf
#### comment and uncomment lines
printf 'a\nb\n#c\n' > f; sed -i '/^b/s/^/#/' f; sed 's/^#//' f; cat f
#### delete blank lines and trim
printf '  a  \n\n\tb\n   \n' > f; sed '/^[[:space:]]*$/d' f | sed 's/^[[:space:]]*//;s/[[:space:]]*$//' | cat -e
#### unify line ends
printf 'a\r\nb\r\n' > dos; tr -d '\r' < dos | cat -e; sed 's/\r$//' dos | wc -c
#### join lines
printf 'a\nb\nc\n' | paste -sd, -; printf 'a\nb\n' | tr '\n' ' '; echo; printf 'x\ny\n' | sed ':a;N;$!ba;s/\n/+/g'
#### reverse things
seq 3 | tac; echo abc | rev; for w in a b c; do r="$w $r"; done; echo $r
#### number lines
printf 'x\ny\n' | nl; printf 'x\ny\n' | cat -n; printf 'x\ny\n' | grep -n .; n=0; printf 'x\ny\n' | while read l; do n=$((n+1)); echo "$n:$l"; done
#### columns of text
printf 'a 1 x\nb 22 y\n' > t; cut -d' ' -f2 t; while read a b c; do echo "$c $a"; done < t; sed 's/ .* / /' t
#### awk-like sum of a column
printf 'a 1\nb 22\n' > t; s=0; while read k v; do s=$((s+v)); done < t; echo $s; cut -d' ' -f2 t | paste -sd+ | sed 's/.*/echo $((&))/' | sh
#### unique words
echo 'the cat the dog the cat' | tr ' ' '\n' | sort | uniq -c | sort -k1,1nr -k2 | while read n w; do echo "$w=$n"; done
#### upper and lower case
s=Hello; echo $s | tr '[:lower:]' '[:upper:]'; typeset -l low=$s; echo $low; typeset -u up=$s; echo $up; echo $s | tr A-Za-z N-ZA-Mn-za-m
#### padding and alignment
printf '|%-8s|%8s|\n' left right; printf '%s\n' ---------- | cut -c1-4
#### integer variables
typeset -i n=5 m; n=n*2; m=n+1; echo $n $m; n=0x10; echo $n; integer k=7; k+=3; echo $k
#### integer gets no number
typeset -i n; n=abc; echo "<$n>"; n=3x; echo after
#### string appended
s=a; s+=b; s+=c$s; echo $s; PATH_LIKE=/a; PATH_LIKE+=:/b; echo $PATH_LIKE
#### substring tests
s=com.example.app; case $s in *example*) echo has;; esac; [[ $s == com.* ]] && echo starts; [ "${s%app}" != "$s" ] && echo ends; [ -z "${s##*.app}" ] && echo app
echo "$s" | grep -q exam && echo found; expr "$s" : 'com\.' ; expr "$s" : '.*\.\(.*\)'
#### character by character
s=abc; while [ -n "$s" ]; do c=${s%"${s#?}"}; s=${s#?}; echo -n "$c-"; done; echo; s=xyz; i=0; while [ $i -lt ${#s} ]; do echo ${s:i:1}; i=$((i+1)); done
#### split a version
v=14.2.7; IFS=. read major minor patch <<< "$v"; echo $major/$minor/$patch; oldIFS=$IFS; IFS=.; set -- $v; IFS=$oldIFS; echo $# $2
#### compare versions
printf '1.10\n1.9\n1.2.3\n' | sort -V; [ "$(printf '1.9\n1.10\n' | sort -V | tail -n1)" = 1.10 ] && echo newer
#### file name parts
f=/sdcard/DCIM/IMG_1.tar.gz; d=${f%/*}; b=${f##*/}; echo $d $b ${b%%.*} ${b#*.} ${b##*.}; dirname $f; basename $f .gz
#### rename in bulk
touch a.jpeg b.jpeg 'c d.jpeg'; for f in *.jpeg; do mv -- "$f" "${f%.jpeg}.jpg"; done; ls
n=1; for f in *.jpg; do mv "$f" $(printf 'img_%02d.jpg' $n); n=$((n+1)); done; ls
#### upper-case file names
touch Foo.TXT BAR.txt; for f in *; do n=$(echo "$f" | tr A-Z a-z); [ "$f" = "$n" ] || mv "$f" "$n"; done; ls
#### files by size and age
printf 12345 > big; printf 1 > small; touch -d '2020-01-01 00:00:00' small; touch -d '2021-01-01 00:00:00' big
ls -S; ls -t; find . -type f -size -3c; find . -type f -mtime +30 | sort; [ big -nt small ] && echo newer
#### keep the newest three
for i in 1 2 3 4 5; do touch -d "2024-01-0$i 00:00:00" s$i; done; ls -t | tail -n +4 | xargs rm; ls
#### free a folder of old files
mkdir d; touch d/new; touch -d '2001-01-01 00:00:00' d/old; find d -type f -mtime +100 -exec rm {} \;; ls d; find d -type f -exec ls {} +
#### find and grep
mkdir -p src/a; echo 'TODO one' > src/a/x.c; echo none > src/y.c; grep -rn TODO src; find src -name '*.c' -exec grep -l none {} \;; find src -name '*.c' | xargs grep -c TODO | sort
#### find with several names
touch a.png b.jpg c.txt; find . \( -name '*.png' -o -name '*.jpg' \) | sort; find . -type f ! -name '*.txt' | sort | xargs -n1 basename
#### empty files and folders
mkdir -p e/f g; touch e/z; find . -type d -empty | sort; find . -type f -empty; rmdir g; find . -mindepth 1 -maxdepth 1
#### file names with spaces
mkdir 'my dir'; echo hi > 'my dir/my file'; for f in my\ dir/*; do cat "$f"; done; find . -type f -print0 | xargs -0 cat; cp 'my dir/my file' "copy of file"; ls; rm -r 'my dir'; ls
#### a name that begins with a dash
touch -- -n; ls; rm ./-n; ls | wc -l; echo x > ./-f; cat ./-f; rm -- -f
#### unquoted variable breaks
f='a b'; touch $f; ls; rm a b; touch "$f"; ls; [ -f $f ] 2>/dev/null; echo $?; [ -f "$f" ]; echo $?
#### glob in a variable
touch x1 x2; p='x*'; echo $p "$p" '$p'; set -- x*; echo $#; for f in none*; do [ -e "$f" ] || echo "no match: $f"; done
#### hidden files
touch .a b; ls; ls -A; echo *; echo .[a-z]*; for f in .[!.]* *; do echo $f; done
#### brace expansion
echo {a,b,c}.txt; mkdir -p p/{x,y}/z; find p | sort; echo {1..3}; cp p/x/{,q} 2>/dev/null; echo $?
#### copy a tree and compare
mkdir -p src/sub; echo 1 > src/f; echo 2 > src/sub/g; cp -r src dst; cmp src/sub/g dst/sub/g && echo same; echo 3 > dst/f; cmp src/f dst/f; cmp -s src/f dst/f || echo differs
#### compare files
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp x y; echo $?; cmp x x && echo equal; printf 'a\n' > z; cmp x z; echo $?; cmp -l x y
#### lines in one list only
printf 'a\nb\nc\n' > x; printf 'b\nd\n' > y; comm x y; comm -23 x y; comm -13 x y; comm -12 x y; grep -vxFf y x
#### checksum check
echo data > f; md5sum f | cut -d' ' -f1; sum=$(sha256sum < f | cut -c1-8); echo $sum; md5sum f > f.md5; md5sum -c f.md5; echo changed > f; md5sum -c f.md5; echo $?
#### encode and decode
echo -n secret | base64; echo c2VjcmV0 | base64 -d; echo; printf 'AB' | xxd -p; echo 4142 | xxd -r -p; echo; printf 'hi' | xxd
#### pieces of a file
seq 10 > f; split -l 4 f part.; ls part.*; wc -l part.*; cat part.* | cmp - f && echo whole; head -c 5 f | wc -c; dd if=f bs=1 skip=2 count=3 2>/dev/null
#### make a file of a size
dd if=/dev/zero of=z bs=1024 count=4 2>/dev/null; stat -c %s z; truncate -s 100 z; wc -c < z; : > z; [ -s z ] || echo empty; truncate -s +5 z; wc -c z
#### numbered backups
echo v1 > f; for i in 1 2; do cp f f.bak$i; echo v$((i+1)) > f; done; cat f f.bak1 f.bak2; cp -n f.bak1 f; cat f
#### links
echo x > real; ln -s real link; cat link; [ -L link ] && readlink link; rm link; ls; ln -s /nowhere broken; [ -e broken ] || echo dangling; ls -l broken | sed 's/.*broken/broken/'; ln -sf real broken; cat broken
#### permissions in scripts
echo 'echo run' > s; ./s; echo $?; chmod 755 s; ./s; chmod 644 s; stat -c '%a %A' s; ls -l s | cut -c1-10; [ -x s ] || echo 'not executable'; sh s
#### umask
umask 077; touch private; mkdir pd; stat -c '%a %n' private pd; umask 022; touch public; stat -c %a public; (umask 0; touch open; stat -c %a open); umask; umask -S
#### here-document to a file
name=phone; cat > out.txt <<EOF
Hello $name
sum: $((1+2)) date: $(echo today)
escaped: \$name \`x\`
EOF
cat out.txt
#### here-document without expansion
cat <<'EOF' > s.sh
for i in "$@"; do
	echo "$i"
done
EOF
sh s.sh 'a b' c
#### here-document with tabs stripped
if true; then
	cat <<-END
	indented
		more
	END
fi
#### two here-documents in a loop
while read a; do
    while read b; do echo "$a$b"; done <<B
1
2
B
done <<A
x
y
A
#### JSON by hand
name=x value='a "b"'; printf '{"name":"%s","value":"%s"}\n' "$name" "$(echo "$value" | sed 's/"/\\"/g')"
echo '{"id": 42, "ok": true}' | grep -o '"id": *[0-9]*' | grep -o '[0-9]*$'; echo '{"a":"b c"}' | sed 's/.*"a":"\([^"]*\)".*/\1/'
#### XML attributes
echo '<node text="Sign in" bounds="[10,20][110,80]"/>' > d.xml
grep -o 'bounds="[^"]*"' d.xml | sed 's/[^0-9]/ /g' | { read x1 y1 x2 y2; echo "tap $(( (x1+x2)/2 )) $(( (y1+y2)/2 ))"; }
sed -n 's/.*text="\([^"]*\)".*/\1/p' d.xml
#### a CSV file
printf 'id,name\n1,"A"\n2,B\n' > c.csv; tail -n +2 c.csv | while IFS=, read -r id name; do echo "$id:$name"; done; cut -d, -f2 c.csv | sed 1d | tr -d '"' | sort -r
#### key=value to variables
for kv in a=1 b='x y'; do eval "${kv%%=*}=\${kv#*=}"; done; echo "$a $b"; export $(echo C=3); sh -c 'echo $C'
#### indirect variable
color_red=31; name=red; eval "code=\$color_$name"; echo $code; eval echo \${color_$name}
#### quoting mishaps
x="it's"; echo $x; echo "say \"$x\""; echo 'single '\''quote'\'''; echo "a\\b" 'a\b'; echo "\$HOME"; y='$x'; echo $y; eval echo "$y"
echo "* $x *" ; echo 'new
line'; printf '%s\n' "a  b" a  b
#### nested quotes through sh -c
sh -c 'echo "inner $1"' _ "arg one"; sh -c "echo 'single' \"double\""; v=5; sh -c "echo $v"; sh -c 'echo ${v:-unset}'; v=6 sh -c 'echo $v'
#### backslashes of echo and printf
echo 'a\tb\nc'; echo -e 'a\tb'; echo -n 'no newline'; echo; printf 'a\tb\n'; printf '%s\n' 'a\tb'; printf '%b\n' 'a\tb'; echo "a\\nb"; print -r 'a\tb'; print 'a\tb'
#### print of ksh
print hello; print -n a; print b; print -r -- '-n \n'; print -u2 err; print -- -x; print a b c | wc -w; print
#### printf reuses its format
printf '%s=%s\n' a 1 b 2 c; printf '%d items\n' 3; printf '%5.2f|\n' 3.14159; printf '%x %X %o\n' 255 255 8; printf '%c%c\n' abc def; printf '%5s|%-5s|\n' ab cd; printf '%05d\n' 42; printf '%+d % d\n' 5 5; printf '%s' no newline; echo; printf '%e\n' 12345.678; printf '%g %g\n' 0.0001 1000000
#### printf with stars and missing arguments
printf '%d %s|\n'; printf '%*d|\n' 5 42; printf '%.3s|\n' abcdef; printf '%%|%5%|\n'; printf '%i\n' 010 0x1F -5; printf "%d\n" "'A"
#### standard error and output
{ echo out; echo err >&2; } > o 2> e; cat o; cat e; { echo out; echo err >&2; } > both 2>&1; cat both; ls nofile > all 2>&1; cat all; echo x 2>&1 >/dev/null | wc -c
#### swap the outputs
f() { echo out; echo err >&2; }; f 3>&1 1>&2 2>&3 | sed 's/^/piped /'; f 2>&1 >/dev/null | sed 's/^/e /'; { f 2>&1 1>&3 | sed 's/^/x /'; } 3>&1
#### redirect the rest of the script
exec > log 2>&1; echo logged; ls nofile; exec > /dev/stderr; cat log
#### log and keep the screen
exec 3>&1 > log; echo quiet; echo loud >&3; exec 1>&3 3>&-; cat log; echo back
#### read two files side by side
printf '1\n2\n' > a; printf 'x\ny\n' > b; exec 3< a 4< b; while read -r l <&3 && read -r r <&4; do echo "$l$r"; done; exec 3<&- 4<&-
while read -u3 x; do echo "u$x"; done 3< a
#### append and read back
exec 5>> app; echo one >&5; echo two >&5; exec 5>&-; cat app; echo three >&5; echo $?
#### read and write one descriptor
echo 'l1' > rw; exec 6<> rw; read x <&6; echo "got $x"; echo l2 >&6; exec 6>&-; cat rw
#### pipe status and PIPESTATUS
false | true; echo $?; true | false; echo $?; set -o pipefail; false | true; echo $?; (exit 3) | cat; echo $? "${PIPESTATUS[*]}"
#### tee into files
echo x | tee a b; echo y | tee -a a > /dev/null; cat a b; seq 3 | tee all | tail -n1; wc -l < all
#### pipes into loops lose variables
n=0; printf 'a\nb\n' | while read l; do n=$((n+1)); done; echo $n; while read l; do n=$((n+1)); done <<EOF
a
b
EOF
echo $n
#### read with a prompt and defaults
echo yes | { read -r answer; echo "[$answer]"; }; read -r a b c <<< 'one two three four'; echo "$c"; echo 'a\tb' | { read x; echo "$x"; }; echo 'a\tb' | { read -r x; print -r "$x"; }; read line < /dev/null; echo $?; printf 'no newline' | { read x; echo "$? $x"; }
#### read one character, an array, to a delimiter
echo abc | { read -n1 c; echo $c; }; echo 'a b c' | { read -A arr; echo ${#arr[*]} ${arr[2]}; }; printf 'a:b' | { read -d: x; echo $x; }; echo hello | { read -N3 x; echo $x; }
#### read with a time limit
read -t 1 x <<< now; echo "$? $x"
#### a yes-or-no question
ask() { read a; case "$a" in [Yy]*) return 0;; *) return 1;; esac; }; echo y | ask && echo agreed; echo No | ask || echo refused
#### menu by select
select x in start stop quit; do case $x in quit) break;; '') echo "what?";; *) echo "> $x";; esac; done <<EOF
1
9
3
EOF
#### functions with results
max() { if [ $1 -gt $2 ]; then echo $1; else echo $2; fi; }; m=$(max 3 8); echo $m; is_even() { [ $(($1 % 2)) -eq 0 ]; }; is_even 4 && echo even; is_even 5 || echo odd; f() { return 42; }; f; echo $?
#### local and global names
x=global; f() { local x=local y; y=2; echo $x; z=new; }; f; echo $x ${y:-unset} $z; g() { typeset x=t; h; }; h() { echo $x; }; g; h
#### local with flags
f() { local -i n=3; n=n+4; echo $n; local -r c=5; echo $c; c=6; echo not reached; }; f; echo after
#### constants
readonly PI=3; readonly -p | grep PI=; PI=4; echo not reached
#### readonly in a subshell
readonly A=1; (A=2; echo inner); echo "status $?"; typeset -r B=2; unset B; echo $B
#### exported names
export E1=a E2='b c'; sh -c 'echo $E1 $E2'; typeset -x E3=d; sh -c 'echo $E3'; export -p | grep E2; export -n E1 2>/dev/null; env | grep -c '^E[123]='; E4=once sh -c 'echo $E4'; echo ${E4:-gone}
#### unset
x=1; f() { echo f; }; unset x; echo ${x-unset}; unset -f f; f; unset nosuch; echo $?; x=1 y=2; unset x y; echo "[$x$y]"
#### aliases
alias ll='ls -1' hi='echo hello'; alias hi; unalias hi; alias ll; alias nope; echo $?
eval 'll'; touch q
eval ll; unalias -a; alias | grep -c ll
#### alias in a later line
alias greet='echo hello'
greet you
alias e=echo
e a
\e b
unalias greet
greet you
#### type of names
type cd if ls 2>/dev/null | sed 's,/.*/,,'; f() { :; }; type f; command -v f; command -v nosuch || echo none; alias a=b; type a; command -v a; whence -v a; unalias a
#### a command exists
for c in ls nosuchcmd cat; do if command -v $c >/dev/null 2>&1; then echo "$c yes"; else echo "$c no"; fi; done; which ls > /dev/null && echo w; type nosuchcmd
#### traps
trap 'echo exiting' EXIT; trap 'echo usr1' USR1; kill -USR1 $$; echo sent; trap - USR1; trap
#### trap on interrupt
cleanup() { echo "cleanup $1"; exit $1; }; trap 'cleanup 130' INT; kill -INT $$; echo not reached
#### trap and subshell
trap 'echo outer' EXIT; (trap 'echo inner' EXIT; echo in); (echo plain); echo end
#### background jobs
for i in 1 2 3; do (sleep 0.0$i; echo job $i > j$i) & done; wait; cat j1 j2 j3
#### status of background jobs
(exit 3) & a=$!; true & b=$!; wait $a; echo $?; wait $b; echo $?; false & wait $! || echo failed
#### is it alive
kill -0 $$ && echo alive; sleep 9 & kill -0 $! && echo running; kill -9 $!; kill -l 9; kill -l TERM
#### time limits
timeout 1 sleep 5; echo $?; timeout 2 echo fast; timeout -s KILL 1 sleep 3; echo $?
#### subshell and group
(x=1; cd /; echo $x); echo ${x:-unset}; { y=2; }; echo $y; (exit 5); echo $?; { false; }; echo $?; a=$(cd / && pwd); echo $a; [ "$a" = / ] && echo root
#### conditions with test
x=5; [ $x -gt 3 -a $x -lt 9 ] && echo between; [ $x -eq 1 -o $x -eq 5 ] && echo one; [ ! -f nofile ] && echo no; [ "$x" != 6 ] && echo ne; [ \( 1 -eq 1 \) -a \( 2 -eq 2 \) ] && echo p; test -n "$x" && test -z ""; echo $?; [ a -a '' ]; echo $?; [ ! '' ]; echo $?
#### test with too many or wrong words
[ 1 -eq x ]; echo $?; [ 1 = 1; echo $?; [ a b ]; echo $?; [ ]; echo $?; [ -n ]; echo $?; [ 1 -foo 2 ]; echo $?; [ a b c d ]; echo $?; x='a b'; [ $x = a ]; echo $?; [ -z $nope ]; echo $?; [ = = = ]; echo $?
#### test on files
echo a > f; mkdir d; ln -s f l; for t in -e -f -d -L -s -r -x; do for p in f d l none; do [ $t $p ] && echo "$t $p"; done; done
#### double brackets
x='a b'; [[ $x == 'a b' ]] && echo eq; [[ $x == a* && -n $x ]] && echo and; [[ -z $nope || $x < b ]] && echo or; [[ ! -e nofile ]] && echo not; [[ 10 -gt 9 ]] && echo num; p='a*'; [[ $x == $p ]] && echo pattern; [[ $x == "$p" ]] || echo literal
#### case with ranges
for c in a Z 5 _ ' '; do case $c in [a-z]) echo lower;; [A-Z]) echo upper;; [[:digit:]]) echo digit;; [!a-zA-Z0-9]) echo other;; esac; done; case -x in -?) echo opt;; esac; case '' in ?*) echo full;; *) echo empty;; esac
#### until, break and continue
i=0; until [ $i -ge 5 ]; do i=$((i+1)); case $i in 2) continue;; 4) break;; esac; echo $i; done; for a in 1 2; do for b in x y; do [ $b = y ] && continue 2; echo $a$b; done; done
#### while reading numbers with arithmetic
printf '5\n10\n' | while read n; do if (( n > 7 )); then echo "$n big"; elif (( n == 5 )); then echo five; fi; done
#### numeric input check
for v in 12 -3 x1 '' 007; do case $v in ''|*[!0-9]*) echo "'$v' no";; *) echo "'$v' yes";; esac; done; [ 007 -eq 7 ] && echo seven; echo $((007 + 1)) $((10#08 + 1))
#### empty and unset
unset a; b=; for v in a b; do eval "s=\${$v+set}"; echo "$v:${s:-unset}"; done; [ -n "${a:-}" ] || echo empty; set -u; echo "${a:-safe}"; echo $b; echo $a; echo not reached
#### trace of a script
set -x; a=1; echo "x $a"; [ $a = 1 ] && :; for i in 1; do echo $i; done; set +x; echo done
#### verbose errors with names
log() { echo "[$1] $2"; }; die() { log ERROR "$1" >&2; exit ${2:-1}; }; log INFO start; [ -d nodir ] || die 'no folder' 3; echo not reached
#### exit codes of pipelines in if
if echo abc | grep -q b; then echo yes; fi; if ! echo abc | grep -q z; then echo no; fi; echo abc | grep -q z || echo "rc $?"; grep -q x nofile; echo $?; if cd nodir 2>/dev/null; then echo in; else echo out; fi
#### errexit with conditions
set -e; if false; then :; fi; false || true; ! true; x=$(false) || echo caught; f() { false; echo in f; }; f || echo f failed; (false) || echo sub; false; echo not reached
#### xargs in batches
seq 7 | xargs -n3 echo; printf 'a b\nc\n' | xargs -I{} echo '[{}]'; echo a b | xargs -n1 sh -c 'echo "<$0>"'; seq 3 | xargs -I N touch fN; ls; ls f* | xargs -n2 | head -1; find . -name 'f*' | sort | xargs -n1 echo rm
#### head and tail of pipes
seq 100 | head -n3 | tail -n1; seq 100 | tail -n +98; seq 5 | head -n -2; seq 5 | sed -n '2,4p'; seq 5 | sed '1d;$d'; seq 10 | sed -n '5{p;q}'; seq 3 | (read first; echo "first $first"; cat)
#### sort in several ways
printf '3 c\n1 a\n2 b\n10 d\n' > f; sort f; sort -n f; sort -k2 f; sort -rn f | head -1; sort -u f | wc -l; printf 'b:2\na:10\n' | sort -t: -k2 -n; printf '1K\n5\n' | sort -h 2>/dev/null; sort -c f; echo $?; printf 'x\nX\n' | sort -fu
#### substitution by sed
echo 'a.b.c' | sed 's/\./-/g'; echo path/to/x | sed 's|/|.|g'; echo '192.168.0.1' | sed -E 's/([0-9]+)\.([0-9]+)\..*/\2.\1/'; echo foo123 | sed 's/[0-9]//g'; echo abc | sed 's/\(.\)\(.\)/\2\1/'; echo hello | sed 's/l*/X/'; echo 'a&b' | sed 's/&/and/'; echo x | sed 's/x/[&]/'; echo 'Mixed' | sed 's/m/_/i'
#### sed on line ranges and appends
seq 5 > f; sed -n '2~2p' f; sed '2,3s/^/> /' f; sed '/3/a after' f; sed '/3/i before' f; sed '/2/,/4/d' f; sed -n '$=' f; sed '5!d' f; sed -e '1s/1/one/' -e '$s/5/five/' f; sed -n '/[24]/p' f; sed 's/$/./;3q' f
#### grep in several ways
printf 'apple\nBanana\ncherry 12\n\n' > f; grep -i banana f; grep -c '' f; grep -n an f; grep -oE '[0-9]+' f; grep -E 'app|che' f; grep -v '^$' f | wc -l; grep -w 12 f; grep '^a.*e$' f; egrep 'a(p|n)' f; fgrep 'y 1' f; grep -e apple -e cherry f; grep -m1 a f; grep -L apple f; grep -q nothing f || echo none; grep -F '.' f; echo $?
#### cut, tr and paste
echo a:b:c | cut -d: -f1,3; echo abcdef | cut -c2-; echo abcdef | cut -c-2; echo 'x  y' | tr -s ' '; echo hello | tr -d aeiou; echo a-b_c | tr '_-' '  '; printf '1\n2\n3\n4\n' | paste - -; printf 'a\nb\n' > p; printf '1\n2\n' > q; paste -d= p q; echo 'a,b;c' | tr ',;' '\n\n'
#### wc in scripts
printf 'a b\nc\n' > f; echo $(wc -l < f); wc -w f; n=$(wc -l f | cut -d' ' -f1); echo $n; cat f | wc -c; ls | wc -l; printf 'no end' | wc -l; wc -l nofile; echo $?
#### expr
expr 5 + 3; expr 10 - 4; expr 6 \* 7; expr 9 / 2; expr 9 % 2; expr abc = abc; expr 3 \> 5; echo $?; expr hello : '.*'; i=1; i=`expr $i + 1`; echo $i; expr '' \| default; expr a \& b; expr x + 1; echo $?
#### seq for loops
for i in $(seq 3); do echo -n $i; done; echo; seq -w 8 10; seq 0 5 15; seq -s, 3; seq 3 1; for i in $(seq 10 -5 0); do echo $i; done; seq -f 'f%g.txt' 2
#### usage of disk and size of files
mkdir d; printf 12345 > d/f; stat -c %s d/f; ls -l d/f | tr -s ' ' | cut -d' ' -f5; wc -c < d/f; find d -type f -size +4c; s=$(stat -c %s d/f); [ $s -lt 1000 ] && echo small; du -s nofile; echo $?
#### unquoted command substitution
x=$(printf 'a\n\nb\n\n'); echo $x; echo "$x"; y="$(echo '  pad  ')"; echo [$y] "[$y]"; echo "$(echo "nested $(echo deep)")"; z=`echo back\`echo tick\``; echo $z; echo $(<nofile) end; echo hi > f; echo "$(<f)"
#### long lines continued
echo one \
  two \
  three; x=a\
b; echo $x; true && \
echo yes; if [ 1 = 1 ] \
&& [ 2 = 2 ]; then echo both; fi
#### comments everywhere
# a comment first
echo a # trailing
echo 'b # not a comment' # but this is
  # indented
case x in # after in
  x) echo c ;; # after ;;
esac
echo d#e
#### semicolons and newlines
if true; then echo a; fi; for i in 1 2
do echo $i
done; while false; do :; done; { echo b
echo c; }; (echo d
echo e); f()
{
  echo f
}; f
#### numbers with leading zeros and signs
echo $((-5 / 2)) $((-5 % 3)) $((+3)) $((- -3)) $((!0)) $((~0)) $((08)) $((1e3)); echo not reached
#### big numbers
echo $((2147483647 + 1)) $((1 << 31)) $((4000000000)); [ 3000000000 -gt 1 ]; echo $?; printf '%d\n' 3000000000; expr 3000000000 + 1
#### random numbers
r=$((RANDOM % 6 + 1)); [ $r -ge 1 ] && [ $r -le 6 ] && echo dice; a=$RANDOM b=$RANDOM; [ $a -ne $b ] || [ $RANDOM -ne $a ] && echo different
#### special parameters
set -- a b; echo $# "$*" "$@"; false; echo $?; f() { echo $# $1; }; f x y z; echo $1; shift 5; echo $?; shift 2; echo $#; echo ${0##*/} > /dev/null; [ $$ -gt 0 ] && echo pid; [ -n "$PPID" ] && echo ppid; echo ${@:-none}
#### arguments with spaces passed on
show() { for a in "$@"; do echo "<$a>"; done; }; pass() { show "$@"; }; pass 'a b' c ''; bad() { show $@; }; bad 'a b' c ''; star() { show "$*"; }; star x y; set -- "$@" end; echo $#
#### slices of arguments
set -- a b c d; echo ${@:2} ; echo "${@:1:2}"; shift $(( $# - 1 )); echo $1; eval last=\${$#}; echo $last
#### replace in variables
p='/sdcard/My Files'; echo "${p// /_}" ${p/sdcard/data}; u=http://h:80/x?q=1; host=${u#*://}; host=${host%%/*}; echo $host ${host%:*} ${host#*:}; s='  lead'; echo "${s#"${s%%[! ]*}"}"; x=abc; echo ${x/b} ${x/#a/A} ${x/%c/C} ${#x} ${x:1} ${x:(-1)} ${x@Q}; y="it's"; echo ${y@Q}
#### wrong substitutions
echo ${x^^}; echo not reached
#### tests on strings with operators
a=apple b=banana; [ "$a" \< "$b" ] && echo less; [[ $b > $a ]] && echo more; [ "$a" = apple ] && echo same; [ "$a" == apple ] && echo same2; [ x$nope = x ] && echo empty
#### generate a script and run it
{ echo '#!/system/bin/sh'; for i in 1 2; do echo "echo line $i"; done; } > gen.sh; chmod 700 gen.sh; sh gen.sh; wc -l < gen.sh; sh < gen.sh; cat gen.sh | sh; . ./gen.sh
#### errors of a script file carry lines
printf 'echo a\nnosuchcmd\n\ncat <<E\nx\nE\nnosuch2\nif\n' > s.sh; sh s.sh; echo $?; printf 'x=$((1/0))\necho no\n' > t.sh; sh t.sh; echo $?
#### a lock by mkdir
lock() { mkdir lock 2>/dev/null; }; lock && echo got; lock || echo busy; rmdir lock; lock && echo again
#### wait for a condition with a timeout function
wait_for() { n=$1; shift; while ! "$@"; do n=$((n-1)); [ $n -le 0 ] && return 1; sleep 0.01; done; }; wait_for 3 test -f nofile || echo 'timed out'; touch now; wait_for 3 test -f now && echo there
#### watch a growing file
( for i in 1 2 3; do echo line $i; sleep 0.05; done > grow ) & wait; tail -n1 grow; grep -c line grow
#### progress with carriage returns
for p in 10 50 100; do printf '\r%3d%%' $p; done; echo; printf 'a\rb\n' | tr '\r' '\n'; printf '%s' ...; echo
#### colours
printf '\033[31m%s\033[0m\n' red; echo -e '\e[1mbold\e[0m'; echo $'\e[32mgreen\e[0m' | cat -v; r=$(printf '\033'); echo "${r}[0m" | xxd -p
#### environment of a command
A=1 B=2 sh -c 'echo $A$B'; env -i A=x sh -c 'echo $A${HOME-none}'; env | grep -c '^NOPE='; export P=q; env | grep ^P=; unset P; printenv P; echo $?
#### usleep and sleep fractions
sleep 0.01 && echo a; usleep 1000 && echo b; sleep 0 && echo c; sleep x; echo $?
#### id and friends
[ -n "$(id -u)" ] && echo id; [ -n "$(uname -r)" ] && uname; [ "$(nproc)" -ge 1 ] && echo cpu
