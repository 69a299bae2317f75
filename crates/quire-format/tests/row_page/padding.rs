//! Images that are padded to a size, with logs that grow into the zeros.

use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_format::row_page::{
    PageAppendError, PageImage, PageOp, PageSetup, RowPage, RowPageMut, append_op, apply,
    encode_image, pad_image,
};

const PAGE_BYTES: usize = 16 << 10;
const SLOT_BYTES: usize = 4 << 10;
const BESIDE_BYTES: usize = 32;

fn decoded(image: &[u8]) -> Vec<u8> {
    let image = PageImage::open(image).unwrap();
    let mut codec = open(image.codec(), &BlockOptions::default()).unwrap();
    let mut page = vec![0; PAGE_BYTES];
    image.decode(codec.as_mut(), &mut page).unwrap();
    page
}

fn entries(page: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let page = RowPage::open(page).unwrap();
    let entry = |index| {
        let entry = page.entry(index).unwrap();
        (entry.key(), entry.value.to_vec())
    };
    (0..page.len()).map(entry).collect()
}

fn leaf(codec: BlockCodecId) -> (Vec<u8>, Vec<u8>) {
    let mut bytes = vec![0; PAGE_BYTES];
    let mut page = RowPageMut::create(&mut bytes, &PageSetup::default()).unwrap();
    for number in 0..100_u32 {
        let value = format!("value {}", number % 7).repeat(3);
        page.insert(&number.to_be_bytes(), value.as_bytes(), false)
            .unwrap();
    }
    let mut codec = open(codec, &BlockOptions::default()).unwrap();
    let image = encode_image(&page.page().unwrap(), codec.as_mut()).unwrap();
    (bytes, image)
}

#[test]
fn a_log_grows_into_the_zeros_and_no_further() {
    for codec in [BlockCodecId::Lz4, BlockCodecId::Zstd] {
        let (mut bytes, mut image) = leaf(codec);
        let used_bytes = image.len();
        assert_eq!(PageImage::open(&image).unwrap().used_bytes(), used_bytes);
        pad_image(&mut image, SLOT_BYTES, BESIDE_BYTES).unwrap();
        assert_eq!(image.len(), SLOT_BYTES - BESIDE_BYTES);
        assert!(pad_image(&mut image, SLOT_BYTES, BESIDE_BYTES).is_err());
        let mut page = RowPageMut::open(&mut bytes).unwrap();
        let mut log_bytes = 0;
        for number in 0.. {
            let value = [number as u8; 40];
            let op = PageOp::Put {
                key: &(number % 150_u32).to_be_bytes(),
                value: &value,
                overflow: false,
            };
            let opened = PageImage::open(&image).unwrap();
            assert!(opened.is_padded());
            assert_eq!(opened.used_bytes(), used_bytes + log_bytes);
            assert_eq!(
                opened.log_bytes_max(),
                SLOT_BYTES - BESIDE_BYTES - used_bytes
            );
            let fits = log_bytes + op.encoded_bytes() <= opened.log_bytes_max();
            match append_op(&mut image, &op, 1) {
                Ok(()) => {
                    assert!(fits);
                    apply(&mut page, &op).unwrap();
                    log_bytes += op.encoded_bytes();
                }
                Err(error) => {
                    assert!(!fits && matches!(error, PageAppendError::LogFull { .. }));
                    break;
                }
            }
            assert_eq!(image.len(), SLOT_BYTES - BESIDE_BYTES);
            assert_eq!(
                entries(&decoded(&image)),
                entries(page.page().unwrap().bytes())
            );
        }
        assert!(
            log_bytes > PAGE_BYTES / 8,
            "more than an image of any size may have"
        );
    }
}

#[test]
fn sizes_are_multiples_less_what_is_beside() {
    let (_, image) = leaf(BlockCodecId::Lz4);
    for (slot_bytes, slots) in [
        (image.len() + BESIDE_BYTES, 1),
        (image.len() + BESIDE_BYTES - 1, 2),
        (image.len() / 3, 4),
    ] {
        let mut padded = image.clone();
        pad_image(&mut padded, slot_bytes, BESIDE_BYTES).unwrap();
        assert_eq!(padded.len() + BESIDE_BYTES, slots * slot_bytes);
        assert_eq!(entries(&decoded(&padded)), entries(&decoded(&image)));
    }
}

#[test]
fn what_follows_the_log_is_zeros_or_damage() {
    let (_, mut image) = leaf(BlockCodecId::Zlib);
    let used_bytes = image.len();
    pad_image(&mut image, SLOT_BYTES, BESIDE_BYTES).unwrap();
    for at in [used_bytes, (used_bytes + image.len()) / 2, image.len() - 1] {
        let mut damaged = image.clone();
        damaged[at] = 1;
        assert!(PageImage::open(&damaged).is_err(), "{at}");
    }
    assert!(PageImage::open(&image[..used_bytes - 1]).is_err());
}
