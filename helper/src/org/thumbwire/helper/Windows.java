package org.thumbwire.helper;

import android.app.UiAutomation;
import android.graphics.Rect;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityWindowInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All windows that can be used, which Android lists since 5. A class of its own: 4.4 cannot load it. */
final class Windows {
    private Windows() {}

    /** Writes the windows, the front one first, and returns what each is and which nodes are its. */
    static List<Object> dump(UiAutomation automation, Dump dump) throws Fault {
        List<Object> list = new ArrayList<Object>();
        for (AccessibilityWindowInfo window : automation.getWindows()) {
            AccessibilityNodeInfo root = window.getRoot();
            int first = dump.nodes.size();
            if (root != null) dump.window(root);
            Rect at = new Rect();
            window.getBoundsInScreen(at);
            Map<String, Object> is = new LinkedHashMap<String, Object>();
            is.put("type", type(window.getType()));
            is.put("layer", window.getLayer());
            is.put("active", window.isActive());
            is.put("focused", window.isFocused());
            is.put("bounds", at.toShortString());
            is.put("package", root == null || root.getPackageName() == null ? "" : root.getPackageName().toString());
            is.put("first", first);
            is.put("nodes", dump.nodes.size() - first);
            list.add(is);
        }
        return list;
    }

    private static String type(int type) {
        switch (type) {
            case AccessibilityWindowInfo.TYPE_APPLICATION:
                return "app";
            case AccessibilityWindowInfo.TYPE_INPUT_METHOD:
                return "keyboard";
            case AccessibilityWindowInfo.TYPE_SYSTEM:
                return "system";
            default:
                return "other";
        }
    }
}
