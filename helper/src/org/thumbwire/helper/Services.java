package org.thumbwire.helper;

import android.os.IBinder;

/** Android's services, reached by their binders: a process without an application has no other way. */
final class Services {
    /** Who we are to services that check the caller's package against its user id, 2000. */
    static final String SHELL = "com.android.shell";

    private Services() {}

    static Class<?> named(String name) throws Fault {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException why) {
            throw Fault.unsupported("this Android has no class " + name);
        }
    }

    /** The service's interface, such as `clipboard` as `android.content.IClipboard`. */
    static Object get(String name, String type) throws Exception {
        Object binder = Call.of("getService").with(String.class, name).on(named("android.os.ServiceManager"));
        if (binder == null) throw Fault.unsupported("this Android has no service " + name);
        return Call.of("asInterface").with(IBinder.class, binder).on(named(type + "$Stub"));
    }

    /** The activity manager, whose interface was written by hand before Android 8. */
    static Object activities() throws Exception {
        try {
            Class.forName("android.app.IActivityManager$Stub");
        } catch (ClassNotFoundException old) {
            return Call.of("getDefault").on(named("android.app.ActivityManagerNative"));
        }
        return get("activity", "android.app.IActivityManager");
    }

    static Object packages() throws Exception {
        return get("package", "android.content.pm.IPackageManager");
    }

    /** The user in front: a phone may have several. */
    static int user() {
        try {
            Object user = Call.of("getCurrentUser").on(activities());
            return user.getClass().getField("id").getInt(user);
        } catch (Exception old) {
            return 0;
        }
    }
}
