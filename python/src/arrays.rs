//! Tables and columns as Python hands them over.
//!
//! In: a numpy array of numbers or objects; an array of code points, one axis more, for texts; a pair of codes and
//! categories; anything that speaks Arrow; for tables also a list of (name, column). Out: dense ids and labels.
//! Objects are looked up while the interpreter is held, everything else after it was let go.

use arrow_array::{ArrayRef, StructArray};
use ndarray::{ArrayView1, ArrayViewD, Axis, Ix1, Ix2};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyList, PyTuple},
};
use pyo3_arrow::{PyArray, PyChunkedArray, PyTable};
use rustc_hash::FxHashMap as HashMap;
use spocc::{Label, Predictions, Truth};

use crate::{
    arrow::Chunks,
    columns::{Codes, Column, Texts},
    error::{Fault, list},
    labels::{Id, Interner},
    lent::Lent,
    objects,
    work::Signal,
};

/// Cells read at a time: what they become fits a core's own memory.
const BLOCK: usize = 1 << 15;

/// Python's data, kept alive while it is read.
pub(crate) enum Held<'py, I> {
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
    Texts(PyReadonlyArrayDyn<'py, u32>),
    Codes(Box<Held<'py, I>>, Vec<Option<Label>>),
    Arrow(Vec<ArrayRef>),
    /// Objects, looked up already, row after row; and the shape they had.
    Ids(Vec<I>, Vec<usize>),
}

impl<'py, I: Id> Held<'py, I> {
    /// Takes hold of an array of `axes` axes, or of a column if that is 1.
    pub(crate) fn new(
        object: &Bound<'py, PyAny>,
        axes: usize,
        labels: &mut Interner<I>,
    ) -> Result<Self, Fault> {
        if let Ok(pair) = object.cast::<PyTuple>() {
            let (codes, categories): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair.extract()?;
            let codes = Self::new(&codes, axes, labels)?;
            return Ok(Self::Codes(Box::new(codes), labels_of(&categories)?));
        }
        let Ok(array) = object.cast::<numpy::PyUntypedArray>() else { return Self::from_arrow(object) };
        macro_rules! hold {
            ($($form:ident: $kind:ty),*) => {
                $(if let Ok(array) = object.cast::<PyArrayDyn<$kind>>() {
                    return view(array).map(Self::$form);
                })*
            };
        }
        if array.ndim() == axes + 1
            && let Ok(points) = object.cast::<PyArrayDyn<u32>>()
        {
            return view(points).map(Self::Texts);
        }
        if array.ndim() != axes {
            let found = array.ndim();
            return Err(Fault::Refused(format!("expected an array of {axes} axes, found {found}")));
        }
        hold!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, F32: f32, F64: f64);
        if let Ok(cells) = object.cast::<PyArrayDyn<Py<PyAny>>>() {
            return Ok(Self::Ids(objects::ids(cells, labels)?, array.shape().to_vec()));
        }
        let found = array.dtype();
        Err(Fault::Refused(format!(
            "expected labels that are texts, whole numbers or booleans, found {found}"
        )))
    }

    fn from_arrow(object: &Bound<'py, PyAny>) -> Result<Self, Fault> {
        // A stream of one's own chunks first: not all that have one can be a single array.
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
        Err(Fault::Refused(format!("expected an array or a column, found {found}")))
    }

    /// What can be read without the interpreter: columns, or one column of all cells row after row.
    fn columns(&self) -> Result<Columns<'_, I>, Fault> {
        macro_rules! numbers {
            ($array:expr) => {
                split($array.as_array(), |column| Box::new(column) as Box<dyn Column<I> + '_>)
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
            Self::Texts(points) => {
                let shape = points.shape();
                let (rows, rest) = shape.split_first().unwrap_or((&0, &[]));
                let length = rest.last().copied().unwrap_or(0);
                let points = points.as_slice().map_err(|_| broken("texts that are not in one piece"))?;
                if length == 0 {
                    return Err(broken("texts without length"));
                }
                Ok((form(*rows, &rest[..rest.len() - 1]), vec![Box::new(Texts::new(points, length))]))
            }
            Self::Ids(ids, shape) => {
                let (rows, rest) = shape.split_first().unwrap_or((&0, &[]));
                Ok((form(*rows, rest), vec![Box::new(&ids[..])]))
            }
            Self::Arrow(chunks) => {
                let chunks = Chunks::new(chunks.clone())?;
                Ok((Form { n_rows: chunks.len(), width: 1, by_rows: true }, vec![Box::new(chunks)]))
            }
            Self::Codes(codes, categories) => {
                macro_rules! codes {
                    ($array:expr) => {
                        split($array.as_array(), |column| {
                            Box::new(Codes::new(column, categories.clone())) as Box<dyn Column<I> + '_>
                        })
                    };
                }
                match &**codes {
                    Self::I8(array) => codes!(array),
                    Self::I16(array) => codes!(array),
                    Self::I32(array) => codes!(array),
                    Self::I64(array) => codes!(array),
                    _ => Err(broken("codes that are not signed integers")),
                }
            }
        }
    }
}

/// The column of a table that has no other, as queries are; anything else as it is.
fn only_column(chunk: ArrayRef) -> ArrayRef {
    match chunk.as_any().downcast_ref::<StructArray>() {
        Some(table) if table.num_columns() == 1 => table.column(0).clone(),
        _ => chunk,
    }
}

/// Arrow data of a kind that nobody but its maker knows; what its maker raises is not ours to explain.
fn unreadable(py: Python<'_>, error: PyErr) -> Fault {
    if !error.is_instance_of::<PyValueError>(py) {
        return Fault::Python(error);
    }
    let found = error.value(py);
    Fault::Refused(format!("expected labels in a type of Arrow's, found one that cannot be read ({found})"))
}

/// What only a caller of the native module itself can get wrong.
fn broken(found: &str) -> Fault {
    Fault::Refused(format!("expected what the package spocc hands over, found {found}"))
}

fn view<'py, T: Element>(array: &Bound<'py, PyArrayDyn<T>>) -> Result<PyReadonlyArrayDyn<'py, T>, Fault> {
    array
        .try_readonly()
        .map_err(|_| Fault::Refused("expected an array that nobody writes to, found one".into()))
}

