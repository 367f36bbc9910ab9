//! Tables of predictions and columns of labels as Python passes them.
//!
//! In: a two-dimensional array, an object with the Arrow `PyCapsule` interface, or a list of (name, column). Out: the
//! engine's predictions and truth.

use arrow_schema::FieldRef;
use pyo3::{
    prelude::*,
    types::{PyList, PyTuple},
};
use pyo3_arrow::{PyChunkedArray, PyTable};
use rustc_hash::FxHashMap as HashMap;
use spocc::{Label, Predictions, Truth};

use crate::{
    columns::LabelColumn,
    error::{BindingError, list},
    input_buffer::{InputBuffer, InputShape, unreadable},
    labels::{LabelId, ValueInterner},
    runtime::Interrupt,
    zero_copy::BorrowedIntegers,
};

/// Cells read at a time; their ids fit into the cache of a core.
const BLOCK: usize = 1 << 15;

/// One column of labels given by Python.
pub(crate) struct LabelInput<'py, I> {
    what: &'static str,
    buffer: InputBuffer<'py, I>,
    labels: ValueInterner<I>,
}

impl<'py, I: LabelId> LabelInput<'py, I> {
    /// Borrows a column, which messages call `what`.
    pub(crate) fn new(what: &'static str, object: &Bound<'py, PyAny>) -> Result<Self, BindingError> {
        Self::among(what, object, ValueInterner::default())
    }

    /// The same for open answers.
    pub(crate) fn of_answers(what: &'static str, object: &Bound<'py, PyAny>) -> Result<Self, BindingError> {
        Self::among(what, object, ValueInterner::of_answers())
    }

    fn among(
        what: &'static str,
        object: &Bound<'py, PyAny>,
        mut labels: ValueInterner<I>,
    ) -> Result<Self, BindingError> {
        let buffer = InputBuffer::new(object, 1, &mut labels).map_err(|error| error.at(what))?;
        Ok(Self { what, buffer, labels })
    }

    /// The column in a form that can be read without the interpreter.
    pub(crate) fn table(&mut self) -> Result<InputTable<'_, I>, BindingError> {
        let (shape, columns) = self.buffer.columns().map_err(|error| error.at(self.what))?;
        let labels = std::mem::take(&mut self.labels);
        Ok(InputTable {
            what: self.what,
            names: &[],
            shape,
            columns,
            borrowed: self.buffer.borrow_integers(),
            labels,
        })
    }
}

/// The labels of a short column, `None` where missing.
pub(crate) fn labels_of(object: &Bound<'_, PyAny>) -> Result<Vec<Option<Label>>, BindingError> {
    labels_among(object, ValueInterner::default())
}

/// The same, for the kind of labels that `known` holds.
pub(crate) fn labels_among(
    object: &Bound<'_, PyAny>,
    known: ValueInterner<u32>,
) -> Result<Vec<Option<Label>>, BindingError> {
    let mut column = LabelInput::among("labels", object, known)?;
    let (labels, ids) = column.table()?.read(&Interrupt::default())?;
    Ok(ids.into_iter().map(|id| labels.get(id.place()).cloned()).collect())
}

/// A table of predictions given by Python.
pub(crate) struct PredictionInput<'py, I> {
    names: Vec<String>,
    buffer: Vec<InputBuffer<'py, I>>,
    labels: ValueInterner<I>,
}

impl<'py, I: LabelId> PredictionInput<'py, I> {
    /// Borrows a table that a model is applied to, which must have all of its classifiers.
    pub(crate) fn of_model(cells: &Bound<'py, PyAny>, model: &spocc::Model) -> Result<Self, BindingError> {
        use spocc::Error::{MissingClassifier, UnknownClassifier};
        let names = Some(model.classifiers().to_vec());
        let input = if model.is_open() { Self::of_answers(cells, names) } else { Self::new(cells, names) };
        input.map_err(|error| match error {
            BindingError::Engine(UnknownClassifier { name, known }) => {
                MissingClassifier { name, found: known }.into()
            }
            other => other,
        })
    }

    /// Borrows a table: an array, whose columns get these names, or a table with column names, of which these are
    /// selected.
    pub(crate) fn new(cells: &Bound<'py, PyAny>, names: Option<Vec<String>>) -> Result<Self, BindingError> {
        Self::among(cells, names, ValueInterner::default())
    }

    /// The same for open answers.
    pub(crate) fn of_answers(
        cells: &Bound<'py, PyAny>,
        names: Option<Vec<String>>,
    ) -> Result<Self, BindingError> {
        Self::among(cells, names, ValueInterner::of_answers())
    }

