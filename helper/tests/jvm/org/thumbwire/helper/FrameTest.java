package org.thumbwire.helper;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.Collections;

final class FrameTest {
    private static Frame read(byte[] bytes) throws IOException, Fault {
        return Frame.read(new DataInputStream(new ByteArrayInputStream(bytes)), Frame.LARGEST);
    }

    private static byte[] bytes(String latin) {
        return latin.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    static void frame_is_two_lengths_a_header_and_a_body() throws Exception {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        new Frame(Collections.<String, Object>singletonMap("id", 7), bytes("abc")).write(to);
        Check.equal(bytes("\0\0\0\u0008\0\0\0\3{\"id\":7}abc"), to.toByteArray());
        Frame frame = read(to.toByteArray());
        Check.equal(7L, frame.header.get("id"));
        Check.equal(bytes("abc"), frame.body);
    }

    static void stream_may_end_between_frames_only() throws Exception {
        Check.equal(null, read(new byte[0]));
        byte[] whole = bytes("\0\0\0\2\0\0\0\1{}x");
        for (int cut = 1; cut < whole.length; cut++) {
            try {
                read(java.util.Arrays.copyOf(whole, cut));
                throw new AssertionError("read a frame of " + cut + " bytes");
            } catch (EOFException end) {
                continue;
            }
        }
    }

    static void large_frame_is_refused_from_its_lengths() throws Exception {
        Check.fault("too_large", () -> read(bytes("\0\u0080\0\0\0\0\0\1")));
        Fault fault = Check.fault("too_large", () -> read(bytes("\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff")));
        Check.that(fault.getMessage().contains("8589934590"), fault.getMessage());
        Check.fault("too_large", () -> read(bytes("\0\u0098\u0096\u0080\0\0\0\0")));
    }

    static void answer_that_is_too_large_becomes_an_error() throws Exception {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        new Frame(Collections.<String, Object>singletonMap("id", 7L), new byte[Frame.LARGEST]).write(to);
        Frame frame = read(to.toByteArray());
        Check.equal(7L, frame.header.get("id"));
        Check.equal("too_large", frame.header.get("error"));
        Check.equal(0, frame.body.length);
    }
}
