// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// What the client tests deploy: state, an event with an indexed field, a revert with a reason and a custom error.
contract Counter {
    event Increased(address indexed by, uint256 value);

    error TooLarge(uint256 given, uint256 limit);

    uint256 public value;

    constructor(uint256 start) {
        value = start;
    }

    function increase(uint256 by) external {
        require(by != 0, "nothing to add");
        if (by > 100) revert TooLarge(by, 100);
        value += by;
        emit Increased(msg.sender, value);
    }
}
