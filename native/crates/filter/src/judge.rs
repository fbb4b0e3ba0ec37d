use crate::filter::{Decision, Filter, Met, Verdict};
use crate::flows::{FlowKey, FlowNews, FlowTable, PeerId, Place, Sample, TcpNote};
use crate::rule::Direction;
use crate::subject::{Parsed, Subject};

/// Judges the packets of one shard. Packets of one flow that follow each other meet the flow table once.
#[derive(Debug, Default)]
pub struct Judge {
    last: Option<Last>,
    news: FlowNews,
}

/// What verdicts are made of. One [`Judge`] may meet another policy only after [`Judge::settle`].
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    /// The policy.
    pub filter: &'a Filter,
    /// Flows of all shards.
    pub flows: &'a FlowTable,
    /// Milliseconds since any fixed point of time.
    pub now_ms: u64,
}

/// A packet on its way, from or to a peer.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// Which way it goes.
    pub direction: Direction,
    /// The peer it comes from or goes to.
    pub peer: PeerId,
    /// The IP packet; may be a super-frame.
    pub packet: &'a [u8],
}

/// The flow that was met last.
#[derive(Clone, Copy, Debug)]
struct Last {
    place: Place,
    decision: Decision,
    /// Not yet counted.
    pending: Sample,
}

impl Judge {
    /// Judges one packet as part of its flow.
    pub fn judge(&mut self, bench: &Bench<'_>, passage: &Passage<'_>) -> Verdict {
        let Passage {
            direction,
            peer,
            packet,
        } = *passage;
        let Some(parsed) = Parsed::of(packet) else {
            self.settle(bench);
            let decision = bench.filter.decide_unreadable(direction);
            return counted(bench, decision, 1, packet.len() as u64);
        };
        let bytes = packet.len() as u64;
        if self.is_related(bench, passage, &parsed) {
            return Verdict::Allow;
        }
        let key = FlowKey::of(&parsed.subject, direction);
        if let Some(last) = &mut self.last
            && last.place.key == key
            && last.place.direction == direction
            && last.place.peer == peer
        {
            last.pending.packets += 1;
            last.pending.bytes += bytes;
            last.pending.tcp = last.pending.tcp.then(parsed.tcp_flags);
            return last.decision.verdict();
        }
        self.settle(bench);
        let place = Place {
            key,
            direction,
            peer,
            now_ms: bench.now_ms,
        };
        let sample = Sample {
            packets: 1,
            bytes,
            tcp: TcpNote::of(parsed.tcp_flags),
        };
        let decision = bench
            .flows
            .enter(bench.filter, &place, sample, &mut self.news);
        self.last = Some(Last {
            place,
            decision,
            pending: Sample::default(),
        });
        counted(bench, decision, 1, bytes)
    }

    /// The packet judged last was a super-frame: counts what its pieces are beside it.
    pub fn add_pieces(&mut self, packets: u64, bytes: u64) {
        if let Some(last) = &mut self.last {
            last.pending.packets += packets;
            last.pending.bytes += bytes;
        }
    }

    /// Counts what was put off, at the end of a batch. The next packet asks the table again.
    pub fn settle(&mut self, bench: &Bench<'_>) {
        let Some(last) = self.last.take() else { return };
        if last.pending.packets > 0 {
            bench.flows.add(&last.place, last.decision, last.pending);
            let Sample { packets, bytes, .. } = last.pending;
            counted(bench, last.decision, packets, bytes);
        }
    }

    /// What happened to flows since the last call.
    pub fn take_news(&mut self) -> FlowNews {
        core::mem::take(&mut self.news)
    }

    /// Whether the packet is an ICMP error about a flow that may pass, sent to the end that it came from.
    fn is_related(
        &mut self,
        bench: &Bench<'_>,
        passage: &Passage<'_>,
        parsed: &Parsed<'_>,
    ) -> bool {
        let Some(quoted) = parsed.quoted.and_then(Subject::of_quoted) else {
            return false;
        };
        if quoted.source != parsed.subject.destination {
            return false;
        }
        let direction = passage.direction.opposite();
        let place = Place {
            key: FlowKey::of(&quoted, direction),
            direction,
            peer: passage.peer,
            now_ms: bench.now_ms,
        };
        let rule = bench.flows.related(bench.filter, &place, &mut self.news);
        if let Some(rule) = rule {
            let met = Met {
                packets: 1,
                bytes: passage.packet.len() as u64,
                now_ms: bench.now_ms,
            };
            bench.filter.count_passed(rule, met);
        }
        rule.is_some()
    }
}

fn counted(bench: &Bench<'_>, decision: Decision, packets: u64, bytes: u64) -> Verdict {
    let met = Met {
        packets,
        bytes,
        now_ms: bench.now_ms,
    };
    match decision {
        Decision::Allow { rule, .. } => bench.filter.count_passed(rule, met),
        Decision::Deny { rule: Some(rule) } => bench.filter.count_dropped(rule, met),
        Decision::Deny { rule: None } => {}
    }
    decision.verdict()
}
