// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Invoice payment: the exact amount, once, in time, straight to the merchant.
/// @notice A quote's id is the hash of its terms on this chain and this contract, so that nobody has to sign quotes
/// and no other terms can be paid under the same id. The contract holds no coin and has no owner.
interface IPlatformCheckout {
    /// @notice `payer` paid the quote, and `merchant` received `amount`.
    event QuotePaid(
        bytes32 indexed quoteId,
        address indexed merchant,
        address indexed payer,
        uint256 amount,
        uint256 deadline,
        bytes32 salt
    );

    /// @dev The id is not the hash of the terms.
    error PlatformCheckoutQuoteMismatch(bytes32 quoteId, bytes32 expected);
    /// @dev The merchant must not be the zero address.
    error PlatformCheckoutZeroMerchant();
    /// @dev A quote is over some coin.
    error PlatformCheckoutZeroAmount();
    /// @dev Not the exact amount.
    error PlatformCheckoutWrongAmount(uint256 amount, uint256 sent);
    /// @dev The deadline has passed.
    error PlatformCheckoutExpired(uint256 deadline, uint256 timestamp);
    /// @dev The quote was paid before.
    error PlatformCheckoutAlreadyPaid(bytes32 quoteId);
    /// @dev The merchant refused the coin; the payer keeps it.
    error PlatformCheckoutMerchantRejected(address merchant, uint256 amount);
    /// @dev Coin came without a quote; the sender keeps it.
    error PlatformCheckoutBareTransfer();

    /// @notice Pays a quote.
    /// @dev Requirements: `quoteId` is the hash of the terms; merchant and amount are not zero; the coin sent equals
    /// `amount`; the block's time is not after `deadline`; the quote was not paid before; the merchant accepts.
    /// @param quoteId See {getQuoteId}.
    /// @param merchant Who receives the coin.
    /// @param amount Price in wei.
    /// @param deadline Last second in which the quote can be paid.
    /// @param salt Makes equal terms distinct.
    function pay(bytes32 quoteId, address merchant, uint256 amount, uint256 deadline, bytes32 salt) external payable;

    /// @notice Whether the quote was paid.
    function isPaid(bytes32 quoteId) external view returns (bool);

    /// @notice keccak256(abi.encode(QUOTE_TYPEHASH, chain id, this contract, merchant, amount, deadline, salt)).
    function getQuoteId(address merchant, uint256 amount, uint256 deadline, bytes32 salt)
        external
        view
        returns (bytes32);
}
