use std::fs;
use std::path::Path;

/// Runs a target over each of its seeds, over every prefix of it, and over it with one byte inverted.
pub fn replay(target: &str, run: fn(&[u8])) {
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
