//! Where apps believe the phone to be.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Error;

/// A place on Earth, in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// From -90 (south) to 90 (north).
    pub latitude: f64,
    /// From -180 (west) to 180 (east).
    pub longitude: f64,
}

impl Location {
    /// A place; `None` if it is not on Earth.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        let on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        on_earth.then_some(Self { latitude, longitude })
    }
}

/// Simulates where the phone is.
#[async_trait]
pub trait SimulatedLocation: Send + Sync {
    /// Tells apps that the phone is here, until it restarts or its own location is used again.
    async fn set_location(&self, at: Location) -> Result<(), Error>;
}
