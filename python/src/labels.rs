//! Labels between Python and the engine: numbers, booleans and texts become ids, and come back with their type.

use pyo3::{
    prelude::*,
    types::{PyBool, PyFloat, PyInt, PyList, PyString},
};
use rustc_hash::FxHashMap as HashMap;
use spocc::{Label, data::Written};

use crate::error::BindingError;

/// Integers from here on are looked up by index: most labels are small integers.
const FIRST: i64 = -1024;
/// How many integers are looked up by index.
pub(crate) const PLACES: usize = 4096;

/// The index of a small integer; [`PLACES`] or more for any other.
#[inline]
pub(crate) fn place(value: i64) -> usize {
    value.wrapping_sub(FIRST) as usize
}

/// The number of a label among those met so far; the largest value means missing.
pub(crate) trait LabelId: Copy + PartialEq + Send + Sync + 'static {
    /// The id of a missing label.
    const MISSING: Self;
    /// The largest number of labels.
    const LIMIT: usize;
    /// The id with index `at`, which is below the limit.
    fn of(at: usize) -> Self;
    /// The index of its label.
    fn place(self) -> usize;
}

impl LabelId for u16 {
    const MISSING: Self = Self::MAX;
    const LIMIT: usize = Self::MAX as usize;
    fn of(at: usize) -> Self {
        at as Self
    }
    fn place(self) -> usize {
        self.into()
    }
}

impl LabelId for u32 {
    const MISSING: Self = Self::MAX;
    const LIMIT: usize = Self::MAX as usize;
    fn of(at: usize) -> Self {
        at as Self
    }
    fn place(self) -> usize {
        self as usize
    }
}

/// All labels met so far, with lookups by Python value.
pub(crate) struct ValueInterner<I> {
    labels: Vec<Label>,
    /// Whether numbers may have a fraction.
    fractions: bool,
    small: Box<[I; PLACES]>,
    integers: HashMap<i128, I>,
    small_floats: Vec<I>,
    floats: HashMap<u64, I>,
    booleans: [I; 2],
    texts: HashMap<Box<str>, I>,
}

impl<I: LabelId> Default for ValueInterner<I> {
    fn default() -> Self {
        Self {
            labels: Vec::new(),
            fractions: false,
            small: Box::new([I::MISSING; PLACES]),
            integers: HashMap::default(),
            small_floats: vec![I::MISSING; PLACES],
            floats: HashMap::default(),
            booleans: [I::MISSING; 2],
            texts: HashMap::default(),
        }
    }
}

impl<I: LabelId> ValueInterner<I> {
    /// For open answers, of which numbers may have a fraction.
    pub(crate) fn of_answers() -> Self {
        Self { fractions: true, ..Self::default() }
    }

    /// For the same kind of labels.
    pub(crate) fn alike<J: LabelId>(&self) -> ValueInterner<J> {
        ValueInterner { fractions: self.fractions, ..ValueInterner::default() }
    }

    /// The labels in the order of their ids.
    pub(crate) fn into_labels(self) -> Vec<Label> {
        self.labels
    }

    /// The ids of the small integers, by index.
    pub(crate) fn small(&self) -> &[I; PLACES] {
        &self.small
    }

    #[inline]
    pub(crate) fn integer(&mut self, value: i64) -> Result<I, BindingError> {
        match self.small.get(place(value)) {
            Some(&id) if id != I::MISSING => Ok(id),
            _ => self.new_integer(value.into()),
        }
    }

    #[cold]
    pub(crate) fn new_integer(&mut self, value: i128) -> Result<I, BindingError> {
        if let Some(&id) = self.integers.get(&value) {
            return Ok(id);
        }
        let id = self.add(Label::from_integer(value))?;
        let small = i64::try_from(value).ok();
        match small.and_then(|small| self.small.get_mut(place(small))) {
            Some(known) => *known = id,
            None => drop(self.integers.insert(value, id)),
        }
        Ok(id)
    }

    /// The id of a number; NaN is missing.
    #[inline]
    pub(crate) fn float(&mut self, value: f64) -> Result<I, BindingError> {
        let whole = value as i64;
        match self.small_floats.get(place(whole)) {
            Some(&id) if id != I::MISSING && whole as f64 == value => Ok(id),
            _ => self.new_float(value),
        }
    }

    /// The id of a number of single precision. A fraction is read by its shortest decimal form, so that it equals the
    /// same fraction in a text.
    #[inline]
    pub(crate) fn single(&mut self, value: f32) -> Result<I, BindingError> {
        if self.fractions && value.is_finite() && value.fract() != 0.0 {
            return self.float(value.to_string().parse().unwrap_or_else(|_| value.into()));
        }
        self.float(value.into())
    }

    fn new_float(&mut self, value: f64) -> Result<I, BindingError> {
        if value.is_nan() {
            return Ok(I::MISSING);
        }
        // Adding zero turns -0.0 into 0.0.
        let bits = (value + 0.0).to_bits();
        if let Some(&id) = self.floats.get(&bits) {
            return Ok(id);
        }
        let id = self.add(self.number(value)?)?;
        match self.small_floats.get_mut(place(value as i64)) {
            Some(known) if value.fract() == 0.0 => *known = id,
            _ => drop(self.floats.insert(bits, id)),
        }
        Ok(id)
    }

    fn number(&self, value: f64) -> Result<Label, BindingError> {
        if !self.fractions {
            return Ok(Label::try_from(value)?);
        }
        let refused =
            || BindingError::Value(format!("label {value}: expected a finite number, a text or a boolean"));
        Label::from_number(value).ok_or_else(refused)
    }

