// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title The platform's till: every fee is split into a burned and a held part.
/// @notice 30% of each fee goes to the burn address at once, the rest is held for the treasury; rounding favours the
/// held part. The contract has no owner: the split, the sources and the treasury are fixed. Plain transfers revert.
interface IPlatformFees {
    /// @notice Sums over payments, in wei; `paid` is `burned` plus `held`.
    struct Totals {
        /// Number of payments.
        uint64 count;
        /// Coin paid.
        uint256 paid;
        /// Coin burned.
        uint256 burned;
        /// Coin held, withdrawn or not.
        uint256 held;
    }

    /// @notice `payer` paid a fee of `source`; `ref` is the payer's order.
    event FeePaid(
        bytes32 indexed source, bytes32 indexed ref, address indexed payer, uint256 amount, uint256 burned, uint256 held
    );
    /// @notice Held fees went to the treasury.
    event HeldFeesWithdrawn(address indexed treasury, uint256 amount);

    /// @dev The treasury must not be the zero address.
    error PlatformFeesZeroAddress();
    /// @dev Not one of the seven sources.
    error PlatformFeesUnknownSource(bytes32 source);
    /// @dev No coin was sent.
    error PlatformFeesZeroAmount();
    /// @dev There is nothing to withdraw.
    error PlatformFeesNothingHeld();
    /// @dev The recipient refused the coin.
    error PlatformFeesTransferFailed(address recipient, uint256 amount);

    /// @notice Pays a fee. The same `ref` may be paid again; what an order is worth is decided off chain.
    /// @dev Requirements: a known source; some coin.
    /// @param source keccak256 of the source's name.
    /// @param ref The order that is paid.
    function pay(bytes32 source, bytes32 ref) external payable;

    /// @notice Sends everything held to the treasury; anybody may call.
    /// @dev Requirements: there is something to send; the treasury accepts it.
    function withdraw() external;

    /// @notice Sums over all sources.
    function getTotals() external view returns (Totals memory);

    /// @notice Sums of one source.
    /// @dev Requirements: a known source.
    function getSourceTotals(bytes32 source) external view returns (Totals memory);

    /// @notice The seven source ids, in a fixed order.
    function getSources() external view returns (bytes32[7] memory);

    /// @notice Whether `source` is one of the seven.
    function isSource(bytes32 source) external view returns (bool);

    /// @notice Where held fees go.
    function treasury() external view returns (address);
}
