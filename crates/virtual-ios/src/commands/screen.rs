//! What the screen shows: sources, pictures, sizes, orientation.

use base64::Engine as _;
use serde_json::{Value, json};
use thumbwire_virtual_phone::Frame;
use thumbwire_webdriver::{ErrorCode, Orientation, ScreenCommand, ScreenInfo, Size, SourceFormat};

use super::alert::Answer;
use super::{Reply, refuse};
use crate::latency;
use crate::phone::{State, VirtualIphone};
use crate::source::{SourceNode, SourceOptions, write_json_source, write_xml_source};

impl VirtualIphone {
    pub(super) async fn screen_command(&self, command: ScreenCommand) -> Reply {
        match command {
            ScreenCommand::Source { format, excluded_attributes, scope } => {
                let snapshot = self.snapshot().await;
                let excluded = excluded_attributes.map(|names| names.0).unwrap_or_default();
                let options = SourceOptions { excluded_attributes: excluded, scope };
                match format.unwrap_or(SourceFormat::Xml) {
                    SourceFormat::Xml => Ok(write_xml_source(&snapshot.source(0), &options).into()),
                    SourceFormat::Json => Ok(write_json_source(&snapshot.source(0), &options)),
                    SourceFormat::Description => Ok(snapshot.description(0).into()),
                }
            }
            ScreenCommand::AccessibleSource => {
                let mut root = self.snapshot().await.source(0);
                root.children = root.children.into_iter().flat_map(accessible).collect();
                Ok(write_json_source(&root, &SourceOptions::default()))
            }
            ScreenCommand::Screenshot => {
                self.run_work(latency::SCREENSHOT).await;
                let frame = self.with(|phone| phone.world.capture());
                encoded(&frame)
            }
            ScreenCommand::WindowRect => {
                let size = self.with(|phone| size(phone));
                Ok(json!({ "x": 0, "y": 0, "width": size.width, "height": size.height }))
            }
            ScreenCommand::WindowSize => {
                let size = self.with(|phone| size(phone));
                Ok(json!({ "width": size.width, "height": size.height }))
            }
            ScreenCommand::Screen => Ok(self.with(|phone| {
                let bar =
                    phone.world.scene().windows.iter().find(|window| {
                        window.kind == thumbwire_virtual_phone::WindowKind::StatusBar
                    });
                let bar = bar.map(|window| window.bounds).unwrap_or_default();
                let points = |pixels: i32| (f64::from(pixels) / phone.scale()).round();
                let status_bar = Size { width: points(bar.width()), height: points(bar.height()) };
                ScreenInfo { screen: Some(size(phone)), status_bar, scale: phone.scale() }
                    .to_value()
            })),
            ScreenCommand::GetOrientation => {
                let shown = match self.with(|phone| phone.orientation) {
                    Orientation::Landscape | Orientation::LandscapeRight => Orientation::Landscape,
                    _ => Orientation::Portrait,
                };
                Ok(shown.as_str().into())
            }
            ScreenCommand::SetOrientation { orientation } => self.turn(orientation),
            ScreenCommand::GetRotation => {
                let z = match self.with(|phone| phone.orientation) {
                    Orientation::Portrait => 0,
                    Orientation::LandscapeRight => 90,
                    Orientation::PortraitUpsideDown => 180,
                    Orientation::Landscape => 270,
                };
                Ok(json!({ "x": 0, "y": 0, "z": z }))
            }
            ScreenCommand::SetRotation { x, y, z } => {
                let turned = [
                    (0.0, Orientation::Portrait),
                    (90.0, Orientation::LandscapeRight),
                    (180.0, Orientation::PortraitUpsideDown),
                    (270.0, Orientation::Landscape),
                ];
                let turned =
                    turned.iter().find(|(degrees, _)| x == 0.0 && y == 0.0 && z == *degrees);
                let (_, orientation) = turned.ok_or_else(|| {
                    refuse(
                        ErrorCode::InvalidArgument,
                        format!("rotation not supported: {{x={x}, y={y}, z={z}}}"),
                    )
                })?;
                self.turn(*orientation)
            }
            ScreenCommand::DeviceOrientation => {
                let name = match self.with(|phone| phone.orientation) {
                    Orientation::Portrait => "UIDeviceOrientationPortrait",
                    Orientation::LandscapeRight => "UIDeviceOrientationLandscapeRight",
                    Orientation::PortraitUpsideDown => "UIDeviceOrientationPortraitUpsideDown",
                    Orientation::Landscape => "UIDeviceOrientationLandscapeLeft",
                };
                Ok(name.into())
            }
            ScreenCommand::AlertText => self.alert_text(),
            ScreenCommand::SetAlertText { text } => self.set_alert_text(&text.0).await,
            ScreenCommand::AcceptAlert { button } => {
                self.answer_alert(Answer::Accept, button.as_deref()).await
            }
            ScreenCommand::DismissAlert { button } => {
                self.answer_alert(Answer::Dismiss, button.as_deref()).await
            }
            ScreenCommand::AlertButtons => self.alert_buttons(),
        }
    }

    fn turn(&self, orientation: Orientation) -> Reply {
        let quarter_turns = match orientation {
            Orientation::Portrait => 0,
            Orientation::LandscapeRight => 3,
            Orientation::Landscape => 1,
            // As apps on iPhones, which do not turn upside down.
            Orientation::PortraitUpsideDown => {
                return Err(refuse(ErrorCode::InvalidElementState, "Unable To Rotate Device"));
            }
        };
        self.with(|phone| {
            phone.world.set_rotation(quarter_turns);
            phone.orientation = orientation;
        });
        Ok(Value::Null)
    }
}

/// The screen in points, as it is turned.
fn size(phone: &State) -> Size {
    let display = phone.world.display();
    let points = |pixels: i32| (f64::from(pixels) / phone.scale()).round();
    Size { width: points(display.width), height: points(display.height) }
}

/// A picture as PNG in Base64.
pub(super) fn encoded(frame: &Frame) -> Reply {
    let png = frame.png();
    let png =
        png.ok_or_else(|| refuse(ErrorCode::UnableToCaptureScreen, "cannot take a screenshot"))?;
    Ok(base64::engine::general_purpose::STANDARD.encode(png).into())
}

/// The accessible elements at or below one.
fn accessible(mut node: SourceNode) -> Vec<SourceNode> {
    if node.accessible == Some(true) {
        node.children.clear();
        return vec![node];
    }
    node.children.into_iter().flat_map(accessible).collect()
}
