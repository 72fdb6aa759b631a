//! Which actions are risky: by the text of the tapped control, in several languages. Functions of apps always are,
//! because their protocol does not say which of them only read.
//!
//! Text cannot tell what a button really does. This catches buttons with plain names; it is not a guarantee. Long texts
//! (a message in a list, a paragraph) are not buttons and are ignored.

use serde_json::Value;
use thumbwire_base::truncate;
use thumbwire_base::visible::without_hidden;
use thumbwire_device::Node;

use super::super::decision::FunctionCall;
use super::super::screen_state::ScreenState;
use thumbwire_core::toolset::app_tools::is_app_tool;

/// An action that cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risk {
    /// What it may do: `pay`, `delete something`.
    pub what: &'static str,
    /// The control's text.
    pub text: String,
}

impl Risk {
    /// The question to the user.
    pub fn question(&self, app: Option<&str>) -> String {
        let Self { what, text: words } = self;
        if *what == BY_AN_APP {
            return format!("About to call {words}, {what}. Go ahead?");
        }
        let place = app.map_or(String::new(), |app| format!(" in {app}"));
        format!("About to tap {words:?}{place}, which may {what}. Go ahead?")
    }
}

/// The words on buttons for each kind of risk, matched as whole words, ignoring case. English, German, French, Spanish,
/// Italian, Portuguese, Dutch, Polish, Russian, Turkish. Chinese, Japanese and Korean have no spaces between words and
/// match anywhere.
const WORDS: [(&str, &str); 8] = [
    (
        "pay",
        "pay|pay now|buy|buy now|purchase|place order|order now|checkout|subscribe|donate|\
         transfer|bezahlen|zahlen|kaufen|jetzt kaufen|kostenpflichtig bestellen|bestellen|\
         überweisen|abonnieren|payer|acheter|commander|virement|s'abonner|pagar|comprar|\
         transferir|suscribirse|paga|acquista|compra|bonifico|assinar|betalen|kopen|bestel|\
         zapłać|kup|kup teraz|przelew|оплатить|купить|заказать|перевести|öde|satın al|支付|\
         付款|购买|購買|转账|轉帳|購入|支払|결제|구매|송금",
    ),
    (
        "send something",
        "send|send now|submit|post|publish|reply all|share|tweet|senden|absenden|abschicken|\
         veröffentlichen|teilen|envoyer|publier|partager|enviar|publicar|compartir|\
         compartilhar|invia|pubblica|condividi|verzenden|versturen|delen|wyślij|opublikuj|\
         udostępnij|отправить|опубликовать|поделиться|gönder|paylaş|发送|發送|傳送|发布|分享|\
         送信|投稿|共有|보내기|전송|게시|공유",
    ),
    (
        "delete something",
        "delete|delete all|delete forever|remove|erase|discard|empty trash|clear all|\
         clear data|clear storage|unsubscribe|löschen|entfernen|verwerfen|papierkorb leeren|\
         supprimer|effacer|retirer|eliminar|borrar|quitar|elimina|cancella|rimuovi|excluir|\
         apagar|remover|verwijderen|wissen|usuń|skasuj|удалить|стереть|очистить|sil|kaldır|\
         删除|刪除|清除|移除|削除|消去|삭제|지우기|제거",
    ),
    (
        "call someone",
        "call|call now|dial|video call|voice call|emergency call|anrufen|anruf|notruf|\
         appeler|appel|llamar|llamada|chiama|ligar|chamar|bellen|zadzwoń|połącz|позвонить|\
         вызов|拨打|呼叫|撥打|发信|発信|電話をかける|전화 걸기|통화",
    ),
    (
        "uninstall an app",
        "uninstall|uninstall app|deinstallieren|désinstaller|desinstalar|disinstalla|\
         de-installeren|odinstaluj|удалить приложение|yüklemeyi kaldır|卸载|解除安裝|\
         アンインストール|설치 제거|제거",
    ),
    (
        "install an app",
        "install|install anyway|install now|update all|installieren|installer|instalar|\
         installa|installeren|zainstaluj|установить|yükle|安装|安裝|インストール|설치",
    ),
    (
        "reset the phone",
        "factory reset|reset phone|erase all data|erase everything|reset all settings|\
         delete all data|auf werkseinstellungen zurücksetzen|alle daten löschen|\
         telefon zurücksetzen|réinitialiser le téléphone|effacer toutes les données|\
         restablecer datos de fábrica|borrar todos los datos|ripristino dati di fabbrica|\
         cancella tutti i dati|redefinir para os padrões de fábrica|apagar todos os dados|\
         fabrieksinstellingen terugzetten|przywróć dane fabryczne|\
         сброс до заводских настроек|恢复出厂设置|恢復原廠設定|出荷時の状態|초기화",
    ),
    (
        "give an app a permission",
        "allow|always allow|allow all the time|allow all|allow only while using the app|\
         while using the app|only this time|grant|zulassen|erlauben|immer zulassen|\
         bei nutzung der app|nur dieses mal|autoriser|toujours autoriser|permitir|\
         permitir siempre|consenti|consenti sempre|toestaan|zezwól|zezwalaj|разрешить|\
         разрешать всегда|izin ver|允许|始终允许|允許|許可|허용",
    ),
];

