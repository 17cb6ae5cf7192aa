//! What orders cost: tables of prices, and how often a point is executed.

use palisade_lang::{Order, Ordered, Program, Repair};
use serde::Deserialize;

use crate::costs::Profile;
use crate::execution::Strength;
use crate::orders::Slot;

/// Larger prices would not be exact in the integer program.
const MOST: u64 = 1_000_000;

/// The tables of machines that are shipped, by name.
pub const SHIPPED: &[(&str, &str)] = &[
    ("x86-64", include_str!("../prices/x86-64.toml")),
    ("aarch64", include_str!("../prices/aarch64.toml")),
    ("riscv", include_str!("../prices/riscv.toml")),
];

/// What each order costs on some machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Where the numbers come from.
    pub source: String,
    load: Reading,
    store: Writing,
    rmw: Both,
    failure: Reading,
    fence: Fences,
    exchange: Both,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    relaxed: u64,
    acquire: u64,
    seqcst: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Writing {
    relaxed: u64,
    release: u64,
    seqcst: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Both {
    relaxed: u64,
    acquire: u64,
    release: u64,
    acqrel: u64,
    seqcst: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fences {
    acquire: u64,
    release: u64,
    acqrel: u64,
    seqcst: u64,
}

impl Prices {
    /// Reads a table in TOML: `source`, and for `load`, `store`, `rmw`, `failure` (a compare-and-swap that fails), `fence` and `exchange` (in the place of
    /// a store) what each order costs. Where it cannot be read, says why.
    pub fn parse(text: &str) -> Result<Prices, String> {
        let prices: Prices = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', "; ");
            match error.span() {
                Some(span) => {
                    let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                    format!("line {line}: {message}")
                }
                None => message,
            }
        })?;
        let all = [
            [prices.load.relaxed, prices.load.acquire, prices.load.seqcst],
            [
                prices.store.relaxed,
                prices.store.release,
                prices.store.seqcst,
            ],
            [
                prices.failure.relaxed,
                prices.failure.acquire,
                prices.failure.seqcst,
            ],
        ];
        let of_both = |b: &Both| [b.relaxed, b.acquire, b.release, b.acqrel, b.seqcst];
        let fence = &prices.fence;
        let fences = [0, fence.acquire, fence.release, fence.acqrel, fence.seqcst];
        let wide = [of_both(&prices.rmw), of_both(&prices.exchange), fences];
        let mut numbers = all.iter().flatten().chain(wide.iter().flatten());
        if let Some(price) = numbers.find(|price| **price > MOST) {
            return Err(format!("the price {price} is larger than {MOST}"));
        }
        let grows = all.iter().all(|p| p.is_sorted())
            && wide
                .iter()
                .all(|&[relaxed, acquire, release, acqrel, seqcst]| {
                    relaxed <= acquire.min(release)
                        && acquire.max(release) <= acqrel
                        && acqrel <= seqcst
                });
        match grows {
            true => Ok(prices),
            false => Err("a stronger order costs less than a weaker one".to_owned()),
        }
    }

    /// No machine: each step above relaxed costs 1, and a fence costs one more than a read-modify-write with its order. Good for reading: the answer is what has
    /// the fewest strong orders.
    pub fn unit() -> Prices {
        let both = |relaxed| Both {
            relaxed,
            acquire: relaxed + 1,
            release: relaxed + 1,
            acqrel: relaxed + 2,
            seqcst: relaxed + 3,
        };
        let reading = || Reading {
            relaxed: 0,
            acquire: 1,
            seqcst: 2,
        };
        Prices {
            source: "each step above relaxed costs 1".to_owned(),
            load: reading(),
            store: Writing {
                relaxed: 0,
                release: 1,
                seqcst: 2,
            },
            rmw: both(0),
            failure: reading(),
            fence: Fences {
                acquire: 2,
                release: 2,
                acqrel: 3,
                seqcst: 4,
            },
            exchange: both(2),
        }
    }

    /// `unit`, or a table that is shipped.
    pub fn shipped(name: &str) -> Option<Prices> {
        if name == "unit" {
            return Some(Prices::unit());
        }
        let (_, text) = SHIPPED.iter().find(|(other, _)| *other == name)?;
        Prices::parse(text).ok()
    }

    fn of(&self, what: Ordered, strength: Strength) -> u64 {
        let both = |table: &Both| match strength.order(true, true) {
            Order::Acquire => table.acquire,
            Order::Release => table.release,
            Order::AcqRel => table.acqrel,
            Order::SeqCst => table.seqcst,
            Order::Relaxed | Order::NonAtomic => table.relaxed,
        };
        let reading = |table: &Reading| match strength.order(true, false) {
            Order::SeqCst => table.seqcst,
            Order::Acquire => table.acquire,
            _ => table.relaxed,
        };
        match what {
            Ordered::Load => reading(&self.load),
            Ordered::Failure => reading(&self.failure),
            Ordered::Store if strength.contains(Strength::EXCHANGE) => both(&self.exchange),
            Ordered::Store => match strength.order(false, true) {
                Order::SeqCst => self.store.seqcst,
                Order::Release => self.store.release,
                _ => self.store.relaxed,
            },
            Ordered::Rmw => both(&self.rmw),
            Ordered::Fence => match strength.order(true, true) {
                Order::Acquire => self.fence.acquire,
                Order::Release => self.fence.release,
                Order::AcqRel => self.fence.acqrel,
                Order::SeqCst => self.fence.seqcst,
                Order::Relaxed | Order::NonAtomic => 0,
            },
        }
    }
}

/// What the orders of a program cost.
#[derive(Clone, Debug)]
pub struct OrderCosts {
    /// For one execution.
    pub prices: Prices,
    /// How often each point is executed.
    pub profile: Option<Profile>,
}

impl OrderCosts {
    /// What a slot costs with an order.
    pub(crate) fn of(&self, program: &Program, slot: Slot, strength: Strength) -> u64 {
        let (what, point) = match slot {
            Slot::Site(site) => (site.what, Repair::Keep(site.span)),
            Slot::Place(place) => (Ordered::Fence, Repair::Fence(place)),
        };
        let _ = program;
        let times = self.profile.as_ref().map_or(1, |p| p.cost(point));
        self.prices.of(what, strength) * times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_can_be_read() {
        for (name, _) in SHIPPED {
            let prices = Prices::shipped(name);
            assert!(prices.is_some_and(|p| p.source.len() > 20), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let arm = SHIPPED[1].1;
        let wrong = |from: &str, to: &str| Prices::parse(&arm.replacen(from, to, 1)).unwrap_err();
        assert!(wrong("acquire = 2", "acquire = 9").contains("a stronger order costs less"));
        assert!(wrong("acquire = 2", "acqiure = 2").contains("unknown field"));
        assert!(wrong("acquire = 2", "acquire = 9000000").contains("larger than"));
    }
}
