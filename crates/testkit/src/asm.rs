//! Just enough of an EVM assembler to write the contracts of tests without a compiler.

use alloy_primitives::{Address, U256};

/// The opcodes in use, by their names in the Yellow Paper.
pub mod op {
    macro_rules! opcodes {
        ($($name:ident = $byte:literal),* $(,)?) => { $(
            #[doc = concat!("`", stringify!($name), "`.")]
            pub const $name: u8 = $byte;
        )* };
    }

    opcodes! {
        STOP = 0x00, ADD = 0x01, MUL = 0x02, SUB = 0x03, SDIV = 0x05, SMOD = 0x07, ADDMOD = 0x08, MULMOD = 0x09,
        EXP = 0x0a, SIGNEXTEND = 0x0b, SLT = 0x12, ISZERO = 0x15, BYTE = 0x1a, SAR = 0x1d, KECCAK256 = 0x20,
        ADDRESS = 0x30, BALANCE = 0x31, ORIGIN = 0x32, CALLER = 0x33, CALLVALUE = 0x34, CALLDATALOAD = 0x35,
        CALLDATASIZE = 0x36, CALLDATACOPY = 0x37, CODESIZE = 0x38, CODECOPY = 0x39, GASPRICE = 0x3a,
        EXTCODESIZE = 0x3b, RETURNDATASIZE = 0x3d, RETURNDATACOPY = 0x3e, EXTCODEHASH = 0x3f, BLOCKHASH = 0x40,
        CHAINID = 0x46, SELFBALANCE = 0x47, BASEFEE = 0x48, BLOBHASH = 0x49, BLOBBASEFEE = 0x4a, MSTORE = 0x52,
        SLOAD = 0x54, SSTORE = 0x55, JUMP = 0x56, JUMPI = 0x57, PC = 0x58, MSIZE = 0x59, GAS = 0x5a,
        JUMPDEST = 0x5b, TLOAD = 0x5c, MCOPY = 0x5e, PUSH0 = 0x5f, PUSH1 = 0x60, DUP1 = 0x80, LOG0 = 0xa0,
        CREATE = 0xf0, CALL = 0xf1, CALLCODE = 0xf2, RETURN = 0xf3, DELEGATECALL = 0xf4, CREATE2 = 0xf5,
        STATICCALL = 0xfa, REVERT = 0xfd, INVALID = 0xfe, SELFDESTRUCT = 0xff, UNDEFINED = 0x0c,
    }
}

/// Code under construction.
#[derive(Debug, Clone, Default)]
pub struct Code(Vec<u8>);

impl Code {
    /// No code yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends opcodes as they are.
    #[must_use]
    pub fn ops(mut self, opcodes: &[u8]) -> Self {
        self.0.extend_from_slice(opcodes);
        self
    }

    /// Pushes a number with the shortest PUSH1..PUSH32.
    #[must_use]
    pub fn push(self, number: u64) -> Self {
        self.push_word(U256::from(number))
    }

    /// Pushes an address.
    #[must_use]
    pub fn push_address(self, address: Address) -> Self {
        self.push_word(address.into_word().into())
    }

    /// Pushes a number of any size.
    #[must_use]
    pub fn push_word(mut self, word: U256) -> Self {
        let length = word.byte_len().max(1);
        self.0.push(op::PUSH1 + (length as u8 - 1));
        self.0.extend(word.to_be_bytes::<32>().into_iter().skip(32 - length));
        self
    }

    /// Stores the word on the stack's top at memory offset 0 and returns it.
    #[must_use]
    pub fn return_word(self) -> Self {
        self.ops(&[op::PUSH0, op::MSTORE]).push(32).ops(&[op::PUSH0, op::RETURN])
    }

    /// Copies all call data to memory offset 0.
    #[must_use]
    pub fn load_calldata(self) -> Self {
        self.ops(&[op::CALLDATASIZE, op::PUSH0, op::PUSH0, op::CALLDATACOPY])
    }

    /// Logs each word that one of the `parts` leaves on the stack, with LOG0.
    #[must_use]
    pub fn log_words(self, parts: &[&[u8]]) -> Self {
        parts.iter().fold(self, |code, part| {
            code.ops(part).ops(&[op::PUSH0, op::MSTORE]).push(32).ops(&[op::PUSH0, op::LOG0])
        })
    }

    /// The code's bytes.
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Init code that deploys `runtime`: copies what follows its own ten bytes and returns it.
pub fn deployer(runtime: &[u8]) -> Vec<u8> {
    const PREFIX: u8 = 10;
    let [high, low] = u16::try_from(runtime.len()).unwrap_or(u16::MAX).to_be_bytes();
    let push2 = op::PUSH1 + 1;
    let mut code =
        vec![push2, high, low, op::DUP1, op::PUSH1, PREFIX, op::PUSH0, op::CODECOPY, op::PUSH0, op::RETURN];
    code.extend_from_slice(runtime);
    code
}
