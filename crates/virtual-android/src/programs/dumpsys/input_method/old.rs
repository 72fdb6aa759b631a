//! `dumpsys input_method` of Android 4.4 (recordings `422` and `423`).

use super::{editor_info, fingerprint, view};
use crate::phone::State;
use crate::programs::dumpsys::old::configuration;
use crate::programs::dumpsys::uid;
use crate::programs::ime::old::described;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;

/// The input methods, the apps that may ask for them, the one that is bound, and its own part
/// (`InputMethodManager.dump` and `InputMethodService.dump`).
pub(super) fn report(phone: &mut State) -> String {
    let (shown, bound) = (phone.world.keyboard_shown(), phone.world.input_method_bound());
    let current = phone.world.input_method().to_owned();
    let address = |of: &str| format!("{:08x}", 0xa650_0000 | (fingerprint(of) & 0xf_ffff));
    let methods: String = phone
        .world
        .input_methods()
        .iter()
        .enumerate()
        .map(|(nth, id)| {
            let text = described(id, false);
            let lines = text.lines().skip(1).map(|line| format!("  {line}\n"));
            format!("  InputMethod #{nth}:\n{}", lines.collect::<String>())
        })
        .collect();
    let top = phone.world.foreground().package;
    let clients: String = phone
        .world
        .packages()
        .into_iter()
        .filter_map(|it| {
            let (name, pid) = (&it.package, phone.world.pid_of(&it.package)?);
            let uid = uid(phone, name);
            let at = address(name);
            let session = bound && *name == top;
            Some(format!(
                "  Client ClientState{{{at} uid {uid} pid {pid}}}:\n    client=com.android.internal.view.IInputMethodClient$Stub$Proxy@{at}\n    inputContext=com.android.internal.view.IInputContext$Stub$Proxy@{at}\n    sessionRequested={session}\n    curSession={}\n",
                if session {
                    format!("SessionState{{{at} uid {uid} pid {pid} method {current}}}")
                } else {
                    "null".to_owned()
                },
            ))
        })
        .collect();
    let client = match bound {
        true => format!(
            "ClientState{{{} uid {} pid {}}}",
            address(&top),
            uid(phone, &top),
            phone.world.pid_of(&top).unwrap_or(0)
        ),
        false => "null".to_owned(),
    };
    let window = phone.world.scene().focused().map_or("null".to_owned(), |window| {
        format!("android.view.ViewRootImpl$W@{}", address(&window.title))
    });
    let config = configuration(phone);
    let served = phone.world.served_field().filter(|_| bound);
    let editor = |indent: &str| {
        let field = served.as_ref();
        field.map_or(String::new(), |field| editor_info(field, indent, DumpsysFormat::Android4))
    };
    let view = served.as_ref().map(|field| view(field, DumpsysFormat::Android4));
    let view = view.unwrap_or("null".to_owned());
    let caret = served.as_ref().map_or(-1, |field| field.caret as i64);
    let at = address(&current);
    let of_client = match bound {
        false => "No input method client.\n".to_owned(),
        true => format!(
            "Input method client state for android.view.inputmethod.InputMethodManager@{at}:\n  mService=com.android.internal.view.IInputMethodManager$Stub$Proxy@{at}\n  mMainLooper=Looper (main, tid 1) {{{at}}}\n  mIInputContext=android.view.inputmethod.InputMethodManager$ControlledInputConnectionWrapper@{at}\n  mActive=true mHasBeenInactive=false mBindSequence=1 mCurId={current}\n  mCurMethod=com.android.internal.view.IInputMethodSession$Stub$Proxy@{at}\n  mCurRootView=com.android.internal.policy.impl.PhoneWindow$DecorView{{{at}}}\n  mServedView={view}\n  mNextServedView={view}\n  mServedConnecting=false\n  mCurrentTextBoxAttribute:\n{}  mServedInputConnection=com.android.internal.widget.EditableInputConnection@{at}\n  mCompletions=null\n  mCursorRect=Rect(0, 0 - 0, 0)\n  mCursorSelStart={caret} mCursorSelEnd={caret} mCursorCandStart=-1 mCursorCandEnd=-1\n",
            editor("    ")
        ),
    };
    let (info, binding) = match bound {
        true => (format!("mInputEditorInfo:\n{}", editor("    ")), format!("InputBinding{{{at}}}")),
        false => ("mInputEditorInfo: null\n".to_owned(), "null".to_owned()),
    };
    let class = current.replace("/.", ".");
    let of_service = format!(
        "Input method service state for {class}@{at}:\n  mWindowCreated={shown} mWindowAdded={shown}\n  mWindowVisible={shown} mWindowWasVisible={shown} mInShowWindow=false\n  Configuration={config}\n  mToken=android.os.BinderProxy@{at}\n  mInputBinding={binding}\n  mInputConnection={binding}\n  mStartedInputConnection={binding}\n  mInputStarted={bound} mInputViewStarted={shown} mCandidatesViewStarted=false\n  {info}  mShowInputRequested={shown} mLastShowInputRequested={shown} mShowInputForced=false mShowInputFlags=0x0\n  mCandidatesVisibility=4 mFullscreenApplied=false mIsFullscreen=false mExtractViewHidden=false\n  mExtractedText: null\n  mExtractedToken=0\n  mIsInputViewShown={shown} mStatusIcon=0\nLast computed insets:\n  contentTopInsets=0 visibleTopInsets=0 touchableInsets=0 touchableRegion=SkRegion()\n"
    );
    // What AOSP's keyboard adds (`LatinIME.dump`).
    let own = match current.ends_with("/.LatinIME") {
        true => {
            "LatinIME state :\n  Keyboard mode = -1\n  mIsSuggestionsSuggestionsRequested = false\n  mCorrectionEnabled=true\n  isComposingWord=false\n  mSoundOn=false\n  mVibrateOn=true\n  mKeyPreviewPopupOn=true\n  inputAttributes=\n mInputTypeNoAutoCorrect = false\n mIsSettingsSuggestionStripOn = false\n mApplicationSpecifiedCompletionOn = false\n"
        }
        false => "",
    };
    format!(
        "Current Input Method Manager state:\n  Input Methods:\n{methods}  Clients:\n{clients}  mCurMethodId={current}\n  mCurClient={client} mCurSeq=1\n  mCurFocusedWindow={window}\n  mCurId={current} mHaveConnect=true mBoundToMethod={bound}\n  mCurToken=android.os.Binder@{at}\n  mCurIntent=Intent {{ act=android.view.InputMethod cmp={current} (has extras) }}\n  mCurMethod=com.android.internal.view.IInputMethod$Stub$Proxy@{at}\n  mEnabledSession={}\n  mShowRequested={shown} mShowExplicitlyRequested={shown} mShowForced=false mInputShown={shown}\n  mSystemReady=true mScreenOn={}\n \n{of_client} \n{of_service}{own}",
        if bound { "SessionState{a65e5a30}" } else { "null" },
        phone.world.screen_on(),
    )
}
