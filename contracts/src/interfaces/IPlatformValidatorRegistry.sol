// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title The register of the network's validators: who is in the set, with what stake, and in what standing.
/// @notice The registry does not seal blocks. It is the record that the IBFT 2.0 votes of the nodes follow.
///
/// Money. The contract's balance is always the sum of four parts (see {getAccounting}): stake of members, stake
/// that waits for withdrawal, rewards not yet claimed, and penalties not yet taken by the treasury. Everything
/// leaves by pull, so that no recipient can hold up anybody else. Plain transfers revert.
///
/// Standing. `current` counts the members of the set, that is ACTIVE and JAILED validators; every other status has
/// given its slot back. An operator's record and slash count outlive its membership.
interface IPlatformValidatorRegistry {
    /// @notice Standing of an operator.
    /// @dev NONE: never registered. ACTIVE: member. JAILED: member that must wait after a slash. INACTIVE: left by
    /// own request; its stake waits, then is withdrawn. SLASHED: removed by its third slash. REMOVED: removed by
    /// an admin.
    enum ValidatorStatus {
        NONE,
        ACTIVE,
        JAILED,
        INACTIVE,
        SLASHED,
        REMOVED
    }

    /// @notice The record of one operator.
    struct Validator {
        /// The account that registered, and that stake and rewards are paid to.
        address operator;
        /// The address the node seals with; zero when it was released.
        address consensus;
        /// Stake still held here, in wei.
        uint256 stake;
        /// Rewards not yet claimed, in wei.
        uint256 rewards;
        /// Time of the latest registration.
        uint64 registeredAt;
        /// Earliest time of {unjailValidator}; zero when not jailed.
        uint64 jailedUntil;
        /// Earliest time of {withdrawStake}; zero for members.
        uint64 withdrawableAt;
        /// Commission in basis points.
        uint16 commissionBps;
        /// Slashes ever received; a new registration does not reset it.
        uint8 slashCount;
        /// Standing.
        ValidatorStatus status;
        /// Display name, 3 to 160 bytes.
        string moniker;
        /// Web address, at most 256 bytes, may be empty.
        string website;
    }

    /// @notice `operator` became a member.
    event ValidatorRegistered(
        address indexed operator, string moniker, string website, uint256 stake, uint16 commissionBps
    );
    /// @notice The node address of `operator` changed from `previous` to `current` (zero: none).
    event ConsensusAddressChanged(address indexed operator, address indexed previous, address indexed current);
    /// @notice An admin allowed `operator` to register while registration is closed, or took that back.
    event OperatorApprovalChanged(address indexed operator, bool approved);
    /// @notice `operator` lost `penalty` of its stake; `stake` is what is left.
    event ValidatorSlashed(
        address indexed operator, uint8 indexed reason, uint256 penalty, uint256 stake, uint8 slashCount
    );
    /// @notice `operator` is jailed, not to be released before `until`.
    event ValidatorJailed(address indexed operator, uint64 until);
    /// @notice `operator` is ACTIVE again.
    event ValidatorUnjailed(address indexed operator);
    /// @notice `operator` left for good, with `status` SLASHED or REMOVED.
    event ValidatorRemoved(address indexed operator, ValidatorStatus indexed status, string reason);
    /// @notice `operator` asked to leave; `stake` can be withdrawn from `withdrawableAt` on.
    event ExitRequested(address indexed operator, uint256 stake, uint64 withdrawableAt);
    /// @notice `operator` took its stake back.
    event StakeWithdrawn(address indexed operator, uint256 amount);
    /// @notice `amount` was set aside for `operator`.
    event RewardsDistributed(address indexed operator, uint256 amount);
    /// @notice `operator` took its rewards.
    event RewardsClaimed(address indexed operator, uint256 amount);
    /// @notice Penalties went to the treasury.
    event PenaltiesWithdrawn(address indexed treasury, uint256 amount);
    /// @notice The program entered `phase`, which has `maxValidators` slots.
    event PhaseChanged(uint8 indexed phase, uint256 maxValidators);
    /// @notice The number of slots changed.
    event MaxValidatorsChanged(uint256 maxValidators);
    /// @notice Registration without approval was opened or closed.
    event CommunityRegistrationChanged(bool open);

