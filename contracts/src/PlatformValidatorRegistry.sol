// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {IPlatformValidatorRegistry} from "./interfaces/IPlatformValidatorRegistry.sol";
import {ValidatorRecords} from "./registry/ValidatorRecords.sol";

/// @title The register of the network's validators; {IPlatformValidatorRegistry} describes it.
/// @dev This file owns the transitions of a validator and every movement of coin.
contract PlatformValidatorRegistry is ValidatorRecords, ReentrancyGuard {
    /// @notice May slash.
    bytes32 public constant SLASHER_ROLE = keccak256("SLASHER_ROLE");

    /// @notice Least stake of a registration, in wei.
    uint256 public constant MIN_STAKE = 100_000 ether;
    /// @notice Highest commission, in basis points.
    uint16 public constant MAX_COMMISSION_BPS = 2_000;
    /// @notice How long a slash jails.
    uint64 public constant JAIL_DURATION = 7 days;
    /// @notice Slash that removes.
    uint8 public constant MAX_SLASHES = 3;
    /// @notice Slash reason: the node was down.
    uint8 public constant REASON_DOWNTIME = 1;
    /// @notice Slash reason: the node signed two blocks of one height and round.
    uint8 public constant REASON_DOUBLE_SIGN = 2;
    /// @notice Penalty for downtime, in basis points of the stake.
    uint256 public constant DOWNTIME_PENALTY_BPS = 100;
    /// @notice Penalty for double-signing, in basis points of the stake.
    uint256 public constant DOUBLE_SIGN_PENALTY_BPS = 500;

    uint256 private constant BPS = 10_000;
    uint256 private constant MIN_MONIKER_BYTES = 3;
    uint256 private constant MAX_MONIKER_BYTES = 160;
    uint256 private constant MAX_WEBSITE_BYTES = 256;

    address private immutable _treasury;

    /// @param admin Receives DEFAULT_ADMIN_ROLE and ADMIN_ROLE.
    /// @param slasher Receives SLASHER_ROLE.
    /// @param treasury_ Where penalties go.
    constructor(address admin, address slasher, address treasury_) {
        if (admin == address(0) || slasher == address(0) || treasury_ == address(0)) {
            revert ValidatorRegistryZeroAddress();
        }
        _treasury = treasury_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(ADMIN_ROLE, admin);
        _grantRole(SLASHER_ROLE, slasher);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function registerValidator(string calldata moniker, string calldata website, uint256 stake, uint16 commissionBps)
        external
        payable
    {
        _checkTerms(moniker, website, stake, commissionBps);
        Validator storage validator = _admit(msg.sender);
        validator.operator = msg.sender;
        validator.stake = stake;
        validator.registeredAt = uint64(block.timestamp);
        validator.withdrawableAt = 0;
        validator.commissionBps = commissionBps;
        validator.status = ValidatorStatus.ACTIVE;
        validator.moniker = moniker;
        validator.website = website;
        _staked += stake;
        emit ValidatorRegistered(msg.sender, moniker, website, stake, commissionBps);
        // The sender holds the key of its own address, so that no other claim to it counts.
        _freeConsensusAddress(msg.sender);
        _claimConsensusAddress(validator, msg.sender);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function setConsensusAddress(address consensus) external {
        Validator storage validator = _member(msg.sender);
        if (consensus == address(0)) revert ValidatorRegistryZeroAddress();
        _claimConsensusAddress(validator, consensus);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function releaseConsensusAddress() external {
        if (!_freeConsensusAddress(msg.sender)) revert ValidatorRegistryConsensusAddressUnknown(msg.sender);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function requestExit() external {
        Validator storage validator = _member(msg.sender);
        _leave(validator, ValidatorStatus.INACTIVE);
        emit ExitRequested(msg.sender, validator.stake, validator.withdrawableAt);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function withdrawStake() external nonReentrant {
        Validator storage validator = _validators[msg.sender];
        ValidatorStatus status = validator.status;
        if (status == ValidatorStatus.NONE || _isMember(status)) {
            revert ValidatorRegistryWrongStatus(msg.sender, status);
        }
        uint256 amount = validator.stake;
        if (amount == 0) revert ValidatorRegistryNothingToPay();
        if (block.timestamp < validator.withdrawableAt) {
            revert ValidatorRegistryStakeLocked(msg.sender, validator.withdrawableAt);
        }

        validator.stake = 0;
        _unbonding -= amount;
        _freeConsensusAddress(validator.consensus);
        emit StakeWithdrawn(msg.sender, amount);
        _send(msg.sender, amount);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function claimRewards() external nonReentrant {
        Validator storage validator = _validators[msg.sender];
        uint256 amount = validator.rewards;
        if (amount == 0) revert ValidatorRegistryNothingToPay();

        validator.rewards = 0;
        _rewards -= amount;
        emit RewardsClaimed(msg.sender, amount);
        _send(msg.sender, amount);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function distributeRewards(address operator, uint256 amount) external payable onlyRole(ADMIN_ROLE) {
        if (amount != msg.value) revert ValidatorRegistryAmountMismatch(amount, msg.value);
        if (amount == 0) revert ValidatorRegistryNothingToPay();
        Validator storage validator = _validators[operator];
        if (!_isMember(validator.status) && validator.status != ValidatorStatus.INACTIVE) {
            revert ValidatorRegistryWrongStatus(operator, validator.status);
        }

        validator.rewards += amount;
        _rewards += amount;
        emit RewardsDistributed(operator, amount);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function slashValidator(address operator, uint8 reason) external onlyRole(SLASHER_ROLE) {
        Validator storage validator = _validators[operator];
        bool member = _isMember(validator.status);
        // An INACTIVE operator without stake has withdrawn: it is out of reach.
        if (!member && (validator.status != ValidatorStatus.INACTIVE || validator.stake == 0)) {
            revert ValidatorRegistryWrongStatus(operator, validator.status);
        }

        uint256 penalty = (validator.stake * _penaltyBps(reason)) / BPS;
        validator.stake -= penalty;
        _penalties += penalty;
        if (member) _staked -= penalty;
        else _unbonding -= penalty;
        uint8 slashCount = validator.slashCount;
        // A count at its ceiling stays there: an operator that an admin let in again is removed by its next slash.
        if (slashCount < MAX_SLASHES) slashCount += 1;
        validator.slashCount = slashCount;
        emit ValidatorSlashed(operator, reason, penalty, validator.stake, slashCount);

        if (slashCount == MAX_SLASHES) {
            _leave(validator, ValidatorStatus.SLASHED);
            emit ValidatorRemoved(operator, ValidatorStatus.SLASHED, "third slash");
        } else if (member) {
            validator.status = ValidatorStatus.JAILED;
            validator.jailedUntil = uint64(block.timestamp) + JAIL_DURATION;
            emit ValidatorJailed(operator, validator.jailedUntil);
        } else {
            _leave(validator, ValidatorStatus.INACTIVE);
        }
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function unjailValidator(address operator) external {
        Validator storage validator = _validators[operator];
        if (validator.status != ValidatorStatus.JAILED) {
            revert ValidatorRegistryWrongStatus(operator, validator.status);
        }
        if (block.timestamp < validator.jailedUntil) {
            revert ValidatorRegistryStillJailed(operator, validator.jailedUntil);
        }

        validator.status = ValidatorStatus.ACTIVE;
        validator.jailedUntil = 0;
        emit ValidatorUnjailed(operator);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function removeValidator(address operator, string calldata reason) external onlyRole(ADMIN_ROLE) {
        Validator storage validator = _validators[operator];
        ValidatorStatus status = validator.status;
        if (status == ValidatorStatus.NONE || status == ValidatorStatus.REMOVED) {
            revert ValidatorRegistryWrongStatus(operator, status);
        }
        if (status == ValidatorStatus.ACTIVE && validator.slashCount == 0) {
            revert ValidatorRegistryNotRemovable(operator);
        }

        if (_isMember(status)) _leave(validator, ValidatorStatus.REMOVED);
        else validator.status = ValidatorStatus.REMOVED;
        emit ValidatorRemoved(operator, ValidatorStatus.REMOVED, reason);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function withdrawPenalties() external nonReentrant {
        uint256 amount = _penalties;
        if (amount == 0) revert ValidatorRegistryNothingToPay();

        _penalties = 0;
        emit PenaltiesWithdrawn(_treasury, amount);
        _send(_treasury, amount);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function treasury() external view returns (address) {
        return _treasury;
    }

    function _send(address recipient, uint256 amount) private {
        (bool accepted,) = recipient.call{value: amount}("");
        if (!accepted) revert ValidatorRegistryTransferFailed(recipient, amount);
    }

    function _checkTerms(string calldata moniker, string calldata website, uint256 stake, uint16 commissionBps)
        private
        view
    {
        uint256 monikerBytes = bytes(moniker).length;
        if (monikerBytes < MIN_MONIKER_BYTES || monikerBytes > MAX_MONIKER_BYTES) {
            revert ValidatorRegistryMonikerLength(monikerBytes);
        }
        uint256 websiteBytes = bytes(website).length;
        if (websiteBytes > MAX_WEBSITE_BYTES) revert ValidatorRegistryWebsiteLength(websiteBytes);
        if (commissionBps > MAX_COMMISSION_BPS) {
            revert ValidatorRegistryCommissionTooHigh(commissionBps, MAX_COMMISSION_BPS);
        }
        if (stake != msg.value) revert ValidatorRegistryAmountMismatch(stake, msg.value);
        if (stake < MIN_STAKE) revert ValidatorRegistryStakeTooLow(stake, MIN_STAKE);
    }

    function _penaltyBps(uint8 reason) private pure returns (uint256) {
        if (reason == REASON_DOWNTIME) return DOWNTIME_PENALTY_BPS;
        if (reason == REASON_DOUBLE_SIGN) return DOUBLE_SIGN_PENALTY_BPS;
        revert ValidatorRegistryUnknownSlashReason(reason);
    }
}
