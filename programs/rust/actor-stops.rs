// An actor that stops drops the questions that it has not answered, so nobody waits for an answer that never comes.
// expect c20 safe: holds
use std::sync::mpsc::{self, Sender};
use std::thread;

enum Message {
    Ask(Sender<u32>),
    Stop,
}

fn main() {
    let (sender, receiver) = mpsc::channel();
    let actor = thread::spawn(move || {
        while let Ok(Message::Ask(answer)) = receiver.recv() {
            answer.send(1).unwrap();
        }
    });
    let asks = sender.clone();
    let asker = thread::spawn(move || {
        let (answer, answers) = mpsc::channel();
        match asks.send(Message::Ask(answer)) {
            Ok(()) => answers.recv().unwrap_or(0),
            Err(_) => 0,
        }
    });
    sender.send(Message::Stop).unwrap();
    assert!(asker.join().unwrap() <= 1);
    actor.join().unwrap();
}
