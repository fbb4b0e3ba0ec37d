/// Bytes are a packet, judged in both directions under a policy that looks at everything.
pub fn filter(data: &[u8]) {
    ::filter::exercise(data);
}
