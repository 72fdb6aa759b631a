package org.thumbwire.helper;

final class RequestTest {
    private static Request of(String json) throws Fault {
        return new Request(Json.object(json.getBytes(Json.UTF_8)));
    }

    static void fields_are_read_by_type() throws Exception {
        Request request = of("{\"a\":\"x\",\"n\":3,\"f\":true,\"l\":[\"p\",\"q\"],\"p\":[[\"k\",\"v\"]],\"d\":2.5,\"none\":null}");
        Check.equal("x", request.text("a"));
        Check.equal("y", request.text("none", "y"));
        Check.equal(3L, request.number("n", 0, 3));
        Check.equal(9L, request.number("m", 0, 3, 9));
        Check.equal(true, request.flag("f", false));
        Check.equal("[p, q]", request.texts("l", 2).toString());
        Check.equal("v", request.pairs("p", 1).get(0)[1]);
        Check.equal(2.5f, request.pixels("d"));
        Check.equal(2L, request.millis("n", 2, 0));
    }

    static void wrong_types_are_refused() throws Exception {
        Request request = of("{\"a\":1,\"n\":\"3\",\"big\":4,\"l\":[\"p\",1],\"p\":[[\"k\"]],\"d\":1e300,\"minus\":-1}");
        Check.fault("malformed", () -> request.text("a"));
        Check.fault("malformed", () -> request.text("missing"));
        Check.fault("malformed", () -> request.number("n", 0, 9));
        Check.fault("malformed", () -> request.number("big", 0, 3));
        Check.fault("malformed", () -> request.flag("a", true));
        Check.fault("malformed", () -> request.texts("l", 5));
        Check.fault("malformed", () -> request.texts("l", 1));
        Check.fault("malformed", () -> request.pairs("p", 5));
        Check.fault("malformed", () -> request.pixels("d"));
        Check.fault("malformed", () -> request.pixels("missing"));
        Check.fault("malformed", () -> request.millis("minus", 5, 0));
    }
}