/// How cells lie, and the columns that hold them.
type Columns<'a, I> = (Form, Vec<Box<dyn Column<I> + 'a>>);

/// How cells lie.
#[derive(Clone, Copy)]
struct Form {
    n_rows: usize,
    width: usize,
    /// Whether one column holds all cells, row after row.
    by_rows: bool,
}

fn form(n_rows: usize, rest: &[usize]) -> Form {
    Form { n_rows, width: rest.first().copied().unwrap_or(1), by_rows: true }
}

/// An array as one column where its cells lie row after row, else as many.
fn split<'a, I, T: Copy>(
    array: ArrayViewD<'a, T>,
    mut column: impl FnMut(ArrayView1<'a, T>) -> Box<dyn Column<I> + 'a>,
) -> Result<Columns<'a, I>, Fault> {
    if array.ndim() == 1 {
        let array = array.into_dimensionality::<Ix1>().map_err(|_| broken("another shape"))?;
        return Ok((Form { n_rows: array.len(), width: 1, by_rows: true }, vec![column(array)]));
    }
    let array = array.into_dimensionality::<Ix2>().map_err(|_| broken("another shape"))?;
    let (n_rows, width) = array.dim();
    if array.is_standard_layout() {
        let cells = array.into_shape_with_order(n_rows * width).map_err(|_| broken("another layout"))?;
        return Ok((Form { n_rows, width, by_rows: true }, vec![column(cells)]));
    }
    let columns = (0..width).map(|k| column(array.index_axis_move(Axis(1), k))).collect();
    Ok((Form { n_rows, width, by_rows: false }, columns))
}

/// One column of labels, taken hold of.
pub(crate) struct Labelled<'py, I> {
    what: &'static str,
    held: Held<'py, I>,
    labels: Interner<I>,
}

impl<'py, I: Id> Labelled<'py, I> {
    /// Takes hold of a column, which messages call `what`.
    pub(crate) fn new(what: &'static str, object: &Bound<'py, PyAny>) -> Result<Self, Fault> {
        let mut labels = Interner::default();
        let held = Held::new(object, 1, &mut labels).map_err(|fault| fault.at(what))?;
        Ok(Self { what, held, labels })
    }

