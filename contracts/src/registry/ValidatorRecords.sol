// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IPlatformValidatorRegistry} from "../interfaces/IPlatformValidatorRegistry.sol";
import {ExpansionProgram} from "./ExpansionProgram.sol";

/// @title The registry's books: records, node addresses, and the four parts of the balance.
abstract contract ValidatorRecords is ExpansionProgram {
    /// @notice How long stake waits after leaving the set.
    uint64 public constant UNBONDING_DURATION = 7 days;

    mapping(address operator => Validator) internal _validators;
    uint256 internal _staked;
    uint256 internal _unbonding;
    uint256 internal _rewards;
    uint256 internal _penalties;

    /// Every operator that ever registered, in order; only ever read by page.
    address[] private _operators;
    mapping(address consensus => address operator) private _operatorOf;

    /// @inheritdoc IPlatformValidatorRegistry
    function getValidator(address operator) external view returns (Validator memory) {
        return _validators[operator];
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function validatorCount() external view returns (uint256) {
        return _operators.length;
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function getValidators(uint256 offset, uint256 limit) external view returns (Validator[] memory page) {
        uint256 count = _operators.length;
        uint256 available = offset < count ? count - offset : 0;
        page = new Validator[](limit < available ? limit : available);
        for (uint256 i = 0; i < page.length; ++i) {
            page[i] = _validators[_operators[offset + i]];
        }
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function operatorOf(address consensus) external view returns (address) {
        return _operatorOf[consensus];
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function getAccounting()
        external
        view
        returns (uint256 staked, uint256 unbonding, uint256 rewards, uint256 penalties)
    {
        return (_staked, _unbonding, _rewards, _penalties);
    }

    /// @dev Makes `operator` a member, or reverts when its past or the program forbids it.
    function _admit(address operator) internal returns (Validator storage validator) {
        validator = _validators[operator];
        ValidatorStatus status = validator.status;
        if (_isMember(status) || status == ValidatorStatus.SLASHED || validator.stake != 0) {
            revert ValidatorRegistryWrongStatus(operator, status);
        }
        _takeSlot(operator, status == ValidatorStatus.REMOVED);
        if (status == ValidatorStatus.NONE) _operators.push(operator);
    }

    /// @dev Names `consensus` as the validator's node address; nobody else may use it.
    function _claimConsensusAddress(Validator storage validator, address consensus) internal {
        address holder = _operatorOf[consensus];
        if (holder != address(0)) revert ValidatorRegistryConsensusAddressTaken(consensus, holder);
        _operatorOf[consensus] = validator.operator;
        _replaceConsensusAddress(validator, consensus);
    }

    /// @dev Takes `consensus` away from the operator that uses it; says whether there was one.
    function _freeConsensusAddress(address consensus) internal returns (bool wasUsed) {
        address holder = _operatorOf[consensus];
        wasUsed = holder != address(0);
        if (wasUsed) _replaceConsensusAddress(_validators[holder], address(0));
    }

    /// @dev Gives `validator` a status outside the set, frees its slot if it was a member, and starts the wait.
    function _leave(Validator storage validator, ValidatorStatus status) internal {
        if (_isMember(validator.status)) {
            _freeSlot();
            _staked -= validator.stake;
            _unbonding += validator.stake;
        }
        validator.status = status;
        validator.jailedUntil = 0;
        validator.withdrawableAt = uint64(block.timestamp) + UNBONDING_DURATION;
    }

    function _member(address operator) internal view returns (Validator storage validator) {
        validator = _validators[operator];
        if (!_isMember(validator.status)) revert ValidatorRegistryWrongStatus(operator, validator.status);
    }

    function _isMember(ValidatorStatus status) internal pure returns (bool) {
        return status == ValidatorStatus.ACTIVE || status == ValidatorStatus.JAILED;
    }

    /// @dev Frees the validator's node address and writes `current` in its place.
    function _replaceConsensusAddress(Validator storage validator, address current) private {
        address previous = validator.consensus;
        if (previous != address(0)) delete _operatorOf[previous];
        validator.consensus = current;
        emit ConsensusAddressChanged(validator.operator, previous, current);
    }
}
