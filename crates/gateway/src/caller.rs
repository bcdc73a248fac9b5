//! Who asks: found once per HTTP request or WebSocket, counted with each request.

use std::{net::IpAddr, num::NonZeroU32, sync::Arc, time::Duration};

use access::{
    Allowance, Client, Grant, KeyDenied, LastKey, Quota, Sharing, Subject, client_address, presented_key,
};
use domain::Permission;
use jsonrpc::{Answer, Message};
use listen::{Charge, Request};
use parking_lot::Mutex;

use crate::{
    config::Door,
    gateway::Gateway,
    method,
    refusal::{Limited, Refusal},
};

/// The window of the limits.
const MINUTE: Duration = Duration::from_secs(60);
/// Bad keys of one address in a minute that are told what is wrong with them.
const DENIALS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(300).unwrap();

/// Whoever asks, and may.
pub(crate) struct Caller {
    address: IpAddr,
    /// Who is counted.
    subject: Subject,
    /// How much they may use.
    quota: Quota,
    grant: Option<Arc<Grant>>,
    /// The key, for a caller that stays: it may be taken back meanwhile.
    key: Option<Box<str>>,
    /// What was left when it was last counted.
    allowance: Mutex<Option<Allowance>>,
}

impl Caller {
    fn new(address: IpAddr, subject: Subject, quota: Quota, grant: Option<Arc<Grant>>) -> Self {
        Self { address, subject, quota, grant, key: None, allowance: Mutex::default() }
    }

    /// Who is counted.
    pub(crate) fn subject(&self) -> Subject {
        self.subject
    }

    /// A name that stays the same over requests: filters belong to it.
    pub(crate) fn owner(&self) -> String {
        match self.subject {
            Subject::Key(id) => format!("key:{id}"),
            Subject::Client(client) => format!("client:{client:?}"),
            Subject::Counted { purpose, number } => format!("{purpose}:{number}"),
        }
    }

    /// What was left when the caller was last counted.
    pub(crate) fn allowance(&self) -> Option<Allowance> {
        *self.allowance.lock()
    }
}

impl Gateway {
    /// Who made a request that arrived from `peer`.
    pub(crate) fn client(&self, peer: IpAddr, head: &Request<'_, '_>) -> IpAddr {
        client_address(peer, head, &self.access.trusted_proxies)
    }

    /// Lets whoever asks in, or says why not. `last` is the connection's.
    pub(crate) fn admit(
        &self,
        address: IpAddr,
        head: &Request<'_, '_>,
        key_in_path: Option<&str>,
        last: &LastKey,
    ) -> Result<Caller, Refusal> {
        match self.config.door {
            Door::Open { requests_per_minute } => {
                let subject = Subject::Client(Client::from(address));
                Ok(Caller::new(address, subject, Quota::per_minute(requests_per_minute), None))
            }
            Door::Keys => self.admit_by_key(address, head, key_in_path, last),
        }
    }

    /// Lets a caller in who stays, such as on a WebSocket.
    pub(crate) fn admit_for_long(
        &self,
        address: IpAddr,
        head: &Request<'_, '_>,
        key_in_path: Option<&str>,
        last: &LastKey,
    ) -> Result<Caller, Refusal> {
        let mut caller = self.admit(address, head, key_in_path, last)?;
        if caller.grant.is_some() {
            caller.key = presented_key(head, key_in_path).ok().map(Box::from);
        }
        Ok(caller)
    }

    fn admit_by_key(
        &self,
        address: IpAddr,
        head: &Request<'_, '_>,
        key_in_path: Option<&str>,
        last: &LastKey,
    ) -> Result<Caller, Refusal> {
        let (keyring, now) = (&self.access.keyring, (self.access.clock)());
        let key = presented_key(head, key_in_path);
        let grant = key.and_then(|key| keyring.authenticate_again(last, key, address, now));
        let grant = grant.map_err(|denied| self.deny(address, denied))?;
        if !grant.permissions.contains(Permission::Rpc) {
            grant.usage.count_denied();
            return Err(Refusal::Forbidden { required: Permission::Rpc.name() });
        }
        let (subject, quota) = (Subject::Key(grant.id), Quota::per_minute(grant.requests_per_minute));
        Ok(Caller::new(address, subject, quota, Some(grant)))
    }

