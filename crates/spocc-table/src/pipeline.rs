//! Applies a function to all rows of a table: in parallel, one block of rows at a time, with results in the order of
//! the rows.
//!
//! A thread reads a text file and hands each block to the thread pool, where a worker splits it into cells and applies
//! the function. The reader waits when too many results are not yet taken, so that memory does not grow with the file.
//! Batches of a column file are decoded by the caller's thread and handed to the pool in the same way.

#[cfg(feature = "arrow")]
use std::collections::VecDeque;
use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

#[cfg(feature = "arrow")]
use crate::arrow::ColumnFile;
use crate::{
    Table,
    error::{Error, Location},
    limits,
    row_block::{CellStorage, FileLayout, RowBlock},
    table_file::TableFile,
    text_blocks::{BLOCK_SIZE, BlockReader, TextBlock},
    text_cells::{RowError, TextCells},
};

type BlockFn<T> = Arc<dyn Fn(&RowBlock) -> T + Send + Sync>;

/// The result of a block, once it is there, and what is wrong with the row after it.
type PendingResult<T> = Receiver<(T, Option<RowError>)>;

/// The results of a function on the blocks of a table; see [`Table::map_blocks`].
pub struct BlockResults<T> {
    table: Table,
    function: BlockFn<T>,
    current: Option<CurrentFile<T>>,
    /// The error to return after the last result.
    error: Option<Error>,
}

/// The file being read.
enum CurrentFile<T> {
    /// A long block takes the room of several: `None` fills the rest.
    Text { file: Location, pending: Receiver<io::Result<Option<PendingResult<T>>>> },
    #[cfg(feature = "arrow")]
    Columns {
        layout: Arc<FileLayout>,
        columns: Box<ColumnFile>,
        pending: VecDeque<PendingResult<T>>,
        error: Option<Error>,
    },
}

impl<T: Send + 'static> BlockResults<T> {
    pub(crate) fn new(table: Table, function: impl Fn(&RowBlock) -> T + Send + Sync + 'static) -> Self {
        Self { table, function: Arc::new(function), current: None, error: None }
    }

    /// Starts with a file that is not one of the table's.
    #[cfg(test)]
    pub(crate) fn with_file(mut self, file: TableFile, layout: FileLayout) -> Result<Self, Error> {
        self.current = Some(self.start(file, layout)?);
        Ok(self)
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The next result; none after the last.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a row whose number of cells is not that of the columns, [`Error::Io`].
    // Callers use `?` on each result, which an iterator would make longer.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<T>, Error> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        loop {
            if self.current.is_none() {
                let Some((file, layout)) = self.table.next_file()? else { return Ok(None) };
                self.current = Some(self.start(file, layout)?);
            }
            match self.receive()? {
                Some(result) => return Ok(Some(result)),
                None => self.current = None,
            }
        }
    }

    fn start(&self, file: TableFile, layout: FileLayout) -> Result<CurrentFile<T>, Error> {
        let layout = Arc::new(layout);
        match file {
            TableFile::Text(text) => {
                let file = layout.file.clone();
                let (sender, pending) = sync_channel(limits::blocks_ahead(layout.options.memory));
                let function = Arc::clone(&self.function);
                let dispatcher = BlockDispatcher { layout, delimiter: text.delimiter(), function };
                let (first, reader) = text.into_blocks();
                if reader.is_done() {
                    dispatcher.run(first, reader, &sender);
                } else {
                    let run = move || dispatcher.run(first, reader, &sender);
                    let thread = thread::Builder::new().name("reading".to_owned());
                    thread.spawn(run).map_err(|source| file.io("a table", source))?;
                }
                Ok(CurrentFile::Text { file, pending })
            }
            #[cfg(feature = "arrow")]
            TableFile::Columns(columns) => {
                Ok(CurrentFile::Columns { layout, columns, pending: VecDeque::new(), error: None })
            }
        }
    }

    /// The next result of the current file.
    fn receive(&mut self) -> Result<Option<T>, Error> {
        let (file, pending) = match &mut self.current {
            None => return Ok(None),
            Some(CurrentFile::Text { file, pending }) => {
                let next = loop {
                    match pending.recv() {
                        Ok(Ok(Some(next))) => break next,
                        Ok(Ok(None)) => {}
                        Ok(Err(source)) => return Err(file.io("a table", source)),
                        Err(_) => return Ok(None),
                    }
                };
                (&*file, next)
            }
            #[cfg(feature = "arrow")]
            Some(CurrentFile::Columns { layout, columns, pending, error }) => {
                let ahead = limits::batches_ahead(layout.options.memory);
                while pending.len() < ahead && error.is_none() {
                    if let Some(progress) = layout.options.progress {
                        progress(columns.n_read(), columns.n_rows_hint());
                    }
                    match columns.next() {
                        Ok(Some(batch)) => {
                            let rows =
                                RowBlock { layout: Arc::clone(layout), cells: CellStorage::Columns(batch) };
                            let function = Arc::clone(&self.function);
                            pending.push_back(spawn(move || (function(&rows), None)));
                        }
                        Ok(None) => break,
                        Err(failure) => *error = Some(failure.at(&layout.file)),
                    }
                }
                match pending.pop_front() {
                    Some(next) => (&layout.file, next),
                    None => return error.take().map_or(Ok(None), Err),
                }
            }
        };
        // A task sends its result, or its panic ends the process.
        let Ok((result, error)) = pending.recv() else { return Ok(None) };
        self.error = error.map(|RowError { line, expected, found }| file.line(line).refused(expected, found));
        Ok(Some(result))
    }
}

