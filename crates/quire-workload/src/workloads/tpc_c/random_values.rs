//! The random values of the specification (TPC-C, clauses 2.1.6 and 4.3.2).

use crate::SeededRandom;

/// The non-uniform random function NURand(A, x, y) (clause 2.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonUniform {
    /// The constant A, which goes with the range: 255 for last names, 1,023 for customers, 8,191 for items.
    pub spread: i64,
    /// The constant C.
    pub shift: i64,
}

impl NonUniform {
    /// A number from `least` to `most`.
    pub fn draw(self, least: i64, most: i64, random: &mut SeededRandom) -> i64 {
        let either = random.between(0, self.spread) | random.between(least, most);
        (either + self.shift) % (most - least + 1) + least
    }
}

/// The constants C, chosen at random once for the population and once for a run (clauses 2.1.6.1 and 4.3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunConstants {
    pub names_of_load: NonUniform,
    pub names: NonUniform,
    pub customers: NonUniform,
    pub items: NonUniform,
}

impl RunConstants {
    /// Those of a seed. C for names in a run differs from that of the load by 65 to 119, but not by 96 or 112.
    pub fn of_seed(seed: u64) -> Self {
        let mut random = SeededRandom::of_part(seed, u64::MAX);
        let load = random.between(0, 255);
        let run = loop {
            let run = random.between(0, 255);
            let difference = run.abs_diff(load);
            if (65..=119).contains(&difference) && difference != 96 && difference != 112 {
                break run;
            }
        };
        let names = |shift| NonUniform { spread: 255, shift };
        Self {
            names_of_load: names(load),
            names: names(run),
            customers: NonUniform {
                spread: 1_023,
                shift: random.between(0, 1_023),
            },
            items: NonUniform {
                spread: 8_191,
                shift: random.between(0, 8_191),
            },
        }
    }
}

const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];

/// The last name of a number from 0 to 999: a syllable for each of its three digits (clause 4.3.2.3).
pub fn last_name(number: i64) -> String {
    [number / 100, number / 10, number]
        .map(|digit| SYLLABLES[(digit % 10) as usize])
        .concat()
}

/// The numbers of last names are those from 0 to this one: 999, or less where a reduced district has fewer customers.
pub fn last_name_number_max(customers: i64) -> i64 {
    customers.min(1_000) - 1
}

/// A string of random letters and digits of a random length (clause 4.3.2.2).
pub fn a_string(least: i64, most: i64, random: &mut SeededRandom) -> String {
    const CHARACTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let length = random.between(least, most);
    (0..length)
        .map(|_| char::from(*random.pick(CHARACTERS)))
        .collect()
}

/// Two letters.
pub fn state(random: &mut SeededRandom) -> String {
    random.letters(2).to_ascii_uppercase()
}

/// Four random digits, and 11111 (clause 4.3.2.7).
pub fn zip(random: &mut SeededRandom) -> String {
    random.digits(4) + "11111"
}

/// The word that marks brand goods.
pub const ORIGINAL: &str = "ORIGINAL";

/// A string of 26 to 50 characters; a tenth of them have [`ORIGINAL`] at a random place (clause 4.3.3.1, I_DATA and S_DATA).
pub fn brand_data(random: &mut SeededRandom) -> String {
    let mut data = a_string(26, 50, random);
    if random.happens(0.1) {
        let place = random.below((data.len() - ORIGINAL.len() + 1) as u64) as usize;
        data.replace_range(place..place + ORIGINAL.len(), ORIGINAL);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probabilities follow from the formula by counting all pairs that random(0, A) and random(x, y) can be.
    #[test]
    fn nurand_has_the_distribution_of_its_formula() {
        let (least, most) = (1, 300);
        let function = NonUniform {
            spread: 127,
            shift: 37,
        };
        let mut pairs = vec![0u32; 301];
        for a in 0..=127i64 {
            for b in least..=most {
                pairs[(((a | b) + 37) % 300 + 1) as usize] += 1;
            }
        }
        let mut random = SeededRandom::new(11);
        let draws = 400_000;
        let mut counts = vec![0u32; 301];
        for _ in 0..draws {
            counts[function.draw(least, most, &mut random) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        let chi_square: f64 = (1..=300)
            .filter(|&value| pairs[value] > 0)
            .map(|value| {
                let expected = f64::from(draws) * f64::from(pairs[value]) / (128.0 * 300.0);
                (f64::from(counts[value]) - expected).powi(2) / expected
            })
            .sum();
        let values = pairs.iter().filter(|&&count| count > 0).count() as f64;
        let bound = values + 5.0 * (2.0 * values).sqrt();
        assert!(chi_square < bound, "{chi_square} is above {bound}");
        for value in 1..=300 {
            assert!(pairs[value] > 0 || counts[value] == 0, "{value} cannot be");
        }
    }

    #[test]
    fn constants_of_runs_differ_from_the_load_as_asked() {
        for seed in 0..200 {
            let constants = RunConstants::of_seed(seed);
            let difference = constants
                .names
                .shift
                .abs_diff(constants.names_of_load.shift);
            assert!((65..=119).contains(&difference), "seed {seed}");
            assert!(difference != 96 && difference != 112, "seed {seed}");
            assert!((0..=1_023).contains(&constants.customers.shift));
            assert!((0..=8_191).contains(&constants.items.shift));
        }
    }

    /// Examples of clause 4.3.2.3: 371 is PRI CALLY OUGHT.
    #[test]
    fn names_are_made_of_syllables() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(999), "EINGEINGEING");
        let names: std::collections::HashSet<String> = (0..1_000).map(last_name).collect();
        assert_eq!(names.len(), 1_000);
    }

    #[test]
    fn a_tenth_of_the_brand_data_is_original() {
        let mut random = SeededRandom::new(12);
        let data: Vec<String> = (0..10_000).map(|_| brand_data(&mut random)).collect();
        assert!(data.iter().all(|one| (26..=50).contains(&one.len())));
        let original = data.iter().filter(|one| one.contains("ORIGINAL")).count();
        assert!((900..1_100).contains(&original), "{original}");
        assert!(data.iter().any(|one| one.starts_with("ORIGINAL")));
        assert!(data.iter().any(|one| one.ends_with("ORIGINAL")));
    }
}
