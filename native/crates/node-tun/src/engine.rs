//! The class `Engine`.

use napi::bindgen_prelude::{BigInt, Function, Status};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result};
use napi_derive::napi;
use ports::Clock;

use crate::error::Failure;
use crate::options::EngineOptions;
use crate::running::Running;
use crate::status::{EngineStatus, status_of};
use crate::waiter::SystemClock;

/// A sharded WireGuard data plane on a TUN device: commands in, events and counters out.
#[napi]
pub struct Engine {
    running: Option<Running>,
    tun_name: String,
    listen_port: u16,
    shard_count: u32,
}

/// Memory of a typed array of the caller, for the time of one call.
type Bytes<'a> = &'a mut [u8];
/// The same for 64-bit words.
type Words<'a> = &'a mut [u64];

type WakeFunction = ThreadsafeFunction<(), (), (), Status, false, true>;

#[napi]
impl Engine {
    /// Opens the TUN device and the sockets, and starts the workers. `onEvents` is called after events became available;
    /// it does not keep the process alive.
    ///
    /// Throws an error with `code` (`tun_permission`, `tun_busy`, `port_in_use`, `invalid_option`, …) and, where the kernel
    /// refused, `errno`.
    #[napi(
        constructor,
        ts_args_type = "options: EngineOptions, onEvents: () => void"
    )]
    pub fn new(env: Env, options: EngineOptions, on_events: Function<'_, (), ()>) -> Result<Self> {
        let wake: WakeFunction = on_events
            .build_threadsafe_function()
            .weak::<true>()
            .build()?;
        let wake = Box::new(move || {
            wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        });
        let running = options
            .check()
            .and_then(|checked| Running::start(checked, wake));
        let running = running.map_err(|failure| failure.into_error(&env))?;
        Ok(Engine {
            tun_name: running.tun_name.clone(),
            listen_port: running.port,
            shard_count: u32::try_from(running.shard_count()).unwrap_or(u32::MAX),
            running: Some(running),
        })
    }

    /// UDP port of all sockets.
    #[napi(getter)]
    pub fn listen_port(&self) -> u32 {
        self.listen_port.into()
    }

    /// Name of the TUN interface.
    #[napi(getter)]
    pub fn tun_name(&self) -> String {
        self.tun_name.clone()
    }

    /// Number of workers.
    #[napi(getter)]
    pub fn shard_count(&self) -> u32 {
        self.shard_count
    }

    /// Applies a batch of commands. Throws with code `invalid_command` when a record does not fit; then nothing of the
    /// batch was applied.
    #[napi(ts_args_type = "commands: Uint8Array")]
    pub fn apply(&self, env: Env, commands: &[u8]) -> Result<()> {
        let running = self.running(&env)?;
        match running.engine.apply(commands, SystemClock.now()) {
            Ok(engine::Wake::FirstShard) => running.wake_first(),
            Ok(engine::Wake::NotNeeded) => {}
            Err(error) => {
                return Err(Failure::new("invalid_command", error.to_string()).into_error(&env));
            }
        }
        Ok(())
    }

    /// Writes whole event records and returns the bytes written; call it until it returns 0. An array of 4096 bytes
    /// holds every record.
    #[napi(ts_args_type = "into: Uint8Array")]
    pub fn take_events(&self, env: Env, into: Bytes<'_>) -> Result<u32> {
        Ok(u32::try_from(self.running(&env)?.engine.take_events(into)).unwrap_or(u32::MAX))
    }

    /// Fills one row per peer, columns as `peerCounterNames()`. Returns the rows written, or the negative number of rows
    /// needed when the array is too small.
    #[napi(ts_args_type = "into: BigUint64Array")]
    pub fn read_peer_counters(&self, env: Env, into: Words<'_>) -> Result<i32> {
        Ok(rows(
            self.running(&env)?
                .engine
                .read_peer_counters(into, SystemClock.now()),
        ))
    }

    /// Fills one row per worker and stage, columns as `shardCounterNames()`. Returns as `readPeerCounters` does.
    #[napi(ts_args_type = "into: BigUint64Array")]
    pub fn read_shard_counters(&self, env: Env, into: Words<'_>) -> Result<i32> {
        let running = self.running(&env)?;
        let nanoseconds =
            |cycles| u64::try_from(running.scale.duration(cycles).as_nanos()).unwrap_or(u64::MAX);
        Ok(rows(running.engine.read_shard_counters(into, nanoseconds)))
    }

    /// Fills one row of engine-wide counts, columns as `totalCounterNames()`. Returns as `readPeerCounters` does.
    #[napi(ts_args_type = "into: BigUint64Array")]
    pub fn read_totals(&self, env: Env, into: Words<'_>) -> Result<i32> {
        Ok(rows(self.running(&env)?.engine.read_totals(into)))
    }

    /// Fills one row per filter rule, columns as `ruleCounterNames()`. Returns as `readPeerCounters` does.
    #[napi(ts_args_type = "into: BigUint64Array")]
    pub fn read_rule_counters(&self, env: Env, into: Words<'_>) -> Result<i32> {
        Ok(rows(
            self.running(&env)?
                .engine
                .read_rule_counters(into, SystemClock.now()),
        ))
    }

    /// Fills rows of flows from a position of the flow table on, columns as `flowNames()`, and returns how many. Fewer
    /// than fit mean the end; else go on at the position of the last row plus one.
    #[napi(ts_args_type = "from: bigint, into: BigUint64Array")]
    pub fn read_flows(&self, env: Env, from: BigInt, into: Words<'_>) -> Result<u32> {
        let (_, from, _) = from.get_u64();
        let running = self.running(&env)?;
        let rows = running.engine.read_flows(from, into, SystemClock.now());
        Ok(u32::try_from(rows).unwrap_or(u32::MAX))
    }

    /// Fills rows of flows that ended since the last call or go on for long, columns as `flowNames()`; one flow of
    /// `sampling`, 0 = none. What does not fit comes with a later call, except for ends that come too fast: `lost` counts
    /// those.
    #[napi(ts_args_type = "sampling: number, into: BigUint64Array")]
    pub fn take_flow_records(
        &self,
        env: Env,
        sampling: u32,
        into: Words<'_>,
    ) -> Result<FlowRecordsTaken> {
        let running = self.running(&env)?;
        let taken = running
            .engine
            .take_flow_records(sampling, into, SystemClock.now());
        let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(FlowRecordsTaken {
            rows: count(taken.rows as u64),
            lost: count(taken.lost),
        })
    }

    /// What is in use, what is not and why.
    #[napi]
    pub fn status(&self, env: Env) -> Result<EngineStatus> {
        Ok(status_of(self.running(&env)?))
    }

    /// Makes a worker panic, to see how the program takes it: the event `ShardFailed` follows, and the engine ends. Throws
    /// with code `not_enabled` unless the environment of the process has `WEFT_DEBUG_FAULTS=1`.
    #[napi]
    pub fn inject_panic(&self, env: Env, shard: u32) -> Result<()> {
        let running = self.running(&env)?;
        if std::env::var_os("WEFT_DEBUG_FAULTS").is_none_or(|value| value != "1") {
            let sentence = "faults are injected only with WEFT_DEBUG_FAULTS=1";
            return Err(Failure::new("not_enabled", sentence).into_error(&env));
        }
        match u16::try_from(shard) {
            Ok(shard) if u32::from(shard) < self.shard_count => running.inject_panic(shard),
            _ => {
                let sentence = format!("there is no worker {shard}");
                return Err(Failure::new("invalid_option", sentence).into_error(&env));
            }
        }
        Ok(())
    }

    /// Ends the workers, closes all descriptors and removes the TUN interface. May be called again.
    #[napi]
    pub fn close(&mut self) {
        self.running = None;
    }

    fn running(&self, env: &Env) -> Result<&Running> {
        let closed = || Failure::new("closed", "the engine is closed").into_error(env);
        self.running.as_ref().ok_or_else(closed)
    }
}

/// What `takeFlowRecords` did.
#[napi(object)]
#[derive(Debug)]
pub struct FlowRecordsTaken {
    /// Rows written.
    pub rows: u32,
    /// Ends of flows that nobody will record.
    pub lost: u32,
}

fn rows(rows: engine::Rows) -> i32 {
    match rows {
        engine::Rows::Written(rows) => i32::try_from(rows).unwrap_or(i32::MAX),
        engine::Rows::Needed(rows) => -i32::try_from(rows).unwrap_or(i32::MAX),
    }
}
