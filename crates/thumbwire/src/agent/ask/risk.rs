//! Which acts are risky: by the words of the control that is tapped, in several languages; and whatever an app does by itself, since
//! its protocol does not say which of its tools only look.
//!
//! Words alone cannot know what a button does; this is a net for what is plainly called so, not a promise. Long texts (a
//! message in a list, a paragraph) are no buttons and are passed over.

use serde_json::Value;
use thumbwire_device::Node;

use super::super::prompt::shortened;
use super::super::reply::Doing;
use super::super::scene::Scene;
use crate::surface::bridged::is_app_tool;

/// What an act would do that cannot be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risk {
    /// In words: `pay`, `delete something`.
    pub what: &'static str,
    /// The control's words.
    pub words: String,
}

impl Risk {
    /// What a person is asked.
    pub fn question(&self, app: Option<&str>) -> String {
        let Self { what, words } = self;
        if *what == BY_AN_APP {
            return format!("About to call {words}, {what}. Go ahead? (yes / no)");
        }
        let place = app.map_or(String::new(), |app| format!(" in {app}"));
        format!("About to tap {words:?}{place}, which may {what}. Go ahead? (yes / no)")
    }
}

/// What each kind of risk is called, on buttons. Words of several are looked for as they stand; a name that holds one whole,
/// small or capital, is meant. English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Turkish; Chinese,
/// Japanese and Korean have no blanks between words, and are looked for anywhere.
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
        "call somebody",
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

/// What an app does by itself: nobody sees it coming, and its name alone says little.
const BY_AN_APP: &str = "which an app then does by itself";
/// How much of its arguments a person is told, in characters.
const LONGEST_ARGUMENTS: usize = 300;

/// More words than that are a text, not a button.
const MOST_WORDS: usize = 5;
const MOST_SIGNS: usize = 48;

/// Whether the act would do something that cannot be taken back, as far as words tell.
pub fn risk(doing: &Doing, screen: &Scene) -> Option<Risk> {
    if is_app_tool(&doing.function) {
        let arguments = Value::from(doing.arguments.clone()).to_string();
        let words = format!("{} {}", doing.function, shortened(&arguments, LONGEST_ARGUMENTS));
        return Some(Risk { what: BY_AN_APP, words });
    }
    if !matches!(&*doing.function, "click_control" | "tap" | "long_press" | "mobile_tap_element") {
        return None;
    }
    let node = target(doing, screen);
    let named = doing.arguments.get("control_name").and_then(Value::as_str);
    if node.is_some_and(thumbwire_device::field::takes_text) {
        return None;
    }
    let own = node.map(words_of).filter(|words| !words.is_empty());
    let inside = node.map(|node| words_inside(node, screen)).filter(|words| !words.is_empty());
    let named = named.map(str::to_owned).filter(|_| own.is_none() && inside.is_none());
    let all = [own, inside, named].into_iter().flatten();
    all.filter_map(|words| Some(Risk { what: by_words(&words)?, words })).next()
}

/// What stands in a control that does not say anything itself: a button of Compose is a view that takes taps, and its words are
/// a view within.
fn words_inside(node: &Node, screen: &Scene) -> String {
    let says = !(node.text.is_empty() && node.description.is_empty());
    let Some(controls) = screen.controls.as_ref().filter(|_| !says) else { return String::new() };
    let look = &controls.look;
    let nodes = &look.tree.nodes;
    let outer = nodes.iter().position(|it| std::ptr::eq(it, node)).unwrap_or(nodes.len());
    let inside = (outer..nodes.len()).filter(|&at| look.is_inside(at, outer));
    let words = inside.map(|at| match (&*nodes[at].text, &*nodes[at].description) {
        ("", description) => description,
        (text, _) => text,
    });
    // More of them are a list or a page, not a button.
    let words: Vec<&str> = words.filter(|words| !words.is_empty()).take(MOST_WORDS + 1).collect();
    words.join(" ")
}

fn by_words(words: &str) -> Option<&'static str> {
    let small = words.trim().to_lowercase();
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
    // The longest word that is there tells best: "delete all data" is more than "delete".
    let found =
        WORDS.iter().flat_map(|(what, words)| words.split('|').map(move |word| (*what, word)));
    found
        .filter(|(_, word)| has(word))
        .max_by_key(|(_, word)| word.chars().count())
        .map(|(what, _)| what)
}

