package org.thumbwire.helper;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;

final class JsonTest {
    private static Map<String, Object> read(String text) throws Fault {
        return Json.object(text.getBytes(Json.UTF_8));
    }

    private static Object value(String text) throws Fault {
        return read("{\"v\":" + text + "}").get("v");
    }

    static void each_kind_of_value_is_read() throws Fault {
        Check.equal(7L, value("7"));
        Check.equal(-0.5, value("-5e-1"));
        Check.equal(1e30, value("1000000000000000000000000000000"));
        Check.equal(true, value(" true "));
        Check.equal(null, value("null"));
        Check.equal(Arrays.<Object>asList(1L, "b", Arrays.asList()), value("[1, \"b\", []]"));
        Check.equal("é漢字😀 \"\\/\b\f\n\r\t A😀", value("\"é漢字😀 \\\"\\\\\\/\\b\\f\\n\\r\\t \\u0041\\ud83d\\ude00\""));
        Check.equal("{\"a\":{\"b\":[]}}", Json.write(read(" {\"a\" : {\"b\":[ ]} } ")));
    }

    static void what_is_not_an_object_is_refused() throws Exception {
        for (String text : new String[] {"", "[]", "1", "{", "{}x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":01}",
            "{\"a\":1.}", "{\"a\":+1}", "{\"a\":'b'}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}", "{\"a\":tru}",
            "{\"a\":[1 2]}", "{\"a\":\"b}", "{\"a\":-}", "{\"a\":NaN}", "\uFEFF{}"}) {
            Check.fault("malformed", () -> read(text));
        }
        Check.fault("malformed", () -> Json.object(new byte[] {'{', '"', (byte) 0xFF, '"', ':', '1', '}'}));
        Check.fault("malformed", () -> Json.object(new byte[] {'{', '"', (byte) 0xED, (byte) 0xA0, (byte) 0xBD, '"', ':', '1', '}'}));
    }

    static void deep_nesting_is_refused() throws Exception {
        String deep = new String(new char[100000]).replace("\0", "[");
        Check.fault("malformed", () -> value(deep));
        Check.fault("malformed", () -> value(deep.replace("[", "{\"a\":")));
    }

    static void texts_are_written_so_that_they_are_read_again() throws Fault {
        String odd = "\u0000\u001f\u007f\"\\ é漢😀\u2028";
        Check.equal(odd, value(Json.write(odd)));
        Check.that(Json.write("\n\u0001").equals("\"\\n\\u0001\""), Json.write("\n\u0001"));
    }

    static void half_a_character_becomes_a_replacement() {
        Check.equal("\"a\uFFFDb\uFFFD\"", Json.write("a\ud83db\ude00"));
        Check.equal("\"\uFFFD\"", Json.write("\ud83d"));
        Check.equal("null", Json.write(Double.NaN));
    }

    static void random_bytes_are_read_or_refused() {
        Random random = new Random(20);
        String letters = "{}[]\",:\\u0aetrufalsn-1.9 é";
        for (int i = 0; i < 20000; i++) {
            StringBuilder text = new StringBuilder("{");
            for (int length = random.nextInt(30); length > 0; length--) text.append(letters.charAt(random.nextInt(letters.length())));
            byte[] bytes = text.toString().getBytes(Json.UTF_8);
            if (i % 3 == 0 && bytes.length > 1) bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            try {
                Json.object(bytes);
            } catch (Fault refused) {
                Check.equal("malformed", refused.code);
            }
        }
    }
}
