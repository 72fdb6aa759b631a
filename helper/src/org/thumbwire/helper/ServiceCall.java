package org.thumbwire.helper;

import android.app.PendingIntent;
import android.content.ComponentName;
import android.content.Intent;
import android.os.Binder;
import android.os.Bundle;
import android.os.IBinder;
import android.os.Parcel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The op `call_service`: starts an app's service with a callback, and waits for what the app sends to it.
 *
 * The callback is a PendingIntent around a binder of our own. The app's `send` then comes here instead of to the system,
 * so no app of ours has to be installed.
 */
final class ServiceCall implements Operation {
    /** Maximum UTF-16 units of the extras. Measured on Android 4.4.4: 255,000 arrive, 300,000 vanish without an error. */
    private static final int LARGEST = 200000;
    private static final int MOST = 256;
    private static final long LIMIT = 30000;
    private static final long LONGEST_LIMIT = 600000;

    @Override
    public Reply run(Request request, Task task) throws Exception {
        ComponentName to = component(request.text("component"));
        List<String[]> extras = request.pairs("extras", MOST);
        List<String> callbacks = request.texts("callbacks", MOST);
        List<String> resultExtras = request.texts("result_extras", MOST);
        long limit = request.millis("limit_ms", LONGEST_LIMIT, LIMIT);
        Intent intent = new Intent().setComponent(to);
        int units = 0;
        for (String[] extra : extras) {
            units += extra[0].length() + extra[1].length();
            intent.putExtra(extra[0], extra[1]);
        }
        if (units > LARGEST) {
            throw new Fault("too_large", "the extras have " + units + " UTF-16 units; the limit is " + LARGEST, "send less");
        }
        Callback callback = new Callback(resultExtras);
        if (callbacks != null) {
            for (String name : callbacks) intent.putExtra(name, callback.pending());
        }
        long until = Server.now() + limit;
        start(to, intent);
        if (callbacks == null || callbacks.isEmpty()) limit = 0;
        return callback.await(Math.min(limit, until - Server.now()), limit);
    }

    private static ComponentName component(String text) throws Fault {
        int slash = text.indexOf('/');
        if (slash < 1 || slash == text.length() - 1) {
            throw Request.wrong("component", "a string of the form package/full.Class");
        }
        String app = text.substring(0, slash);
        String name = text.substring(slash + 1);
        return new ComponentName(app, name.startsWith(".") ? app + name : name);
    }

    static Call call(Intent intent, int user) {
        // The type of the Intent's data, then since Android 6 our package, then since 11 a feature of it.
        return Call.of("startService").with(Intent.class, intent).maybe(String.class, null)
                .maybe(String.class, Services.SHELL).maybe(String.class, null).with(int.class, user);
    }

    private static void start(ComponentName to, Intent intent) throws Exception {
        Object started = call(intent, Services.user()).on(Services.activities());
        String name = to.flattenToString();
        if (started == null) throw new Fault("not_found", "no service " + name, "list the services again");
        ComponentName is = (ComponentName) started;
        if (is.getPackageName().equals("?")) {
            throw new Fault("background", is.getClassName(), "start the app, then try again");
        }
        if (is.getPackageName().startsWith("!")) {
            throw new Fault("refused", is.getClassName(), "only the app's developer can open the service");
        }
    }

    /** `android.content.IIntentSender`, which receives one `send`. Later ones, and ones after the end, change nothing. */
    private static final class Callback extends Binder {
        private static final String NAME = "android.content.IIntentSender";

        private final List<String> resultExtras;
        private final CountDownLatch arrived = new CountDownLatch(1);
        private Reply reply;
        private Fault failed;

        Callback(List<String> resultExtras) {
            this.resultExtras = resultExtras;
            attachInterface(null, NAME);
        }

        PendingIntent pending() {
            Parcel parcel = Parcel.obtain();
            try {
                parcel.writeStrongBinder(this);
                parcel.setDataPosition(0);
                return PendingIntent.readPendingIntentOrNullFromParcel(parcel);
            } finally {
                parcel.recycle();
            }
        }

        Reply await(long millis, long limit) throws Exception {
            if (limit == 0) return new Reply().with("sent", true);
            if (!arrived.await(Math.max(0, millis), TimeUnit.MILLISECONDS)) {
                throw new Fault("timeout", "no reply within " + limit + " ms; the app may have acted",
                        "check the app before trying again");
            }
            if (failed != null) throw failed;
            return reply;
        }

        @Override
        protected boolean onTransact(int code, Parcel data, Parcel answer, int flags) throws android.os.RemoteException {
            if (code != FIRST_CALL_TRANSACTION) return super.onTransact(code, data, answer, flags);
            data.enforceInterface(NAME);
            int result = data.readInt();
            Intent intent = data.readInt() != 0 ? Intent.CREATOR.createFromParcel(data) : new Intent();
            String type = data.readString();
            // Before Android 7 the app's process calls us itself; later the system does.
            take(result, intent, Binder.getCallingUid());
            if ((flags & FLAG_ONEWAY) == 0) {
                // The app's PendingIntent.OnFinished waits for this.
                finish(data.readStrongBinder(), intent, result);
                if (answer != null) {
                    answer.writeNoException();
                    answer.writeInt(0);
                }
            }
            return true;
        }

        private synchronized void take(int code, Intent intent, int uid) {
            if (arrived.getCount() == 0) return;
            try {
                List<Object> extras = new ArrayList<Object>();
                Bundle bundle = intent.getExtras();
                if (bundle != null) {
                    for (String key : bundle.keySet()) {
                        Object value = resultExtras == null || resultExtras.contains(key) ? bundle.get(key) : null;
                        boolean plain = value instanceof CharSequence || value instanceof Number || value instanceof Boolean;
                        if (plain) extras.add(Arrays.asList(key, value.toString()));
                    }
                }
                reply = new Reply().with("code", code).with("extras", extras).with("uid", uid);
            } catch (RuntimeException unknown) {
                // A class of the app, which only the app can read, makes the whole bundle unreadable.
                failed = new Fault("internal", "the app's reply cannot be read: " + Fault.message(unknown));
            }
            arrived.countDown();
        }

        private static void finish(IBinder receiver, Intent intent, int result) {
            if (receiver == null) return;
            try {
                Object to = Call.of("asInterface").with(IBinder.class, receiver)
                        .on(Services.named("android.content.IIntentReceiver$Stub"));
                Call.of("performReceive").with(Intent.class, intent).with(int.class, result).on(to);
            } catch (Exception gone) {
                // The app waits for nothing then.
            }
        }
    }
}
