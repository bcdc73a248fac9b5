//! Executions that are ended from outside, and those that do not notice that they could have been.

use std::time::Instant;

use alloy_primitives::{Address, hex};
use alloy_rpc_types_eth::TransactionRequest;

use super::{ALICE, BOB, CONTRACT, World};
use crate::exec::{
    CallContext, CallOutcome, EstimateError, ExecError, Interrupt, Interruption, call, estimate_gas,
};

/// Gas that no test comes to the end of.
const ENDLESS: u64 = 1_000_000_000_000_000;
const BUDGET: u64 = 500_000;

fn run(world: &World, interrupt: &Interrupt) -> Result<CallOutcome, ExecError> {
    let context = CallContext { interrupt, gas_cap: ENDLESS, ..world.call_context() };
    call(context, &TransactionRequest::default().from(ALICE).to(CONTRACT), None, None)
}

fn ended(world: &World, interrupt: &Interrupt) -> Interruption {
    match run(world, interrupt) {
        Err(ExecError::Interrupted(interruption)) => interruption,
        other => panic!("{other:?}"),
    }
}

fn calling(address: Address) -> String {
    format!("5f5f5f5f5f73{}5af1", hex::encode(address))
}

/// Loops by jump, by deep calls, by calls in a loop, in creations, and programs that do much without any jump.
fn endless() -> Vec<World> {
    let long = |part: &str, times: usize| World::shanghai().with_code(CONTRACT, &part.repeat(times));
    vec![
        World::shanghai().with_code(CONTRACT, "5b5f56"),
        World::shanghai().with_code(CONTRACT, &format!("5b{}505f56", calling(CONTRACT))),
        World::shanghai().with_code(CONTRACT, &format!("5b{}505f56", calling(BOB))).with_code(BOB, "5a5450"),
        World::shanghai().with_code(CONTRACT, &format!("5b{}505f56", calling(BOB))).with_code(BOB, "5b5f56"),
        // Creates a contract whose creation loops.
        World::shanghai().with_code(CONTRACT, "625b5f565f526003601d5ff0"),
        // Reads slots, hashes a megabyte, asks for balances, copies.
        long("5a5450", 2000),
        long("62100000 5f 20 50", 2000),
        long("5a3150", 2000),
        long("62100000 5f 5f 37", 2000),
        // One precompile that works for hours, and one that is called for ever.
        World::shanghai().with_code(CONTRACT, "63ffffffff60e01b5f52 604061010060d55f60095afa"),
        World::shanghai().with_code(CONTRACT, "5b 604061010060d55f60025afa50 5f56"),
    ]
}

#[test]
fn no_program_executes_more_than_its_budget() {
    for (number, world) in endless().iter().enumerate() {
        assert_eq!(ended(world, &Interrupt::after_gas(BUDGET)), Interruption::Gas, "program {number}");
    }
}

#[test]
fn a_program_ends_when_its_time_is_over_or_nobody_waits() {
    let abandoned = Interrupt::after_gas(u64::MAX - 1);
    abandoned.abandon();
    let late = Interrupt::at(Instant::now());
    for (number, world) in endless().iter().enumerate() {
        assert_eq!(ended(world, &late), Interruption::Timeout, "program {number}");
        assert_eq!(ended(world, &abandoned), Interruption::Abandoned, "program {number}");
    }
}

/// Within the budget a program sees the gas that it was given, and comes to the same end with the same gas.
#[test]
fn a_program_within_its_budget_cannot_tell() {
    let inner = "5a5f5260205ff3";
    for code in [
        // Its gas, after nothing and after a loop.
        "5a5f5260205ff3",
        "6064 5b 6001 90 03 80 6002 57 5a5f5260205ff3",
        // The gas of a call below, passed on.
        &format!("60205f5f5f5f73{}5af15060205ff3", hex::encode(BOB)),
        // Precompiles that succeed, run out of gas, and refuse their input.
        "60205f60405f60025afa505a60205260405ff3",
        "60205f60405f6002600afa5f5260205ff3",
        "604061010060d45f60095afa5f525a60205260405ff3",
        "620003e860e01b5f52604061010060d55f60095afa5f525a60205260405ff3",
        // A revert, a halt, a hash of a block.
        "5a5f5260205ffd",
        "fe",
        "435f19014060005260205ff3",
    ] {
        let world = World::shanghai().with_code(CONTRACT, code).with_code(BOB, inner);
        let run = |interrupt: &Interrupt| {
            let context = CallContext { interrupt, ..world.call_context() };
            call(context, &TransactionRequest::default().from(ALICE).to(CONTRACT), None, None).unwrap()
        };
        assert_eq!(run(&Interrupt::after_gas(BUDGET)), run(Interrupt::never()), "{code}");
    }
}

/// An estimate runs a call several times; the budget is for all of them.
#[test]
fn the_runs_of_an_estimate_share_a_budget() {
    let world = World::shanghai().with_code(CONTRACT, "600160005500");
    let request = TransactionRequest::default().from(ALICE).to(CONTRACT);
    let (one_run, many_runs) = (Interrupt::after_gas(40_000), Interrupt::after_gas(BUDGET));
    let context = |interrupt| CallContext { interrupt, ..world.call_context() };
    assert!(matches!(call(context(&one_run), &request, None, None), Ok(CallOutcome::Success { .. })));
    match estimate_gas(context(&one_run), &request, None) {
        Err(EstimateError::Exec(ExecError::Interrupted(Interruption::Gas))) => {}
        other => panic!("{other:?}"),
    }
    let estimate = |interrupt| estimate_gas(context(interrupt), &request, None).unwrap();
    assert_eq!(estimate(&many_runs), estimate(Interrupt::never()));
}
