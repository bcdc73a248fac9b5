//! Whether a certificate proves what it claims.

use std::collections::BTreeSet;

use alloy_primitives::Address;

use crate::seal::SealScheme;

use super::height::Height;
use super::message::{Payload, PreparedCertificate, RoundChangePayload, Signed, View};
use super::rejection::Rejection;

/// Checks that a quorum has prepared the certificate's proposal at this height before `round`.
pub(super) fn check_prepared<B>(
    certificate: &PreparedCertificate,
    round: u32,
    height: &Height<B>,
    scheme: &impl SealScheme,
) -> Result<(), Rejection> {
    let proposal = &certificate.proposal;
    let view = proposal.payload.view;
    if view.height != height.number || view.round >= round {
        return Err(Rejection::ForeignCertificate { author: proposal.author });
    }
    let expected = height.proposer(view.round);
    if expected != Some(proposal.author) {
        return Err(Rejection::NotProposer { expected });
    }
    if !proposal.is_authentic(scheme) {
        return Err(Rejection::ForgedSignature);
    }
    let mut authors = BTreeSet::new();
    for prepare in &certificate.prepares {
        check_part(prepare, view, height, scheme, &mut authors)?;
        if prepare.payload.digest != proposal.payload.digest {
            return Err(Rejection::ForeignCertificate { author: prepare.author });
        }
    }
    if authors.contains(&proposal.author) {
        return Err(Rejection::PrepareFromProposer);
    }
    let needed = height.quorum().saturating_sub(1);
    if authors.len() < needed {
        return Err(Rejection::TooFewPrepares { found: authors.len(), needed });
    }
    Ok(())
}

/// Checks that a quorum asks for the round, and finds the latest prepared proposal among what they show.
pub(super) fn check_round_changes<'c, B>(
    certificate: &'c [Signed<RoundChangePayload>],
    view: View,
    height: &Height<B>,
    scheme: &impl SealScheme,
) -> Result<Option<&'c PreparedCertificate>, Rejection> {
    let mut authors = BTreeSet::new();
    let mut latest: Option<&PreparedCertificate> = None;
    for change in certificate {
        check_part(change, view, height, scheme, &mut authors)?;
        let Some(prepared) = change.payload.prepared.as_deref() else {
            continue;
        };
        // Validators usually show the same certificate; equality is far cheaper than its signatures.
        if latest == Some(prepared) {
            continue;
        }
        check_prepared(prepared, view.round, height, scheme)?;
        if latest.is_none_or(|other| prepared_round(other) < prepared_round(prepared)) {
            latest = Some(prepared);
        }
    }
    let needed = height.quorum();
    if authors.len() < needed {
        return Err(Rejection::TooFewRoundChanges { found: authors.len(), needed });
    }
    Ok(latest)
}

/// The round in which the certificate's proposal was prepared.
pub(super) fn prepared_round(certificate: &PreparedCertificate) -> u32 {
    certificate.proposal.payload.view.round
}

/// Checks one signed part of a certificate: a validator's, counted once, of the right round.
fn check_part<P: Payload, B>(
    part: &Signed<P>,
    view: View,
    height: &Height<B>,
    scheme: &impl SealScheme,
    authors: &mut BTreeSet<Address>,
) -> Result<(), Rejection> {
    let author = part.author;
    if part.payload.view() != view {
        return Err(Rejection::ForeignCertificate { author });
    }
    if !height.is_validator(author) {
        return Err(Rejection::NotValidator);
    }
    if !authors.insert(author) {
        return Err(Rejection::RepeatedAuthor { author });
    }
    if !part.is_authentic(scheme) {
        return Err(Rejection::ForgedSignature);
    }
    Ok(())
}
