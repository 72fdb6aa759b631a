//! Who answers a content URI on this phone, and what.

use super::Thrower;
use super::arguments::{Command, Operation};
use super::rows::{self, Row};
use crate::phone::State;
use thumbwire_virtual_android_system::release::ToolKind;

/// What a command came to.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Text(String),
    /// A Java exception with its class and message.
    Exception {
        thrown: String,
        at: Thrower,
    },
}

/// Providers of Android's own that this phone has: authority, class, and the permission that a
/// shell of Android 4.4 lacks to open it. All are empty here, except for settings and people.
const PROVIDERS: [(&str, &str, Option<&str>); 13] = [
    ("call_log", "com.android.providers.contacts.CallLogProvider", Some("CALL_LOG")),
    ("com.android.calendar", "com.android.providers.calendar.CalendarProvider2", None),
    ("com.android.contacts", "com.android.providers.contacts.ContactsProvider2", None),
    ("contacts", "com.android.providers.contacts.ContactsProvider2", None),
    ("downloads", "com.android.providers.downloads.DownloadProvider", None),
    ("icc", "com.android.phone.IccProvider", None),
    ("media", "com.android.providers.media.MediaProvider", None),
    ("mms", "com.android.providers.telephony.MmsProvider", Some("SMS")),
    ("mms-sms", "com.android.providers.telephony.MmsSmsProvider", Some("SMS")),
    ("settings", "com.android.providers.settings.SettingsProvider", None),
    ("sms", "com.android.providers.telephony.SmsProvider", Some("SMS")),
    ("telephony", "com.android.providers.telephony.TelephonyProvider", None),
    ("user_dictionary", "com.android.providers.userdictionary.UserDictionaryProvider", None),
];

/// Does what a command says.
pub(super) fn answer(phone: &mut State, command: &Command, pid: u32) -> Outcome {
    let authority = command.uri.authority();
    let Some((_, class, permission)) = PROVIDERS.iter().find(|row| row.0 == authority) else {
        let thrown =
            format!("java.lang.IllegalStateException: Could not find provider: {authority}");
        return Outcome::Exception { thrown, at: Thrower::Program };
    };
    // Since Android 5 the shell has these permissions.
    if let Some(what) = permission.filter(|_| phone.release().form == ToolKind::Java) {
        let permission = "android.permission.";
        return Outcome::Exception {
            thrown: format!(
                "java.lang.SecurityException: Permission Denial: opening provider {class} from (null) (pid={pid}, uid=2000) requires {permission}READ_{what} or {permission}WRITE_{what}"
            ),
            at: Thrower::ActivityManager,
        };
    }
    if authority == "downloads" && phone.release().form == ToolKind::Java {
        let uri = &command.uri.0;
        return Outcome::Exception {
            thrown: format!(
                "java.lang.SecurityException: Permission Denial: reading {class} uri {uri} from pid={pid}, uid=2000 requires android.permission.INTERNET, or grantUriPermission()"
            ),
            at: Thrower::ProviderAccess,
        };
    }
    match authority {
        "settings" => settings(phone, command),
        "com.android.contacts" | "contacts" => people(phone, command),
        _ => empty(command),
    }
}

fn refused(thrown: String) -> Outcome {
    Outcome::Exception { thrown, at: Thrower::Provider }
}

/// A provider without rows.
fn empty(command: &Command) -> Outcome {
    Outcome::Text(match command.operation {
        Operation::Query { .. } => "No result found.\n".to_owned(),
        Operation::Call { .. } | Operation::GetType => "Result: null\n".to_owned(),
        _ => String::new(),
    })
}

