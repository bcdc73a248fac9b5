// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IPlatformValidatorRegistry} from "../interfaces/IPlatformValidatorRegistry.sol";

/// @title The program's side of the registry: phases, slots, and who may take one.
abstract contract ExpansionProgram is IPlatformValidatorRegistry, AccessControl {
    /// @notice May run the program: slots, phases, approvals, rewards, removals.
    bytes32 public constant ADMIN_ROLE = keccak256("ADMIN_ROLE");

    /// @notice Slots of the last phase.
    uint256 public constant TARGET_VALIDATORS = 21;

    mapping(address operator => bool) private _approved;
    uint256 private _memberCount;
    uint256 private _maxValidators;
    uint8 private _phase;
    bool private _communityOpen;

    constructor() {
        _setPhase(1);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function setOperatorApproval(address operator, bool approved) external onlyRole(ADMIN_ROLE) {
        if (operator == address(0)) revert ValidatorRegistryZeroAddress();
        _approved[operator] = approved;
        emit OperatorApprovalChanged(operator, approved);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function setMaxValidators(uint256 maxValidators) external onlyRole(ADMIN_ROLE) {
        if (maxValidators == 0 || maxValidators > TARGET_VALIDATORS) {
            revert ValidatorRegistryMaxOutOfRange(maxValidators);
        }
        _maxValidators = maxValidators;
        emit MaxValidatorsChanged(maxValidators);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function expandToPhase(uint8 phase) external onlyRole(ADMIN_ROLE) {
        _setPhase(phase);
        _communityOpen = true;
        emit CommunityRegistrationChanged(true);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function setCommunityRegistrationOpen(bool open) external onlyRole(ADMIN_ROLE) {
        _communityOpen = open;
        emit CommunityRegistrationChanged(open);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function getExpansionStatus()
        external
        view
        returns (uint8 phase, uint256 current, uint256 max, uint256 target, bool communityOpen)
    {
        return (_phase, _memberCount, _maxValidators, TARGET_VALIDATORS, _communityOpen);
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function communityRegistrationOpen() external view returns (bool) {
        return _communityOpen;
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function isOperatorApproved(address operator) external view returns (bool) {
        return _approved[operator];
    }

    /// @inheritdoc IPlatformValidatorRegistry
    function getOpenSlots() public view returns (uint256) {
        return _memberCount < _maxValidators ? _maxValidators - _memberCount : 0;
    }

    /// @dev Takes a slot for `operator` and uses its approval up. `returning`: an admin removed it before.
    function _takeSlot(address operator, bool returning) internal {
        bool approved = _approved[operator];
        if (!approved && (returning || !_communityOpen)) revert ValidatorRegistryNotApproved(operator);
        if (getOpenSlots() == 0) revert ValidatorRegistryFull(_maxValidators);

        _memberCount += 1;
        if (approved) {
            _approved[operator] = false;
            emit OperatorApprovalChanged(operator, false);
        }
    }

    /// @dev Gives a slot back.
    function _freeSlot() internal {
        _memberCount -= 1;
    }

    function _setPhase(uint8 phase) private {
        if (phase == 1) _maxValidators = 5;
        else if (phase == 2) _maxValidators = 11;
        else if (phase == 3) _maxValidators = TARGET_VALIDATORS;
        else revert ValidatorRegistryUnknownPhase(phase);
        _phase = phase;
        emit PhaseChanged(phase, _maxValidators);
    }
}
