//! Replays the seeds of the fuzz targets (E2E-04), so that a crash that was found once stays found.
#![cfg(test)]

#[path = "../../../fuzz/src/merge.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod merge;
#[path = "../../../fuzz/src/parse.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod parse;
#[path = "../../../fuzz/src/split.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod split;

use std::fs;
use std::path::Path;

/// E2E-04: every seed, every prefix of it, and every seed with one byte inverted.
#[test]
fn e2e_04_every_seed_and_its_neighbours_pass() {
    for (target, run) in [
        ("parse", parse::parse as fn(&[u8])),
        ("split", split::split),
        ("merge", merge::merge),
    ] {
        let seeds = seeds(target);
        assert!(seeds.len() >= 5, "{target} has seeds");
        for seed in seeds {
            run(&seed);
            for at in 0..seed.len() {
                run(&seed[..at]);
                let mut bent = seed.clone();
                bent[at] ^= 0xff;
                run(&bent);
            }
        }
    }
}

/// The bytes of each `*.hex` file; what follows a `#` is a comment.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/seeds")
        .join(target);
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| unhex(&fs::read_to_string(entry.unwrap().path()).unwrap()))
        .collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""))
        .collect();
    let digits: Vec<char> = digits.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap())
        .collect()
}
