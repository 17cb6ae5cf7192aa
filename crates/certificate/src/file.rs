//! The file.

use crate::numbers::put;
use crate::sorter::Sorted;
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, Read, Write};

/// How every certificate begins, whatever its version.
pub const NAME: &str = "palisade certificate ";

/// How a certificate begins.
pub const MAGIC: &str = "palisade certificate 3\n";

/// Longer states are refused when they are read: a file must not be able to ask for any amount of memory.
const MOST_BYTES: u64 = 1 << 20;
/// The bytes of a line of the header, at most.
const MOST_IN_LINE: usize = 200;

/// What a certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it shows.
    pub claim: Claim,
    /// The hash of the program and the claim.
    pub hash: String,
}

/// What a certificate shows, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The model.
    pub model: Model,
    /// The criterion.
    pub criterion: Criterion,
    /// On which locations races count.
    pub locations: Locations,
    /// What its states are.
    pub proof: Proof,
}

/// On which locations races count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locations {
    /// On those that are declared `nonatomic`, or on all where none is.
    Declared,
    /// On all.
    All,
}

/// What the states of a certificate are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// States of SC.
    States,
    /// States of SC, and of attacks that are on their way.
    Attacks,
    /// States of TSO: buffers of up to so many stores are as they are, longer ones lose the order of their stores.
    Buffers(u32),
    /// States of TSO with load buffers: all states without their buffers, and a backward basis.
    LoadBuffers,
    /// States of SC with monitors for RA.
    Monitors,
    /// States of RA: messages and views.
    Messages,
    /// States of SC with what may be suspected of one stale access, or race, for C++20.
    Suspects,
    /// For any number of threads: ideals and a backward basis, of states of SC, with attacks or monitors where the criterion needs them.
    Basis,
}

impl std::fmt::Display for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Proof::States => write!(f, "states"),
            Proof::Attacks => write!(f, "attacks"),
            Proof::Buffers(exact) => write!(f, "buffers {exact}"),
            Proof::LoadBuffers => write!(f, "load-buffers"),
            Proof::Monitors => write!(f, "monitors"),
            Proof::Messages => write!(f, "messages"),
            Proof::Suspects => write!(f, "suspects"),
            Proof::Basis => write!(f, "basis"),
        }
    }
}

impl Claim {
    /// That a criterion holds, by the proof that is usual for it; races on the declared locations.
    pub fn new(model: Model, criterion: Criterion) -> Claim {
        let proof = match (model, criterion) {
            (Model::Tso, Criterion::Robust | Criterion::Safe) => Proof::Attacks,
            (Model::Ra, _) => Proof::Monitors,
            (Model::C20 | Model::Rc11, _) => Proof::Suspects,
            _ => Proof::States,
        };
        Claim {
            model,
            criterion,
            locations: Locations::Declared,
            proof,
        }
    }

    fn to_text(self) -> String {
        let locations = match self.locations {
            Locations::Declared => "declared",
            Locations::All => "all",
        };
        let proof = self.proof;
        format!(
            "model {}\ncriterion {}\nlocations {locations}\nproof {proof}\n",
            self.model.name(),
            self.criterion.name(),
        )
    }

    fn parse(lines: &[String]) -> Option<Claim> {
        let [model, criterion, locations, proof] = lines else {
            return None;
        };
        let models = Model::ALL;
        let criteria = [
            Criterion::Safe,
            Criterion::Drf,
            Criterion::Trf,
            Criterion::Robust,
            Criterion::Persistent,
            Criterion::Observational,
            Criterion::Live,
        ];
        let model = model.strip_prefix("model ")?;
        let criterion = criterion.strip_prefix("criterion ")?;
        Some(Claim {
            model: models.into_iter().find(|m| m.name() == model)?,
            criterion: criteria.into_iter().find(|c| c.name() == criterion)?,
            locations: match locations.strip_prefix("locations ")? {
                "declared" => Locations::Declared,
                "all" => Locations::All,
                _ => return None,
            },
            proof: match proof.strip_prefix("proof ")? {
                "states" => Proof::States,
                "attacks" => Proof::Attacks,
                "load-buffers" => Proof::LoadBuffers,
                "monitors" => Proof::Monitors,
                "messages" => Proof::Messages,
                "suspects" => Proof::Suspects,
                "basis" => Proof::Basis,
                other => Proof::Buffers(other.strip_prefix("buffers ")?.parse().ok()?),
            },
        })
    }
}

impl Header {
    /// The header of a certificate that shows this about a program.
    pub fn new(program: &Program, claim: Claim) -> Header {
        Header {
            claim,
            hash: hash(program, claim),
        }
    }

    /// The beginning of the file.
    pub fn to_text(&self) -> String {
        format!("{MAGIC}{}hash {}\n\n", self.claim.to_text(), self.hash)
    }

    fn parse(lines: &[String]) -> Option<Header> {
        let (claim, [hash, empty]) = lines.split_last_chunk()?;
        let header = Header {
            claim: Claim::parse(claim)?,
            hash: hash.strip_prefix("hash ")?.to_owned(),
        };
        // What is read must be what would be written.
        let text = header.claim.to_text();
        (empty.is_empty() && text.lines().eq(claim.iter())).then_some(header)
    }
}

