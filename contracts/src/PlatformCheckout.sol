// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IPlatformCheckout} from "./interfaces/IPlatformCheckout.sol";

/// @title Invoice payment; {IPlatformCheckout} describes it.
contract PlatformCheckout is IPlatformCheckout {
    /// @notice Tags the hash of a quote's terms.
    bytes32 public constant QUOTE_TYPEHASH = keccak256(
        "Quote(uint256 chainId,address checkout,address merchant,uint256 amount,uint256 deadline,bytes32 salt)"
    );

    mapping(bytes32 quoteId => bool) private _paid;

    /// @notice Refuses coin that comes without a quote: wallets sometimes drop the call data of a payment link.
    receive() external payable {
        revert PlatformCheckoutBareTransfer();
    }

    /// @inheritdoc IPlatformCheckout
    function pay(bytes32 quoteId, address merchant, uint256 amount, uint256 deadline, bytes32 salt) external payable {
        bytes32 expected = getQuoteId(merchant, amount, deadline, salt);
        if (quoteId != expected) revert PlatformCheckoutQuoteMismatch(quoteId, expected);
        if (merchant == address(0)) revert PlatformCheckoutZeroMerchant();
        if (amount == 0) revert PlatformCheckoutZeroAmount();
        if (msg.value != amount) revert PlatformCheckoutWrongAmount(amount, msg.value);
        if (block.timestamp > deadline) revert PlatformCheckoutExpired(deadline, block.timestamp);
        if (_paid[quoteId]) revert PlatformCheckoutAlreadyPaid(quoteId);

        // Before the merchant's code runs, so that it cannot be paid twice for one quote.
        _paid[quoteId] = true;
        emit QuotePaid(quoteId, merchant, msg.sender, amount, deadline, salt);
        (bool accepted,) = merchant.call{value: amount}("");
        if (!accepted) revert PlatformCheckoutMerchantRejected(merchant, amount);
    }

    /// @inheritdoc IPlatformCheckout
    function isPaid(bytes32 quoteId) external view returns (bool) {
        return _paid[quoteId];
    }

    /// @inheritdoc IPlatformCheckout
    function getQuoteId(address merchant, uint256 amount, uint256 deadline, bytes32 salt)
        public
        view
        returns (bytes32)
    {
        return keccak256(abi.encode(QUOTE_TYPEHASH, block.chainid, address(this), merchant, amount, deadline, salt));
    }
}
