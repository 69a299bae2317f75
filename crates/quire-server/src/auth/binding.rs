//! `tls-server-end-point` (RFC 5929, section 4.1): the hash of the server's certificate, by the hash function of its signature, but
//! SHA-256 for MD5 and SHA-1.
//!
//! Of the certificate's DER only the algorithm of the signature is read: `SEQUENCE { body SEQUENCE, SEQUENCE { OID, parameters } … }`.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

const SEQUENCE: u8 = 0x30;
const OBJECT_ID: u8 = 0x06;
/// The first parameter of RSASSA-PSS, its hash function.
const FIRST_PARAMETER: u8 = 0xA0;

/// 1.2.840.113549.1.1
const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01];
/// 1.2.840.10045.4.1, ECDSA with SHA-1
const ECDSA_SHA1: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01];
/// 1.2.840.10045.4.3
const ECDSA_SHA2: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03];
/// 2.16.840.1.101.3.4.2
const SHA2: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];

/// What a client has to repeat. Nothing for signatures whose hash function is none of these (Ed25519): then there is no binding.
pub(super) fn certificate_hash(certificate: &[u8]) -> Option<Vec<u8>> {
    let hash = signature_hash(certificate)?;
    Some(digest(hash, certificate).as_ref().to_vec())
}

fn signature_hash(certificate: &[u8]) -> Option<&'static Algorithm> {
    let (whole, _) = take(SEQUENCE, certificate)?;
    let (_, rest) = take(SEQUENCE, whole)?;
    let (algorithm, _) = take(SEQUENCE, rest)?;
    let (id, parameters) = take(OBJECT_ID, algorithm)?;
    if id == ECDSA_SHA1 {
        return Some(&SHA256);
    }
    let (last, family) = id.split_last()?;
    match (family, last) {
        (RSA, 4 | 5 | 11) | (ECDSA_SHA2, 2) => Some(&SHA256),
        (RSA, 12) | (ECDSA_SHA2, 3) => Some(&SHA384),
        (RSA, 13) | (ECDSA_SHA2, 4) => Some(&SHA512),
        (RSA, 10) => pss_hash(parameters),
        _ => None,
    }
}

/// The hash function of RSASSA-PSS, SHA-1 if it is not said.
fn pss_hash(parameters: &[u8]) -> Option<&'static Algorithm> {
    let (parameters, _) = take(SEQUENCE, parameters)?;
    let Some((hash, _)) = take(FIRST_PARAMETER, parameters) else {
        return Some(&SHA256);
    };
    let (hash, _) = take(SEQUENCE, hash)?;
    let (id, _) = take(OBJECT_ID, hash)?;
    match id.split_last()? {
        (1, family) if family == SHA2 => Some(&SHA256),
        (2, family) if family == SHA2 => Some(&SHA384),
        (3, family) if family == SHA2 => Some(&SHA512),
        _ => None,
    }
}

/// The content of the first element, which must have this tag, and what is behind it.
fn take(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    if *found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7F => (usize::from(*first), rest),
        // So many bytes of length follow.
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            let length = digits
                .iter()
                .fold(0, |all, digit| all << 8 | usize::from(*digit));
            (length, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = content.len();
        match length {
            0..=0x7F => [&[tag, length as u8], content].concat(),
            _ => [&[tag, 0x82, (length >> 8) as u8, length as u8], content].concat(),
        }
    }

    /// A certificate as far as it is read.
    fn certificate(id: &[u8], parameters: &[u8]) -> Vec<u8> {
        let body = element(SEQUENCE, &[7; 300]);
        let algorithm = element(SEQUENCE, &[&element(OBJECT_ID, id), parameters].concat());
        element(SEQUENCE, &[body, algorithm, vec![3, 1, 0]].concat())
    }

    fn hash_bytes(id: &[u8], parameters: &[u8]) -> Option<usize> {
        certificate_hash(&certificate(id, parameters)).map(|hash| hash.len())
    }

    #[test]
    fn the_signature_tells_the_hash() {
        let rsa = |last| hash_bytes(&[RSA, &[last]].concat(), &[5, 0]);
        assert_eq!(
            [rsa(4), rsa(5), rsa(11), rsa(12), rsa(13)],
            [32, 32, 32, 48, 64].map(Some)
        );
        assert_eq!(rsa(14), None);
        let ecdsa = |last| hash_bytes(&[ECDSA_SHA2, &[last]].concat(), &[]);
        assert_eq!([ecdsa(2), ecdsa(3), ecdsa(4)], [32, 48, 64].map(Some));
        assert_eq!(hash_bytes(ECDSA_SHA1, &[]), Some(32));
        // Ed25519 is 1.3.101.112.
        assert_eq!(hash_bytes(&[0x2B, 0x65, 0x70], &[]), None);
        let pss = |last| {
            let hash = element(SEQUENCE, &element(OBJECT_ID, &[SHA2, &[last]].concat()));
            let parameters = element(SEQUENCE, &element(FIRST_PARAMETER, &hash));
            hash_bytes(&[RSA, &[10]].concat(), &parameters)
        };
        assert_eq!([pss(1), pss(2), pss(3)], [32, 48, 64].map(Some));
        assert_eq!(hash_bytes(&[RSA, &[10]].concat(), &[SEQUENCE, 0]), Some(32));
    }

    #[test]
    fn no_bytes_are_a_reason_to_panic() {
        let whole = certificate(&[RSA, &[10]].concat(), &[SEQUENCE, 0]);
        for length in 0..whole.len() {
            assert_eq!(certificate_hash(&whole[..length]), None, "{length}");
        }
        for place in 0..whole.len() {
            for value in [0, 0x30, 0x7F, 0x80, 0x81, 0x84, 0x85, 0xFF] {
                let mut changed = whole.clone();
                changed[place] = value;
                let _ = certificate_hash(&changed);
            }
        }
    }
}
