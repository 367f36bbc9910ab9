//! How much compressed bytes unpack to, where the decoders of arrow-ipc and parquet write more than a file claims.
//!
//! Both crates unpack gzip and LZ4 frames to their end, whatever size the file claims, and compare the sizes after
//! that. Bytes that could unpack to much more than claimed are unpacked here first, without keeping the result.

use std::io::{self, Read};

/// The most that a byte of gzip can unpack to.
const GZIP_RATIO: u64 = 1032;

/// The most that a byte of LZ4 can unpack to.
const LZ4_RATIO: u64 = 255;

/// Bytes beyond the claimed ones that do no harm.
const TOLERATED: u64 = 1 << 24;

/// The first bytes of an LZ4 frame.
const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// The size of unpacked gzip members, or the claimed size if that is about right.
pub(super) fn gzip(packed: &[u8], claimed: u64) -> u64 {
    measured(packed.len(), claimed, GZIP_RATIO, || flate2::read::MultiGzDecoder::new(packed))
}

/// As [`gzip`], for LZ4 frames. Other forms of LZ4 unpack to the claimed size.
pub(super) fn lz4_frame(packed: &[u8], claimed: u64) -> u64 {
    if !packed.starts_with(&LZ4_MAGIC) {
        return claimed;
    }
    measured(packed.len(), claimed, LZ4_RATIO, || lz4_flex::frame::FrameDecoder::new(packed))
}

fn measured<R: Read>(length: usize, claimed: u64, ratio: u64, decoder: impl FnOnce() -> R) -> u64 {
    let most = (length as u64).saturating_mul(ratio);
    if most <= claimed.saturating_add(TOLERATED) {
        return claimed.max(most.min(TOLERATED));
    }
    let more = claimed.saturating_add(TOLERATED);
    // Damage is described by the decoder that keeps the result.
    let found = io::copy(&mut decoder().take(more), &mut io::sink()).unwrap_or(0);
    if found < more { claimed.max(found) } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_wrong_claim_is_noticed() {
        let zeros = vec![0; 4 * TOLERATED as usize];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&zeros).expect("memory");
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        frame.write_all(&zeros).expect("memory");
        let (gzip, frame) = (gzip.finish().expect("memory"), frame.finish().expect("memory"));
        let whole = zeros.len() as u64;
        for (packed, size) in
            [(gzip, self::gzip as fn(&[u8], u64) -> u64), (frame, lz4_frame as fn(&[u8], u64) -> u64)]
        {
            assert_eq!(size(&packed, whole), whole);
            assert_eq!(size(&packed, 7), u64::MAX);
            assert!(size(&packed[..1000], 7) <= TOLERATED);
        }
    }
}
