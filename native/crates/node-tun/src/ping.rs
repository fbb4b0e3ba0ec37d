//! ICMP echo.

use core::net::IpAddr;
use core::time::Duration;

use napi::bindgen_prelude::{AsyncTask, Task};
use napi::{Env, Error, Result};
use napi_derive::napi;
use sys::icmp;

use crate::error::Failure;
use crate::options::invalid;

/// One echo request that waits on a thread of the pool.
pub struct PingTask {
    address: IpAddr,
    timeout: Duration,
    failure: Option<Failure>,
}

impl Task for PingTask {
    type Output = Duration;
    type JsValue = f64;

    fn compute(&mut self) -> Result<Duration> {
        icmp::ping(self.address, self.timeout, PAYLOAD_LEN).map_err(|error| {
            let plain = Error::from_reason(error.to_string());
            self.failure = Some(error.into());
            plain
        })
    }

    fn resolve(&mut self, _: Env, output: Duration) -> Result<f64> {
        Ok(output.as_secs_f64() * 1e6)
    }

    fn reject(&mut self, env: Env, error: Error) -> Result<f64> {
        Err(self
            .failure
            .take()
            .map_or(error, |failure| failure.into_error(&env)))
    }
}

/// Sends one ICMP echo request and resolves with the time to its answer in microseconds; rejects with a `code`.
#[napi(ts_return_type = "Promise<number>")]
pub fn ping(env: Env, address: String, timeout_ms: u32) -> Result<AsyncTask<PingTask>> {
    let address = address
        .parse()
        .map_err(|_| invalid(format!("\"{address}\" is not an IP address")).into_error(&env))?;
    let timeout = Duration::from_millis(timeout_ms.into());
    Ok(AsyncTask::new(PingTask {
        address,
        timeout,
        failure: None,
    }))
}

const PAYLOAD_LEN: usize = 56;
