//! Compiled packet rules and their verdicts.
