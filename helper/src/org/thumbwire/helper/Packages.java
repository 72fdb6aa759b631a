package org.thumbwire.helper;

import android.content.Intent;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageItemInfo;
import android.content.pm.ResolveInfo;
import android.content.res.AssetManager;
import android.content.res.Configuration;
import android.content.res.Resources;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The op `apps`: what can be launched, by the name that a person sees, read from the packages' own resources. */
final class Packages implements Operation {
    private static final int MOST = 4096;

    private final Map<String, Resources> resources = new HashMap<String, Resources>();

    @Override
    public Reply run(Request request, Task task) throws Exception {
        Intent launcher = new Intent(Intent.ACTION_MAIN).addCategory(Intent.CATEGORY_LAUNCHER);
        List<Object> apps = new ArrayList<Object>();
        for (ResolveInfo found : query(launcher)) {
            task.check();
            ApplicationInfo app = found.activityInfo.applicationInfo;
            Map<String, Object> is = new LinkedHashMap<String, Object>();
            is.put("package", app.packageName);
            is.put("label", label(found.activityInfo, app));
            apps.add(is);
        }
        return new Reply().with("apps", apps);
    }

    private static List<ResolveInfo> query(Intent intent) throws Exception {
        Object found = Call.of("queryIntentActivities").with(Intent.class, intent).maybe(String.class, null).number(0)
                .maybe(int.class, Services.user()).on(Services.packages());
        // Since Android 7 the list comes in a wrapper.
        if (found != null && !(found instanceof List)) found = Call.of("getList").on(found);
        List<ResolveInfo> list = new ArrayList<ResolveInfo>();
        if (found == null) return list;
        for (Object one : (List<?>) found) if (list.size() < MOST) list.add((ResolveInfo) one);
        return list;
    }

    private String label(PackageItemInfo item, ApplicationInfo app) {
        PackageItemInfo from = item.labelRes != 0 || item.nonLocalizedLabel != null ? item : app;
        if (from.nonLocalizedLabel != null) return from.nonLocalizedLabel.toString();
        try {
            if (from.labelRes != 0) return of(app).getText(from.labelRes).toString();
        } catch (Exception missing) {
            // Its package has no such text.
        }
        return app.packageName;
    }

    /** The package's resources in the phone's language. An updated package is at another place. */
    private synchronized Resources of(ApplicationInfo app) throws Exception {
        Configuration configuration = configuration();
        String key = app.publicSourceDir + " " + (configuration == null ? "" : configuration.toString());
        Resources known = resources.get(key);
        if (known != null) return known;
        AssetManager assets = AssetManager.class.getDeclaredConstructor().newInstance();
        Call.of("addAssetPath").with(String.class, app.publicSourceDir).on(assets);
        for (String split : splits(app)) Call.of("addAssetPath").with(String.class, split).on(assets);
        Resources fresh = new Resources(assets, Resources.getSystem().getDisplayMetrics(), configuration);
        if (resources.size() >= 64) resources.clear();
        resources.put(key, fresh);
        return fresh;
    }

    private static String[] splits(ApplicationInfo app) {
        try {
            String[] splits = (String[]) ApplicationInfo.class.getField("splitPublicSourceDirs").get(app);
            return splits == null ? new String[0] : splits;
        } catch (Exception old) {
            return new String[0];
        }
    }

    private static Configuration configuration() {
        try {
            return (Configuration) Call.of("getConfiguration").on(Services.activities());
        } catch (Exception unknown) {
            return null;
        }
    }
}
