package org.thumbwire.helper;

import android.content.Intent;
import android.os.Build;
import android.os.Process;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The op `hello`: which phone this is, what can be asked, and which of Android's hidden methods
 * were found.
 */
final class Hello implements Operation {
    private final Collection<String> ops;
    private final String key;

    Hello(Collection<String> ops, String key) {
        this.ops = ops;
        this.key = key;
    }

    @Override
    public Reply run(Request request, Task task) {
        Map<String, Object> variants = new LinkedHashMap<String, Object>();
        variants.put("input", Input.variant());
        variants.put("clipboard", Clipboard.variant());
        variants.put("service", service());
        variants.put("automation", Call.of("connect").maybe(int.class, 1).variant(android.app.UiAutomation.class));
        return new Reply().with("key", key).with("protocol", Main.PROTOCOL).with("sdk", Build.VERSION.SDK_INT).with("uid", Process.myUid())
                .with("pid", Process.myPid()).with("ops", new ArrayList<String>(ops)).with("variants", variants);
    }

    private static String service() {
        try {
            return ServiceCall.call(new Intent(), 0).variant(Services.named("android.app.IActivityManager"));
        } catch (Fault none) {
            return null;
        }
    }
}
