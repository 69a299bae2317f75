//! Which names, places and fixed values do customers, addresses, cards and orders have?
//!
//! Swingbench samples files of names. These here are made of syllables; there are as many of them, and they are about as long.

/// A name of one syllable of each list: different numbers below the product of their lengths give different syllables.
fn of_syllables(number: i64, syllables: &[&[&str]]) -> String {
    let mut rest = number as usize;
    let mut name = String::new();
    for list in syllables {
        name.push_str(list[rest % list.len()]);
        rest /= list.len();
    }
    name
}

/// A first name in lower case, of 1,000.
pub(super) fn first_name(number: i64) -> String {
    of_syllables(number, &[&FIRST_STARTS, &MIDDLES, &FIRST_ENDS])
}

/// A last name in lower case, of 1,000.
pub(super) fn last_name(number: i64) -> String {
    of_syllables(number, &[&LAST_STARTS, &MIDDLES, &LAST_ENDS])
}

/// A town, of 515.
pub(super) fn town(number: i64) -> String {
    of_syllables(number, &[&PLACE_STARTS, &TOWN_ENDS])
}

/// A county, of 90.
pub(super) fn county(number: i64) -> String {
    of_syllables(number, &[&COUNTY_STARTS, &COUNTY_ENDS])
}

/// A street: one of 722 adjectives, and what it is.
pub(super) fn street(adjective: i64, kind: &str) -> String {
    let adjective = of_syllables(adjective, &[&PLACE_STARTS, &ADJECTIVE_ENDS]);
    format!("{adjective} {kind}")
}

pub(super) const TOWNS: i64 = 515;
pub(super) const COUNTIES: i64 = 90;
pub(super) const ADJECTIVES: i64 = 722;

const FIRST_STARTS: [&str; 20] = [
    "al", "be", "car", "do", "el", "fre", "gor", "hen", "is", "jo", "ka", "lu", "mar", "no", "os",
    "pe", "ro", "ste", "tho", "vi",
];
const LAST_STARTS: [&str; 20] = [
    "ad", "bar", "col", "dun", "ed", "fos", "gra", "hol", "ing", "jen", "kel", "law", "mor", "nel",
    "ow", "par", "rus", "sand", "tur", "wal",
];
const MIDDLES: [&str; 10] = ["", "a", "e", "i", "an", "en", "il", "or", "us", "y"];
const FIRST_ENDS: [&str; 5] = ["d", "na", "ric", "lla", "th"];
const LAST_ENDS: [&str; 5] = ["son", "ton", "man", "ley", "s"];
const PLACE_STARTS: [&str; 24] = [
    "ash", "bright", "cold", "deep", "east", "fair", "green", "high", "iron", "kind", "lone",
    "mild", "new", "old", "pale", "quiet", "red", "still", "tall", "under", "vast", "west", "wild",
    "young",
];
const TOWN_ENDS: [&str; 22] = [
    "bourne", "bridge", "bury", "by", "combe", "dale", "den", "don", "field", "ford", "ham",
    "hurst", "ley", "minster", "mouth", "pool", "port", "stead", "ton", "well", "wick", "worth",
];
const ADJECTIVE_ENDS: [&str; 31] = [
    "", "en", "ened", "ening", "er", "est", "ful", "fully", "hearted", "ish", "ished", "ishly",
    "ite", "less", "lessly", "like", "ly", "minded", "ness", "nessed", "ous", "ously", "some",
    "ward", "wardly", "wards", "way", "ways", "wise", "worn", "y",
];
const COUNTY_STARTS: [&str; 15] = [
    "Bren", "Cald", "Dor", "Esk", "Farn", "Glen", "Hart", "Kes", "Lin", "Mar", "Nor", "Oak", "Pem",
    "Sel", "Wind",
];
const COUNTY_ENDS: [&str; 6] = ["shire", "land", " and Vale", "mark", " Isles", "brook"];