    /// @dev An address that must not be zero is.
    error ValidatorRegistryZeroAddress();
    /// @dev The operator's standing does not permit the call.
    error ValidatorRegistryWrongStatus(address operator, ValidatorStatus status);
    /// @dev Registration is closed, or the operator was removed before, and no admin approved it.
    error ValidatorRegistryNotApproved(address operator);
    /// @dev Every slot is taken.
    error ValidatorRegistryFull(uint256 maxValidators);
    /// @dev The moniker's length in bytes is out of range.
    error ValidatorRegistryMonikerLength(uint256 length);
    /// @dev The website's length in bytes is out of range.
    error ValidatorRegistryWebsiteLength(uint256 length);
    /// @dev The commission is above the maximum.
    error ValidatorRegistryCommissionTooHigh(uint16 commissionBps, uint16 maximum);
    /// @dev The amount stated and the coin sent differ.
    error ValidatorRegistryAmountMismatch(uint256 stated, uint256 sent);
    /// @dev The stake is below the minimum.
    error ValidatorRegistryStakeTooLow(uint256 stake, uint256 minimum);
    /// @dev Another operator uses this node address.
    error ValidatorRegistryConsensusAddressTaken(address consensus, address operator);
    /// @dev Nobody uses this node address.
    error ValidatorRegistryConsensusAddressUnknown(address consensus);
    /// @dev Neither downtime nor double-sign.
    error ValidatorRegistryUnknownSlashReason(uint8 reason);
    /// @dev The jail has not ended.
    error ValidatorRegistryStillJailed(address operator, uint64 until);
    /// @dev A clean active validator cannot be removed.
    error ValidatorRegistryNotRemovable(address operator);
    /// @dev The stake's waiting time has not ended.
    error ValidatorRegistryStakeLocked(address operator, uint64 until);
    /// @dev There is no coin to move.
    error ValidatorRegistryNothingToPay();
    /// @dev The recipient refused the coin.
    error ValidatorRegistryTransferFailed(address recipient, uint256 amount);
    /// @dev Not phase 1, 2 or 3.
    error ValidatorRegistryUnknownPhase(uint8 phase);
    /// @dev Not between 1 and the target.
    error ValidatorRegistryMaxOutOfRange(uint256 maxValidators);

    /// @notice Joins the set with the coin sent as stake. The node address starts as the sender's own address; if
    /// another operator had claimed that address, the sender, who holds its key, takes it back.
    /// @dev Requirements:
    /// - the sender is no member and has no stake left here, and its status is not SLASHED (NONE, INACTIVE after
    ///   {withdrawStake}, or REMOVED after {withdrawStake});
    /// - registration is open, or the sender is approved; a REMOVED operator needs approval in any case. The
    ///   approval is used up;
    /// - a slot is free;
    /// - `stake` equals the coin sent and is at least the minimum; lengths and commission are in range.
    /// @param moniker Display name, 3 to 160 bytes.
    /// @param website Web address, 0 to 256 bytes.
    /// @param stake Stake in wei.
    /// @param commissionBps Commission in basis points, at most 2000.
    function registerValidator(string calldata moniker, string calldata website, uint256 stake, uint16 commissionBps)
        external
        payable;

    /// @notice Names the address the sender's node seals with.
    /// @dev Requirements: the sender is a member; `consensus` is not zero and not claimed by another operator.
    function setConsensusAddress(address consensus) external;

    /// @notice Frees the sender's address from the operator that claimed it as its node address.
    /// @dev The key's holder has the last word, so that claiming somebody else's address gains nothing.
    /// Requirements: some operator claimed the sender's address.
    function releaseConsensusAddress() external;

    /// @notice Leaves the set. The slot is free at once, the stake waits for 7 days and stays slashable.
    /// @dev A jailed validator may leave too: the wait is never shorter than its jail.
    /// Requirements: the sender is a member.
    function requestExit() external;

    /// @notice Pays the sender's whole stake back and releases its node address.
    /// @dev Requirements: the sender left, was slashed out or removed; the wait is over; stake is left.
    function withdrawStake() external;

