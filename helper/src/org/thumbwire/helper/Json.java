package org.thumbwire.helper;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as maps, lists, strings, longs, doubles, booleans and null. Android has a parser of its own, but that accepts
 * much that is not JSON, and it is not there when the tests run.
 */
final class Json {
    static final Charset UTF_8 = Charset.forName("UTF-8");
    /** Maximum levels of lists and objects. */
    private static final int DEEPEST = 64;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads an object. Nothing may follow it. */
    static Map<String, Object> object(byte[] bytes) throws Fault {
        String text;
        try {
            text = UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException why) {
            throw Fault.malformed("the header is not UTF-8");
        }
        Json json = new Json(text);
        json.blank();
        if (json.peek() != '{') throw Fault.malformed("the header is not a JSON object");
        Map<String, Object> value = json.map(0);
        json.blank();
        if (json.at != text.length()) throw json.wrong();
        return value;
    }

    private Object value(int depth) throws Fault {
        if (depth > DEEPEST) throw Fault.malformed("the header has more than " + DEEPEST + " levels");
        blank();
        switch (peek()) {
            case '{':
                return map(depth);
            case '[':
                return list(depth);
            case '"':
                return string();
            case 't':
                word("true");
                return Boolean.TRUE;
            case 'f':
                word("false");
                return Boolean.FALSE;
            case 'n':
                word("null");
                return null;
            default:
                return number();
        }
    }

    private Map<String, Object> map(int depth) throws Fault {
        Map<String, Object> map = new LinkedHashMap<String, Object>();
        at++;
        blank();
        if (peek() == '}') {
            at++;
            return map;
        }
        while (true) {
            blank();
            if (peek() != '"') throw wrong();
            String name = string();
            blank();
            if (next() != ':') throw wrong();
            map.put(name, value(depth + 1));
            blank();
            char end = next();
            if (end == '}') return map;
            if (end != ',') throw wrong();
        }
    }

    private List<Object> list(int depth) throws Fault {
        List<Object> list = new ArrayList<Object>();
        at++;
        blank();
        if (peek() == ']') {
            at++;
            return list;
        }
        while (true) {
            list.add(value(depth + 1));
            blank();
            char end = next();
            if (end == ']') return list;
            if (end != ',') throw wrong();
        }
    }

    private String string() throws Fault {
        at++;
        StringBuilder said = new StringBuilder();
        while (true) {
            char c = next();
            if (c == '"') return said.toString();
            if (c < ' ') throw wrong();
            if (c != '\\') {
                said.append(c);
                continue;
            }
            c = next();
            int plain = "\"\\/bfnrt".indexOf(c);
            if (plain >= 0) {
                said.append("\"\\/\b\f\n\r\t".charAt(plain));
            } else if (c == 'u') {
                int code = 0;
                for (int i = 0; i < 4; i++) {
                    char hex = next();
                    int digit = hex < 128 ? Character.digit(hex, 16) : -1;
                    if (digit < 0) throw wrong();
                    code = code * 16 + digit;
                }
                said.append((char) code);
            } else {
                throw wrong();
            }
        }
    }

    private Object number() throws Fault {
        int from = at;
        if (peek() == '-') at++;
        int first = at;
        digits();
        if (text.charAt(first) == '0' && at > first + 1) throw wrong();
        boolean whole = true;
        if (peek() == '.') {
            whole = false;
            at++;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            whole = false;
            at++;
            if (peek() == '+' || peek() == '-') at++;
            digits();
        }
        String said = text.substring(from, at);
        if (whole) {
            try {
                return Long.valueOf(said);
            } catch (NumberFormatException large) {
                // Read as a double, like any parser without large integers.
            }
        }
        return Double.valueOf(said);
    }

    private void digits() throws Fault {
        int from = at;
        while (peek() >= '0' && peek() <= '9') at++;
        if (at == from) throw wrong();
    }

    private void word(String word) throws Fault {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
    }

    private void blank() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    /** The next character, or 0 at the end, which no rule accepts. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private char next() throws Fault {
        if (at >= text.length()) throw wrong();
        return text.charAt(at++);
    }

    private Fault wrong() {
        return Fault.malformed("the header is not valid JSON at character " + at);
    }

    /** Writes a value in one line. Halves of characters, which UTF-8 does not have, become U+FFFD. */
    static String write(Object value) {
        StringBuilder to = new StringBuilder();
        write(to, value);
        return to.toString();
    }

    private static void write(StringBuilder to, Object value) {
        if (value instanceof Map) {
            to.append('{');
            String before = "";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                to.append(before);
                quote(to, String.valueOf(entry.getKey()));
                to.append(':');
                write(to, entry.getValue());
                before = ",";
            }
            to.append('}');
        } else if (value instanceof Iterable) {
            to.append('[');
            String before = "";
            for (Object item : (Iterable<?>) value) {
                to.append(before);
                write(to, item);
                before = ",";
            }
            to.append(']');
        } else if (value == null || value instanceof Boolean) {
            to.append(value);
        } else if (value instanceof Number) {
            double number = ((Number) value).doubleValue();
            to.append(Double.isNaN(number) || Double.isInfinite(number) ? "null" : value.toString());
        } else {
            quote(to, value.toString());
        }
    }

    private static void quote(StringBuilder to, String text) {
        to.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                to.append('\\').append(c);
            } else if (c == '\n') {
                to.append("\\n");
            } else if (c < ' ' || c == 0x7f) {
                to.append("\\u00").append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                i += append(to, text, i);
            }
        }
        to.append('"');
    }

    /** Appends the character at this index, or U+FFFD for half of one. Returns how many more units it took. */
    static int append(StringBuilder to, String text, int i) {
        char c = text.charAt(i);
        if (!Character.isSurrogate(c)) {
            to.append(c);
            return 0;
        }
        if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
            to.append(c).append(text.charAt(i + 1));
            return 1;
        }
        to.append('\uFFFD');
        return 0;
    }
}
