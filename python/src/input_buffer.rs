//! One array or column as Python passes it: a copy of a numpy array, or Arrow's memory, which does not change.
//!
//! It is a numpy array of numbers or objects, an array of code points with one axis more (texts), a pair of codes and
//! categories, or an object with the Arrow `PyCapsule` interface. Python objects are converted to label ids here, while
//! the interpreter is held; everything else is read after it is released.

use arrow_array::{ArrayRef, StructArray};
use ndarray::{ArrayView1, ArrayViewD, Axis, Ix1, Ix2};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyTuple},
};
use pyo3_arrow::{PyArray, PyChunkedArray};
use spocc::Label;

use crate::{
    arrow::ArrowColumn,
    columns::{CategoryColumn, CodePointColumn, LabelColumn},
    error::BindingError,
    input::labels_among,
    labels::{LabelId, ValueInterner},
    object_columns,
};

/// One Python array or Arrow column, kept alive while it is read.
pub(crate) enum InputBuffer<'py, I> {
    I8(PyReadonlyArrayDyn<'py, i8>),
    I16(PyReadonlyArrayDyn<'py, i16>),
    I32(PyReadonlyArrayDyn<'py, i32>),
    I64(PyReadonlyArrayDyn<'py, i64>),
    U8(PyReadonlyArrayDyn<'py, u8>),
    U16(PyReadonlyArrayDyn<'py, u16>),
    U32(PyReadonlyArrayDyn<'py, u32>),
    U64(PyReadonlyArrayDyn<'py, u64>),
    F32(PyReadonlyArrayDyn<'py, f32>),
    F64(PyReadonlyArrayDyn<'py, f64>),
    CodePoints(PyReadonlyArrayDyn<'py, u32>),
    Categories(Box<InputBuffer<'py, I>>, Vec<Option<Label>>),
    Arrow(Vec<ArrayRef>),
    /// The ids of Python objects, row after row, and the shape of their array.
    Ids(Vec<I>, Vec<usize>),
}

impl<'py, I: LabelId> InputBuffer<'py, I> {
    /// Takes an array of `axes` axes, or a column if that is 1.
    pub(crate) fn new(
        object: &Bound<'py, PyAny>,
        axes: usize,
        labels: &mut ValueInterner<I>,
    ) -> Result<Self, BindingError> {
        if let Ok(pair) = object.cast::<PyTuple>() {
            let (codes, categories): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair.extract()?;
            let codes = Self::new(&codes, axes, labels)?;
            return Ok(Self::Categories(Box::new(codes), labels_among(&categories, labels.alike())?));
        }
        let Ok(array) = object.cast::<numpy::PyUntypedArray>() else { return Self::from_arrow(object) };
        macro_rules! hold {
            ($($shape:ident: $kind:ty),*) => {
                $(if let Ok(array) = object.cast::<PyArrayDyn<$kind>>() {
                    return private_copy(array).map(Self::$shape);
                })*
            };
        }
        if array.ndim() == axes + 1
            && let Ok(points) = object.cast::<PyArrayDyn<u32>>()
        {
            return private_copy(points).map(Self::CodePoints);
        }
        if array.ndim() != axes {
            let found = array.ndim();
            return Err(BindingError::Value(format!("expected an array of {axes} axes, found {found}")));
        }
        hold!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, F32: f32, F64: f64);
        if let Ok(cells) = object.cast::<PyArrayDyn<Py<PyAny>>>() {
            return Ok(Self::Ids(object_columns::ids(cells, labels)?, array.shape().to_vec()));
        }
        let found = array.dtype();
        Err(BindingError::Type(format!(
            "expected labels that are texts, whole numbers or booleans, found {found}"
        )))
    }

    fn from_arrow(object: &Bound<'py, PyAny>) -> Result<Self, BindingError> {
        // The stream first: not every object with a stream can be exported as a single array.
        if object.hasattr("__arrow_c_stream__")? {
            let chunks = object
                .extract::<PyChunkedArray>()
                .map_err(|error| unreadable(object.py(), error))?
                .into_inner()
                .0;
            return Ok(Self::Arrow(chunks.into_iter().map(only_column).collect()));
        }
        if object.hasattr("__arrow_c_array__")? {
            return Ok(Self::Arrow(vec![
                object.extract::<PyArray>().map_err(|error| unreadable(object.py(), error))?.into_inner().0,
            ]));
        }
        let found = object.get_type().name()?.to_string();
        Err(BindingError::Type(format!("expected an array or a column, found {found}")))
    }

    /// Columns that can be read without the interpreter, or one column of all cells row after row.
    pub(crate) fn columns(&self) -> Result<InputColumns<'_, I>, BindingError> {
        macro_rules! numbers {
            ($array:expr) => {
                split($array.as_array(), |column| Box::new(column) as Box<dyn LabelColumn<I> + '_>)
            };
        }
        match self {
            Self::I8(array) => numbers!(array),
            Self::I16(array) => numbers!(array),
            Self::I32(array) => numbers!(array),
            Self::I64(array) => numbers!(array),
            Self::U8(array) => numbers!(array),
            Self::U16(array) => numbers!(array),
            Self::U32(array) => numbers!(array),
            Self::U64(array) => numbers!(array),
            Self::F32(array) => numbers!(array),
            Self::F64(array) => numbers!(array),
            Self::CodePoints(points) => {
                let shape = points.shape();
                let (rows, rest) = shape.split_first().unwrap_or((&0, &[]));
                let length = rest.last().copied().unwrap_or(0);
                let points = points.as_slice().map_err(|_| unsupported("texts that are not in one piece"))?;
                if length == 0 {
                    return Err(unsupported("texts without length"));
                }
                Ok((
                    row_major(*rows, &rest[..rest.len() - 1]),
                    vec![Box::new(CodePointColumn::new(points, length))],
                ))
            }
            Self::Ids(ids, shape) => {
                let (rows, rest) = shape.split_first().unwrap_or((&0, &[]));
                Ok((row_major(*rows, rest), vec![Box::new(&ids[..])]))
            }
            Self::Arrow(chunks) => {
                let chunks = ArrowColumn::new(chunks.clone())?;
                Ok((InputShape { n_rows: chunks.len(), width: 1, by_rows: true }, vec![Box::new(chunks)]))
            }
            Self::Categories(codes, categories) => {
                macro_rules! codes {
                    ($array:expr) => {
                        split($array.as_array(), |column| {
                            Box::new(CategoryColumn::new(column, categories.clone()))
                                as Box<dyn LabelColumn<I> + '_>
                        })
                    };
                }
                match &**codes {
                    Self::I8(array) => codes!(array),
                    Self::I16(array) => codes!(array),
                    Self::I32(array) => codes!(array),
                    Self::I64(array) => codes!(array),
                    _ => Err(unsupported("codes that are not signed integers")),
                }
            }
        }
    }
}

/// The column of a one-column table, which is what a query returns; any other chunk as it is.
fn only_column(chunk: ArrayRef) -> ArrayRef {
    match chunk.as_any().downcast_ref::<StructArray>() {
        Some(table) if table.num_columns() == 1 => table.column(0).clone(),
        _ => chunk,
    }
}

/// The error for Arrow data of an unsupported type; exceptions of the exporter are passed on.
pub(crate) fn unreadable(py: Python<'_>, error: PyErr) -> BindingError {
    if !error.is_instance_of::<PyValueError>(py) {
        return BindingError::Python(error);
    }
    let found = error.value(py);
    BindingError::Type(format!(
        "expected labels in a type of Arrow's, found one that cannot be read ({found})"
    ))
}

/// The error for input that the Python package never passes.
fn unsupported(found: &str) -> BindingError {
    BindingError::Type(format!("expected input as the package spocc passes it, found {found}"))
}

/// A copy of an array that nothing else refers to.
///
/// Cells are read as slices while other Python threads run, and these may write to the caller's array: not even a
/// read-only flag keeps them from writing through another view. So numpy copies the array, and the copy is never given to
/// Python. A cell that is written to during the copy has its value before or after it.
fn private_copy<'py, T: Element>(
    array: &Bound<'py, PyArrayDyn<T>>,
) -> Result<PyReadonlyArrayDyn<'py, T>, BindingError> {
    let py = array.py();
    let options = PyDict::new(py);
    options.set_item("copy", true)?;
    options.set_item("order", "K")?;
    let copy = py.import("numpy")?.call_method("array", (array,), Some(&options))?;
    let copy =
        copy.cast_into::<PyArrayDyn<T>>().map_err(|_| unsupported("an array that numpy does not copy"))?;
    Ok(copy.readonly())
}

/// The layout of the cells, and the columns that hold them.
pub(crate) type InputColumns<'a, I> = (InputShape, Vec<Box<dyn LabelColumn<I> + 'a>>);

/// The layout of the cells of a table.
#[derive(Clone, Copy)]
pub(crate) struct InputShape {
    pub(crate) n_rows: usize,
    pub(crate) width: usize,
    /// Whether one column holds all cells, row after row.
    pub(crate) by_rows: bool,
}

fn row_major(n_rows: usize, rest: &[usize]) -> InputShape {
    InputShape { n_rows, width: rest.first().copied().unwrap_or(1), by_rows: true }
}

/// A C-contiguous array as one column of all cells; any other as one column per classifier.
fn split<'a, I, T: Copy>(
    array: ArrayViewD<'a, T>,
    mut column: impl FnMut(ArrayView1<'a, T>) -> Box<dyn LabelColumn<I> + 'a>,
) -> Result<InputColumns<'a, I>, BindingError> {
    if array.ndim() == 1 {
        let array = array.into_dimensionality::<Ix1>().map_err(|_| unsupported("another shape"))?;
        return Ok((InputShape { n_rows: array.len(), width: 1, by_rows: true }, vec![column(array)]));
    }
    let array = array.into_dimensionality::<Ix2>().map_err(|_| unsupported("another shape"))?;
    let (n_rows, width) = array.dim();
    if array.is_standard_layout() {
        let cells = array.into_shape_with_order(n_rows * width).map_err(|_| unsupported("another layout"))?;
        return Ok((InputShape { n_rows, width, by_rows: true }, vec![column(cells)]));
    }
    let columns = (0..width).map(|k| column(array.index_axis_move(Axis(1), k))).collect();
    Ok((InputShape { n_rows, width, by_rows: false }, columns))
}
