package org.thumbwire.helper;

import android.content.ClipData;
import android.content.ClipDescription;
import android.os.Build;
import android.os.PersistableBundle;

/** The ops `clip_get` and `clip_set`. The shell may use the clipboard in the background, by permission or by exception. */
final class Clipboard {
    /** Maximum UTF-16 units: a binder transaction carries about 500,000. */
    static final int LARGEST = 200000;

    final Operation get = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            return new Reply().with("text", text(get()));
        }
    };

    final Operation set = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            String text = request.text("text");
            set(clip(text));
            if (!text.equals(text(get()))) {
                throw new Fault("refused", "Android did not take the text into the clipboard", "set it in an app");
            }
            return new Reply();
        }
    };

    static ClipData clip(String text) throws Fault {
        if (text.length() > LARGEST) {
            throw new Fault("too_large", "the text has " + text.length() + " UTF-16 units; the limit is " + LARGEST, "send less");
        }
        ClipData clip = ClipData.newPlainText("", text);
        quieten(clip);
        return clip;
    }

    /** Since Android 13 a preview of each new clip covers a part of the screen, unless it says that it comes from a test. */
    private static void quieten(ClipData clip) {
        if (Build.VERSION.SDK_INT < 33) return;
        try {
            PersistableBundle extras = new PersistableBundle();
            PersistableBundle.class.getMethod("putBoolean", String.class, boolean.class)
                    .invoke(extras, "com.android.systemui.SUPPRESS_CLIPBOARD_OVERLAY", true);
            ClipDescription.class.getMethod("setExtras", PersistableBundle.class).invoke(clip.getDescription(), extras);
        } catch (Exception shown) {
            // The preview vanishes by itself.
        }
    }

    /** What the clipboard has; null if it is empty. */
    ClipData get() throws Exception {
        return (ClipData) Call.of("getPrimaryClip").with(String.class, Services.SHELL).maybe(String.class, null)
                .maybe(int.class, Services.user()).on(service());
    }

    void set(ClipData clip) throws Exception {
        set(clip, Services.user()).on(service());
    }

    private static Call set(ClipData clip, int user) {
        return Call.of("setPrimaryClip").with(ClipData.class, clip).with(String.class, Services.SHELL)
                .maybe(String.class, null).maybe(int.class, user);
    }

    /** Puts back what was there, if Android allows it. */
    void restore(ClipData before) {
        try {
            if (before != null) set(before);
            else if (Build.VERSION.SDK_INT < 28) set(ClipData.newPlainText("", ""));
            else Call.of("clearPrimaryClip").with(String.class, Services.SHELL).maybe(String.class, null)
                    .maybe(int.class, Services.user()).on(service());
        } catch (Exception refused) {
            // The text stays there.
        }
    }

    static String text(ClipData clip) {
        if (clip == null || clip.getItemCount() == 0) return null;
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < clip.getItemCount(); i++) {
            ClipData.Item item = clip.getItemAt(i);
            if (i > 0) text.append('\n');
            if (item.getText() != null) text.append(item.getText());
            else if (item.getUri() != null) text.append(item.getUri());
            else if (item.getIntent() != null) text.append(item.getIntent().toUri(0));
        }
        return text.toString();
    }

    private static Object service() throws Exception {
        return Services.get("clipboard", "android.content.IClipboard");
    }

    static String variant() {
        try {
            return set(null, 0).variant(Services.named("android.content.IClipboard"));
        } catch (Fault none) {
            return null;
        }
    }
}
