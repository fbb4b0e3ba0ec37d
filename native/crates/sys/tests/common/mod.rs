//! Shared by the integration tests.

#[path = "../../src/testing.rs"]
mod testing;

pub(crate) use testing::in_namespace;
