//! Columns of labels as Python holds them: views of its arrays, read without the interpreter.

use std::ops::Range;

use ndarray::{ArrayView1, Axis};
use rustc_hash::FxHashMap as HashMap;
use spocc::Label;

use crate::{
    error::Fault,
    labels::{Id, Interner, PLACES, place},
};

/// A row of a column that was refused, from 0, and why.
pub(crate) type Refusal = (usize, Fault);

/// One column; its ids go to every `width`-th place of a block.
pub(crate) trait Column<I>: Send {
    /// Number of rows.
    fn len(&self) -> usize;

    /// Writes the ids of `rows` to `out[0]`, `out[width]`, ..
    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut Interner<I>,
    ) -> Result<(), Refusal>;
}

/// Writes one id after the other to every `width`-th place.
pub(crate) fn write<I>(
    first: usize,
    out: &mut [I],
    width: usize,
    ids: impl Iterator<Item = Result<I, Fault>>,
) -> Result<(), Refusal> {
    for (at, (place, id)) in out.iter_mut().step_by(width).zip(ids).enumerate() {
        *place = id.map_err(|fault| (first + at, fault))?;
    }
    Ok(())
}

/// Numbers looked up together: without a branch for each, as long as all of them are small and known.
const TOGETHER: usize = 256;

/// As [`write`], for numbers that lie side by side, to places that do so too.
fn write_all<I: Id, T: Number>(
    first: usize,
    out: &mut [I],
    values: &[T],
    labels: &mut Interner<I>,
) -> Result<(), Refusal> {
    for (block, (out, values)) in out.chunks_mut(TOGETHER).zip(values.chunks(TOGETHER)).enumerate() {
        // Three short loops, of which the first and the last are done many cells at a time.
        let past = values.iter().fold(0, |past, value| past | value.place());
        if past < PLACES {
            let small = labels.small();
            for (place, value) in out.iter_mut().zip(values) {
                *place = small[value.place() % PLACES];
            }
            if out.iter().map(|id| u32::from(*id == I::GAP)).sum::<u32>() == 0 {
                continue;
            }
        }
        write(first + block * TOGETHER, out, 1, values.iter().map(|value| value.id(labels)))?;
    }
    Ok(())
}

/// A number that can be a label.
pub(crate) trait Number: Copy + Send + Sync {
    /// Its place among the small integers, or any number past them.
    fn place(self) -> usize;

    /// Its id.
    fn id<I: Id>(self, labels: &mut Interner<I>) -> Result<I, Fault>;
}

macro_rules! numbers {
    ($($kind:ty: $place:expr, $id:expr);* $(;)?) => {
        $(impl Number for $kind {
            #[inline]
            fn place(self) -> usize {
                let place: fn(Self) -> usize = $place;
                place(self)
            }

            #[inline]
            fn id<I: Id>(self, labels: &mut Interner<I>) -> Result<I, Fault> {
                let id: fn(&mut Interner<I>, Self) -> Result<I, Fault> = $id;
                id(labels, self)
            }
        })*
    };
}

numbers! {
    i8: |value| place(value.into()), |labels, value| labels.integer(value.into());
    i16: |value| place(value.into()), |labels, value| labels.integer(value.into());
    i32: |value| place(value.into()), |labels, value| labels.integer(value.into());
    i64: place, |labels, value| labels.integer(value);
    u8: |value| place(value.into()), |labels, value| labels.integer(value.into());
    u16: |value| place(value.into()), |labels, value| labels.integer(value.into());
    u32: |value| place(value.into()), |labels, value| labels.integer(value.into());
    u64: |value| place(i64::try_from(value).unwrap_or(i64::MAX)), |labels, value| match i64::try_from(value) {
        Ok(value) => labels.integer(value),
        Err(_) => labels.new_integer(value.into()),
    };
    f32: |_| PLACES, |labels, value| labels.float(value.into());
    f64: |_| PLACES, |labels, value| labels.float(value);
}

