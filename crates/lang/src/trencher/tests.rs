use super::*;
use crate::source::Severity;

fn read(text: &str) -> Parsed {
    read_with(text, None)
}

fn read_with(text: &str, domain: Option<Domain>) -> Parsed {
    match parse(&Source::new("test.txt", text), domain) {
        Ok(parsed) => parsed,
        Err(errors) => panic!("{errors:#?}"),
    }
}

fn errors(text: &str) -> Vec<Diagnostic> {
    parse(&Source::new("test.txt", text), None).expect_err("this must be refused")
}

#[test]
fn a_small_program() {
    let text = "# a comment\nmemory_size 2\nthread t # another\ninitial q0\n\
                transition q0 q1 write 1 0\ntransition q1 q2 read r + 0 1 # r\nend";
    let parsed = read(text);
    assert!(parsed.warnings.is_empty());
    let program = parsed.program;
    assert_eq!(program.locations.len(), 2);
    assert_eq!(program.locations[1].name, "1");
    let thread = &program.threads[0];
    assert_eq!(thread.copies, Copies::One);
    assert_eq!(thread.points.len(), 3);
    assert!(matches!(
        &thread.transitions[1].op,
        Op::Load {
            register: RegisterId(0),
            address: Address::Direct(LocationId(1)),
            order: Order::Acquire
        }
    ));
    assert_eq!(
        program.source.slice(thread.transitions[1].span),
        "transition q1 q2 read r + 0 1"
    );
    assert!(thread.is_end(PointId(2)));
    let places: Vec<_> = program.places.iter().map(|p| p.name.as_deref()).collect();
    assert_eq!(places, [Some("q0"), Some("q1")]);
}

#[test]
fn keywords_can_be_states() {
    let program =
        read("thread t initial unlock transition unlock end lock transition end thread unlock end")
            .program;
    assert_eq!(program.threads[0].points.len(), 3);
    assert!(program.threads[0].points[1].atomic);
}

#[test]
fn a_state_with_and_without_the_lock_is_two_points() {
    let program = read(
        "thread t initial a\n transition a b lock\n transition a b noop\n transition b c unlock\n\
         transition b b lock\nend",
    )
    .program;
    let thread = &program.threads[0];
    let names: Vec<_> = thread
        .points
        .iter()
        .map(|p| (p.name.clone().unwrap(), p.atomic, p.place.is_some()))
        .collect();
    let name = |n: &str, atomic, place| (n.to_string(), atomic, place);
    assert_eq!(
        names,
        [
            name("a", false, true),
            name("b", true, false),
            name("b", false, true),
            name("c", false, false),
        ]
    );
    let blocked = Op::Assume(Expr::Const(0));
    // Holding it: unlock works, lock waits for ever. Not holding it: the other way round.
    assert_eq!(thread.outgoing(PointId(1))[0].op, Op::AtomicEnd);
    assert_eq!(thread.outgoing(PointId(1))[1].op, blocked);
    assert_eq!(thread.outgoing(PointId(2))[0].op, blocked);
    assert_eq!(thread.outgoing(PointId(2))[1].op, Op::AtomicBegin);
}

#[test]
fn copies_are_called_as_persist_calls_them() {
    let program = read("thread t 3 initial q end").program;
    let names: Vec<_> = program.instances().into_iter().map(|i| i.name).collect();
    assert_eq!(names, ["t", "t_1", "t_2"]);
}

#[test]
fn computed_addresses_reach_what_the_registers_can_hold() {
    let program = read(
        "thread t initial a\n transition a b local n 3\n transition b c write n 0\n\
         transition c d read p 0\n transition d e read v + 1 * 2 p\n end",
    )
    .program;
    let addresses: Vec<_> = program.locations.iter().map(|l| l.address).collect();
    assert_eq!(addresses, [0, 1, 7]);
    assert!(matches!(
        program.threads[0].transitions[3].op,
        Op::Load {
            address: Address::Pointer(_),
            ..
        }
    ));
}

