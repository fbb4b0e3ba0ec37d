//! Shards, commands, events and counters of the data plane, generic over the ports.
