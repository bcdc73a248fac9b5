//! Why executions fail, in the words that geth uses and tools look for.

use revm::{context::result::HaltReason, interpreter::InstructionResult};

/// Every way in which an instruction can end a call.
const FAILURES: [InstructionResult; 28] = {
    use InstructionResult as I;
    [
        I::Revert,
        I::CallTooDeep,
        I::OutOfFunds,
        I::CreateInitCodeStartingEF00,
        I::InvalidEOFInitCode,
        I::InvalidExtDelegateCallTarget,
        I::OutOfGas,
        I::MemoryOOG,
        I::MemoryLimitOOG,
        I::PrecompileOOG,
        I::InvalidOperandOOG,
        I::ReentrancySentryOOG,
        I::OpcodeNotFound,
        I::CallNotAllowedInsideStatic,
        I::StateChangeDuringStaticCall,
        I::InvalidFEOpcode,
        I::InvalidJump,
        I::NotActivated,
        I::StackUnderflow,
        I::StackOverflow,
        I::OutOfOffset,
        I::CreateCollision,
        I::OverflowPayment,
        I::PrecompileError,
        I::NonceOverflow,
        I::CreateContractSizeLimit,
        I::CreateContractStartingWithEF,
        I::CreateInitCodeSizeLimit,
    ]
};

/// Why a call was halted.
pub(crate) fn halt_words(reason: &HaltReason) -> &'static str {
    words(reason.clone().into())
}

/// The words for what the library says of a traced step, which is the name in its source.
pub(super) fn step_words(said: &str) -> &'static str {
    let failure = FAILURES.into_iter().find(|failure| format!("{:?}", Some(failure)) == said);
    failure.map_or("execution failed", words)
}

fn words(result: InstructionResult) -> &'static str {
    use InstructionResult as I;
    match result {
        I::Stop | I::Return | I::SelfDestruct | I::Suspend => "execution ended",
        I::Revert => "execution reverted",
        I::CallTooDeep => "max call depth exceeded",
        I::OutOfFunds => "insufficient balance for transfer",
        I::OutOfGas
        | I::MemoryOOG
        | I::MemoryLimitOOG
        | I::PrecompileOOG
        | I::InvalidOperandOOG
        | I::ReentrancySentryOOG => "out of gas",
        I::OpcodeNotFound | I::NotActivated => "invalid opcode",
        I::InvalidFEOpcode => "invalid opcode: INVALID",
        I::CallNotAllowedInsideStatic | I::StateChangeDuringStaticCall => "write protection",
        I::InvalidJump => "invalid jump destination",
        I::StackUnderflow => "stack underflow",
        I::StackOverflow => "stack overflow",
        I::OutOfOffset => "return data out of bounds",
        I::CreateCollision => "contract address collision",
        I::OverflowPayment => "balance overflow",
        I::PrecompileError => "precompile failed",
        I::NonceOverflow => "nonce uint64 overflow",
        I::CreateContractSizeLimit => "max code size exceeded",
        I::CreateInitCodeSizeLimit => "max initcode size exceeded",
        I::CreateContractStartingWithEF | I::CreateInitCodeStartingEF00 => {
            "invalid code: must not begin with 0xef"
        }
        I::InvalidEOFInitCode | I::InvalidExtDelegateCallTarget | I::InvalidImmediateEncoding => {
            "invalid code"
        }
        I::FatalExternalError => "execution aborted",
    }
}
