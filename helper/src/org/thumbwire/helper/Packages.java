package org.thumbwire.helper;

import android.content.Intent;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageItemInfo;
import android.content.pm.PackageManager;
import android.content.pm.ResolveInfo;
import android.content.pm.ServiceInfo;
import android.content.res.AssetManager;
import android.content.res.Configuration;
import android.content.res.Resources;
import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.graphics.drawable.Drawable;
import android.os.Bundle;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.xmlpull.v1.XmlPullParser;

/**
 * The ops `apps`, `icon` and `tools`: what can be launched, by the name that a person sees, and which services offer
 * themselves to agents. Texts and pictures are read from the packages' own resources.
 */
final class Packages {
    private static final int MOST = 4096;
    private static final String ACTION = "mobile.mcp.SERVICE";

    private final Map<String, Resources> resources = new HashMap<String, Resources>();

    final Operation apps = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            Intent launcher = new Intent(Intent.ACTION_MAIN).addCategory(Intent.CATEGORY_LAUNCHER);
            List<Object> apps = new ArrayList<Object>();
            for (ResolveInfo found : query("queryIntentActivities", launcher, 0)) {
                task.check();
                ApplicationInfo app = found.activityInfo.applicationInfo;
                Map<String, Object> is = new LinkedHashMap<String, Object>();
                is.put("package", app.packageName);
                is.put("activity", found.activityInfo.name);
                is.put("label", label(found.activityInfo, app));
                is.put("system", (app.flags & ApplicationInfo.FLAG_SYSTEM) != 0);
                apps.add(is);
            }
            return new Reply().with("apps", apps);
        }
    };

    final Operation icon = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            String name = request.text("package");
            int side = (int) request.number("side", 16, 512, 96);
            Intent launcher = new Intent(Intent.ACTION_MAIN).addCategory(Intent.CATEGORY_LAUNCHER).setPackage(name);
            for (ResolveInfo found : query("queryIntentActivities", launcher, 0)) {
                int id = found.activityInfo.icon != 0 ? found.activityInfo.icon : found.activityInfo.applicationInfo.icon;
                if (id == 0) continue;
                @SuppressWarnings("deprecation")
                Drawable icon = of(found.activityInfo.applicationInfo).getDrawable(id);
                Bitmap picture = Bitmap.createBitmap(side, side, Bitmap.Config.ARGB_8888);
                icon.setBounds(0, 0, side, side);
                icon.draw(new Canvas(picture));
                ByteArrayOutputStream to = new ByteArrayOutputStream();
                picture.compress(Bitmap.CompressFormat.PNG, 100, to);
                picture.recycle();
                return new Reply().with("format", "png").with("width", side).with("height", side).body(to.toByteArray());
            }
            throw new Fault("not_found", "no launcher entry of " + Json.write(name) + " has an icon", "list the apps again");
        }
    };

    final Operation tools = new Operation() {
        @Override
        public Reply run(Request request, Task task) throws Exception {
            String action = request.text("action", ACTION);
            boolean documents = request.flag("documents", false);
            List<Object> services = new ArrayList<Object>();
            for (ResolveInfo found : query("queryIntentServices", new Intent(action), PackageManager.GET_META_DATA)) {
                task.check();
                ServiceInfo service = found.serviceInfo;
                Map<String, Object> is = new LinkedHashMap<String, Object>();
                is.put("component", service.packageName + "/" + service.name);
                is.put("label", label(service, service.applicationInfo));
                is.put("exported", service.exported);
                is.put("permission", service.permission);
                is.put("version", version(service.packageName));
                is.put("uid", service.applicationInfo.uid);
                is.put("meta", meta(service.metaData));
                if (documents) is.put("documents", documents(service));
                services.add(is);
            }
            return new Reply().with("services", services);
        }
    };

    private static List<ResolveInfo> query(String method, Intent intent, int flags) throws Exception {
        Object found = Call.of(method).with(Intent.class, intent).maybe(String.class, null).number(flags)
                .maybe(int.class, Services.user()).on(Services.packages());
        // Since Android 7 the list comes in a wrapper.
        if (found != null && !(found instanceof List)) found = Call.of("getList").on(found);
        List<ResolveInfo> list = new ArrayList<ResolveInfo>();
        if (found == null) return list;
        for (Object one : (List<?>) found) if (list.size() < MOST) list.add((ResolveInfo) one);
        return list;
    }

    private Object version(String name) {
        try {
            Object info = Call.of("getPackageInfo").with(String.class, name).number(0).maybe(int.class, Services.user())
                    .on(Services.packages());
            return info.getClass().getField("versionCode").getInt(info);
        } catch (Exception gone) {
            return null;
        }
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

    private List<Object> meta(Bundle bundle) {
        List<Object> meta = new ArrayList<Object>();
        if (bundle == null) return meta;
        for (String key : bundle.keySet()) {
            Object value = bundle.get(key);
            if (value instanceof Integer) meta.add(Arrays.asList(key, value));
            else if (value != null) meta.add(Arrays.asList(key, value.toString()));
        }
        return meta;
    }

    /** The XML files that the service's metadata name, as texts. */
    private List<Object> documents(ServiceInfo service) throws Exception {
        List<Object> documents = new ArrayList<Object>();
        if (service.metaData == null) return documents;
        for (String key : service.metaData.keySet()) {
            Object value = service.metaData.get(key);
            if (!(value instanceof Integer) || (Integer) value >>> 24 == 0) continue;
            try {
                documents.add(Arrays.asList(key, xml(of(service.applicationInfo).getXml((Integer) value))));
            } catch (Resources.NotFoundException other) {
                // A number, or a resource of another kind.
            }
        }
        return documents;
    }

    private static String xml(XmlPullParser from) throws Exception {
        StringBuilder to = new StringBuilder();
        for (int event = from.getEventType(); event != XmlPullParser.END_DOCUMENT; event = from.next()) {
            if (to.length() > 1 << 20) throw new Fault("too_large", "an XML file has more than 1 MiB");
            if (event == XmlPullParser.START_TAG) {
                to.append('<').append(from.getName());
                for (int i = 0; i < from.getAttributeCount(); i++) {
                    to.append(' ').append(from.getAttributeName(i)).append("=\"");
                    Dump.escape(to, from.getAttributeValue(i));
                    to.append('"');
                }
                to.append('>');
            } else if (event == XmlPullParser.END_TAG) {
                to.append("</").append(from.getName()).append('>');
            } else if (event == XmlPullParser.TEXT) {
                Dump.escape(to, from.getText());
            }
        }
        return to.toString();
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
