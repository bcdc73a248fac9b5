// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title Asks a contract wallet about a signature, also one that is not there yet (ERC-6492).
/// @notice It is never deployed: its creation code is run in an `eth_call`, which undoes everything, and returns one byte,
/// 1 for a good signature and 0 for any other. A signature that cannot be taken apart reverts.
contract SignatureValidator {
    /// What a signature ends with that says how to deploy its wallet.
    bytes32 private constant COUNTERFACTUAL =
        0x6492649264926492649264926492649264926492649264926492649264926492;

    /// @param signer The wallet.
    /// @param hash What is to have been signed.
    /// @param signature The signature, wrapped by `abi.encode(factory, factoryCalldata, signature)` and the suffix or not.
    constructor(address signer, bytes32 hash, bytes memory signature) {
        uint256 length = signature.length;
        bytes32 suffix;
        if (length >= 32) {
            // The last word of the signature, which is in memory behind its length.
            assembly ("memory-safe") {
                suffix := mload(add(signature, length))
            }
        }
        if (suffix == COUNTERFACTUAL) {
            assembly ("memory-safe") {
                mstore(signature, sub(length, 32))
            }
            signature = _unwrap(signer, signature);
        }
        bool isValid = _isValid(signer, hash, signature);
        assembly ("memory-safe") {
            mstore8(0, isValid)
            return(0, 1)
        }
    }

    /// @dev Deploys the wallet unless it is there, and returns the signature inside. What comes of the deployment is seen by
    /// whether there is code then.
    function _unwrap(address signer, bytes memory wrapped) private returns (bytes memory signature) {
        address factory;
        bytes memory factoryCalldata;
        (factory, factoryCalldata, signature) = abi.decode(wrapped, (address, bytes, bytes));
        if (signer.code.length == 0) {
            (bool isDeployed,) = factory.call(factoryCalldata);
            isDeployed;
        }
    }

    /// @dev Anything but the magic value of ERC-1271, a revert and no code included, is a no.
    function _isValid(address signer, bytes32 hash, bytes memory signature) private view returns (bool) {
        if (signer.code.length == 0) return false;
        (bool hasAnswered, bytes memory answer) =
            signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (hash, signature)));
        return hasAnswered && answer.length >= 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
    }
}
