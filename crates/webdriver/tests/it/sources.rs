//! Sources: what is read is written again, and large ones stay small in memory.

use thumbwire_webdriver::{Rect, SourceNode, SourceOptions, parse_xml_source, write_xml_source};

/// How many bytes a tree holds, with what its lists and texts have reserved.
fn bytes_of(node: &SourceNode) -> usize {
    let texts = [
        &node.name,
        &node.identifier,
        &node.label,
        &node.value,
        &node.placeholder,
        &node.bundle_id,
    ];
    let texts: usize = texts.into_iter().flatten().map(String::capacity).sum();
    let traits: usize = node.traits.iter().map(|name| name.capacity() + size_of::<String>()).sum();
    let children: usize =
        node.children.iter().map(|child| bytes_of(child) - size_of::<SourceNode>()).sum();
    let list = node.children.capacity() * size_of::<SourceNode>();
    size_of::<SourceNode>() + node.element_type.capacity() + texts + traits + list + children
}

fn count(node: &SourceNode) -> usize {
    1 + node.children.iter().map(count).sum::<usize>()
}

/// A list of 10,000 elements: rows of nine.
fn list() -> SourceNode {
    let cell = |n: f64, element_type: &str| SourceNode {
        element_type: element_type.into(),
        name: Some(format!("cell {n}")),
        label: Some(format!("This is the cell with the number {n}")),
        value: Some(format!("This is the cell with the number {n}")),
        traits: vec!["Button".into(), "Selected".into()],
        enabled: Some(true),
        visible: Some(n < 100.0),
        accessible: Some(true),
        rect: Some(Rect { x: 0.5, y: n * 44.0, width: 390.0, height: 44.0 }),
        ..SourceNode::default()
    };
    let rows = (0..1_111).map(|row| {
        let row = f64::from(row);
        let children =
            (0..8).map(|column| cell(row * 8.0 + f64::from(column), "StaticText")).collect();
        SourceNode { children, ..cell(row, "Cell") }
    });
    let mut root = cell(0.0, "Table");
    root.children = rows.collect();
    root
}

#[test]
fn ten_thousand_elements_take_less_than_16_mb() {
    let list = list();
    assert_eq!(count(&list), 10_000);
    let options = SourceOptions::default();
    let read = parse_xml_source(&write_xml_source(&list, &options)).unwrap();
    let bytes = bytes_of(&read);
    println!("{} KB, {} bytes a node", bytes / 1024, size_of::<SourceNode>());
    assert!(bytes < 16 << 20, "{bytes}");
    assert_eq!(read, list);
}
