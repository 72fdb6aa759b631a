package org.thumbwire.helper;

import android.app.ActivityManager;
import java.util.List;

/**
 * The op `front`: the activity in front, by three short questions instead of the window manager's
 * long report.
 */
final class Front implements Operation {
    @Override
    public Reply run(Request request, Task task) throws Exception {
        Object on = Call.of("isInteractive", "isScreenOn").on(Services.get("power", "android.os.IPowerManager"));
        Object locked = Call.of("isKeyguardLocked").on(Services.get("window", "android.view.IWindowManager"));
        Object tasks = Call.of("getTasks").with(int.class, 1).on(Services.activities());
        Reply reply = new Reply().with("on", on).with("locked", locked);
        if (!(tasks instanceof List) || ((List<?>) tasks).isEmpty()) return reply;
        ActivityManager.RunningTaskInfo top = (ActivityManager.RunningTaskInfo) ((List<?>) tasks).get(0);
        return top.topActivity == null ? reply : reply.with("activity", top.topActivity.flattenToString());
    }
}
