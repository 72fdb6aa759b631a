//! `dumpsys meminfo PACKAGE` since Android 9: the memory of a running app. Source:
//! `ActivityThread.dumpMemInfoTable` of AOSP. The sizes are made up, the sums are theirs.

use crate::phone::State;
use thumbwire_virtual_android_system::fingerprint;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;

/// What a kind of memory belongs to in the summary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Java,
    Native,
    Code,
    Stack,
    Graphics,
    Other,
}

/// Kinds of memory by their part of the whole in thousandths, and how much of that is shared.
const KINDS: [(&str, Kind, u64, u64); 14] = [
    ("Native Heap", Kind::Native, 240, 0),
    ("Dalvik Heap", Kind::Java, 110, 1),
    ("Dalvik Other", Kind::Other, 40, 2),
    ("Stack", Kind::Stack, 8, 0),
    ("Ashmem", Kind::Other, 2, 50),
    ("Other dev", Kind::Other, 1, 10),
    (".so mmap", Kind::Code, 120, 60),
    (".apk mmap", Kind::Code, 60, 10),
    (".ttf mmap", Kind::Code, 6, 60),
    (".dex mmap", Kind::Code, 130, 2),
    (".art mmap", Kind::Java, 60, 30),
    ("Other mmap", Kind::Other, 13, 40),
    ("GL mtrack", Kind::Graphics, 180, 0),
    ("Unknown", Kind::Other, 30, 3),
];

/// A row: KiB by what they count.
struct Row {
    title: &'static str,
    kind: Kind,
    pss: u64,
    dirty: u64,
    clean: u64,
    rss: u64,
}

/// The report on the named process. Without a name, nothing: not modelled.
pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    let Some(name) = args.iter().find(|arg| !arg.starts_with('-')) else { return String::new() };
    let running = phone.world.packages().into_iter().filter_map(|manifest| {
        Some((phone.world.pid_of(&manifest.package)?, manifest.package.clone()))
    });
    let found: Vec<(u32, String)> =
        running.filter(|(pid, package)| package == name || pid.to_string() == **name).collect();
    let Some((pid, package)) = found.into_iter().next() else {
        return format!("No process found for: {name}\n");
    };
    let up = phone.world.since_restart().as_millis();
    format!(
        "Applications Memory Usage (in Kilobytes):\nUptime: {up} Realtime: {up}\n\n{}",
        process(phone, pid, &package)
    )
}

fn rows(package: &str) -> Vec<Row> {
    let whole = 60_000 + u64::from(fingerprint(package) as u16) / 2;
    let row = |(title, kind, part, shared): (&'static str, Kind, u64, u64)| {
        let pss = whole * part / 1_000;
        let private = pss - pss * shared / 100;
        // Code is read from files, the rest is written.
        let clean = if kind == Kind::Code { private * 9 / 10 } else { private / 100 };
        Row { title, kind, pss, dirty: private - clean, clean, rss: pss + pss * shared / 25 }
    };
    KINDS.map(row).into()
}

fn process(phone: &mut State, pid: u32, package: &str) -> String {
    let shape = phone.release().shape;
    // The resident size came with 11.
    let has_rss = shape >= DumpsysFormat::Eleven;
    let rows = rows(package);
    let line = |title: &str, columns: [&str; 5], heap: [&str; 3]| {
        let [pss, dirty, clean, swap, rss] = columns;
        let mut cells = vec![pss, dirty, clean, swap];
        cells.extend(has_rss.then_some(rss));
        cells.extend(heap.into_iter().filter(|cell| !cell.is_empty()));
        let cells: String = cells.iter().map(|cell| format!(" {cell:>8}")).collect();
        format!("{title:>13}{cells}\n")
    };
    let dashes = ["------"; 5];
    let mut text = format!("** MEMINFO in pid {pid} [{package}] **\n");
    text += &line("", ["Pss", "Private", "Private", "SwapPss", "Rss"], ["Heap"; 3]);
    text += &line("", ["Total", "Dirty", "Clean", "Dirty", "Total"], ["Size", "Alloc", "Free"]);
    text += &line("", dashes, ["------"; 3]);
    let of = |title: &str, row: &Row, heap: [u64; 3]| {
        let columns = [row.pss, row.dirty, row.clean, 0, row.rss].map(|cell| cell.to_string());
        let heap = heap.map(|cell| if heap[0] == 0 { String::new() } else { cell.to_string() });
        line(
            title,
            std::array::from_fn(|at| columns[at].as_str()),
            std::array::from_fn(|at| heap[at].as_str()),
        )
    };
    let heap = |row: &Row| match row.title {
        "Native Heap" | "Dalvik Heap" => [row.pss * 5 / 4, row.pss * 15 / 16, row.pss * 5 / 16],
        _ => [0; 3],
    };
    let mut heaps = [0; 3];
    for row in &rows {
        let heap = heap(row);
        heaps = std::array::from_fn(|at| heaps[at] + heap[at]);
        text += &of(row.title, row, heap);
    }
    let sum = |part: fn(&Row) -> u64| rows.iter().map(part).sum::<u64>();
    let total = Row {
        title: "TOTAL",
        kind: Kind::Other,
        pss: sum(|row| row.pss),
        dirty: sum(|row| row.dirty),
        clean: sum(|row| row.clean),
        rss: sum(|row| row.rss),
    };
    text += &of(total.title, &total, heaps);
    text += &summary(&rows, &total, has_rss);
    text + &objects(phone, package, shape)
}