/// A function of an app: its effect is not visible beforehand, and its name says little.
const BY_AN_APP: &str = "which an app then runs on its own";
/// The longest arguments in a question, in characters.
const LONGEST_ARGUMENTS: usize = 300;

/// A longer text is not a button's.
const MOST_WORDS: usize = 5;
const MOST_SIGNS: usize = 48;

/// Whether the call may do something that cannot be undone, as far as text tells.
pub fn risk(call: &FunctionCall, screen: &ScreenState) -> Option<Risk> {
    if is_app_tool(&call.function) {
        let arguments = Value::from(call.arguments.clone()).to_string();
        let text = format!("{} {}", call.function, truncate(&arguments, LONGEST_ARGUMENTS));
        return Some(Risk { what: BY_AN_APP, text });
    }
    if !matches!(&*call.function, "click_control" | "tap" | "long_press" | "mobile_tap_element") {
        return None;
    }
    let node = target(call, screen);
    let named = call.arguments.get("control_name").and_then(Value::as_str);
    if node.is_some_and(thumbwire_device::text_field::is_text_field) {
        return None;
    }
    let own = node.map(text_of).filter(|words| !words.is_empty());
    let inside = node.map(|node| text_inside(node, screen)).filter(|words| !words.is_empty());
    let named = named.map(str::to_owned).filter(|_| own.is_none() && inside.is_none());
    let all = [own, inside, named].into_iter().flatten();
    all.filter_map(|words| Some(Risk { what: risk_of_text(&words)?, text: words })).next()
}

/// The texts inside a control that has none itself: a Compose button is a clickable view, and its label a view inside
/// it.
fn text_inside(node: &Node, screen: &ScreenState) -> String {
    let says = !(node.text.is_empty() && node.description.is_empty());
    let Some(controls) = screen.controls.as_ref().filter(|_| !says) else { return String::new() };
    let snapshot = &controls.snapshot;
    let nodes = &snapshot.tree.nodes;
    let outer = nodes.iter().position(|it| std::ptr::eq(it, node)).unwrap_or(nodes.len());
    let inside = (outer..nodes.len()).filter(|&at| snapshot.is_inside(at, outer));
    let words = inside.map(|at| match (&*nodes[at].text, &*nodes[at].description) {
        ("", description) => description,
        (text, _) => text,
    });
    // More texts are a list or a page, not a button.
    let words: Vec<&str> = words.filter(|words| !words.is_empty()).take(MOST_WORDS + 1).collect();
    words.join(" ")
}

fn risk_of_text(text: &str) -> Option<&'static str> {
    // Invisible characters between the letters do not change what a person reads: "Pay".
    let small = without_hidden(text).trim().to_lowercase();
    if small.chars().count() > MOST_SIGNS {
        return None;
    }
    let parts: Vec<&str> = small
        .split(|it: char| !it.is_alphanumeric() && it != '\'' && it != '-')
        .filter(|it| !it.is_empty())
        .collect();
    let joined = parts.join(" ");
    let has = |word: &str| match word.is_ascii() || !is_without_blanks(word) {
        // Whole words: "Installed apps" installs nothing, and "Recall" calls nobody.
        true => parts.len() <= MOST_WORDS && format!(" {joined} ").contains(&format!(" {word} ")),
        false => small.contains(word),
    };
    // The longest match is the most specific: "delete all data" is more than "delete".
    let found =
        WORDS.iter().flat_map(|(what, words)| words.split('|').map(move |word| (*what, word)));
    found
        .filter(|(_, word)| has(word))
        .max_by_key(|(_, word)| word.chars().count())
        .map(|(what, _)| what)
}