/// `content://settings/TABLE[/NAME]`
fn settings(phone: &mut State, command: &Command) -> Outcome {
    let old = phone.release().form == ToolKind::Java;
    if let Operation::Call { method, arg, extras } = &command.operation {
        return match call_settings(phone, method, arg.as_deref(), extras) {
            Some(value) => Outcome::Text(format!("Result: Bundle[{{value={value}}}]\n")),
            None if old => Outcome::Exception {
                thrown: "java.lang.NullPointerException".to_owned(),
                at: Thrower::Reply,
            },
            None => Outcome::Text("Result: null\n".to_owned()),
        };
    }
    let path = command.uri.path();
    let table = path.first().copied().unwrap_or_default().to_owned();
    if !["system", "secure", "global"].contains(&table.as_str()) {
        return refused(match table.as_str() {
            "" => format!("java.lang.IllegalArgumentException: Invalid URI: {}", command.uri.0),
            _ => format!("java.lang.IllegalArgumentException: Bad root path: {table}"),
        });
    }
    let single = path.get(1).map(|name| (*name).to_owned());
    let filter = match &command.operation {
        Operation::Query { filter, .. }
        | Operation::Update { filter, .. }
        | Operation::Delete { filter } => filter.clone(),
        _ => None,
    };
    let mut found = setting_rows(phone, &table);
    if let Some(name) = &single {
        found.retain(|row| row.iter().any(|(column, value)| *column == "name" && value == name));
    }
    if let Err(reason) = checked(command, &mut found, filter.as_deref()) {
        let reason = match &filter {
            Some(filter) if !old => unsupported(command, filter),
            _ if !old => {
                reason.replace("no such column: ", "Invalid column: ").replace(" (code 1)", "")
            }
            _ => reason,
        };
        return match old {
            true => Outcome::Exception {
                thrown: format!(
                    "android.database.sqlite.SQLiteException: {reason}: , while compiling: {}",
                    sql(command, &table)
                ),
                at: Thrower::Database,
            },
            false => refused(format!("java.lang.IllegalArgumentException: {reason}")),
        };
    }
    let names = |found: &[Row]| -> Vec<String> {
        let cells = found.iter().flatten().filter(|(column, _)| *column == "name");
        cells.map(|(_, value)| value.clone()).collect()
    };
    match &command.operation {
        Operation::Query { columns, sort, .. } => {
            if let Some(order) = sort {
                rows::sort(&mut found, order);
            }
            return Outcome::Text(rows::print(&found, columns.as_deref()));
        }
        Operation::Insert { values } => {
            let value = |column: &str| {
                values.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value)
            };
            if value("name").is_empty() && old {
                return Outcome::Exception {
                    thrown: "java.lang.NullPointerException: key == null".to_owned(),
                    at: Thrower::ProviderAccess,
                };
            }
            if !value("name").is_empty() {
                phone.world.put_setting(&table, value("name"), value("value"));
            }
        }
        Operation::Update { values, .. } => {
            if let Some((_, value)) = values.iter().find(|(name, _)| name == "value") {
                for name in names(&found) {
                    phone.world.put_setting(&table, &name, value);
                }
            }
        }
        Operation::Delete { .. } => {
            for name in names(&found) {
                phone.world.remove_setting(&table, &name);
            }
        }
        Operation::GetType => {
            let kind = if single.is_some() { "item" } else { "dir" };
            return Outcome::Text(format!("Result: vnd.android.cursor.{kind}/{table}\n"));
        }
        Operation::Read | Operation::Write | Operation::Call { .. } => {
            return refused(format!("java.io.FileNotFoundException: {}", command.uri.0));
        }
    }
    Outcome::Text(String::new())
}

/// The rows of a settings table. Numbers follow the order of names: this phone stores no others.
fn setting_rows(phone: &State, table: &str) -> Vec<Row> {
    let restored = phone.release().major >= 11;
    let rows = phone.world.settings().list(table).enumerate();
    rows.map(|(number, (name, value))| {
        let mut row = vec![
            ("_id", (number + 1).to_string()),
            ("name", name.to_owned()),
            ("value", value.to_owned()),
        ];
        if restored {
            row.push(("is_preserved_in_restore", "false".to_owned()));
        }
        row
    })
    .collect()
}

/// Keeps the rows that a command names. An error is what the provider says to unknown columns:
/// SQLite's complaint on 4.4, since 6 its own.
fn checked(command: &Command, found: &mut Vec<Row>, filter: Option<&str>) -> Result<(), String> {
    const COLUMNS: [&str; 4] = ["_id", "name", "value", "is_preserved_in_restore"];
    let unknown = |name: &str| (!COLUMNS.contains(&name)).then(|| name.to_owned());
    let odd = match &command.operation {
        Operation::Query { columns, sort, .. } => {
            let sort = sort.as_ref().and_then(|sort| sort.split_whitespace().next());
            let names = columns.iter().flatten().map(String::as_str).chain(sort);
            names.filter_map(unknown).next()
        }
        Operation::Update { values, .. } => values.iter().find_map(|(name, _)| unknown(name)),
        _ => None,
    };
    if let Some(odd) = odd {
        return Err(format!("no such column: {odd} (code 1)"));
    }
    filter.map_or(Ok(()), |filter| rows::select(found, filter, &COLUMNS))
}

