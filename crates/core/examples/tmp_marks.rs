//! Temporary.
#![allow(clippy::all, missing_docs, clippy::unwrap_used, clippy::print_stdout)]
use thumbwire_core::annotate::{self, Mark};
use thumbwire_device::image::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (from, to, only) = (&args[1], &args[2], args.get(3).cloned().unwrap_or_default());
    std::fs::create_dir_all(to).unwrap();
    let mut job = vec![];
    let mut names: Vec<String> = std::fs::read_dir(from)
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .filter_map(|f| f.strip_suffix("-full.png").map(String::from))
        .collect();
    names.sort();
    for name in names {
        if !only.is_empty()
            && !only.split(',').any(|o| {
                name == o || (o.ends_with('*') && name.starts_with(o.trim_end_matches('*')))
            })
        {
            continue;
        }
        let image = Image {
            format: Format::Png,
            bytes: std::fs::read(format!("{from}/{name}-full.png")).unwrap().into(),
        };
        let marks: serde_json::Value =
            serde_json::from_slice(&std::fs::read(format!("{from}/{name}.json")).unwrap()).unwrap();
        let marks: Vec<Mark> = marks
            .as_array()
            .unwrap()
            .iter()
            .map(|m| Mark {
                rect: serde_json::from_value(m[0].clone()).unwrap(),
                label: m[1].as_str().unwrap().into(),
                kind: m[2].as_str().unwrap().into(),
            })
            .collect();
        let clean = Pixels::read(&image).unwrap();
        let t = std::time::Instant::now();
        let marked = annotate::draw_on(&clean, &marks).unwrap();
        let took = t.elapsed();
        let size = clean.size();
        let sent = PixelLimits::VISION_MODELS.target(size);
        let save = |p: &Pixels, suffix: &str| {
            let file = format!("{to}/{name}{suffix}.png");
            let p = if sent == size { p.clone() } else { p.scaled(sent).unwrap() };
            std::fs::write(&file, p.write(Format::Png).unwrap().bytes).unwrap();
            file
        };
        let scaled = |at: i32| f64::from(at) * f64::from(sent.width) / f64::from(size.width);
        let places = annotate::places(&clean, &marks);
        let there = |m: &Mark| {
            let [l, t, r, b] = m.rect;
            l.max(0) < r.min(size.width) && t.max(0) < b.min(size.height)
        };
        let labels: Vec<_> = marks.iter().zip(places).filter(|(m, _)| there(m)).map(|(m, p)| serde_json::json!({"label": m.label, "place": p.map(|r| [r.left, r.top, r.right, r.bottom].map(scaled))})).collect();
        println!("{name} {} marks {took:?}", marks.len());
        job.push(serde_json::json!({"name": name, "clean": save(&clean, "-clean"), "marked": save(&marked, ""), "labels": labels}));
    }
    std::fs::write(format!("{to}/job.json"), serde_json::to_vec(&job).unwrap()).unwrap();
}
