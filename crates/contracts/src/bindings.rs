//! Types for calls, events and errors, made from the artifacts.
//!
//! Every contract has a module of its own, because two artifacts may declare types of the same name.

macro_rules! bind {
    ($(#[$doc:meta])* $module:ident, $name:ident, $path:literal) => {
        $(#[$doc])*
        #[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated from the artifact")]
        pub mod $module {
            alloy_sol_types::sol! {
                #[sol(all_derives)]
                $name, $path
            }
        }
        pub use $module::$name;
    };
}

bind!(
    /// The register of validators.
    registry, PlatformValidatorRegistry, "artifacts/PlatformValidatorRegistry.json"
);
bind!(
    /// The platform's till.
    fees, PlatformFees, "artifacts/PlatformFees.json"
);
bind!(
    /// Invoice payment.
    checkout, PlatformCheckout, "artifacts/PlatformCheckout.json"
);
bind!(
    /// Asks a contract wallet about a signature; never deployed.
    signature_validator, SignatureValidator, "artifacts/SignatureValidator.json"
);
bind!(
    /// Safe 1.4.1 singleton with events.
    safe_l2, SafeL2, "artifacts/SafeL2.json"
);
bind!(
    /// Safe 1.4.1 proxy.
    safe_proxy, SafeProxy, "artifacts/SafeProxy.json"
);
bind!(
    /// Safe 1.4.1 proxy factory.
    safe_proxy_factory, SafeProxyFactory, "artifacts/SafeProxyFactory.json"
);
bind!(
    /// Safe 1.4.1 fallback handler.
    safe_fallback_handler, CompatibilityFallbackHandler, "artifacts/CompatibilityFallbackHandler.json"
);
bind!(
    /// Safe 1.4.1 batch of calls.
    safe_multi_send, MultiSendCallOnly, "artifacts/MultiSendCallOnly.json"
);
bind!(
    /// Many reads in one call.
    multicall3, Multicall3, "artifacts/Multicall3.json"
);
