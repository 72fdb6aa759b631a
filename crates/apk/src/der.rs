//! As much of DER as it takes to find a certificate in a signature.
