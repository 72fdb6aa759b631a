package org.thumbwire.helper;

import java.util.LinkedHashMap;
import java.util.Map;

/** What an operation answers: fields, and bytes such as a picture. */
final class Reply {
    final Map<String, Object> fields = new LinkedHashMap<String, Object>();
    byte[] body = Frame.NO_BODY;

    Reply with(String name, Object value) {
        fields.put(name, value);
        return this;
    }

    Reply body(byte[] bytes) {
        body = bytes;
        return this;
    }
}
