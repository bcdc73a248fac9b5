// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {IPlatformFees} from "./interfaces/IPlatformFees.sol";

/// @title The platform's till; {IPlatformFees} describes it.
contract PlatformFees is IPlatformFees, ReentrancyGuard {
    /// @notice Where the burned part goes; nobody holds its key.
    address public constant BURN_ADDRESS = 0x000000000000000000000000000000000000dEaD;
    /// @notice Burned part of a fee, in basis points.
    uint256 public constant BURN_BPS = 3_000;

    uint256 private constant BPS = 10_000;

    bytes32 private constant DEVELOPER_PORTAL = keccak256("developer-portal");
    bytes32 private constant PAYMENTS = keccak256("payments");
    bytes32 private constant IDENTITY = keccak256("identity");
    bytes32 private constant BILL_PAYMENT = keccak256("bill-payment");
    bytes32 private constant MINTING = keccak256("minting");
    bytes32 private constant BRIDGE = keccak256("bridge");
    bytes32 private constant TOURNAMENT = keccak256("tournament");

    address private immutable _treasury;

    Totals private _totals;
    mapping(bytes32 source => Totals) private _sourceTotals;

    /// @param treasury_ Where held fees go.
    constructor(address treasury_) {
        if (treasury_ == address(0)) revert PlatformFeesZeroAddress();
        _treasury = treasury_;
    }

    /// @inheritdoc IPlatformFees
    function pay(bytes32 source, bytes32 ref) external payable nonReentrant {
        if (!isSource(source)) revert PlatformFeesUnknownSource(source);
        if (msg.value == 0) revert PlatformFeesZeroAmount();

        uint256 burned = (msg.value * BURN_BPS) / BPS;
        uint256 held = msg.value - burned;
        _add(_totals, burned, held);
        _add(_sourceTotals[source], burned, held);
        emit FeePaid(source, ref, msg.sender, msg.value, burned, held);
        _send(BURN_ADDRESS, burned);
    }

    /// @inheritdoc IPlatformFees
    function withdraw() external nonReentrant {
        // The whole balance: coin that was forced in belongs to the treasury too.
        uint256 amount = address(this).balance;
        if (amount == 0) revert PlatformFeesNothingHeld();
        emit HeldFeesWithdrawn(_treasury, amount);
        _send(_treasury, amount);
    }

    /// @inheritdoc IPlatformFees
    function getTotals() external view returns (Totals memory) {
        return _totals;
    }

    /// @inheritdoc IPlatformFees
    function getSourceTotals(bytes32 source) external view returns (Totals memory) {
        if (!isSource(source)) revert PlatformFeesUnknownSource(source);
        return _sourceTotals[source];
    }

    /// @inheritdoc IPlatformFees
    function treasury() external view returns (address) {
        return _treasury;
    }

    /// @inheritdoc IPlatformFees
    function getSources() external pure returns (bytes32[7] memory) {
        return [DEVELOPER_PORTAL, PAYMENTS, IDENTITY, BILL_PAYMENT, MINTING, BRIDGE, TOURNAMENT];
    }

    /// @inheritdoc IPlatformFees
    function isSource(bytes32 source) public pure returns (bool) {
        return source == DEVELOPER_PORTAL || source == PAYMENTS || source == IDENTITY || source == BILL_PAYMENT
            || source == MINTING || source == BRIDGE || source == TOURNAMENT;
    }

    function _add(Totals storage totals, uint256 burned, uint256 held) private {
        totals.count += 1;
        totals.paid += burned + held;
        totals.burned += burned;
        totals.held += held;
    }

    function _send(address recipient, uint256 amount) private {
        (bool accepted,) = recipient.call{value: amount}("");
        if (!accepted) revert PlatformFeesTransferFailed(recipient, amount);
    }
}
