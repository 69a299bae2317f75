//! Reading a whole run and the images in it.

use std::io;

use quire_format::volume::ImageKind;
use quire_format::volume::{
    BLOCK_BYTES, IMAGE_HEADER_BYTES, ImageHeader, PageEntry, PageId, PageKind, RUN_HEADER_BYTES,
    RunHeader, checksum,
};

use crate::disk::Disk;

/// A run as it was found on disk.
pub(super) struct RunImages {
    pub(super) header: RunHeader,
    /// The images up to the first that is damaged.
    pub(super) images: Vec<RunImage>,
    /// Where the first damaged image starts, and what is wrong with it.
    pub(super) damage: Option<(u64, String)>,
    bytes: Vec<u8>,
}

/// One image of a run.
#[derive(Clone, Copy)]
pub(super) struct RunImage {
    pub(super) header: ImageHeader,
    /// Byte of its header, from the start of the file.
    pub(super) offset: u64,
    /// The same, from the start of the run.
    position: usize,
}

impl RunImage {
    /// The entry that makes this image the newest of its page; `None` for the volume's own images.
    pub(super) fn entry(&self) -> Option<(PageEntry, PageKind)> {
        let ImageKind::Page(page, kind) = self.header.kind else {
            return None;
        };
        Some((entry_for(page, &self.header, self.offset), kind))
    }
}

fn entry_for(page: PageId, header: &ImageHeader, offset: u64) -> PageEntry {
    PageEntry {
        page,
        offset,
        payload_bytes: header.payload_bytes,
        payload_checksum: header.payload_checksum,
    }
}

impl RunImages {
    /// Reads the run at byte `offset`. `Ok(None)` when no run starts there, or it is cut off.
    pub(super) fn read(disk: &dyn Disk, offset: u64) -> io::Result<Option<Self>> {
        let Some(header) = read_header(disk, offset)? else {
            return Ok(None);
        };
        // The padding is part of it: a file that ends in it was never synced with this run.
        let mut bytes = vec![0; (header.block_count() * BLOCK_BYTES) as usize];
        if !read_whole(disk, &mut bytes, offset)? {
            return Ok(None);
        }
        bytes.truncate(header.run_bytes());
        // The header a second time, from the bytes that are used.
        let Ok(header) = RunHeader::decode(&bytes, offset) else {
            return Ok(None);
        };
        if header.run_bytes() != bytes.len() {
            return Ok(None);
        }
        let mut run = Self {
            header,
            images: Vec::new(),
            damage: None,
            bytes,
        };
        run.parse();
        Ok(Some(run))
    }

    /// The payload of one of its images.
    pub(super) fn payload(&self, image: &RunImage) -> &[u8] {
        &self.bytes[image.position + IMAGE_HEADER_BYTES..][..image.header.payload_bytes as usize]
    }

    /// The header of one of its images, as stored.
    pub(super) fn header_bytes(&self, image: &RunImage) -> &[u8] {
        &self.bytes[image.position..][..IMAGE_HEADER_BYTES]
    }

    /// Bytes of the blocks it occupies.
    pub(super) fn end(&self) -> u64 {
        self.header.offset + self.header.block_count() * BLOCK_BYTES
    }

    fn parse(&mut self) {
        let mut position = RUN_HEADER_BYTES;
        while position < self.bytes.len() {
            match self.parse_one(position) {
                Ok(image) => {
                    position += image.header.image_bytes();
                    self.images.push(image);
                }
                Err(detail) => {
                    self.damage = Some((self.header.offset + position as u64, detail));
                    return;
                }
            }
        }
    }

    /// Looks for whole images behind the damage. Only for salvage: a payload could hold bytes
    /// that look like an image.
    pub(super) fn salvage(&mut self) {
        let Some((damage, _)) = self.damage else {
            return;
        };
        let mut position = (damage - self.header.offset) as usize + 1;
        while position + IMAGE_HEADER_BYTES <= self.bytes.len() {
            let found = ImageHeader::may_start(&self.bytes[position..])
                .then(|| self.parse_one(position).ok())
                .flatten();
            position += found.map_or(1, |image| image.header.image_bytes());
            self.images.extend(found);
        }
    }

    fn parse_one(&self, position: usize) -> Result<RunImage, String> {
        let rest = &self.bytes[position..];
        let header = ImageHeader::decode(rest).map_err(|error| error.to_string())?;
        if header.sequence != self.header.sequence {
            return Err("the image belongs to another batch".to_owned());
        }
        let payload = rest.get(IMAGE_HEADER_BYTES..header.image_bytes());
        let payload = payload.ok_or("the image is longer than its run")?;
        if checksum(payload) != header.payload_checksum {
            return Err("the checksum of the payload does not match".to_owned());
        }
        Ok(RunImage {
            header,
            offset: self.header.offset + position as u64,
            position,
        })
    }
}

/// The header of the run at `offset`, when there is one.
pub(super) fn read_header(disk: &dyn Disk, offset: u64) -> io::Result<Option<RunHeader>> {
    let mut head = [0; RUN_HEADER_BYTES];
    if !read_whole(disk, &mut head, offset)? {
        return Ok(None);
    }
    Ok(RunHeader::decode(&head, offset).ok())
}

/// Reads, and tells whether the disk goes that far.
fn read_whole(disk: &dyn Disk, buffer: &mut [u8], offset: u64) -> io::Result<bool> {
    match disk.read_at(buffer, offset) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