/// Scripts of which words stand without blanks between them.
fn is_without_blanks(word: &str) -> bool {
    word.chars().any(|it| matches!(it, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

/// The control that a tap goes to: by its number, or the smallest that lies at the place.
fn target<'a>(doing: &Doing, screen: &'a Scene) -> Option<&'a Node> {
    let whole = |name: &str| {
        doing.arguments.get(name).and_then(Value::as_i64).and_then(|it| i32::try_from(it).ok())
    };
    if let Some(id) = doing.arguments.get("control_id").and_then(Value::as_str) {
        let controls = screen.controls.as_ref()?;
        return controls.node_of(id).map(|node| &controls.look.tree.nodes[node]);
    }
    let at = thumbwire_device::Point { x: whole("x")?, y: whole("y")? };
    let area = |node: &Node| {
        let bounds = node.bounds;
        i64::from(bounds.right - bounds.left) * i64::from(bounds.bottom - bounds.top)
    };
    let there = screen.nodes().map(|(_, node)| node).filter(|node| node.bounds.contains(at));
    there.filter(|node| !words_of(node).is_empty()).min_by_key(|node| area(node))
}

/// What a control says; where it says nothing, the last part of its id: `com.app:id/btn_delete`.
fn words_of(node: &Node) -> String {
    match (node.text.as_str(), node.description.as_str()) {
        ("", "") => node.id.rsplit('/').next().unwrap_or_default().replace('_', " "),
        ("", description) => description.to_owned(),
        (text, _) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::scene::made::{buttons, node, scene};
    use super::*;

    #[test]
    fn a_button_is_judged_by_its_words_in_several_languages() {
        for (words, what) in [
            ("Delete", "delete something"),
            ("DELETE 3 MESSAGES", "delete something"),
            ("Pay now", "pay"),
            ("Jetzt kaufen", "pay"),
            ("Envoyer", "send something"),
            ("Llamar", "call somebody"),
            ("удалить", "delete something"),
            ("削除する", "delete something"),
            ("发送", "send something"),
            ("Uninstall", "uninstall an app"),
            ("Install anyway", "install an app"),
            ("Erase all data (factory reset)", "reset the phone"),
            ("While using the app", "give an app a permission"),
        ] {
            assert_eq!(by_words(words), Some(what), "{words}");
        }
    }

    #[test]
    fn what_only_sounds_so_is_not_risky() {
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
            assert_eq!(by_words(words), None, "{words}");
        }
    }

    fn click(arguments: Value) -> Doing {
        let function = if arguments.get("x").is_some() { "tap" } else { "click_control" };
        Doing { function: function.into(), arguments: arguments.as_object().cloned().unwrap() }
    }

    #[test]
    fn the_controls_own_words_count_and_not_what_the_mind_calls_it() {
        let screen = buttons(&["Delete", "Cancel"]);
        let risky = |id: &str, name: &str| {
            risk(&click(json!({ "control_id": id, "control_name": name })), &screen)
        };
        assert_eq!(risky("1", "Cancel").unwrap().words, "Delete");
        assert_eq!(risky("2", "Delete"), None);
        assert!(risky("9", "Delete").is_some(), "nothing better is known");
    }

    #[test]
    fn a_button_whose_words_stand_within_is_judged_by_them() {
        let inside = |words: &str| {
            let mut within = node("TextView", words, 0);
            within.parent = Some(0);
            scene("app", vec![node("View", "", 0), within])
        };
        let risky = |screen: &Scene| {
            risk(&click(json!({ "control_id": "1", "control_name": "View" })), screen)
        };
        assert_eq!(risky(&inside("Pay now")).unwrap().what, "pay");
        assert_eq!(risky(&inside("Cancel")), None);
        assert_eq!(risky(&inside("Pay whom you like, whenever it suits you")), None);
        // Another button beside it is none of its words.
        let beside = scene("app", vec![node("View", "", 0), node("Button", "Pay now", 1)]);
        assert_eq!(risky(&beside), None);
    }

    #[test]
    fn a_tap_at_a_place_is_judged_by_what_lies_there() {
        let mut icon = node("ImageButton", "", 1);
        icon.id = "app:id/btn_send".into();
        let screen = scene("app", vec![node("Button", "Cancel", 0), icon]);
        assert_eq!(risk(&click(json!({ "x": 5, "y": 20 })), &screen), None);
        let found = risk(&click(json!({ "x": 5, "y": 70 })), &screen).unwrap();
        assert_eq!(
            found.question(Some("app")),
            "About to tap \"btn send\" in app, which may send something. Go ahead? (yes / no)"
        );
    }

    #[test]
    fn writing_about_it_is_no_risk() {
        let screen = scene("app", vec![node("EditText", "Send", 0)]);
        assert_eq!(
            risk(&click(json!({ "control_id": "1", "control_name": "Send" })), &screen),
            None
        );
    }
}
