//! Suites every implementation of a port must pass.
