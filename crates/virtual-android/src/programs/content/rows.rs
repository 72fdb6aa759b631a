//! Rows of a provider: a simple `WHERE`, a sort order, and how `content query` prints them.

/// A row: column and value.
pub(super) type Row = Vec<(&'static str, String)>;

/// Keeps the rows that a filter such as `name='x' AND value="y"` selects. An error is SQLite's
/// complaint about the first unknown column; other expressions select nothing.
pub(super) fn select(rows: &mut Vec<Row>, filter: &str, columns: &[&str]) -> Result<(), String> {
    let mut wanted = Vec::new();
    let lower = filter.to_ascii_lowercase();
    let mut from = 0;
    while from <= filter.len() {
        let end = lower[from..].find(" and ").map_or(filter.len(), |at| from + at);
        let part = filter[from..end].trim();
        let Some((column, value)) = part.split_once('=') else {
            rows.clear();
            return Ok(());
        };
        let column = column.trim().trim_matches(['(', '"', '`']).to_owned();
        if !columns.contains(&column.as_str()) {
            return Err(format!("no such column: {column} (code 1)"));
        }
        let value = value.trim().trim_start_matches('=').trim().trim_end_matches(')');
        wanted.push((column, value.trim_matches(['\'', '"']).to_owned()));
        from = end + " and ".len();
    }
    rows.retain(|row| {
        wanted.iter().all(|(column, value)| row.iter().any(|it| it.0 == column && it.1 == *value))
    });
    Ok(())
}

/// Sorts by `COLUMN [ASC|DESC]`.
pub(super) fn sort(rows: &mut [Row], order: &str) {
    let mut words = order.split_whitespace();
    let column = words.next().unwrap_or_default();
    let falling = words.next().is_some_and(|word| word.eq_ignore_ascii_case("desc"));
    let value = |row: &Row| row.iter().find(|it| it.0 == column).map(|it| it.1.clone());
    rows.sort_by_key(value);
    if falling {
        rows.reverse();
    }
}

/// `Row: 0 name=x, value=y`, with these columns or all; a column that the row lacks is `null`.
pub(super) fn print(rows: &[Row], columns: Option<&[String]>) -> String {
    if rows.is_empty() {
        return "No result found.\n".to_owned();
    }
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = match columns {
            None => row.iter().map(|(column, value)| format!("{column}={value}")).collect(),
            Some(columns) => columns
                .iter()
                .map(|name| {
                    let found = row.iter().find(|(column, _)| column == name);
                    format!("{name}={}", found.map_or("NULL", |(_, value)| value))
                })
                .collect(),
        };
        text.push_str(&format!("Row: {number} {}\n", cells.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        [("a", "1"), ("b", "2"), ("c", "1")]
            .map(|(name, value)| vec![("name", name.to_owned()), ("value", value.to_owned())])
            .into()
    }

    #[test]
    fn filters_select_rows() {
        for (filter, names) in [
            ("name='a'", "a"),
            ("value = \"1\"", "ac"),
            ("value='1' AND name='c'", "c"),
            ("(name='b')", "b"),
            ("name LIKE 'a%'", ""),
        ] {
            let mut rows = rows();
            assert_eq!(select(&mut rows, filter, &["name", "value"]), Ok(()), "{filter}");
            let found: String = rows.iter().map(|row| row[0].1.as_str()).collect();
            assert_eq!(found, names, "{filter}");
        }
        let refused = select(&mut rows(), "bogus='x'", &["name"]);
        assert_eq!(refused, Err("no such column: bogus (code 1)".to_owned()));
    }

    #[test]
    fn rows_print_as_androids_program_does() {
        let mut rows = rows();
        sort(&mut rows, "name DESC");
        let columns = ["value".to_owned(), "name".to_owned()];
        assert_eq!(
            print(&rows, Some(&columns)),
            "Row: 0 value=1, name=c\nRow: 1 value=2, name=b\nRow: 2 value=1, name=a\n"
        );
        assert_eq!(print(&[], None), "No result found.\n");
    }
}
