//! Virtual link, packet builders and in-memory ports, for tests only.
