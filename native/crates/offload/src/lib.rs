//! The virtio-net header, splitting of super-packets and merging of segments.
