//! Scratch on the rows of a table: in parallel, some rows at a time, with its results in the order of the rows.
//!
//! A text is read by a thread of its own, which hands every block to whatever core is free and stops when too
//! many results wait: memory does not grow with the rows, and reading goes on while results are used.

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
use crate::arrow;
use crate::{
    Table,
    block::{Block, Cutter, SIZE},
    cells::{Cells, Complaint},
    error::{Error, Place},
    rows::{Held, Rows, Sheet},
    table::Part,
};

/// Blocks of a text worked on ahead: about as many as are counted in one go.
const AHEAD: usize = 128;

/// Batches of columns worked on ahead.
#[cfg(feature = "arrow")]
const BATCHES_AHEAD: usize = 16;

type Scratch<T> = Arc<dyn Fn(&Rows) -> T + Send + Sync>;

/// What will be the result of a block.
type Ticket<T> = Receiver<(T, Option<Complaint>)>;

/// The results of work on a table.
pub struct Worked<T> {
    table: Table,
    work: Scratch<T>,
    now: Option<Now<T>>,
    /// What is wrong after the last result.
    complaint: Option<Error>,
}

/// The file being read.
enum Now<T> {
    /// A long block takes the room of several, which are then empty.
    Text { place: Place, tickets: Receiver<io::Result<Option<Ticket<T>>>> },
    #[cfg(feature = "arrow")]
    Arrow {
        sheet: Arc<Sheet>,
        batches: Box<arrow::Batches>,
        tickets: VecDeque<Ticket<T>>,
        end: Option<Error>,
    },
}

impl<T: Send + 'static> Worked<T> {
    /// Works on every row of a table.
    pub(super) fn new(table: Table, work: impl Fn(&Rows) -> T + Send + Sync + 'static) -> Self {
        Self { table, work: Arc::new(work), now: None, complaint: None }
    }

    /// Begins with a file other than those of the table.
    #[cfg(test)]
    pub(super) fn with(mut self, part: Part, sheet: Sheet) -> Result<Self, Error> {
        self.now = Some(self.begin(part, sheet)?);
        Ok(self)
    }

    /// The table, whose rows are gone.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The next result; none after the last.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a row that has not one cell per column, [`Error::Io`].
    pub fn next(&mut self) -> Result<Option<T>, Error> {
        if let Some(error) = self.complaint.take() {
            return Err(error);
        }
        loop {
            if self.now.is_none() {
                let Some((part, sheet)) = self.table.next_part()? else { return Ok(None) };
                self.now = Some(self.begin(part, sheet)?);
            }
            match self.receive()? {
                Some(result) => return Ok(Some(result)),
                None => self.now = None,
            }
        }
    }

    fn begin(&self, part: Part, sheet: Sheet) -> Result<Now<T>, Error> {
        let sheet = Arc::new(sheet);
        match part {
            Part::Text(text) => {
                let place = sheet.place.clone();
                let (sender, tickets) = sync_channel(AHEAD);
                let desk = Desk { sheet, delimiter: text.delimiter(), work: Arc::clone(&self.work) };
                let (first, cutter) = text.into_rows();
                if cutter.is_done() {
                    desk.read(first, cutter, &sender);
                } else {
                    let read = move || desk.read(first, cutter, &sender);
                    let thread = thread::Builder::new().name("reading".to_owned());
                    thread.spawn(read).map_err(|source| place.io("a table", source))?;
                }
                Ok(Now::Text { place, tickets })
            }
            #[cfg(feature = "arrow")]
            Part::Arrow(batches) => Ok(Now::Arrow { sheet, batches, tickets: VecDeque::new(), end: None }),
        }
    }

    /// The next result of the present file.
    fn receive(&mut self) -> Result<Option<T>, Error> {
        let (place, ticket) = match &mut self.now {
            None => return Ok(None),
            Some(Now::Text { place, tickets }) => {
                let ticket = loop {
                    match tickets.recv() {
                        Ok(Ok(Some(ticket))) => break ticket,
                        Ok(Ok(None)) => {}
                        Ok(Err(source)) => return Err(place.io("a table", source)),
                        Err(_) => return Ok(None),
                    }
                };
                (&*place, ticket)
            }
            #[cfg(feature = "arrow")]
            Some(Now::Arrow { sheet, batches, tickets, end }) => {
                while tickets.len() < BATCHES_AHEAD && end.is_none() {
                    if let Some(progress) = sheet.reading.progress {
                        progress(batches.n_read(), batches.n_rows_hint());
                    }
                    match batches.next() {
                        Ok(Some(batch)) => {
                            let rows = Rows { sheet: Arc::clone(sheet), held: Held::Arrow(batch) };
                            let work = Arc::clone(&self.work);
                            tickets.push_back(spawn(move || (work(&rows), None)));
                        }
                        Ok(None) => break,
                        Err(fault) => *end = Some(fault.at(&sheet.place)),
                    }
                }
                match tickets.pop_front() {
                    Some(ticket) => (&sheet.place, ticket),
                    None => return end.take().map_or(Ok(None), Err),
                }
            }
        };
        // The work ends with a result, or the whole process with it.
        let Ok((result, complaint)) = ticket.recv() else { return Ok(None) };
        self.complaint =
            complaint.map(|Complaint { line, expected, found }| place.line(line).refused(expected, found));
        Ok(Some(result))
    }
}

