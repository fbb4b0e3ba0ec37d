//! The 10-byte virtio-net header in front of each packet of a header-mode TUN device.

/// Bytes of the header.
pub const VIRTIO_LEN: usize = 10;

/// Flag: the checksum field holds the seed and has to be finished.
pub const NEEDS_CHECKSUM: u8 = 1;

/// Bit of the GSO type: the first piece of a TCP super-frame carries CWR.
pub const ECN: u8 = 0x80;

/// GSO types.
pub mod gso {
    /// One packet.
    pub const NONE: u8 = 0;
    /// TCP over IPv4.
    pub const TCP4: u8 = 1;
    /// TCP over IPv6.
    pub const TCP6: u8 = 4;
    /// UDP datagrams over IPv4 or IPv6.
    pub const UDP: u8 = 5;
}

/// Byte order of the 16-bit fields, a property of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// The order of this machine.
    Native,
    /// Most significant byte first.
    Big,
}

/// The header's fields in this machine's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtioHeader {
    /// Flag bits; [`NEEDS_CHECKSUM`] is the only one that matters here.
    pub flags: u8,
    /// GSO type, see [`gso`] and [`ECN`].
    pub gso_type: u8,
    /// A hint: never trusted on read, exact on write.
    pub header_len: u16,
    /// L4 payload bytes per piece.
    pub segment_size: u16,
    /// Where summing starts, counted from the start of the L3 packet.
    pub checksum_start: u16,
    /// Where the checksum field lies, counted from `checksum_start`.
    pub checksum_offset: u16,
}

impl VirtioHeader {
    /// Decodes the first [`VIRTIO_LEN`] bytes; `None` if there are fewer.
    #[must_use]
    pub fn read(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        let [flags, gso_type, h0, h1, s0, s1, c0, c1, o0, o1] =
            *bytes.first_chunk::<VIRTIO_LEN>()?;
        let decode = match order {
            ByteOrder::Little => u16::from_le_bytes,
            ByteOrder::Native => u16::from_ne_bytes,
            ByteOrder::Big => u16::from_be_bytes,
        };
        Some(Self {
            flags,
            gso_type,
            header_len: decode([h0, h1]),
            segment_size: decode([s0, s1]),
            checksum_start: decode([c0, c1]),
            checksum_offset: decode([o0, o1]),
        })
    }

    /// Encodes all ten bytes of `out`.
    pub fn write(&self, out: &mut [u8; VIRTIO_LEN], order: ByteOrder) {
        let encode = match order {
            ByteOrder::Little => u16::to_le_bytes,
            ByteOrder::Native => u16::to_ne_bytes,
            ByteOrder::Big => u16::to_be_bytes,
        };
        let [h0, h1] = encode(self.header_len);
        let [s0, s1] = encode(self.segment_size);
        let [c0, c1] = encode(self.checksum_start);
        let [o0, o1] = encode(self.checksum_offset);
        *out = [self.flags, self.gso_type, h0, h1, s0, s1, c0, c1, o0, o1];
    }

    /// The ten bytes, as [`Self::write`] makes them.
    #[must_use]
    pub fn bytes(&self, order: ByteOrder) -> [u8; VIRTIO_LEN] {
        let mut bytes = [0; VIRTIO_LEN];
        self.write(&mut bytes, order);
        bytes
    }

    /// The GSO type without the ECN bit.
    #[must_use]
    pub const fn gso_kind(&self) -> u8 {
        self.gso_type & !ECN
    }

    /// Whether the checksum field holds a seed.
    #[must_use]
    pub const fn needs_checksum(&self) -> bool {
        self.flags & NEEDS_CHECKSUM != 0
    }
}
