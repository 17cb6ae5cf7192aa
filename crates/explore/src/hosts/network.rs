//! The rounds on the dataflow engine: one dataflow, in which batches go to the process that they are for, with a time for each round.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Result;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::Allocator;
use timely::communication::Hooks;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use super::link::{Health, Link};
use super::{Batch, WaitLimit};

/// How often a wait is interrupted to see whether it is still of use.
const LOOK: Duration = Duration::from_millis(20);
/// How long a process that is done waits for the others to be so, too.
const FAREWELL: Duration = Duration::from_secs(5);

enum Command {
    Send(Batch),
    Round,
}

/// The engine, which has a thread of its own.
pub(super) struct Network {
    commands: Option<Sender<Command>>,
    rounds: Receiver<Vec<Batch>>,
    health: Arc<Health>,
    thread: Option<JoinHandle<()>>,
}

impl Network {
    pub(super) fn new(
        sockets: Vec<Option<TcpStream>>,
        process: usize,
        addresses: &[String],
    ) -> Result<Network> {
        let health = Arc::new(Health::default());
        let mut links = Vec::new();
        for (number, socket) in sockets.into_iter().enumerate() {
            let name = format!("process {number} ({})", addresses[number]);
            let link = socket.map(|socket| Link::new(socket, name, Arc::clone(&health)));
            links.push(link.transpose()?);
        }
        let (commands, orders) = channel();
        let (ended, rounds) = channel();
        let watched = Arc::clone(&health);
        let thread = Builder::new().name("hosts".into()).spawn(move || {
            if let Err(error) = serve(links, process, &orders, &ended, &watched) {
                watched.note(format!("the network failed ({error})"));
            }
        })?;
        Ok(Network {
            commands: Some(commands),
            rounds,
            health,
            thread: Some(thread),
        })
    }

    pub(super) fn send(&self, batch: Batch) {
        if let Some(commands) = &self.commands {
            // Where no thread listens any more, the round says so.
            let _ = commands.send(Command::Send(batch));
        }
    }

    pub(super) fn round(
        &self,
        wait_limit: WaitLimit<'_>,
    ) -> std::result::Result<Vec<Batch>, String> {
        if let Some(commands) = &self.commands {
            let _ = commands.send(Command::Round);
        }
        loop {
            match self.rounds.recv_timeout(LOOK) {
                Ok(mut batches) => {
                    batches.sort_by_key(|batch| batch.from);
                    return Ok(batches);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let trouble = self.health.trouble();
                    return Err(trouble.unwrap_or_else(|| "the network failed".into()));
                }
            }
            if let Some(why) = wait_limit.is_over() {
                self.health.note(why.into());
            }
        }
    }
}

impl Drop for Network {
    /// A process that is done lets the others have what it has sent: they may not be so far.
    fn drop(&mut self) {
        if self.health.trouble().is_none() {
            let wait_limit = WaitLimit {
                cancel: None,
                deadline: Some(Instant::now() + FAREWELL),
            };
            let _ = self.round(wait_limit);
        }
        self.health.close();
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Does what it is told to, until there is nothing left to tell it or a connection is broken.
fn serve(
    links: Vec<Option<Link>>,
    process: usize,
    orders: &Receiver<Command>,
    ended: &Sender<Vec<Batch>>,
    health: &Arc<Health>,
) -> Result<()> {
    let hooks = Hooks::default();
    let inner = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), hooks.spill.clone());
    let (builders, threads) = initialize_networking_from_sockets(inner, links, process, 1, hooks)?;
    for builder in builders {
        let allocator = Allocator::Tcp(builder.build());
        // Without a clock, a worker never sleeps: it would take a whole processor for waiting.
        let clock = Some(Instant::now());
        let mut worker = Worker::new(WorkerConfig::default(), allocator, clock);
        run(&mut worker, orders, ended, health);
    }
    // What is sent is on its way when these threads have ended.
    health.close();
    drop(threads);
    Ok(())
}

fn run(
    worker: &mut Worker,
    orders: &Receiver<Command>,
    ended: &Sender<Vec<Batch>>,
    health: &Health,
) {
    let mut input = InputHandle::new();
    // By their rounds: a process that is ahead sends for the next one already.
    let arrived: Rc<RefCell<BTreeMap<u64, Vec<Batch>>>> = Rc::default();
    let arrivals = Rc::clone(&arrived);
    let probe = ProbeHandle::new();
    worker.dataflow::<u64, _, _>(|scope| {
        let stream = scope.input_from(&mut input);
        let route = Exchange::new(|batch: &Batch| batch.to as u64);
        let done = stream.unary::<timely::container::CapacityContainerBuilder<Vec<()>>, _, _, _>(
            route,
            "arrivals",
            |_, _| {
                move |input, _| {
                    input.for_each_time(|time, data| {
                        let mut arrivals = arrivals.borrow_mut();
                        let arrivals = arrivals.entry(*time.time()).or_default();
                        data.for_each(|batches| arrivals.append(batches));
                    });
                }
            },
        );
        done.probe_with(&probe);
    });
    let mut round = 0;
    while let Ok(order) = orders.recv() {
        match order {
            Command::Send(batch) => {
                input.send(batch);
                input.flush();
                worker.step();
            }
            Command::Round => {
                round += 1;
                input.advance_to(round);
                while probe.less_than(&round) {
                    // What has come before a connection broke counts.
                    let lost = health.trouble().is_some();
                    worker.step_or_park(Some(if lost { Duration::ZERO } else { LOOK }));
                    if lost && !worker.step() | probe.less_than(&round) {
                        return;
                    }
                }
                let batches = arrived.borrow_mut().remove(&(round - 1));
                if ended.send(batches.unwrap_or_default()).is_err() {
                    return;
                }
            }
        }
    }
}
