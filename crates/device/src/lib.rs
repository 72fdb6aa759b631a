//! What a program can do with a phone, whichever phone it is.