    /// @notice Pays out the sender's rewards, whatever its status.
    /// @dev Requirements: there are rewards.
    function claimRewards() external;

    /// @notice Sets the coin sent aside for `operator`.
    /// @dev Requirements: admin; `amount` equals the coin sent and is not zero; the operator is ACTIVE, JAILED or
    /// INACTIVE.
    function distributeRewards(address operator, uint256 amount) external payable;

    /// @notice Takes 1% (reason 1, downtime) or 5% (reason 2, double-sign) of the present stake.
    /// @dev The first and second slash jail a member for 7 days from now, also when it is in jail already. An
    /// INACTIVE operator is slashed without jail, and its wait starts anew. The third slash removes with status
    /// SLASHED; the rest can be withdrawn after 7 days. The remaining stake may fall below the minimum.
    /// Requirements: slasher; a known reason; the operator is ACTIVE, JAILED or INACTIVE with stake.
    function slashValidator(address operator, uint8 reason) external;

    /// @notice Releases `operator` from jail; anybody may call.
    /// @dev Requirements: the operator is JAILED and its jail has ended.
    function unjailValidator(address operator) external;

    /// @notice Removes `operator`; what is left of its stake can be withdrawn after the wait (7 days for a member,
    /// the running wait otherwise).
    /// @dev A SLASHED operator can be marked REMOVED, which lets an admin approve it again later.
    /// Requirements: admin; the operator is INACTIVE, SLASHED, JAILED, or ACTIVE with at least one slash.
    function removeValidator(address operator, string calldata reason) external;

    /// @notice Sends all penalties to the treasury; anybody may call.
    /// @dev Requirements: there are penalties; the treasury accepts them.
    function withdrawPenalties() external;

    /// @notice Allows `operator` to register while registration is closed, or takes that back.
    /// @dev Requirements: admin; `operator` is not zero.
    function setOperatorApproval(address operator, bool approved) external;

    /// @notice Sets the number of slots. Fewer than there are members removes nobody, it only closes the door.
    /// @dev Requirements: admin; between 1 and 21.
    function setMaxValidators(uint256 maxValidators) external;

    /// @notice Enters phase 1, 2 or 3: 5, 11 or 21 slots, and registration is opened.
    /// @dev Requirements: admin; a known phase.
    function expandToPhase(uint8 phase) external;

    /// @notice Opens or closes registration without approval.
    /// @dev Requirements: admin.
    function setCommunityRegistrationOpen(bool open) external;

    /// @notice Slots that are free now.
    function getOpenSlots() external view returns (uint256);

    /// @notice Where the program stands.
    /// @return phase 1, 2 or 3.
    /// @return current Members: ACTIVE and JAILED.
    /// @return max Slots.
    /// @return target Slots of the last phase.
    /// @return communityOpen Whether anybody may register.
    function getExpansionStatus()
        external
        view
        returns (uint8 phase, uint256 current, uint256 max, uint256 target, bool communityOpen);

    /// @notice Whether anybody may register.
    function communityRegistrationOpen() external view returns (bool);

    /// @notice Whether `operator` may register while registration is closed.
    function isOperatorApproved(address operator) external view returns (bool);

    /// @notice The record of `operator`; status NONE when it never registered.
    function getValidator(address operator) external view returns (Validator memory);

    /// @notice Number of records, former members included.
    function validatorCount() external view returns (uint256);

    /// @notice Records in order of first registration, at most `limit` from `offset` on.
    function getValidators(uint256 offset, uint256 limit) external view returns (Validator[] memory);

    /// @notice The operator whose node seals with `consensus`; zero when there is none.
    function operatorOf(address consensus) external view returns (address);

    /// @notice Where penalties go.
    function treasury() external view returns (address);

    /// @notice The four parts of the contract's balance, in wei.
    /// @return staked Stake of members.
    /// @return unbonding Stake that waits for {withdrawStake}.
    /// @return rewards Rewards not yet claimed.
    /// @return penalties Penalties not yet taken.
    function getAccounting()
        external
        view
        returns (uint256 staked, uint256 unbonding, uint256 rewards, uint256 penalties);
}
