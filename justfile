# `just` lists the recipes. CI uses the same ones.

default:
    @just --list

# Formatting and lints
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# All tests
test:
    cargo test --workspace

# The demo: the main job on the virtual phone
demo:
    cargo run --release -- demo

# The moving picture of README.md, from the screens of a demo. Needs ffmpeg
demo-picture:
    cargo run --release -- demo --out target/demo-picture
    .ci/demo-picture target/demo-picture docs/demo.gif

# Thumbwire's overhead next to a phone's own time; memory of many virtual phones
bench:
    cargo bench -p thumbwire --bench calls
    cargo bench -p thumbwire --bench phones

# What the way over NATS adds to a call: the figures of docs/evidence/benchmarks.md. Needs `.ci/parts nats`
bench-fleet:
    cargo bench -p thumbwire-fleet --bench overhead

# A fleet and its queue under faults, at full length: ten nodes of fifty phones, 2,000 cases, 500 faults. Needs `.ci/parts nats`
fleet-faults:
    THUMBWIRE_REQUIRE_REAL=1 cargo test -p thumbwire-fleet --test it -- chaos queue lease_history --nocapture

# What the studio costs: the figures of docs/evidence/README.md
bench-studio:
    cargo build --release -p thumbwire
    python3 crates/thumbwire/benches/studio.py target/release/thumbwire

# The same calls with the helper and with shell commands: the figures of docs/evidence/android-4.4.md and benchmarks.md
bench-helper:
    cargo bench -p thumbwire --bench helper

# Ours and other servers side by side on the virtual phone: the tables of docs/evidence/benchmarks.md. Needs adb and Python 3.13 as $PYTHON
bench-peers peers='target/peers':
    cargo build --release -p thumbwire
    crates/thumbwire/benches/peers/install {{peers}}
    python3 crates/thumbwire/benches/peers/compare.py --peers {{peers}} --page docs/evidence/benchmarks.md

# Nightly: eight clients on eight phones that break, then a million calls; the figures of docs/evidence/benchmarks.md
soak seconds='600' calls='1000000':
    cargo bench -p thumbwire --bench soak -- --seconds {{seconds}}
    cargo bench -p thumbwire --bench soak -- --calls {{calls}}

# Fuzzes by coverage every reader of bytes that others control, all targets of fuzz/ in this time. Needs a C++ compiler
fuzz seconds='3600' *targets:
    .ci/fuzz {{seconds}} {{targets}}

# The task suite: each policy without a model, each kind of fault; results are in docs/evidence/eval.md
eval seeds='0..20':
    cargo build --release -p thumbwire
    target/release/thumbwire eval --policy oracle --seeds {{seeds}} --min-success 1
    target/release/thumbwire eval --policy scripted --seeds {{seeds}} --min-success 0.95
    target/release/thumbwire eval --platform ios --policy oracle --seeds 0..3 --min-success 1
    target/release/thumbwire eval --platform ios --policy scripted --seeds 0..3 --min-success 0.95
    target/release/thumbwire eval --fault-kinds all --seeds {{seeds}} --min-success 0.95

# What skills save and whether they do something wrong: the table of docs/evidence/skills.md. Takes minutes
skills:
    cargo test --release -p thumbwire-eval --lib -- skills_of_all_tasks --ignored --nocapture

# Runs of all tasks become flows, which must pass: by the oracle, by the agent, and flows of flows; KIND: on phones with such faults
to-flow seeds='1' kind='':
    TO_FLOW_SEEDS={{seeds}} TO_FLOW_FAULT={{kind}} cargo test --release -p thumbwire-eval --lib -- flows_of_recorded_runs_do --nocapture

# Flows of recorded runs are proved: with faults, on mutated apps; TASKS: those whose names begin with one of these
prove tasks='all' runs='20':
    PROVE_TASKS={{tasks}} PROVE_RUNS={{runs}} cargo test --release -p thumbwire-eval --lib -- flows_of_recorded_runs_are_proved --nocapture

# The baselines of docs/evidence/leaderboard.md, and the page; pass the results of models, which stay in it only so
leaderboard *models:
    cargo build --release -p thumbwire
    mkdir -p target/leaderboard
    for policy in oracle scripted idle always-finish; do \
        target/release/thumbwire eval --policy $policy --seeds 0..3 --json target/leaderboard/$policy.json > target/leaderboard/$policy.txt || exit 1; \
    done
    target/release/thumbwire eval --leaderboard target/leaderboard/*.json {{models}} --page docs/evidence/leaderboard.md

# Determinism: one story through all virtual apps, in COUNT processes at other times and places, must give the same bytes
same count='50':
    THUMBWIRE_SAME={{count}} cargo test -p thumbwire-virtual-android --test it same::

# Redraw every page of the virtual phone; review the images before committing
gallery:
    INSTA_UPDATE=always cargo test -p thumbwire-virtual-android --test it gallery::

# What annotated screenshots hide, and whether their ids can be read: OCR on every page of the gallery. Takes half an hour
marks:
    .ci/parts ocr
    cargo test -p thumbwire --test it -- marks:: --ignored --nocapture

# Show each golden file that the tests would change, and ask whether to accept it: `just bless -p thumbwire-apk`
bless *arguments:
    .ci/bless {{arguments}}

# The program on the phone: its jar from its sources, and its tests on a JVM
helper:
    helper/build
    helper/test

# The static binary
static:
    .ci/static

# The packages of this commit, into OUT
packages out='target/packages':
    packages/build {{out}}

# What CI runs for every change, with the real programs (needs root); `just ci full` for everything
ci *tier:
    .ci/run {{tier}}
