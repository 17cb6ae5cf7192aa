//! How processes find each other: each listens at its own address, and calls those with smaller numbers.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::WaitLimit;

/// How long a process waits for the others to be started.
const WAIT: Duration = Duration::from_secs(60);
/// How long a caller may take to say who it is.
const GREETING: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// The first number of a greeting; another one where what is said afterwards is different.
const MAGIC: u64 = u64::from_be_bytes(*b"palisad1");

/// What a process says first.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Greeting {
    from: usize,
    to: usize,
    processes: usize,
    question: u64,
}

impl Greeting {
    fn numbers(self) -> [u64; 6] {
        let version = env!("CARGO_PKG_VERSION").bytes();
        let version = version.fold(0, |sum: u64, byte| {
            sum.wrapping_mul(257).wrapping_add(byte.into())
        });
        [
            MAGIC,
            version,
            self.from as u64,
            self.to as u64,
            self.processes as u64,
            self.question,
        ]
    }

    fn write(self, socket: &mut TcpStream) -> std::io::Result<()> {
        let bytes: Vec<u8> = self
            .numbers()
            .into_iter()
            .flat_map(u64::to_be_bytes)
            .collect();
        socket.write_all(&bytes)
    }

    /// Whether the other side says just this.
    fn is_heard(self, socket: &mut TcpStream) -> std::io::Result<bool> {
        let mut bytes = [0; 48];
        socket.read_exact(&mut bytes)?;
        let said = bytes.chunks_exact(8).map(|chunk| {
            let mut number = [0; 8];
            number.copy_from_slice(chunk);
            u64::from_be_bytes(number)
        });
        Ok(said.eq(self.numbers()))
    }
}

/// Connections to all others, each at the place of its number.
pub(super) fn meet(
    addresses: &[String],
    process: usize,
    question: u64,
    wait_limit: WaitLimit<'_>,
) -> Result<Vec<Option<TcpStream>>, String> {
    let mut sockets: Vec<Option<TcpStream>> = addresses.iter().map(|_| None).collect();
    let Some(own) = addresses.get(process) else {
        return Err(format!("there is no process {process}"));
    };
    let listener = TcpListener::bind(own)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|error| format!("{own} cannot be listened at ({error})"))?;
    let end = Instant::now() + WAIT;
    let greeting = |from, to| Greeting {
        from,
        to,
        processes: addresses.len(),
        question,
    };
    let mut refused = None;
    loop {
        for other in 0..process {
            if sockets[other].is_none() {
                match call(&addresses[other], greeting(process, other)) {
                    Ok(Some(socket)) => sockets[other] = Some(socket),
                    Ok(None) => refused = Some(other),
                    Err(_) => {}
                }
            }
        }
        while let Some((from, socket)) = answer(&listener, |from| greeting(from, process))? {
            sockets[from] = Some(socket);
        }
        let missing = (0..addresses.len()).find(|&i| i != process && sockets[i].is_none());
        let Some(missing) = missing else {
            return Ok(sockets);
        };
        if let Some(why) = wait_limit.is_over() {
            return Err(why.into());
        }
        if Instant::now() >= end {
            let address = &addresses[missing];
            return Err(match refused {
                Some(other) if other == missing => {
                    format!(
                        "process {missing} ({address}) is of another version or asks another question"
                    )
                }
                _ => format!("process {missing} ({address}) did not answer"),
            });
        }
        std::thread::sleep(PAUSE);
    }
}

/// Calls a process: none if it is not the one that is meant.
fn call(address: &str, greeting: Greeting) -> std::io::Result<Option<TcpStream>> {
    let place = address.to_socket_addrs()?.next();
    let Some(place) = place else {
        return Ok(None);
    };
    let mut socket = TcpStream::connect_timeout(&place, GREETING)?;
    prepare(&socket)?;
    greeting.write(&mut socket)?;
    let back = Greeting {
        from: greeting.to,
        to: greeting.from,
        ..greeting
    };
    match back.is_heard(&mut socket) {
        Ok(true) => Ok(Some(socket)),
        // It hangs up on those that it does not know.
        _ => Ok(None),
    }
}

/// The next caller that is one of the processes, if there is a call.
fn answer(
    listener: &TcpListener,
    greeting: impl Fn(usize) -> Greeting,
) -> Result<Option<(usize, TcpStream)>, String> {
    loop {
        let mut socket = match listener.accept() {
            Ok((socket, _)) => socket,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => return Ok(None),
                ErrorKind::Interrupted | ErrorKind::ConnectionAborted => continue,
                _ => return Err(format!("no process can be listened to ({error})")),
            },
        };
        let heard = || -> std::io::Result<Option<usize>> {
            socket.set_nonblocking(false)?;
            prepare(&socket)?;
            let mut bytes = [0; 48];
            socket.read_exact(&mut bytes)?;
            let own = greeting(0);
            for from in own.to + 1..own.processes {
                let said = greeting(from).numbers();
                if said.iter().flat_map(|n| n.to_be_bytes()).eq(bytes) {
                    let back = Greeting {
                        from: own.to,
                        to: from,
                        ..own
                    };
                    back.write(&mut socket)?;
                    return Ok(Some(from));
                }
            }
            Ok(None)
        };
        if let Ok(Some(from)) = { heard }() {
            return Ok(Some((from, socket)));
        }
    }
}

fn prepare(socket: &TcpStream) -> std::io::Result<()> {
    socket.set_read_timeout(Some(GREETING))?;
    socket.set_write_timeout(Some(GREETING))?;
    // A machine that is switched off says nothing: its silence has to be noticed.
    let options = socket2::SockRef::from(socket);
    let asking = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(10))
        .with_interval(Duration::from_secs(5));
    options.set_tcp_keepalive(&asking)?;
    #[cfg(target_os = "linux")]
    options.set_tcp_user_timeout(Some(Duration::from_secs(30)))?;
    Ok(())
}
