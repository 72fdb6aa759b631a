//! `dumpsys input_method`: the keyboard that is bound, and the field that the app connected to it.
//!
//! The service asks the app in front for its part (`InputMethodManager.dump`, with the field's
//! `EditorInfo`); that of Android 4.4 is compared with a recording, the later ones follow the names
//! in published builds of the framework. The 4.4 report is in [`old`].

mod old;

use std::fmt::Write as _;

use super::fingerprint;
use crate::phone::State;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::ServedField;

pub(super) fn report(phone: &mut State, _: &[&str]) -> String {
    let shape = phone.release().shape;
    if shape == DumpsysFormat::Android4 {
        return old::report(phone);
    }
    let (shown, bound) = (phone.world.keyboard_shown(), phone.world.input_method_bound());
    let id = phone.world.input_method().to_owned();
    let head = format!("Current Input Method Manager state:\n  mCurMethodId={id}\n");
    let held = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => {
            format!("mHaveConnect=true mBoundToMethod={bound}")
        }
        _ => format!("mHaveConnection=true mBoundToMethod={bound} mVisibleBound={shown}"),
    };
    let showing = match shape {
        DumpsysFormat::Android4
        | DumpsysFormat::Nine
        | DumpsysFormat::Eleven
        | DumpsysFormat::Thirteen => format!(
            "  mShowRequested={shown} mShowExplicitlyRequested={shown} mShowForced=false mInputShown={shown}\n"
        ),
        DumpsysFormat::Fourteen | DumpsysFormat::Sixteen => format!(
            "  mRequestedShowExplicitly={shown} mShowForced=false\n  mImeHiddenByDisplayPolicy=false\n  mInputShown={shown}\n"
        ),
    };
    let screen_on = phone.world.screen_on();
    let has_field = phone.world.served_field().is_some() && bound;
    let (client, service) = (client(phone, &id), service(&id, shown, has_field));
    format!(
        "{head}  mCurId={id} {held}\n{showing}  mInFullscreenMode=false\n  mSystemReady=true mInteractive={screen_on}\n \n{client}{service}"
    )
}

/// The keyboard's part (`InputMethodService.dump`), reduced to its flags.
fn service(method: &str, shown: bool, has_field: bool) -> String {
    let at = fingerprint(method) as u32 & 0xfff_ffff;
    format!(
        "Input method service state for android.inputmethodservice.InputMethodService@{at:x}:\n  mViewsCreated=true\n  mDecorViewVisible={shown} mDecorViewWasVisible={shown} mWindowVisible={shown} mInShowWindow=false\n  mInputStarted={has_field} mInputViewStarted={shown} mCandidatesViewStarted=false\n  mShowInputRequested={shown} mLastShowInputRequested={shown} mShowInputFlags=0x0\n  mIsInputViewShown={shown} mStatusIcon=0\n"
    )
}

/// The app's part, since Android 9.
fn client(phone: &mut State, method: &str) -> String {
    let shape = phone.release().shape;
    let bound = phone.world.input_method_bound();
    let package = phone.world.foreground().package;
    let served = phone.world.served_field().filter(|_| bound);
    let at = fingerprint(&package) as u32 & 0xfff_ffff;
    let view = served.as_ref().map_or("null".to_owned(), |field| view(field, shape));
    let editor = match (&served, shape >= DumpsysFormat::Thirteen) {
        (None, false) => "  mCurrentTextBoxAttribute: null\n".to_owned(),
        (None, true) => "  mCurrentEditorInfo: null\n".to_owned(),
        (Some(field), newer) => {
            let name = if newer { "mCurrentEditorInfo" } else { "mCurrentTextBoxAttribute" };
            format!("  {name}:\n{}", editor_info(field, "    ", shape))
        }
    };
    let connection = match &served {
        None => "null".to_owned(),
        Some(_) => format!(
            "RemoteInputConnectionImpl{{idHash=#{at:x} mParentInputMethodManager=android.view.inputmethod.InputMethodManager@{at:x}}}"
        ),
    };
    let connected = if shape >= DumpsysFormat::Thirteen {
        "mServedInputConnection"
    } else {
        "mServedInputConnectionWrapper"
    };
    let caret = served.as_ref().map_or(-1, |field| field.caret as i64);
    format!(
        "Input method client state for android.view.inputmethod.InputMethodManager@{at:x}:\n  mFullscreenMode=false\n  mActive=true mRestartOnNextWindowFocus=false mBindSequence=7 mCurId={method}\n  mCurRootView=DecorView@{at:x}[{package}]\n  mServedView={view}\n  mNextServedView={view}\n  mServedConnecting=false\n{editor}  {connected}={connection}\n  mCompletions=null\n  mCursorRect=Rect(0, 0 - 0, 0)\n  mCursorSelStart={caret} mCursorSelEnd={caret} mCursorCandStart=-1 mCursorCandEnd=-1\n"
    )
}

/// `View.toString`: flags, bounds within the parent, resource id.
fn view(field: &ServedField, shape: DumpsysFormat) -> String {
    let name = format!("{}/{}", field.package, field.id.as_deref().unwrap_or(field.class));
    let hash = fingerprint(&name) as u32;
    let (flags, hash) = match shape {
        DumpsysFormat::Android4 => {
            ("VFED..CL .F....I.", format!("{:08x}", 0xa650_0000 | (hash & 0xf_ffff)))
        }
        _ => ("VFED..CL. .F....I.", format!("{:x}", hash & 0xfff_ffff)),
    };
    let bounds = field.bounds;
    let mut text = format!(
        "{}{{{hash} {flags} {},{}-{},{}",
        field.class, bounds.left, bounds.top, bounds.right, bounds.bottom
    );
    if let Some(id) = &field.id {
        let _ = write!(text, " #{:x} app:id/{id}", resource_id(field));
    }
    if shape != DumpsysFormat::Android4 {
        let _ = write!(text, " aid={}", autofill_id(field));
    }
    text.push('}');
    text
}

/// `EditorInfo.dump`
fn editor_info(field: &ServedField, indent: &str, shape: DumpsysFormat) -> String {
    let ServedField { package, input_type, ime_options, caret, .. } = field;
    let hint = if field.hint.is_empty() { "null" } else { &field.hint };
    let number = field.id.as_ref().map_or(-1, |_| i64::from(resource_id(field)));
    let autofill = match shape {
        DumpsysFormat::Android4 => String::new(),
        _ => format!("autofillId={} ", autofill_id(field)),
    };
    let mut text = format!(
        "{indent}inputType=0x{input_type:x} imeOptions=0x{ime_options:x} privateImeOptions=null\n{indent}actionLabel=null actionId=0\n{indent}initialSelStart={caret} initialSelEnd={caret} initialCapsMode=0x0\n{indent}hintText={hint} label=null\n{indent}packageName={package} {autofill}fieldId={number} fieldName=null\n{indent}extras=null\n"
    );
    if shape != DumpsysFormat::Android4 {
        let _ = write!(text, "{indent}hintLocales=null\n{indent}contentMimeTypes=null\n");
    }
    text
}

fn resource_id(field: &ServedField) -> u32 {
    let id = field.id.as_deref().unwrap_or_default();
    0x7f0e_0000 | (fingerprint(id) as u32 & 0xffff)
}

fn autofill_id(field: &ServedField) -> u32 {
    0x4000_0000 | (resource_id(field) & 0xffff)
}