    /// Why somebody is not let in. Whoever keeps trying is told to wait instead.
    fn deny(&self, address: IpAddr, denied: KeyDenied) -> Refusal {
        let subject = Subject::Client(Client::from(address));
        let now = (self.access.clock)();
        let allowance = self.denials.take(subject, Quota::per_minute(DENIALS_PER_MINUTE), 1, now);
        if allowance.is_granted { Refusal::Unauthorized(denied) } else { limited(&allowance) }
    }

    /// Whether a caller who was let in before still is.
    pub(crate) fn still_holds(&self, caller: &Caller) -> bool {
        let now = (self.access.clock)();
        let holds = |key: &str| self.access.keyring.authenticate(key, caller.address, now).is_ok();
        caller.key.as_deref().is_none_or(holds)
    }

    /// Makes sure that a message can be counted where limits are shared with other gateways; waits only for that.
    pub(crate) async fn prepare(&self, caller: &Caller, message: &Message<'_>) {
        let limiter = &self.access.limiter;
        if limiter.sharing() == Sharing::Alone {
            return;
        }
        let requests = match message {
            Message::Single(request) => std::slice::from_ref(request),
            Message::Batch(requests) => requests.as_slice(),
        };
        let known = requests.iter().flatten().filter_map(|request| method::find(&request.method));
        let units = known.map(|known| known.method.units).filter(|units| *units > 1).sum();
        let count = u32::try_from(requests.len()).unwrap_or(u32::MAX);
        limiter.prepare(caller.subject, caller.quota, count, units, (self.access.clock)()).await;
    }

    /// Counts a request of a method that costs so much.
    pub(crate) async fn charge(&self, caller: &Caller, units: u32) -> Result<(), Refusal> {
        let (limiter, now) = (&self.access.limiter, (self.access.clock)());
        let allowance = limiter.take_in_time(caller.subject, caller.quota, units, now).await;
        *caller.allowance.lock() = Some(allowance);
        match (&caller.grant, allowance.is_granted) {
            // Ordinary methods cost no units.
            (Some(grant), true) => grant.usage.count(if units > 1 { units } else { 0 }),
            (Some(grant), false) => grant.usage.count_denied(),
            (None, _) => {}
        }
        if allowance.is_granted { Ok(()) } else { Err(limited(&allowance)) }
    }

    /// Takes one of the places for requests that are answered at a time; what is answered from memory needs none.
    pub(crate) fn enter(&self, caller: &Caller) -> Result<Charge<Subject>, Refusal> {
        let full = || {
            Refusal::Limited(Limited {
                scope: "concurrency",
                limit: self.places.most_per_party() as u64,
                window: Duration::ZERO,
                retry_after: Duration::from_secs(1),
            })
        };
        self.places.take(caller.subject, 1).map_err(|_| full())
    }

    /// Takes room for an answer, if it is long, until it is sent.
    pub(crate) fn hold(&self, caller: &Caller, answer: &Answer) -> Result<Option<Charge<Subject>>, Refusal> {
        let (Answer::Result(json) | Answer::Error(json)) = answer;
        let mut charge = None;
        self.buffers.cover(caller.subject, &mut charge, json.len())?;
        Ok(charge)
    }
}

fn limited(allowance: &Allowance) -> Refusal {
    Refusal::Limited(Limited {
        scope: allowance.meter.name(),
        limit: allowance.limit.into(),
        window: MINUTE,
        retry_after: allowance.retry_after,
    })
}
