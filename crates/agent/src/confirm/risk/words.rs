//! The words by which an action is judged: what a label or a sentence announces, in several
//! languages.
//!
//! English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian and Turkish are
//! matched as whole words, ignoring case. Chinese, Japanese and Korean have no spaces between words
//! and match anywhere.

use thumbwire_base::visible::without_hidden;

pub(super) const PAY: &str = "pay";
pub(super) const SEND: &str = "send something";
pub(super) const DELETE: &str = "delete something";
pub(super) const CALL: &str = "call someone";

/// The words on buttons for each kind of risk.
const WORDS: [(&str, &str); 8] = [
    (
        PAY,
        "pay|pay now|buy|buy now|purchase|place order|order now|book now|checkout|subscribe|donate|\
         transfer|withdraw|confirm order|confirm payment|confirm purchase|send money|place bid|\
         bezahlen|zahlen|kaufen|jetzt kaufen|kostenpflichtig bestellen|bestellen|\
         überweisen|abonnieren|payer|acheter|commander|virement|s'abonner|pagar|comprar|\
         transferir|suscribirse|paga|acquista|compra|bonifico|assinar|betalen|kopen|bestel|\
         zapłać|kup|kup teraz|przelew|оплатить|купить|заказать|перевести|öde|satın al|支付|\
         付款|购买|購買|转账|轉帳|購入|支払|결제|구매|송금",
    ),
    (
        SEND,
        "send|send now|submit|post|publish|reply all|share|tweet|senden|absenden|abschicken|\
         veröffentlichen|teilen|weiterleiten|envoyer|publier|partager|transférer|enviar|publicar|\
         compartir|reenviar|compartilhar|encaminhar|invia|pubblica|condividi|inoltra|verzenden|\
         versturen|delen|doorsturen|wyślij|opublikuj|udostępnij|отправить|опубликовать|поделиться|\
         переслать|gönder|paylaş|发送|發送|傳送|发布|分享|转发|轉發|送信|投稿|共有|転送|보내기|전송|\
         게시|공유",
    ),
    (
        DELETE,
        "delete|delete all|delete forever|remove|erase|wipe|discard|empty trash|empty bin|clear all|\
         clear data|clear storage|clear history|move to trash|move to bin|unsubscribe|löschen|\
         entfernen|verwerfen|papierkorb leeren|\
         supprimer|effacer|retirer|vider la corbeille|eliminar|borrar|quitar|elimina|cancella|rimuovi|\
         excluir|apagar|remover|verwijderen|wissen|usuń|skasuj|удалить|стереть|очистить|sil|kaldır|\
         删除|刪除|清除|清空|移除|削除|消去|삭제|지우기|제거",
    ),
    (
        CALL,
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
         delete all data|reset network settings|auf werkseinstellungen zurücksetzen|alle daten löschen|\
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

/// What sentences say besides: other forms of the words, and nouns.
const IN_SENTENCES: [(&str, &str); 5] = [
    (
        PAY,
        "payment|paying|be charged|will be charged|your order|order total|purchasing|purchases|buying|\
         subscription|donation|transferring|zahlung|bezahlt|gekauft|kauf|abgebucht|überweisung|\
         überwiesen|abonnement|paiement|payé|achat|acheté|débité|pago|compra|comprado|cobrará|\
         pagamento|acquisto|betaling|płatność|zakup|оплата|покупка|платёж|ödeme|satın",
    ),
    (
        SEND,
        "sending|be sent|submitting|posting|publishing|sharing|be shared|be published|verschickt|\
         gesendet werden|geteilt werden|enviará|inviare|wysłać|gönderilecek",
    ),
    (
        DELETE,
        "deleted|deleting|removed|removing|erased|erasing|discarded|trash|permanently|\
         gelöscht|entfernt|verworfen|endgültig|supprimé|supprimée|supprimés|supprimées|effacé|\
         eliminado|eliminada|eliminará|borrado|eliminare|eliminato|cancellare|eliminati|excluído|\
         excluída|verwijderd|gewist|usunąć|usunięte|удалено|удалены|silinecek|silinsin",
    ),
    (CALL, "calling|dialing|angerufen"),
    ("give an app a permission", "would like to|wants to access|möchte auf"),
];

/// Buttons without letters.
const SYMBOLS: [(&str, &str); 3] = [(DELETE, "🗑"), (CALL, "📞☎"), (SEND, "➤📤")];

/// What a button says that agrees to a question.
const AGREEMENT: &str = "ok|okay|yes|confirm|continue|proceed|accept|agree|i agree|agree and continue|\
     accept and continue|sure|go ahead|do it|i understand|understood|yes please|yes i'm sure|i'm sure|\
     ja|jawohl|bestätigen|weiter|fortfahren|einverstanden|zustimmen|akzeptieren|oui|confirmer|continuer|\
     accepter|d'accord|valider|sí|si|confirmar|continuar|aceptar|acepto|de acuerdo|conferma|continua|\
     accetta|va bene|accetto|sim|aceitar|concordo|bevestigen|doorgaan|akkoord|tak|potwierdź|kontynuuj|\
     zgadzam się|да|ок|подтвердить|продолжить|принять|хорошо|evet|tamam|onayla|devam|kabul et|\
     是|确定|確定|确认|確認|同意|继续|繼續|好|はい|続ける|了解|예|확인|계속|동의|✓|✔|👍";

/// A longer text is not a button's.
const MAX_WORDS: usize = 5;
const MAX_SIGNS: usize = 48;
/// How much of a sentence is read, in characters.
const MAX_SENTENCE: usize = 400;
/// Shorter words mean too many things in a sentence.
const MIN_WORD: usize = 4;

/// What a button with this label may do. Long texts (a message in a list, a paragraph) are not
/// labels.
pub(super) fn risk_of_label(text: &str) -> Option<&'static str> {
    let text = Words::of(text);
    if text.all.chars().count() > MAX_SIGNS {
        return None;
    }
    let is_short = text.parts.len() <= MAX_WORDS;
    // The longest match is the most specific: "delete all data" is more than "delete".
    let found = pairs(&WORDS).filter(|(_, word)| text.has(word) && (is_short || is_unspaced(word)));
    let found = found.max_by_key(|(_, word)| word.chars().count()).map(|(what, _)| what);
    let symbol = || {
        let has = |(_, signs): &&(&str, &str)| signs.chars().any(|sign| text.all.contains(sign));
        SYMBOLS.iter().find(has).map(|(what, _)| *what)
    };
    found.or_else(|| if text.parts.is_empty() { symbol() } else { None })
}

/// What the question of a dialog may be about.
pub(super) fn risk_of_sentence(text: &str) -> Option<&'static str> {
    let cut: String = text.chars().take(MAX_SENTENCE).collect();
    let text = Words::of(&cut);
    let is_telling = |word: &str| {
        word.chars().count() >= MIN_WORD || is_unspaced(word) || matches!(word, "pay" | "buy")
    };
    let found = pairs(&WORDS).chain(pairs(&IN_SENTENCES));
    let found = found.filter(|(_, word)| is_telling(word) && text.has(word));
    found.max_by_key(|(_, word)| word.chars().count()).map(|(what, _)| what)
}

