package org.thumbwire.helper;

import android.app.UiAutomation;
import android.content.ClipData;
import android.os.Build;
import android.os.Bundle;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityNodeInfo;

/**
 * The op `text`: puts a text into the field with the focus, and reads back what the field then has.
 *
 * `set` sets the field's text (Android 5 and later), `paste` goes through the clipboard and restores it, `keys` presses
 * the keys of a keyboard, which has no letters but those of English. The first that is right is chosen.
 */
final class Text implements Operation {
    /** A paste of fewer characters is slower than their keys. */
    private static final int FEW = 3;
    /** How long a field may take to show what came. */
    private static final long SETTLING = 1500;
    private static final String SET_TEXT = "ACTION_ARGUMENT_SET_TEXT_CHARSEQUENCE";
    private static final int ACTION_SET_TEXT = 0x200000;

    private final Automation automation;
    private final Keys keys;
    private final Clipboard clipboard;

    Text(Automation automation, Keys keys, Clipboard clipboard) {
        this.automation = automation;
        this.keys = keys;
        this.clipboard = clipboard;
    }

    @Override
    public Reply run(Request request, Task task) throws Exception {
        String text = request.text("text");
        boolean replace = request.flag("replace", false);
        UiAutomation held = automation.acquire(task, request.millis("limit_ms", 10000, 2000));
        try {
            return put(held, text, replace, task);
        } finally {
            automation.done();
        }
    }

    private synchronized Reply put(UiAutomation held, String text, boolean replace, Task task) throws Exception {
        AccessibilityNodeInfo field = field(held);
        KeyEvent[] events = text.isEmpty() ? new KeyEvent[0] : Keys.events(text);
        String method = best(text, replace, events);
        String before = content(field);
        Reply reply = new Reply().with("method", method);
        if (replace && text.isEmpty() && !method.equals("set")) {
            boolean cleared = clear(field, before, task);
            String now = cleared ? waitForChange(field, before, task) : before;
            reply.with("found", field.isPassword() ? null : now);
            return reply.with("complete", !cleared || (now != null && !now.equals(before)));
        }
        if (method.equals("set")) {
            set(field, text, before, replace);
        } else if (method.equals("paste")) {
            paste(field, text, before, replace, task);
        } else {
            keys.type(events, task);
        }
        boolean password = field.isPassword();
        String now = wait(field, text, before, replace, password, task);
        reply.with("found", password ? null : now);
        if (!password) reply.with("complete", now != null && now.contains(text));
        return reply;
    }

    private static String best(String text, boolean replace, KeyEvent[] events) {
        // Before Android 8 a field's hint looks like its text, so that nothing can be added to what is there.
        if (Build.VERSION.SDK_INT >= (replace ? 21 : 26)) return "set";
        return text.length() <= FEW && events != null && !replace ? "keys" : "paste";
    }

    private static AccessibilityNodeInfo field(UiAutomation held) throws Fault {
        AccessibilityNodeInfo root = held.getRootInActiveWindow();
        AccessibilityNodeInfo field = root == null ? null : root.findFocus(AccessibilityNodeInfo.FOCUS_INPUT);
        if (field == null || !field.isEditable()) {
            throw new Fault("not_found", "no text field has the focus", "tap the field, then type");
        }
        return field;
    }

    private static String content(AccessibilityNodeInfo field) {
        CharSequence text = field.getText();
        if (text == null || isHint(field)) return "";
        return text.toString();
    }

    private static boolean isHint(AccessibilityNodeInfo field) {
        if (Build.VERSION.SDK_INT < 26) return false;
        try {
            return (Boolean) AccessibilityNodeInfo.class.getMethod("isShowingHintText").invoke(field);
        } catch (Exception unknown) {
            return false;
        }
    }

    private static void set(AccessibilityNodeInfo field, String text, String before, boolean replace) throws Fault {
        int start = Math.min(field.getTextSelectionStart(), field.getTextSelectionEnd());
        int end = Math.max(field.getTextSelectionStart(), field.getTextSelectionEnd());
        if (start < 0 || end > before.length()) start = end = before.length();
        if (field.isPassword() && !replace && !before.isEmpty()) {
            throw new Fault("refused", "a password that is hidden cannot be added to", "replace it");
        }
        String whole = replace ? text : before.substring(0, start) + text + before.substring(end);
        Bundle arguments = new Bundle();
        arguments.putCharSequence(SET_TEXT, whole);
        if (!field.performAction(ACTION_SET_TEXT, arguments)) {
            throw new Fault("refused", "the field does not let its text be set", "press its keys");
        }
        int cursor = replace ? text.length() : start + text.length();
        select(field, cursor, cursor);
    }

    private static boolean select(AccessibilityNodeInfo field, int start, int end) {
        Bundle arguments = new Bundle();
        arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_START_INT, start);
        arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_END_INT, end);
        return field.performAction(AccessibilityNodeInfo.ACTION_SET_SELECTION, arguments);
    }

    private void paste(AccessibilityNodeInfo field, String text, String before, boolean replace, Task task) throws Exception {
        ClipData clip = clipboard.get();
        clipboard.set(Clipboard.clip(text));
        try {
            // A hint cannot be selected, and need not be.
            if (replace && !before.isEmpty()) select(field, 0, before.length());
            if (!field.performAction(AccessibilityNodeInfo.ACTION_PASTE)) {
                throw new Fault("refused", "the field does not take a paste", "press its keys");
            }
            wait(field, text, before, replace, field.isPassword(), task);
        } finally {
            clipboard.restore(clip);
        }
    }

    /** Returns false if there is nothing to clear: a hint cannot be selected. */
    private boolean clear(AccessibilityNodeInfo field, String before, Task task) throws Exception {
        if (before.isEmpty() || !select(field, 0, before.length())) return false;
        keys.press(KeyEvent.KEYCODE_DEL, task);
        return true;
    }

    private static String waitForChange(AccessibilityNodeInfo field, String before, Task task) throws Fault {
        long until = Server.now() + SETTLING;
        while (true) {
            if (!field.refresh()) return null;
            String now = content(field);
            if (!now.equals(before) || Server.now() >= until) return now;
            task.sleep(20);
        }
    }

    /** What the field has, as soon as that contains the text and is new. */
    private static String wait(AccessibilityNodeInfo field, String text, String before, boolean replace, boolean password,
            Task task) throws Fault {
        long until = Server.now() + SETTLING;
        while (true) {
            if (!field.refresh()) return null;
            String now = content(field);
            boolean changed = !now.equals(before) || (replace && now.equals(text));
            boolean complete = password || (replace ? now.equals(text) : now.contains(text));
            if ((changed && complete) || Server.now() >= until) return now;
            task.sleep(20);
        }
    }
}
