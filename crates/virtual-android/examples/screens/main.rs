//! Writes a screenshot of every page into a folder: `cargo run --example screens --
//! target/screens`. A second argument selects pages by prefix; a third, `bounds`, outlines the
//! nodes that the tree calls clickable.

mod pages;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

use thumbwire_virtual_phone::{Frame, Rect, World};

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() -> Done {
    let mut text = std::env::args().skip(1);
    let folder = PathBuf::from(text.next().ok_or("usage: screens FOLDER [PREFIX [bounds]]")?);
    let only = text.next().unwrap_or_default();
    let bounds = text.next().is_some();
    std::fs::create_dir_all(&folder)?;
    let mut lost = Vec::new();
    for chapter in pages::chapters() {
        eprintln!("{}, {} side by side", chapter.title, chapter.columns());
        for (name, page) in chapter.pages().filter(|(name, _)| name.starts_with(&only)) {
            let start = Instant::now();
            let mut world = match chapter.shown(page) {
                Ok(world) => world,
                Err(why) => {
                    lost.push(format!("{name}: {why}"));
                    continue;
                }
            };
            let mut frame = world.frame();
            eprintln!("{name}, {}: {:?}", page.1, start.elapsed());
            if bounds {
                outline(&mut world, &mut frame);
            }
            let file = File::create(folder.join(format!("{name}.png")))?;
            let mut encoder = png::Encoder::new(BufWriter::new(file), frame.width, frame.height);
            encoder.set_color(png::ColorType::Rgba);
            encoder.write_header()?.write_image_data(&frame.rgba)?;
        }
    }
    if lost.is_empty() { Ok(()) } else { Err(lost.join("\n").into()) }
}

/// Draws a red outline around every clickable node, in all windows.
fn outline(world: &mut World, frame: &mut Frame) {
    let nodes = world.scene().windows.iter().flat_map(|window| window.root.walk());
    let clickable = nodes.filter(|node| node.flags.clickable);
    let clickable: Vec<Rect> = clickable.map(|node| node.bounds).collect();
    for rect in clickable {
        let mut dot = |x: i32, y: i32| {
            if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y))
                && x < frame.width
                && y < frame.height
            {
                let at = (y * frame.width + x) as usize * 4;
                frame.rgba[at..at + 3].copy_from_slice(&[230, 0, 0]);
            }
        };
        for x in rect.left..rect.right {
            dot(x, rect.top);
            dot(x, rect.bottom - 1);
        }
        for y in rect.top..rect.bottom {
            dot(rect.left, y);
            dot(rect.right - 1, y);
        }
    }
}
