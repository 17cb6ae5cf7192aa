//! The cheapest orders: for the question alone, and as a hint beside another one.

use palisade_check::{Answer, Control, Options, Verdict};
use palisade_fence::{Choices, Freedom, OrderCosts, OrdersResult, Prices, orders};
use palisade_lang::{Language, Program, reordered_files};
use palisade_memory::Model;
use palisade_report::{OrderFindings, Refusal};

/// The cheapest orders that make a criterion hold under C++20 or RC11, and the program's text with them. `cost` is what the costs are called.
pub fn ordered(
    program: &Program,
    freedom: &Freedom,
    (costs, cost): (&OrderCosts, &str),
    explain: bool,
    options: &Options,
    control: &Control<'_>,
) -> Result<OrderFindings, Refusal> {
    let choices = Choices::new(program, freedom, costs);
    let found = orders(&choices, options, explain, control)?;
    let text = match &found.result {
        OrdersResult::Optimal(best) if !best.changes.is_empty() => {
            Some(reordered_files(program, &best.changes))
        }
        _ => None,
    };
    Ok(OrderFindings {
        orders: found,
        restricted: freedom.is_restricted(),
        cost: cost.to_owned(),
        text,
        written: false,
    })
}

/// Why there are no orders to choose: the model does not look at them, or the language has none.
pub fn order_refusal(language: Language, model: Model) -> Option<String> {
    if !matches!(model, Model::C20 | Model::Rc11) {
        return Some(format!(
            "orders have no meaning of their own under `{}`; the models `c20` and `rc11` look at them",
            model.name()
        ));
    }
    let refusal = match language {
        Language::Trencher => "automata have no orders; `palisade fence` puts fences into them",
        Language::Litmus => {
            "the orders of litmus tests are what they test; `palisade export --to pal` makes a program of one whose orders can be chosen"
        }
        _ => return None,
    };
    Some(refusal.to_owned())
}

/// The costs that are used where none are named, and what they are called.
pub fn unit_costs() -> (OrderCosts, &'static str) {
    let costs = OrderCosts {
        prices: Prices::unit(),
        profile: None,
    };
    (costs, "prices of unit")
}

/// Whether the orders of a program that holds could be weaker, in a sentence.
pub fn order_hint(
    program: &Program,
    answer: &Answer,
    asked: &Options,
    control: &Control<'_>,
) -> Option<String> {
    let looks_at_orders = matches!(asked.model, Model::C20 | Model::Rc11);
    if answer.verdict != Verdict::Holds || !looks_at_orders {
        return None;
    }
    let freedom = Freedom {
        strengthen: false,
        ..Freedom::ORDERS
    };
    let choices = Choices::new(program, &freedom, &unit_costs().0);
    let weaker = |number: usize| match number {
        0 => "no order can be weaker".to_owned(),
        1 => {
            "an order is stronger than needed: `palisade orders --weaken-only` shows it".to_owned()
        }
        number => format!(
            "{number} orders are stronger than needed: `palisade orders --weaken-only` shows them"
        ),
    };
    match orders(&choices, asked, false, control).ok()?.result {
        OrdersResult::Optimal(best) => Some(weaker(best.changes.len())),
        OrdersResult::Unknown {
            confirmed: Some(best),
            ..
        } if !best.changes.is_empty() => Some(weaker(best.changes.len())),
        OrdersResult::Unknown { reason, .. } => Some(format!(
            "whether its orders could be weaker is not known: {reason}"
        )),
        OrdersResult::None => None,
    }
}
