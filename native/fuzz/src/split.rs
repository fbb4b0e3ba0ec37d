use offload::{ByteOrder, SplitCursor, SplitLimits, VIRTIO_LEN, VirtioHeader};
use packet::declared_len;

/// Bytes are the inner MTU (two bytes, big-endian), a little-endian virtio header and a packet.
pub fn split(data: &[u8]) {
    let Some(([high, low], frame)) = data.split_first_chunk::<2>() else {
        return;
    };
    let Some(header) = VirtioHeader::read(frame, ByteOrder::Little) else {
        return;
    };
    let packet = &frame[VIRTIO_LEN..];
    let inner_mtu = usize::from(u16::from_be_bytes([*high, *low]));
    let mut cursor = match SplitCursor::start(&header, packet, &SplitLimits { inner_mtu }) {
        Ok(cursor) => cursor,
        Err(error) => {
            assert!(!error.reason().is_empty() && !error.to_string().is_empty());
            return;
        }
    };
    let (count, piece_len) = (cursor.pieces_left(), cursor.piece_len_max());
    assert!(count >= 1 && piece_len <= packet.len());
    let mut out = vec![0; piece_len];
    let mut written = 0;
    for left in (0..count).rev() {
        assert_eq!(
            cursor.write_next(packet, &mut []),
            None,
            "no room, no progress"
        );
        let len = cursor
            .write_next(packet, &mut out)
            .expect("there is room for the longest piece");
        assert_eq!(cursor.pieces_left(), left);
        assert!(
            len == piece_len || left == 0,
            "only the last piece is shorter"
        );
        assert_eq!(
            declared_len(&out[..len]),
            Some(len),
            "length fields are those of the piece"
        );
        assert!(
            header.gso_type == 0 || len <= inner_mtu,
            "pieces of a super-frame fit the MTU"
        );
        written += len;
    }
    assert_eq!(cursor.write_next(packet, &mut out), None);
    let headers_len = if count > 1 {
        (written - packet.len()) / (count - 1)
    } else {
        0
    };
    assert!(
        written <= packet.len() + headers_len * count,
        "output ≤ input + headers × pieces"
    );
}
