//! Shared by the unit tests and the integration tests of this crate.

use std::io::ErrorKind;
use std::path::Path;

/// Runs a test in a private network namespace. Where that is not possible the test says so and passes, except in a CI
/// run (environment variable `CI`), where it fails.
pub(crate) fn in_namespace(test: impl FnOnce() + Send) {
    if !Path::new("/dev/net/tun").exists() {
        return skip("/dev/net/tun is missing");
    }
    match sys::namespace::run(test) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            skip("root or CAP_SYS_ADMIN and CAP_NET_ADMIN are needed");
        }
        Err(error) => panic!("no network namespace: {error}"),
    }
}

fn skip(reason: &str) {
    assert!(
        std::env::var_os("CI").is_none(),
        "a skipped test fails a CI run: {reason}"
    );
    eprintln!("SKIPPED: {reason}");
}