    #[inline]
    pub(crate) fn boolean(&mut self, value: bool) -> Result<I, BindingError> {
        if self.booleans[usize::from(value)] == I::MISSING {
            self.booleans[usize::from(value)] = self.add(Label::from(value))?;
        }
        Ok(self.booleans[usize::from(value)])
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> Result<I, BindingError> {
        if let Some(&id) = self.texts.get(text) {
            return Ok(id);
        }
        let id = self.add(Label::from(text))?;
        self.texts.insert(text.into(), id);
        Ok(id)
    }

    /// The id of an engine label.
    pub(crate) fn label(&mut self, label: &Label) -> Result<I, BindingError> {
        let digits = label.canonical();
        match label.written() {
            Written::Text(text) => self.text(text),
            Written::Boolean => self.boolean(digits == "true"),
            Written::Integer => match digits.parse::<i64>() {
                Ok(value) => self.integer(value),
                Err(_) => self.new_integer(digits.parse().unwrap_or(i128::MAX)),
            },
            Written::Float => self.float(digits.parse().unwrap_or(f64::NAN)),
            _ => self.text(&label.to_string()),
        }
    }

    fn add(&mut self, label: Label) -> Result<I, BindingError> {
        if self.labels.len() == I::LIMIT {
            return Err(spocc::Error::TooManyLabels { limit: I::LIMIT }.into());
        }
        self.labels.push(label);
        Ok(I::of(self.labels.len() - 1))
    }

    /// The id of a Python object; `None` is missing.
    pub(crate) fn object(&mut self, object: &Bound<'_, PyAny>) -> Result<I, BindingError> {
        if object.is_none() {
            return Ok(I::MISSING);
        }
        if let Ok(text) = object.cast::<PyString>() {
            let text = text.to_cow().map_err(|_| refused(object, "text that is valid Unicode"))?;
            return self.text(&text);
        }
        if let Ok(value) = object.cast::<PyBool>() {
            return self.boolean(value.is_true());
        }
        if object.is_instance_of::<PyInt>() {
            let value: i128 =
                object.extract().map_err(|_| refused(object, "an integer of at most 128 bits"))?;
            return match i64::try_from(value) {
                Ok(value) => self.integer(value),
                Err(_) => self.new_integer(value),
            };
        }
        if let Ok(value) = object.cast::<PyFloat>() {
            return self.float(value.value());
        }
        self.other_object(object)
    }

    /// The id of a numpy scalar or of a missing value of pandas, neither of which has to be installed.
    fn other_object(&mut self, object: &Bound<'_, PyAny>) -> Result<I, BindingError> {
        let kind = object.get_type();
        let (name, module) = (kind.name()?.to_string(), kind.module()?.to_string());
        if module.starts_with("pandas.") && matches!(name.as_str(), "NAType" | "NaTType") {
            return Ok(I::MISSING);
        }
        if module == "numpy" {
            if matches!(name.as_str(), "datetime64" | "timedelta64") {
                let is_missing = object.ne(object)?;
                return if is_missing { Ok(I::MISSING) } else { Err(self.not_a_label(object)) };
            }
            if name == "float32" {
                return self.single(object.extract()?);
            }
            let item = object.call_method0("item")?;
            if !item.get_type().is(&kind) {
                return self.object(&item);
            }
        }
        Err(self.not_a_label(object))
    }

    fn not_a_label(&self, object: &Bound<'_, PyAny>) -> BindingError {
        let number = if self.fractions { "a number" } else { "a whole number" };
        BindingError::Type(describe(object, &format!("{number}, a text or a boolean")))
    }
}

fn refused(object: &Bound<'_, PyAny>, expected: &str) -> BindingError {
    BindingError::Value(describe(object, expected))
}

fn describe(object: &Bound<'_, PyAny>, expected: &str) -> String {
    const SHOWN: usize = 60;
    let repr = object.repr().and_then(|repr| repr.to_cow().map(std::borrow::Cow::into_owned));
    let repr = repr.unwrap_or_else(|_| "an object".to_owned());
    let short: String = repr.chars().take(SHOWN).collect();
    let more = if short.len() < repr.len() { ".." } else { "" };
    let kind = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    format!("label {short}{more}: expected {expected}, found {kind}")
}

/// Labels as Python objects of the type in which they were given.
pub(crate) fn to_python<'py>(py: Python<'py>, labels: &[Label]) -> PyResult<Bound<'py, PyList>> {
    let objects: PyResult<Vec<Bound<'py, PyAny>>> = labels.iter().map(|label| object(py, label)).collect();
    PyList::new(py, objects?)
}

/// A label as a Python object of the type in which it was given.
pub(crate) fn object<'py>(py: Python<'py>, label: &Label) -> PyResult<Bound<'py, PyAny>> {
    let digits = label.canonical();
    Ok(match label.written() {
        Written::Boolean => PyBool::new(py, digits == "true").to_owned().into_any(),
        Written::Integer => match digits.parse::<i64>() {
            Ok(value) => value.into_pyobject(py)?.into_any(),
            Err(_) => py.get_type::<PyInt>().call1((digits,))?,
        },
        Written::Float => PyFloat::new(py, digits.parse().unwrap_or(f64::NAN)).into_any(),
        Written::Text(text) => PyString::new(py, text).into_any(),
        _ => PyString::new(py, &label.to_string()).into_any(),
    })
}
