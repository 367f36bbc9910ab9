//! Columns of labels as views of input buffers, read without holding the interpreter.

use std::ops::Range;

use ndarray::{ArrayView1, Axis};
use rustc_hash::FxHashMap as HashMap;
use spocc::Label;

use crate::{
    error::BindingError,
    labels::{LabelId, PLACES, ValueInterner, place},
};

/// The row of a column (from 0) that cannot be read, and the error.
pub(crate) type CellError = (usize, BindingError);

/// One column of labels, whose ids are written to every `width`-th element of a block.
pub(crate) trait LabelColumn<I>: Send {
    /// Number of rows.
    fn len(&self) -> usize;

    /// Writes the ids of `rows` to `out[0]`, `out[width]`, ..
    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut ValueInterner<I>,
    ) -> Result<(), CellError>;
}

/// Writes one id after the other to every `width`-th element.
pub(crate) fn write<I>(
    first: usize,
    out: &mut [I],
    width: usize,
    ids: impl Iterator<Item = Result<I, BindingError>>,
) -> Result<(), CellError> {
    for (at, (place, id)) in out.iter_mut().step_by(width).zip(ids).enumerate() {
        *place = id.map_err(|error| (first + at, error))?;
    }
    Ok(())
}

/// Number of values that are looked up without a branch per value, as long as all of them are small and known.
const LOOKUP_BLOCK: usize = 256;

/// As [`write`], for contiguous values and a contiguous output.
fn write_all<I: LabelId, T: NumericLabel>(
    first: usize,
    out: &mut [I],
    values: &[T],
    labels: &mut ValueInterner<I>,
) -> Result<(), CellError> {
    for (block, (out, values)) in out.chunks_mut(LOOKUP_BLOCK).zip(values.chunks(LOOKUP_BLOCK)).enumerate() {
        // Three short loops; the first and the last are vectorised.
        let places = values.iter().fold(0, |places, value| places | value.place());
        if places < PLACES {
            let small = labels.small();
            for (place, value) in out.iter_mut().zip(values) {
                *place = small[value.place() % PLACES];
            }
            if out.iter().map(|id| u32::from(*id == I::MISSING)).sum::<u32>() == 0 {
                continue;
            }
        }
        write(first + block * LOOKUP_BLOCK, out, 1, values.iter().map(|value| value.id(labels)))?;
    }
    Ok(())
}

/// A numeric type whose values can be labels.
pub(crate) trait NumericLabel: Copy + Send + Sync {
    /// Its index among the small integers, or [`PLACES`] or more.
    fn place(self) -> usize;

    /// The id of its label.
    fn id<I: LabelId>(self, labels: &mut ValueInterner<I>) -> Result<I, BindingError>;
}

macro_rules! numbers {
    ($($kind:ty: $place:expr, $id:expr);* $(;)?) => {
        $(impl NumericLabel for $kind {
            #[inline]
            fn place(self) -> usize {
                let place: fn(Self) -> usize = $place;
                place(self)
            }

            #[inline]
            fn id<I: LabelId>(self, labels: &mut ValueInterner<I>) -> Result<I, BindingError> {
                let id: fn(&mut ValueInterner<I>, Self) -> Result<I, BindingError> = $id;
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
    f32: |_| PLACES, |labels, value| labels.single(value);
    f64: |_| PLACES, |labels, value| labels.float(value);
}

impl<I: LabelId, T: NumericLabel> LabelColumn<I> for ArrayView1<'_, T> {
    fn len(&self) -> usize {
        ArrayView1::len(self)
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut ValueInterner<I>,
    ) -> Result<(), CellError> {
        // A contiguous column needs no strides.
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

/// Fixed-width texts, one row of code points each, padded with zeros.
pub(crate) struct CodePointColumn<'a, I> {
    points: &'a [u32],
    length: usize,
    known: HashMap<&'a [u32], I>,
}

impl<'a, I> CodePointColumn<'a, I> {
    /// Texts of `length` code points, which is not 0.
    pub(crate) fn new(points: &'a [u32], length: usize) -> Self {
        Self { points, length, known: HashMap::default() }
    }
}

impl<I: LabelId> LabelColumn<I> for CodePointColumn<'_, I> {
    fn len(&self) -> usize {
        self.points.len() / self.length
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut ValueInterner<I>,
    ) -> Result<(), CellError> {
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

fn decoded(points: &[u32]) -> Result<String, BindingError> {
    let end = points.iter().rposition(|point| *point != 0).map_or(0, |last| last + 1);
    let text = points[..end].iter().map(|point| char::from_u32(*point)).collect::<Option<String>>();
    text.ok_or_else(|| {
        BindingError::Value("label: expected text that is valid Unicode, found other code points".into())
    })
}

/// Category codes; a negative code means a missing value.
pub(crate) struct CategoryColumn<'a, T, I> {
    codes: ArrayView1<'a, T>,
    categories: Vec<Option<Label>>,
    /// Ids of the categories met so far: a category that never occurs must not become a label.
    ids: Vec<I>,
}

impl<'a, T, I: LabelId> CategoryColumn<'a, T, I> {
    /// Codes into categories, some of which may be missing values.
    pub(crate) fn new(codes: ArrayView1<'a, T>, categories: Vec<Option<Label>>) -> Self {
        Self { codes, ids: vec![I::MISSING; categories.len()], categories }
    }
}

impl<I: LabelId, T: Copy + Into<i64> + Send + Sync> LabelColumn<I> for CategoryColumn<'_, T, I> {
    fn len(&self) -> usize {
        self.codes.len()
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut ValueInterner<I>,
    ) -> Result<(), CellError> {
        let Self { codes, categories, ids } = self;
        let id = |code: &T| {
            let code: i64 = (*code).into();
            let Ok(at) = usize::try_from(code) else { return Ok(I::MISSING) };
            match (ids.get(at), categories.get(at)) {
                (Some(&id), _) if id != I::MISSING => Ok(id),
                (_, Some(Some(label))) => {
                    ids[at] = labels.label(label)?;
                    Ok(ids[at])
                }
                (_, Some(None)) => Ok(I::MISSING),
                (_, None) => {
                    let n = categories.len();
                    Err(BindingError::Value(format!("category: expected a code below {n}, found {code}")))
                }
            }
        };
        write(rows.start, out, width, codes.slice_axis(Axis(0), rows.clone().into()).iter().map(id))
    }
}

/// Ids that are already known.
impl<I: LabelId> LabelColumn<I> for &[I] {
    fn len(&self) -> usize {
        <[I]>::len(self)
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        _labels: &mut ValueInterner<I>,
    ) -> Result<(), CellError> {
        write(rows.start, out, width, self[rows.clone()].iter().map(|id| Ok(*id)))
    }
}
