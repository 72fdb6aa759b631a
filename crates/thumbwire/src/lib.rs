//! Puts a program's thumb on any phone.
