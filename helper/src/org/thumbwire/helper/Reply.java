package org.thumbwire.helper;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.Deflater;

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

    /**
     * Compresses the body into zlib's format, if that makes it smaller; `inflated` then tells its former length. Old phones
     * send 4 KiB at a time and wait for an answer each time.
     */
    Reply deflate() {
        byte[] smaller = new byte[body.length];
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        try {
            deflater.setInput(body);
            deflater.finish();
            int length = deflater.deflate(smaller);
            if (deflater.finished()) with("inflated", body.length).body(Arrays.copyOf(smaller, length));
        } finally {
            deflater.end();
        }
        return this;
    }
}
