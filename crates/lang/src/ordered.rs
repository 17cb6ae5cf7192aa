//! The orders of accesses and fences: what of a program has one, and the program with other ones. How they are written into its text is in `reordered`.

use std::collections::BTreeMap;

use crate::program::{
    Address, Language, LocationId, Op, Order, PlaceId, Program, RmwAction, Thread, Transition,
};
use crate::source::Span;

/// What has an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ordered {
    /// A load or a `wait`.
    Load,
    /// A store.
    Store,
    /// A read-modify-write that writes.
    Rmw,
    /// A compare-and-swap that fails.
    Failure,
    /// A fence.
    Fence,
}

/// An access or a fence of the text and the order that it has there, written or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderSite {
    /// The text.
    pub span: Span,
    /// What it is.
    pub what: Ordered,
    /// Its order.
    pub order: Order,
}

/// A change of an order, or of what has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OrderChange {
    /// Another order.
    Order(OrderSite, Order),
    /// The store becomes an exchange with this order.
    Exchange(OrderSite, Order),
    /// The fence goes.
    NoFence(OrderSite),
    /// A new fence at a place.
    Fence(PlaceId, Order),
}

impl OrderChange {
    /// What is changed, where it is there already.
    pub fn site(&self) -> Option<OrderSite> {
        match self {
            OrderChange::Order(site, _)
            | OrderChange::Exchange(site, _)
            | OrderChange::NoFence(site) => Some(*site),
            OrderChange::Fence(..) => None,
        }
    }
}

impl Program {
    /// The accesses and fences that have an order, in the order of the text: those outside `atomic` blocks, but for accesses that are plain. One whose order
    /// is not the same wherever it is executed (it comes from a parameter) is left out.
    ///
    /// In `.tpl` the order of a `CAS` that fails is that of its read, and has no site of its own.
    pub fn order_sites(&self) -> Vec<OrderSite> {
        let mut orders: BTreeMap<(Span, Ordered), Vec<Order>> = BTreeMap::new();
        for thread in &self.threads {
            let swaps = swaps(thread);
            for transition in &thread.transitions {
                if thread.points[transition.from.index()].atomic {
                    continue;
                }
                for (what, order) in self.ordered(transition, &swaps) {
                    if what != Ordered::Failure || self.language != Language::Tpl {
                        orders
                            .entry((transition.span, what))
                            .or_default()
                            .push(order);
                    }
                }
            }
        }
        let uniform = |((span, what), orders): ((Span, Ordered), Vec<Order>)| {
            let order = orders[0];
            let site = OrderSite { span, what, order };
            orders.iter().all(|o| *o == order).then_some(site)
        };
        orders.into_iter().filter_map(uniform).collect()
    }

    fn ordered(&self, transition: &Transition, swaps: &[Span]) -> Vec<(Ordered, Order)> {
        let is_plain = |address: &Address<_>, order: Order| {
            let nonatomic = |location: LocationId| self.location(location).nonatomic;
            order == Order::NonAtomic
                || match address {
                    Address::Direct(location) => nonatomic(*location),
                    Address::Element { first, .. } => nonatomic(*first),
                    Address::Pointer(_) => false,
                }
        };
        match &transition.op {
            Op::Load { address, order, .. } | Op::Wait { address, order, .. }
                if !is_plain(address, *order) =>
            {
                // One that may fail for no reason is a choice between a compare-and-swap and this.
                match swaps.contains(&transition.span) {
                    true => vec![(Ordered::Failure, *order)],
                    false => vec![(Ordered::Load, *order)],
                }
            }
            Op::Store { address, order, .. } if !is_plain(address, *order) => {
                vec![(Ordered::Store, *order)]
            }
            Op::Rmw { action, order, .. } => match action {
                RmwAction::CompareAndSwap { failure, .. } => {
                    vec![(Ordered::Rmw, *order), (Ordered::Failure, *failure)]
                }
                _ => vec![(Ordered::Rmw, *order)],
            },
            Op::Fence(order) => vec![(Ordered::Fence, *order)],
            _ => Vec::new(),
        }
    }