    /// The column, ready to be read without the interpreter.
    pub(crate) fn source(&mut self) -> Result<Source<'_, I>, Fault> {
        let (form, columns) = self.held.columns().map_err(|fault| fault.at(self.what))?;
        let labels = std::mem::take(&mut self.labels);
        Ok(Source { what: self.what, names: &[], form, columns, lent: self.held.lent(), labels })
    }
}

/// Every label of a column, none where there is none; for the short lists of settings.
pub(crate) fn labels_of(object: &Bound<'_, PyAny>) -> Result<Vec<Option<Label>>, Fault> {
    let mut column = Labelled::<u32>::new("labels", object)?;
    let (labels, ids) = column.source()?.read(&Signal::default())?;
    Ok(ids.into_iter().map(|id| labels.get(id.place()).cloned()).collect())
}

/// A table of answers, taken hold of.
pub(crate) struct Panel<'py> {
    names: Vec<String>,
    held: Vec<Held<'py, u16>>,
    labels: Interner<u16>,
}

impl<'py> Panel<'py> {
    /// Takes hold of a table that a model is applied to, which must hold all its classifiers.
    pub(crate) fn of_model(cells: &Bound<'py, PyAny>, model: &spocc::Model) -> Result<Self, Fault> {
        use spocc::Error::{MissingClassifier, UnknownClassifier};
        Self::new(cells, Some(model.classifiers().to_vec())).map_err(|fault| match fault {
            Fault::Engine(UnknownClassifier { name, known }) => {
                MissingClassifier { name, found: known }.into()
            }
            other => other,
        })
    }

    /// Takes hold of a table: an array, whose columns get these names, or a table that has names, of which these
    /// are taken.
    pub(crate) fn new(cells: &Bound<'py, PyAny>, names: Option<Vec<String>>) -> Result<Self, Fault> {
        let mut labels = Interner::default();
        if let Ok(columns) = cells.cast::<PyList>() {
            let columns = columns.extract::<Vec<(String, Bound<'py, PyAny>)>>()?;
            let (known, columns): (Vec<String>, Vec<Bound<'py, PyAny>>) = columns.into_iter().unzip();
            let (names, places) = chosen(names, &known)?;
            let mut hold = |(name, place): (&String, usize)| {
                Held::new(&columns[place], 1, &mut labels).map_err(|fault| fault.at(format_args!("`{name}`")))
            };
            let held = names.iter().zip(places).map(&mut hold).collect::<Result<_, Fault>>()?;
            return Ok(Self { names, held, labels });
        }
        if cells.cast::<numpy::PyUntypedArray>().is_err() && cells.cast::<PyTuple>().is_err() {
            let (batches, schema) =
                cells.extract::<PyTable>().map_err(|error| unreadable(cells.py(), error))?.into_inner();
            let known: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            let (names, places) = chosen(names, &known)?;
            let column = |&place: &usize| batches.iter().map(|batch| batch.column(place).clone()).collect();
            return Ok(Self { names, held: places.iter().map(column).map(Held::Arrow).collect(), labels });
        }
        let held = Held::new(cells, 2, &mut labels).map_err(|fault| fault.at("answers"))?;
        let width = held.columns()?.0.width;
        let names = names.unwrap_or_else(|| (0..width).map(|k| format!("x{k}")).collect());
        if names.len() != width {
            let expected = names.len();
            return Err(Fault::Refused(format!("answers: expected {expected} columns, found {width}")));
        }
        Ok(Self { names, held: vec![held], labels })
    }

    /// The table, ready to be read without the interpreter.
    pub(crate) fn source(&mut self) -> Result<Source<'_, u16>, Fault> {
        let labels = std::mem::take(&mut self.labels);
        let (what, names) = ("answers", &self.names[..]);
        if let [held] = &self.held[..]
            && names.len() != 1
        {
            let (form, columns) = held.columns().map_err(|fault| fault.at(what))?;
            return Ok(Source { what, names, form, columns, lent: held.lent(), labels });
        }
        let mut columns = Vec::with_capacity(self.held.len());
        for (held, name) in self.held.iter().zip(names) {
            let column = held.columns().map_err(|fault| fault.at(format_args!("`{name}`")))?.1;
            columns.extend(column);
        }
        let n_rows = columns.first().map_or(0, |column| column.len());
        if let Some((column, name)) = columns.iter().zip(names).find(|(column, _)| column.len() != n_rows) {
            let found = column.len();
            return Err(Fault::Refused(format!("`{name}`: expected {n_rows} rows, found {found}")));
        }
        let form = Form { n_rows, width: columns.len(), by_rows: false };
        let lent = Lent::beside(self.held.iter().map(Held::lent));
        Ok(Source { what, names, form, columns, lent, labels })
    }
}

/// The names wanted and their places among those known; all of these if nothing is wanted.
fn chosen(wanted: Option<Vec<String>>, known: &[String]) -> Result<(Vec<String>, Vec<usize>), Fault> {
    let Some(wanted) = wanted else { return Ok((known.to_vec(), (0..known.len()).collect())) };
    let mut places: HashMap<&str, Vec<usize>> = HashMap::default();
    for (place, name) in known.iter().enumerate() {
        places.entry(name.as_str()).or_default().push(place);
    }
    let place = |name: &String| match places.get(name.as_str()).map(Vec::as_slice) {
        Some([place]) => Ok(*place),
        Some(_) => Err(spocc::Error::DuplicateName { what: "classifiers", name: name.clone() }),
        None => Err(spocc::Error::UnknownClassifier { name: name.clone(), known: list(known) }),
    };
    let places = wanted.iter().map(place).collect::<Result<_, spocc::Error>>()?;
    Ok((wanted, places))
}

/// Cells that can be read without the interpreter.
pub(crate) struct Source<'a, I> {
    what: &'static str,
    /// Of the columns; none for a single one.
    pub(crate) names: &'a [String],
    form: Form,
    columns: Vec<Box<dyn Column<I> + 'a>>,
    pub(crate) lent: Option<Lent<'a>>,
    labels: Interner<I>,
}

