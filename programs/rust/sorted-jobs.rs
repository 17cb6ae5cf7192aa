// Sorting, parsing, parts of slices, and iterators that stop early.
// expect c20 safe: holds
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

#[derive(Debug, Clone, PartialEq)]
struct Job {
    weight: u32,
    name: &'static str,
}

fn parse(words: &[&str]) -> Result<Vec<u32>, std::num::ParseIntError> {
    words.iter().map(|word| word.parse()).collect()
}

fn main() {
    let weights = parse(&["3", "10", "7"]).unwrap();
    let names = ["three", "ten", "seven"];
    let jobs = weights.into_iter().zip(names);
    sort(jobs.map(|(weight, name)| Job { weight, name }).collect());
    let (send, receive) = mpsc::channel();
    let worker = thread::spawn(move || {
        assert!(parse(&["1", "x"]).is_err());
        send.send(parse(&["-1"]).is_err()).unwrap();
    });
    assert_eq!(receive.recv(), Ok(true));
    worker.join().unwrap();
}

fn sort(mut jobs: Vec<Job>) {
    jobs.sort_by_key(|job| Reverse(job.weight));
    assert_eq!(jobs.iter().map(|job| job.name).collect::<Vec<_>>(), ["ten", "seven", "three"]);
    jobs.sort_by(|a, b| a.weight.cmp(&b.weight));
    assert_eq!(jobs[..2].iter().map(|job| job.weight).sum::<u32>(), 10);
    assert_eq!(jobs.get(1..).map(<[Job]>::len), Some(2));
    let total = jobs.iter().try_fold(0u32, |sum, job| sum.checked_add(job.weight));
    assert_eq!(total, Some(20));
    let (light, heavy): (Vec<u32>, Vec<u32>) = jobs.iter().map(|job| (job.weight, job.weight * 2)).unzip();
    assert!(light.iter().zip(&heavy).all(|(a, b)| a * 2 == *b));
    let all: Option<Vec<u32>> = jobs.iter().map(|job| job.weight.checked_sub(4)).collect();
    assert_eq!(all, None);

    let parent = Rc::new(OnceCell::new());
    let child = Rc::downgrade(&parent);
    assert_eq!(parent.get_or_init(|| 4), &4);
    assert_eq!(child.upgrade().and_then(|cell| cell.get().copied()), Some(4));
    drop(parent);
    assert!(child.upgrade().is_none());
}
