package org.thumbwire.helper;

import java.util.Random;
import java.util.zip.Inflater;

final class ReplyTest {
    static void body_is_compressed_and_its_length_is_told() throws Exception {
        byte[] xml = new String(new char[500]).replace("\0", "<node text=\"\"/>").getBytes(Json.UTF_8);
        Reply reply = new Reply().body(xml).deflate();
        Check.equal(xml.length, reply.fields.get("inflated"));
        Check.that(reply.body.length < 200, reply.body.length);
        Inflater inflater = new Inflater();
        inflater.setInput(reply.body);
        byte[] found = new byte[xml.length];
        Check.equal(xml.length, inflater.inflate(found));
        Check.that(inflater.finished(), "more follows");
        Check.equal(xml, found);
    }

    static void body_that_would_grow_stays() throws Exception {
        byte[] noise = new byte[3000];
        new Random(1).nextBytes(noise);
        for (byte[] body : new byte[][] {noise, {}, {7}}) {
            Reply reply = new Reply().body(body).deflate();
            Check.equal(null, reply.fields.get("inflated"));
            Check.that(reply.body == body, "another body");
        }
    }
}
