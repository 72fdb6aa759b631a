//! `dumpsys display` of Android 4.4: `DisplayManagerService.dump` and its adapters; the capture
//! `040`.

use crate::phone::State;

pub(super) fn report(phone: &mut State) -> String {
    let display = *phone.world.display();
    let (width, height, turned) = (display.width, display.height, display.rotation);
    let (natural_width, natural_height) = phone.world.physical_size();
    let density = display.density;
    let blanked = !phone.world.screen_on();
    let info = |app: &str| {
        format!(
            "DisplayInfo{{\"Built-in Screen\", app {app}, real {app}, largest app {app}, smallest app {app}, 60.0 fps, rotation{turned}, density {density} ({density}.0 x {density}.0) dpi, layerStack 0, type BUILT_IN, FLAG_SECURE, FLAG_SUPPORTS_PROTECTED_BUFFERS}}"
        )
    };
    let natural = format!("{natural_width} x {natural_height}");
    let frame = format!("Rect(0, 0 - {width}, {height})");
    let pids: Vec<u32> = {
        let packages = phone.world.packages();
        packages.iter().filter_map(|it| phone.world.pid_of(&it.package)).collect()
    };
    let callbacks: String = pids
        .iter()
        .enumerate()
        .map(|(nth, pid)| format!("  {nth}: mPid={pid}, mWifiDisplayScanRequested=false\n"))
        .collect();
    format!(
        "DISPLAY MANAGER (dumpsys display)
  mHeadless=false
  mOnlyCode=false
  mSafeMode=false
  mPendingTraversal=false
  mAllDisplayBlankStateFromPowerManager={}
  mNextNonDefaultDisplayId=1
  mDefaultViewport=DisplayViewport{{valid=true, displayId=0, orientation={turned}, logicalFrame={frame}, physicalFrame={frame}, deviceWidth={width}, deviceHeight={height}}}
  mExternalTouchViewport=DisplayViewport{{valid=false, displayId=0, orientation=0, logicalFrame=Rect(0, 0 - 0, 0), physicalFrame=Rect(0, 0 - 0, 0), deviceWidth=0, deviceHeight=0}}
  mSingleDisplayDemoMode=false
  mWifiDisplayScanRequestCount=0

Display Adapters: size=4
  LocalDisplayAdapter
  OverlayDisplayAdapter
    mCurrentOverlaySetting=
    mOverlays: size=0
  WifiDisplayAdapter
    mCurrentStatus=WifiDisplayStatus{{featureState=1, scanState=0, activeDisplayState=0, activeDisplay=null, displays=[], sessionInfo=WifiDisplaySessionInfo:
        Client/Owner: Client
        GroupId: 
        Passphrase: 
        SessionId: 0
        IP Address: }}
    mFeatureState=1
    mScanState=0
    mActiveDisplayState=0
    mActiveDisplay=null
    mDisplays=[]
    mAvailableDisplays=[]
    mRememberedDisplays=[]
    mPendingStatusChangeBroadcast=false
    mPendingNotificationUpdate=false
    mSupportsProtectedBuffers=false
    mDisplayController:
      mWifiDisplayOnSetting=false
      mWifiP2pEnabled=false
      mWfdEnabled=false
      mWfdEnabling=false
      mNetworkInfo=null
      mScanRequested=false
      mDiscoverPeersInProgress=false
      mDesiredDevice=null
      mConnectingDisplay=null
      mDisconnectingDisplay=null
      mCancelingDisplay=null
      mConnectedDevice=null
      mConnectionRetriesLeft=0
      mRemoteDisplay=null
      mRemoteDisplayInterface=null
      mRemoteDisplayConnected=false
      mAdvertisedDisplay=null
      mAdvertisedDisplaySurface=null
      mAdvertisedDisplayWidth=0
      mAdvertisedDisplayHeight=0
      mAdvertisedDisplayFlags=0
      mAvailableWifiDisplayPeers: size=0
  VirtualDisplayAdapter

Display Devices: size=1
  DisplayDeviceInfo{{\"Built-in Screen\": {natural}, 60.0 fps, density {density}, {density}.0 x {density}.0 dpi, touch INTERNAL, rotation 0, type BUILT_IN, FLAG_DEFAULT_DISPLAY, FLAG_ROTATES_WITH_CONTENT, FLAG_SECURE, FLAG_SUPPORTS_PROTECTED_BUFFERS}}
    mAdapter=LocalDisplayAdapter
    mDisplayToken=android.os.BinderProxy@a65c25a8
    mCurrentLayerStack=0
    mCurrentOrientation={turned}
    mCurrentLayerStackRect={frame}
    mCurrentDisplayRect={frame}
    mCurrentSurface=null
    mBuiltInDisplayId=0
    mPhys=PhysicalDisplayInfo{{{natural}, 60.0 fps, density {}, {density}.0 x {density}.0 dpi, secure true}}
    mBlanked={blanked}

Logical Displays: size=1
  Display 0:
    mDisplayId=0
    mLayerStack=0
    mHasContent=true
    mPrimaryDisplayDevice=Built-in Screen
    mBaseDisplayInfo={}
    mOverrideDisplayInfo={}

Callbacks: size={}
{callbacks}",
        if blanked { 1 } else { 2 },
        f64::from(density) / 160.0,
        info(&natural),
        info(&format!("{width} x {height}")),
        pids.len(),
    )
}
