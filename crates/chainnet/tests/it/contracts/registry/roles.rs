//! Who may do what, and how roles change hands.

use alloy_primitives::{Address, B256, FixedBytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolConstructor};
use contracts::{
    address::{REGISTRY, TREASURY},
    bindings::PlatformValidatorRegistry as Registry,
};
use testkit::Draft;

use super::{DOWNTIME, JAILED};
use crate::contracts::{
    chain::TestChain,
    outcome::log,
    person::{ADMIN, Person, SLASHER, STRANGER},
};

fn admin_role() -> B256 {
    keccak256("ADMIN_ROLE")
}

fn slasher_role() -> B256 {
    keccak256("SLASHER_ROLE")
}

fn unauthorized(person: Person, role: B256) -> Registry::AccessControlUnauthorizedAccount {
    Registry::AccessControlUnauthorizedAccount { account: person.address(), neededRole: role }
}

#[tokio::test]
async fn roles_are_held_by_the_admin_and_the_slasher_of_the_genesis() {
    let chain = TestChain::start().await;
    assert_eq!(chain.view(REGISTRY, &Registry::DEFAULT_ADMIN_ROLECall {}).await, B256::ZERO);
    assert_eq!(chain.view(REGISTRY, &Registry::ADMIN_ROLECall {}).await, admin_role());
    assert_eq!(chain.view(REGISTRY, &Registry::SLASHER_ROLECall {}).await, slasher_role());
    for (role, holder) in [(B256::ZERO, ADMIN), (admin_role(), ADMIN), (slasher_role(), SLASHER)] {
        assert_eq!(chain.view(REGISTRY, &Registry::getRoleAdminCall { role }).await, B256::ZERO);
        for person in [ADMIN, SLASHER, STRANGER, Person::Validator(0)] {
            let call = Registry::hasRoleCall { role, account: person.address() };
            assert_eq!(chain.view(REGISTRY, &call).await, person == holder, "{role} of {person:?}");
        }
    }
}

#[tokio::test]
async fn every_restricted_function_refuses_everybody_without_its_role() {
    let mut chain = TestChain::start().await;
    let operator = Person::Validator(0).address();
    let (admin, slasher) = (admin_role(), slasher_role());
    let calls = [
        (admin, Registry::distributeRewardsCall { operator, amount: U256::ZERO }.abi_encode()),
        (admin, Registry::setMaxValidatorsCall { maxValidators: U256::from(21) }.abi_encode()),
        (admin, Registry::expandToPhaseCall { phase: 2 }.abi_encode()),
        (admin, Registry::setCommunityRegistrationOpenCall { open: true }.abi_encode()),
        (admin, Registry::setOperatorApprovalCall { operator, approved: true }.abi_encode()),
        (admin, Registry::removeValidatorCall { operator, reason: String::new() }.abi_encode()),
        (slasher, Registry::slashValidatorCall { operator, reason: DOWNTIME }.abi_encode()),
        (B256::ZERO, Registry::grantRoleCall { role: admin, account: operator }.abi_encode()),
        (B256::ZERO, Registry::revokeRoleCall { role: slasher, account: SLASHER.address() }.abi_encode()),
    ];
    for (role, call) in calls {
        let other = if role == slasher { ADMIN } else { SLASHER };
        for person in [other, STRANGER, Person::Validator(0)] {
            let outcome = chain.mine_one(person, Draft::call(REGISTRY, call.clone())).await;
            outcome.reverts_with(unauthorized(person, role));
        }
    }
}

#[tokio::test]
async fn a_role_is_granted_used_and_revoked() {
    let mut chain = TestChain::start().await;
    let (role, account, sender) = (slasher_role(), STRANGER.address(), ADMIN.address());
    let slash = Registry::slashValidatorCall { operator: Person::Validator(0).address(), reason: DOWNTIME };
    chain.send(STRANGER, REGISTRY, &slash).await.reverts_with(unauthorized(STRANGER, role));

    let granted = Registry::RoleGranted { role, account, sender };
    let outcome = chain.send(ADMIN, REGISTRY, &Registry::grantRoleCall { role, account }).await;
    let _ = outcome.emits(REGISTRY, [log(&granted)]);
    let _ = chain.send(STRANGER, REGISTRY, &slash).await.succeeds();
    assert_eq!(chain.status(Person::Validator(0)).await, JAILED);

    let revoked = Registry::RoleRevoked { role, account, sender };
    let outcome = chain.send(ADMIN, REGISTRY, &Registry::revokeRoleCall { role, account }).await;
    let _ = outcome.emits(REGISTRY, [log(&revoked)]);
    chain.send(STRANGER, REGISTRY, &slash).await.reverts_with(unauthorized(STRANGER, role));
}

#[tokio::test]
async fn a_role_is_given_up_by_its_holder_only() {
    let mut chain = TestChain::start().await;
    let (role, account) = (slasher_role(), SLASHER.address());
    let renounce = Registry::renounceRoleCall { role, callerConfirmation: account };
    chain.send(ADMIN, REGISTRY, &renounce).await.reverts_with(Registry::AccessControlBadConfirmation {});
    let revoked = Registry::RoleRevoked { role, account, sender: account };
    let _ = chain.send(SLASHER, REGISTRY, &renounce).await.emits(REGISTRY, [log(&revoked)]);
    chain.slash(Person::Validator(0), DOWNTIME).await.reverts_with(unauthorized(SLASHER, role));
}

#[tokio::test]
async fn the_registry_says_that_it_has_roles() {
    let chain = TestChain::start().await;
    // IERC165, IAccessControl, and the id that is never supported.
    for (id, supported) in [(0x01ff_c9a7_u32, true), (0x7965_db0b, true), (0xffff_ffff, false)] {
        let call = Registry::supportsInterfaceCall { interfaceId: FixedBytes(id.to_be_bytes()) };
        assert_eq!(chain.view(REGISTRY, &call).await, supported, "{id:#x}");
    }
}

#[tokio::test]
async fn a_registry_without_admin_slasher_or_treasury_cannot_be_deployed() {
    let mut chain = TestChain::start().await;
    let people = [ADMIN.address(), SLASHER.address(), TREASURY];
    let deployment = |[admin, slasher, treasury_]: [Address; 3]| {
        let arguments = Registry::constructorCall { admin, slasher, treasury_ }.abi_encode();
        [contracts::PlatformValidatorRegistry::BYTECODE.to_vec(), arguments].concat()
    };
    for missing in 0..3 {
        let mut people = people;
        people[missing] = Address::ZERO;
        let outcome = chain.deploy(STRANGER, deployment(people)).await;
        outcome.reverts_with(Registry::ValidatorRegistryZeroAddress {});
    }
    let registry = chain.deploy(STRANGER, deployment(people)).await.deployed();
    assert_eq!(chain.view(registry, &Registry::getOpenSlotsCall {}).await, U256::from(5));
}

#[tokio::test]
async fn an_approval_names_somebody() {
    let mut chain = TestChain::start().await;
    let nobody = Registry::setOperatorApprovalCall { operator: Address::ZERO, approved: true };
    chain.send(ADMIN, REGISTRY, &nobody).await.reverts_with(Registry::ValidatorRegistryZeroAddress {});
}