impl<I: Id> Source<'_, I> {
    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.form.n_rows
    }

    /// Number of cells.
    pub(crate) fn n_cells(&self) -> usize {
        self.form.n_rows * self.form.width
    }

    /// Every label, and for every cell, row after row, which of them it is.
    pub(crate) fn read(mut self, signal: &Signal) -> Result<(Vec<Label>, Vec<I>), Fault> {
        let Form { n_rows, width, by_rows } = self.form;
        let mut ids = Vec::with_capacity(n_rows * width);
        let step = (BLOCK / width.max(1)).max(1);
        for first in (0..n_rows).step_by(step) {
            signal.check()?;
            let rows = first..(first + step).min(n_rows);
            // Block by block, so that what is written first is still at hand when it is written again.
            let start = ids.len();
            ids.resize(start + rows.len() * width, I::GAP);
            let out = &mut ids[start..];
            let (rows, stride) =
                if by_rows { (rows.start * width..rows.end * width, 1) } else { (rows, width) };
            for (k, column) in self.columns.iter_mut().enumerate() {
                let read = column.fill(rows.clone(), &mut out[k..], stride, &mut self.labels);
                read.map_err(|(at, fault)| {
                    let (row, k) = if by_rows { (at / width, at % width) } else { (at, k) };
                    match self.names.get(k) {
                        Some(name) => fault.at(format_args!("row {row}, `{name}`")),
                        None => fault.at(format_args!("{}, row {row}", self.what)),
                    }
                })?;
            }
        }
        Ok((self.labels.into_labels(), ids))
    }
}

impl Source<'_, u16> {
    /// The table.
    pub(crate) fn predictions(self, signal: &Signal) -> Result<Predictions, Fault> {
        let names = self.names;
        let (labels, ids) = self.read(signal)?;
        Ok(Predictions::from_ids(names.iter().cloned(), labels, ids)?)
    }

    /// The truth of every row.
    pub(crate) fn truth(self, signal: &Signal) -> Result<Truth, Fault> {
        let (labels, ids) = self.read(signal)?;
        Ok(Truth::from_ids(labels, ids)?)
    }
}
