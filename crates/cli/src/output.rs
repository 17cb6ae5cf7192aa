//! Where text goes: answers to standard output, everything else to standard error; colours as the streams can take them.

use crate::args::When;
use anstream::ColorChoice;
use palisade_report::{Look, Status};
use std::io::{ErrorKind, Write};

/// Answers are made for windows that are at least and at most so wide.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=120;

/// The two streams.
pub struct Output {
    colour: When,
    closed: bool,
    trouble: bool,
}

/// The reader of the answers has gone, or they cannot be written.
#[derive(Debug)]
pub struct Closed;

impl Output {
    /// The process' own streams.
    pub fn new(colour: When) -> Self {
        Output {
            colour,
            closed: false,
            trouble: false,
        }
    }

    /// How text on standard output is to look.
    pub fn look(&self) -> Look {
        let mut look = Look::PLAIN;
        look.colour = self.wants_colour(anstream::AutoStream::choice(&std::io::stdout()));
        if let Some((width, _)) = terminal_size::terminal_size_of(std::io::stdout()) {
            look.width = usize::from(width.0).clamp(*WIDTHS.start(), *WIDTHS.end());
            look.window = true;
        }
        look
    }

    /// How text on standard error is to look.
    pub fn error_look(&self) -> Look {
        Look {
            colour: self.wants_colour(anstream::AutoStream::choice(&std::io::stderr())),
            ..self.look()
        }
    }

    fn wants_colour(&self, auto: ColorChoice) -> bool {
        match self.colour {
            When::Always => true,
            When::Never => false,
            When::Auto => auto != ColorChoice::Never,
        }
    }

    /// Prints an answer, at once.
    pub fn answer(&mut self, text: &str) -> Result<(), Closed> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        drop(stdout);
        match written {
            Ok(()) => Ok(()),
            Err(error) => {
                self.closed = true;
                // A reader of only the first lines, such as `head`, has no need of a complaint.
                if error.kind() != ErrorKind::BrokenPipe {
                    self.trouble = true;
                    self.remark(&format!(
                        "error: the answer could not be written: {error}\n"
                    ));
                }
                Err(Closed)
            }
        }
    }

    /// Prints something that is no answer. It is not an error if its reader has gone.
    pub fn remark(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes());
        let _ = stderr.flush();
    }

    /// Complains about the call.
    pub fn complain(&self, text: &str) -> Status {
        self.remark(&format!("error: {text}\n"));
        Status::Error
    }

    /// The exit status, where answers may not have been read.
    pub fn finish(&self, status: Status) -> Status {
        if self.trouble {
            Status::Error
        } else if self.closed {
            status.max(Status::Unknown)
        } else {
            status
        }
    }
}
