//! Longest-prefix table of allowed IPs, peer index and session slots.