    fn among(
        cells: &Bound<'py, PyAny>,
        names: Option<Vec<String>>,
        mut labels: ValueInterner<I>,
    ) -> Result<Self, BindingError> {
        if let Ok(columns) = cells.cast::<PyList>() {
            let columns = columns.extract::<Vec<(String, Bound<'py, PyAny>)>>()?;
            let (known, columns): (Vec<String>, Vec<Bound<'py, PyAny>>) = columns.into_iter().unzip();
            let (names, places) = select_names(names, &known)?;
            let mut hold = |(name, place): (&String, usize)| {
                InputBuffer::new(&columns[place], 1, &mut labels)
                    .map_err(|error| error.at(format_args!("`{name}`")))
            };
            let buffer = names.iter().zip(places).map(&mut hold).collect::<Result<_, BindingError>>()?;
            return Ok(Self { names, buffer, labels });
        }
        if cells.cast::<numpy::PyUntypedArray>().is_err() && cells.cast::<PyTuple>().is_err() {
            let (batches, schema) =
                cells.extract::<PyTable>().map_err(|error| unreadable(cells.py(), error))?.into_inner();
            let known: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            let (names, places) = select_names(names, &known)?;
            let column = |&place: &usize| batches.iter().map(|batch| batch.column(place).clone()).collect();
            return Ok(Self {
                names,
                buffer: places.iter().map(column).map(InputBuffer::Arrow).collect(),
                labels,
            });
        }
        let buffer = InputBuffer::new(cells, 2, &mut labels).map_err(|error| error.at("predictions"))?;
        let width = buffer.columns()?.0.width;
        let names = names.unwrap_or_else(|| (0..width).map(|k| format!("x{k}")).collect());
        if names.len() != width {
            let expected = names.len();
            return Err(BindingError::Value(format!(
                "predictions: expected {expected} columns, found {width}"
            )));
        }
        Ok(Self { names, buffer: vec![buffer], labels })
    }

    /// The table in a form that can be read without the interpreter.
    pub(crate) fn table(&mut self) -> Result<InputTable<'_, I>, BindingError> {
        let labels = std::mem::take(&mut self.labels);
        let (what, names) = ("predictions", &self.names[..]);
        if let [buffer] = &self.buffer[..]
            && names.len() != 1
        {
            let (shape, columns) = buffer.columns().map_err(|error| error.at(what))?;
            return Ok(InputTable {
                what,
                names,
                shape,
                columns,
                borrowed: buffer.borrow_integers(),
                labels,
            });
        }
        let mut columns = Vec::with_capacity(self.buffer.len());
        for (buffer, name) in self.buffer.iter().zip(names) {
            let column = buffer.columns().map_err(|error| error.at(format_args!("`{name}`")))?.1;
            columns.extend(column);
        }
        let n_rows = columns.first().map_or(0, |column| column.len());
        if let Some((column, name)) = columns.iter().zip(names).find(|(column, _)| column.len() != n_rows) {
            let found = column.len();
            return Err(BindingError::Value(format!("`{name}`: expected {n_rows} rows, found {found}")));
        }
        let shape = InputShape { n_rows, width: columns.len(), by_rows: false };
        let borrowed = BorrowedIntegers::beside(self.buffer.iter().map(InputBuffer::borrow_integers));
        Ok(InputTable { what, names, shape, columns, borrowed, labels })
    }
}

/// The columns of a table with the Arrow interface and their names, for a caller that gives them different uses.
#[pyfunction]
pub(crate) fn columns(table: &Bound<'_, PyAny>) -> Result<Vec<(String, PyChunkedArray)>, BindingError> {
    let (batches, schema) =
        table.extract::<PyTable>().map_err(|error| unreadable(table.py(), error))?.into_inner();
    let column = |(place, field): (usize, &FieldRef)| {
        let chunks = batches.iter().map(|batch| batch.column(place).clone()).collect();
        Ok((field.name().clone(), PyChunkedArray::try_new(chunks, field.clone())?))
    };
    schema.fields().iter().enumerate().map(column).collect()
}

/// The selected names and their indices among those known; all of them if no selection is given.
fn select_names(
    wanted: Option<Vec<String>>,
    known: &[String],
) -> Result<(Vec<String>, Vec<usize>), BindingError> {
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

/// A table whose cells can be read without the interpreter.
pub(crate) struct InputTable<'a, I> {
    what: &'static str,
    /// Names of the columns; empty for a single column of labels.
    pub(crate) names: &'a [String],
    shape: InputShape,
    columns: Vec<Box<dyn LabelColumn<I> + 'a>>,
    pub(crate) borrowed: Option<BorrowedIntegers<'a>>,
    labels: ValueInterner<I>,
}

impl<I: LabelId> InputTable<'_, I> {
    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.shape.n_rows
    }

    /// Number of cells.
    pub(crate) fn n_cells(&self) -> usize {
        self.shape.n_rows * self.shape.width
    }

    /// The distinct labels, and the label id of every cell, row after row.
    pub(crate) fn read(mut self, interrupt: &Interrupt) -> Result<(Vec<Label>, Vec<I>), BindingError> {
        let InputShape { n_rows, width, by_rows } = self.shape;
        let mut ids = Vec::with_capacity(n_rows * width);
        let step = (BLOCK / width.max(1)).max(1);
        for first in (0..n_rows).step_by(step) {
            interrupt.check()?;
            let rows = first..(first + step).min(n_rows);
            // Block by block, so that the output of all columns stays in the cache.
            let start = ids.len();
            ids.resize(start + rows.len() * width, I::MISSING);
            let out = &mut ids[start..];
            let (rows, stride) =
                if by_rows { (rows.start * width..rows.end * width, 1) } else { (rows, width) };
            for (k, column) in self.columns.iter_mut().enumerate() {
                let read = column.fill(rows.clone(), &mut out[k..], stride, &mut self.labels);
                read.map_err(|(at, error)| {
                    let (row, k) = if by_rows { (at / width, at % width) } else { (at, k) };
                    match self.names.get(k) {
                        Some(name) => error.at(format_args!("row {row}, `{name}`")),
                        None => error.at(format_args!("{}, row {row}", self.what)),
                    }
                })?;
            }
        }
        Ok((self.labels.into_labels(), ids))
    }
}

impl InputTable<'_, u16> {
    /// The table as the engine's predictions.
    pub(crate) fn predictions(self, interrupt: &Interrupt) -> Result<Predictions, BindingError> {
        let names = self.names;
        let (labels, ids) = self.read(interrupt)?;
        Ok(Predictions::from_ids(names.iter().cloned(), labels, ids)?)
    }

    /// The column as the engine's truth.
    pub(crate) fn truth(self, interrupt: &Interrupt) -> Result<Truth, BindingError> {
        let (labels, ids) = self.read(interrupt)?;
        Ok(Truth::from_ids(labels, ids)?)
    }
}
