package org.thumbwire.helper;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The fields of a request, read by type. A field of another type is a {@link Fault}; an unknown one is ignored. */
final class Request {
    private final Map<String, Object> fields;

    Request(Map<String, Object> fields) {
        this.fields = fields;
    }

    boolean has(String name) {
        return fields.get(name) != null;
    }

    String text(String name) throws Fault {
        String value = text(name, null);
        if (value == null) throw wrong(name, "a string");
        return value;
    }

    String text(String name, String otherwise) throws Fault {
        Object value = fields.get(name);
        if (value == null) return otherwise;
        if (!(value instanceof String)) throw wrong(name, "a string");
        return (String) value;
    }

    boolean flag(String name, boolean otherwise) throws Fault {
        Object value = fields.get(name);
        if (value == null) return otherwise;
        if (!(value instanceof Boolean)) throw wrong(name, "true or false");
        return (Boolean) value;
    }

    /** A whole number within these limits. */
    long number(String name, long least, long most) throws Fault {
        Object value = fields.get(name);
        if (!(value instanceof Long) || (Long) value < least || (Long) value > most) {
            throw wrong(name, "a whole number from " + least + " to " + most);
        }
        return (Long) value;
    }

    long number(String name, long least, long most, long otherwise) throws Fault {
        return has(name) ? number(name, least, most) : otherwise;
    }

    /** A number of milliseconds, cut to the maximum. */
    long millis(String name, long most, long otherwise) throws Fault {
        Object value = fields.get(name);
        if (value == null) return otherwise;
        if (!(value instanceof Long) || (Long) value < 0) throw wrong(name, "a number of milliseconds");
        return Math.min(most, (Long) value);
    }

    /** A coordinate in pixels. */
    float pixels(String name) throws Fault {
        return pixels(name, fields.get(name));
    }

    static float pixels(String name, Object value) throws Fault {
        if (!(value instanceof Number)) throw wrong(name, "a number of pixels");
        double pixels = ((Number) value).doubleValue();
        if (!(Math.abs(pixels) <= 100000)) throw wrong(name, "a number of pixels");
        return (float) pixels;
    }

    /** A list of at most this many values; null if there is none. */
    List<?> list(String name, int most) throws Fault {
        Object value = fields.get(name);
        if (value == null) return null;
        if (!(value instanceof List) || ((List<?>) value).size() > most) {
            throw wrong(name, "a list of at most " + most + " values");
        }
        return (List<?>) value;
    }

    /** A list of strings; null if there is none. */
    List<String> texts(String name, int most) throws Fault {
        List<?> list = list(name, most);
        if (list == null) return null;
        List<String> texts = new ArrayList<String>();
        for (Object item : list) {
            if (!(item instanceof String)) throw wrong(name, "a list of strings");
            texts.add((String) item);
        }
        return texts;
    }

    /** A list of pairs of strings; empty if there is none. */
    List<String[]> pairs(String name, int most) throws Fault {
        List<String[]> pairs = new ArrayList<String[]>();
        List<?> list = list(name, most);
        if (list == null) return pairs;
        for (Object item : list) {
            List<?> pair = item instanceof List ? (List<?>) item : null;
            if (pair == null || pair.size() != 2 || !(pair.get(0) instanceof String) || !(pair.get(1) instanceof String)) {
                throw wrong(name, "a list of pairs of strings");
            }
            pairs.add(new String[] {(String) pair.get(0), (String) pair.get(1)});
        }
        return pairs;
    }

    static Fault wrong(String name, String what) {
        return Fault.malformed("`" + name + "` is not " + what);
    }
}