#[test]
fn an_unknown_address_stands_for_a_range() {
    let counter =
        "thread t initial a\n transition a a local n + n 1\n transition a b read v n\n end";
    let program = read(counter).program;
    assert_eq!(program.locations.len(), 256);
    let program = read_with(counter, Domain::modulo(16)).program;
    assert_eq!(program.locations.len(), 16);
    let program = read(&format!("memory_size 1000 {counter}")).program;
    assert_eq!(program.locations.len(), 1000);
    let masked =
        "thread t initial a\n transition a a local n + n 1\n transition a b read v & n 3\n end";
    assert_eq!(read(masked).program.locations.len(), 4);
}

#[test]
fn a_state_that_is_never_reached_gives_a_warning() {
    let parsed = read("thread t initial q0\ntransition q0 q1 noop\ntransition q2 q1 noop\nend");
    assert_eq!(parsed.warnings.len(), 1);
    assert_eq!(parsed.warnings[0].severity, Severity::Warning);
    assert!(parsed.warnings[0].message.contains("`q2`"));
}

#[test]
fn a_register_that_is_never_set_gives_a_warning() {
    let parsed = read("thread t initial q\ntransition q p local count + cuont 1\nend");
    assert_eq!(parsed.warnings.len(), 1);
    assert!(
        parsed.warnings[0]
            .help
            .as_deref()
            .unwrap()
            .contains("count")
    );
}

#[test]
fn all_errors_are_found_at_once() {
    let found = errors(
        "thread t\ninitial q0\ninitial q1\ntransition q0 q1 raed r 0\ntransition q0 q1 write 1\n\
         transition q1 q2 local 5 1\ntransition q1 q2 check ==r 1\ntransitoin a b noop\nend\nthread t\nend\nblah",
    );
    let messages: Vec<_> = found.iter().map(|e| e.message.as_str()).collect();
    for (wanted, times) in [
        ("several initial states", 1),
        ("`raed` is not an instruction", 1),
        ("where the address to write to should be", 1),
        ("`5` is not a register", 1),
        ("`==r` is not an expression", 1),
        ("`transitoin` does not begin", 1),
        ("two threads called `t`", 1),
        ("has no initial state", 1),
        ("`blah` does not begin a thread", 1),
    ] {
        let count = messages.iter().filter(|m| m.contains(wanted)).count();
        assert_eq!(count, times, "{wanted}: {messages:#?}");
    }
    assert_eq!(messages.len(), 9, "{messages:#?}");
    let misspelt = found.iter().find(|e| e.message.contains("raed")).unwrap();
    assert_eq!(misspelt.help.as_deref(), Some("did you mean `read`?"));
}

/// A thread whose initial state occurs in no transition is stuck at once.
#[test]
fn a_thread_that_never_moves() {
    let source = Source::new(
        "test.txt",
        "thread t\ninitial q0\ntransition q_0 q1 noop\nend",
    );
    let parsed = parse(&source, None).unwrap();
    assert!(parsed.program.threads[0].transitions.is_empty());
    let warning = &parsed.warnings[0];
    assert!(warning.message.contains("`q0` occurs in no transition"));
    assert_eq!(warning.help.as_deref(), Some("did you mean `q_0`?"));
}

#[test]
fn what_is_missing_at_the_end_is_said() {
    assert!(
        errors("thread t initial q")[0]
            .message
            .contains("not closed")
    );
    assert!(errors("")[0].message.contains("no thread"));
    assert!(errors("thread")[0].message.contains("the thread's name"));
}

#[test]
fn deep_expressions_are_refused() {
    let deep = |depth: usize| {
        let nots = "! ".repeat(depth);
        format!("thread t\ninitial q\ntransition q q check {nots}1\nend")
    };
    read(&deep(MAX_HEIGHT - 1));
    assert!(errors(&deep(MAX_HEIGHT))[0].message.contains("nested"));
    assert_eq!(errors(&deep(100_000)).len(), 1);
}

#[test]
fn numbers_have_64_bits() {
    let program =
        read("thread t initial q transition q p write -9223372036854775808 -1 end").program;
    assert_eq!(program.locations[0].name, "-1");
    let text = "thread t initial q transition q p write 9223372036854775808 0 end";
    assert!(errors(text)[0].message.contains("too large"));
}
