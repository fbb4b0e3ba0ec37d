//! The traits the engine drives: TUN queue, datagram socket, clock; and their contract suites.
