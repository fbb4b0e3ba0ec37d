use engine::{Engine, EngineLimits, Rows};
use ports::Instant;

/// Bytes are a batch of commands for a new engine, applied twice.
///
/// A refused batch says where and why, and leaves the peers as they were.
pub fn command(data: &[u8]) {
    let limits = EngineLimits {
        public_key: [7; 32],
        shards: 1,
        peers_max: 64,
        flows_max: 1_024,
    };
    let engine = Engine::new(&limits, Box::new(|| {}));
    for second in 1..=2 {
        let now = Instant::from_nanoseconds(second * 1_000_000_000);
        let before = peers(&engine, now);
        if let Err(error) = engine.apply(data, now) {
            assert!(error.offset < data.len());
            assert!(error.to_string().starts_with("command at byte "));
            assert_eq!(peers(&engine, now), before, "nothing was applied");
        }
        let mut events = vec![0; 1 << 16];
        let used = engine.take_events(&mut events);
        whole_records(&events[..used]);
    }
    let mut totals = vec![0; engine::total_counter_names().len()];
    assert!(matches!(engine.read_totals(&mut totals), Rows::Written(1)));
}

fn peers(engine: &Engine, now: Instant) -> usize {
    let mut rows = vec![0; engine::peer_counter_names().len() * 64];
    match engine.read_peer_counters(&mut rows, now) {
        Rows::Written(rows) => rows,
        Rows::Needed(rows) => panic!("{rows} peers where 64 are the bound"),
    }
}

/// Kind, flags, shard and length in front of each body, and nothing behind the last.
fn whole_records(mut rest: &[u8]) {
    while !rest.is_empty() {
        let Some(([_, _, _, _, len @ ..], behind)) = rest.split_first_chunk::<8>() else {
            panic!("an event is cut off");
        };
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
        rest = behind.get(len..).expect("the body is there");
    }
}
