//! The words by which an action is judged: what a label or a sentence announces, in several
//! languages.
//!
//! English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian and Turkish are
//! matched as whole words. Chinese, Japanese and Korean have no spaces between words and match
//! anywhere. Case, accents, hidden characters, letters that only look the same (`Dеlete` with a
//! Cyrillic е), letters set apart (`D e l e t e`) and words run together (`deleteNote`) make no
//! difference: an app must not talk its way around a question that a person would expect.

use std::sync::LazyLock;

use thumbwire_base::visible::without_hidden;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::skeleton;

pub(super) const PAY: &str = "pay";
pub(super) const SEND: &str = "send something";
pub(super) const DELETE: &str = "delete something";
pub(super) const CALL: &str = "call someone";

/// The words on buttons for each kind of risk.
const WORDS: [(&str, &str); 10] = [
    (
        PAY,
        "pay|pay now|buy|buy now|purchase|place order|place your order|place my order|complete order|\
         complete purchase|submit order|send order|order now|book now|reserve now|checkout|check out|\
         subscribe|renew|upgrade now|start trial|start free trial|donate|transfer|withdraw|deposit|\
         top up|recharge|add funds|add money|add credit|cash out|redeem|invest|\
         confirm order|confirm payment|confirm purchase|confirm booking|authorise payment|\
         authorize payment|send money|request money|place bid|bid|bid now|1 click|\
         bezahlen|zahlen|kaufen|jetzt kaufen|kostenpflichtig bestellen|bestellen|buchen|jetzt buchen|\
         überweisen|abonnieren|aufladen|spenden|einzahlen|abheben|verlängern|einlösen|\
         payer|acheter|commander|réserver|virement|virer|verser|recharger|s'abonner|abonner|faire un don|\
         passer la commande|régler|pagar|comprar|hacer pedido|realizar pedido|pedir|reservar|recargar|\
         transferir|suscribirse|donar|retirar|paga|acquista|compra|ordina|prenota|ricarica|dona|bonifico|\
         abbonati|invia ordine|assinar|encomendar|fazer pedido|finalizar compra|finalizar pedido|doar|\
         betalen|kopen|bestel|bestellen|reserveren|boeken|opwaarderen|overmaken|doneren|abonneren|\
         zapłać|kup|kup teraz|zamów|zamawiam|przelew|przelej|doładuj|subskrybuj|zarezerwuj|wpłać|\
         оплатить|купить|заказать|оформить заказ|перевести|пополнить|подписаться|забронировать|\
         пожертвовать|öde|satın al|sipariş ver|rezerve et|abone ol|bağış yap|yükle ve öde|havale|\
         支付|付款|购买|購買|下单|下單|提交订单|提交訂單|订购|訂購|预订|預訂|充值|儲值|转账|轉帳|捐款|订阅|訂閱|\
         購入|支払|注文|予約する|チャージ|送金|寄付|定期購読|결제|구매|주문|예약하기|충전|송금|기부|구독",
    ),
    (
        SEND,
        "send|send now|submit|post|publish|reply|reply all|forward|share|tweet|repost|retweet|upload|\
         go live|invite|report|report user|report post|report abuse|sign|sign now|sign document|sign and send|e sign|apply now|broadcast|\
         senden|absenden|abschicken|einreichen|antworten|hochladen|einladen|unterschreiben|melden|\
         veröffentlichen|teilen|weiterleiten|envoyer|publier|partager|transférer|répondre|soumettre|\
         inviter|signer|signaler|enviar|publicar|responder|invitar|firmar|denunciar|\
         compartir|reenviar|compartilhar|encaminhar|convidar|assinar documento|postar|\
         invia|pubblica|condividi|inoltra|rispondi|invita|firma|segnala|verzenden|\
         versturen|delen|doorsturen|indienen|beantwoorden|uitnodigen|ondertekenen|plaatsen|\
         wyślij|opublikuj|udostępnij|odpowiedz|prześlij|zaproś|podpisz|zgłoś|отправить|опубликовать|\
         поделиться|переслать|ответить|пригласить|подписать|gönder|paylaş|yanıtla|ilet|\
         yayınla|davet et|imzala|发送|發送|傳送|发布|發佈|分享|转发|轉發|回复|回覆|提交|上传|上傳|邀请|邀請|签署|簽署|\
         送信|投稿|共有|転送|返信|提出|招待|署名|公開する|보내기|전송|게시|공유|답장|제출|초대|서명|업로드",
    ),
    (
        DELETE,
        "delete|delete all|delete forever|remove|erase|wipe|discard|destroy|purge|format|format sd card|format storage|format card|trash|bin|\
         empty trash|empty bin|recycle bin|clear all|clear everything|clear cache and data|\
         clear data|clear storage|clear history|move to trash|move to bin|move to recycle bin|shred|\
         unsubscribe|unlink|unpair|forget device|forget network|forget this network|revert|undo all|\
         overwrite|replace all|löschen|entfernen|verwerfen|papierkorb leeren|in den papierkorb|\
         zurücksetzen|formatieren|leeren|vernichten|überschreiben|\
         supprimer|effacer|retirer|enlever|vider la corbeille|mettre à la corbeille|vider|formater|\
         écraser|eliminar|borrar|quitar|suprimir|vaciar|vaciar la papelera|formatear|descartar|\
         elimina|cancella|rimuovi|svuota|svuota cestino|formatta|scarta|\
         excluir|apagar|remover|esvaziar|formatar|verwijderen|wissen|prullenbak legen|formatteren|legen|\
         usuń|skasuj|wyczyść|opróżnij|sformatuj|odrzuć zmiany|удалить|стереть|очистить|убрать|\
         форматировать|сбросить|очистить корзину|sil|kaldır|temizle|biçimlendir|çöpe taşı|boşalt|\
         删除|刪除|清除|清空|移除|抹掉|抹除|格式化|丢弃|捨棄|削除|消去|破棄|取り除く|初期化|ゴミ箱|\
         삭제|지우기|제거|비우기|포맷|버리기",
    ),
    (
        CALL,
        "call|call now|dial|video call|voice call|emergency call|call back|anrufen|anruf|notruf|\
         zurückrufen|appeler|appel|rappeler|llamar|llamada|chiama|richiama|ligar|chamar|bellen|\
         terugbellen|zadzwoń|połącz|oddzwoń|позвонить|вызов|перезвонить|aramayı başlat|\
         拨打|呼叫|撥打|致电|致電|发信|発信|電話をかける|전화 걸기|통화|전화하기",
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
        "reset|factory reset|reset phone|erase all data|erase everything|reset all settings|\
         delete all data|reset network settings|auf werkseinstellungen zurücksetzen|alle daten löschen|\
         telefon zurücksetzen|réinitialiser|réinitialiser le téléphone|effacer toutes les données|\
         restablecer|restablecer datos de fábrica|borrar todos los datos|ripristina|\
         ripristino dati di fabbrica|cancella tutti i dati|redefinir|redefinir para os padrões de fábrica|\
         apagar todos os dados|resetten|fabrieksinstellingen terugzetten|zresetuj|\
         przywróć dane fabryczne|сброс|сброс до заводских настроек|sıfırla|恢复出厂设置|恢復原廠設定|\
         重置|出荷時の状態|リセット|초기화|재설정",
    ),
    (
        "give an app a permission",
        "allow|always allow|allow all the time|allow all|allow only while using the app|\
         while using the app|only this time|grant|grant access|authorise|authorize|approve|\
         zulassen|erlauben|immer zulassen|genehmigen|freigeben|autorisieren|\
         bei nutzung der app|nur dieses mal|autoriser|toujours autoriser|approuver|permitir|\
         permitir siempre|aprobar|autorizar|consenti|consenti sempre|approva|autorizza|aprovar|\
         toestaan|goedkeuren|zezwól|zezwalaj|zatwierdź|разрешить|разрешать всегда|одобрить|\
         izin ver|onayla ve izin ver|允许|始终允许|允許|授权|授權|批准|許可|承認|허용|승인|권한 부여",
    ),
    (
        "end an account or a contract",
        "close account|close my account|deactivate|deactivate account|cancel account|\
         cancel subscription|cancel plan|cancel membership|cancel order|cancel booking|\
         cancel reservation|cancel appointment|cancel policy|end membership|end subscription|\
         terminate|opt out|leave group|leave chat|leave|quit group|block|block contact|\
         konto schließen|konto auflösen|deaktivieren|kündigen|abo kündigen|stornieren|abbestellen|\
         gruppe verlassen|verlassen|blockieren|fermer le compte|clôturer le compte|désactiver|résilier|\
         se désabonner|annuler la commande|annuler l'abonnement|quitter le groupe|bloquer|\
         cerrar cuenta|desactivar|cancelar suscripción|cancelar pedido|darse de baja|dar de baja|\
         salir del grupo|bloquear|chiudi account|disattiva|disdici|annulla ordine|\
         annulla abbonamento|abbandona gruppo|blocca|encerrar conta|desativar|cancelar assinatura|\
         sair do grupo|account sluiten|deactiveren|opzeggen|abonnement opzeggen|groep verlaten|\
         blokkeren|annuleer bestelling|zamknij konto|dezaktywuj|anuluj subskrypcję|anuluj zamówienie|\
         opuść grupę|zablokuj|закрыть счёт|закрыть счет|деактивировать|отменить подписку|отписаться|\
         отменить заказ|выйти из группы|покинуть группу|заблокировать|hesabı kapat|\
         devre dışı bırak|aboneliği iptal et|siparişi iptal et|gruptan ayrıl|gruptan çık|engelle|\
         注销|註銷|停用|取消订阅|取消訂閱|取消订单|取消訂單|退订|退訂|退出群|拉黑|封鎖|退会|解約|無効にする|\
         グループを退出|ブロックする|탈퇴|해지|구독 취소|주문 취소|비활성화|나가기|차단",
    ),
    (
        "turn off a protection",
        "turn off protection|disable protection|trust this device|trust device|turn off find my device|\
         install unknown apps|allow unknown sources|unlock bootloader",
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

/// A longer text of a row may be somebody's message. There the risky word must be the first one or
/// the last one, where German and Turkish have their verbs.
const MAX_WORDS: usize = 5;
/// The same in characters, for scripts without spaces.
const MAX_CHARACTERS: usize = 48;
/// How much of a sentence is read, in characters.
const MAX_SENTENCE: usize = 400;
/// Shorter words mean too many things in a sentence.
const MIN_WORD: usize = 4;

/// What a control with this label may do. `is_button`: it is one, and not a row of a list.
pub(super) fn risk_of_label(text: &str, is_button: bool) -> Option<&'static str> {
    let is_long = text.chars().count() > MAX_CHARACTERS;
    let text = Words::of(text);
    let is_short = is_button || (text.parts.len() <= MAX_WORDS && !is_long);
    let has_word = |word: &Word| match is_short {
        true => text.has(word),
        false => text.begins_or_ends_with(word),
    };
    // The longest match is the most specific: "delete all data" is more than "delete".
    let found = ON_BUTTONS.iter().filter(|(_, word)| has_word(word));
    let found = found.max_by_key(|(_, word)| word.length).map(|(what, _)| *what);
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
    let found = ON_BUTTONS.iter().chain(&*INSIDE_SENTENCES);
    let found = found.filter(|(_, word)| word.is_telling && text.has(word));
    found.max_by_key(|(_, word)| word.length).map(|(what, _)| *what)
}

/// Whether a button with this label says yes to whatever is asked.
pub(super) fn agrees(label: &str) -> bool {
    static ALL: LazyLock<Vec<String>> =
        LazyLock::new(|| AGREEMENT.split('|').map(|word| Words::of(word).whole()).collect());
    let label = Words::of(label).whole();
    ALL.contains(&label)
}

static ON_BUTTONS: LazyLock<Vec<(&str, Word)>> = LazyLock::new(|| words(&WORDS));
static INSIDE_SENTENCES: LazyLock<Vec<(&str, Word)>> = LazyLock::new(|| words(&IN_SENTENCES));

fn words(all: &'static [(&'static str, &'static str)]) -> Vec<(&'static str, Word)> {
    let of = |(what, words): &(&'static str, &'static str)| {
        let what = *what;
        words.split('|').map(move |word| (what, Word::of(word)))
    };
    all.iter().flat_map(of).collect()
}

/// A word or some words of the lists.
struct Word {
    /// As in [`Words::spaced`]; as in [`Words::all`] if it is unspaced.
    text: String,
    is_unspaced: bool,
    /// Whether it has one meaning also inside a sentence: shorter ones have too many.
    is_telling: bool,
    /// Whether it counts only as the whole label.
    is_alone: bool,
    /// In characters.
    length: usize,
}

impl Word {
    fn of(word: &str) -> Self {
        let word = word.trim();
        let (length, is_unspaced) = (word.chars().count(), word.chars().any(is_unspaced));
        let is_telling = length >= MIN_WORD || is_unspaced || matches!(word, "pay" | "buy");
        // With other words they mean too many things: "Sign in", "report.txt", "Reset zoom".
        let is_alone = matches!(
            word,
            "bin"
                | "block"
                | "deposit"
                | "dona"
                | "firma"
                | "format"
                | "forward"
                | "invite"
                | "leave"
                | "redeem"
                | "renew"
                | "reply"
                | "report"
                | "reset"
                | "sign"
                | "trash"
                | "upload"
        );
        let words = Words::of(word);
        let text = if is_unspaced { words.all } else { words.spaced };
        Self { text, is_unspaced, is_telling: is_telling && !is_alone, is_alone, length }
    }
}

/// A text as words, each in one spelling.
struct Words {
    all: String,
    parts: Vec<String>,
    /// The words with one space between them and at both ends.
    spaced: String,
}

impl Words {
    fn of(text: &str) -> Self {
        let shown = without_hidden(text);
        let shown: String = shown.trim().replace(['\u{2019}', '\u{2bc}'], "'").nfkc().collect();
        let all = one_spelling(&apart(&shown));
        let is_part = |it: char| it.is_alphanumeric() || it == '\'';
        let parts = all
            .split(|it| !is_part(it))
            .map(|part| part.trim_matches('\'').to_owned())
            .filter(|part| !part.is_empty());
        let parts = joined(parts.collect());
        let spaced = format!(" {} ", parts.join(" "));
        Self { all, parts, spaced }
    }

    fn has(&self, word: &Word) -> bool {
        match word {
            Word { is_alone: true, .. } => self.spaced == word.text,
            Word { is_unspaced: true, .. } => self.all.contains(&word.text),
            // Whole words: "Installed apps" installs nothing, and "Recall" calls nobody.
            _ => self.spaced.contains(&word.text),
        }
    }

    /// Whether it says this first, after a yes, or last.
    fn begins_or_ends_with(&self, word: &Word) -> bool {
        if word.is_unspaced {
            return self.all.starts_with(&word.text) || self.all.ends_with(&word.text);
        }
        let first = self.parts.iter().position(|part| !agrees_alone(part)).unwrap_or(0);
        let rest = format!(" {} ", self.parts[first..].join(" "));
        !word.is_alone && (rest.starts_with(&word.text) || rest.ends_with(&word.text))
    }

    /// All of it; its words if it has some.
    fn whole(self) -> String {
        if self.parts.is_empty() { self.all } else { self.parts.join(" ") }
    }
}

fn agrees_alone(part: &str) -> bool {
    matches!(
        part,
        "yes"
            | "ok"
            | "ja"
            | "oui"
            | "si"
            | "sim"
            | "tak"
            | "evet"
            | "now"
            | "and"
            | "confirm"
            | "continue"
    )
}

/// In lower case, without accents, and with the letters that others look like (Unicode Technical
/// Standard 39, "skeleton").
fn one_spelling(text: &str) -> String {
    let lower: String =
        skeleton(&text.to_lowercase()).filter(|it| !is_combining_mark(*it)).collect();
    lower.to_lowercase()
}

/// `deleteNote` as two words.
fn apart(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for letter in text.chars() {
        if before.is_lowercase() && letter.is_uppercase() {
            out.push(' ');
        }
        out.push(letter);
        before = letter;
    }
    out
}

/// `d e l e t e` as one word.
fn joined(parts: Vec<String>) -> Vec<String> {
    let is_single = |part: &String| part.chars().nth(1).is_none();
    let mut out: Vec<String> = Vec::new();
    for run in parts.chunk_by(|one, other| is_single(one) && is_single(other)) {
        match run.len() {
            3.. => out.push(run.concat()),
            _ => out.extend(run.iter().cloned()),
        }
    }
    out
}

/// Whether the letter is of a script without spaces between words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
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
            assert_eq!(risk_of_label(words, false), Some(what), "{words}");
        }
    }

    #[test]
    fn length_and_spelling_of_a_button_make_no_difference() {
        for words in [
            "Delete account and all associated data",
            "Confirm and pay $12.99 with Visa",
            "Buy now with 1-Click for $10.99",
            "Yes, delete all of my photos forever",
            "Konto und alle Daten endgültig löschen jetzt",
            "D\u{435}lete",
            "Ｄｅｌｅｔｅ",
            "𝐃𝐞𝐥𝐞𝐭𝐞",
            "D e l e t e",
            "DeleteNote",
            "pay-now",
            "PAY_NOW",
            "Loschen",
            "Place your order",
            "Format SD card",
            "Close account",
            "Cancel subscription",
            "Move to Recycle Bin",
            "Authorise payment",
            "Leave group",
            "Sign",
            "Reset",
            "Bestellung jetzt stornieren",
            "Commander et payer",
            "提交订单",
            "注文を確定する",
        ] {
            assert!(risk_of_label(words, true).is_some(), "{words}");
        }
    }

    /// A row of a list may be a message that somebody wrote.
    #[test]
    fn long_row_is_risky_by_its_first_or_last_word() {
        for (words, is_risky) in [
            ("Delete this conversation from all of my devices", true),
            ("Ja, alle Fotos auf diesem Telefon unwiderruflich löschen", true),
            ("Anna: can you buy milk on your way home", false),
            ("I deleted the old files, can you send me new ones today", false),
            (&"明天我们一起去市场买东西，然后把旧照片删除掉，".repeat(3), false),
            (&format!("删除{}", "这个对话里的所有消息和图片以及全部附件".repeat(4)), true),
        ] {
            assert_eq!(risk_of_label(words, false).is_some(), is_risky, "{words}");
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
            "Sign in",
            "report.txt",
            "Reset zoom",
        ] {
            assert_eq!(risk_of_label(words, false), None, "{words}");
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
