//! Units written by hand, and the programs that they become.

use palisade_lang::print::to_pal;
use palisade_lang::{Expr, Language, Order, Program, Source, Span};
use palisade_lower::{
    Action, Atom, Block, BlockId, Cell, End, Function, FunctionId, Limits, Local, LocalId, Object,
    ObjectId, Step, Storage, Unit, ValueExpr, lower,
};

fn object(id: u32) -> ValueExpr {
    Expr::Atom(Atom::Object(ObjectId(id)))
}

fn function(id: u32) -> ValueExpr {
    Expr::Atom(Atom::Function(FunctionId(id)))
}

fn local(id: u32) -> ValueExpr {
    Expr::Atom(Atom::Local(LocalId(id)))
}

fn code(name: &str, locals: &[&str], actions: Vec<Action>, end: End) -> Function {
    let span = Span::default();
    let locals = locals.iter().map(|name| Local {
        name: Some((*name).to_string()),
        storage: Storage::Register,
        span,
    });
    let steps = actions.into_iter().map(|action| Step { action, span });
    Function {
        name: name.to_string(),
        parameters: Vec::new(),
        locals: locals.collect(),
        blocks: vec![Block {
            steps: steps.collect(),
            end,
            span,
        }],
        span,
        library: false,
    }
}

fn program(objects: &[&str], functions: Vec<Function>) -> Program {
    let objects = objects.iter().map(|name| Object {
        name: (*name).to_string(),
        cells: vec![Cell::new("")],
        thread_local: false,
        span: Span::default(),
    });
    let unit = Unit {
        name: None,
        source: Source::new("test.pal", ""),
        language: Language::Pal,
        objects: objects.collect(),
        functions,
        entry: FunctionId(0),
        limits: Limits::default(),
    };
    lower(&unit).expect("it can be lowered").program
}

fn store(to: u32, value: i64, order: Order) -> Action {
    Action::Store {
        address: object(to),
        value: Expr::Const(value),
        order,
    }
}

fn load(to: u32, from: u32, order: Order) -> Action {
    Action::Load {
        to: LocalId(to),
        address: object(from),
        order,
    }
}

fn spawn(handle: u32, callee: u32) -> Action {
    Action::Spawn {
        handle: Some(LocalId(handle)),
        callee: function(callee),
        arguments: Vec::new(),
    }
}

#[test]
fn what_comes_before_the_threads_is_initial() {
    let main = vec![store(0, 7, Order::NonAtomic), spawn(0, 1), spawn(1, 1)];
    let main = code("main", &["a", "b"], main, End::Return(None));
    let thread = vec![store(1, 1, Order::Release), load(0, 0, Order::Acquire)];
    let thread = code("work", &["r"], thread, End::Return(None));
    let program = program(&["x", "y"], vec![main, thread]);
    assert_eq!(program.locations[0].initial, 7);
    // The first thread has nothing left to do.
    let names: Vec<&str> = program.threads.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["work[0]", "work[1]"]);
}

#[test]
fn a_thread_that_is_created_later_waits_for_its_start() {
    let main = vec![
        spawn(0, 1),
        load(2, 0, Order::Relaxed),
        spawn(1, 1),
        Action::Join {
            handle: local(1),
            to: None,
        },
        Action::Assert(Expr::Const(0)),
    ];
    let main = code("main", &["a", "b", "r"], main, End::Return(None));
    let thread = code(
        "work",
        &[],
        vec![store(0, 1, Order::Release)],
        End::Return(None),
    );
    let program = program(&["x"], vec![main, thread]);
    assert_eq!(program.threads.len(), 3);
    let text = to_pal(&program);
    assert!(text.contains("wait(start_of_work == 1"), "{text}");
    assert!(
        text.contains("start_of_work.store(1") || text.contains("start_of_work = 1"),
        "{text}"
    );
}

#[test]
fn recursion_ends_in_a_bound() {
    let again = Action::Call {
        to: None,
        callee: function(1),
        arguments: Vec::new(),
    };
    let main = code("main", &["a"], vec![spawn(0, 1)], End::Goto(BlockId(0)));
    let mut main = main;
    main.blocks[0].end = End::Return(None);
    let thread = vec![store(0, 1, Order::Release), again];
    let thread = code("work", &[], thread, End::Return(None));
    let program = program(&["x"], vec![main, thread]);
    assert_eq!(program.bounds.len(), 1);
    assert!(program.bounds[0].message.contains("calls itself"));
}
