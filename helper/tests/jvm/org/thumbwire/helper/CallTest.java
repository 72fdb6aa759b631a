package org.thumbwire.helper;

import java.util.Arrays;
import java.util.List;

/** Stand-ins with the signatures of several Android releases; each says what it was called with. */
final class CallTest {
    private static final class Intent {}

    private static final class Clip {}

    private static final class Thread19 {}

    private static class Event {}

    private static final class Touch extends Event {}

    private static List<Object> said(Object... words) {
        return Arrays.asList(words);
    }

    static final class Start19 {
        Object startService(Thread19 thread, Intent intent, String type, int user) {
            return said(thread, intent != null, type, user);
        }
    }

    static final class Start23 {
        Object startService(Thread19 thread, Intent intent, String type, String by, int user) {
            return said(thread, intent != null, type, by, user);
        }
    }

    static final class Start30 {
        Object startService(Thread19 thread, Intent intent, String type, boolean front, String by, String feature, int user) {
            return said(thread, intent != null, type, front, by, feature, user);
        }
    }

    static void service_is_started_with_each_releases_parameters() throws Exception {
        Call call = Call.of("startService").with(Intent.class, new Intent()).maybe(String.class, null)
                .maybe(String.class, "shell").maybe(String.class, null).with(int.class, 10);
        Check.equal(said(null, true, null, 10), call.on(new Start19()));
        Check.equal(said(null, true, null, "shell", 10), call.on(new Start23()));
        Check.equal(said(null, true, null, false, "shell", null, 10), call.on(new Start30()));
        Check.equal("Start23.startService(Thread19,Intent,String,String,int)", call.variant(Start23.class));
    }

    static final class Clip19 {
        Object setPrimaryClip(Clip clip, String by) {
            return said(clip != null, by);
        }
    }

    static final class Clip34 {
        Object setPrimaryClip(Clip clip, String by, String tag, int user, int device) {
            return said(clip != null, by, tag, user, device);
        }
    }

    static void clipboard_is_set_with_each_releases_parameters() throws Exception {
        Call call = Call.of("setPrimaryClip").with(Clip.class, new Clip()).with(String.class, "shell")
                .maybe(String.class, null).maybe(int.class, 10);
        Check.equal(said(true, "shell"), call.on(new Clip19()));
        Check.equal(said(true, "shell", null, 10, 0), call.on(new Clip34()));
    }

    static final class Query19 {
        Object query(Intent intent, String type, int flags, int user) {
            return said(intent != null, type, flags, user);
        }
    }

    static final class Query33 {
        Object query(Intent intent, String type, long flags, int user) {
            return said(intent != null, type, flags, user);
        }
    }

    static void flags_may_be_an_int_or_a_long() throws Exception {
        Call call = Call.of("query").with(Intent.class, new Intent()).maybe(String.class, null).number(128).maybe(int.class, 10);
        Check.equal(said(true, null, 128, 10), call.on(new Query19()));
        Check.equal(said(true, null, 128L, 10), call.on(new Query33()));
    }

    static final class Input34 {
        boolean injectInputEvent(Event event, int mode, int target) {
            throw new AssertionError("the variant with a target");
        }

        boolean injectInputEvent(Event event, int mode) {
            return event instanceof Touch && mode == 2;
        }

        private void other() {}
    }

    static void overload_without_parameters_left_over_is_preferred() throws Exception {
        Call call = Call.of("injectInputEvent").with(Event.class, new Touch()).with(int.class, 2);
        Check.equal(true, call.on(new Input34()));
    }

    static class Old {
        String former() {
            return "former";
        }
    }

    static final class Derived extends Old {}

    interface Proxied {
        String later(int more, String name);
    }

    static void names_are_tried_in_order_and_in_superclasses() throws Exception {
        Check.equal("former", Call.of("newer", "former").on(new Derived()));
        Proxied lambda = (more, name) -> name + more;
        Check.equal("x0", Call.of("later").with(String.class, "x").on(lambda));
        Check.that(Call.of("later").with(String.class, null).variant(Proxied.class).contains("later(int,String)"), "interface");
    }

    static void method_without_a_place_for_a_required_value_does_not_fit() throws Exception {
        Fault fault = Check.fault("unsupported", () -> Call.of("former").with(String.class, "x").on(new Old()));
        Check.that(fault.getMessage().contains("former"), fault.getMessage());
        Check.equal(null, Call.of("none").variant(Old.class));
        // A required null needs a place too.
        Check.fault("unsupported", () -> Call.of("former").with(String.class, null).on(new Old()));
    }

    static final class Throwing {
        void refuse() {
            throw new SecurityException("not for you");
        }

        Object all(boolean a, char b, byte c, short d, int e, long f, float g, double h, Object i) {
            return said(a, b, c, d, e, f, g, h, i);
        }
    }

    static void exceptions_come_as_they_were_thrown() throws Exception {
        try {
            Call.of("refuse").on(new Throwing());
            throw new AssertionError("no exception");
        } catch (SecurityException why) {
            Check.equal("refused", Fault.of(why).code);
            Check.equal("not for you", Fault.of(why).getMessage());
        }
        Check.equal("[false, \0, 0, 0, 0, 0, 0.0, 0.0, null]", Call.of("all").on(new Throwing()).toString());
    }
}
