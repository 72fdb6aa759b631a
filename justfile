# `just` shows the verbs. CI uses the same ones.

default:
    @just --list

# Formatting and lints
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# All tests
test:
    cargo test --workspace

# The main job on the virtual phone
demo:
    cargo run --release -- demo

# What we add to a phone's own time, side by side; and the memory of many virtual phones
bench:
    cargo bench -p thumbwire --bench calls
    cargo bench -p thumbwire --bench phones

# The task suite: each mind without a model, then each kind of fault and each safeguard; figures are in docs/eval.md
eval seeds='0..20':
    cargo build --release -p thumbwire
    target/release/thumbwire eval --mind oracle --seeds {{seeds}} --least 1
    target/release/thumbwire eval --mind scripted --seeds {{seeds}} --least 0.95
    target/release/thumbwire eval --faults all --seeds {{seeds}} --least 0.95
    target/release/thumbwire eval --faults all --seeds 0..3 --ablate

# One story through all apps of the virtual phone, in so many processes at other times and places: the same bytes
same count='50':
    THUMBWIRE_SAME={{count}} cargo test -p thumbwire-virtual-phone --test same

# Draw every page of the virtual phone anew; look at the pictures before committing
gallery:
    INSTA_UPDATE=always cargo test -p thumbwire-virtual-phone --test gallery

# Take what the tests saw as the new goldens; look at the diff before committing
bless:
    cargo run -q -p thumbwire -- tools --markdown > docs/tools.md
    INSTA_UPDATE=always cargo test --workspace

# The static binary
static:
    .ci/static

# What CI runs, with the real counterpart programs installed first (needs root)
ci:
    .ci/run