/// The statement that SQLite refuses to compile.
fn sql(command: &Command, table: &str) -> String {
    match &command.operation {
        Operation::Query { columns, filter, sort } => {
            let columns = columns.as_ref().map_or("*".to_owned(), |names| names.join(", "));
            let filter = filter.as_ref().map_or(String::new(), |it| format!(" WHERE ({it})"));
            let sort = sort.as_ref().map_or(String::new(), |it| format!(" ORDER BY {it}"));
            format!("SELECT {columns} FROM {table}{filter}{sort}")
        }
        Operation::Update { values, filter } => {
            let names: Vec<String> = values.iter().map(|(name, _)| format!("{name}=?")).collect();
            let filter = filter.as_ref().map_or(String::new(), |it| format!(" WHERE {it}"));
            format!("UPDATE {table} SET {}{filter}", names.join(","))
        }
        Operation::Delete { filter } => {
            let filter = filter.as_ref().map_or(String::new(), |it| format!(" WHERE {it}"));
            format!("DELETE FROM {table}{filter}")
        }
        _ => String::new(),
    }
}

/// What the settings provider of later releases says to any filter but a name.
fn unsupported(command: &Command, filter: &str) -> String {
    format!(
        "Supported SQL:\n  uri content://some_table/some_property with null where and where args\n  uri content://some_table with query name=? and single name as arg\n  uri content://some_table with query name=some_name and null args\n  but got - uri:{}, where:{filter} whereArgs:null",
        command.uri.0
    )
}

/// `GET_system`, `PUT_secure` and so on: how Android's own `Settings` class reads and writes.
fn call_settings(
    phone: &mut State,
    method: &str,
    arg: Option<&str>,
    extras: &[(String, String)],
) -> Option<String> {
    let (verb, table) = method.split_once('_')?;
    let name = arg.filter(|_| ["system", "secure", "global"].contains(&table))?;
    match verb {
        "GET" => Some(phone.world.setting(table, name).unwrap_or("null").to_owned()),
        "PUT" => {
            if let Some((_, value)) = extras.iter().find(|(key, _)| key == "value") {
                phone.world.put_setting(table, name, value);
            }
            None
        }
        _ => None,
    }
}

/// The people of Contacts, as far as their names and addresses go.
fn people(phone: &mut State, command: &Command) -> Outcome {
    let path = command.uri.path();
    let kind = match path.as_slice() {
        ["contacts" | "people"] | ["contacts" | "people", _] => "contact",
        ["raw_contacts" | "groups" | "settings" | "profile" | "deleted_contacts", ..] => {
            return empty(command);
        }
        ["data"] | ["data", "phones"] | ["phones"] => "phone",
        ["data", "emails"] => "email",
        _ => {
            let uri = &command.uri.0;
            let caller = match phone.release().form {
                ToolKind::Java => {
                    ", calling user: android.uid.shell:2000, calling package:com.android.shell"
                }
                ToolKind::Service => {
                    ", calling user: com.android.shell, calling package:com.android.shell"
                }
            };
            return refused(format!("java.lang.IllegalArgumentException: URI: {uri}{caller}"));
        }
    };
    let Operation::Query { columns, filter, sort } = &command.operation else {
        return empty(command);
    };
    let id = path.get(1).filter(|_| kind == "contact");
    let mut found: Vec<Row> = phone
        .world
        .people()
        .into_iter()
        .filter(|person| id.is_none_or(|id| *id == person.id.to_string()))
        .filter_map(|person| {
            let mut row =
                vec![("_id", person.id.to_string()), ("display_name", person.name.clone())];
            let (mime, text) = match kind {
                "phone" => ("phone_v2", person.phone),
                "email" => ("email_v2", person.email),
                _ => {
                    let has = u8::from(!person.phone.is_empty()).to_string();
                    row.push(("has_phone_number", has));
                    return Some(row);
                }
            };
            row.push(("contact_id", person.id.to_string()));
            row.push(("mimetype", format!("vnd.android.cursor.item/{mime}")));
            row.push(("data1", text.clone()));
            (!text.is_empty()).then_some(row)
        })
        .collect();
    let known = ["_id", "display_name", "has_phone_number", "contact_id", "mimetype", "data1"];
    if let Some(filter) = filter
        && let Err(reason) = rows::select(&mut found, filter, &known)
    {
        return refused(format!("android.database.sqlite.SQLiteException: {reason}"));
    }
    let odd = columns.iter().flatten().find(|name| !known.contains(&name.as_str()));
    if let Some(odd) = odd {
        return refused(format!("java.lang.IllegalArgumentException: Invalid column {odd}"));
    }
    if let Some(order) = sort {
        rows::sort(&mut found, order);
    }
    Outcome::Text(rows::print(&found, columns.as_deref()))
}
