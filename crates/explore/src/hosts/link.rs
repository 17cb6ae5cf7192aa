//! A connection that breaks quietly.
//!
//! The engine's threads panic when a connection ends without the engine's own farewell. So they never see that: a broken connection is noted for those that wait for a round, what is
//! written goes nowhere, and reading waits until what is read is not needed any more. Then it ends like a connection that was closed in order.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use timely::communication::allocator::zero_copy::stream::Stream;

/// How often a thread that waits for the network looks whether that is of any use still.
const LOOK: Duration = Duration::from_millis(100);

/// What the connections of a process share.
#[derive(Default)]
pub(super) struct Health {
    trouble: Mutex<Option<String>>,
    /// What comes from now on is not needed.
    closing: AtomicBool,
}

impl Health {
    /// What went wrong first.
    pub(super) fn trouble(&self) -> Option<String> {
        self.lock().clone()
    }

    pub(super) fn note(&self, what: String) {
        self.lock().get_or_insert(what);
    }

    pub(super) fn close(&self) {
        self.closing.store(true, SeqCst);
    }

    fn is_closing(&self) -> bool {
        self.closing.load(SeqCst)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to another process.
pub(super) struct Link {
    socket: TcpStream,
    /// What the other process is called.
    name: String,
    health: Arc<Health>,
    frame: Frame,
    lost: bool,
}

impl Link {
    pub(super) fn new(socket: TcpStream, name: String, health: Arc<Health>) -> Result<Link> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(LOOK))?;
        socket.set_write_timeout(Some(LOOK))?;
        Ok(Link {
            socket,
            name,
            health,
            frame: Frame::default(),
            lost: false,
        })
    }

    fn lose(&mut self, why: &str) {
        self.lost = true;
        if !self.health.is_closing() {
            self.health.note(format!("{} is gone ({why})", self.name));
        }
    }

    /// What brings the engine's reader to its end: zeros that complete what was begun, and then the header that says farewell, which is all zeros, too.
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let length = self.frame.missing().min(buffer.len());
        buffer[..length].fill(0);
        self.frame.read(&buffer[..length]);
        length
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            if self.frame.ended {
                if !self.health.is_closing() {
                    self.lose("it has ended");
                }
                return Ok(0);
            }
            if self.lost {
                if self.health.is_closing() {
                    return Ok(self.fill(buffer));
                }
                std::thread::sleep(LOOK);
                continue;
            }
            match self.socket.read(buffer) {
                Ok(0) => self.lose("the connection was closed"),
                Ok(length) => {
                    self.frame.read(&buffer[..length]);
                    return Ok(length);
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    // What comes now is of no use to anybody.
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                        self.lost = self.health.is_closing();
                    }
                    _ => self.lose(&error.to_string()),
                },
            }
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        loop {
            if self.lost {
                return Ok(bytes.len());
            }
            match self.socket.write(bytes) {
                Ok(0) => self.lose("the connection was closed"),
                Ok(length) => return Ok(length),
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                        self.lost = self.health.is_closing();
                    }
                    _ => self.lose(&error.to_string()),
                },
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Stream for Link {
    fn try_clone(&self) -> Result<Link> {
        Ok(Link {
            socket: self.socket.try_clone()?,
            name: self.name.clone(),
            health: Arc::clone(&self.health),
            frame: Frame::default(),
            lost: false,
        })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> Result<()> {
        // It may be broken already.
        let _ = self.socket.shutdown(how);
        Ok(())
    }
}

/// Where in the engine's messages a reader is: each is a header of six numbers, of which the fifth says how many bytes follow. Without any, it is a farewell.
struct Frame {
    header: [u8; HEADER],
    have: usize,
    payload: usize,
    ended: bool,
}

const HEADER: usize = 48;
const LENGTH: std::ops::Range<usize> = 32..40;

impl Default for Frame {
    fn default() -> Self {
        Frame {
            header: [0; HEADER],
            have: 0,
            payload: 0,
            ended: false,
        }
    }
}

impl Frame {
    fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.ended {
            if self.payload > 0 {
                let some = self.payload.min(bytes.len());
                self.payload -= some;
                bytes = &bytes[some..];
                continue;
            }
            let some = (HEADER - self.have).min(bytes.len());
            self.header[self.have..self.have + some].copy_from_slice(&bytes[..some]);
            self.have += some;
            bytes = &bytes[some..];
            if self.have == HEADER {
                self.have = 0;
                let mut length = [0; 8];
                length.copy_from_slice(&self.header[LENGTH]);
                self.payload = u64::from_be_bytes(length) as usize;
                self.ended = self.payload == 0;
            }
        }
    }

    /// How many bytes are missing to the end of what was begun, at least.
    fn missing(&self) -> usize {
        match self.payload {
            0 => HEADER - self.have,
            payload => payload,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_read_comes_to_an_end() {
        let mut message = vec![0; HEADER];
        message[LENGTH.end - 1] = 10;
        message.extend([7; 10]);
        for cut in 0..=message.len() {
            let mut frame = Frame::default();
            for byte in &message[..cut] {
                frame.read(&[*byte]);
            }
            assert!(!frame.ended);
            let mut steps = 0;
            while !frame.ended {
                frame.read(&vec![0; frame.missing()]);
                steps += 1;
            }
            assert!(steps <= 3, "{cut}");
        }
    }
}
