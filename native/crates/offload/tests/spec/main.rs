//! Every case of the offload specification that pure code can answer, one test per id.
#![cfg(test)]

mod appendix;
mod common;
mod elide;
mod finish;
mod header;
mod limits;
mod merge_tcp;
mod merge_udp;
mod order;
mod split;