/// The hash of a claim and a program: of its text, its language and its domain.
fn hash(program: &Program, claim: Claim) -> String {
    let mut hash = Sha256::new();
    hash.update(claim.to_text());
    hash.update(format!("{:?} {:?}\n", program.language, program.domain));
    hash.update(program.source.whole_text());
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a certificate and says how many states it has.
pub fn write(header: &Header, states: &mut Sorted, out: &mut dyn Write) -> io::Result<u64> {
    out.write_all(header.to_text().as_bytes())?;
    let mut last: Vec<u8> = Vec::new();
    let mut lengths = Vec::new();
    let mut count = 0;
    while let Some(state) = states.next_string()? {
        let shared = last.iter().zip(state).take_while(|(a, b)| a == b).count();
        lengths.clear();
        put(shared as u64, &mut lengths);
        put((state.len() - shared) as u64, &mut lengths);
        out.write_all(&lengths)?;
        out.write_all(&state[shared..])?;
        last.clear();
        last.extend_from_slice(state);
        count += 1;
    }
    lengths.clear();
    put(0, &mut lengths);
    put(0, &mut lengths);
    put(count, &mut lengths);
    out.write_all(&lengths)?;
    Ok(count)
}

/// A line of the header, which is short.
fn header_line(input: &mut impl Read) -> Result<String, Unusable> {
    let mut line = Vec::new();
    loop {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        match byte[0] {
            b'\n' => break,
            _ if line.len() == MOST_IN_LINE => {
                return Err(Unusable::because("is not a certificate"));
            }
            byte => line.push(byte),
        }
    }
    String::from_utf8(line).map_err(|_| Unusable::because("is not a certificate"))
}

/// Why a file cannot be read as a certificate.
#[derive(Debug)]
pub struct Unusable(pub String);

impl Unusable {
    fn because(message: &str) -> Self {
        Unusable(message.to_owned())
    }
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Unusable::because("the certificate is cut short"),
            _ => Unusable(format!("cannot be read: {error}")),
        }
    }
}

/// Hashes what is read.
struct Hashing<R> {
    input: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(bytes)?;
        self.hash.update(&bytes[..read]);
        Ok(read)
    }
}

/// Reads a certificate, state by state.
pub struct Reader<R> {
    input: Hashing<R>,
    /// What it is about.
    pub header: Header,
    state: Vec<u8>,
    count: u64,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<Self, Unusable> {
        let mut input = Hashing {
            input,
            hash: Sha256::new(),
        };
        if format!("{}\n", header_line(&mut input)?) != MAGIC {
            return Err(Unusable::because(
                "is not a certificate that this version knows",
            ));
        }
        let mut lines = Vec::new();
        for _ in 0..6 {
            lines.push(header_line(&mut input)?);
        }
        let header = Header::parse(&lines)
            .ok_or_else(|| Unusable::because("the certificate does not say what it is about"))?;
        Ok(Reader {
            input,
            header,
            state: Vec::new(),
            count: 0,
            ended: false,
        })
    }

    /// The next state; `None` at the end, which must be the end of the file.
    pub fn next_state(&mut self) -> Result<Option<&[u8]>, Unusable> {
        if self.ended {
            return Ok(None);
        }
        let shared = self.number()?;
        let length = self.number()?;
        if (shared, length) == (0, 0) {
            let right = self.number()? == self.count;
            let mut more = [0];
            if !right || self.input.read(&mut more)? != 0 {
                return Err(Unusable::because(
                    "the certificate does not end as it should",
                ));
            }
            self.ended = true;
            return Ok(None);
        }
        if shared > self.state.len() as u64 || length > MOST_BYTES {
            return Err(Unusable::because("the certificate is damaged"));
        }
        let shared = shared as usize;
        let before = self.state.split_off(shared);
        let mut behind = vec![0; length as usize];
        self.input.read_exact(&mut behind)?;
        // Ascending order is what makes looking for a state by merging right.
        if self.count > 0 && behind <= before {
            return Err(Unusable::because("the states are not in ascending order"));
        }
        self.state.extend_from_slice(&behind);
        self.count += 1;
        Ok(Some(&self.state))
    }

    /// The hash of all bytes so far: two readings of one certificate that come to the same hash have read the same.
    pub fn digest(&self) -> [u8; 32] {
        self.input.hash.clone().finalize().into()
    }

    /// How many states have been read.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn number(&mut self) -> Result<u64, Unusable> {
        let mut number = 0u64;
        for shift in (0..63).step_by(7) {
            let mut byte = [0];
            self.input.read_exact(&mut byte)?;
            number |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Unusable::because("the certificate is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sorter;

    fn example() -> (Header, Vec<u8>) {
        let header = Header {
            claim: Claim::new(Model::Sc, Criterion::Safe),
            hash: "ab".repeat(32),
        };
        let mut sorter = Sorter::default();
        for state in [&b"one"[..], b"two", b"twofold", b"three", b"two"] {
            sorter.push(state).unwrap();
        }
        let mut file = Vec::new();
        write(&header, &mut sorter.finish().unwrap(), &mut file).unwrap();
        (header, file)
    }

    fn read(file: &[u8]) -> Result<Vec<Vec<u8>>, Unusable> {
        let mut reader = Reader::new(file)?;
        let mut states = Vec::new();
        while let Some(state) = reader.next_state()? {
            states.push(state.to_vec());
        }
        Ok(states)
    }

    #[test]
    fn there_and_back() {
        let (header, file) = example();
        assert_eq!(Reader::new(&file[..]).unwrap().header, header);
        let states: [&[u8]; 4] = [b"one", b"three", b"two", b"twofold"];
        assert_eq!(read(&file).unwrap(), states);
    }

    #[test]
    fn what_is_cut_or_longer_is_refused() {
        let (_, file) = example();
        for end in 0..file.len() {
            assert!(read(&file[..end]).is_err(), "{end}");
        }
        assert!(read(&[&file[..], b"x"].concat()).is_err());
    }

    #[test]
    fn no_change_of_a_byte_makes_it_fall_over() {
        let (_, file) = example();
        for at in 0..file.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[at] = byte;
                let _ = read(&changed);
            }
        }
    }
}
