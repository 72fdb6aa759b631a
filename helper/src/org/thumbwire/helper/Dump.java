package org.thumbwire.helper;

import android.graphics.Rect;
import android.os.Build;
import android.view.accessibility.AccessibilityNodeInfo;
import java.lang.reflect.Method;

/**
 * Writes trees as `uiautomator dump` does: the same elements, attributes, order, bounds and
 * omissions, so that one reader serves both. Unlike it, characters beyond U+FFFF arrive.
 */
final class Dump {
    private static final int DEEPEST = 200;
    private static final String[] CONTAINERS = {"android.widget.GridView", "android.widget.GridLayout", "android.widget.ListView",
            "android.widget.TableLayout"};
    /** Since Android 7 and 8. */
    private static final Method ORDER = method("getDrawingOrder", 24);
    private static final Method HINT = method("getHintText", 26);

    final StringBuilder xml = new StringBuilder(1 << 14);
    /** How many were written. */
    int nodes;
    private final Rect display;
    private final int most;
    private final boolean compressed;
    private final Task task;
    /** Nodes were left out, because there are too many. */
    boolean truncated;
    /** Nodes that their app did not give. */
    int missing;

    /** With `compressed`, all is as `uiautomator dump --compressed` of this release writes it. */
    Dump(Screen screen, int most, boolean compressed, Task task) {
        this.compressed = compressed;
        this.display = new Rect(0, 0, screen.width, screen.height);
        this.most = most;
        this.task = task;
        xml.append("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"");
        xml.append(screen.rotation).append("\">");
    }

    void end() {
        xml.append("</hierarchy>");
    }

    void window(AccessibilityNodeInfo root) throws Fault {
        add(root, 0, 0);
    }

    private void add(AccessibilityNodeInfo node, int index, int depth) throws Fault {
        if (nodes >= most || depth >= DEEPEST) {
            truncated = true;
            return;
        }
        task.check();
        nodes++;
        xml.append("<node");
        if (compressed && isUnfriendly(node)) xml.append(" NAF=\"true\"");
        xml.append(" index=\"").append(index).append('"');
        text("text", node.getText());
        text("resource-id", node.getViewIdResourceName());
        text("class", node.getClassName());
        text("package", node.getPackageName());
        text("content-desc", node.getContentDescription());
        flag(" checkable=\"true\"", " checkable=\"false\"", node.isCheckable());
        flag(" checked=\"true\"", " checked=\"false\"", node.isChecked());
        flag(" clickable=\"true\"", " clickable=\"false\"", node.isClickable());
        flag(" enabled=\"true\"", " enabled=\"false\"", node.isEnabled());
        flag(" focusable=\"true\"", " focusable=\"false\"", node.isFocusable());
        flag(" focused=\"true\"", " focused=\"false\"", node.isFocused());
        flag(" scrollable=\"true\"", " scrollable=\"false\"", node.isScrollable());
        flag(" long-clickable=\"true\"", " long-clickable=\"false\"", node.isLongClickable());
        flag(" password=\"true\"", " password=\"false\"", node.isPassword());
        flag(" selected=\"true\"", " selected=\"false\"", node.isSelected());
        Rect at = new Rect();
        node.getBoundsInScreen(at);
        // Leaves a node that is outside of the display where it is.
        at.intersect(display);
        xml.append(" bounds=\"").append(at.toShortString()).append('"');
        boolean has = !compressed || Build.VERSION.SDK_INT >= 34;
        Object order = has ? get(ORDER, node) : null;
        if (order != null) xml.append(" drawing-order=\"").append(order).append('"');
        Object hint = has ? get(HINT, node) : null;
        if (hint != null) text("hint", (CharSequence) hint);
        int children = node.getChildCount();
        if (children == 0) {
            xml.append(compressed ? " />" : "/>");
            return;
        }
        xml.append('>');
        for (int i = 0; i < children; i++) {
            AccessibilityNodeInfo child = node.getChild(i);
            if (child == null) missing++;
            else if (child.isVisibleToUser()) add(child, i, depth + 1);
            if (truncated) break;
        }
        xml.append("</node>");
    }

    /** `AccessibilityNodeInfoDumper`'s rule for what a person cannot tell by a screen reader. */
    private static boolean isUnfriendly(AccessibilityNodeInfo node) {
        String type = String.valueOf(node.getClassName());
        for (String excluded : CONTAINERS) if (type.endsWith(excluded)) return false;
        return node.isClickable() && node.isEnabled() && !hasWords(node) && !hasWordsBelow(node, 0);
    }

    private static boolean hasWordsBelow(AccessibilityNodeInfo node, int depth) {
        for (int i = 0; i < node.getChildCount() && depth < DEEPEST; i++) {
            AccessibilityNodeInfo child = node.getChild(i);
            if (child != null && (hasWords(child) || hasWordsBelow(child, depth + 1))) return true;
        }
        return false;
    }

    private static boolean hasWords(AccessibilityNodeInfo node) {
        return !isEmpty(node.getText()) || !isEmpty(node.getContentDescription());
    }

    private static boolean isEmpty(CharSequence text) {
        return text == null || text.length() == 0;
    }

    /** Whole texts: an old phone takes long for each call. */
    private void flag(String yes, String no, boolean value) {
        xml.append(value ? yes : no);
    }

    private void text(String name, CharSequence value) {
        xml.append(' ').append(name).append("=\"");
        if (value != null) escape(xml, value.toString());
        xml.append('"');
    }

    /** Characters that XML forbids become a dot, as in Android's own dump. */
    static void escape(StringBuilder to, String text) {
        int plain = 0;
        while (plain < text.length() && isPlain(text.charAt(plain))) plain++;
        to.append(text, 0, plain);
        for (int i = plain; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&':
                    to.append("&amp;");
                    break;
                case '<':
                    to.append("&lt;");
                    break;
                case '>':
                    to.append("&gt;");
                    break;
                case '"':
                    to.append("&quot;");
                    break;
                case '\n':
                case '\r':
                case '\t':
                    to.append("&#").append((int) c).append(';');
                    break;
                default:
                    if (c < ' ' || c == 0xFFFE || c == 0xFFFF || (c >= 0x7f && c <= 0x9f)) to.append('.');
                    else i += Json.append(to, text, i);
            }
        }
    }

    /** Whether it is written as it is, most characters by far. */
    private static boolean isPlain(char c) {
        return c >= ' ' && c < 0x7f && c != '&' && c != '<' && c != '>' && c != '"';
    }

    private static Method method(String name, int since) {
        try {
            return Build.VERSION.SDK_INT < since ? null : AccessibilityNodeInfo.class.getMethod(name);
        } catch (NoSuchMethodException why) {
            return null;
        }
    }

    private static Object get(Method method, AccessibilityNodeInfo node) {
        try {
            return method == null ? null : method.invoke(node);
        } catch (Exception why) {
            return null;
        }
    }
}
