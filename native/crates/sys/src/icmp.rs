//! Ping.
