//! Addresses to names.

use std::collections::HashMap;

use blazesym::symbolize::source::{Kernel, Process, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use blazesym::{MaybeDefault, Pid};

/// Where an address belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Kernel,
    User,
}

/// Names of the functions at `addresses`, innermost first where the compiler had merged several into one.
pub(crate) fn names(space: Space, addresses: &[u64]) -> HashMap<u64, Vec<String>> {
    let symbolizer = Symbolizer::new();
    // Symbol tables have whole names; line tables know what was merged into a function, but by short names only.
    let mut named = look_up(&symbolizer, space, Tables::Symbols, addresses);
    if space == Space::User {
        for (address, inner) in look_up(&symbolizer, space, Tables::Lines, addresses) {
            let frames = named.entry(address).or_default();
            let outer = core::mem::take(frames);
            let merged = inner.len().saturating_sub(1);
            frames.extend(inner.into_iter().take(merged));
            frames.extend(outer);
        }
    }
    named
}

/// Which tables of a program to look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tables {
    Symbols,
    Lines,
}

fn look_up(
    symbolizer: &Symbolizer,
    space: Space,
    tables: Tables,
    addresses: &[u64],
) -> HashMap<u64, Vec<String>> {
    let source = source(space, tables);
    let Ok(symbols) = symbolizer.symbolize(&source, Input::AbsAddr(addresses)) else {
        return HashMap::new();
    };
    let named = addresses.iter().copied().zip(symbols);
    named
        .map(|(address, symbol)| (address, frames(&symbol)))
        .collect()
}

/// What to call an address that has no name.
pub(crate) fn unknown(space: Space) -> &'static str {
    match space {
        Space::Kernel => "[kernel]",
        Space::User => "[unknown]",
    }
}

fn frames(symbol: &Symbolized<'_>) -> Vec<String> {
    let Some(symbol) = symbol.as_sym() else {
        return Vec::new();
    };
    let inlined = symbol.inlined.iter().rev().map(|inlined| &inlined.name);
    let all = inlined.chain([&symbol.name]);
    // Tables of other programs hold nameless entries.
    let named = all.filter(|name| !name.trim().is_empty());
    named.map(ToString::to_string).collect()
}

fn source(space: Space, tables: Tables) -> Source<'static> {
    match space {
        Space::Kernel => Source::Kernel(Kernel {
            vmlinux: MaybeDefault::None,
            ..Kernel::default()
        }),
        Space::User => {
            let mut process = Process::new(Pid::Slf);
            // Anybody may write a file of that name.
            process.perf_map = false;
            // The other way needs CAP_SYS_ADMIN.
            process.map_files = false;
            process.debug_syms = tables == Tables::Lines;
            Source::Process(process)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_ours_has_its_name() {
        let address = names as *const () as usize as u64;

        let found = names(Space::User, &[address, 1]);

        assert_eq!(
            found[&address].last().map(String::as_str),
            Some("profile::symbols::names")
        );
        assert!(found[&1].is_empty());
    }
}