/// Whether a button with this label says yes to whatever is asked.
pub(super) fn agrees(label: &str) -> bool {
    let text = Words::of(label);
    let label = if text.parts.is_empty() { text.all.clone() } else { text.parts.join(" ") };
    AGREEMENT.split('|').any(|word| word.trim() == label)
}

fn pairs(
    all: &'static [(&'static str, &'static str)],
) -> impl Iterator<Item = (&'static str, &'static str)> {
    all.iter().flat_map(|(what, words)| words.split('|').map(move |word| (*what, word.trim())))
}

/// A text as words.
struct Words {
    /// In lower case, without invisible characters: they do not change what a person reads
    /// ("P\u{ad}ay").
    all: String,
    parts: Vec<String>,
    /// The words with one space between them and at both ends.
    spaced: String,
}

impl Words {
    fn of(text: &str) -> Self {
        let shown = without_hidden(text);
        let all = shown.trim().replace(['\u{2019}', '\u{2bc}'], "'").to_lowercase();
        let is_part = |it: char| it.is_alphanumeric() || it == '\'' || it == '-';
        let parts: Vec<String> = all
            .split(|it| !is_part(it))
            .map(|part| part.trim_matches(['\'', '-']).to_owned())
            .filter(|part| !part.is_empty())
            .collect();
        let spaced = format!(" {} ", parts.join(" "));
        Self { all, parts, spaced }
    }

    fn has(&self, word: &str) -> bool {
        match is_unspaced(word) {
            true => self.all.contains(word),
            // Whole words: "Installed apps" installs nothing, and "Recall" calls nobody.
            false => self.spaced.contains(&format!(" {word} ")),
        }
    }
}

/// Whether the word is in a script without spaces between words.
fn is_unspaced(word: &str) -> bool {
    word.chars().any(|it| matches!(it, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

#[cfg(test)]
mod tests {
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
            ("S\u{2019}abonner", "pay"),
            ("Llamar", "call someone"),
            ("удалить", "delete something"),
            ("削除する", "delete something"),
            ("发送", "send something"),
            ("Uninstall", "uninstall an app"),
            ("Install anyway", "install an app"),
            ("Erase all data (factory reset)", "reset the phone"),
            ("While using the app", "give an app a permission"),
            ("🗑", "delete something"),
            ("📞", "call someone"),
        ] {
            assert_eq!(risk_of_label(words), Some(what), "{words}");
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
            assert_eq!(risk_of_label(words), None, "{words}");
        }
    }

    #[test]
    fn question_of_a_dialog_tells_what_yes_does() {
        for (words, what) in [
            ("Delete this note?", Some("delete something")),
            (
                "Do you really want to permanently remove “Shopping”? This cannot be undone.",
                Some("delete something"),
            ),
            ("You will be charged 12,00 € today", Some("pay")),
            ("Die Notiz wird endgültig gelöscht.", Some("delete something")),
            ("Voulez-vous supprimer la note ?", Some("delete something")),
            ("¿Eliminar la nota?", Some("delete something")),
            ("この連絡先を削除しますか？", Some("delete something")),
            ("“Maps” Would Like to Use Your Location", Some("give an app a permission")),
            ("Your changes were saved", None),
            ("New version available", None),
        ] {
            assert_eq!(risk_of_sentence(words), what, "{words}");
        }
    }

    #[test]
    fn agreement_is_known_in_several_languages() {
        for word in
            ["OK", "Yes", "Ja", "D\u{2019}accord", "Sí", "确定", "はい", "✓", "Continue", "I agree"]
        {
            assert!(agrees(word), "{word}");
        }
        for word in ["Cancel", "No", "Close", "Back", "", "Yesterday", "Later"] {
            assert!(!agrees(word), "{word}");
        }
    }
}