impl<I: Id, T: Number> Column<I> for ArrayView1<'_, T> {
    fn len(&self) -> usize {
        ArrayView1::len(self)
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut Interner<I>,
    ) -> Result<(), Refusal> {
        // A slice is read without looking at strides.
        if let Some(values) = self.as_slice() {
            let values = &values[rows.clone()];
            if width == 1 {
                return write_all(rows.start, out, values, labels);
            }
            return write(rows.start, out, width, values.iter().map(|value| value.id(labels)));
        }
        let values = self.slice_axis(Axis(0), rows.clone().into());
        write(rows.start, out, width, values.iter().map(|value| value.id(labels)))
    }
}

/// Texts of one length, a row of code points each, filled up with zeros.
pub(crate) struct Texts<'a, I> {
    points: &'a [u32],
    length: usize,
    known: HashMap<&'a [u32], I>,
}

impl<'a, I> Texts<'a, I> {
    /// Texts of `length` code points, which is not 0.
    pub(crate) fn new(points: &'a [u32], length: usize) -> Self {
        Self { points, length, known: HashMap::default() }
    }
}

impl<I: Id> Column<I> for Texts<'_, I> {
    fn len(&self) -> usize {
        self.points.len() / self.length
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut Interner<I>,
    ) -> Result<(), Refusal> {
        let Self { points, length, known } = self;
        let points = &points[rows.start * *length..rows.end * *length];
        let id = |text| {
            if let Some(&id) = known.get(text) {
                return Ok(id);
            }
            let id = labels.text(&decoded(text)?)?;
            known.insert(text, id);
            Ok(id)
        };
        write(rows.start, out, width, points.chunks_exact(*length).map(id))
    }
}

fn decoded(points: &[u32]) -> Result<String, Fault> {
    let end = points.iter().rposition(|point| *point != 0).map_or(0, |last| last + 1);
    let text = points[..end].iter().map(|point| char::from_u32(*point)).collect::<Option<String>>();
    text.ok_or_else(|| {
        Fault::Refused("label: expected text that is valid Unicode, found other code points".into())
    })
}

/// Numbers of categories; a negative one means that there is none.
pub(crate) struct Codes<'a, T, I> {
    of_rows: ArrayView1<'a, T>,
    categories: Vec<Option<Label>>,
    /// Looked up when met, so that a category that nobody names leaves no trace.
    ids: Vec<I>,
}

impl<'a, T, I: Id> Codes<'a, T, I> {
    /// Codes into categories, of which some may be no label.
    pub(crate) fn new(codes: ArrayView1<'a, T>, categories: Vec<Option<Label>>) -> Self {
        Self { of_rows: codes, ids: vec![I::GAP; categories.len()], categories }
    }
}

impl<I: Id, T: Copy + Into<i64> + Send + Sync> Column<I> for Codes<'_, T, I> {
    fn len(&self) -> usize {
        self.of_rows.len()
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut Interner<I>,
    ) -> Result<(), Refusal> {
        let Self { of_rows, categories, ids } = self;
        let id = |code: &T| {
            let code: i64 = (*code).into();
            let Ok(at) = usize::try_from(code) else { return Ok(I::GAP) };
            match (ids.get(at), categories.get(at)) {
                (Some(&id), _) if id != I::GAP => Ok(id),
                (_, Some(Some(label))) => {
                    ids[at] = labels.label(label)?;
                    Ok(ids[at])
                }
                (_, Some(None)) => Ok(I::GAP),
                (_, None) => {
                    let n = categories.len();
                    Err(Fault::Refused(format!("category: expected a code below {n}, found {code}")))
                }
            }
        };
        write(rows.start, out, width, of_rows.slice_axis(Axis(0), rows.clone().into()).iter().map(id))
    }
}

/// Ids that were looked up already.
impl<I: Id> Column<I> for &[I] {
    fn len(&self) -> usize {
        <[I]>::len(self)
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        _labels: &mut Interner<I>,
    ) -> Result<(), Refusal> {
        write(rows.start, out, width, self[rows.clone()].iter().map(|id| Ok(*id)))
    }
}
