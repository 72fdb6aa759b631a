package org.thumbwire.helper;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;

/** A message: the lengths of a header and of a body (big-endian, four bytes each), a JSON object, then any bytes. */
final class Frame {
    /** Maximum bytes of a header and a body together. */
    static final int LARGEST = 8 << 20;
    static final byte[] NO_BODY = {};

    final Map<String, Object> header;
    final byte[] body;

    Frame(Map<String, Object> header, byte[] body) {
        this.header = header;
        this.body = body;
    }

    /**
     * Reads the next message of at most this many bytes; null at the end of the stream. A longer one is refused before any
     * of it is read. After a {@link Fault} the stream is out of sync.
     */
    static Frame read(DataInputStream from, int largest) throws IOException, Fault {
        long header = from.read();
        if (header < 0) return null;
        for (int i = 0; i < 3; i++) header = header << 8 | from.readUnsignedByte();
        long body = from.readInt() & 0xFFFFFFFFL;
        if (header + body > largest) {
            throw new Fault("too_large", "the frame has " + (header + body) + " bytes; the limit is " + largest);
        }
        byte[] text = bytes(from, (int) header);
        byte[] rest = bytes(from, (int) body);
        return new Frame(Json.object(text), rest);
    }

    /** Memory grows with what arrives, not with what was announced. */
    private static byte[] bytes(DataInputStream from, int length) throws IOException {
        byte[] bytes = new byte[Math.min(length, 1 << 16)];
        int have = 0;
        while (have < length) {
            if (have == bytes.length) bytes = java.util.Arrays.copyOf(bytes, (int) Math.min(length, 2L * have));
            int more = from.read(bytes, have, bytes.length - have);
            if (more < 0) throw new EOFException("the stream ends within a frame");
            have += more;
        }
        return bytes;
    }

    /** Writes the message, or instead of one that is too large an error with the same id. */
    void write(OutputStream to) throws IOException {
        byte[] text = Json.write(header).getBytes(Json.UTF_8);
        byte[] rest = body;
        if ((long) text.length + rest.length > LARGEST) {
            Map<String, Object> failed = new LinkedHashMap<String, Object>();
            failed.put("id", header.get("id"));
            failed.put("error", "too_large");
            failed.put("message", "the answer has " + ((long) text.length + rest.length) + " bytes; the limit is " + LARGEST);
            failed.put("advice", "ask for less");
            text = Json.write(failed).getBytes(Json.UTF_8);
            rest = NO_BODY;
        }
        byte[] frame = new byte[8 + text.length + rest.length];
        number(frame, 0, text.length);
        number(frame, 4, rest.length);
        System.arraycopy(text, 0, frame, 8, text.length);
        System.arraycopy(rest, 0, frame, 8 + text.length, rest.length);
        to.write(frame);
        to.flush();
    }

    private static void number(byte[] to, int at, int value) {
        for (int i = 0; i < 4; i++) to[at + i] = (byte) (value >>> 8 * (3 - i));
    }
}