/// Runs a task in the thread pool.
fn spawn<R: Send + 'static>(task: impl FnOnce() -> R + Send + 'static) -> Receiver<R> {
    let (sender, receiver) = sync_channel(1);
    rayon::spawn(move || {
        // The receiver is gone if an earlier block failed.
        let _ = sender.send(task());
    });
    receiver
}

/// Reads the blocks of a text file and hands each to a worker.
struct BlockDispatcher<T> {
    layout: Arc<FileLayout>,
    delimiter: u8,
    function: BlockFn<T>,
}

impl<T: Send + 'static> BlockDispatcher<T> {
    /// Dispatches blocks until the file ends or the receiver is gone.
    fn run(
        &self,
        first: TextBlock,
        mut reader: BlockReader,
        pending: &SyncSender<io::Result<Option<PendingResult<T>>>>,
    ) {
        let buffers = Arc::new(BufferPool::default());
        let ahead = limits::blocks_ahead(self.layout.options.memory);
        let mut block = first;
        loop {
            let room = (block.bytes.len() / BLOCK_SIZE).clamp(1, ahead / 2);
            if pending.send(Ok(Some(self.dispatch(block, &buffers)))).is_err() {
                return;
            }
            if (1..room).any(|_| pending.send(Ok(None)).is_err()) {
                return;
            }
            block = match reader.next(buffers.bytes()) {
                Ok(Some(block)) => block,
                Ok(None) => return,
                Err(failure) => {
                    let _ = pending.send(Err(failure));
                    return;
                }
            };
        }
    }

    fn dispatch(&self, block: TextBlock, buffers: &Arc<BufferPool>) -> PendingResult<T> {
        let (layout, function) = (Arc::clone(&self.layout), Arc::clone(&self.function));
        let (buffers, delimiter) = (Arc::clone(buffers), self.delimiter);
        spawn(move || {
            let width = layout.header.len();
            let (cells, error) = TextCells::new(block, delimiter, width, buffers.cells());
            let rows = RowBlock { layout, cells: CellStorage::Text(cells) };
            let result = function(&rows);
            buffers.recycle(rows);
            (result, error)
        })
    }
}

/// Buffers of finished blocks, used again: new memory costs more than the parsing that fills it.
#[derive(Default)]
struct BufferPool {
    bytes: Mutex<Vec<Vec<u8>>>,
    cells: Mutex<Vec<TextCells>>,
}

impl BufferPool {
    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn cells(&self) -> TextCells {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    #[cfg_attr(not(feature = "arrow"), allow(clippy::infallible_destructuring_match))]
    fn recycle(&self, rows: RowBlock) {
        let cells = match rows.cells {
            CellStorage::Text(cells) => cells,
            #[cfg(feature = "arrow")]
            CellStorage::Columns(_) => return,
        };
        let (bytes, cells) = cells.recycle();
        // The buffer of a very long row is not kept.
        if bytes.len() <= 2 * BLOCK_SIZE {
            self.bytes.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
            self.cells.lock().unwrap_or_else(PoisonError::into_inner).push(cells);
        }
    }
}
