//! Writes decided rows as Parquet. Ids keep the types of the input.
//!
//! In: blocks of decided rows. Out: a file that pandas, polars, `DuckDB` and Spark read without options.

mod typed;

use std::{
    io::{self, Write},
    sync::Arc,
};

use arrow_array::{ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::{
    arrow::ArrowWriter, basic::Compression, errors::ParquetError, file::properties::WriterProperties,
};
use spocc::{Label, data::Written};

use crate::{
    args::OutputColumn,
    write::{DecidedBlock, DecisionWriter, OutputHeader, joined, texts},
};
use typed::{stored, typed};

/// Writes a Parquet file.
pub(super) struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    n_ids: usize,
    columns: Vec<OutputColumn>,
    classes: Vec<String>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Writes the schema: the ids, the decision, then the other columns.
    pub(super) fn new(out: W, header: &OutputHeader<'_>) -> io::Result<Self> {
        let OutputHeader { ids, id_types, columns, classes, abstains } = header;
        let ids = ids.iter().zip(id_types);
        let mut fields: Vec<Field> = ids.map(|(name, of)| Field::new(name, stored(of), true)).collect();
        let n_ids = fields.len();
        fields.push(Field::new("decision", decided(classes), *abstains));
        for column in *columns {
            match column {
                OutputColumn::Decision => {}
                OutputColumn::Margin => fields.push(Field::new("margin", DataType::Float64, false)),
                OutputColumn::Possibility | OutputColumn::Probability => {
                    let field =
                        |class| Field::new(format!("{}:{class}", column.name()), DataType::Float64, false);
                    fields.extend(classes.iter().map(field));
                }
                // One text as in a CSV, not a list: it is empty in nearly every row, and any reader can show
                // it.
                OutputColumn::Ties => fields.push(Field::new("ties", DataType::Utf8, true)),
                OutputColumn::Answered => fields.push(Field::new("answered", DataType::Int64, false)),
                OutputColumn::Set => {
                    let item = Field::new_list_field(decided(classes), false);
                    fields.push(Field::new("set", DataType::List(Arc::new(item)), false));
                }
                OutputColumn::SetSize => fields.push(Field::new("set_size", DataType::Int64, false)),
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            // Readers parse this form to work around known faults of writers.
            .set_created_by(concat!("spocc version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties)).map_err(of_parquet)?;
        let classes = texts(classes);
        Ok(Self { writer, schema, n_ids, columns: columns.to_vec(), classes })
    }

    fn batch(&self, block: &DecidedBlock<'_>) -> io::Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (ids, field) in block.ids.iter().zip(&self.schema.fields()[..self.n_ids]) {
            let rows = block.first..(block.first + block.decisions.len()).min(ids.len());
            let ids: Vec<Option<&str>> = rows.map(|row| ids.get(row)).collect();
            arrays.push(typed(&ids, field)?);
        }
        let rows = 0..block.decisions.len();
        let decided: Vec<Option<&str>> =
            rows.clone().map(|row| block.class(row).and_then(|class| self.class(class))).collect();
        arrays.push(typed(&decided, self.schema.field(self.n_ids))?);
        for column in &self.columns {
            match column {
                OutputColumn::Set => arrays.push(self.sets(block)?),
                OutputColumn::SetSize => {
                    let sizes = rows.clone().map(|row| Some(block.set(row).len() as i64));
                    arrays.push(Arc::new(sizes.collect::<Int64Array>()));
                }
                _ => self.push(*column, block, &mut arrays),
            }
        }
        // Fails for columns of unequal length.
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(io::Error::other)
    }

    fn push(&self, column: OutputColumn, block: &DecidedBlock<'_>, arrays: &mut Vec<ArrayRef>) {
        let decisions = block.decisions;
        let mut push_classes = |values: &Option<Vec<f64>>| {
            for class in 0..self.classes.len() {
                let values = values.iter().flatten().skip(class).step_by(self.classes.len());
                arrays.push(Arc::new(values.map(|value| Some(*value)).collect::<Float64Array>()));
            }
        };
        match column {
            OutputColumn::Decision | OutputColumn::Set | OutputColumn::SetSize => {}
            OutputColumn::Margin => {
                let margins = decisions.margin.iter().flatten().map(|margin| Some(*margin));
                arrays.push(Arc::new(margins.collect::<Float64Array>()));
            }
            OutputColumn::Possibility => push_classes(&decisions.possibility),
            OutputColumn::Probability => push_classes(&decisions.probability),
            OutputColumn::Ties => {
                let ties = |row: usize| decisions.is_tie[row].then(|| joined(block.ties(row), &self.classes));
                arrays.push(Arc::new((0..decisions.len()).map(ties).collect::<StringArray>()));
            }
            OutputColumn::Answered => {
                let answered = decisions.n_answered.iter().flatten().map(|n| Some(i64::from(*n)));
                arrays.push(Arc::new(answered.collect::<Int64Array>()));
            }
        }
    }

    /// The prediction sets as lists with the type of the classes.
    fn sets(&self, block: &DecidedBlock<'_>) -> io::Result<ArrayRef> {
        let item = Arc::new(Field::new_list_field(self.schema.field(self.n_ids).data_type().clone(), false));
        let rows = || (0..block.decisions.len()).map(|row| block.set(row));
        let classes: Vec<Option<&str>> = rows().flatten().map(|class| self.class(class)).collect();
        let ends = OffsetBuffer::from_lengths(rows().map(|set| set.len()));
        let values = typed(&classes, &item)?;
        ListArray::try_new(item, ends, values, None)
            .map(|sets| Arc::new(sets) as ArrayRef)
            .map_err(io::Error::other)
    }

    fn class(&self, number: usize) -> Option<&str> {
        self.classes.get(number).map(String::as_str)
    }
}

impl<W: Write + Send> DecisionWriter for ParquetWriter<W> {
    fn write(&mut self, block: &DecidedBlock<'_>) -> io::Result<()> {
        let batch = self.batch(block)?;
        self.writer.write(&batch).map_err(of_parquet)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.finish().map_err(of_parquet)?;
        self.writer.inner_mut().flush()
    }
}

/// The common type of all classes in the input; text if they have different types.
fn decided(classes: &[Label]) -> DataType {
    let all = |written: &Written| classes.iter().all(|class| class.written() == written);
    if all(&Written::Boolean) {
        DataType::Boolean
    } else if all(&Written::Integer) && classes.iter().all(|class| class.canonical().parse::<i64>().is_ok()) {
        DataType::Int64
    } else if all(&Written::Float) {
        DataType::Float64
    } else {
        DataType::Utf8
    }
}

/// The I/O error inside a Parquet error.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => {
            source.downcast::<io::Error>().map_or_else(io::Error::other, |io| *io)
        }
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Array as _,
        cast::AsArray as _,
        types::{Float64Type, Int64Type},
    };
    use arrow_schema::TimeUnit;
    use bytes::Bytes;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use spocc::{
        Combiner, Control, Evidence, Fit, Model, Options, Predictions, Truth,
        conformal::{ConformalScheme, ConformalSettings, Coverage},
        methods::{Majority, NaiveBayes},
        predict::{DecisionColumns, Decisions},
    };

    use super::*;
    use spocc_table::{ReadOptions, RowBlock, Table, TextColumn};

    const ALL: [OutputColumn; 5] = [
        OutputColumn::Decision,
        OutputColumn::Margin,
        OutputColumn::Possibility,
        OutputColumn::Ties,
        OutputColumn::Answered,
    ];

    /// Two rows decided by two voters, who disagree on the second.
    fn decide(labels: [Label; 2]) -> Decisions {
        let [yes, no] = labels;
        let mut rows = Predictions::builder(["ann", "bob"]).expect("two names");
        rows.push([Some(yes.clone()), Some(yes.clone())]).expect("two answers");
        rows.push([Some(yes.clone()), Some(no.clone())]).expect("two answers");
        let rows = rows.finish();
        let truth = Truth::new([Some(yes), Some(no)]).expect("two truths");
        let model = Majority.fit(&Evidence::new(&rows, &truth).expect("evidence")).expect("a model");
        model.decide_all(&rows, DecisionColumns::ALL, &Control::default()).expect("decisions")
    }

    fn block<'a>(ids: &'a [TextColumn], decisions: &'a Decisions) -> DecidedBlock<'a> {
        DecidedBlock { ids, first: 0, abstained: &[], decisions, sets: None }
    }

    fn write(
        ids: &[(&str, DataType, [Option<&str>; 2])],
        labels: [Label; 2],
        columns: &[OutputColumn],
    ) -> io::Result<Bytes> {
        let decisions = decide(labels);
        let names: Vec<String> = ids.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let types: Vec<DataType> = ids.iter().map(|(_, of, _)| of.clone()).collect();
        let texts: Vec<TextColumn> = ids.iter().map(|(.., texts)| texts.iter().copied().collect()).collect();
        let mut bytes = Vec::new();
        let header = OutputHeader {
            ids: &names,
            id_types: types,
            columns,
            classes: decisions.classes(),
            abstains: false,
        };
        let mut writer = ParquetWriter::new(&mut bytes, &header)?;
        writer.write(&block(&texts, &decisions))?;
        writer.finish()?;
        drop(writer);
        Ok(bytes.into())
    }

    fn read(bytes: Bytes) -> RecordBatch {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).expect("a file");
        assert_eq!(
            builder.metadata().file_metadata().created_by(),
            Some(concat!("spocc version ", env!("CARGO_PKG_VERSION")))
        );
        assert!(builder.metadata().row_group(0).column(0).statistics().is_some());
        let batches: Result<Vec<RecordBatch>, _> = builder.build().expect("rows").collect();
        batches.expect("rows").remove(0)
    }

    #[test]
    fn decisions_are_written_in_full() {
        let batch = read(write(&[], ["a", "b"].map(Label::from), &ALL).expect("a file"));
        let names: Vec<&str> =
            batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["decision", "margin", "possibility:a", "possibility:b", "ties", "answered"]);
        let decided: Vec<_> = batch.column(0).as_string::<i32>().iter().flatten().collect();
        assert_eq!(decided, ["a", "a"]);
        let ties: Vec<_> = batch.column(4).as_string::<i32>().iter().collect();
        assert_eq!(ties, [None, Some("a|b")]);
        let decisions = decide(["a", "b"].map(Label::from));
        let margins = decisions.margin.as_ref().expect("asked for");
        for (row, margin) in margins.iter().enumerate() {
            assert_eq!(batch.column(1).as_primitive::<Float64Type>().value(row), *margin);
            let degrees = decisions.of_row(&decisions.possibility, row).expect("asked for");
            for (class, degree) in degrees.iter().enumerate() {
                assert_eq!(batch.column(2 + class).as_primitive::<Float64Type>().value(row), *degree);
            }
        }
    }

    #[test]
    fn sets_are_lists_of_the_type_of_the_classes_and_an_abstention_is_null() {
        let mut rows = Predictions::builder(["ann"]).expect("a name");
        (0..40).for_each(|row| rows.push([Some(Label::from(row % 2))]).expect("an answer"));
        let rows = rows.finish();
        let truth = Truth::new((0..40).map(|row| Some(Label::from(row % 2)))).expect("few labels");
        let options =
            Options { calibrate: Some(ConformalSettings::new(ConformalScheme::Split)), ..Options::default() };
        let evidence = Evidence::new(&rows, &truth).expect("evidence");
        let model = Model::fit(&NaiveBayes, &evidence, &options, &Control::default()).expect("a model");
        let sets = model.predict_sets(&rows, Coverage::try_from(0.9).expect("a share"), 0).expect("sets");
        let decided = model.predict(&rows).expect("decisions");
        let columns = [OutputColumn::Decision, OutputColumn::Set, OutputColumn::SetSize];
        let (classes, abstained) = (model.classes(), [vec![true], vec![false; 39]].concat());
        let header =
            OutputHeader { ids: &[], id_types: Vec::new(), columns: &columns, classes, abstains: true };
        let mut bytes = Vec::new();
        let mut writer = ParquetWriter::new(&mut bytes, &header).expect("a file");
        let block = block(&[], &decided);
        writer.write(&DecidedBlock { abstained: &abstained, sets: Some(&sets), ..block }).expect("written");
        writer.finish().expect("written");
        drop(writer);
        let batch = read(bytes.into());
        assert!(batch.column(0).is_null(0) && batch.column(0).null_count() == 1);
        let lists = batch.column(1).as_list::<i32>();
        for (row, set) in sets.iter().enumerate() {
            let found: Vec<i64> = lists.value(row).as_primitive::<Int64Type>().values().to_vec();
            let expected: Vec<i64> = set.iter().map(|class| i64::from(*class)).collect();
            assert_eq!(found, expected);
            assert_eq!(batch.column(2).as_primitive::<Int64Type>().value(row), set.len() as i64);
        }
    }

    #[test]
    fn a_decision_has_the_type_of_the_classes() {
        let of =
            |labels| read(write(&[], labels, &[]).expect("a file")).schema().field(0).data_type().clone();
        assert_eq!(of([Label::from(true), Label::from(false)]), DataType::Boolean);
        assert_eq!(of([Label::from(1), Label::from(2)]), DataType::Int64);
        assert_eq!(of([1.0, 2.0].map(|x| Label::try_from(x).expect("whole"))), DataType::Float64);
        assert_eq!(of([Label::from("1"), Label::from("2")]), DataType::Utf8);
        assert_eq!(of([Label::from(1), Label::from("b")]), DataType::Utf8);
    }

    #[test]
    fn ids_come_back_as_they_were() {
        use DataType as T;
        let zone = |name: &str| Some(name.into());
        let coded = T::Dictionary(Box::new(T::Int8), Box::new(T::Int64));
        let ids = [
            ("text", T::Utf8, [Some("a"), None]),
            ("large", T::LargeUtf8, [Some(""), Some("é")]),
            ("i64", T::Int64, [Some("-9223372036854775808"), None]),
            ("u64", T::UInt64, [Some("18446744073709551615"), Some("0")]),
            ("u8", T::UInt8, [Some("255"), None]),
            ("bool", T::Boolean, [Some("true"), Some("false")]),
            ("f64", T::Float64, [Some("0.1"), Some("10000000000000000.0")]),
            ("f32", T::Float32, [Some("0.1"), Some("inf")]),
            ("binary", T::Binary, [Some("a"), None]),
            ("date", T::Date32, [Some("2024-02-29"), Some("1969-12-31")]),
            ("naive", T::Timestamp(TimeUnit::Microsecond, None), [Some("2024-02-29T01:02:03.000004"), None]),
            (
                "utc",
                T::Timestamp(TimeUnit::Nanosecond, zone("UTC")),
                [Some("2024-02-29T01:02:03.000000004Z"), None],
            ),
            (
                "paris",
                T::Timestamp(TimeUnit::Millisecond, zone("Europe/Paris")),
                [Some("2024-07-01T01:02:03Z"), None],
            ),
            ("time", T::Time64(TimeUnit::Nanosecond), [Some("01:02:03.000000004"), None]),
            ("dec", T::Decimal128(38, 2), [Some("123456789012345678901234567890.50"), Some("-0.05")]),
        ];
        let nearest = [
            ("coded", coded, T::Int64, [Some("7"), None]),
            ("view", T::Utf8View, T::Utf8, [Some("a"), None]),
            ("null", T::Null, T::Utf8, [None, None]),
            ("f16", T::Float16, T::Float32, [Some("1.5"), None]),
            (
                "second",
                T::Time32(TimeUnit::Second),
                T::Time32(TimeUnit::Millisecond),
                [Some("01:02:03"), None],
            ),
            (
                "date64",
                T::Date64,
                T::Timestamp(TimeUnit::Millisecond, None),
                [Some("2024-02-29T00:00:00"), None],
            ),
            ("dec32", T::Decimal32(7, 2), T::Decimal128(7, 2), [Some("1.50"), None]),
            ("dec256", T::Decimal256(38, 0), T::Decimal128(38, 0), [Some("7"), None]),
            ("wide", T::Decimal256(39, 0), T::Utf8, [Some("7"), None]),
            ("span", T::Duration(TimeUnit::Second), T::Utf8, [Some("PT1S"), None]),
        ];
        let own = ids.map(|(name, of, texts)| (name, of.clone(), of, texts));
        for (name, from, to, texts) in own.into_iter().chain(nearest) {
            let bytes = write(&[(name, from, texts)], ["a", "b"].map(Label::from), &[]).expect(name);
            assert_eq!(*read(bytes.clone()).column(0).data_type(), to, "{name}");
            let file = tempfile::NamedTempFile::new().expect(name);
            std::fs::write(file.path(), &bytes).expect(name);
            let table = Table::open(&[file.path().to_owned()], &ReadOptions::default()).expect(name);
            let cells = |rows: &RowBlock| {
                let cell = |row| rows.cell(row, 0).map(<[u8]>::to_vec);
                (0..rows.n_rows()).map(cell).collect::<Vec<_>>()
            };
            let cells = table.map_blocks(cells).next().expect(name).expect(name);
            assert_eq!(cells, texts.map(|text| text.map(|text| text.as_bytes().to_vec())), "{name}");
        }
    }

    #[test]
    fn an_id_that_is_not_of_its_type_is_refused() {
        for of in [DataType::Int8, DataType::Boolean, DataType::Date32, DataType::Decimal128(5, 2)] {
            let said = format!("column `id`: expected a value of type {of}, found `many`");
            let refused = write(&[("id", of, [Some("many"), None])], ["a", "b"].map(Label::from), &[]);
            assert_eq!(refused.expect_err("no such value").to_string(), said);
        }
    }

    #[test]
    fn columns_of_unequal_length_are_refused() {
        let decisions = decide(["a", "b"].map(Label::from));
        let (mut short, mut unasked) = (decisions.clone(), decisions.clone());
        short.margin.as_mut().expect("asked for").pop();
        unasked.possibility = None;
        let (names, id_types) = (["id".to_owned()], vec![DataType::Utf8]);
        let header = OutputHeader {
            ids: &names,
            id_types,
            columns: &ALL,
            classes: decisions.classes(),
            abstains: false,
        };
        let mut writer = ParquetWriter::new(Vec::new(), &header).expect("a file");
        let ids = [[None, None].into_iter().collect::<TextColumn>()];
        for (ids, decisions) in [(&ids[..], &short), (&ids[..], &unasked), (&[], &decisions)] {
            assert!(writer.write(&block(ids, decisions)).is_err());
        }
        assert!(writer.write(&block(&ids, &decisions)).is_ok());
    }

    #[test]
    fn a_closed_pipe_is_known_as_such() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let decisions = decide(["a", "b"].map(Label::from));
        let classes = decisions.classes();
        let header = OutputHeader { ids: &[], id_types: Vec::new(), columns: &[], classes, abstains: false };
        let written = ParquetWriter::new(Closed, &header).and_then(|mut writer| {
            writer.write(&block(&[], &decisions))?;
            writer.finish()
        });
        assert_eq!(written.expect_err("a closed pipe").kind(), io::ErrorKind::BrokenPipe);
    }
}