/// Countries of addresses; a customer's territory is one of these, too.
pub(super) const COUNTRIES: [&str; 79] = [
    "Albania",
    "Algeria",
    "Argentina",
    "Armenia",
    "Australia",
    "Austria",
    "Bahrain",
    "Bangladesh",
    "Belgium",
    "Bolivia",
    "Botswana",
    "Brazil",
    "Bulgaria",
    "Cambodia",
    "Cameroon",
    "Canada",
    "Chile",
    "China",
    "Colombia",
    "Costa Rica",
    "Croatia",
    "Cyprus",
    "Czech Republic",
    "Denmark",
    "Ecuador",
    "Egypt",
    "Estonia",
    "Ethiopia",
    "Finland",
    "France",
    "Georgia",
    "Germany",
    "Ghana",
    "Greece",
    "Guatemala",
    "Hungary",
    "Iceland",
    "India",
    "Indonesia",
    "Ireland",
    "Israel",
    "Italy",
    "Jamaica",
    "Japan",
    "Jordan",
    "Kazakhstan",
    "Kenya",
    "Kuwait",
    "Latvia",
    "Lebanon",
    "Lithuania",
    "Luxembourg",
    "Malaysia",
    "Malta",
    "Mexico",
    "Morocco",
    "Nepal",
    "Netherlands",
    "New Zealand",
    "Nigeria",
    "Norway",
    "Oman",
    "Pakistan",
    "Panama",
    "Peru",
    "Philippines",
    "Poland",
    "Portugal",
    "Romania",
    "Singapore",
    "Slovakia",
    "Slovenia",
    "South Africa",
    "South Korea",
    "Spain",
    "Sweden",
    "Switzerland",
    "Thailand",
    "United Kingdom",
];

// An entry that stands several times in a list is as many times as likely.
pub(super) const STREET_KINDS: [&str; 6] = ["gardens", "road", "road", "road", "street", "close"];
pub(super) const CREDIT_LIMITS: [i64; 12] = [
    1_000, 2_000, 3_000, 4_000, 5_000, 5_500, 6_000, 6_500, 10_000, 20_000, 50_000, 100_000,
];
pub(super) const MAIL_SERVICES: [&str; 15] = [
    "gmail",
    "hotmail",
    "msn",
    "googlemail",
    "yahoo",
    "me",
    "comcast",
    "aol",
    "verizon",
    "bellsouth",
    "cox",
    "ntlworld",
    "virgin",
    "bt",
    "plusnet",
];
pub(super) const CUSTOMER_CLASSES: [&str; 10] = [
    "Prime",
    "Prime",
    "Business",
    "Regular",
    "Occasional",
    "Occasional",
    "Occasional",
    "Occasional",
    "Occasional",
    "Occasional",
];
pub(super) const SUGGESTIONS: [&str; 13] = [
    "Camping",
    "Health",
    "Electronics",
    "Photography",
    "Books",
    "Music",
    "Games",
    "Toys",
    "Cloths",
    "DIY",
    "Car",
    "Cooking",
    "Sports",
];
pub(super) const CARD_TYPES: [&str; 8] = [
    "Visa(Debit)",
    "Visa(Debit)",
    "Visa(Credit)",
    "Amex",
    "Paypal",
    "Cheque",
    "Voucher",
    "MasterCard",
];
pub(super) const ORDER_MODES: [&str; 2] = ["direct", "online"];
pub(super) const DELIVERY_TYPES: [&str; 7] = [
    "Express",
    "Standard",
    "Standard",
    "Standard",
    "Standard",
    "Next_Day",
    "Collection",
];
pub(super) const WAITS: [&str; 5] = [
    "ship_when_ready",
    "ship_when_ready",
    "ship_when_ready",
    "ship_when_ready",
    "ship_asap",
];
pub(super) const GIFT_WRAPS: [&str; 11] = [
    "None",
    "None",
    "None",
    "None",
    "None",
    "None",
    "Plain",
    "Seasonal",
    "Girl_Birthday",
    "Boy_Birthday",
    "Glossy",
];
pub(super) const CONDITIONS: [&str; 15] = [
    "New", "New", "New", "New", "New", "New", "New", "New", "New", "New", "New", "New", "New",
    "Used", "Return",
];
pub(super) const PRODUCT_STATES: [&str; 4] =
    ["orderable", "planned", "under development", "obsolete"];

#[cfg(test)]
mod tests {
    use super::{ADJECTIVES, COUNTIES, TOWNS, county, first_name, last_name, street, town};
    use std::collections::HashSet;

    #[test]
    fn names_are_different_and_as_many_as_in_the_files_of_swingbench() {
        let distinct = |count: i64, name: &dyn Fn(i64) -> String| {
            (0..count).map(name).collect::<HashSet<String>>().len() as i64
        };
        assert_eq!(distinct(1_000, &first_name), 1_000);
        assert_eq!(distinct(1_000, &last_name), 1_000);
        assert_eq!(distinct(TOWNS, &town), TOWNS);
        assert_eq!(distinct(COUNTIES, &county), COUNTIES);
        assert_eq!(distinct(ADJECTIVES, &|n| street(n, "road")), ADJECTIVES);
    }
}
