//! Checked views of IPv4, IPv6, TCP, UDP and ICMP packets, and their checksums.
