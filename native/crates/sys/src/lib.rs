//! Linux system calls: TUN, UDP, poll, netlink, threads. The home of unsafe.
