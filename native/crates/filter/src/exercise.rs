use crate::{
    Action, Bench, Detail, Direction, Directions, Filter, FlowTable, Judge, Passage, PeerId,
    PortRange, Replies, Rule,
};

/// Judges bytes as a packet of either direction, under a policy that looks at everything: for fuzzing.
///
/// # Panics
/// When a packet that comes twice meets two verdicts.
pub fn exercise(bytes: &[u8]) {
    let rule = |id, action, detail| Rule {
        id,
        action,
        directions: Directions::Both,
        replies: Replies::Pass,
        protocol: None,
        source: None,
        destination: None,
        detail,
    };
    let ports = PortRange { low: 1, high: 1024 };
    let rules = [
        rule(
            1,
            Action::Deny,
            Detail::Icmp {
                kind: 5,
                code: None,
            },
        ),
        rule(2, Action::Allow, Detail::Ports([ports].into())),
    ];
    let (filter, flows) = (Filter::compile(&[], &rules), FlowTable::new(4));
    let bench = Bench {
        filter: &filter,
        flows: &flows,
        now_ms: 0,
    };
    let mut judge = Judge::default();
    for direction in [Direction::Out, Direction::In] {
        for packet in [bytes, bytes.get(1..).unwrap_or_default()] {
            let passage = Passage {
                direction,
                peer: PeerId::default(),
                packet,
            };
            let first = judge.judge(&bench, &passage);
            let again = judge.judge(&bench, &passage);
            assert_eq!(first, again, "a packet that comes twice meets one verdict");
        }
    }
    judge.settle(&bench);
}
