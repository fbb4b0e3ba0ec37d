//! WireGuard message views, replay window, AEAD trait and MACs.
