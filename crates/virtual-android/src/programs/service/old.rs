//! What is special about the services of Android 4.4: those that this table lists for it alone, and the usage of
//! `service`. Sources: `service list` of a running 4.4.4, and `service.cpp` of that release.

/// Further services and their interfaces, sorted by name.
pub(super) static SERVICES: &[(&str, &str)] = &[
    ("android.security.keystore", "android.security.keystore"),
    ("appwidget", "com.android.internal.appwidget.IAppWidgetService"),
    ("assetatlas", "android.view.IAssetAtlas"),
    ("backup", "android.app.backup.IBackupManager"),
    ("batterypropreg", "android.os.IBatteryPropertiesRegistrar"),
    ("commontime_management", ""),
    ("consumer_ir", "android.hardware.IConsumerIrService"),
    ("country_detector", "android.location.ICountryDetector"),
    ("dbinfo", ""),
    ("devicestoragemonitor", ""),
    ("dreams", "android.service.dreams.IDreamManager"),
    ("drm.drmManager", "drm.IDrmManagerService"),
    ("entropy", ""),
    ("hardware", "android.os.IHardwareService"),
    ("iphonesubinfo", "com.android.internal.telephony.IPhoneSubInfo"),
    ("isms", "com.android.internal.telephony.ISms"),
    ("media.audio_flinger", "android.media.IAudioFlinger"),
    ("media.audio_policy", "android.media.IAudioPolicyService"),
    ("media.camera", "android.hardware.ICameraService"),
    ("media.player", "android.media.IMediaPlayerService"),
    ("media_router", "android.media.IMediaRouterService"),
    ("mount", "IMountService"),
    ("netpolicy", "android.net.INetworkPolicyManager"),
    ("network_management", "android.os.INetworkManagementService"),
    ("phone", "com.android.internal.telephony.ITelephony"),
    ("print", "android.print.IPrintManager"),
    ("samplingprofiler", ""),
    ("scheduling_policy", "android.os.ISchedulingPolicyService"),
    ("serial", "android.hardware.ISerialManager"),
    ("servicediscovery", "android.net.nsd.INsdManager"),
    ("simphonebook", "com.android.internal.telephony.IIccPhoneBook"),
    ("sip", "android.net.sip.ISipService"),
    ("telephony.registry", "com.android.internal.telephony.ITelephonyRegistry"),
    ("textservices", "com.android.internal.textservice.ITextServicesManager"),
    ("updatelock", "android.os.IUpdateLock"),
    ("usb", "android.hardware.usb.IUsbManager"),
    ("vibrator", "android.os.IVibratorService"),
    ("wifip2p", "android.net.wifi.p2p.IWifiP2pManager"),
];

/// What `service` prints when it is asked wrongly.
pub(super) const USAGE: &str = "\
Usage: service [-h|-?]
       service list
       service check SERVICE
       service call SERVICE CODE [i32 INT | s16 STR] ...
Options:
   i32: Write the integer INT into the send parcel.
   s16: Write the UTF-16 string STR into the send parcel.
";

#[cfg(test)]
mod tests {
    use super::SERVICES;

    #[test]
    fn services_are_sorted_by_name() {
        assert!(SERVICES.is_sorted_by(|a, b| a.0 < b.0));
    }
}