/// Whether the word is in a script without spaces between words.
fn is_without_blanks(word: &str) -> bool {
    word.chars().any(|it| matches!(it, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

/// The target of a tap: the control with the number, or the smallest one at the position.
fn target<'a>(call: &FunctionCall, screen: &'a ScreenState) -> Option<&'a Node> {
    let whole = |name: &str| {
        call.arguments.get(name).and_then(Value::as_i64).and_then(|it| i32::try_from(it).ok())
    };
    if call.arguments.get("control_id").is_some_and(Value::is_string) {
        let controls = screen.controls.as_ref()?;
        return controls.node_of(call.control()?).map(|node| &controls.snapshot.tree.nodes[node]);
    }
    let at = thumbwire_device::Point { x: whole("x")?, y: whole("y")? };
    let area = |node: &Node| {
        let bounds = node.bounds;
        i64::from(bounds.right - bounds.left) * i64::from(bounds.bottom - bounds.top)
    };
    let there = screen.nodes().map(|(_, node)| node).filter(|node| node.bounds.contains(at));
    there.filter(|node| !text_of(node).is_empty()).min_by_key(|node| area(node))
}

/// A control's text; if it has none, the last part of its id: `com.app:id/btn_delete`.
fn text_of(node: &Node) -> String {
    match (&*node.text, &*node.description) {
        ("", "") => node.id.rsplit('/').next().unwrap_or_default().replace('_', " "),
        ("", description) => description.to_owned(),
        (text, _) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::screen_state::made::{buttons, node, scene};
    use super::*;

    #[test]
    fn risky_buttons_are_found_in_several_languages() {
        for (words, what) in [
            ("Delete", "delete something"),
            ("DELETE 3 MESSAGES", "delete something"),
            ("Pay now", "pay"),
            ("P\u{200b}a\u{ad}y now\u{202c}", "pay"),
            ("Jetzt kaufen", "pay"),
            ("Envoyer", "send something"),
            ("Llamar", "call someone"),
            ("удалить", "delete something"),
            ("削除する", "delete something"),
            ("发送", "send something"),
            ("Uninstall", "uninstall an app"),
            ("Install anyway", "install an app"),
            ("Erase all data (factory reset)", "reset the phone"),
            ("While using the app", "give an app a permission"),
        ] {
            assert_eq!(risk_of_text(words), Some(what), "{words}");
        }
    }

    #[test]
    fn similar_words_are_not_risky() {
        for words in [
            "Installed apps",
            "Recall",
            "Sender",
            "Callahan",
            "Paypal",
            "Payment methods",
            "Settings",
            "",
            "please call me back as soon as you can, I have to tell you",
            "Deleted items",
        ] {
            assert_eq!(risk_of_text(words), None, "{words}");
        }
    }

    fn click(arguments: Value) -> FunctionCall {
        let function = if arguments.get("x").is_some() { "tap" } else { "click_control" };
        FunctionCall {
            function: function.into(),
            arguments: arguments.as_object().cloned().unwrap(),
        }
    }

    #[test]
    fn control_text_decides_not_the_policys_name() {
        let screen = buttons(&["Delete", "Cancel"]);
        let risky = |id: &str, name: &str| {
            risk(&click(json!({ "control_id": id, "control_name": name })), &screen)
        };
        assert_eq!(risky("1", "Cancel").unwrap().text, "Delete");
        assert_eq!(risky("2", "Delete"), None);
        assert!(risky("9", "Delete").is_some(), "nothing better is known");
    }

    #[test]
    fn button_is_judged_by_its_inner_text() {
        let inside = |text: &str| {
            let mut within = node("TextView", text, 0);
            within.parent = Some(0);
            scene("app", vec![node("View", "", 0), within])
        };
        let risky = |screen: &ScreenState| {
            risk(&click(json!({ "control_id": "1", "control_name": "View" })), screen)
        };
        assert_eq!(risky(&inside("Pay now")).unwrap().what, "pay");
        assert_eq!(risky(&inside("Cancel")), None);
        assert_eq!(risky(&inside("Pay whom you like, whenever it suits you")), None);
        // The text of another button beside it does not count.
        let beside = scene("app", vec![node("View", "", 0), node("Button", "Pay now", 1)]);
        assert_eq!(risky(&beside), None);
    }

    #[test]
    fn tap_at_coordinates_is_judged_by_its_target() {
        let mut icon = node("ImageButton", "", 1);
        icon.id = "app:id/btn_send".into();
        let screen = scene("app", vec![node("Button", "Cancel", 0), icon]);
        assert_eq!(risk(&click(json!({ "x": 5, "y": 20 })), &screen), None);
        let found = risk(&click(json!({ "x": 5, "y": 70 })), &screen).unwrap();
        assert_eq!(
            found.question(Some("app")),
            "About to tap \"btn send\" in app, which may send something. Go ahead?"
        );
    }

    #[test]
    fn typing_is_not_risky() {
        let screen = scene("app", vec![node("EditText", "Send", 0)]);
        assert_eq!(
            risk(&click(json!({ "control_id": "1", "control_name": "Send" })), &screen),
            None
        );
    }
}