    /// Which of the sites an instruction belongs to. `writes` tells a compare-and-swap that succeeds from one that fails.
    pub fn site_of(
        &self,
        thread: &Thread,
        transition: &Transition,
        writes: bool,
    ) -> Option<(Span, Ordered)> {
        if thread.points[transition.from.index()].atomic {
            return None;
        }
        let what = match &transition.op {
            Op::Load { .. } | Op::Wait { .. } => match swaps(thread).contains(&transition.span) {
                true => Ordered::Failure,
                false => Ordered::Load,
            },
            Op::Store { .. } => Ordered::Store,
            Op::Rmw {
                action: RmwAction::CompareAndSwap { .. },
                ..
            } if !writes => match self.language {
                Language::Tpl => Ordered::Rmw,
                _ => Ordered::Failure,
            },
            // It may have been a store.
            Op::Rmw { .. } => Ordered::Rmw,
            // It may have been a fence.
            Op::Fence(_) | Op::Skip => Ordered::Fence,
            _ => return None,
        };
        Some((transition.span, what))
    }

    /// The same program with these changes.
    pub fn with_orders(&self, changes: &[OrderChange]) -> Program {
        let mut program = self.clone();
        let of = |span: Span, what: Ordered| {
            let mut all = changes.iter().filter_map(|c| Some((c.site()?, *c)));
            all.find(|(site, _)| site.span == span && site.what == what)
                .map(|(_, change)| change)
        };
        let changed = |span: Span, what: Ordered, order: &mut Order| {
            if let Some(OrderChange::Order(_, to)) = of(span, what) {
                *order = to;
            }
        };
        for thread in &mut program.threads {
            let swaps = swaps(thread);
            for transition in &mut thread.transitions {
                if thread.points[transition.from.index()].atomic {
                    continue;
                }
                let span = transition.span;
                match &mut transition.op {
                    Op::Load { order, .. } | Op::Wait { order, .. } => {
                        let is_failure = swaps.contains(&span);
                        let what = match is_failure {
                            true => Ordered::Failure,
                            false => Ordered::Load,
                        };
                        changed(span, what, order);
                    }
                    Op::Store {
                        order,
                        address,
                        value,
                    } => match of(span, Ordered::Store) {
                        Some(OrderChange::Order(_, to)) => *order = to,
                        Some(OrderChange::Exchange(_, to)) => {
                            transition.op = Op::Rmw {
                                register: None,
                                address: address.clone(),
                                action: RmwAction::Exchange(value.clone()),
                                order: to,
                            };
                        }
                        _ => {}
                    },
                    Op::Rmw { order, action, .. } => {
                        changed(span, Ordered::Rmw, order);
                        if let RmwAction::CompareAndSwap { failure, .. } = action {
                            match (self.language, of(span, Ordered::Rmw)) {
                                (Language::Tpl, Some(_)) => *failure = order.without_release(),
                                _ => changed(span, Ordered::Failure, failure),
                            }
                        }
                    }
                    Op::Fence(order) => match of(span, Ordered::Fence) {
                        Some(OrderChange::Order(_, to)) => *order = to,
                        Some(OrderChange::NoFence(_)) => transition.op = Op::Skip,
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        let fences: Vec<(PlaceId, Order)> = changes
            .iter()
            .filter_map(|change| match change {
                OrderChange::Fence(place, order) => Some((*place, *order)),
                _ => None,
            })
            .collect();
        match fences.is_empty() {
            true => program,
            false => program.with_ordered_fences(&fences),
        }
    }
}

/// The texts of compare-and-swaps.
fn swaps(thread: &Thread) -> Vec<Span> {
    let is_swap = |op: &Op| {
        matches!(
            op,
            Op::Rmw {
                action: RmwAction::CompareAndSwap { .. },
                ..
            }
        )
    };
    let all = thread.transitions.iter();
    all.filter(|t| is_swap(&t.op)).map(|t| t.span).collect()
}