/// What the rows belong to.
fn summary(rows: &[Row], total: &Row, has_rss: bool) -> String {
    let row = |title: &str, pss: &str, rss: &str| match has_rss {
        true => format!("{title:>21} {pss:>8} {:>21} {rss:>8}\n", ""),
        false => format!("{title:>21} {pss:>8}\n"),
    };
    let mut text = "\n App Summary\n".to_owned();
    text += &row("", "Pss(KB)", "Rss(KB)");
    text += &row("", "------", "------");
    let kinds = [
        ("Java Heap:", Kind::Java),
        ("Native Heap:", Kind::Native),
        ("Code:", Kind::Code),
        ("Stack:", Kind::Stack),
        ("Graphics:", Kind::Graphics),
    ];
    let (mut private, mut resident) = (0, 0);
    for (title, kind) in kinds {
        let of_kind = rows.iter().filter(|row| row.kind == kind);
        let (pss, rss) = of_kind.fold((0, 0), |(pss, rss), row| {
            // Of the heaps and stacks only what is written counts.
            let clean = if row.title.contains("mmap") { row.clean } else { 0 };
            (pss + row.dirty + clean, rss + row.rss)
        });
        private += pss;
        resident += rss;
        text += &row(title, &pss.to_string(), &rss.to_string());
    }
    let all_private = total.dirty + total.clean;
    text += &count("Private Other:", all_private - private);
    text += &count("System:", total.pss - all_private);
    let (pss, rss) = (total.pss, total.rss);
    let swap = format!("{:>21} {:>8}", "TOTAL SWAP PSS:", 0);
    text + &match has_rss {
        true => format!(
            "{}\n{:>21} {pss:>8} {:>21} {rss:>8} {swap}\n",
            row("Unknown:", "", &(rss - resident).to_string()),
            "TOTAL PSS:",
            "TOTAL RSS:"
        ),
        false => format!("\n{:>21} {pss:>8} {swap}\n", "TOTAL:"),
    }
}

fn count(title: &str, count: u64) -> String {
    format!("{title:>21} {count:>8}\n")
}

fn objects(phone: &mut State, package: &str, shape: DumpsysFormat) -> String {
    let scene = phone.world.scene();
    let windows = scene.windows.iter().filter(|window| window.package == package);
    let (roots, views) = windows
        .fold((0, 0), |(roots, views), window| (roots + 1, views + window.root.walk().count()));
    let two = |one: &str, count: usize, other: &str, more: usize| {
        format!("{one:>21} {count:>8} {other:>21} {more:>8}\n")
    };
    let rows = [
        two("Views:", views, "ViewRootImpl:", roots),
        two("AppContexts:", roots + 4, "Activities:", roots),
        two("Assets:", 12, "AssetManagers:", 0),
        two("Local Binders:", 18, "Proxy Binders:", 36),
        two("Parcel memory:", 6, "Parcel count:", 24),
        match shape >= DumpsysFormat::Fourteen {
            true => two("Death Recipients:", 1, "WebViews:", 0),
            false => two("Death Recipients:", 1, "OpenSSL Sockets:", 0) + &count("WebViews:", 0),
        },
    ];
    let sql = count("MEMORY_USED:", 0) + &two("PAGECACHE_OVERFLOW:", 0, "MALLOC_SIZE:", 0);
    format!("\n Objects\n{}\n SQL\n{sql}\n", rows.concat())
}