fn spawn<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Receiver<R> {
    let (sender, receiver) = sync_channel(1);
    rayon::spawn(move || {
        // Nobody waits for it any more if something else went wrong.
        let _ = sender.send(work());
    });
    receiver
}

/// Where blocks are handed out to be worked on.
struct Desk<T> {
    sheet: Arc<Sheet>,
    delimiter: u8,
    work: Scratch<T>,
}

impl<T: Send + 'static> Desk<T> {
    /// Hands out blocks until there are no more or nobody wants results.
    fn read(&self, first: Block, mut cutter: Cutter, tickets: &SyncSender<io::Result<Option<Ticket<T>>>>) {
        let spares = Arc::new(Spares::default());
        let mut block = first;
        loop {
            let room = (block.bytes.len() / SIZE).clamp(1, AHEAD / 2);
            if tickets.send(Ok(Some(self.hand_out(block, &spares)))).is_err() {
                return;
            }
            if (1..room).any(|_| tickets.send(Ok(None)).is_err()) {
                return;
            }
            block = match cutter.next(spares.bytes()) {
                Ok(Some(block)) => block,
                Ok(None) => return,
                Err(failure) => {
                    let _ = tickets.send(Err(failure));
                    return;
                }
            };
        }
    }

    fn hand_out(&self, block: Block, spares: &Arc<Spares>) -> Ticket<T> {
        let (sheet, work, spares) = (Arc::clone(&self.sheet), Arc::clone(&self.work), Arc::clone(spares));
        let delimiter = self.delimiter;
        spawn(move || {
            let width = sheet.header.len();
            let (cells, complaint) = Cells::new(block, delimiter, width, spares.cells());
            let rows = Rows { sheet, held: Held::Text(cells) };
            let result = work(&rows);
            spares.take_back(rows);
            (result, complaint)
        })
    }
}

/// Memory of blocks that are done with: new memory costs more than to read what is put into it.
#[derive(Default)]
struct Spares {
    bytes: Mutex<Vec<Vec<u8>>>,
    cells: Mutex<Vec<Cells>>,
}

impl Spares {
    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn cells(&self) -> Cells {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    #[cfg_attr(not(feature = "arrow"), allow(clippy::infallible_destructuring_match))]
    fn take_back(&self, rows: Rows) {
        let cells = match rows.held {
            Held::Text(cells) => cells,
            #[cfg(feature = "arrow")]
            Held::Arrow(_) => return,
        };
        let (bytes, cells) = cells.recycle();
        // A long row's memory is not kept for short ones.
        if bytes.len() <= 2 * SIZE {
            self.bytes.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
            self.cells.lock().unwrap_or_else(PoisonError::into_inner).push(cells);
        }
    }
}
